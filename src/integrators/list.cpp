#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "liedyn/base/registry.h"
#include "liedyn/base/suggest.h"
#include "liedyn/integrators/diagonally_implicit.h"
#include "liedyn/integrators/explicit_runge_kutta.h"
#include "liedyn/integrators/generalized_alpha.h"
#include "liedyn/integrators/multistep.h"
#include "liedyn/integrators/registration.h"
#include "liedyn/integrators/single_step.h"

namespace liedyn {

namespace {

std::vector<ListedIntegrator> built_in() {
  std::vector<ListedIntegrator> all = {generalized_alpha()};
  for (const auto& family :
       {multistep_methods(), single_step_methods(), diagonally_implicit_methods(), explicit_methods()})
    all.insert(all.end(), family.begin(), family.end());
  return all;
}

Registry<ListedIntegrator>& registry() {
  static Registry<ListedIntegrator> registry(
      "integrator", built_in(),
      [](const ListedIntegrator& listed) -> const std::string& { return listed.name; });
  return registry;
}

bool is_word(std::string_view text) {
  return !text.empty() && text.find_first_of(",= \t\n") == std::string_view::npos;
}

}  // namespace

const std::vector<ListedIntegrator>& integrators() { return registry().all(); }

void register_integrator(ListedIntegrator integrator) {
  const std::string path = "integrator '" + excerpt(integrator.name) + "'";
  if (!is_word(integrator.name)) throw InputError(path, "expected a name without commas, '=' and spaces");
  if (integrator.make == nullptr) throw InputError(path, "has no function that makes it");
  std::vector<std::string> names;
  for (const IntegratorOption& o : integrator.options) {
    const bool takes_numbers = o.most > o.least;
    if (!is_word(o.name) || std::ranges::find(names, o.name) != names.end())
      throw InputError(path,
                       fmt::format("option '{}': expected a name of its own without commas, '=' and spaces",
                                   excerpt(o.name)));
    names.push_back(o.name);
    // What the method gets if nothing is given must be allowed, too.
    if (std::ranges::find(o.choices, o.fallback) != o.choices.end()) continue;
    double number = 0;
    const auto [end, error] =
        std::from_chars(o.fallback.data(), o.fallback.data() + o.fallback.size(), number);
    if (!takes_numbers || error != std::errc() || end != o.fallback.data() + o.fallback.size() ||
        !(number >= o.least && number <= o.most))
      throw InputError(path, fmt::format("option '{}': the default '{}' is not one of its values", o.name,
                                         excerpt(o.fallback)));
  }
  for (const char* tolerance : {"rtol", "atol", "max_step"})
    if (std::ranges::find(names, tolerance) != names.end() &&
        std::ranges::find(names, "adaptive") == names.end())
      throw InputError(path, fmt::format("option '{}' needs the option 'adaptive'", tolerance),
                       "step_control_options() has all of them");
  registry().add(std::move(integrator));
}

IntegratorOptions::IntegratorOptions(std::string method, const std::vector<IntegratorOption>& known)
    : method_(std::move(method)), known_(&known) {}

const IntegratorOption& IntegratorOptions::option(std::string_view name) const {
  return *std::find_if(known_->begin(), known_->end(),
                       [&](const IntegratorOption& o) { return o.name == name; });
}

void IntegratorOptions::set(const std::string& name, const std::string& value) {
  const std::string path = "integrator " + method_;
  const auto found =
      std::find_if(known_->begin(), known_->end(), [&](const IntegratorOption& o) { return o.name == name; });
  if (found == known_->end()) {
    std::vector<std::string> names;
    for (const IntegratorOption& o : *known_) names.push_back(o.name);
    std::string hint = did_you_mean(name, names);
    if (hint.empty()) hint = fmt::format("its options are {}", fmt::join(names, ", "));
    throw InputError(path, fmt::format("unknown option '{}'", excerpt(name)), hint);
  }
  if (given(name))
    throw InputError(path, fmt::format("option '{}' is given twice", name), "leave one of them out");
  const bool takes_numbers = found->most > found->least;
  const bool is_choice =
      std::find(found->choices.begin(), found->choices.end(), value) != found->choices.end();
  if (!takes_numbers) {
    if (!is_choice)
      throw InputError(path,
                       fmt::format("{} must be one of {}, got '{}'", name, fmt::join(found->choices, ", "),
                                   excerpt(value)),
                       did_you_mean(value, found->choices));
  } else if (!is_choice) {
    double number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size())
      throw InputError(
          path, fmt::format("{} must be a number{}{}, got '{}'", name, found->choices.empty() ? "" : " or ",
                            fmt::join(found->choices, ", "), excerpt(value)));
    if (!(number >= found->least && number <= found->most))
      throw InputError(path, fmt::format("{} must be between {} and {}, got {}", name, found->least,
                                         found->most, excerpt(value)));
  }
  values_[name] = value;
}

bool IntegratorOptions::given(std::string_view name) const { return values_.find(name) != values_.end(); }

const std::string& IntegratorOptions::word(std::string_view name) const {
  const auto found = values_.find(name);
  return found != values_.end() ? found->second : option(name).fallback;
}

double IntegratorOptions::number(std::string_view name) const {
  return std::strtod(word(name).c_str(), nullptr);
}

std::string IntegratorOptions::text() const {
  std::string out = method_;
  for (const IntegratorOption& o : *known_) out += fmt::format(",{}={}", o.name, word(o.name));
  return out;
}

namespace {

struct Specification {
  const ListedIntegrator* method;
  IntegratorOptions options;
};

Specification parse(std::string_view specification) {
  const std::string_view name = specification.substr(0, specification.find(','));
  const auto& list = integrators();
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const ListedIntegrator& i) { return i.name == name; });
  if (found == list.end()) {
    std::vector<std::string> names;
    for (const ListedIntegrator& i : list) names.push_back(i.name);
    throw InputError(
        "integrator",
        fmt::format("unknown integrator '{}', expected one of {}", excerpt(name), fmt::join(names, ", ")),
        did_you_mean(name, names));
  }
  IntegratorOptions options(found->name, found->options);
  for (std::string_view rest = specification.substr(name.size()); !rest.empty();) {
    rest.remove_prefix(1);
    const std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(item.size());
    const auto equals = item.find('=');
    if (equals == std::string_view::npos)
      throw InputError("integrator " + found->name,
                       fmt::format("expected key=value, got '{}'", excerpt(item)));
    options.set(std::string(item.substr(0, equals)), std::string(item.substr(equals + 1)));
  }
  // Tolerances that nobody looks at would be taken for the error of the result. (A text with all options has them at their defaults.)
  for (const IntegratorOption& o : found->options)
    if ((o.name == "rtol" || o.name == "atol" || o.name == "max_step") &&
        options.word("adaptive") == "false" && options.word(o.name) != o.fallback)
      throw InputError("integrator " + found->name,
                       fmt::format("{} has no effect with a constant step size", o.name),
                       "add adaptive=true, or leave it out");
  return {&*found, std::move(options)};
}

}  // namespace

void check_integrator(std::string_view specification) { parse(specification); }

std::unique_ptr<Integrator> make_integrator(const System& system, std::string_view specification) {
  const Specification parsed = parse(specification);
  return parsed.method->make(system, parsed.options);
}

std::unique_ptr<VariedIntegrator> make_integrator(const VariedSystem& system,
                                                  std::string_view specification) {
  const Specification parsed = parse(specification);
  if (parsed.method->make_varied == nullptr)
    throw InputError("integrator " + parsed.method->name, "has no derivatives with respect to parameters",
                     "use another integrator, or finite differences");
  return parsed.method->make_varied(system, parsed.options);
}

LinearProperties linear_properties(std::string_view specification) {
  const Specification parsed = parse(specification);
  if (parsed.method->properties == nullptr)
    throw InputError("integrator " + parsed.method->name,
                     "does not declare its properties for linear equations");
  LinearProperties out = parsed.method->properties(parsed.options);
  out.integrator = parsed.options.text();
  return out;
}

}  // namespace liedyn
