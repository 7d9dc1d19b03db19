// A folder of src/ includes only itself and the folders before it in the list of CMakeLists.txt.

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

std::vector<std::string> layers() {
  std::vector<std::string> names;
  std::istringstream list(LIEDYN_FOLDERS);
  for (std::string name; list >> name;) names.push_back(name);
  return names;
}

// One line for each include that points to a later layer, or by a path that does not start at src/.
std::vector<std::string> violations(const std::string& file, const std::string& layer, std::istream& text) {
  static const std::regex include(R"re(^\s*#\s*include\s*(["<])([^">]+)[">].*)re");
  const auto order = layers();
  const auto own = std::ranges::find(order, layer);
  std::vector<std::string> found;
  std::smatch match;
  for (std::string line; std::getline(text, line);) {
    if (!std::regex_match(line, match, include)) continue;
    const std::string path = match[2];
    const auto target = std::ranges::find(order, path.substr(0, path.find('/')));
    const bool ours = target != order.end() && path.find('/') != std::string::npos;
    if (ours && target > own) found.push_back(file + ": '" + layer + "' may not include " + path);
    if (!ours && match[1] == "\"")
      found.push_back(file + ": write \"" + path + "\" as a path that starts in src/");
  }
  return found;
}

TEST(Layers, EveryFolderOfTheSourcesIsALayer) {
  for (const auto& entry : fs::directory_iterator(fs::path(LIEDYN_SOURCE) / "src")) {
    if (!entry.is_directory()) continue;
    EXPECT_THAT(layers(), testing::Contains(entry.path().filename().string()));
  }
}

TEST(Layers, NoIncludePointsToALaterLayer) {
  const fs::path source = fs::path(LIEDYN_SOURCE) / "src";
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(source)) {
    const fs::path extension = entry.path().extension();
    if (extension != ".h" && extension != ".cpp") continue;
    const fs::path relative = entry.path().lexically_relative(source);
    std::ifstream text(entry.path());
    EXPECT_THAT(violations(relative.string(), relative.begin()->string(), text), testing::IsEmpty());
    ++files;
  }
  EXPECT_GT(files, 0);
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
