#include "liedyn/io/expand/repeat.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "liedyn/base/suggest.h"
#include "liedyn/model/description.h"
#include "liedyn/model/parameter_paths.h"

namespace liedyn {
namespace {

constexpr double kMostCopies = 1e7;                       // of all blocks together
constexpr std::size_t kMostRepeatedValues = 200'000'000;  // of a document: its indices are 32 bits wide
constexpr int kDeepestRepeat = 20;

class Repeater {
 public:
  Repeater(Item& root, std::vector<Assignment>& assignments, Findings& findings)
      : root_(root), assignments_(assignments), findings_(findings) {}

  void run() {
    // Copies for arguments out of their ranges would be many, or none.
    const std::size_t before = findings_.list().size();
    read_arguments();
    if (findings_.list().size() > before) return;
    const Item* blocks = root_.find("repeat");
    if (blocks == nullptr) {
      if (arguments_origin_ != 0)
        findings_.add("arguments", "there is no \"repeat\" that takes arguments", {}, arguments_origin_);
      return;
    }
    const Item list = *blocks;
    root_.erase("repeat");
    collect_names();
    make_blocks(list, "repeat", 0);
  }

 private:
  void read_arguments() {
    Item* arguments = root_.find("arguments");
    if (arguments == nullptr) return;
    arguments_origin_ = arguments->origin;
    if (!arguments->is(JsonType::Object))
      return findings_.expected("arguments", "numbers by name", *arguments);
    for (const Item& given : arguments->items) {
      const std::string path = "arguments." + excerpt(given.key);
      if (!check_name(given.key, path, given.origin)) continue;
      Item argument = given;
      if (given.is(JsonType::Object)) {
        const Item* value = given.find("value");
        if (value == nullptr) {
          findings_.expected(path, "a number, or {\"value\": 10, \"least\": 1, \"most\": 100}", given);
          continue;
        }
        argument = *value;
        argument.key = given.key;
      }
      std::optional<double> assigned;
      std::erase_if(assignments_, [&](const Assignment& a) {
        const bool match = a.path == argument.key || a.path == "arguments." + argument.key;
        if (match) assigned = a.value;
        return match;
      });
      std::optional<double> number = assigned;
      if (!number && argument.is(JsonType::Number)) number = argument.number;
      if (!number && argument.is(JsonType::String)) number = evaluate(argument.text, path, argument.origin);
      if (!number && !argument.is(JsonType::String))
        findings_.expected(path, "a number or an expression of arguments", argument);
      if (number && given.is(JsonType::Object)) check_range(given, *number, path);
      push(argument.key, number.value_or(0));
    }
  }

  // {"value": 10, "least": 3, "most": 100}
  void check_range(const Item& argument, double value, const std::string& path) {
    constexpr std::string_view kKeys[] = {"value", "least", "most"};
    for (const Item& key : argument.items)
      if (std::find(std::begin(kKeys), std::end(kKeys), key.key) == std::end(kKeys))
        findings_.add(fmt::format("{}.{}", path, excerpt(key.key)), "unknown key",
                      did_you_mean(key.key, kKeys), key.origin);
    for (const auto& [name, words, sign] :
         {std::tuple("least", "at least", 1.0), std::tuple("most", "at most", -1.0)}) {
      const Item* limit = argument.find(name);
      if (limit == nullptr) continue;
      if (!limit->is(JsonType::Number))
        findings_.expected(fmt::format("{}.{}", path, name), "a number", *limit);
      else if (sign * value < sign * limit->number)
        findings_.add(path, fmt::format("expected {} {}, got {}", words, limit->number, value), {},
                      argument.origin);
    }
  }

  bool check_name(std::string_view name, const std::string& path, int origin) {
    const bool good = is_name(name) && name.find('-') == std::string_view::npos && name != "pi" &&
                      name != "deg" && name != "t" && !is_built_in_function(name);
    if (!good)
      findings_.add(path,
                    "expected a name of letters, digits and underscores that has no meaning in expressions",
                    {}, origin);
    return good;
  }

  void push(const std::string& name, double value) {
    names_.push_back(name);
    values_.push_back(value);
    signature_ += name + ' ';
  }
  void pop(std::size_t size) {
    for (; names_.size() > size; names_.pop_back(), values_.pop_back())
      signature_.resize(signature_.size() - names_.back().size() - 1);
  }

  // Expressions are parsed once for each list of names.
  std::optional<double> evaluate(const std::string& text, const std::string& path, int origin) {
    try {
      auto found = parsed_.find(signature_ + text);
      if (found == parsed_.end())
        found = parsed_.emplace(signature_ + text, Expression::parse(text, names_)).first;
      const double value = found->second.evaluate<double>(values_);
      if (std::isfinite(value)) return value;
      findings_.add(
          path, fmt::format("expected a finite number, but '{}' gives {}", excerpt(text), number_text(value)),
          {}, origin);
    } catch (const ExpressionError& error) {
      findings_.add(path,
                    fmt::format("in the expression '{}', at character {}: {}", excerpt(text),
                                error.position() + 1, error.what()),
                    error.hint().empty() ? "braces may name indices, \"let\" and \"arguments\"; parameters "
                                           "are allowed outside braces only"
                                         : error.hint(),
                    origin);
    }
    return {};
  }
  std::optional<double> number(const Item& item, const std::string& path) {
    if (item.is(JsonType::Number)) return item.number;
    if (item.is(JsonType::String)) return evaluate(item.text, path, item.origin);
    findings_.expected(path, "a number or an expression", item);
    return {};
  }

  bool too_many_findings() const { return findings_.list().size() >= 20; }

  void make_blocks(const Item& list, const std::string& path, int depth) {
    if (!list.is(JsonType::Array))
      return findings_.expected(path, "a list of blocks, [{\"for\": ...}, ...]", list);
    if (depth > kDeepestRepeat)
      return findings_.add(path, fmt::format("blocks are nested more than {} levels deep", kDeepestRepeat),
                           {}, list.origin);
    for (std::size_t i = 0; i < list.items.size() && !too_many_findings(); ++i)
      make_block(list.items[i], fmt::format("{}[{}]", path, i), depth);
  }

  void make_block(const Item& block, const std::string& path, int depth) {
    if (!block.is(JsonType::Object)) return findings_.expected(path, "an object", block);
    std::vector<std::string> known = {"for", "let", "if", "repeat", "parameters", "models"};
    for (const Section section : kSections) known.emplace_back(section_name(section));
    for (const Item& value : block.items)
      if (std::find(known.begin(), known.end(), value.key) == known.end())
        return findings_.add(fmt::format("{}.{}", path, excerpt(value.key)), "unknown key",
                             did_you_mean(value.key, known), value.origin);
    const Item* indices = block.find("for");
    if (indices != nullptr && !indices->is(JsonType::Object))
      return findings_.expected(path + ".for", "indices with their ranges, {\"i\": [1, 10]}", *indices);
    const std::size_t size = values_.size();
    loop(block, path, indices, 0, depth);
    pop(size);
  }

  void loop(const Item& block, const std::string& path, const Item* indices, std::size_t index, int depth) {
    if (indices == nullptr || index == indices->items.size()) return make_copy(block, path, depth);
    const Item& range = indices->items[index];
    const std::string own = fmt::format("{}.for.{}", path, excerpt(range.key));
    if (!check_name(range.key, own, range.origin)) return;
    if (!range.is(JsonType::Array) || range.items.size() < 2 || range.items.size() > 3)
      return findings_.expected(own, "[first, last] or [first, last, step]", range);
    const auto first = number(range.items[0], own), last = number(range.items[1], own);
    const auto step = range.items.size() == 3 ? number(range.items[2], own) : std::optional<double>(1);
    if (!first || !last || !step) return;
    for (const double x : {*first, *last, *step})
      if (x != std::floor(x) || std::abs(x) > 1e9)
        return findings_.add(own, fmt::format("expected whole numbers, got {}", x), {}, range.origin);
    if (*step == 0) return findings_.add(own, "expected a step that is not 0", {}, range.origin);
    if ((*last - *first) / *step >= kMostCopies)
      return findings_.add(own,
                           fmt::format("expected at most {:.0f} copies, got {:.0f}", kMostCopies,
                                       (*last - *first) / *step + 1),
                           {}, range.origin);
    const std::size_t at = values_.size();
    push(range.key, *first);
    for (double i = *first; *step > 0 ? i <= *last : i >= *last; i += *step) {
      values_[at] = i;
      loop(block, path, indices, index + 1, depth);
      pop(at + 1);
      if (too_many_findings() || stopped_) return;
    }
  }

  void make_copy(const Item& block, const std::string& path, int depth) {
    if (++copies_ > kMostCopies) {
      if (!stopped_)
        findings_.add(path, fmt::format("expected at most {:.0f} copies of all blocks together", kMostCopies),
                      {}, block.origin);
      stopped_ = true;
      return;
    }
    if (const Item* let = block.find("let")) {
      if (!let->is(JsonType::Object)) return findings_.expected(path + ".let", "values by name", *let);
      for (const Item& value : let->items) {
        const std::string own = fmt::format("{}.let.{}", path, excerpt(value.key));
        if (!check_name(value.key, own, value.origin)) return;
        const auto x = number(value, own);
        if (!x) return;
        push(value.key, *x);
      }
    }
    if (const Item* condition = block.find("if")) {
      const auto x = number(*condition, path + ".if");
      if (!x || *x == 0) return;
    }
    for (const Item& part : block.items) {
      if (part.key == "for" || part.key == "let" || part.key == "if") continue;
      const std::string own = fmt::format("{}.{}", path, part.key);
      if (part.key == "repeat") {
        make_blocks(part, own, depth + 1);
        continue;
      }
      if (!part.is(JsonType::Object)) {
        findings_.expected(own, "entries by name", part);
        continue;
      }
      Item* target = root_.find(part.key);
      if (target == nullptr) target = &root_.set(part.key, Item::object(part.origin));
      if (!target->is(JsonType::Object)) continue;  // which the reader reports
      for (const Item& entry : part.items) {
        Item copy = written(entry, fmt::format("{}.{}", own, excerpt(entry.key)), 0);
        if (!taken_[part.key].insert(copy.key).second)
          findings_.add(fmt::format("{}.{}", own, excerpt(entry.key)),
                        fmt::format("the name '{}' is given twice", excerpt(copy.key)),
                        "put an index into the name, \"link{i}\"", entry.origin);
        else
          target->items.push_back(std::move(copy));
        if (too_many_findings()) return;
      }
    }
  }

  void collect_names() {
    for (const Item& part : root_.items)
      if (part.is(JsonType::Object))
        for (const Item& entry : part.items) taken_[part.key].insert(entry.key);
  }

  // A copy with its braces replaced.
  Item written(const Item& item, const std::string& path, int depth) {
    if (++values_made_ > kMostRepeatedValues) stopped_ = true;
    Item out;
    out.type = item.type;
    out.origin = item.origin;
    out.number = item.number;
    out.key = replaced(item.key, path, item.origin);
    if (item.is(JsonType::String)) {
      const std::string& text = item.text;
      const bool whole = text.size() > 2 && text[0] == '{' && text.find('}') == text.size() - 1;
      if (whole) {
        const auto x = evaluate(text.substr(1, text.size() - 2), path, item.origin);
        out.type = JsonType::Number;
        out.number = x.value_or(0);
      } else {
        out.text = replaced(text, path, item.origin);
      }
    }
    out.items.reserve(item.items.size());
    for (const Item& child : item.items)
      out.items.push_back(
          written(child, depth == 0 ? fmt::format("{}.{}", path, child.key) : path, depth + 1));
    return out;
  }
  std::string replaced(const std::string& text, const std::string& path, int origin) {
    if (text.find('{') == std::string::npos) return text;
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
      if (text[i] != '{') {
        out += text[i++];
        continue;
      }
      const std::size_t close = text.find('}', i);
      if (close == std::string::npos) {
        findings_.add(path, fmt::format("a brace is not closed in '{}'", excerpt(text)), {}, origin);
        return out;
      }
      if (const auto x = evaluate(text.substr(i + 1, close - i - 1), path, origin))
        out += *x < 0 ? fmt::format("({})", *x) : fmt::format("{}", *x);
      i = close + 1;
    }
    return out;
  }

  Item& root_;
  std::vector<Assignment>& assignments_;
  Findings& findings_;
  std::vector<std::string> names_;  // arguments, indices and `let` around the current block
  std::vector<double> values_;
  std::string signature_;  // the names in one string
  std::unordered_map<std::string, Expression> parsed_;
  std::unordered_map<std::string, std::unordered_set<std::string>> taken_;  // names by section
  int arguments_origin_ = 0;
  double copies_ = 0;
  std::size_t values_made_ = 0;
  bool stopped_ = false;
};

}  // namespace

void expand_repeat(Item& root, std::vector<Assignment>& assignments, Findings& findings) {
  Repeater(root, assignments, findings).run();
}

}  // namespace liedyn
