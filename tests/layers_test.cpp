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
const std::string kPrefix = "liedyn/";  // of every header of src/, as in an installation

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

// One line for each include that points to a later layer, or by a path that does not start with the prefix.
std::vector<std::string> violations(const std::string& file, const std::string& layer, std::istream& text) {
  const auto order = layers();
  const auto own = std::ranges::find(order, layer);
  std::vector<std::string> found;
  for (const auto& [path, quoted] : includes(text)) {
    const bool prefixed = path.starts_with(kPrefix);
    const std::string from_src = prefixed ? path.substr(kPrefix.size()) : path;
    const auto target = std::ranges::find(order, from_src.substr(0, from_src.find('/')));
    const bool ours = target != order.end() && from_src.find('/') != std::string::npos;
    if (ours && target > own) found.push_back(file + ": '" + layer + "' may not include " + path);
    if (quoted ? !(ours && prefixed) : ours && !prefixed)
      found.push_back(file + ": write " + path + " as \"" + kPrefix + "FOLDER/NAME.h\"");
  }
  return found;
}

// Paths of the sources in folders, from src/ on. (liedyn.h in src/ itself is for users and includes what they need of all folders.)
std::vector<fs::path> sources() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(kSource)) {
    const fs::path extension = entry.path().extension();
    if (entry.path().parent_path() == kSource) continue;
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
    EXPECT_EQ(found.front().path, kPrefix + header.string()) << "in " << file;
  }
}

TEST(Layers, AnIncludeToTheRightIsFound) {
  std::istringstream text(
      "#include \"liedyn/lie/so3.h\"\n"
      "#include <vector>\n"
      "  #  include <liedyn/system/state.h>  // wrong\n"
      "#include \"lie/se3.h\"\n"
      "#include \"joint.h\"\n");
  EXPECT_THAT(violations("model/a.h", "model", text),
              testing::ElementsAre("model/a.h: 'model' may not include liedyn/system/state.h",
                                   "model/a.h: write lie/se3.h as \"liedyn/FOLDER/NAME.h\"",
                                   "model/a.h: write joint.h as \"liedyn/FOLDER/NAME.h\""));
}

}  // namespace
