#include "liedyn/io/hdf5_file.h"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <hdf5.h>

#include "liedyn/base/error.h"

namespace liedyn {
namespace {

// Closes what HDF5 opened.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { close_(id_); }
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

// Before the first file. After a write that failed (a full disk, a limit of the file size) the library would crash when it tidies up at the
// end of the program; files are closed here anyway. And it would print its own stack of errors.
void prepare_library() {
  static const herr_t no_tidying = H5dont_atexit();
  static_cast<void>(no_tidying);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

}  // namespace

std::int64_t Hdf5File::check(std::int64_t result) const {
  if (result < 0)
    throw InputError(
        {{name_, 0, "", "cannot be written as HDF5", "is the disk full, or the directory missing?"}});
  return result;
}

Hdf5File::Hdf5File(std::string file) : name_(std::move(file)) {
  prepare_library();
  file_ = check(H5Fcreate(name_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
}

Hdf5File::~Hdf5File() {
  if (file_ >= 0) H5Fclose(file_);
}

void Hdf5File::close() { check(H5Fclose(std::exchange(file_, -1))); }

void Hdf5File::group(const std::string& path) {
  const Handle group(check(H5Gcreate2(file_, path.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)),
                     &H5Gclose);
}

void Hdf5File::attribute(const std::string& path, const std::string& name, const std::string& text) {
  const Handle type(check(H5Tcopy(H5T_C_S1)), &H5Tclose);
  check(H5Tset_size(type, H5T_VARIABLE));
  check(H5Tset_cset(type, H5T_CSET_UTF8));
  const Handle space(check(H5Screate(H5S_SCALAR)), &H5Sclose);
  const Handle attribute(check(H5Acreate_by_name(file_, path.c_str(), name.c_str(), type, space, H5P_DEFAULT,
                                                 H5P_DEFAULT, H5P_DEFAULT)),
                         &H5Aclose);
  const char* content = text.c_str();
  check(H5Awrite(attribute, type, &content));
}

void Hdf5File::columns(const std::string& path, const double* table, std::size_t rows, int width, int first,
                       int count) {
  // The library picks the columns out of the table itself: no copy.
  const std::array<hsize_t, 2> table_size = {rows, static_cast<hsize_t>(width)};
  const Handle memory(check(H5Screate_simple(2, table_size.data(), nullptr)), &H5Sclose);
  const std::array<hsize_t, 2> start = {0, static_cast<hsize_t>(first)};
  const std::array<hsize_t, 2> size = {rows, static_cast<hsize_t>(count)};
  check(H5Sselect_hyperslab(memory, H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr));
  const Handle disk(check(H5Screate_simple(count == 1 ? 1 : 2, size.data(), nullptr)), &H5Sclose);
  const Handle dataset(
      check(H5Dcreate2(file_, path.c_str(), H5T_NATIVE_DOUBLE, disk, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)),
      &H5Dclose);
  check(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, disk, H5P_DEFAULT, table));
}

std::int64_t Hdf5Input::check(std::int64_t result, const std::string& what) const {
  if (result < 0)
    throw InputError({{name_, 0, "", what, "expected an HDF5 file that liedyn run --out FILE.h5 wrote"}});
  return result;
}

Hdf5Input::Hdf5Input(std::string file) : name_(std::move(file)) {
  prepare_library();
  file_ = check(H5Fopen(name_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "cannot be read as HDF5");
}

Hdf5Input::~Hdf5Input() { H5Fclose(file_); }

std::string Hdf5Input::attribute(const std::string& path, const std::string& name) const {
  const std::string missing = fmt::format("has no text attribute '{}' of '{}'", name, path);
  const Handle attribute(
      check(H5Aopen_by_name(file_, path.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), missing),
      &H5Aclose);
  const Handle type(check(H5Aget_type(attribute), missing), &H5Tclose);
  const Handle space(check(H5Aget_space(attribute), missing), &H5Sclose);
  // Attributes are written as one text of any length; whatever else has this name is not read into a pointer.
  if (H5Tis_variable_str(type) <= 0 || H5Sget_simple_extent_npoints(space) != 1) check(-1, missing);
  char* content = nullptr;
  check(H5Aread(attribute, type, &content), missing);
  std::string text = content == nullptr ? "" : content;
  H5free_memory(content);
  return text;
}

Hdf5Input::Table Hdf5Input::table(const std::string& path) const {
  const std::string missing = fmt::format("has no table of numbers '{}'", path);
  const Handle dataset(check(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), missing), &H5Dclose);
  const Handle space(check(H5Dget_space(dataset), missing), &H5Sclose);
  const int dimensions = H5Sget_simple_extent_ndims(space);
  if (dimensions != 1 && dimensions != 2) check(-1, missing);
  std::array<hsize_t, 2> size = {0, 1};
  check(H5Sget_simple_extent_dims(space, size.data(), nullptr), missing);
  // What was never written takes no space in a file, and would be read as zeros, as many as it claims.
  if (H5Dget_storage_size(dataset) < size[0] * size[1] * sizeof(double)) check(-1, missing);
  Table out{size[0], size[1], std::vector<double>(size[0] * size[1])};
  check(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.data.data()), missing);
  return out;
}

}  // namespace liedyn
