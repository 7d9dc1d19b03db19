#include "liedyn/system/model_hash.h"

#include <string>
#include <vector>

#include "liedyn/base/hash.h"

namespace liedyn {

std::uint64_t hash_of(const Model& model, const Params& params) {
  return hash_of(model.description(), model.formulation(), params);
}

std::uint64_t hash_of(const Description& d, std::string_view formulation, const Params& params) {
  Hash hash;
  hash.add(formulation);
  for (const std::string& name : d.parameter_names) hash.add(name);
  for (const std::string& word : d.words) hash.add(word);
  for (const Section section : kSections)
    for (const Entry& entry : d.entries(section)) {
      hash.add(entry.name);
      hash.add(entry.kind->type);
      for (std::size_t f = 0; f < entry.fields.size(); ++f)
        if (entry.kind->fields[f].type == FieldType::Integer)
          hash.add(std::to_string(entry.fields[f].integer()));
    }
  for (const NumberExpression& written : d.expressions) hash.add(written.text);
  const std::vector<double>& values = params.values();
  hash.add({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)});
  return hash.value();
}

}  // namespace liedyn
