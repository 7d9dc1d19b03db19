// Repetition in model files: parts that are made once for each value of an index.
//
//   "arguments": {"links": 10},
//   "repeat": [{"for": {"i": [2, "links"]},
//               "let": {"x": "0.5*i"},
//               "if": "mod(i, 2) == 0",
//               "bodies": {"link{i}": {"type": "rigid", ..., "position": ["{x - 0.25}", 0, 0]}},
//               "joints": {"j{i}": {"type": "spherical", "between": ["link{i - 1}", "link{i}"], "at": ["{x}", 0, 0]}}}]
//
// An expression in braces, of indices, `let` and arguments, is replaced by its value in keys and strings. A string that is nothing else becomes a number.
// Several indices are nested, the last one fastest. A block without "for" is made once; a block may hold blocks of its own.
#pragma once

#include "liedyn/io/expand/scope.h"

namespace liedyn {

// Values set from outside for arguments are taken out of the assignments.
void expand_repeat(Item& root, std::vector<Assignment>& assignments, Findings& findings);

}  // namespace liedyn
