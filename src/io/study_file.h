// Studies: what `liedyn optimize` reads and writes.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "liedyn/analyses/optimize.h"
#include "liedyn/io/read_model.h"

namespace liedyn {

struct StudyFile {
  std::string name;  // the file's stem
  System system;     // its model, with its numbers set
  Study study;
  std::string description;
  std::string file, text;  // as read
};

// Paths in it are relative to its directory. `set` are numbers of the model that go before its own. Throws InputError with lines and all mistakes at once.
StudyFile read_study(const std::string& file, const std::vector<Assignment>& set = {});
StudyFile read_study_text(std::string_view text, const std::string& file,
                          const std::vector<Assignment>& set = {});

// check_study() and optimize(), whose findings about the study get their lines.
void check(const StudyFile& file);
Optimum search(const StudyFile& file, const std::function<bool(const StudyPoint&, bool best)>& progress);

// Variables begin where an earlier search has been (its result.json). Throws InputError.
void restart_from(const std::string& file, Study& study);

std::string optimum_json(const Study& study, const Optimum& optimum);
// The best point so far, for restart_from().
std::string point_json(const Study& study, const StudyPoint& best);
// The history as a table: its head, and the line of a point. `before`: evaluations of the searches that this one goes on from.
std::string history_head(const Study& study);
std::string history_line(const StudyPoint& point, int before = 0);
// "met", "at its bound" or "violated".
std::string constraint_state(const Study::Constraint& constraint, double value);
// What was asked, what was found, and how: a page of Markdown.
std::string optimum_report(const StudyFile& file, const Optimum& optimum);

}  // namespace liedyn
