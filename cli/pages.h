// What the embedded pages hold, as `explain` and `schema --all` need it: the terms of docs/glossary.md, the families of docs/errors.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace liedyn::cli {

// One row of docs/glossary.md.
struct Term {
  std::vector<std::string> words;
  std::string meaning;
  std::string page;  // "docs/theory/05_generalized_alpha.md"; may be empty
};
const std::vector<Term>& glossary();

// A message as in the code, {} for what varies.
struct ErrorMessage {
  std::string text;
  std::string hint;  // may be empty
};
// One section of docs/errors.md.
struct ErrorFamily {
  std::string title;
  std::string cause, remedy;
  std::vector<ErrorMessage> messages;
};
const std::vector<ErrorFamily>& error_families();

// The family of a message as the program prints it, of a part of it, or of words about it; null if there is none.
const ErrorFamily* find_error(std::string_view text);

// The page with this name: "drive_joints", "howto/drive_joints" or "docs/howto/drive_joints.md"; empty if there is none.
std::string_view find_page(std::string_view name);
// The names of all pages: "howto/drive_joints".
std::vector<std::string> page_names();
// Names of the pages on which a word stands, most often first: "howto/drive_joints".
std::vector<std::string> pages_about(std::string_view word, std::size_t most);

// In lower case, with hyphens for blanks and underscores: "Joint angle" and "joint_angle" are the same word.
std::string normalised(std::string_view word);

}  // namespace liedyn::cli
