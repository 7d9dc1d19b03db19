// Where files may be written; text files and their cells, as the writers of studies need them.
#pragma once

#include <string>

namespace liedyn {

// Quoted if it holds what separates cells.
std::string csv_cell(const std::string& text);
// Empty if it is not a number.
std::string csv_cell(double value);

// All throw InputError. A file can stand in a folder that exists, and under the name of none.
[[noreturn]] void cannot_write(const std::string& file, const std::string& why);
void check_place(const std::string& file);
// It leaves no trace.
void check_writable(const std::string& file);
void write_text(const std::string& file, const std::string& text);

}  // namespace liedyn
