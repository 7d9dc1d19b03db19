// The two kinds of error that leave the library: a mistake in what the caller gave us (InputError, all findings
// at once), and numerics that failed for good after every retry (NumericalError, thrown only by the last resort).
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace liedyn {

// One finding about the input: where it is, what is wrong, what to do about it.
struct Diagnostic {
  std::string file;     // empty if the input was not a file
  int line = 0;         // 0 if unknown
  std::string path;     // chain of keys, "joints.pivot.at"
  std::string message;  // what was expected and what was found
  std::string hint;     // what to try; may be empty
};

// "model.json:35: joints.pivot.at: expected 3 numbers, got 2 (hint: ...)"
std::string to_string(const Diagnostic& diagnostic);

class InputError : public std::runtime_error {
 public:
  explicit InputError(std::vector<Diagnostic> diagnostics);
  // A single finding without a place in a file.
  explicit InputError(std::string path, std::string message, std::string hint = {});
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

class NumericalError : public std::runtime_error {
 public:
  NumericalError(double time, const std::string& message) : std::runtime_error(message), time_(time) {}
  double time() const { return time_; }

 private:
  double time_;
};

}  // namespace liedyn
