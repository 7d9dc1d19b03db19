// Texts as attributes of HDF5 objects. They are written with a fixed length: texts of variable length are kept in heaps, and HDF5 1.10 looks for ever for the end of a heap
// that is damaged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace liedyn {

// Identifiers are those of the library (hid_t). False: the library refuses.
bool write_text_attribute(std::int64_t file, const std::string& path, const std::string& name,
                          const std::string& text);

// Whether the library can read texts of variable length from a file. This reads the whole file.
bool has_sound_heaps(std::int64_t file);

// None: it is no text, or it lies in a heap of the file that is damaged. Other programs, such as h5py, write texts of variable length.
std::optional<std::string> read_text_attribute(std::int64_t file, const std::string& path,
                                               const std::string& name);

}  // namespace liedyn
