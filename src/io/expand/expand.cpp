#include "liedyn/io/expand/expand.h"

#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "liedyn/io/expand/frames.h"
#include "liedyn/io/expand/shapes.h"
#include "liedyn/io/expand/sub_models.h"

namespace liedyn {
namespace {

// "bodies.arm.shapes has 2 entries, from 0 on": the longest part of a path that exists.
std::string what_there_is(Item& root, std::string path) {
  const Item* found = find_item(root, path);
  while (found == nullptr) {
    const std::size_t end = path.find_last_of(".[");
    if (end == std::string::npos) return {};
    path.resize(end);
    found = find_item(root, path);
  }
  if (found->is(JsonType::Array))
    return fmt::format("'{}' has {} entries, from 0 on", path, found->items.size());
  std::vector<std::string> keys;
  for (const Item& item : found->items) keys.push_back(item.key);
  return fmt::format("'{}' has {}", path, fmt::join(keys, ", "));
}

// Numbers of shapes and frames are no parameters of the model: values set for them replace what the file says.
void set_dimensions(Item& root, std::vector<Assignment>& assignments, Findings& findings) {
  std::erase_if(assignments, [&](const Assignment& a) {
    const bool of_parts = a.path.starts_with("bodies.") && (a.path.find(".shape.") != std::string::npos ||
                                                            a.path.find(".shapes[") != std::string::npos ||
                                                            a.path.find(".frames.") != std::string::npos);
    const bool concerns = of_parts || (a.path.starts_with("bodies.") && a.path.ends_with(".density"));
    Item* item = concerns ? find_item(root, a.path) : nullptr;
    if (item == nullptr || (!item->is(JsonType::Number) && !item->is(JsonType::String))) {
      if (of_parts)
        findings.add(a.path, "the model has no such parameter", what_there_is(root, a.path), root.origin);
      return of_parts;
    }
    item->type = JsonType::Number;
    item->number = a.value;
    return true;
  });
}

}  // namespace

bool needs_expansion(JsonValue root) {
  if (!root.is(JsonType::Object)) return false;
  for (const char* key : {"models", "repeat", "arguments"})
    if (root.find(key)) return true;
  const JsonValue bodies = root.find("bodies");
  if (!bodies || !bodies.is(JsonType::Object)) return false;
  for (const JsonValue body : bodies)
    if (body.is(JsonType::Object))
      for (const JsonValue value : body)
        if (value.key() == "shape" || value.key() == "shapes" || value.key() == "frames" ||
            value.key() == "density")
          return true;
  return false;
}

Expansion expand(const JsonDocument& document, const std::string& file,
                 std::vector<Assignment>& assignments) {
  Expansion out;
  Findings findings(out.origins);
  for (const Diagnostic& d : document.duplicates())
    findings.add(d.path, d.message, d.hint, out.origins.add(d.file, d.line, 0));
  Item root = Item::of(document.root(), file, 0, out.origins);
  expand_models(root, file, assignments, out.origins, findings);
  // What depends on parts that are missing is not examined.
  if (!findings.empty()) throw InputError(with_origins(findings.list(), {}));
  set_dimensions(root, assignments, findings);
  if (!findings.empty()) throw InputError(with_origins(findings.list(), {}));
  Scope scope(root, assignments, findings);
  expand_frames(root, scope);
  if (!findings.empty()) throw InputError(with_origins(findings.list(), {}));
  out.visuals = expand_shapes(root, scope);
  out.findings = with_origins(findings.list(), {});
  out.document = to_document(root);
  return out;
}

std::vector<Diagnostic> with_origins(std::vector<Diagnostic> findings, const Origins& origins) {
  // An error in a sub-model or in a repeated block is one error, however often it is used.
  std::set<std::tuple<std::string, int, std::string>> seen;
  std::vector<Diagnostic> out;
  for (Diagnostic& d : findings) {
    if (const std::string& file = origins.file(d.line); !file.empty() || origins.line(d.line) > 0) {
      d.file = file;
      d.line = origins.line(d.line);
    }
    if (d.line == 0 || seen.emplace(d.file, d.line, d.message).second) out.push_back(std::move(d));
  }
  return out;
}

void restore_lines(Description& description, const Origins& origins) {
  for (const Section section : kSections)
    for (Entry& entry : description.entries(section)) entry.line = origins.top_line(entry.line);
  for (auto* list : {&description.expressions, &description.signals})
    for (NumberExpression& e : *list) e.line = origins.top_line(e.line);
}

}  // namespace liedyn
