// What acts in a model, and how far its joints have moved, for scenes: as sensors would show it, without sensors in the model.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "liedyn/system/system.h"

namespace liedyn {

class SceneLoads {
 public:
  // Reactions, coordinates and rates of joints, and what forces exert, but for those that a sensor of the model shows already. Of models that would have more than
  // `most` numbers, every second or third element, and so on.
  SceneLoads(const System& system, int most);
  SceneLoads(const SceneLoads&) = delete;
  SceneLoads& operator=(const SceneLoads&) = delete;

  // In the order of their values; names are those of --record all, "hinge.reaction_force".
  const std::vector<Sensor>& sensors() const { return sensors_; }
  std::size_t width() const { return width_; }
  // Parameters of the same model may have changed, and loads that depended on time may have become constants.
  void follow(const System& system);
  // Appends the values at a state whose accelerations and multipliers satisfy the equations.
  void add(const State& state, std::vector<float>& out);

 private:
  void add_sensor(const std::string& type, int batch, int element);
  bool is_shown(const Sensor& sensor) const;

  System system_;  // the caller's need not live on
  std::unique_ptr<Work> work_;
  std::vector<Sensor> sensors_;
  std::size_t width_ = 0;
  std::vector<double> values_, rates_;  // of the last state
  std::vector<double> memory_;          // State::angles, and one for every angle here
  std::optional<double> time_;
};

}  // namespace liedyn
