#include "liedyn/base/code_function.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>

#include "liedyn/base/error.h"
#include "liedyn/base/expression.h"

namespace liedyn {
namespace {

struct Registered {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const CodeFunction>, std::less<>> functions;
};
// Never destroyed: functions may belong to an interpreter that ends before.
Registered& registered() {
  static Registered& all = *new Registered;
  return all;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_in_name(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '.'; }

// Steps that balance truncation and round-off: eps^(1/3) for first, eps^(1/4) for second derivatives.
const double kFirstStep = std::cbrt(std::numeric_limits<double>::epsilon());
const double kSecondStep = std::pow(std::numeric_limits<double>::epsilon(), 0.25);

// (f(x + h e_i) - f(x - h e_i)) / 2h, with the h that x + h really has.
template <class Function>
double central(double* x, int i, double step, const Function& f) {
  const double middle = x[i];
  x[i] = middle + step;
  const double above = f(), after = x[i];
  x[i] = middle - step;
  const double below = f(), before = x[i];
  x[i] = middle;
  return (above - below) / (after - before);
}

}  // namespace

double CodeFunction::scale(int i) const { return scales.empty() ? 1 : scales[static_cast<std::size_t>(i)]; }

double CodeFunction::slope(double* x, int i) const {
  if (gradient) {
    std::array<double, kMaxArguments> out{};
    gradient(x, out.data());
    return out[static_cast<std::size_t>(i)];
  }
  return central(x, i, kFirstStep * std::max(std::abs(x[i]), scale(i)), [&] { return value(x); });
}

double CodeFunction::curvature(double* x, int i, int j) const {
  if (gradient)
    return central(x, j, kFirstStep * std::max(std::abs(x[j]), scale(j)), [&] { return slope(x, i); });
  const double h_i = kSecondStep * std::max(std::abs(x[i]), scale(i));
  if (i == j) {
    const double middle = x[i], f = value(x);
    x[i] = middle + h_i;
    const double above = value(x);
    x[i] = middle - h_i;
    const double below = value(x);
    x[i] = middle;
    return (above - 2 * f + below) / (h_i * h_i);
  }
  return central(x, j, kSecondStep * std::max(std::abs(x[j]), scale(j)),
                 [&] { return central(x, i, h_i, [&] { return value(x); }); });
}

void register_function(CodeFunction function) {
  const std::string path = fmt::format("function '{}'", function.name);
  const std::string name = function.name;
  if (name.empty() || !is_letter(name.front()) ||
      !std::all_of(name.begin(), name.end(), [](char c) { return is_in_name(c) && c != '.'; }))
    throw InputError(path, "expected a name of letters, digits and underscores that begins with a letter",
                     "functions are called by their names in expressions: 5*grip(depth)");
  if (is_built_in_function(name) || name == "pi" || name == "deg" || name == "t")
    throw InputError(path, "this name is reserved in expressions", "choose another name");
  if (function.arguments < 1 || function.arguments > CodeFunction::kMaxArguments)
    throw InputError(path, fmt::format("expected 1 to {} arguments, got {}", CodeFunction::kMaxArguments,
                                       function.arguments));
  if (!function.value) throw InputError(path, "expected a function, got none");
  if (!function.scales.empty() && (function.scales.size() != static_cast<std::size_t>(function.arguments) ||
                                   !std::all_of(function.scales.begin(), function.scales.end(),
                                                [](double s) { return s > 0 && std::isfinite(s); })))
    throw InputError(path,
                     fmt::format("expected {} positive scales, one for each argument", function.arguments));
  Registered& all = registered();
  const std::lock_guard lock(all.mutex);
  all.functions.insert_or_assign(name, std::make_shared<const CodeFunction>(std::move(function)));
}

std::shared_ptr<const CodeFunction> find_code_function(std::string_view name) {
  Registered& all = registered();
  const std::lock_guard lock(all.mutex);
  const auto found = all.functions.find(name);
  return found == all.functions.end() ? nullptr : found->second;
}

std::vector<std::string> differenced_functions(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < text.size();) {
    if (!is_in_name(text[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && is_in_name(text[end])) ++end;
    const auto function = find_code_function(text.substr(i, end - i));
    const std::size_t next = text.find_first_not_of(" \t\n\r", end);
    const bool called = next != std::string_view::npos && text[next] == '(';
    if (called && function != nullptr && !function->gradient) out.push_back(function->name);
    i = end;
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void refuse_third_derivatives(const CodeFunction& function) {
  throw InputError(fmt::format("function '{}'", function.name),
                   "this analysis needs third derivatives of this function of time, which functions of a "
                   "program do not provide",
                   "write the function of time as an expression");
}

}  // namespace liedyn
