// What the parts of the builder of descriptions share.
#pragma once

#include <unordered_set>

#include "liedyn/model/description.h"

namespace liedyn {

// More findings than this help nobody; the rest are counted.
inline constexpr std::size_t kMaxFindings = 100;

// A hash set of the indices of the entries: their names are not stored a second time.
class DescriptionBuilder::Names {
 public:
  explicit Names(const std::vector<Entry>& entries) : set_(16, Hash{&entries}, Equal{&entries}) {}
  void reserve(std::size_t n) { set_.reserve(n); }
  bool insert(std::size_t entry) { return set_.insert(static_cast<std::int32_t>(entry)).second; }
  bool contains(std::string_view name) const { return set_.contains(name); }

 private:
  using Index = std::int32_t;
  struct Hash {
    using is_transparent = void;
    const std::vector<Entry>* entries;
    std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>{}(name); }
    std::size_t operator()(Index i) const { return (*this)((*entries)[static_cast<std::size_t>(i)].name); }
  };
  struct Equal {
    using is_transparent = void;
    const std::vector<Entry>* entries;
    std::string_view name(std::string_view n) const { return n; }
    std::string_view name(Index i) const { return (*entries)[static_cast<std::size_t>(i)].name; }
    bool operator()(auto a, auto b) const { return name(a) == name(b); }
  };
  std::unordered_set<Index, Hash, Equal> set_;
};

// The field that names the bodies of an entry, -1 if it has none.
inline int bodies_field(const Kind& kind) {
  for (std::size_t i = 0; i < kind.fields.size(); ++i)
    if (kind.fields[i].type == FieldType::Bodies || kind.fields[i].type == FieldType::Body)
      return static_cast<int>(i);
  return -1;
}

inline bool is_pair(FieldType type) { return type == FieldType::Bodies || type == FieldType::Joints; }

// Whether the i-th body of an entry carries what a field describes.
inline bool carries(BodyAxes axes, int i) {
  return axes == BodyAxes::Each || axes == (i == 0 ? BodyAxes::First : BodyAxes::Second);
}

}  // namespace liedyn
