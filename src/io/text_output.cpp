#include "liedyn/io/text_output.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "liedyn/base/error.h"

namespace liedyn {
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string csv_cell(double value) { return std::isnan(value) ? "" : fmt::format("{}", value); }

void cannot_write(const std::string& file, const std::string& why) {
  throw InputError({{file, 0, "", fmt::format("cannot be written: {}", why), ""}});
}

void check_place(const std::string& file) {
  std::error_code ignored;  // what cannot be looked at shows when it is opened
  if (std::filesystem::is_directory(file, ignored)) cannot_write(file, "it is a directory");
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  if (!folder.empty() && !std::filesystem::exists(folder, ignored))
    cannot_write(file, fmt::format("there is no folder '{}'", folder.string()));
}

void check_writable(const std::string& file) {
  check_place(file);
  std::error_code ignored;
  const bool existed = std::filesystem::exists(file, ignored);
  if (!std::ofstream(file, std::ios::app)) cannot_write(file, std::strerror(errno));
  if (!existed) std::filesystem::remove(file, ignored);
}

void write_text(const std::string& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text << std::flush;
  if (!out) cannot_write(file, std::strerror(errno));
}

}  // namespace liedyn
