#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <memory>

#include "commands.h"
#include "liedyn/base/suggest.h"
#include "liedyn/io/read_results.h"
#include "liedyn/io/result_file.h"
#include "liedyn/io/scene_page.h"
#include "liedyn/io/write_gltf.h"
#include "liedyn/io/write_results.h"
#include "liedyn/io/write_vtk.h"

namespace liedyn::cli {
namespace {

namespace fs = std::filesystem;

struct ConvertArguments {
  std::string from, to;
  long frames = 0;
};

// The scene of a result with states, of a page or of a scene file.
std::string scene_in(const ConvertArguments& arguments) {
  const std::string extension = fs::path(arguments.from).extension().string();
  if (extension == ".csv")
    throw InputError({{arguments.from, 0, "", "contains the values of sensors, but no states",
                       "liedyn run MODEL --out FILE.h5 --states records them"}});
  return extension == ".h5" ? result_scene(ResultFile(arguments.from), arguments.frames)
                            : read_scene(arguments.from);
}

std::string write_shapes(const ConvertArguments& arguments) {
  const ResultFile file(arguments.from);
  if (!file.has_states()) file.states("q");  // which says what to do
  const System system = file.system();
  VtkWriter writer(arguments.to, system.model().description().name);
  const auto most = arguments.frames > 0 ? static_cast<std::size_t>(arguments.frames)
                                         : std::numeric_limits<std::size_t>::max();
  file.for_each_state(system, most, [&](const State& state) { writer.add(system, state); });
  return writer.finish();
}

int convert(const ConvertArguments& arguments) {
  const std::string extension = fs::path(arguments.to).extension().string();
  std::error_code ignored;
  if (fs::equivalent(arguments.from, arguments.to, ignored))
    throw InputError({{arguments.to, 0, "", "is the input file", "name another one"}});
  std::string written = arguments.to;
  if (extension == ".csv" || extension == ".h5") {
    check_output(arguments.to);
    const bool has_events = fs::path(arguments.from).extension() == ".h5";
    const Result result = read_result(arguments.from);
    write_results(
        result, arguments.to,
        has_events ? ResultFile(arguments.from).events() : std::vector<std::pair<double, std::string>>());
  } else if (extension == ".html") {
    check_page_output(arguments.to);
    write_whole(arguments.to, scene_page({scene_in(arguments)}));
  } else if (extension == ".json" || extension == ".glb") {
    check_scene_output(arguments.to);
    const std::string scene = scene_in(arguments);
    write_whole(arguments.to, extension == ".glb" ? gltf_of(scene) : scene);
  } else if (extension.empty()) {
    written = write_shapes(arguments);
  } else {
    throw InputError(
        "OUT",
        fmt::format("expected a file that ends with .csv, .h5, .html, .json or .glb, or a folder, got '{}'",
                    excerpt(arguments.to, 200)),
        extension == ".gltf" ? "glTF is written in its binary form: .glb"
        : extension == ".vtk" || extension == ".vtu" || extension == ".pvd"
            ? "VTK files are written into a folder: name it, without an extension"
            : "");
  }
  fmt::print("Written: {}\n", written);
  return kDone;
}

}  // namespace

void add_convert(CLI::App& program, int& exit_code) {
  CLI::App& command = *program.add_subcommand("convert", "Write a result in another format");
  const auto a = std::make_shared<ConvertArguments>();
  command.add_option("RESULT", a->from, "A result (.h5, .csv); for .html and .glb also a page or scene")
      ->required();
  command
      .add_option(
          "OUT", a->to,
          ".csv or .h5: the sensors; .html: a page with the motion; .glb: for Blender; .json: a scene; a "
          "name without extension: a folder of VTK files for ParaView")
      ->required();
  command.add_option("--frames", a->frames, "Largest number of times in .html, .glb, .json and VTK files")
      ->type_name("N")
      ->check(CLI::Range(2L, 1000000L));
  command.footer("All but .csv and .h5 need the states of a run: liedyn run MODEL --out FILE.h5 --states.");
  command.callback([a, &exit_code] { exit_code = convert(*a); });
}

}  // namespace liedyn::cli
