#include "liedyn/io/json.h"

#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <unordered_set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "liedyn/base/suggest.h"

namespace liedyn {
namespace {

// Deeper nesting has no meaning in any of our files.
constexpr std::size_t kMaxDepth = 100;

// Offsets are 32-bit numbers.
constexpr std::size_t kMaxFileSize = std::numeric_limits<std::uint32_t>::max();
constexpr const char* kTooLarge = "is larger than 4 GB, which is more than a model can be";
constexpr const char* kNoText = "is not a text file (it contains zero bytes), expected JSON";

// How far the parser has read. It sees the text through iterators that count here.
struct Progress {
  std::string_view text;
  std::size_t offset = 0;      // characters read
  std::size_t line = 1;        // of the next character
  std::size_t line_start = 0;  // offset of its first character

  // The parser reads one character past a number; if that is a line break, the number stands before it.
  bool just_after_line_break() const { return offset > 0 && text[offset - 1] == '\n'; }
};

class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, Progress* progress) : at_(at), progress_(progress) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++progress_->offset;
    if (*at_++ == '\n') {
      ++progress_->line;
      progress_->line_start = progress_->offset;
    }
    return *this;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  Progress* progress_;
};

Diagnostic diagnostic(const std::string& file, std::size_t line, std::string message, std::string hint = {}) {
  return {file, static_cast<int>(line), "", std::move(message), std::move(hint)};
}

// "[json.exception.parse_error.101] parse error at line 3, column 5: syntax error while parsing value - unexpected ..."
std::string plain_message(std::string_view what) {
  // The parser takes the end of the line for a part of the text. Few texts are meant to have one.
  for (std::string_view end_of_line : {"character U+000A", "character U+000D"})
    if (what.find(end_of_line) != std::string_view::npos)
      return "missing closing quote at the end of the line";
  for (std::string_view before : {"] ", ": ", "syntax error while parsing "}) {
    const std::size_t found = what.find(before);
    if (found != std::string_view::npos) what.remove_prefix(found + before.size());
  }
  return excerpt(what, 200);
}

// What the writer may have meant.
std::string syntax_hint(const Progress& progress, std::string_view message) {
  const std::string_view read = progress.text.substr(0, progress.offset);
  if (message.find("UTF-8") != std::string_view::npos) return "save the file with the encoding UTF-8";
  if (message.find("missing closing quote") != std::string_view::npos)
    return "a string begins and ends on one line, with quotation marks";
  if (message.find("unexpected end of input") != std::string_view::npos)
    return "is a closing bracket missing?";

  // The word that the parser stumbled in.
  std::size_t begin = read.empty() ? 0 : read.size() - 1;
  const auto in_word = [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '+';
  };
  while (begin > 0 && in_word(progress.text[begin]) && in_word(progress.text[begin - 1])) --begin;
  std::string_view word = progress.text.substr(begin, 9);
  if (word.starts_with('-') || word.starts_with('+')) word.remove_prefix(1);
  for (std::string_view number : {"NaN", "nan", "Inf", "inf"})
    if (word.starts_with(number)) return "JSON has no NaN or infinity; give a finite number";
  if (word.starts_with('\'')) return "strings are written in double quotation marks";
  if (word.starts_with('#')) return "comments begin with //";

  const std::size_t before =
      begin == 0 ? std::string_view::npos : progress.text.find_last_not_of(" \t\r\n", begin - 1);
  const bool closing = word.starts_with('}') || word.starts_with(']');
  if (closing && before != std::string_view::npos && progress.text[before] == ',')
    return "remove the comma before it";
  if (message.find("expected ',' or") != std::string_view::npos ||
      message.find("expected '}'") != std::string_view::npos ||
      message.find("expected ']'") != std::string_view::npos)
    return "is a comma missing before it?";
  return {};
}

}  // namespace

// Receives what the parser finds and writes the nodes.
class JsonBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  JsonBuilder(JsonDocument& document, const Progress& progress, const std::string& file)
      : document_(document), progress_(progress), file_(file) {}

  bool null() override {
    add(JsonType::Null);
    return true;
  }
  bool boolean(bool value) override { return add_number(JsonType::Boolean, value ? 1 : 0, 0); }
  bool number_integer(number_integer_t value) override {
    return add_number(JsonType::Number, static_cast<double>(value), lookahead());
  }
  bool number_unsigned(number_unsigned_t value) override {
    return add_number(JsonType::Number, static_cast<double>(value), lookahead());
  }
  bool number_float(number_float_t value, const string_t&) override {
    return add_number(JsonType::Number, value, lookahead());
  }
  bool string(string_t& value) override {
    add(JsonType::String).text = store(value);
    return true;
  }
  bool binary(binary_t&) override { return false; }
  bool key(string_t& value) override {
    key_ = store(value);
    return true;
  }
  bool start_object(std::size_t) override { return open(JsonType::Object); }
  bool start_array(std::size_t) override { return open(JsonType::Array); }
  bool end_object() override {
    mark_duplicates(open_.back());
    return close();
  }
  bool end_array() override { return close(); }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& exception) override {
    const std::string message = plain_message(exception.what());
    const std::size_t line = progress_.line - (progress_.just_after_line_break() ? 1 : 0);
    const std::size_t column =
        progress_.just_after_line_break() ? 0 : progress_.offset - progress_.line_start;
    error_ = diagnostic(
        file_, line,
        fmt::format("not valid JSON{}: {}", column > 0 ? fmt::format(", column {}", column) : "", message),
        syntax_hint(progress_, message));
    return false;
  }

  const Diagnostic& error() const { return error_; }

 private:
  using Node = JsonDocument::Node;
  using Slice = JsonDocument::Slice;

  std::size_t lookahead() const { return progress_.just_after_line_break() ? 1 : 0; }

  Slice store(const std::string& text) { return document_.store(text); }

  Node& add(JsonType type) {
    if (!open_.empty()) ++document_.nodes_[open_.back()].size;
    const auto index = static_cast<std::uint32_t>(document_.nodes_.size());
    document_.nodes_.push_back(
        {{.number = 0}, key_, static_cast<std::uint32_t>(progress_.line), index + 1, type, false});
    key_ = {0, 0};
    return document_.nodes_.back();
  }

  bool add_number(JsonType type, double value, std::size_t lines_ahead) {
    Node& node = add(type);
    node.number = value;
    node.line -= static_cast<std::uint32_t>(lines_ahead);
    return true;
  }

  bool open(JsonType type) {
    if (open_.size() == kMaxDepth) {
      error_ = diagnostic(file_, progress_.line, fmt::format("nested more than {} levels deep", kMaxDepth));
      return false;
    }
    add(type).size = 0;
    open_.push_back(static_cast<std::uint32_t>(document_.nodes_.size() - 1));
    return true;
  }

  bool close() {
    document_.nodes_[open_.back()].end = static_cast<std::uint32_t>(document_.nodes_.size());
    open_.pop_back();
    return true;
  }

  void mark_duplicates(std::uint32_t object) {
    std::vector<Node>& nodes = document_.nodes_;
    constexpr std::uint32_t few = 16;  // keys that are compared with one another faster than hashed
    std::unordered_set<std::string_view> keys;
    const bool hash = nodes[object].size > few;
    if (hash) keys.reserve(nodes[object].size);
    for (auto i = object + 1; i < nodes.size(); i = nodes[i].end) {
      const std::string_view key = document_.text(nodes[i].key);
      const bool is_new = hash ? keys.insert(key).second : !has_key(object, i, key);
      if (!is_new) mark_duplicate(object, i);
    }
  }

  // Whether a child of the object before this index has the key.
  bool has_key(std::uint32_t object, std::uint32_t before, std::string_view key) const {
    for (auto i = object + 1; i < before; i = document_.nodes_[i].end)
      if (document_.text(document_.nodes_[i].key) == key) return true;
    return false;
  }

  void mark_duplicate(std::uint32_t object, std::uint32_t index) {
    std::vector<Node>& nodes = document_.nodes_;
    nodes[index].duplicate = true;
    --nodes[object].size;
    std::string path;
    for (std::uint32_t parent : open_)
      if (nodes[parent].key.length > 0) path += excerpt(document_.text(nodes[parent].key), 80) + ".";
    path += excerpt(document_.text(nodes[index].key), 80);
    document_.duplicates_.push_back(
        {file_, static_cast<int>(nodes[index].line), path, "this key is given twice", ""});
  }

  JsonDocument& document_;
  const Progress& progress_;
  const std::string& file_;
  std::vector<std::uint32_t> open_;  // objects and arrays around the current place
  Slice key_ = {0, 0};
  Diagnostic error_;
};

JsonDocument JsonDocument::parse(std::string_view text, const std::string& file) {
  const auto fail = [&](const char* message) -> void { throw InputError({diagnostic(file, 0, message)}); };
  if (text.size() > kMaxFileSize) fail(kTooLarge);
  if (text.find('\0') != std::string_view::npos) fail(kNoText);
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) fail("is empty, expected JSON");

  JsonDocument document;
  Progress progress{.text = text};
  JsonBuilder builder(document, progress, file);
  const char* end = text.data() + text.size();
  // Comments as in C++, // to the end of the line and /* ... */, are skipped.
  constexpr bool kStrict = true, kIgnoreComments = true;
  if (!nlohmann::json::sax_parse(CountingIterator(text.data(), &progress), CountingIterator(end, &progress),
                                 &builder, nlohmann::json::input_format_t::json, kStrict, kIgnoreComments))
    throw InputError({builder.error()});
  return document;
}

JsonDocument::Slice JsonDocument::store(std::string_view text) {
  const auto offset = static_cast<std::uint32_t>(strings_.size());
  strings_ += text;
  return {offset, static_cast<std::uint32_t>(text.size())};
}

std::uint32_t JsonDocument::open(JsonType type, std::string_view key, int line) {
  add(type, key, 0, line);
  nodes_.back().size = 0;
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

// The values directly in it are counted as they are closed.
void JsonDocument::close(std::uint32_t opened) {
  const auto end = static_cast<std::uint32_t>(nodes_.size());
  nodes_[opened].end = end;
  for (std::uint32_t i = opened + 1; i < end; i = nodes_[i].end) ++nodes_[opened].size;
}

void JsonDocument::add(JsonType type, std::string_view key, double number, int line) {
  const auto index = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back(
      {{.number = number}, store(key), static_cast<std::uint32_t>(line), index + 1, type, false});
}

void JsonDocument::add_text(std::string_view key, std::string_view text, int line) {
  add(JsonType::String, key, 0, line);
  nodes_.back().text = store(text);
}

std::string_view describe(JsonType type) {
  constexpr std::string_view names[] = {"null",     "true or false", "a number",
                                        "a string", "an array",      "an object"};
  return names[static_cast<std::size_t>(type)];
}

JsonType JsonValue::type() const { return document_->node(index_).type; }
int JsonValue::line() const { return static_cast<int>(document_->node(index_).line); }
std::string_view JsonValue::key() const { return document_->text(document_->node(index_).key); }
bool JsonValue::boolean() const { return document_->node(index_).number != 0; }
double JsonValue::number() const { return document_->node(index_).number; }
std::string_view JsonValue::text() const { return document_->text(document_->node(index_).text); }
std::size_t JsonValue::size() const { return document_->node(index_).size; }

// Duplicates are skipped. They are never the first of their object.
JsonValue::Iterator& JsonValue::Iterator::operator++() {
  do index_ = document_->node(index_).end;
  while (index_ != end_ && document_->node(index_).duplicate);
  return *this;
}

JsonValue::Iterator JsonValue::begin() const { return {document_, index_ + 1, document_->node(index_).end}; }

JsonValue::Iterator JsonValue::end() const {
  const std::uint32_t end = document_->node(index_).end;
  return {document_, end, end};
}

JsonValue JsonValue::find(std::string_view key) const {
  for (JsonValue child : *this)
    if (child.key() == key) return child;
  return {};
}

std::string JsonValue::describe() const {
  switch (type()) {
    case JsonType::Null: return "null";
    case JsonType::Boolean: return boolean() ? "true" : "false";
    case JsonType::Number: return fmt::format("{}", number());
    case JsonType::String: return fmt::format("'{}'", excerpt(text()));
    case JsonType::Array: return fmt::format("an array of {}", size());
    case JsonType::Object: return "an object";
  }
  return {};
}

std::string read_text_file(const std::string& file) {
  const auto fail = [&](std::string message) -> void {
    throw InputError({diagnostic(file, 0, std::move(message))});
  };
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) fail("there is no such file");
  if (std::filesystem::is_directory(status)) fail("is a directory, expected a file");
  // Devices may never end.
  if (!std::filesystem::is_regular_file(status) && !std::filesystem::is_fifo(status))
    fail("is not a regular file");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) fail(fmt::format("cannot be opened: {}", std::strerror(errno)));
  std::string text;
  try {
    const auto size = std::filesystem::file_size(file, error);
    if (!error && size > kMaxFileSize) fail(kTooLarge);
    if (!error) text.reserve(size);
    std::vector<char> chunk(1 << 20);
    while (stream.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || stream.gcount() > 0) {
      text.append(chunk.data(), static_cast<std::size_t>(stream.gcount()));
      if (text.size() > kMaxFileSize) fail(kTooLarge);
      // Said at once, so that a huge binary file is not read to its end.
      if (std::memchr(chunk.data(), 0, static_cast<std::size_t>(stream.gcount())) != nullptr) fail(kNoText);
    }
  } catch (const std::bad_alloc&) {
    fail("out of memory: the file is too large");
  }
  if (stream.bad()) fail("cannot be read to its end");
  return text;
}

}  // namespace liedyn
