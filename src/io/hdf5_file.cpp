#include "io/hdf5_file.h"

#include <array>
#include <utility>

#include <hdf5.h>

#include "base/error.h"

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

}  // namespace

std::int64_t Hdf5File::check(std::int64_t result) const {
  if (result < 0)
    throw InputError(
        {{name_, 0, "", "cannot be written as HDF5", "is the disk full, or the directory missing?"}});
  return result;
}

Hdf5File::Hdf5File(std::string file) : name_(std::move(file)) {
  // After a write that failed (a full disk, a limit of the file size) the library would crash when it tidies up at the end of the program. Files are
  // closed here anyway.
  static const herr_t no_tidying = H5dont_atexit();
  static_cast<void>(no_tidying);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // it would print its own stack of errors
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

}  // namespace liedyn
