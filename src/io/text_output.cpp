#include "liedyn/io/text_output.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "liedyn/base/error.h"

namespace liedyn {
namespace {

[[noreturn]] void cannot_write(const std::string& file) {
  throw InputError({{file, 0, "", fmt::format("cannot be written: {}", std::strerror(errno)), ""}});
}

}  // namespace

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string csv_cell(double value) { return std::isnan(value) ? "" : fmt::format("{}", value); }

void check_writable(const std::string& file) {
  std::error_code ignored;
  const bool existed = std::filesystem::exists(file, ignored);
  if (!std::ofstream(file, std::ios::app)) cannot_write(file);
  if (!existed) std::filesystem::remove(file, ignored);
}

void write_text(const std::string& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text << std::flush;
  if (!out) cannot_write(file);
}

}  // namespace liedyn
