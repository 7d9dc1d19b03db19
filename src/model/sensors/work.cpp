#include "liedyn/model/sensors/work.h"

#include "liedyn/model/sensors/list.h"

namespace liedyn {

bool shows_work(const Model& model, const Sensor& sensor) {
  if (is_work(sensor)) return true;
  const int first = 1 + static_cast<int>(model.description().parameter_names.size());
  for (const Sensor& before : model.sensors) {
    if (&before == &sensor) break;
    for (const Expression& expression : sensor.expressions)
      for (int i = 0; i < before.components; ++i)
        if (expression.uses(first + before.first + i) && shows_work(model, before)) return true;
  }
  return false;
}

std::vector<std::string> sensors_of_work(const Model& model) {
  std::vector<std::string> out;
  for (const Sensor& sensor : model.sensors)
    if (shows_work(model, sensor)) out.push_back(sensor.name);
  return out;
}

}  // namespace liedyn
