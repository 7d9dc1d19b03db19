// Text files and their cells, as the writers of studies need them.
#pragma once

#include <string>

namespace liedyn {

// Quoted if it holds what separates cells.
std::string csv_cell(const std::string& text);
// Empty if it is not a number.
std::string csv_cell(double value);

// Both throw InputError. The first leaves no trace.
void check_writable(const std::string& file);
void write_text(const std::string& file, const std::string& text);

}  // namespace liedyn
