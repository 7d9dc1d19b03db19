#include "liedyn/model/forces/signal_force.h"

#include <algorithm>

namespace liedyn {

std::vector<const NumberExpression*> signals_of(const Description& d, const Entry& entry) {
  std::vector<const NumberExpression*> out;
  for (const NumberExpression& signal : d.signals)
    for (const FieldValue& value : entry.fields)
      if (signal.number >= value.first && signal.number < value.first + value.count) out.push_back(&signal);
  return out;
}

unsigned signal_shape(const Description& d, const Entry& entry) {
  if (d.signals.empty() || signals_of(d, entry).empty()) return 0;
  return 1 + static_cast<unsigned>(&entry - d.entries(Section::Forces).data());
}

}  // namespace liedyn
