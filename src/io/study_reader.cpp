#include "liedyn/io/study_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "liedyn/base/paths.h"
#include "liedyn/base/suggest.h"
#include "liedyn/model/description.h"

namespace liedyn {
namespace {

std::string below(const std::string& path, std::string_view key) {
  return (path.empty() ? "" : path + ".") + excerpt(key);
}

}  // namespace

void StudyReader::finding(const JsonValue& at, const std::string& path, std::string message,
                          std::string hint) {
  findings.push_back({file_, at ? at.line() : 0, path, std::move(message), std::move(hint)});
}

bool StudyReader::keys(const JsonValue& object, const std::string& path,
                       std::initializer_list<std::string_view> known) {
  if (!object.is(JsonType::Object)) {
    finding(object, path, "expected an object, got " + object.describe());
    return false;
  }
  for (const JsonValue item : object)
    if (std::find(known.begin(), known.end(), item.key()) == known.end())
      finding(item, below(path, item.key()), "unknown key", did_you_mean(item.key(), known));
  return true;
}

std::string StudyReader::text(const JsonValue& object, std::string_view key, const std::string& path,
                              const std::string& otherwise, bool required) {
  const JsonValue value = object.find(key);
  if (!value) {
    if (required) finding(object, below(path, key), "is missing: expected a string");
    return otherwise;
  }
  if (value.is(JsonType::String)) return std::string(value.text());
  finding(value, below(path, key), "expected a string, got " + value.describe());
  return otherwise;
}

std::optional<double> StudyReader::number(const JsonValue& object, std::string_view key,
                                          const std::string& path) {
  const JsonValue value = object.find(key);
  if (!value) return {};
  if (value.is(JsonType::Number) && std::isfinite(value.number())) return value.number();
  finding(value, below(path, key), "expected a finite number, got " + value.describe());
  return {};
}

JsonValue StudyReader::object(const JsonValue& parent, std::string_view key) {
  const JsonValue value = parent.find(key);
  if (value && !value.is(JsonType::Object)) {
    finding(value, std::string(key), "expected an object, got " + value.describe());
    return {};
  }
  return value;
}

void StudyReader::check_name(const JsonValue& item, const std::string& path) {
  if (!is_name(item.key()) || item.key().find('-') != std::string_view::npos)
    finding(item, path, "expected a name of letters, digits and underscores, since expressions use it");
  if (item.key() == "pi" || item.key() == "t")
    finding(item, path, fmt::format("'{}' already has a meaning in expressions", item.key()),
            "choose another name");
}

std::vector<std::string> keys_of(const JsonValue& object) {
  std::vector<std::string> out;
  for (const JsonValue item : object) out.emplace_back(item.key());
  return out;
}

std::string_view study_command(const JsonValue& root) {
  if (!root.is(JsonType::Object) || root.find("liedyn")) return {};
  if (root.find("liedyn_study")) return "sweep";
  return root.find("model") && root.find("variables") ? "optimize" : std::string_view();
}

std::string_view study_command(std::string_view text) {
  try {
    return study_command(JsonDocument::parse(text, "").root());
  } catch (const InputError&) {
    return {};  // whoever reads it says what is wrong
  }
}

std::string model_of_study(const std::string& model, const std::filesystem::path& directory) {
  const bool is_file = model.find('/') != std::string::npos || model.ends_with(".json") ||
                       model.ends_with(".urdf") || std::filesystem::is_regular_file(directory / model);
  if (is_file) return (directory / model).string();
  const auto shipped = find_model(model);
  return shipped ? shipped->string() : model;
}

std::vector<Diagnostic> located(std::vector<Diagnostic> findings, std::string_view text,
                                const std::string& file) {
  const JsonDocument document = JsonDocument::parse(text, file);
  for (Diagnostic& finding : findings) {
    if (!finding.file.empty()) continue;
    // The innermost value on the way along the path.
    JsonValue at = document.root();
    int depth = 0;
    for (std::size_t begin = 0; begin < finding.path.size(); ++depth) {
      const std::size_t end = std::min(finding.path.find_first_of(".[", begin), finding.path.size());
      const JsonValue next = at.is(JsonType::Object)
                                 ? at.find(std::string_view(finding.path).substr(begin, end - begin))
                                 : JsonValue();
      if (!next) break;
      at = next;
      begin = end + 1;
    }
    if (depth > 0) finding.file = file, finding.line = at.line();
  }
  return findings;
}

}  // namespace liedyn
