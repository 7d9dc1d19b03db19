// Closes what HDF5 opened. Identifiers and results are those of the library (hid_t, herr_t), which no header here includes.
#pragma once

#include <cstdint>
#include <utility>

namespace liedyn {

class Hdf5Handle {
 public:
  Hdf5Handle(std::int64_t id, int (*close)(std::int64_t)) : id_(id), close_(close) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;
  ~Hdf5Handle() {
    if (id_ >= 0) close_(id_);
  }
  operator std::int64_t() const { return id_; }

 private:
  std::int64_t id_;
  int (*close_)(std::int64_t);
};

}  // namespace liedyn
