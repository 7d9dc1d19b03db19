#include "liedyn/io/scene_page.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "liedyn/base/error.h"
#include "liedyn/base/paths.h"
#include "liedyn/io/json.h"
#include "liedyn/io/scene_check.h"
#include "liedyn/io/text_output.h"

namespace liedyn {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kElement = "<script type=\"application/json\" id=\"liedyn-scene";

// Beside the file, so that renaming it is one step.
std::string unfinished_page(const std::string& file) { return file + ".part"; }

void check_writable_whole(const std::string& file) {
  if (file == "-")
    throw InputError({{file, 0, "", "expected a file name: pages and scenes do not go to standard output",
                       "give a file name, or ./- for a file of this name"}});
  check_place(file);
  if (!std::ofstream(unfinished_page(file), std::ios::binary)) cannot_write(file, std::strerror(errno));
  std::error_code ignored;
  fs::remove(unfinished_page(file), ignored);
}

}  // namespace

std::string viewer_template() {
  const std::optional<fs::path> file = find_viewer();
  if (!file)
    throw InputError("",
                     "the page of the 3D view (share/liedyn/viewer.html) does not exist: it was not built or "
                     "not installed",
                     "build it: cmake --build BUILD --target liedyn_viewer (needs node and npm); or set "
                     "LIEDYN_VIEWER=FILE; --scene FILE.json writes the scene without a page");
  std::string text = read_text_file(file->string());
  if (text.find(kSceneMark) == std::string::npos)
    throw InputError(file->string(),
                     fmt::format("is not a template of the 3D view: expected '{}' in it", kSceneMark));
  return text;
}

std::string embedded(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json)
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  return out;
}

void check_page_output(const std::string& file) {
  viewer_template();
  check_writable_whole(file);
}
void check_scene_output(const std::string& file) { check_writable_whole(file); }

std::string scene_page(const std::vector<std::string>& scenes) {
  std::string text = viewer_template(), elements;
  for (std::size_t i = 0; i < scenes.size(); ++i)
    elements += fmt::format("{}{}\">{}</script>\n", kElement, i == 0 ? "" : fmt::format("-{}", i + 1),
                            embedded(scenes[i]));
  text.replace(text.find(kSceneMark), kSceneMark.size(), elements);
  return text;
}

std::string live_page(const std::string& path) {
  std::string text = viewer_template();
  text.replace(text.find(kSceneMark), kSceneMark.size(),
               fmt::format("<script type=\"application/json\" id=\"liedyn-live\">{}</script>\n",
                           embedded(nlohmann::ordered_json({{"path", path}}).dump())));
  return text;
}

std::vector<std::string> read_scenes(const std::string& file) {
  const std::string text = read_text_file(file);
  std::vector<std::string> out;
  for (std::size_t element = text.find(kElement); element != std::string::npos;
       element = text.find(kElement, element + 1)) {
    const std::size_t first = text.find('>', element), last = text.find("</script>", element);
    if (first == std::string::npos || last == std::string::npos)
      throw InputError(file, "the scene in this page is cut off");
    out.push_back(text.substr(first + 1, last - first - 1));
  }
  if (out.empty()) out.push_back(text);
  try {
    for (const std::string& one : out) check_scene(nlohmann::ordered_json::parse(one, nullptr, false));
  } catch (const InputError& error) {
    std::vector<Diagnostic> found = error.diagnostics();
    for (Diagnostic& one : found) one.file = file;
    throw InputError(std::move(found));
  }
  return out;
}
std::string read_scene(const std::string& file) { return read_scenes(file).front(); }

void write_whole(const std::string& file, std::string_view text) {
  const std::string part = unfinished_page(file);
  std::error_code error;
  {
    std::ofstream out(part, std::ios::binary);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    out.close();
    if (!out) {
      const std::string why = std::strerror(errno);
      fs::remove(part, error);
      cannot_write(file, why);
    }
  }
  fs::rename(part, file, error);
  if (error) {
    const std::string why = error.message();
    fs::remove(part, error);
    cannot_write(file, why);
  }
}

}  // namespace liedyn
