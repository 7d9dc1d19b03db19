// Shared objects that read the formats of other programs by the libraries of these. They are loaded for such files only.
#pragma once

#include <string>
#include <string_view>

namespace liedyn {

struct FormatLibrary {
  std::string_view library;  // liedyn_mjcf.so
  std::string_view package;  // of Debian, without which it is not built
  const char* entry;         // the function that gives its readers
  std::string_view kind;     // of what it reads: "robots", "meshes"
};

// The entry of a library. Throws InputError with the name of the file to be read if this installation does not have it.
void* load_format(const FormatLibrary& format, const std::string& file);
// Refuses a library of another version of the program.
[[noreturn]] void refuse_version(const FormatLibrary& format, const std::string& file);

}  // namespace liedyn
