#include "liedyn/io/hdf5_text.h"

#include <fcntl.h>
#include <hdf5.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "liedyn/io/hdf5_handle.h"

namespace liedyn {
namespace {

// A collection of the global heap (HDF5 File Format Specification 3.0, III.E): "GCOL", version 1, three zeros, its size with this head (8 bytes), then objects. Object:
// number (2), references (2), zeros (4), size (8), content in multiples of 8. Number 0 is free space, whose size includes this head and which fills the rest.
constexpr std::string_view kHeapBegin("GCOL\1\0\0\0", 8);
constexpr std::size_t kHeapHead = 16;

std::uint64_t number_at(std::string_view bytes, std::size_t at) {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < 8; ++i)
    out |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return out;
}

bool is_sound_heap(std::string_view bytes) {
  if (bytes.size() < kHeapHead) return false;
  const std::uint64_t size = number_at(bytes, 8);
  if (size < kHeapHead || size > bytes.size()) return false;
  bytes = bytes.substr(0, size);
  for (std::size_t at = kHeapHead; at + kHeapHead <= bytes.size();) {
    const bool is_free = bytes[at] == 0 && bytes[at + 1] == 0;
    const std::uint64_t length = number_at(bytes, at + 8);
    if (is_free) return length >= kHeapHead && length <= bytes.size() - at;
    if (length > bytes.size() - at - kHeapHead) return false;
    at += kHeapHead + (length + 7) / 8 * 8;
  }
  return true;
}

}  // namespace

bool has_sound_heaps(std::int64_t file) {
  const ssize_t length = H5Fget_name(file, nullptr, 0);
  if (length <= 0) return false;
  std::string name(static_cast<std::size_t>(length), '\0');
  H5Fget_name(file, name.data(), name.size() + 1);
  const int descriptor = open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  struct stat status = {};
  const bool known = fstat(descriptor, &status) == 0 && status.st_size > 0;
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const bytes = known ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0) : MAP_FAILED;
  close(descriptor);
  if (bytes == MAP_FAILED) return false;
  const std::string_view content(static_cast<const char*>(bytes), size);
  bool sound = true;
  std::size_t at = 0;
  while (sound) {
    const void* const found = memmem(content.data() + at, size - at, kHeapBegin.data(), kHeapBegin.size());
    if (found == nullptr) break;
    at = static_cast<std::size_t>(static_cast<const char*>(found) - content.data());
    sound = is_sound_heap(content.substr(at));
    at += kHeapBegin.size();
  }
  munmap(bytes, size);
  return sound;
}

bool write_text_attribute(std::int64_t file, const std::string& path, const std::string& name,
                          const std::string& text) {
  const Hdf5Handle type(H5Tcopy(H5T_C_S1), &H5Tclose);
  // A text of no length is none to the library.
  const std::string content = text.empty() ? std::string(1, '\0') : text;
  if (H5Tset_size(type, content.size()) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0 ||
      H5Tset_strpad(type, H5T_STR_NULLPAD) < 0)
    return false;
  const Hdf5Handle space(H5Screate(H5S_SCALAR), &H5Sclose);
  const Hdf5Handle attribute(
      H5Acreate_by_name(file, path.c_str(), name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
      &H5Aclose);
  return attribute >= 0 && H5Awrite(attribute, type, content.data()) >= 0;
}

std::optional<std::string> read_text_attribute(std::int64_t file, const std::string& path,
                                               const std::string& name) {
  const Hdf5Handle attribute(H5Aopen_by_name(file, path.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT),
                             &H5Aclose);
  if (attribute < 0) return {};
  const Hdf5Handle stored(H5Aget_type(attribute), &H5Tclose), space(H5Aget_space(attribute), &H5Sclose);
  if (stored < 0 || space < 0 || H5Tget_class(stored) != H5T_STRING ||
      H5Sget_simple_extent_npoints(space) != 1)
    return {};
  if (H5Tis_variable_str(stored) > 0) {
    char* content = nullptr;
    if (!has_sound_heaps(file) || H5Aread(attribute, stored, &content) < 0) return {};
    std::string out = content == nullptr ? "" : content;
    H5free_memory(content);
    return out;
  }
  // A damaged type may claim any size; the file holds what it claims.
  const std::size_t size = H5Tget_size(stored);
  if (size == 0 || H5Aget_storage_size(attribute) < size) return {};
  std::string out(size, '\0');
  if (H5Aread(attribute, stored, out.data()) < 0) return {};
  out.resize(out.find_last_not_of('\0') + 1);
  return out;
}

}  // namespace liedyn
