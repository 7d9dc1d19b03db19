// What the sources of src/ include: a folder only itself and the folders before it in the list of CMakeLists.txt, a file x.cpp
// first of all x.h, which shows that the header compiles alone.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

const fs::path kSource = fs::path(LIEDYN_SOURCE) / "src";

std::vector<std::string> layers() {
  std::vector<std::string> names;
  std::istringstream list(LIEDYN_FOLDERS);
  for (std::string name; list >> name;) names.push_back(name);
  return names;
}

struct Include {
  std::string path;
  bool quoted;
};

std::vector<Include> includes(std::istream& text) {
  static const std::regex include(R"re(^\s*#\s*include\s*(["<])([^">]+)[">].*)re");
  std::vector<Include> found;
  std::smatch match;
  for (std::string line; std::getline(text, line);) {
    if (std::regex_match(line, match, include)) found.push_back({match[2], match[1] == "\""});
  }
  return found;
}

// One line for each include that points to a later layer, or by a path that does not start at src/.
std::vector<std::string> violations(const std::string& file, const std::string& layer, std::istream& text) {
  const auto order = layers();
  const auto own = std::ranges::find(order, layer);
  std::vector<std::string> found;
  for (const auto& [path, quoted] : includes(text)) {
    const auto target = std::ranges::find(order, path.substr(0, path.find('/')));
    const bool ours = target != order.end() && path.find('/') != std::string::npos;
    if (ours && target > own) found.push_back(file + ": '" + layer + "' may not include " + path);
    if (!ours && quoted) found.push_back(file + ": write \"" + path + "\" as a path that starts in src/");
  }
  return found;
}

// Paths of the sources, from src/ on.
std::vector<fs::path> sources() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(kSource)) {
    const fs::path extension = entry.path().extension();
    if (extension == ".h" || extension == ".cpp") found.push_back(entry.path().lexically_relative(kSource));
  }
  EXPECT_THAT(found, testing::Not(testing::IsEmpty()));
  return found;
}

TEST(Layers, EveryFolderOfTheSourcesIsALayer) {
  for (const fs::path& file : sources()) EXPECT_THAT(layers(), testing::Contains(file.begin()->string()));
}

TEST(Layers, NoIncludePointsToALaterLayer) {
  for (const fs::path& file : sources()) {
    std::ifstream text(kSource / file);
    EXPECT_THAT(violations(file.string(), file.begin()->string(), text), testing::IsEmpty());
  }
}

TEST(Layers, ASourceIncludesItsOwnHeaderFirst) {
  for (const fs::path& file : sources()) {
    fs::path header = file;
    header.replace_extension(".h");
    if (file == header || !fs::exists(kSource / header)) continue;
    std::ifstream text(kSource / file);
    const auto found = includes(text);
    ASSERT_FALSE(found.empty()) << file;
    EXPECT_EQ(found.front().path, header.string()) << "in " << file;
  }
}

TEST(Layers, AnIncludeToTheRightIsFound) {
  std::istringstream text(
      "#include \"lie/so3.h\"\n"
      "#include <vector>\n"
      "  #  include <system/state.h>  // wrong\n"
      "#include \"joint.h\"\n");
  EXPECT_THAT(violations("model/a.h", "model", text),
              testing::ElementsAre("model/a.h: 'model' may not include system/state.h",
                                   "model/a.h: write \"joint.h\" as a path that starts in src/"));
}

}  // namespace
