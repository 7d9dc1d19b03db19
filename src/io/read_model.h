// Model files. A mistake is reported with its line and path, and all mistakes of a file at once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "liedyn/model/description.h"

namespace liedyn {

// A number that a user sets from outside the model: --set links=1000.
struct Assignment {
  std::string path;
  double value;
};

// "links=1000", "spin=2*pi*25". Throws InputError that names the option it was given with.
Assignment parse_assignment(std::string_view text, std::string_view option = "--set");

// The file of a model given as a path, or as the name of a shipped model. Throws InputError if there is none.
std::string find_model_file(const std::string& model);

// Reads a model given as for find_model_file. Throws InputError.
Description read_model(const std::string& model);
// Takes those assignments out of the list that must be known before the model is made: its arguments, and
// parameters, because the simulation's settings may depend on them. The others are for Params::set.
Description read_model(const std::string& model, std::vector<Assignment>& assignments);

// The same from a text; `file` is its name in messages and, without its extension, the default name of the model.
Description read_model_text(std::string_view text, const std::string& file);
Description read_model_text(std::string_view text, const std::string& file,
                            std::vector<Assignment>& assignments);

}  // namespace liedyn
