#include "liedyn/analyses/statics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "liedyn/analyses/gaps.h"
#include "liedyn/analyses/inspect.h"
#include "liedyn/analyses/instability.h"
#include "liedyn/analyses/linearization.h"
#include "liedyn/analyses/lost_digits.h"
#include "liedyn/analyses/modes.h"
#include "liedyn/analyses/motions.h"
#include "liedyn/analyses/shifted_matrix.h"
#include "liedyn/analyses/shortest_solution.h"
#include "liedyn/analyses/statics_friction.h"
#include "liedyn/analyses/statics_messages.h"
#include "liedyn/analyses/stiffness_scale.h"
#include "liedyn/base/decompositions.h"
#include "liedyn/base/index.h"
#include "liedyn/base/largest.h"
#include "liedyn/model/beams/beam.h"
#include "liedyn/model/flexible/body.h"
#include "liedyn/model/nodes/stage.h"
#include "liedyn/system/assembly.h"
#include "liedyn/system/node_components.h"
#include "liedyn/system/redundancy.h"
#include "liedyn/system/subsystems.h"
#include "liedyn/system/tree_state.h"

namespace liedyn {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

void check(const StaticOptions& o) {
  std::vector<Diagnostic> findings;
  if (!std::isfinite(o.time))
    findings.push_back({"", 0, "time", fmt::format("must be a finite time, got {}", o.time), ""});
  if (o.load_steps < 1 || o.load_steps > 100000)
    findings.push_back({"", 0, "load_steps", fmt::format("must be 1 to 100000, got {}", o.load_steps), ""});
  if (!(o.tolerance > 0 && o.tolerance < 1))
    findings.push_back({"", 0, "tolerance", fmt::format("must be between 0 and 1, got {}", o.tolerance), ""});
  if (!findings.empty()) throw InputError(findings);
}

// Beyond so many velocities the way down is not that of dense matrices, and may end at a saddle.
constexpr int kLargestDescent = 300;

// Numbers that are loads: gravity, and the components of applied forces and torques, at their value at the time.
struct Load {
  int number;
  double value;
};
std::vector<Load> loads_of(const System& system, double time) {
  const Description& d = system.model().description();
  const Params& params = system.params();
  std::vector<Load> out;
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
  for (Load& load : out)
    for (const Params::Bound& timed : params.timed())
      if (timed.number == load.number) load.value = timed.expression.evaluate<double>(variables);
  return out;
}

System loaded(const System& system, const std::vector<Load>& loads, double factor) {
  Params params = system.params();
  for (const Load& load : loads)
    if (load.value != 0) params.set(load.number, factor * load.value);
  return System(system.shared_model(), std::move(params));
}

// Lengths, forces and energies of each subsystem (system/subsystems.h), so that nothing depends on units, on where the origin is, or on what else the model holds.
class StaticScales {
 public:
  StaticScales(const System& system, const State& state, Work& work)
      : parts_(subsystems(system, work)),
        constraints_(constraint_scales(system, state, work)),
        units_(VectorXd::Ones(system.model().nv)),
        part_of_(at(system.model().nv), -1) {
    const Model& model = system.model();
    for (std::size_t n = 0; n < model.nodes.size(); ++n)
      for (int k = 0; k < node_size(model.nodes[n].type).v && parts_.of_node[n] >= 0; ++k) {
        const int i = model.nodes[n].v + k;
        units_[i] = constraints_.column_length[at(i)] / constraints_.column[at(i)];
        part_of_[at(i)] = parts_.of_node[n];
      }
  }

  const Subsystems& parts() const { return parts_; }
  int part_of(int velocity) const { return part_of_[at(velocity)]; }  // -1: a state
  // What makes displacements and rotations numbers: the length of the subsystem, and 1.
  const VectorXd& units() const { return units_; }
  // Of rows, in their own units.
  double row(int i) const { return constraints_.row_length[at(i)] / constraints_.row[at(i)]; }
  const ConstraintScales& constraints() const { return constraints_; }

  // Forces and torques at work at the state: of each equation, and energies of each subsystem.
  void update(const System& system, const State& state, Work& work) {
    constexpr double kShare = 1e-3;  // of the largest in the subsystem: joints and beams pass forces on
    // Of the largest on the way: where all forces vanish in the end, what is left of them is their round-off.
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
    for_each([&](int i, double own, const double& all) {
      force_[at(i)] = std::max(own, kShare * all / units_[i]);
    });
  }
  double force(int i) const { return force_[at(i)]; }
  double energy(int part) const { return energy_[at(part)]; }

 private:
  Subsystems parts_;
  ConstraintScales constraints_;
  VectorXd units_;
  std::vector<int> part_of_;
  std::vector<Acting> acting_;
  std::vector<double> force_, energy_, largest_energy_;
};

// Columns y = N p that span the motions the constraints allow, with numbers p, and the subsystem of each.
struct Motions {
  MatrixXd N;
  std::vector<int> part;
};
Motions allowed_motions(const SparseMatrix& B, const StaticScales& scales) {
  const MatrixXd dense = MatrixXd(B);
  std::vector<MatrixXd> bases;
  std::vector<std::vector<int>> columns(scales.parts().length.size()), rows(columns.size());
  for (int i = 0; i < B.cols(); ++i)
    if (scales.part_of(i) >= 0) columns[at(scales.part_of(i))].push_back(i);
  for (int i = 0; i < B.rows(); ++i)
    if (const int part = scales.parts().of_row[at(i)]; part >= 0) rows[at(part)].push_back(i);
  Motions out;
  Eigen::Index count = 0;
  for (std::size_t part = 0; part < columns.size(); ++part) {
    const MatrixXd own = dense(rows[part], columns[part]) * scales.units()(columns[part]).asDiagonal();
    bases.push_back(admissible_motions(own.sparseView()));
    count += bases.back().cols();
    out.part.insert(out.part.end(), static_cast<std::size_t>(bases.back().cols()), static_cast<int>(part));
  }
  out.N = MatrixXd::Zero(B.cols(), count);
  Eigen::Index first = 0;
  for (std::size_t part = 0; part < columns.size(); ++part) {
    for (std::size_t i = 0; i < columns[part].size(); ++i)
      out.N.row(columns[part][i]).segment(first, bases[part].cols()) =
          scales.units()[columns[part][i]] * bases[part].row(static_cast<Eigen::Index>(i));
    first += bases[part].cols();
  }
  return out;
}

// Rows at velocity level hold displacements: what must not slip does not on the way to the equilibrium either.
Linearization static_form(Linearization l) {
  l.velocity_row.assign(l.velocity_row.size(), false);
  l.B_y.setZero();
  return l;
}

// What is not stiffness but the round-off of forces in balance: equilibria are not found to the last digit.
VectorXd unbalanced_stiffness(const StaticScales& scales, Eigen::Index size) {
  constexpr double kUnbalanced = 1e-9;
  VectorXd out = VectorXd::Zero(size);
  for (int i = 0; i < out.size(); ++i)
    if (const int part = scales.part_of(i); part >= 0)
      out[i] = kUnbalanced * scales.energy(part) / (scales.units()[i] * scales.units()[i]);
  return out;
}

// Motions of zero stiffness, and the number of those with negative stiffness.
struct Stiffness {
  int negative = 0;
  std::optional<VectorXd> leaves;  // that of the most negative stiffness
  MatrixXd indifferent;            // columns: displacements and rotations
};
Stiffness stiffness_of(const System& system, const State& state, Work& work) {
  constexpr double kDigits = 200 * std::numeric_limits<double>::epsilon();
  const Linearization l = linearize(system, state, Vec3::Zero(), work);
  StaticScales scales(system, state, work);
  scales.update(system, state, work);
  const MatrixXd N = allowed_motions(l.B, scales).N;
  Stiffness out;
  out.indifferent.resize(N.rows(), 0);
  if (N.cols() == 0) return out;
  // Row by row: y^T K y far below sum scale_i y_i^2 is round-off.
  VectorXd scale = VectorXd::Constant(l.K.rows(), 1e-300);
  for (int c = 0; c < l.K.outerSize(); ++c)
    for (SparseMatrix::InnerIterator it(l.K, c); it; ++it)
      scale[it.row()] = std::max(scale[it.row()], std::abs(it.value()));
  const VectorXd unit = equilibration(scale, N);
  const MatrixXd scaled = N * unit.asDiagonal(), K = scaled.transpose() * (l.K * scaled);
  const VectorXd floor = unbalanced_stiffness(scales, l.K.rows());
  SparseMatrix magnitude = l.K;
  for (int c = 0; c < magnitude.outerSize(); ++c)
    for (SparseMatrix::InnerIterator it(magnitude, c); it; ++it) it.valueRef() = std::abs(it.value());
  const auto round_off = [&](const VectorXd& x) {
    const VectorXd y = (scaled * x).cwiseAbs();
    return kDigits * y.dot(magnitude * y) + y.cwiseAbs2().dot(floor);
  };
  const Eigen::BDCSVD<MatrixXd> svd(K, Eigen::ComputeFullV);
  std::vector<Eigen::Index> indifferent;
  for (Eigen::Index i = 0; i < K.cols(); ++i)
    if (svd.singularValues()[i] <= round_off(svd.matrixV().col(i))) indifferent.push_back(i);
  if (!indifferent.empty()) out.indifferent = separated(scaled * svd.matrixV()(Eigen::all, indifferent));
  // Loads without potential make K unsymmetric, and its symmetric part indefinite where nothing diverges.
  const Eigen::EigenSolver<MatrixXd> eigen(K, true);
  double most = 0;
  for (Eigen::Index i = 0; i < K.cols(); ++i) {
    const double stiffness = eigen.eigenvalues()[i].real();
    if (stiffness >= 0 || -stiffness <= round_off(eigen.eigenvectors().col(i).cwiseAbs())) continue;
    ++out.negative;
    if (stiffness < most) out.leaves = scaled * eigen.eigenvectors().col(i).real();
    most = std::min(most, stiffness);
  }
  return out;
}

// A motion along which the equilibrium leaves.
std::optional<VectorXd> leaving_motion(const System& system, const State& state, Work& work) {
  if (system.model().nv <= kLargestDense) return stiffness_of(system, state, work).leaves;
  const Linearization l = linearize(system, state, Vec3::Zero(), work);
  StaticScales scales(system, state, work);
  scales.update(system, state, work);
  return unstable_direction(system.model(), l, state.redundant, unbalanced_stiffness(scales, l.K.rows()));
}

// Section forces of beams as the linearised equations foretell them. Where a slender beam has turned by an angle a it is stretched by a^2/2 until the next step, by
// forces that are far larger than those that turned it, and that the stiffness K(q, sigma) must not contain. With the strains e(q), e' = E y and the stiffness D of the
// sections, Newton's method for displacements and section forces sigma together,
//
//   K(q, sigma) y = -r(q),    sigma_next = D (e(q) + E y),
//
// takes steps that do not depend on the ratio of axial and bending stiffness (Magisano, Leonetti, Garcea 2017). Only K differs from that of displacements alone.
class SectionForces {
 public:
  explicit SectionForces(const System& system) : system_(&system) {
    for (const auto& batch : system.model().batches)
      if (const auto* sections = dynamic_cast<const BeamSections*>(batch.get());
          sections != nullptr && sections->layout(0).relaxed >= 0)
        beams_.push_back({batch.get(), sections});
  }
  bool any() const { return !beams_.empty(); }
  void forget() { forces_.clear(); }

  // After the increment d of the positions.
  void foretell(const State& from, const VectorXd& d, Work& work) {
    if (!any()) return;
    Numbers numbers = *work.numbers;
    for (const Beams& beams : beams_)
      for (int e = 0; e < beams.batch->size(); ++e)
        numbers.data[first(beams, e) + at(beams.sections->layout(0).delay)] = 1;
    State moving = from;
    std::copy_n(d.data(), system_->model().first_state(), moving.v.begin());
    forces_ = evaluate(moving, numbers, work);
  }

  // Calls `visit` with relaxed shapes such that the forces at the state are those foretold.
  template <class Visit>
  void impose(const State& state, Work& work, Visit&& visit) const {
    if (forces_.empty()) {
      visit();
      return;
    }
    Numbers numbers = *work.numbers;
    const std::vector<Vec6> now = evaluate(state, numbers, work);
    std::size_t i = 0;
    for_each_point([&](const Beams& beams, int e, int point) {
      const BeamSections::Layout layout = beams.sections->layout(point);
      double* const own = numbers.data.data() + first(beams, e);
      const Eigen::Map<const Mat6> D(own + layout.stiffness);
      Eigen::Map<Vec6>(own + layout.relaxed) += D.partialPivLu().solve(now[i] - forces_[i]);
      ++i;
    });
    const Numbers* const kept = work.numbers;
    work.numbers = &numbers;
    visit();
    work.numbers = kept;
  }

 private:
  struct Beams {
    const Batch* batch;
    const BeamSections* sections;
  };
  static std::size_t first(const Beams& beams, int element) {
    return at(beams.batch->first_number + element * beams.batch->numbers_per_element());
  }
  template <class Visit>
  void for_each_point(Visit&& visit) const {
    for (const Beams& beams : beams_)
      for (int e = 0; e < beams.batch->size(); ++e)
        for (int point = 0; point < beams.sections->points(); ++point) visit(beams, e, point);
  }
  std::vector<Vec6> evaluate(const State& state, const Numbers& numbers, Work& work) const {
    system_->residual(state, work, {});  // motions
    Evaluation evaluation;
    evaluation.frames = system_->model().frames.data();
    evaluation.nodes = system_->model().bodies().data();
    evaluation.motions = work.motions.data();
    evaluation.numbers = numbers.data.data();
    std::vector<Vec6> out;
    for_each_point([&](const Beams& beams, int e, int point) {
      Vec6 strain, force;
      beams.sections->section(evaluation, e, point, strain, force);
      out.push_back(force);
    });
    return out;
  }

  const System* system_;
  std::vector<Beams> beams_;
  std::vector<Vec6> forces_;  // empty: those of the positions
};

// The iteration for one set of loads.
class Equilibrium {
 public:
  Equilibrium(const System& system, const State& state, Work& work, double tolerance)
      : system_(&system),
        work_(&work),
        tolerance_(tolerance),
        scales_(system, state, work),
        section_forces_(system),
        gaps_(system),
        pull_(VectorXd::Zero(system.model().nv)),
        limit_(pull_),
        held_(pull_) {
    for (const Bristle& bristle : bristles_of(system))
      for (const int i : bristle.velocities) {
        pull_[i] = kPull * bristle.relaxation_time;
        limit_[i] = bristle.presliding;
        has_bristles_ = true;
      }
    for (const int i : clutch_states(system))
      pull_[i] = limit_[i] = 1;  // their rates contain nothing but the slip
  }

  int iterations = 0;
  State reached;               // where the last way with states ended that failed, or one that ran away
  VectorXd motion;             // the last step of the way that ended there
  bool ran_away = false;       // so far that only round-off could balance what acts there
  bool driven_on = false;      // far, and what drives it stays the same
  std::string overloaded;      // clutches that would have to carry more than they can
  bool straight_first = true;  // not beside an unstable equilibrium, where it would lead back

  // Whether forces are in balance, up to the round-off that solve() tolerates.
  bool balances(const State& state) { return evaluate(state) <= kLeft; }

  // False: no convergence; the state is then as it was.
  bool solve(State& state) {
    // Large models have no dense matrices; without a potential there need not be a way downhill.
    using Way = bool (Equilibrium::*)(State&);
    const int nv = system_->model().nv;
    std::vector<Way> ways = {&Equilibrium::descend_slowly, &Equilibrium::newton};
    if (nv <= kLargestDescent)
      ways.insert(ways.begin(), &Equilibrium::descend);
    else if (straight_first)
      ways.insert(ways.begin(), &Equilibrium::go_straight);
    if (has_states())
      ways = nv <= kLargestDense ? std::vector<Way>{&Equilibrium::balance, &Equilibrium::settle}
                                 : std::vector<Way>{&Equilibrium::newton};
    system_->residual(state, *work_, {});
    first_extent_ = extent();
    State start = state;
    if (!press_in(start)) return false;
    for (const Way way : ways) {
      State found = start;
      section_forces_.forget();
      if (!(this->*way)(found)) {
        if (driven_on) return false;
        continue;
      }
      system_->residual(found, *work_, {});
      if (runs_away(found)) continue;
      if (!share_among_clutches(found)) return false;
      state = std::move(found);
      return true;
    }
    return false;
  }

 private:
  // A configuration that meets the constraints, with the multipliers that leave the least forces.
  struct Place {
    State state;
    Linearization l;
    Motions motions;
    VectorXd force;     // what is left along the motions; of states the rates
    VectorXd foretold;  // the same with the section forces foretold
    double excess = 0;
  };

  // What a way that cannot be made shorter may leave, relative to what is tolerated.
  static constexpr double kLeft = 1e4;
  // Nothing rests so many lengths of its subsystem away from where it began.
  static constexpr double kRunaway = 1e6;
  // Pseudo-time of a step, in relaxation times of bristles.
  static constexpr double kPull = 1e3;

  bool has_states() const { return system_->model().first_state() < system_->model().nv; }

  // Contacts with bristles that have no pressure yet hold nothing: bodies would slide before they are pressed in. So they come to rest with bristles
  // that hold whatever acts, and which go along with their surfaces; the true bristles begin there, with the deflection of these. The way of
  // a body along a surface is then that of its bristles, as of one that starts pressed in. False: it runs away even so.
  bool press_in(State& state) {
    if (!has_bristles_ || system_->model().nv > kLargestDense) return true;
    const Numbers gripping = with_gripping_bristles(*system_, scales_.parts(), state, *work_);
    const Numbers* const kept = work_->numbers;
    work_->numbers = &gripping;
    pressing_ = true;
    State found = state;
    bool pressed = balance(found);
    if (!pressed) pressed = settle(found = state);
    pressing_ = false;
    work_->numbers = kept;
    if (!pressed) return !ran_away;
    ran_away = driven_on = false;
    state = std::move(found);
    return true;
  }

  // Clutches that stick are springs up to their capacity. Those that would have to carry more carry all of it, and what else there is holds the rest. False: nothing does.
  bool share_among_clutches(State& state) {
    const std::vector<int> clutches = clutch_states(*system_);
    for (std::size_t round = 0; round <= clutches.size(); ++round) {
      const std::string too_much = overloaded_clutches(*system_, state);
      if (too_much.empty()) break;
      if (overloaded.empty()) overloaded = too_much;
      for (const int i : clutches)
        if (double& share = state.v[at(i)]; std::abs(share) > 1) {
          share = share > 0 ? 1 : -1;
          held_[i] = 1;
        }
      if (system_->model().nv > kLargestDense || !balance(state)) return false;
    }
    overloaded.clear();
    return true;
  }
  bool fail(const Place& at_place) {
    reached = at_place.state;
    return false;
  }

  // The largest distance from the origin, in lengths of the subsystem, at least 1.
  double extent() const {
    double out = 1;
    for (std::size_t b = 0; b < scales_.parts().of_body.size(); ++b)
      if (const int part = scales_.parts().of_body[b]; part >= 0 && scales_.parts().length[at(part)] > 0)
        out = std::max(out, work_->motions[b].p.cwiseAbs().maxCoeff() / scales_.parts().length[at(part)]);
    return out;
  }

  // How far a way has led, and whether what drives it has stayed the same: a motion that nothing resists goes on like this.
  class Drive {
   public:
    explicit Drive(const Place& start) : first_(size(start)) {}
    void went(const VectorXd& y, double length, const StaticScales& scales, const Place& now) {
      const VectorXd own = length * y.cwiseQuotient(scales.units().head(y.size()));
      way_ = way_.size() == 0 ? own : VectorXd(way_ + own);
      if (!half_way_ && far() > kFar / 2) half_way_ = size(now);
    }
    // A step into a surface, far deeper than what acts presses it, would shake it off its place.
    bool is_shock(const Place& now) const {
      constexpr double kShock = 2;
      return size(now) > kShock * first_;
    }
    bool undiminished(const Place& now) const {
      constexpr double kChange = 1e-4;  // of the force
      return half_way_ && far() > kFar && std::abs(size(now) - *half_way_) < kChange * *half_way_;
    }

   private:
    static constexpr double kFar = 20;  // lengths or radians
    double far() const { return way_.lpNorm<Eigen::Infinity>(); }
    static double size(const Place& place) {
      return (place.motions.N.transpose() * place.force.head(place.motions.N.rows())).norm();
    }
    double first_;
    std::optional<double> half_way_;  // the force there
    VectorXd way_;                    // to and fro cancel
  };
  void drives_on(const State& state) {
    reached = state;
    ran_away = driven_on = true;
  }

  // `state` is the one whose residuals were evaluated last.
  bool runs_away(const State& state) {
    if (extent() < kRunaway * first_extent_) return false;
    reached = state;
    return ran_away = true;
  }

  // The largest forces and violations, relative to what is tolerated; `rounded`: forces as they are known with positions that are rounded.
  double evaluate(const State& state, bool rounded = true) {
    constexpr double kPlaces = 1e-12;
    scales_.update(*system_, state, *work_);
    system_->residual(state, *work_, {});
    const int first = system_->model().first_state();
    double out = 0;
    const auto include = [&](double left, double tolerated) {
      if (left == 0) return;
      const double part = std::abs(left) / tolerated;
      out = std::isfinite(part) ? std::max(out, part) : INFINITY;
    };
    const bool probed = !round_off_.empty();
    for (int i = 0; i < system_->model().rows; ++i)
      include(work_->phi[at(i)], std::max(kPlaces * scales_.row(i), probed ? row_round_off_[at(i)] : 0));
    for (int i = 0; i < first; ++i)
      include(work_->r[at(i)],
              std::max(tolerance_ * scales_.force(i), probed && rounded ? round_off_[at(i)] : 0));
    for (int i = first; i < system_->model().nv; ++i)
      include(work_->r[at(i)], tolerance_ * rate_scales_[at(i - first)]);
    return out;
  }

  // Positions are known to a few units of their last digit, and forces to what these are times the stiffness: of a stiff slender beam that is more than the tolerance of
  // small loads.
  void set_round_off(const State& state) {
    constexpr double kDigits = 16 * std::numeric_limits<double>::epsilon();
    const Model& model = system_->model();
    MatrixRequest request;
    request.force = {1, 0, 0};
    request.row = {1, 0, 0};
    system_->jacobian(state, *work_, {}, request);
    // Places are rounded to their distance from the origin.
    std::vector<double> farthest = scales_.parts().length;
    for (std::size_t b = 0; b < scales_.parts().of_body.size(); ++b)
      if (const int part = scales_.parts().of_body[b]; part >= 0)
        farthest[at(part)] = std::max(farthest[at(part)], work_->motions[b].p.cwiseAbs().maxCoeff());
    VectorXd digits = VectorXd::Zero(model.nv);
    for (const Node& node : model.nodes)
      for (int k = 0; k < node_size(node.type).v; ++k)
        if (const int part = scales_.part_of(node.v + k); part >= 0)
          digits[node.v + k] = kDigits * (is_displacement(node.type, k) ? farthest[at(part)] : 1);
    const auto changes = [&](const SparseMatrix& by, int rows, std::vector<double>& out) {
      out.assign(at(rows), 0);
      for (int c = 0; c < by.outerSize(); ++c)
        for (SparseMatrix::InnerIterator it(by, c); it; ++it) {
          double& change = out[at(static_cast<int>(it.row()))];
          change = std::max(change, std::abs(it.value()) * digits[it.col()]);
        }
    };
    changes(force_part(*system_, *work_), model.nv, round_off_);
    changes(row_part(*system_, *work_), model.rows, row_round_off_);
    // The axes of a node may be others.
    for (const Node& node : model.nodes) {
      double most[2] = {0, 0};
      const auto each = [&](auto&& visit) {
        for (int k = 0; k < node_size(node.type).v && scales_.part_of(node.v + k) >= 0; ++k)
          visit(round_off_[at(node.v + k)], most[is_displacement(node.type, k) ? 0 : 1]);
      };
      each([](const double& own, double& all) { all = std::max(all, own); });
      each([](double& own, const double& all) { own = all; });
    }
  }

  // What the rates of states are made of: dx' = C dx + K dq, with changes of the size of x and of the model.
  void set_rate_scales(const Linearization& l, const State& state) {
    const int first = l.first_state, states = static_cast<int>(l.states());
    rate_scales_.assign(at(states), 1e-300);
    for (int j = 0; j < l.M.cols(); ++j) {
      const double change = j < first ? scales_.units()[j] : typical(l, state, j);
      for (SparseMatrix::InnerIterator it(j < first ? l.K : l.C, j); it; ++it)
        if (it.row() >= first)
          rate_scales_[at(static_cast<int>(it.row()) - first)] += std::abs(it.value()) * change;
    }
    // Rates that neither positions nor states change, such as those of bristles: motions by the size of the model in a second.
    std::vector<double> by_motions(at(states), 0);
    for (int j = 0; j < first; ++j)
      for (SparseMatrix::InnerIterator it(l.C, j); it; ++it)
        if (it.row() >= first)
          by_motions[at(static_cast<int>(it.row()) - first)] += std::abs(it.value()) * scales_.units()[j];
    for (int i = 0; i < states; ++i)
      if (rate_scales_[at(i)] <= 1e-300) rate_scales_[at(i)] += by_motions[at(i)];
  }
  // The size of a state; of one that is zero the change that balances motions of the size of the model.
  double typical(const Linearization& l, const State& state, int i) const {
    if (limit_[i] > 0) return limit_[i];
    if (state.v[at(i)] != 0) return std::abs(state.v[at(i)]);
    double by_motions = 0;
    for (int j = 0; j < l.first_state; ++j)
      by_motions = std::max(by_motions, std::abs(l.K.coeff(i, j)) * scales_.units()[j]);
    const double own = std::abs(l.C.coeff(i, i));
    return by_motions > 0 && own > 0 ? by_motions / own : 1;
  }

  Place place(State state) {
    Place out;
    const Model& model = system_->model();
    out.l = linearize(*system_, state, Vec3::Zero(), *work_);
    const int first = out.l.first_state;
    const auto force = [&]() -> VectorXd {
      return out.l.Q.transpose() * Eigen::Map<const VectorXd>(work_->r.data(), model.nv);
    };
    const VectorXd& units = scales_.units();
    if (model.rows > 0) {
      // Energies along the units: forces and torques alike.
      VectorXd columns(model.rows);
      for (int i = 0; i < model.rows; ++i) columns[i] = 1 / scales_.row(i);
      const MatrixXd L = units.asDiagonal() * MatrixXd(out.l.L) * columns.asDiagonal();
      const VectorXd change = columns.asDiagonal() * shortest_solution(L, units.asDiagonal() * force());
      for (std::size_t i = 0; i < state.lambda.size(); ++i)
        state.lambda[i] -= change[static_cast<Eigen::Index>(i)];
    }
    // K depends on the multipliers, and on the section forces.
    section_forces_.impose(state, *work_, [&] {
      out.l = linearize(*system_, state, Vec3::Zero(), *work_);
      out.foretold = force();
    });
    out.motions = allowed_motions(SparseMatrix(out.l.B.leftCols(first)), scales_);
    if (has_states()) set_rate_scales(out.l, state);
    set_round_off(state);
    out.excess = evaluate(state, false);
    out.force = force();
    const VectorXd inverse = units.head(first).cwiseInverse();
    for (VectorXd* of : {&out.force, &out.foretold}) {
      const VectorXd along = out.motions.N.transpose() * VectorXd(of->head(first));
      of->head(first) = inverse.cwiseAbs2().asDiagonal() * VectorXd(out.motions.N * along);
    }
    out.state = std::move(state);
    return out;
  }

  // Steps are less than a turn: angles are counted on from one to the next.
  void go_to(Place then, Place& now) {
    system_->follow_angles(then.state, *work_);
    now = std::move(then);
  }

  State moved(const State& state, const VectorXd& d) const {
    State out = state;
    for (const Node& node : system_->model().nodes)
      if (node.type == NodeType::State)
        out.v[at(node.v)] += d[node.v];
      else
        increment_position(node.type, d.data() + node.v, out.q.data() + node.q);
    return out;
  }

  bool jumps_a_gap(const State& from, const VectorXd& d) const {
    return gaps_.are_jumped([&](double part) { return moved(from, part * d); }, *work_);
  }

  // Where a subsystem resists all motions, Newton's step, which is downhill there; otherwise the opposite of it along those where K is negative:
  //   d = -N (N^T K N)^-1 N^T Q^T r   or   d = -N |N^T K_s N|^-1 N^T Q^T r,   K_s = (K + K^T)/2
  // for each subsystem. Motions that nothing resists and nothing drives stay where they are; otherwise no part is longer than
  // the subsystem is large.
  class Downhill {
   public:
    Downhill(const Place& from, const StaticScales& scales, double tolerance) : motions_(&from.motions) {
      const MatrixXd& N = from.motions.N;
      for (Eigen::Index first = 0, end = 0; first < N.cols(); first = end) {
        while (end < N.cols() && from.motions.part[static_cast<std::size_t>(end)] ==
                                     from.motions.part[static_cast<std::size_t>(first)])
          ++end;
        const MatrixXd own = N.middleCols(first, end - first), K = own.transpose() * (from.l.K * own);
        Part part{
            first, scales.energy(from.motions.part[static_cast<std::size_t>(first)]) * tolerance, {}, {}};
        part.eigen.compute(MatrixXd(0.5 * (K + K.transpose())));
        const VectorXd& values = part.eigen.eigenvalues();
        part.stiffest = values.cwiseAbs().maxCoeff();
        const double least = kNothing * part.stiffest;
        part.convex = values[0] > least;
        // Loads without potential, which make K unsymmetric, have no downhill: there the eigenvalues say where it resists.
        if (!part.convex && (K - K.transpose()).norm() > least)
          part.convex = (Eigen::EigenSolver<MatrixXd>(K, false).eigenvalues().real().array() > least).all();
        if (part.convex) part.newton.compute(K);
        convex_ = convex_ && part.convex;
        parts_.push_back(std::move(part));
      }
    }
    // Of forces at this place, or at another with the stiffness of this one.
    VectorXd step(const VectorXd& force) const {
      constexpr double kUndriven = 1e-10;
      VectorXd out = VectorXd::Zero(motions_->N.cols());
      const VectorXd along = motions_->N.transpose() * force.head(motions_->N.rows());
      for (const Part& part : parts_) {
        const VectorXd& values = part.eigen.eigenvalues();
        const VectorXd own = along.segment(part.first, values.size());
        if (part.convex) {
          out.segment(part.first, own.size()) = -part.newton.solve(own);
          continue;
        }
        const auto& vectors = part.eigen.eigenvectors();
        const VectorXd c = vectors.transpose() * own;
        const double nothing = std::max(part.tolerated, kUndriven * c.norm());
        VectorXd p = VectorXd::Zero(c.size());
        for (Eigen::Index i = 0; i < c.size(); ++i) {
          const double stiffness = std::abs(values[i]);
          if (c[i] == 0 || (stiffness <= kNothing * part.stiffest && std::abs(c[i]) <= nothing)) continue;
          p[i] = -c[i] / std::max(stiffness, std::abs(c[i]));
        }
        out.segment(part.first, p.size()) = vectors * p;
      }
      return out;
    }
    bool convex() const { return convex_; }

   private:
    // Below this part of the largest there is only the round-off of eigenvalues.
    static constexpr double kNothing = 16 * std::numeric_limits<double>::epsilon();
    struct Part {
      Eigen::Index first;
      double tolerated;
      Eigen::SelfAdjointEigenSolver<MatrixXd> eigen;
      Eigen::PartialPivLU<MatrixXd> newton;
      double stiffest = 0;
      bool convex = false;
    };
    const Motions* motions_;
    std::vector<Part> parts_;
    bool convex_ = true;
  };

  // Work along y, that of each subsystem relative to its energy.
  double work_along(const VectorXd& y, const VectorXd& force) const {
    double out = 0;
    for (int i = 0; i < y.size(); ++i)
      if (const int part = scales_.part_of(i); part >= 0 && scales_.energy(part) > 0)
        out += y[i] * force[i] / scales_.energy(part);
    return out;
  }

  VectorXd newton_step(const Place& at_place) const {
    const MatrixXd& N = at_place.motions.N;
    const MatrixXd K = N.transpose() * (at_place.l.K * N);
    return -K.partialPivLu().solve(N.transpose() * at_place.force.head(N.rows()));
  }

  // Always downhill, so that what is found is stable unless the start is in balance already. Where K is positive a step is good, too, if the next one would be shorter, with
  // the same matrix (Deuflhard) or with its own: forces and work are no measure where slender beams have been stretched.
  bool descend(State& state) {
    constexpr int kIterations = 300;
    constexpr double kShortest = 1e-10, kSettled = 1e-14, kFine = 1e-10;
    Place now = place(state);
    Drive drive(now);
    double before = INFINITY;
    for (int i = 0; i < kIterations && std::isfinite(now.excess); ++i) {
      if (runs_away(now.state)) return false;
      if (now.motions.N.cols() == 0) break;  // the constraints alone say where everything is
      ++iterations;
      const Downhill down(now, scales_, tolerance_);
      const VectorXd p = down.step(now.force), y = now.motions.N * p, d = now.l.Q * y;
      // No step can be made, or none that is shorter than the last: forces left over are the round-off of positions times the stiffness, or that of forces that cancel.
      const double way = p.cwiseAbs().maxCoeff() / extent();
      const bool settled = way <= kSettled || (way <= kFine && way > 0.5 * before);
      before = way;
      const bool close = now.excess <= 1;
      const double slope = work_along(y, now.force);
      double length = std::min(rotation_limit(system_->model(), d.data()),
                               1 / y.cwiseQuotient(scales_.units().head(y.size())).cwiseAbs().maxCoeff());
      for (bool accepted = settled; !accepted; length /= 2) {
        if (length < kShortest) {
          if (close) break;
          return false;
        }
        // Back onto the constraints, so that forces of different places are comparable.
        if (jumps_a_gap(now.state, length * d)) continue;
        State trial = moved(now.state, length * d);
        if (!project_positions(*system_, trial, nullptr, *work_)) continue;
        section_forces_.foretell(now.state, length * d, *work_);
        Place then = place(std::move(trial));
        if (!std::isfinite(then.excess)) continue;
        // Close to it one step more squares the error.
        if (close) {
          if (then.excess < now.excess) now = std::move(then);
          break;
        }
        // Work done on the way, by the trapezoidal rule: there need not be a potential of all loads. What stretches slender beams until the next step does not count.
        accepted = work_along(y, then.force) < -0.9 * slope || work_along(y, then.foretold) < -0.9 * slope ||
                   (down.convex() && down.step(then.force).norm() <= (1 - length / 4) * p.norm()) ||
                   (down.convex() && newton_step(then).norm() <= (1 - length / 4) * p.norm());
        if (accepted) {
          go_to(std::move(then), now);
          drive.went(y, length, scales_, now);
          motion = y;
        }
      }
      if (settled || close) {
        state = std::move(now.state);
        return evaluate(state, settled) <= (settled ? kLeft : 1);
      }
    }
    if (evaluate(now.state) > 1 && drive.undiminished(now)) drives_on(now.state);
    state = std::move(now.state);
    return evaluate(state) <= 1;
  }

  // The balance of bodies along N and of states:   J (p, dx) = -(N^T Q^T r, r_x),   y = N p,
  //   J = | N^T K N   N^T C_x |
  //       | K_x N     C_xx    |
  // with rows and columns brought to the size 1. The rates of bristles and of clutches z vanish at rest, whatever they are: they have gone along with the surfaces on the way
  // here. With z' = -r_z, which contains the sliding velocity, a step is one of the pseudo-time T of slow motions y/T:
  //   dz + C_zy y + T (r_z + K_z y + C_zx dx) = 0
  // States that are held have dx = 0.
  struct Balance {
    MatrixXd J, inertia;
    VectorXd row, column;  // what J was multiplied with
    VectorXd pull;         // T, 0: rates that vanish
    VectorXd held;         // 1: held
    Balance(const Place& at_place, const VectorXd& sizes, const VectorXd& times, const VectorXd& hold) {
      const MatrixXd& N = at_place.motions.N;
      const Eigen::Index first = at_place.l.first_state, states = at_place.l.states(), n = N.cols();
      const MatrixXd K = at_place.l.K, C = at_place.l.C, M = at_place.l.M;
      J.resize(n + states, n + states);
      J << N.transpose() * K.topLeftCorner(first, first) * N, N.transpose() * C.topRightCorner(first, states),
          K.bottomLeftCorner(states, first) * N, C.bottomRightCorner(states, states);
      inertia = MatrixXd::Identity(n + states, n + states);
      inertia.topLeftCorner(n, n) = N.transpose() * M.topLeftCorner(first, first) * N;
      pull = times.tail(states);
      held = hold.tail(states);
      for (Eigen::Index i = 0; i < states; ++i) {
        if (held[i] > 0) {
          J.col(n + i).setZero();  // least squares would share what is left with it
          J.row(n + i).setUnit(n + i);
        }
        if (pull[i] == 0 || held[i] > 0) continue;
        J.row(n + i) *= pull[i];
        J.row(n + i).head(n) += C.row(first + i).head(first) * N;
        J(n + i, n + i) += 1;
        inertia(n + i, n + i) = 0;
      }
      column = VectorXd::Ones(n + states);
      column.tail(states) = sizes;
      J = J * column.asDiagonal();
      row = J.cwiseAbs().rowwise().maxCoeff();
      for (double& x : row) x = x > 0 ? 1 / x : 1;
      J = row.asDiagonal() * J;
    }
    VectorXd right(const Place& from, const VectorXd& force) const {
      const MatrixXd& N = from.motions.N;
      const Eigen::Index first = from.l.first_state, states = from.l.states();
      VectorXd out(N.cols() + states);
      out << N.transpose() * force.head(first), force.tail(states);
      for (Eigen::Index i = 0; i < states; ++i)
        out[N.cols() + i] *= held[i] > 0 ? 0 : pull[i] > 0 ? pull[i] : 1;
      return row.asDiagonal() * out;
    }
    // Displacements, rotations and changes of states; Q y is the increment of q (bodies) and v (states).
    VectorXd motion(const Place& from, const VectorXd& solution) const {
      const VectorXd p = column.asDiagonal() * solution;
      const MatrixXd& N = from.motions.N;
      VectorXd y(from.l.M.rows());
      y << N * p.head(N.cols()), p.tail(p.size() - N.cols());
      return y;
    }
  };

  VectorXd state_sizes(const Place& of) const {
    VectorXd out(of.l.states());
    for (int i = 0; i < out.size(); ++i) out[i] = typical(of.l, of.state, of.l.first_state + i);
    return out;
  }

  // Newton's method for bodies and states together: controllers have no potential to go down. A step is good if the next one with the same
  // matrix would be shorter (Deuflhard). Motions and states that nothing determines stay where they are.
  bool balance(State& state) {
    constexpr int kIterations = 100;
    constexpr double kShortest = 1e-5, kSettled = 1e-14, kDependent = 1e-12;
    Place now = place(state);
    for (int i = 0; i < kIterations && std::isfinite(now.excess); ++i) {
      if (runs_away(now.state)) return false;
      ++iterations;
      const Balance b(now, state_sizes(now), pull_, held_);
      Eigen::CompleteOrthogonalDecomposition<MatrixXd> inverse;
      inverse.setThreshold(kDependent);
      inverse.compute(b.J);
      const VectorXd solution = -inverse.solve(b.right(now, now.force)), y = b.motion(now, solution),
                     d = now.l.Q * y;
      const bool close = now.excess <= 1;
      if (close && solution.cwiseAbs().maxCoeff() <= kSettled) break;
      double length = rotation_limit(system_->model(), d.data());
      for (bool accepted = false; !accepted; length /= 2) {
        if (length < kShortest) {
          if (close) break;
          return fail(now);
        }
        if (jumps_a_gap(now.state, length * d)) continue;
        State trial = moved(now.state, length * d);
        if (!project_positions(*system_, trial, nullptr, *work_)) continue;
        Place then = place(std::move(trial));
        if (!std::isfinite(then.excess)) continue;
        if (close) {
          if (then.excess < now.excess) now = std::move(then);
          break;
        }
        const VectorXd next = inverse.solve(b.right(now, then.force));
        accepted = then.excess <= 1 || next.norm() <= (1 - length / 4) * solution.norm();
        if (accepted) go_to(std::move(then), now);
      }
      if (close) break;
    }
    state = std::move(now.state);
    return evaluate(state) <= 1;
  }

  // Where that fails: pseudo-time steps (J + mu diag(M, 1)) d = -r, the longer the less is left, as bodies in honey and the states themselves go.
  bool settle(State& state) {
    constexpr int kIterations = 400;
    Place now = place(state);
    Drive drive(now);
    double mu = first_shift(state);
    const double most = 1e12 * mu;
    for (int i = 0; i < kIterations && std::isfinite(now.excess) && now.excess > 1 && mu <= most; ++i) {
      if (runs_away(now.state)) return false;
      ++iterations;
      const Balance b(now, state_sizes(now), pull_, held_);
      const MatrixXd damped = b.J + mu * (b.row.asDiagonal() * b.inertia * b.column.asDiagonal());
      const VectorXd y = b.motion(now, -damped.partialPivLu().solve(b.right(now, now.force))),
                     d = now.l.Q * y;
      const double length = rotation_limit(system_->model(), d.data());
      State trial = moved(now.state, length * d);
      if (!d.allFinite() || !project_positions(*system_, trial, nullptr, *work_)) {
        mu *= 4;
        continue;
      }
      Place then = place(std::move(trial));
      if (!std::isfinite(then.excess) || (pressing_ && drive.is_shock(then))) {
        mu *= 4;
        continue;
      }
      mu *= std::clamp(then.excess / now.excess, 0.1, 1.5) * 0.7;
      go_to(std::move(then), now);
      drive.went(y.head(now.motions.N.rows()), length, scales_, now);
      motion = y;
    }
    if (!(evaluate(now.state) <= 1)) {
      if (drive.undiminished(now)) drives_on(now.state);
      return fail(now);
    }
    state = std::move(now.state);
    State found = state;
    if (balance(found)) state = std::move(found);  // the last digits
    return true;
  }

  // Newton's method with mu M added to K: as large steps as go downhill. Sparse, but it may end at an equilibrium that is not stable.
  bool descend_slowly(State& state) {
    constexpr int kIterations = 400;
    double now = evaluate(state);
    const double scale = first_shift(state), least = 1e-9 * scale, most = 1e12 * scale;
    double mu = scale;
    for (int i = 0; i < kIterations && mu <= most; ++i) {
      set_round_off(state);
      now = evaluate(state);
      if (runs_away(state)) return false;
      const double violation = violations();
      const bool close = now <= 1;
      ++iterations;
      const VectorXd r = Eigen::Map<const VectorXd>(work_->r.data(), system_->model().nv);
      if (!increment(state, close ? least : mu)) {
        if (close) return true;
        mu *= 10;
        continue;
      }
      const std::vector<double> step = work_->right;
      // Close to it one step more squares the error.
      if (close) {
        State trial = stepped(state, step, 1);
        if (evaluate(trial) < now) state = std::move(trial);
        evaluate(state);
        return true;
      }
      // Forces fall on the way to an unstable equilibrium too: far from balance only the work tells.
      const bool far = violation <= 1 && now > 1e3;
      const Eigen::Map<const VectorXd> y(step.data(), r.size());
      const bool uphill = far && y.dot(r) > 0;
      const double limit = rotation_limit(system_->model(), step.data());
      // Back onto the constraints, so that forces and potentials of different places are comparable.
      State trial = stepped(state, step, limit);
      const bool placed = !uphill && project_positions(*system_, trial, nullptr, *work_);
      const double then = placed ? evaluate(trial) : now;
      // Work done on the way, by the trapezoidal rule: there need not be a potential of all loads.
      const double first = y.dot(r), last = y.dot(Eigen::Map<const VectorXd>(work_->r.data(), r.size()));
      const bool down = first + last < 0;
      if (!placed || !std::isfinite(then) || !(down || (!far && then <= now))) {
        mu *= 4;
        continue;
      }
      // What still drives it on at the end would have carried it further.
      const double further = far && last < 0.25 * first ? 0.4 : 1;
      const double ratio = limit < 1 ? 1 : further * std::clamp(then / now, 0.05, 1.5);
      mu = std::max(mu * ratio * (then < 1e6 ? 0.1 : 1), least);
      state = std::move(trial);
      system_->follow_angles(state, *work_);
      now = then;
    }
    return false;
  }

  // Of the constraints, relative to what is tolerated.
  double violations() const {
    double out = 0;
    for (int i = 0; i < system_->model().rows; ++i)
      out = std::max(out,
                     std::abs(work_->phi[at(i)]) / std::max(1e-12 * scales_.row(i), row_round_off_[at(i)]));
    return out;
  }

  // mu with which the first step is at most a tenth of the length of a subsystem, or a radian.
  double first_shift(const State& state) {
    constexpr double kPart = 0.1;
    State start = state;
    const bool found = solve_accelerations(*system_, start, *work_);
    double out = 0;
    for (const Node& node : system_->model().nodes)
      for (int k = 0; k < node_size(node.type).v && node.type != NodeType::State; ++k) {
        const double unit = scales_.units()[node.v + k];
        const double most = is_displacement(node.type, k) ? kPart * unit : 1;
        if (found)
          out = std::max(out, std::abs(start.vdot[at(node.v + k)]) / most);
        else if (is_displacement(node.type, k))
          out = std::max(out, work_->numbers->gravity.norm() / most);
      }
    return out > 0 ? out : 1;
  }

  // d and the increments of lambda, into work_->right, with K + mu M. False: singular.
  bool increment(const State& state, double mu = 0) {
    if (has_states()) return increment_with_states(state);
    MatrixRequest request;
    request.force = {1, 0, mu};
    request.row = {1, 0, 0};
    request.velocity_row = {0, 1, 0};  // what must not slip does not on the way to the equilibrium either
    const bool regular = work_->factorize(*system_, [&] {
      section_forces_.impose(state, *work_, [&] { system_->jacobian(state, *work_, {}, request); });
      foretold_ = work_->r;
      if (!state.redundant.empty()) work_->hold(state.redundant);
      return work_->solver->factorize();
    });
    if (!regular) return false;
    system_->residual(state, *work_, {});
    set_right(state);
    work_->solver->solve(work_->right.data());
    return std::isfinite(largest(work_->right));
  }

  void set_right(const State& state) {
    const int nv = system_->model().nv;
    for (int i = 0; i < nv; ++i) work_->right[at(i)] = -work_->r[at(i)];
    for (int i = 0; i < system_->model().rows; ++i) work_->right[at(nv + i)] = -work_->phi[at(i)];
    for (const int row : state.redundant) work_->right[at(nv + row)] = 0;
  }

  bool increment_with_states(const State& state) {
    const Linearization l = static_form(linearize(*system_, state, Vec3::Zero(), *work_));
    set_rate_scales(l, state);
    ShiftedMatrix matrix(system_->model(), l, state.redundant);
    evaluate(state);
    const auto nv = l.M.rows();
    if (!matrix.factorize(0)) return false;
    const VectorXd right = -(l.Q.transpose() * Eigen::Map<const VectorXd>(work_->r.data(), nv));
    std::vector<double> rows;
    for (const double phi : work_->phi) rows.push_back(-phi);
    VectorXd y(nv);
    matrix.solve(right.data(), rows.data(), y.data(), work_->right.data() + nv);
    Eigen::Map<VectorXd>(work_->right.data(), nv) = l.Q * y;
    return std::isfinite(largest(work_->right));
  }

  State stepped(const State& state, const std::vector<double>& step, double length) const {
    const int nv = system_->model().nv;
    State out = moved(state, length * Eigen::Map<const VectorXd>(step.data(), nv));
    for (std::size_t i = 0; i < out.lambda.size(); ++i) out.lambda[i] += length * step[at(nv) + i];
    return out;
  }

  // The largest displacement, relative to the model, or rotation.
  double length_of(const std::vector<double>& step) const {
    double out = 0;
    for (const Node& node : system_->model().nodes)
      for (int k = 0; k < node_size(node.type).v; ++k)
        out = std::max(out, std::abs(step[at(node.v + k)]) / scales_.units()[node.v + k]);
    return std::isfinite(largest(step)) ? out : INFINITY;
  }

  // Newton's method, for stable equilibria of models that resist. A step is good if the next one would be shorter, or if it goes downhill: forces are no measure
  // where slender beams have been stretched.
  bool go_straight(State& state) {
    constexpr int kIterations = 60;
    constexpr double kShortest = 0.01, kSettled = 1e-14, kFine = 1e-10;
    double now = evaluate(state, false), before = INFINITY;
    if (!increment(state)) return false;
    std::vector<double> step = work_->right, r = work_->r;
    const auto nv = static_cast<std::size_t>(system_->model().nv);
    const auto along = [&](const std::vector<double>& force) {
      return std::inner_product(force.begin(), force.begin() + static_cast<std::ptrdiff_t>(nv), step.begin(),
                                0.0);
    };
    for (int i = 0; i < kIterations && std::isfinite(now); ++i) {
      ++iterations;
      const double way = length_of(step);
      const bool settled = way <= kSettled * extent() || (way <= kFine * extent() && way > 0.5 * before);
      if (now <= 1 || settled) {
        // One step more squares the error.
        State trial = stepped(state, step, 1);
        if (evaluate(trial, false) < now) state = std::move(trial);
        section_forces_.forget();
        set_round_off(state);
        return evaluate(state) <= (settled ? kLeft : 1) && !leaving_motion(*system_, state, *work_);
      }
      double length = rotation_limit(system_->model(), step.data()), then = INFINITY;
      State trial;
      for (bool good = false; !good; length /= 2) {
        if (length < kShortest) return false;
        trial = stepped(state, step, length);
        section_forces_.foretell(state, length * Eigen::Map<const VectorXd>(step.data(), system_->model().nv),
                                 *work_);
        then = evaluate(trial, false);
        // Work as in descend().
        good = std::isfinite(then) && increment(trial) &&
               (then <= 1 || length_of(work_->right) <= (1 - length / 4) * way ||
                (along(r) < 0 && along(foretold_) < -0.9 * along(r)));
      }
      state = std::move(trial);
      step = work_->right;
      r = work_->r;
      system_->follow_angles(state, *work_);
      before = way;
      now = then;
    }
    return false;
  }

  // Newton's method with a line search for the largest residual.
  bool newton(State& state) {
    constexpr int kIterations = 60;
    if (has_states()) {
      system_->residual(state, *work_, {});
      set_rate_scales(linearize(*system_, state, Vec3::Zero(), *work_), state);
    }
    double now = evaluate(state);
    for (int i = 0; i < kIterations; ++i) {
      set_round_off(state);
      now = evaluate(state);
      const bool close = now <= 1;
      ++iterations;
      if (!increment(state)) return close;
      const std::vector<double> step = work_->right;
      double length = rotation_limit(system_->model(), step.data());
      State trial = stepped(state, step, length);
      double then = evaluate(trial);
      // Close to it one step more squares the error.
      if (close) {
        if (then < now) state = std::move(trial);
        evaluate(state);
        return true;
      }
      while (!(then < (1 - 0.1 * length) * now)) {
        length /= 2;
        if (length < 1e-6) return false;
        trial = stepped(state, step, length);
        then = evaluate(trial);
      }
      state = std::move(trial);
      system_->follow_angles(state, *work_);
      now = then;
    }
    return false;
  }

  const System* system_;
  Work* work_;
  double tolerance_;
  StaticScales scales_;
  SectionForces section_forces_;
  Gaps gaps_;
  std::vector<double> foretold_;  // forces with the section forces foretold, at the last increment
  std::vector<double> rate_scales_, round_off_, row_round_off_;
  double first_extent_ = 1;
  VectorXd pull_, limit_;  // of bristles, clutches and brakes, otherwise 0
  bool has_bristles_ = false;
  VectorXd held_;          // 1: states that stay what they are
  bool pressing_ = false;  // with bristles that hold whatever acts
};

MatrixXd independent_columns(const MatrixXd& M) {
  constexpr double kDependent = 1e-8;
  if (M.cols() == 0) return M;
  Eigen::ColPivHouseholderQR<MatrixXd> qr(M.rows(), M.cols());
  qr.setThreshold(kDependent);
  qr.compute(M);
  return MatrixXd(M * qr.colsPermutation()).leftCols(qr.rank());
}

// With states: eigenvalues of the coupled equations. A pair of them is two directions.
void examine_with_states(const System& system, const State& state, StaticResult& out) {
  // Zeros that belong together come out as eigenvalues of the size of round-off, with any sign.
  constexpr double kGrowing = 1e-8, kZero = 1e-10;
  const Modes found = modes(system, state, {.axes_given = true});
  int growing = 0;
  MatrixXd rigid(system.model().nv, 0);
  double fastest = 0;
  for (const Mode& mode : found.modes) fastest = std::max(fastest, std::abs(mode.eigenvalue));
  for (const Mode& mode : found.modes) {
    const bool is_zero = mode.rigid || std::abs(mode.eigenvalue) <= kZero * fastest;
    if (!is_zero && mode.eigenvalue.real() > kGrowing * std::abs(mode.eigenvalue))
      growing += mode.eigenvalue.imag() > 0 ? 2 : 1;
    if (!is_zero) continue;
    rigid.conservativeResize(rigid.rows(), rigid.cols() + 1);
    for (int i = 0; i < system.model().nv; ++i) rigid(i, rigid.cols() - 1) = mode.shape[at(i)].real();
  }
  Work work(system, "klu");
  rigid = separated(motions_with_bristles(system, linearize(system, state, Vec3::Zero(), work),
                                          independent_columns(rigid)));
  for (Eigen::Index i = 0; i < rigid.cols(); ++i)
    out.indifferent.push_back(describe_motion(system.model(), rigid.col(i)));
  // Sparse: only the slowest were looked at.
  if (found.solver == "dense" || growing > 0) out.unstable_directions = growing;
}

// A state a little away from `state` along the motion y, on the constraints; empty if there is none.
std::optional<State> pushed(const System& system, const State& state, const Linearization& l,
                            const VectorXd& y, double by, Work& work) {
  const StaticScales scales(system, state, work);
  const VectorXd d = l.Q * y * (by / y.cwiseQuotient(scales.units()).cwiseAbs().maxCoeff());
  State out = state;
  const double limit = rotation_limit(system.model(), d.data());
  const VectorXd step = limit * d;
  for (const Node& node : system.model().nodes)
    increment_position(node.type, step.data() + node.v, out.q.data() + node.q);
  if (!project_positions(system, out, nullptr, work)) return {};
  return out;
}

// The largest way of a body between two states, in lengths of its subsystem, or change of its orientation.
double way_between(const System& system, const State& from, const State& to) {
  Work work(system);
  const StaticScales scales(system, from, work);
  double out = 0;
  for (const Node& node : system.model().nodes)
    for (int i = 0; i < node_size(node.type).q; ++i) {
      const double unit = i < place_count(node.type) ? scales.units()[node.v] : 1;
      out = std::max(out, std::abs(to.q[at(node.q + i)] - from.q[at(node.q + i)]) / unit);
    }
  return out;
}

// Off an unstable equilibrium of a large model, where its way led, and down from there; as often as it takes. The last LoadStep is that of the
// new place. The direction that is left, if it stays unstable.
std::optional<VectorXd> leave_unstable(const System& system, double tolerance, State& state, LoadStep& step) {
  constexpr int kPushes = 8;
  constexpr double kPush = 0.05;
  for (int i = 0;; ++i) {
    Work work(system, system.model().nv <= kLargestDense ? "klu" : "auto");
    const Linearization l = linearize(system, state, Vec3::Zero(), work);
    const std::optional<VectorXd> y = leaving_motion(system, state, work);
    if (!y || i == kPushes) return y;
    const double potential = system.energy(state, work).potential;
    bool left = false;
    for (const double by : {kPush, -kPush}) {
      std::optional<State> trial = pushed(system, state, l, *y, by, work);
      if (!trial) continue;
      Equilibrium equilibrium(system, *trial, work, tolerance);
      equilibrium.straight_first = false;
      const bool found = equilibrium.solve(*trial);
      step.iterations += equilibrium.iterations;
      // Applied forces have no potential: where it has come to a stable place, that is not asked for.
      if (!found) continue;
      if (!(system.energy(*trial, work).potential < potential) && leaving_motion(system, *trial, work))
        continue;
      state = std::move(*trial);
      system.follow_angles(state, work);
      shorten_multipliers(system, state, work);
      left = true;
      break;
    }
    if (!left) return y;
  }
}

}  // namespace

StaticResult find_equilibrium(const System& system, const StaticOptions& options) {
  require_absolute_coordinates(system, "static analysis");
  check(options);
  const Model& model = system.model();
  StaticResult out;
  out.model = model.description().name;
  out.formulation = model.formulation();
  out.warnings = flexible_remarks(model, system.params().values().data());

  // Positions that meet the constraints, at rest; multipliers as they are when it is let go.
  auto work = std::make_unique<Work>(system);
  State state = consistent_positions(
      system, options.time, {.policy = initial_policy(options.initial), .given = options.from.get()}, *work);
  std::fill(state.v.begin(), state.v.begin() + model.first_state(), 0.0);
  if (std::string warning = lost_digits(system, state, *work); !warning.empty())
    out.warnings.push_back(std::move(warning));
  if (const std::string culprit = system.not_finite(state, *work); !culprit.empty())
    throw InputError({{model.description().file, 0, culprit,
                       "what it adds to the equations at the start is infinite or not a number",
                       "look for divisions by zero, and roots and logarithms of negative numbers"}});
  constexpr double kRegular = 1e-13, kDependent = 1e-7;
  if (!solve_accelerations(system, state, *work) || work->solver->pivot_ratio() < kRegular) {
    // Rows that repeat others are not imposed.
    state.redundant = dependent_rows(system, state, kDependent, RowLevel::Velocity, nullptr, *work);
    if (!solve_accelerations(system, state, *work)) std::fill(state.lambda.begin(), state.lambda.end(), 0.0);
  }
  std::fill(state.vdot.begin(), state.vdot.end(), 0.0);

  const std::vector<Load> loads = loads_of(system, options.time);
  constexpr double kLeastStep = 1.0 / 4096, kLeastFree = 1.0 / 4;
  double factor = 0, step = 1.0 / options.load_steps;
  std::vector<double> variables(at(model.sensor_variables));
  const State start = state;
  if (options.reached) {
    // M v' + B^T lambda = -g with the loads at zero: what springs that are not relaxed exert, and what joints transmit of it.
    const System unloaded = loaded(system, loads, 0);
    Work unloaded_work(unloaded, work->solver->name());
    State let_go = start;
    if (!solve_accelerations(unloaded, let_go, unloaded_work)) {
      std::fill(let_go.lambda.begin(), let_go.lambda.end(), 0.0);
      std::fill(let_go.vdot.begin(), let_go.vdot.end(), 0.0);
    }
    out.start.resize(at(model.sensor_values));
    unloaded.sense(let_go, unloaded_work, variables, out.start.data());
    options.reached(unloaded, 0, let_go);
  }
  while (factor < 1) {
    const double next = factor + step > 1 - 1e-9 ? 1 : factor + step;
    // The whole loads are the model's own.
    const System raised = next == 1 ? system : loaded(system, loads, next);
    Work raised_work(raised, model.nv <= kLargestDense ? "klu" : work->solver->name());
    Equilibrium equilibrium(raised, state, raised_work, options.tolerance);
    State trial = state;
    bool found = equilibrium.solve(trial);
    if (found && !trial.redundant.empty()) {
      // Multipliers that add up to nothing must not have hidden forces that are left.
      shorten_multipliers(raised, trial, raised_work);
      found = equilibrium.balances(trial);
    }
    if (!found) {
      step /= 2;
      if (!equilibrium.overloaded.empty()) {
        out.failure = fmt::format(
            "no equilibrium found with {:.4g} of the loads: {} would slip; a clutch or brake carries its "
            "`capacity` at most: raise it, or lower the load",
            next, equilibrium.overloaded);
        out.state = state;
        return out;
      }
      // What nothing holds runs away, or slips, with smaller loads too.
      const std::string slips = slipping_bristles(raised, equilibrium.reached);
      if (!equilibrium.driven_on &&
          step >= (equilibrium.ran_away || !slips.empty() ? kLeastFree : kLeastStep))
        continue;
      if (equilibrium.ran_away && slips.empty()) {
        out.failure = fmt::format(
            "no equilibrium found with {:.4g} of the loads: nothing holds {}; a joint or a spring could, or "
            "there must be no load in this direction",
            next, ways_of_bodies(raised, state, equilibrium.reached, equilibrium.motion, raised_work));
        out.state = state;
        return out;
      }
      int worst = 0;
      for (int i = 0; i < model.nv; ++i)
        if (std::abs(raised_work.r[at(i)]) > std::abs(raised_work.r[at(worst)])) worst = i;
      out.failure = fmt::format(
          "no equilibrium found with {:.4g} of the loads; worst equation '{}', {:.3g} is left of it", next,
          system.unknown_name(worst), raised_work.r[at(worst)]);
      if (!slips.empty()) {
        out.failure += fmt::format("; the friction of {} does not hold: it slips", slips);
      } else if (model.first_state() < model.nv) {
        Work other(raised, "klu");
        const std::vector<std::string> names = stubborn_states(raised, state, other);
        if (!names.empty())
          out.failure += fmt::format(
              "; where it starts nothing changes the rates of these states, which do not vanish (a limiter "
              "may be "
              "at its end: try other initial values): {}",
              fmt::join(names, ", "));
        else if (const std::vector<std::string> loose = states_without_effect(raised, state, other);
                 !loose.empty())
          out.failure += fmt::format(
              "; nothing depends on these states, whose rates must vanish too: without them the rest may "
              "have "
              "an equilibrium: {}",
              fmt::join(loose, ", "));
        else
          out.failure +=
              "; with states it is found from a start close to it: --from, or initial values of the states";
      } else if (model.nv <= kLargestDense) {
        Work dense(raised, "klu");
        const Stiffness stiffness = stiffness_of(raised, state, dense);
        std::vector<std::string> names;
        for (Eigen::Index i = 0; i < stiffness.indifferent.cols(); ++i)
          names.push_back(describe_motion(model, stiffness.indifferent.col(i)));
        if (!names.empty())
          out.failure += fmt::format("; nothing resists these motions: {}", fmt::join(names, " | "));
      } else {
        out.failure += fmt::format("; with more than {} velocities it is only found from a start close to it",
                                   kLargestDense);
      }
      out.state = state;
      return out;
    }
    state = std::move(trial);
    raised.follow_angles(state, raised_work);
    factor = next;
    LoadStep record{factor, equilibrium.iterations, std::vector<double>(at(model.sensor_values))};
    raised.sense(state, raised_work, variables, record.sensors.data());
    out.steps.push_back(std::move(record));
    if (options.reached && factor < 1) options.reached(raised, factor, state);
  }
  out.converged = true;
  std::optional<VectorXd> leaves;
  const bool has_states = model.first_state() < model.nv;
  if (model.nv > kLargestDescent && !has_states) {
    // In balance as drawn, it is what was asked for.
    if (way_between(system, start, state) > 1e-6) {
      leaves = leave_unstable(system, options.tolerance, state, out.steps.back());
    } else {
      Work sparse(system);
      leaves = leaving_motion(system, state, sparse);
    }
    out.unstable_directions = leaves ? 1 : 0;
  }
  Work final_work(system);
  system.residual(state, final_work, {});
  out.residual_force =
      largest(std::vector<double>(final_work.r.begin(), final_work.r.begin() + model.first_state()));
  out.residual_position = largest(final_work.phi);
  out.potential = system.energy(state, final_work).potential;
  system.sense(state, final_work, variables, out.steps.back().sensors.data());
  if (has_states) {
    examine_with_states(system, state, out);
  } else if (model.nv <= kLargestDense) {
    Work dense(system, "klu");
    const Stiffness stiffness = stiffness_of(system, state, dense);
    out.unstable_directions = stiffness.negative;
    for (Eigen::Index i = 0; i < stiffness.indifferent.cols(); ++i)
      out.indifferent.push_back(describe_motion(model, stiffness.indifferent.col(i)));
  }
  if (out.unstable_directions > 0)
    out.warnings.push_back(fmt::format(
        "the equilibrium is unstable: the smallest push makes it leave{}",
        leaves ? fmt::format(", along this motion, say: {}", describe_motion(model, *leaves)) : ""));
  if (!state.redundant.empty()) out.warnings.push_back(redundancy_warning(system, state, "equilibrium"));
  if (options.reached) options.reached(system, 1, state);
  out.state = std::move(state);
  return out;
}

}  // namespace liedyn
