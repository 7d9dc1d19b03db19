#include <fmt/format.h>

#include "commands.h"
#include "liedyn/io/scene_page.h"
#include "liedyn/io/write_gltf.h"

namespace liedyn::cli {

void SceneArguments::add_to(CLI::App& command, const std::string& what) {
  command
      .add_option("--html", html,
                  fmt::format("Write a page that shows {} in 3D: one file that any browser opens, without a "
                              "server or a network",
                              what))
      ->type_name("FILE");
  command
      .add_option("--scene", scene,
                  "Write the contents of such a page as a file; for --compare and other viewers")
      ->type_name("FILE");
  command
      .add_option(
          "--gltf", gltf,
          "Write the motion for Blender and other programs: a .glb file with animated nodes, and modes of "
          "flexible bodies as morph targets")
      ->type_name("FILE");
  command
      .add_option("--compare", compare, "An existing page or scene: the new page shows both, superimposed")
      ->type_name("FILE");
}

void SceneArguments::add_frames_to(CLI::App& command) {
  command
      .add_option("--frames", frames,
                  "Largest number of times in --html and --scene; 2000 if not given, fewer for models of "
                  "more than a thousand bodies")
      ->type_name("N")
      ->check(CLI::Range(2L, 1000000L));
}

void SceneArguments::check() const {
  if (!compare.empty() && html.empty())
    throw InputError("--compare", "needs --html, the page that shows both");
  if (!html.empty()) check_page_output(html);
  for (const std::string& file : {scene, gltf})
    if (!file.empty()) check_scene_output(file);
  if (!compare.empty()) read_scene(compare);
}

void SceneArguments::write(const std::string& text, bool tell) const {
  if (!scene.empty()) write_whole(scene, text);
  if (!html.empty()) {
    std::vector<std::string> scenes = {text};
    if (!compare.empty()) scenes.push_back(read_scene(compare));
    write_whole(html, scene_page(scenes));
    if (tell) fmt::print("The 3D view is in {}\n", html);
  }
  if (!gltf.empty()) write_whole(gltf, gltf_of(text));
  for (const std::string& file : {scene, gltf})
    if (!file.empty() && tell) fmt::print("The scene is in {}\n", file);
}

}  // namespace liedyn::cli
