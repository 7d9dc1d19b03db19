#include "liedyn/analyses/statics/friction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "liedyn/base/index.h"
#include "liedyn/model/forces/machine_states.h"
#include "liedyn/model/forces/watched_contact.h"

namespace liedyn {
namespace {

using Eigen::MatrixXd;

// The velocity of a state by its name.
int velocity_of_state(const Model& model, const std::string& name) {
  const std::vector<Entry>& states = model.description().entries(Section::States);
  const auto found =
      std::find_if(states.begin(), states.end(), [&](const Entry& entry) { return entry.name == name; });
  const int frame = model.state_frames[at(static_cast<int>(found - states.begin()))];
  return model.nodes[at(model.frames[at(frame)].node)].v;
}

struct StickingClutch {
  const Entry* force;
  int velocity;  // of its share of the capacity
};
std::vector<StickingClutch> sticking_clutches(const System& system) {
  const Description& d = system.model().description();
  std::vector<StickingClutch> out;
  for (const Entry& force : d.entries(Section::Forces))
    for (const ForceState& state : states_of_force(d, force))
      if (state.is_share_held)
        out.push_back({&force, velocity_of_state(system.model(), force.name + "." + state.name)});
  return out;
}

}  // namespace

double Bristle::stretch(const State& state) const {
  double square = 0;
  for (const int i : velocities) square += state.v[at(i)] * state.v[at(i)];
  return std::sqrt(square) / presliding;
}

std::vector<Bristle> bristles_of(const System& system) {
  std::vector<Bristle> out;
  for (const Entry& force : system.model().description().entries(Section::Forces)) {
    const auto number = [&](const char* name) {
      return system.params().get(force.fields[at(force.kind->field(name))].first);
    };
    for (int i = 0; i < bristle_states(force); i += kBristleStates) {
      Bristle bristle{&force, {}, number("presliding"), number("relaxation_time")};
      for (int k = 0; k < kBristleStates; ++k)
        bristle.velocities[at(k)] = velocity_of_state(system.model(), bristle_name(force.name, i + k));
      out.push_back(bristle);
    }
  }
  return out;
}

FrictionStates friction_states(const System& system) {
  constexpr double kPull = 1e3;  // relaxation times
  FrictionStates out;
  out.pull = out.limit = Eigen::VectorXd::Zero(system.model().nv);
  for (const Bristle& bristle : bristles_of(system))
    for (const int i : bristle.velocities) {
      out.pull[i] = kPull * bristle.relaxation_time;
      out.limit[i] = bristle.presliding;
      out.bristles = true;
    }
  for (const int i : clutch_states(system))
    out.pull[i] = out.limit[i] = 1;  // their rates contain nothing but the slip
  return out;
}

std::string slipping_bristles(const System& system, const State& state) {
  constexpr double kLimit = 1 - 1e-6;
  std::vector<std::string> out;
  if (state.v.empty()) return {};
  for (const Bristle& bristle : bristles_of(system))
    if (std::string name = fmt::format("'forces.{}'", bristle.force->name);
        bristle.stretch(state) > kLimit && (out.empty() || out.back() != name))
      out.push_back(std::move(name));
  return fmt::format("{}", fmt::join(out, ", "));
}

std::vector<int> clutch_states(const System& system) {
  std::vector<int> out;
  for (const StickingClutch& clutch : sticking_clutches(system)) out.push_back(clutch.velocity);
  return out;
}

std::string overloaded_clutches(const System& system, const State& state) {
  constexpr double kSlack = 1e-9;
  std::vector<std::string> out;
  for (const StickingClutch& clutch : sticking_clutches(system))
    if (const double share = std::abs(state.v[at(clutch.velocity)]); share > 1 + kSlack)
      out.push_back(fmt::format("'forces.{}' ({:.4g} of its capacity)", clutch.force->name, share));
  return fmt::format("{}", fmt::join(out, ", "));
}

Constants with_gripping_bristles(const System& system, const Subsystems& parts, const State& state,
                                 Work& work) {
  constexpr double kReach = 0.1;  // of the length of the subsystem
  const Model& model = system.model();
  std::vector<Acting> acting;
  acting_forces(system, state, work, acting);
  double all = 0;
  for (const Acting& own : acting) all += own.force;
  Constants out = *work.constants;
  for (std::size_t b = 0; b < model.batches.size(); ++b) {
    const Batch& batch = *model.batches[b];
    if (dynamic_cast<const WatchedContacts*>(&batch) == nullptr || model.sections[b] != Section::Forces)
      continue;
    for (int e = 0; e < batch.size(); ++e) {
      const Entry& force = model.entry_of(static_cast<int>(b), e);
      if (bristle_states(force) == 0) continue;
      // Each contact could hold all forces there are.
      const int frames = static_cast<int>(batch.frames.size()) / batch.size();
      double length = 0;
      for (int i = 0; i < 2; ++i)
        if (const int node = model.frames[at(batch.frames[at(e * frames + i)])].node; node >= 0)
          if (const int part = parts.of_node[at(node)]; part >= 0)
            length = std::max(length, parts.length[at(part)]);
      double* const own = out.data.data() + batch.first_constant + (e + 1) * batch.constants_per_element() -
                          kBristleConstants;
      const double mu = system.params().get(force.fields[at(force.kind->field("friction"))].first);
      own[kBristlePressure] = all / mu;
      own[kBristleReach] = kReach * length;
    }
  }
  return out;
}

MatrixXd motions_with_bristles(const System& system, const Linearization& l, const MatrixXd& found) {
  constexpr double kFollows = 1e-5;
  std::vector<int> rows;
  for (const Bristle& bristle : bristles_of(system))
    rows.insert(rows.end(), bristle.velocities.begin(), bristle.velocities.end());
  for (const int clutch : clutch_states(system)) rows.push_back(clutch);
  if (rows.empty() || found.cols() == 0) return found;
  const MatrixXd C = MatrixXd(l.C)(rows, Eigen::seqN(0, l.first_state)), y = found.topRows(l.first_state),
                 z = found(rows, Eigen::all);
  MatrixXd left = z + C * y;
  const Eigen::VectorXd sizes = (z.cwiseAbs() + C.cwiseAbs() * y.cwiseAbs()).rowwise().maxCoeff();
  for (Eigen::Index i = 0; i < left.rows(); ++i)
    if (sizes[i] > 0) left.row(i) /= sizes[i];
  const Eigen::BDCSVD<MatrixXd> svd(left, Eigen::ComputeFullV);
  std::vector<Eigen::Index> follow;
  for (Eigen::Index i = 0; i < found.cols(); ++i)
    if (i >= svd.singularValues().size() || svd.singularValues()[i] <= kFollows) follow.push_back(i);
  return found * svd.matrixV()(Eigen::all, follow);
}

}  // namespace liedyn
