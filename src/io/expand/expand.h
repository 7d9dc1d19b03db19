// What model files may say in a shorter form is written out before the file is read: repetitions, sub-models, named frames, and shapes of bodies. The reader
// and all behind it know nothing of these.
#pragma once

#include <string>
#include <vector>

#include "liedyn/io/expand/item.h"
#include "liedyn/io/read_model.h"
#include "liedyn/model/description.h"

namespace liedyn {

struct Expansion {
  JsonDocument document;  // its lines are origins
  Origins origins;
  std::vector<Visual> visuals;       // of the shapes
  std::vector<Diagnostic> findings;  // about the shapes: the rest of the document can still be read
};

// Whether a document has something to write out.
bool needs_expansion(JsonValue root);

// Takes those assignments out of the list that concern what is written out. Throws InputError with all findings about
// repetitions, sub-models and frames.
Expansion expand(const JsonDocument& document, const std::string& file, std::vector<Assignment>& assignments);

// The lines of what was read from an expanded document: messages name the user's files, entries the lines of the outermost one.
std::vector<Diagnostic> with_origins(std::vector<Diagnostic> findings, const Origins& origins);
void restore_lines(Description& description, const Origins& origins);

}  // namespace liedyn
