#include "liedyn/base/error.h"

#include <fmt/format.h>

namespace liedyn {

std::string to_string(const Diagnostic& d) {
  std::string text;
  if (!d.file.empty()) text += d.line > 0 ? fmt::format("{}:{}: ", d.file, d.line) : d.file + ": ";
  if (!d.path.empty()) text += d.path + ": ";
  text += d.message;
  if (!d.hint.empty()) text += fmt::format(" (hint: {})", d.hint);
  return text;
}

namespace {
std::string join(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& d : diagnostics) {
    if (!text.empty()) text += '\n';
    text += to_string(d);
  }
  return text;
}
}  // namespace

InputError::InputError(std::vector<Diagnostic> diagnostics)
    : std::runtime_error(join(diagnostics)), diagnostics_(std::move(diagnostics)) {}

InputError::InputError(std::string path, std::string message, std::string hint)
    : InputError({Diagnostic{"", 0, std::move(path), std::move(message), std::move(hint)}}) {}

}  // namespace liedyn
