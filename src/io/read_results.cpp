#include "io/read_results.h"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "base/error.h"
#include "base/suggest.h"

namespace liedyn {
namespace {

[[noreturn]] void wrong(const std::string& file, int line, const std::string& message,
                        const std::string& hint = {}) {
  throw InputError({{file, line, "", message, hint}});
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> out;
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  for (;;) {
    const auto comma = text.find(',');
    out.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return out;
    text.remove_prefix(comma + 1);
  }
}

// "position[0]", "position[1]", "position[2]", "energy" are two channels.
std::vector<Channel> channels_of(const std::vector<std::string_view>& names) {
  std::vector<Channel> out;
  for (std::size_t i = 1; i < names.size(); ++i) {
    const std::string name(names[i].substr(0, names[i].find('[')));
    if (!out.empty() && out.back().name == name && names[i].size() > name.size())
      ++out.back().components;
    else
      out.push_back({name, "", static_cast<int>(i), 1});
  }
  return out;
}

}  // namespace

Trajectory read_results(const std::string& file) {
  if (std::filesystem::path(file).extension() != ".csv")
    wrong(file, 0, "expected a result file that ends with .csv",
          "liedyn run MODEL --out FILE.csv writes one");
  std::ifstream in(file);
  if (!in) wrong(file, 0, fmt::format("cannot be read: {}", std::strerror(errno)));
  std::string line;
  std::getline(in, line);
  const std::vector<std::string_view> names = split(line);
  if (names.front() != "t")
    wrong(file, 1, fmt::format("expected a first column 't', got '{}'", excerpt(names.front())));
  Trajectory out;
  out.channels = channels_of(names);
  out.columns = static_cast<int>(names.size());
  for (int number = 2; std::getline(in, line); ++number) {
    const std::vector<std::string_view> cells = split(line);
    if (cells.size() != static_cast<std::size_t>(out.columns))
      wrong(file, number, fmt::format("expected {} numbers, got {}", out.columns, cells.size()));
    for (const std::string_view cell : cells) {
      double value = 0;
      const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
      if (error != std::errc() || end != cell.data() + cell.size())
        wrong(file, number, fmt::format("expected a number, got '{}'", excerpt(cell)));
      out.data.push_back(value);
    }
    if (out.rows() > 1 && !(out.at(out.rows() - 1, 0) > out.at(out.rows() - 2, 0)))
      wrong(file, number, "expected a time later than that of the row before");
  }
  if (out.rows() == 0) wrong(file, 0, "has no rows");
  return out;
}

}  // namespace liedyn
