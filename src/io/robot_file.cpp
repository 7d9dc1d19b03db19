#include "liedyn/io/robot_file.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "liedyn/base/error.h"
#include "liedyn/io/format_library.h"
#include "liedyn/io/robot_format.h"

namespace liedyn {
namespace {

struct FormatReader {
  std::string_view ending, library, package;
};
constexpr FormatReader kReaders[] = {{".xml", "liedyn_mjcf.so", "libmujoco-dev"},
                                     {".sdf", "liedyn_sdf.so", "libsdformat-dev"}};

const FormatReader* reader_of(const std::string& file) {
  for (const FormatReader& reader : kReaders)
    if (file.ends_with(reader.ending)) return &reader;
  return nullptr;
}

const RobotFormat& load(const FormatReader& reader, const std::string& file) {
  const FormatLibrary library = {reader.library, reader.package, kRobotFormatEntry, "robots"};
  const RobotFormat* format = reinterpret_cast<RobotFormatEntry>(load_format(library, file))();
  if (format->version != RobotFormat::kVersion) refuse_version(library, file);
  return *format;
}

}  // namespace

bool is_robot_file(const std::string& file) { return reader_of(file) != nullptr; }

std::string robot_model_text(const std::string& file, std::vector<std::string>& warnings) {
  const RobotFormat& format = load(*reader_of(file), file);
  const std::unique_ptr<char, void (*)(char*)> text(format.read(file.c_str()), format.release);
  const auto found = nlohmann::ordered_json::parse(text.get());
  if (found.contains("error"))
    throw InputError(file, found["error"].get<std::string>(), found["hint"].get<std::string>());
  for (const auto& warning : found["warnings"]) warnings.push_back(warning.get<std::string>());
  return found["model"].dump(1);
}

}  // namespace liedyn
