#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "commands.h"
#include "liedyn/analyses/simulate.h"
#include "liedyn/io/result_file.h"
#include "liedyn/io/scene_page.h"
#include "liedyn/io/write_scene.h"
#include "python_program.h"

namespace liedyn::cli {
namespace {

namespace fs = std::filesystem;

struct ViewArguments {
  ModelArguments model;
  std::string html, compare;
  bool no_open = false;
};

// A file of our own that others cannot read, and that stays for the browser.
std::string temporary_page(const std::string& title) {
  std::string name = (fs::temp_directory_path() / fmt::format("liedyn_{}_XXXXXX.html", title)).string();
  constexpr int kSuffix = 5;
  const int file = mkstemps(name.data(), kSuffix);
  if (file < 0) throw InputError(name, "cannot be written", "set TMPDIR to another folder");
  close(file);
  return name;
}

bool is_result(const std::string& file) { return fs::path(file).extension() == ".h5"; }
// One scene, or the two that a page compares.
std::vector<std::string> scenes_in(const std::string& file) {
  if (is_result(file)) return {result_scene(ResultFile(file))};
  return read_scenes(file);
}

// A result, a scene or a page, as its name or its first bytes say; otherwise it is a model.
bool holds_scene(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::string start(64, '\0');
  in.read(start.data(), static_cast<std::streamsize>(start.size()));
  return fs::path(file).extension() == ".html" || is_result(file) ||
         start.find("\"liedyn scene ") != std::string::npos;
}

std::string scene_of(const ModelArguments& arguments) {
  const System system = arguments.load();
  std::vector<Diagnostic> findings;
  std::string out = model_scene(system, default_options(system), findings);
  if (!findings.empty())
    fmt::print(stderr, "warning: shown as given in the file, since it cannot be assembled:\n");
  print_findings(findings);
  return out;
}

int view(const ViewArguments& arguments) {
  const std::string& name = arguments.model.model;
  const bool is_file = holds_scene(name);
  std::string page = arguments.html;
  if (!page.empty()) check_page_output(page);
  if (is_file && page.empty() && arguments.compare.empty() && fs::path(name).extension() == ".html") {
    read_scene(name);
    page = name;
  } else {
    std::vector<std::string> scenes;
    if (is_file)
      scenes = scenes_in(name);
    else
      scenes = {scene_of(arguments.model)};
    if (!arguments.compare.empty()) scenes = {scenes.front(), scenes_in(arguments.compare).front()};
    const std::string text = scene_page(scenes);
    if (page.empty()) page = temporary_page(fs::path(name).stem().string());
    write_whole(page, text);
  }
  fmt::print("The 3D view is in {}\n", page);
  if (!is_file) fmt::print("It shows the start; liedyn run {} --html FILE shows the motion.\n", name);
  std::fflush(stdout);
  if (!arguments.html.empty() || arguments.no_open) return kDone;
  if (!has_display()) {
    fmt::print("There is no display here: open the file in a browser.\n");
    return kDone;
  }
  if (!open_in_browser(page)) fmt::print("No browser could be started: open the file yourself.\n");
  return kDone;
}

}  // namespace

void add_view(CLI::App& program, int& exit_code) {
  CLI::App& command =
      *program.add_subcommand("view", "Show a model, a result with states, or a page or scene in a browser");
  const auto a = std::make_shared<ViewArguments>();
  a->model.add_to(command);
  command.add_option("--html", a->html, "Write the page to this file, and do not open it")->type_name("FILE");
  command.add_flag("--no-open", a->no_open, "Print the name of the page, and do not open a browser");
  command.add_option("--compare", a->compare, "Another page or scene, superimposed on the first one")
      ->type_name("FILE");
  command.footer(
      "MODEL may also be a result with states (.h5), a page (.html) or a scene (.json). Pages are single "
      "files that need neither a "
      "server "
      "nor a network.");
  command.callback([a, &exit_code] { exit_code = view(*a); });
}

}  // namespace liedyn::cli
