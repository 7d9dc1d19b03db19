#include "liedyn/analyses/statics/loads.h"

#include <utility>

namespace liedyn {

std::vector<StaticLoad> static_loads(const System& system, double time) {
  const Description& d = system.model().description();
  const Params& params = system.params();
  std::vector<StaticLoad> out;
  for (int i = 0; i < 3; ++i) out.push_back({d.gravity() + i, params.get(d.gravity() + i)});
  for (const Entry& entry : d.entries(Section::Forces))
    for (std::size_t f = 0; f < entry.fields.size(); ++f) {
      const Field& field = entry.kind->fields[f];
      if (field.load == LoadKind::None) continue;
      for (int i = 0; i < entry.fields[f].count && entry.fields[f].first >= 0; ++i)
        out.push_back({entry.fields[f].first + i, params.get(entry.fields[f].first + i)});
    }
  std::vector<double> variables(params.values().begin(), params.values().begin() + params.parameter_count());
  variables.push_back(time);
  for (StaticLoad& load : out)
    for (const Params::Bound& timed : params.timed())
      if (timed.number == load.number) load.value = timed.expression.evaluate<double>(variables);
  return out;
}

System with_loads(const System& system, const std::vector<StaticLoad>& loads, double factor) {
  Params params = system.params();
  for (const StaticLoad& load : loads)
    if (load.value != 0) params.set(load.number, factor * load.value);
  return System(system.shared_model(), std::move(params));
}

}  // namespace liedyn
