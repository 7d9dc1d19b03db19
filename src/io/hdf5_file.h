// The little of HDF5 that results and studies need, with errors as exceptions. Nothing of the library appears here.
//
// A file is first laid out (groups, attributes, tables) and then shared: from that moment on others may read it while rows are appended, and what they see is complete
// also if this program is killed. HDF5 calls this SWMR, single writer, multiple readers. After share() the layout is fixed; rows, texts and words may change.
//
//   Hdf5File out("runs.h5");
//   const int runs = out.rows({{"/mass", {}}, {"/position", {3}}}, 100);
//   out.share();
//   out.append(runs, {2.0, 0.1, 0.2, 0.3});
//   out.flush();
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace liedyn {

// A table that grows: a row of it is one number ({}), a vector ({3}) or an array ({bodies, 3}).
struct Hdf5Table {
  std::string path;
  std::vector<std::size_t> shape;
};

// All functions throw InputError if the file cannot be written. Compression and writing happen in a thread of its own, with at most two chunks waiting.
class Hdf5File {
 public:
  // Appears under its name with share(), or with close() if it is not shared: until then it is FILE.part.
  explicit Hdf5File(std::string file);
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;
  // Writes what is pending. A file that never appeared under its name is removed.
  ~Hdf5File();

  void group(const std::string& path);
  // A text attribute of the group or dataset with this path.
  void attribute(const std::string& path, const std::string& name, const std::string& text);
  // Tables that grow together, and the rows of each that are compressed as one piece. Readers see new rows of the first table after those of all others: the rows that it has
  // are complete. Gives a number for append().
  int rows(const std::vector<Hdf5Table>& tables, std::size_t chunk_rows);
  // A text as bytes, and a word of at most 31; both may be set again later.
  void text(const std::string& path, const std::string& content);
  void word(const std::string& path, const std::string& content);

  void share();

  // One row: the numbers of all tables, one table after the other. Readers see it within ten seconds, or after flush().
  void append(int rows, std::span<const double> row);
  // The same from pieces that follow one another.
  void append(int rows, std::span<const std::span<const double>> pieces);
  // Returns when all rows can be seen.
  void flush();
  void close();

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

// A file that Hdf5File wrote, or writes: what was complete when it was opened. All functions throw InputError if the file is not one, or lacks what is asked for.
class Hdf5Input {
 public:
  explicit Hdf5Input(std::string file);
  Hdf5Input(const Hdf5Input&) = delete;
  Hdf5Input& operator=(const Hdf5Input&) = delete;
  ~Hdf5Input();

  const std::string& name() const { return name_; }
  bool has(const std::string& path) const;
  bool has_attribute(const std::string& path, const std::string& name) const;
  std::string attribute(const std::string& path, const std::string& name) const;
  std::string text(const std::string& path) const;
  std::string word(const std::string& path) const;
  // Names of the entries of a group, in alphabetical order.
  std::vector<std::string> entries(const std::string& path) const;

  // Sizes of all dimensions, rows first; nothing of the table is read.
  std::vector<std::size_t> shape(const std::string& path) const;
  // Row by row; a vector is one column. `rows` of them from row `first`, all from there if there are fewer.
  struct Table {
    std::size_t rows = 0, columns = 0;
    std::vector<double> data;
  };
  Table table(const std::string& path, std::size_t first = 0, std::size_t rows = SIZE_MAX) const;

 private:
  std::int64_t check(std::int64_t result, const std::string& what) const;

  std::string name_;
  std::int64_t file_ = -1;
  bool grows_ = false;  // another program may be writing it
};

// Whether a program has this file open with Hdf5File at the moment. False also where the system cannot say.
bool is_being_written(const std::string& file);

}  // namespace liedyn
