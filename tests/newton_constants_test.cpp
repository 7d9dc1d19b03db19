// The table of docs/theory/04_corrector.md has every constant of Newton's method.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(std::filesystem::path(LIEDYN_SOURCE) / path);
  EXPECT_TRUE(file) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Rows begin with one or more names in backquotes.
std::set<std::string> names_in_table(const std::string& text) {
  std::set<std::string> names;
  static const std::regex name("`(k[A-Z][A-Za-z]*)`");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    const std::string cell = line.substr(0, line.find('|', 1));
    for (std::sregex_iterator i(cell.begin(), cell.end(), name), end; i != end; ++i) names.insert((*i)[1]);
  }
  return names;
}

std::set<std::string> names_in_code(const std::string& text) {
  std::set<std::string> names;
  static const std::regex name(R"(\b(k[A-Z][A-Za-z]*)( =|\{))");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("//")) continue;
    for (std::sregex_iterator i(line.begin(), line.end(), name), end; i != end; ++i) names.insert((*i)[1]);
  }
  return names;
}

TEST(NewtonConstants, AreAllInTheTableOfTheory) {
  std::set<std::string> code = names_in_code(text_of("src/system/newton_constants.h"));
  EXPECT_GT(code.size(), 25u);
  code.erase("kEpsilon");
  code.insert({"kCarefulIterations", "kLeastRegularity"});  // which belong to other files
  EXPECT_EQ(names_in_table(text_of("docs/theory/04_corrector.md")), code);
}

}  // namespace
