#include "liedyn/analyses/lost_digits.h"

#include <fmt/format.h>

#include <limits>

#include "liedyn/system/subsystems.h"

namespace liedyn {
namespace {

// What moves freely does not compare positions with others.
bool compares_positions(const System& system) {
  const Model& model = system.model();
  if (model.rows > 0 || model.body_types.size() > 1) return true;
  for (const Entry& entry : model.description().entries(Section::Forces))
    if (entry.kind->field("between") >= 0) return true;
  return false;
}

}  // namespace

std::string lost_digits(const System& system, const State& state, Work& work) {
  constexpr double kFar = 1e5;  // lengths of the subsystem: rounding is then 2e-11 of them
  if (!compares_positions(system)) return "";
  const Subsystems parts = subsystems(system, work);
  system.residual(state, work, {});  // motions
  double farthest = kFar, distance = 0;
  for (std::size_t b = 0; b < parts.of_body.size(); ++b) {
    const int part = parts.of_body[b];
    const double length = part < 0 ? 0 : parts.length[static_cast<std::size_t>(part)];
    if (!(length > 0)) continue;
    if (const double far = work.motions[b].p.cwiseAbs().maxCoeff() / length; far > farthest) {
      farthest = far;
      distance = work.motions[b].p.norm();
    }
  }
  if (distance == 0) return "";
  return fmt::format(
      "positions have lost digits: the model is {:.3g} m from the origin, {:.2g} times its length, "
      "and positions are rounded to {:.1e} m; this affects stiff contacts, short steps and adaptive steps: "
      "move the model closer to the origin",
      distance, farthest, distance * std::numeric_limits<double>::epsilon() / 2);
}

}  // namespace liedyn
