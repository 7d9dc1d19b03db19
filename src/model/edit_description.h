// Changes to a description that was read already: further entries, and values that were set since.
#pragma once

#include <string>
#include <string_view>

#include "liedyn/model/params.h"

namespace liedyn {

// Adds an entry of the type `type`, in whose field `field` the word stands, behind the others of its section. A dot in the name keeps it apart from all that
// were typed.
Entry& add_entry(Description& description, Section section, std::string name, std::string_view type,
                 std::string_view field, const std::string& word);
void set_word(Description& description, Entry& entry, std::string_view field, std::string word);

// The description with the values as they are in the params: what was set is a constant, even if it was typed as an expression.
Description description_as_set(const Params& params);

}  // namespace liedyn
