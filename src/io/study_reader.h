// What the readers of study files share: findings with lines, and the types of values.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "liedyn/base/error.h"
#include "liedyn/io/json.h"

namespace liedyn {

class StudyReader {
 public:
  explicit StudyReader(std::string file) : file_(std::move(file)) {}
  std::vector<Diagnostic> findings;
  const std::string& file() const { return file_; }

  void finding(const JsonValue& at, const std::string& path, std::string message, std::string hint = {});
  // False: it is no object. Keys that are not known are findings.
  bool keys(const JsonValue& object, const std::string& path, std::initializer_list<std::string_view> known);
  std::string text(const JsonValue& object, std::string_view key, const std::string& path,
                   const std::string& otherwise, bool required = false);
  std::optional<double> number(const JsonValue& object, std::string_view key, const std::string& path);
  // None if there is no such key, or if it is no object.
  JsonValue object(const JsonValue& parent, std::string_view key);
  // Of what expressions use.
  void check_name(const JsonValue& item, const std::string& path);

 private:
  std::string file_;
};

std::vector<std::string> keys_of(const JsonValue& object);

// The command that runs a file, if it is a study: "sweep" or "optimize"; empty for models and all else.
std::string_view study_command(const JsonValue& root);
std::string_view study_command(std::string_view text);

// The model that a study names: a file beside it, or a shipped model; never a file that happens to be in the current directory.
std::string model_of_study(const std::string& model, const std::filesystem::path& directory);

// Findings without a file whose paths begin in the study get its lines.
std::vector<Diagnostic> located(std::vector<Diagnostic> findings, std::string_view text,
                                const std::string& file);

}  // namespace liedyn
