#include "liedyn/io/expand/item.h"

#include <algorithm>

#include <fmt/format.h>

#include "liedyn/base/suggest.h"

namespace liedyn {
namespace {

constexpr std::size_t kMostFindings = 100;

void write(const Item& item, JsonDocument& document) {
  switch (item.type) {
    case JsonType::Object:
    case JsonType::Array: {
      const std::uint32_t opened = document.open(item.type, item.key, item.origin);
      for (const Item& child : item.items) write(child, document);
      document.close(opened);
      break;
    }
    case JsonType::String: document.add_text(item.key, item.text, item.origin); break;
    default: document.add(item.type, item.key, item.number, item.origin);
  }
}

}  // namespace

int Origins::add(const std::string& file, int line, int top_line) {
  auto known = file_index_.find(file);
  if (known == file_index_.end()) {
    known = file_index_.emplace(file, static_cast<std::int32_t>(files_.size())).first;
    files_.push_back(file);
  }
  const Origin origin{known->second, line, top_line == 0 ? line : top_line};
  if (!list_.empty() && list_.back() == origin) return static_cast<int>(list_.size());
  const auto [entry, is_new] = index_.try_emplace(origin, static_cast<int>(list_.size()) + 1);
  if (is_new) list_.push_back(origin);
  return entry->second;
}

const std::string& Origins::file(int origin) const {
  static const std::string none;
  if (!knows(origin)) return none;
  return files_[static_cast<std::size_t>(list_[static_cast<std::size_t>(origin - 1)].file)];
}
int Origins::line(int origin) const {
  return knows(origin) ? list_[static_cast<std::size_t>(origin - 1)].line : 0;
}
int Origins::top_line(int origin) const {
  return knows(origin) ? list_[static_cast<std::size_t>(origin - 1)].top_line : 0;
}

Item Item::of_number(double value, int origin) {
  Item out;
  out.type = JsonType::Number;
  out.number = value;
  out.origin = origin;
  return out;
}
Item Item::of_text(std::string text, int origin) {
  Item out;
  out.type = JsonType::String;
  out.text = std::move(text);
  out.origin = origin;
  return out;
}
Item Item::array(int origin) {
  Item out;
  out.type = JsonType::Array;
  out.origin = origin;
  return out;
}
Item Item::object(int origin) {
  Item out;
  out.type = JsonType::Object;
  out.origin = origin;
  return out;
}

Item Item::of(JsonValue value, const std::string& file, int top_line, Origins& origins) {
  Item out;
  out.type = value.type();
  out.origin = origins.add(file, value.line(), top_line);
  out.key = value.key();
  switch (out.type) {
    case JsonType::Boolean: out.number = value.boolean() ? 1 : 0; break;
    case JsonType::Number: out.number = value.number(); break;
    case JsonType::String: out.text = value.text(); break;
    case JsonType::Array:
    case JsonType::Object:
      out.items.reserve(value.size());
      for (JsonValue child : value) out.items.push_back(of(child, file, top_line, origins));
      break;
    case JsonType::Null: break;
  }
  return out;
}

const Item* Item::find(std::string_view name) const {
  if (type != JsonType::Object) return nullptr;
  const auto found = std::ranges::find(items, name, &Item::key);
  return found == items.end() ? nullptr : &*found;
}
Item* Item::find(std::string_view name) { return const_cast<Item*>(std::as_const(*this).find(name)); }

Item& Item::set(std::string_view name, Item value) {
  value.key = name;
  if (Item* there = find(name)) return *there = std::move(value);
  items.push_back(std::move(value));
  return items.back();
}

void Item::erase(std::string_view name) {
  std::erase_if(items, [&](const Item& child) { return child.key == name; });
}

std::string Item::describe() const {
  switch (type) {
    case JsonType::Null: return "null";
    case JsonType::Boolean: return number != 0 ? "true" : "false";
    case JsonType::Number: return fmt::format("{}", number);
    case JsonType::String: return fmt::format("'{}'", excerpt(text));
    case JsonType::Array: return fmt::format("an array of {}", items.size());
    case JsonType::Object: return "an object";
  }
  return {};
}

std::size_t Item::count() const {
  std::size_t out = 1;
  for (const Item& child : items) out += child.count();
  return out;
}

Item* find_item(Item& item, std::string_view path) {
  if (path.empty()) return &item;
  if (path[0] == '[') {
    std::size_t index = 0, i = 1;
    for (; i < path.size() && path[i] >= '0' && path[i] <= '9' && index < 1'000'000; ++i)
      index = 10 * index + static_cast<std::size_t>(path[i] - '0');
    if (i == 1 || i >= path.size() || path[i] != ']' || !item.is(JsonType::Array) ||
        index >= item.items.size())
      return nullptr;
    return find_item(item.items[index], path.substr(i + 1));
  }
  if (path[0] == '.') path.remove_prefix(1);
  if (!item.is(JsonType::Object)) return nullptr;
  for (Item& child : item.items) {
    const std::string& key = child.key;
    if (!path.starts_with(key) ||
        (path.size() > key.size() && path[key.size()] != '.' && path[key.size()] != '['))
      continue;
    if (Item* found = find_item(child, path.substr(key.size()))) return found;
  }
  return nullptr;
}

JsonDocument to_document(const Item& root) {
  JsonDocument document;
  write(root, document);
  return document;
}

void Findings::add(std::string path, std::string message, std::string hint, int origin) {
  if (list_.size() >= kMostFindings) return;
  list_.push_back(
      {origins_.file(origin), origins_.line(origin), std::move(path), std::move(message), std::move(hint)});
}

void Findings::expected(std::string path, std::string_view what, const Item& found, std::string hint) {
  add(std::move(path), fmt::format("expected {}, got {}", what, found.describe()), std::move(hint),
      found.origin);
}

}  // namespace liedyn
