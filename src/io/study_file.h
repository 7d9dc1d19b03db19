// Studies: what `liedyn optimize` reads and writes.
#pragma once

#include <string>
#include <string_view>

#include "analyses/optimize.h"

namespace liedyn {

struct StudyFile {
  std::string name;  // the file's stem
  System system;     // its model, with its numbers set
  Study study;
};

// Paths in it are relative to its directory. Throws InputError with lines and all mistakes at once.
StudyFile read_study(const std::string& file);
StudyFile read_study_text(std::string_view text, const std::string& file);

// Variables begin where an earlier search has been (its result.json). Throws InputError.
void restart_from(const std::string& file, Study& study);

std::string optimum_json(const Study& study, const Optimum& optimum);
// The best point so far, for restart_from().
std::string point_json(const Study& study, const StudyPoint& best);
std::string history_csv(const Study& study, const Optimum& optimum);
// What was asked, what was found, and how: a page of Markdown.
std::string optimum_report(const StudyFile& file, const Optimum& optimum);

}  // namespace liedyn
