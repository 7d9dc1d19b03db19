// JSON text as a tree in which every value knows its line, so that a message about the content can say where.
//
// All nodes stand in one array in the order of the text, all strings in one buffer: a file with 10 000 bodies is read in
// milliseconds and freed at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "liedyn/base/error.h"

namespace liedyn {

enum class JsonType : std::uint8_t { Null, Boolean, Number, String, Array, Object };

// "a number", "an object": for messages.
std::string_view describe(JsonType type);

class JsonDocument;

// A value in a document; valid as long as the document is. Cheap to copy.
class JsonValue {
 public:
  JsonValue() = default;  // none
  explicit operator bool() const { return document_ != nullptr; }

  JsonType type() const;
  bool is(JsonType t) const { return type() == t; }
  int line() const;
  std::string_view key() const;  // if its parent is an object

  bool boolean() const;
  double number() const;
  std::string_view text() const;

  std::size_t size() const;  // of an array or object
  class Iterator;
  Iterator begin() const;
  Iterator end() const;
  JsonValue find(std::string_view key) const;  // none if there is no such key

  // What stands here, in a few words: "3", "'text'", "an array of 2". For messages.
  std::string describe() const;

 private:
  friend class JsonDocument;
  JsonValue(const JsonDocument* document, std::uint32_t index) : document_(document), index_(index) {}
  const JsonDocument* document_ = nullptr;
  std::uint32_t index_ = 0;
};

class JsonDocument {
 public:
  // Throws InputError (with the line) if the text is not JSON. `file` is its name in messages.
  static JsonDocument parse(std::string_view text, const std::string& file);
  JsonValue root() const { return {this, 0}; }

  // Keys given twice in an object. Only the first is in the tree.
  const std::vector<Diagnostic>& duplicates() const { return duplicates_; }

  // A document that the program makes: its values one after the other. Keys of an object must differ.
  std::uint32_t open(JsonType type, std::string_view key, int line);  // an array or object
  void close(std::uint32_t opened);                                   // what open() gave
  void add(JsonType type, std::string_view key, double number, int line);
  void add_text(std::string_view key, std::string_view text, int line);

 private:
  friend class JsonValue;
  friend class JsonBuilder;

  struct Slice {
    std::uint32_t offset, length;
  };
  struct Node {
    union {
      double number;  // also of booleans
      Slice text;
      std::uint32_t size;
    };
    Slice key;
    std::uint32_t line;
    std::uint32_t end;  // index of the first node after this value and all in it
    JsonType type;
    bool duplicate;
  };

  const Node& node(std::uint32_t index) const { return nodes_[index]; }
  std::string_view text(Slice slice) const { return {strings_.data() + slice.offset, slice.length}; }
  Slice store(std::string_view text);

  std::vector<Node> nodes_;
  std::string strings_;
  std::vector<Diagnostic> duplicates_;
};

class JsonValue::Iterator {
 public:
  JsonValue operator*() const { return {document_, index_}; }
  Iterator& operator++();
  bool operator==(const Iterator&) const = default;

 private:
  friend class JsonValue;
  Iterator(const JsonDocument* document, std::uint32_t index, std::uint32_t end)
      : document_(document), index_(index), end_(end) {}
  const JsonDocument* document_;
  std::uint32_t index_;
  std::uint32_t end_;
};

// The content of a text file. Throws InputError if it cannot be read, or is no text.
std::string read_text_file(const std::string& file);

}  // namespace liedyn
