// Fowler, Noll, Vo (FNV-1a, 64 bits): shows damage, and that two things differ. No protection against intent.
#pragma once

#include <cstdint>
#include <string_view>

namespace liedyn {

class Hash {
 public:
  void add(std::string_view bytes) {
    for (const char byte : bytes) value_ = (value_ ^ static_cast<unsigned char>(byte)) * 1099511628211U;
    value_ = (value_ ^ bytes.size()) * 1099511628211U;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 14695981039346656037U;
};

}  // namespace liedyn
