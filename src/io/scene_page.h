// Pages that show scenes: the viewer's template with the scenes inside, one file that needs nothing else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace liedyn {

// Throws InputError if there is no template of the viewer, or if the file cannot be written: asked before a run, so that none is lost. Leaves no trace.
void check_page_output(const std::string& file);
void check_scene_output(const std::string& file);  // no template is needed

// The page without scenes: the viewer's template, in which kSceneMark stands where they go. Throws InputError if there is none.
std::string viewer_template();
inline constexpr std::string_view kSceneMark = "<!--liedyn-scene-->";

// JSON as it stands in a page: no text inside of it can end the element that holds it, or begin another one.
std::string embedded(std::string_view json);

// The page with scenes (JSON texts of SceneWriter), the first of which is the one that others are compared with. Throws InputError if there is no template.
std::string scene_page(const std::vector<std::string>& scenes);

// The page of a running simulation, which gets its scene from the events at this path of its server. Throws InputError if there is no template.
std::string live_page(const std::string& path);

// The scenes in a page, or the one in a .json file, checked (scene_check.h). Throws InputError if there is none.
std::vector<std::string> read_scenes(const std::string& file);
std::string read_scene(const std::string& file);  // the first one

// Whole or not at all: the file appears under its name when it is complete. Throws InputError.
void write_whole(const std::string& file, std::string_view text);

}  // namespace liedyn
