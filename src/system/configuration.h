// How the bodies of a model stand and move, whatever the formulation, and its first-order states: the start of a run that is not the one typed in the model (an
// equilibrium, an assembled mechanism, the end of another run).
#pragma once

#include <optional>
#include <vector>

#include "liedyn/lie/so3.h"
#include "liedyn/system/system.h"

namespace liedyn {

struct BodyConfiguration {
  Vec3 position = Vec3::Zero();          // of the reference point, inertial axes
  SO3<double> orientation;               // body to inertial axes
  std::optional<double> angle;           // of a planar body: full turns with the orientation
  Vec3 velocity = Vec3::Zero();          // of the reference point, inertial axes
  Vec3 angular_velocity = Vec3::Zero();  // body axes
  // What stays although the model calls it "consistent".
  struct Gives {
    bool position = false, orientation = false, velocity = false, angular_velocity = false;
  } gives;
};
struct Configuration {
  std::vector<BodyConfiguration> bodies;  // one per body
  std::vector<double> states;             // values of the first-order states
  const BodyConfiguration& operator[](std::size_t i) const { return bodies[i]; }
  BodyConfiguration& operator[](std::size_t i) { return bodies[i]; }
};

Configuration configuration_of(const System& system, const State& state);
// q and v of the state.
void set_configuration(const Model& model, const Configuration& configuration, State& state);

}  // namespace liedyn
