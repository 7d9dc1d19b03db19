// The page of a study: parallel coordinates, scatter plots, histograms and a table of its cases, some of them in 3D, as one file that needs nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "liedyn/analyses/sweep.h"
#include "liedyn/io/sweep_store.h"

namespace liedyn {

// `liedyn run` with all that a case says, and for each variant the same without the parameters that are varied.
std::string run_command(const SweepPlan& plan, std::uint64_t index);
std::vector<std::string> run_commands(const SweepPlan& plan);
// From the layout of a store alone: files of models are named as the study names them.
std::vector<std::string> run_commands(const std::string& layout);

struct StudyScene {
  std::uint64_t index = 0;  // of the case
  std::string scene;        // JSON of SceneWriter
};

// Cases that are shown in 3D: those of `kept` that were run, and `spread` more at equal distances in the order of the first output, its least and largest value included. Rising.
std::vector<std::uint64_t> cases_to_show(const SweepTable& table, const std::vector<std::uint64_t>& kept,
                                         std::uint64_t spread);
// The motion of a case, which is run again; of one that fails, up to there. Empty: it has none, or `goes_on` said false.
std::string case_scene(const SweepPlan& plan, std::uint64_t index, const std::function<bool()>& goes_on);

// Throws InputError if there is no template of the page, if there are more cases than a browser can show, or if the file cannot be written: asked before a study, so that none is lost.
void check_study_page(const std::string& file, std::uint64_t cases);

// `commands`: of each variant. Throws InputError as check_study_page does.
std::string study_page(const SweepTable& table, const std::string& name,
                       const std::vector<std::string>& commands, const std::vector<StudyScene>& scenes);

}  // namespace liedyn
