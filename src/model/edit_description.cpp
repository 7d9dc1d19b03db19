#include "liedyn/model/edit_description.h"

#include <algorithm>
#include <unordered_set>

namespace liedyn {

Entry& add_entry(Description& d, Section section, std::string name, std::string_view type,
                 std::string_view field, const std::string& word) {
  const Kind* kind = find_kind(section, type);
  Entry entry{std::move(name), kind, 0, static_cast<std::int32_t>(d.parameters.size()),
              std::vector<FieldValue>(kind->fields.size())};
  set_word(d, entry, field, word);
  return d.entries(section).emplace_back(std::move(entry));
}

void set_word(Description& d, Entry& entry, std::string_view field, std::string word) {
  FieldValue& value = entry.fields[static_cast<std::size_t>(entry.kind->field(field))];
  value.word = static_cast<std::int32_t>(d.words.size());
  value.given = true;
  d.words.push_back(std::move(word));
}

Description description_as_set(const Params& params) {
  Description out = params.description();
  out.parameters = params.values();
  std::unordered_set<int> follows;
  for (const auto* list : {&params.bound(), &params.timed()})
    for (const Params::Bound& bound : *list) follows.insert(bound.number);
  std::erase_if(out.expressions,
                [&](const NumberExpression& written) { return !follows.contains(written.number); });
  return out;
}

}  // namespace liedyn
