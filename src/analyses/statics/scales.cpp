#include "liedyn/analyses/statics/scales.h"

#include <algorithm>

#include "liedyn/system/node_components.h"

namespace liedyn {

StaticScales::StaticScales(const System& system, const State& state, Work& work)
    : parts_(subsystems(system, work)),
      constraints_(constraint_scales(system, state, work)),
      units_(Eigen::VectorXd::Ones(system.model().nv)),
      part_of_(at(system.model().nv), -1) {
  const Model& model = system.model();
  for (std::size_t n = 0; n < model.nodes.size(); ++n)
    for (int k = 0; k < node_size(model.nodes[n].type).v && parts_.of_node[n] >= 0; ++k) {
      const int i = model.nodes[n].v + k;
      units_[i] = constraints_.column_length[at(i)] / constraints_.column[at(i)];
      part_of_[at(i)] = parts_.of_node[n];
    }
}

void StaticScales::update(const System& system, const State& state, Work& work) {
  constexpr double kShare = 1e-3;  // of the largest in the subsystem: joints and beams transmit forces
  // Of the largest since the start: where all forces vanish in the end, only their round-off remains.
  constexpr double kVanished = 1e-3;
  const Model& model = system.model();
  acting_forces(system, state, work, acting_);
  energy_.assign(parts_.length.size(), 0);
  const auto for_each = [&](auto&& visit) {
    for (std::size_t n = 0; n < model.nodes.size(); ++n)
      for (int k = 0; k < node_size(model.nodes[n].type).v && parts_.of_node[n] >= 0; ++k) {
        const double own = is_displacement(model.nodes[n].type, k) ? acting_[n].force : acting_[n].torque;
        visit(model.nodes[n].v + k, own, energy_[at(parts_.of_node[n])]);
      }
  };
  force_.assign(at(model.nv), 0);
  for_each([&](int i, double own, double& all) { all = std::max(all, own * units_[i]); });
  largest_energy_.resize(energy_.size(), 0);
  for (std::size_t part = 0; part < energy_.size(); ++part) {
    largest_energy_[part] = std::max(largest_energy_[part], energy_[part]);
    energy_[part] = std::max(energy_[part], kVanished * largest_energy_[part]);
  }
  for_each(
      [&](int i, double own, const double& all) { force_[at(i)] = std::max(own, kShare * all / units_[i]); });
}

std::vector<double> StaticScales::farthest(const Work& work) const {
  std::vector<double> out = parts_.length;
  for (std::size_t b = 0; b < parts_.of_body.size(); ++b)
    if (const int part = parts_.of_body[b]; part >= 0)
      out[at(part)] = std::max(out[at(part)], work.motions[b].p.cwiseAbs().maxCoeff());
  return out;
}

double StaticScales::extent(const Work& work) const {
  const std::vector<double> coordinates = farthest(work);
  double out = 1;
  for (std::size_t part = 0; part < coordinates.size(); ++part)
    if (parts_.length[part] > 0) out = std::max(out, coordinates[part] / parts_.length[part]);
  return out;
}

}  // namespace liedyn
