// A JSON document that the program changes before it is read: repetitions, sub-models, frames and shapes are written out in it (io/expand/expand.h). Every
// value keeps its origin, so that messages name the user's file and line.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "liedyn/base/error.h"
#include "liedyn/io/json.h"

namespace liedyn {

// Files and lines, numbered from 1. An expanded document has these numbers as its lines.
class Origins {
 public:
  // `top_line`: the line of the outermost file that a value of another file stands for.
  int add(const std::string& file, int line, int top_line);
  const std::string& file(int origin) const;
  int line(int origin) const;
  int top_line(int origin) const;

 private:
  bool knows(int origin) const { return origin >= 1 && origin <= static_cast<int>(list_.size()); }

  struct Origin {
    std::int32_t file, line, top_line;
    auto operator<=>(const Origin&) const = default;
  };
  std::vector<std::string> files_;
  std::map<std::string, std::int32_t, std::less<>> file_index_;
  std::vector<Origin> list_;
  std::map<Origin, int> index_;
};

struct Item {
  JsonType type = JsonType::Null;
  int origin = 0;
  double number = 0;
  std::string key, text;
  std::vector<Item> items;
  bool outer =
      false;  // of a value in a sub-model that the model around it gives: its names are those of that model

  static Item of_number(double value, int origin);
  static Item of_text(std::string text, int origin);
  static Item array(int origin);
  static Item object(int origin);
  // A copy of a document's value with its lines as origins; `top_line` 0: the file is the outermost one.
  static Item of(JsonValue value, const std::string& file, int top_line, Origins& origins);

  bool is(JsonType t) const { return type == t; }
  Item* find(std::string_view name);
  const Item* find(std::string_view name) const;
  Item& set(std::string_view name, Item value);  // replaces or appends
  void erase(std::string_view name);
  std::string describe() const;  // as JsonValue::describe
  std::size_t count() const;     // of all values in it, itself included
};

// The item with a path such as bodies.foot.mass or bodies.foot.position[2], null if there is none. Keys may have dots.
Item* find_item(Item& root, std::string_view path);

JsonDocument to_document(const Item& root);

// Findings about the input; at most a hundred are kept.
class Findings {
 public:
  explicit Findings(const Origins& origins) : origins_(origins) {}
  void add(std::string path, std::string message, std::string hint, int origin);
  // "expected WHAT, got ..."
  void expected(std::string path, std::string_view what, const Item& found, std::string hint = {});
  bool empty() const { return list_.empty(); }
  const std::vector<Diagnostic>& list() const { return list_; }
  const Origins& origins() const { return origins_; }

 private:
  const Origins& origins_;
  std::vector<Diagnostic> list_;
};

inline bool is_one_of(std::string_view name, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

}  // namespace liedyn
