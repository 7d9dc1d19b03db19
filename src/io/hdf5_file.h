// The little of HDF5 that results need, with errors as exceptions. Nothing of the library appears here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace liedyn {

class Hdf5File {
 public:
  // Creates the file, or empties it. All functions throw InputError if it cannot be written.
  explicit Hdf5File(std::string file);
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;
  ~Hdf5File();

  void group(const std::string& path);
  // A text attribute of the group or dataset with this path.
  void attribute(const std::string& path, const std::string& name, const std::string& text);
  // Columns first, first + 1, ... of a table with `width` columns, stored row by row. One column makes a vector.
  void columns(const std::string& path, const double* table, std::size_t rows, int width, int first,
               int count);
  // Writes what is pending.
  void close();

 private:
  std::int64_t check(std::int64_t result) const;  // hid_t or herr_t: negative is a failure

  std::string name_;
  std::int64_t file_ = -1;
};

// A file that Hdf5File wrote, read back. All functions throw InputError if the file is not one, or lacks what is asked for.
class Hdf5Input {
 public:
  explicit Hdf5Input(std::string file);
  Hdf5Input(const Hdf5Input&) = delete;
  Hdf5Input& operator=(const Hdf5Input&) = delete;
  ~Hdf5Input();

  std::string attribute(const std::string& path, const std::string& name) const;
  // Row by row; a vector is one column.
  struct Table {
    std::size_t rows = 0, columns = 0;
    std::vector<double> data;
  };
  Table table(const std::string& path) const;

 private:
  std::int64_t check(std::int64_t result, const std::string& what) const;

  std::string name_;
  std::int64_t file_ = -1;
};

}  // namespace liedyn
