// What objects remember, as bytes. Each class lists its members once, for writing and for reading:
//
//   void archive(Archive& a) { a(has_matrix_, weights_, rows_); }
//
// Numbers are copied as the machine holds them, so that what is read equals what was written bit by bit.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "liedyn/base/error.h"

namespace liedyn {

class Archive {
 public:
  Archive() = default;                                                       // writes
  explicit Archive(std::string_view bytes) : reads_(true), input_(bytes) {}  // reads

  bool reads() const { return reads_; }
  const std::string& bytes() const { return output_; }  // written
  std::string_view rest() const { return input_; }      // not yet read

  template <class... Items>
  void operator()(Items&... items) {
    (item(items), ...);
  }

 private:
  void raw(void* data, std::size_t count) {
    if (count == 0) return;
    if (!reads_) {
      output_.append(static_cast<const char*>(data), count);
      return;
    }
    require(count);
    std::memcpy(data, input_.data(), count);
    input_.remove_prefix(count);
  }
  // The count of items of a size, which what is left must hold before room is made for them.
  template <class Count>
  std::size_t counted(Count count, std::size_t size) {
    auto number = static_cast<std::uint64_t>(count);
    raw(&number, sizeof number);
    if (reads_ && number > input_.size() / size) require(input_.size() + 1);
    return static_cast<std::size_t>(number);
  }
  void require(std::size_t count) const {
    if (count > input_.size()) throw InputError("checkpoint", "unexpected end of the data");
  }

  template <class T>
  void item(T& x) {
    if constexpr (requires { x.archive(*this); }) {
      x.archive(*this);
    } else {
      static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
      raw(&x, sizeof x);
    }
  }
  template <class T>
  void item(std::vector<T>& x) {
    constexpr bool plain = std::is_trivially_copyable_v<T>;
    x.resize(counted(x.size(), plain ? sizeof(T) : 1));
    if constexpr (plain)
      raw(x.data(), x.size() * sizeof(T));
    else
      for (T& one : x) item(one);
  }
  void item(std::vector<bool>& x) {
    x.resize(counted(x.size(), 1));
    for (std::size_t i = 0; i < x.size(); ++i) {
      char one = x[i] ? 1 : 0;
      raw(&one, 1);
      x[i] = one != 0;
    }
  }
  void item(std::string& x) {
    x.resize(counted(x.size(), 1));
    raw(x.data(), x.size());
  }
  void item(Eigen::VectorXd& x) {
    x.resize(static_cast<Eigen::Index>(counted(x.size(), sizeof(double))));
    raw(x.data(), static_cast<std::size_t>(x.size()) * sizeof(double));
  }

  bool reads_ = false;
  std::string_view input_;
  std::string output_;
};

}  // namespace liedyn
