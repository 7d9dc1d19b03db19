#include "liedyn/system/redundancy.h"

#include <fmt/format.h>

#include <Eigen/OrderingMethods>
#include <Eigen/SparseQR>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "liedyn/base/decompositions.h"
#include "liedyn/base/index.h"
#include "liedyn/model/nodes/stage.h"
#include "liedyn/system/evaluation.h"
#include "liedyn/system/subsystems.h"

namespace liedyn {
namespace {

std::size_t block_numbers(const Model& model) {
  return static_cast<std::size_t>(for_each_side(model, [](const JointSide&) {}));
}

// Visits (row, velocity, entry of B) in what System::constraint_matrices gave.
template <class Visit>
void for_each_entry(const Model& model, const std::vector<double>& blocks, const Visit& visit) {
  for_each_side(model, [&](const JointSide& side) {
    const Node& node = model.nodes[at(side.node)];
    for (int r = 0; r < side.rows; ++r)
      for (int i = 0; i < node_size(node.type).v; ++i)
        visit(side.first_row + r, node.v + i,
              blocks[at(side.matrix + components(node.type)[i] * side.rows + r)]);
  });
}

std::vector<double> constraint_blocks(const System& system, const State& state, Work& work) {
  std::vector<double> blocks(block_numbers(system.model()));
  system.constraint_matrices(state, work, blocks);
  return blocks;
}

// Whether joints close loops: where they do not, each holds a body of its own, and constraints are independent.
bool has_loops(const Model& model) {
  if (model.tree) return model.rows > 0;
  std::vector<int> parent(model.nodes.size() + 1);
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int i) {
    while (parent[at(i)] != i) i = parent[at(i)] = parent[at(parent[at(i)])];
    return i;
  };
  for (const auto& batch : model.batches) {
    if (batch->coupling().rows == 0) continue;
    for (int e = 0; e < batch->size(); ++e)
      for (int f = 1; f < batch->coupling().frames; ++f) {
        const int a = root(node_of_frame(model, *batch, e, 0) + 1),
                  b = root(node_of_frame(model, *batch, e, f) + 1);
        if (a == b) return true;
        parent[at(a)] = b;
      }
  }
  return false;
}

// What the joints of a tree transmit, at their places: force, and torque divided by the length.
void tree_reactions(const System& system, const State& state, double length, Work& work,
                    Eigen::VectorXd& out) {
  const Model& model = system.model();
  system.residual(state, work, {});
  transmitted_wrenches(*model.tree, *work.links, work.wrench.data());
  Eigen::Index count = 0;
  for (const int link : model.tree->of_joint) count += link >= 0 ? 6 : 0;
  out.resize(count);
  Eigen::Index next = 0;
  for (const auto& batch : model.batches) {
    if (dynamic_cast<const TreeJoints*>(batch.get()) == nullptr) continue;
    for (int e = 0; e < batch->size(); ++e, next += 6) {
      const int body = model.tree->links[at(model.tree->of_joint[at(batch->entries[at(e)])])].body;
      const Motion<double>& behind = work.motions[at(body)];
      const Vec3 place = FrameView(model.frames[at(batch->frames[at(batch->coupling().frames * e)])],
                                   work.constants->data.data(), model.bodies().data(), work.motions.data())
                             .motion()
                             .p;
      const Vec6& f = work.wrench[at(body)];
      out.segment<3>(next) = f.head<3>();
      out.segment<3>(next + 3) =
          (f.tail<3>() + (behind.R.transpose() * (behind.p - place)).cross(f.head<3>())) / length;
    }
  }
}

constexpr int kLargestDense = 300;

}  // namespace

ConstraintScales constraint_scales(const System& system, const State& state, Work& work) {
  const Model& model = system.model();
  const Subsystems parts = subsystems(system, work);
  const auto length_of = [&](int part) {
    const double length = part >= 0 ? parts.length[at(part)] : 0;
    return std::isfinite(length) && length > 0 ? length : 1;
  };
  ConstraintScales out;
  out.length = 0;
  for (int i = 0; i < parts.count(); ++i) out.length = std::max(out.length, parts.length[at(i)]);
  if (!std::isfinite(out.length) || out.length == 0) out.length = 1;
  const std::vector<bool> angle = rows_of_angles(system, state, work);
  for (int i = 0; i < model.rows; ++i) {
    out.row_length.push_back(length_of(parts.of_row[at(i)]));
    out.row.push_back(angle[at(i)] ? out.row_length.back() : 1);
  }
  out.column.assign(at(model.nv), 1);
  out.column_length.assign(at(model.nv), 1);
  for (std::size_t n = 0; n < model.nodes.size(); ++n) {
    const Node& node = model.nodes[n];
    if (parts.of_node[n] < 0) continue;
    for (int i = 0; i < node_size(node.type).v; ++i) {
      double& length = out.column_length[at(node.v + i)];
      length = length_of(parts.of_node[n]);
      if (components(node.type)[i] >= 3) out.column[at(node.v + i)] = length;
    }
  }
  return out;
}

Eigen::SparseMatrix<double> scaled_constraints(const System& system, const State& state,
                                               const ConstraintScales& scales, Work& work) {
  const Model& model = system.model();
  std::vector<Eigen::Triplet<double>> entries;
  for_each_entry(model, constraint_blocks(system, state, work), [&](int row, int velocity, double value) {
    entries.emplace_back(velocity, row, value * scales.row[at(row)] / scales.column[at(velocity)]);
  });
  Eigen::SparseMatrix<double> out(model.nv, model.rows);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

std::vector<int> dependent_rows(const System& system, const State& state, double tolerance, RowLevel level,
                                const std::vector<bool>* at_rest, Work& work,
                                const std::vector<int>& released) {
  std::vector<int> out;
  if (system.model().rows == 0) return out;
  Eigen::SparseMatrix<double> transposed =
      scaled_constraints(system, state, constraint_scales(system, state, work), work);
  transposed.prune([&](Eigen::Index velocity, Eigen::Index row, double) {
    if (at_rest != nullptr && (*at_rest)[static_cast<std::size_t>(velocity)]) return false;
    if (std::binary_search(released.begin(), released.end(), static_cast<int>(row))) return false;
    return level != RowLevel::Position || !system.model().is_velocity_row(static_cast<int>(row));
  });
  const auto take = [&](const auto& order, Eigen::Index rank) {
    for (Eigen::Index i = rank; i < transposed.cols(); ++i) out.push_back(order(i));
  };
  if (transposed.cols() <= kLargestDense) {
    // Among rows that serve equally well the earlier ones are imposed, by a slight preference: otherwise round-off would choose, on each machine others.
    constexpr double kPreference = 0.01;
    Eigen::MatrixXd preferred(transposed);
    for (Eigen::Index i = 0; i < preferred.cols(); ++i)
      preferred.col(i) *= 1 - kPreference * static_cast<double>(i) / static_cast<double>(preferred.cols());
    const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr{preferred};
    const Eigen::Index most = std::min(transposed.rows(), transposed.cols());
    Eigen::Index rank = 0;
    while (rank < most && std::abs(qr.matrixQR()(rank, rank)) > tolerance) ++rank;
    take(qr.colsPermutation().indices(), rank);
  } else {
    Eigen::SparseQR<Eigen::SparseMatrix<double>, Eigen::COLAMDOrdering<int>> qr;
    qr.setPivotThreshold(tolerance);
    transposed.makeCompressed();
    qr.compute(transposed);
    take(qr.colsPermutation().indices(), qr.rank());
  }
  std::sort(out.begin(), out.end());
  return out;
}

bool factorize_accelerations(const System& system, const State& given, Work& work) {
  // Friction and teeth depend on multipliers, and their derivatives would stand beside B^T: at rest and without loads there are none.
  State still;
  if (system.model().forces_use_multipliers) {
    still = given;
    std::fill(still.v.begin(), still.v.end(), 0.0);
    std::fill(still.lambda.begin(), still.lambda.end(), 0.0);
  }
  const State& state = system.model().forces_use_multipliers ? still : given;
  MatrixRequest request;
  request.force = {0, 0, 1};
  request.row = {0, 0, 1};
  request.level = RowLevel::Acceleration;
  return work.factorize(system, [&] {
    system.jacobian(state, work, {false, false, true}, request);
    work.clear_residuals(state.redundant);
    work.hold(state.redundant);
    return work.solver->factorize();
  });
}

std::vector<int> following_rows(const State& state, const std::vector<int>& released) {
  std::vector<int> out;
  std::set_difference(state.redundant.begin(), state.redundant.end(), released.begin(), released.end(),
                      std::back_inserter(out));
  return out;
}

void shorten_multipliers(const System& system, State& state, const std::vector<int>& released, Work& work) {
  const std::vector<int> rows = following_rows(state, released);
  if (rows.empty() || !factorize_accelerations(system, state, work)) return;
  Dependences dependences(system);
  dependences.evaluate(state, rows, work);
  const ConstraintScales scales = constraint_scales(system, state, work);
  dependences.shorten(scales, state, work);
}

Dependences::Dependences(const System& system) : system_(&system), blocks_(block_numbers(system.model())) {}

// B_K^T x = -B_d^T for each redundant row d. With the acceleration matrix: M u + B_K^T x = -B_d^T, B_K u = 0 has that x, and u = 0.
void Dependences::evaluate(const State& state, const std::vector<int>& rows, Work& work) {
  const Model& model = system_->model();
  const auto count = static_cast<Eigen::Index>(rows.size());
  solutions_.setZero(model.nv + model.rows, count);
  system_->constraint_matrices(state, work, blocks_);
  for_each_entry(model, blocks_, [&](int row, int velocity, double value) {
    const auto found = std::lower_bound(rows.begin(), rows.end(), row);
    if (found != rows.end() && *found == row) solutions_(velocity, found - rows.begin()) -= value;
  });
  for (Eigen::Index i = 0; i < count; ++i) {
    work.solver->solve(solutions_.col(i).data());
    solutions_(model.nv + rows[static_cast<std::size_t>(i)], i) = 1;
  }
}

void Dependences::shorten(const ConstraintScales& scales, State& state, Work& work) {
  // min |D^-1 (lambda - N c)|, with what the joints of the tree transmit below it
  const auto rows = static_cast<Eigen::Index>(scales.row.size());
  const Eigen::Map<const Eigen::VectorXd> row(scales.row.data(), rows);
  Eigen::Map<Eigen::VectorXd> lambda(state.lambda.data(), rows);
  const bool tree = system_->model().tree.has_value();
  if (tree) tree_reactions(*system_, state, scales.length, work, reactions_);
  weighted_.resize(rows + reactions_.size(), solutions_.cols());
  for (Eigen::Index i = 0; i < weighted_.cols(); ++i) {
    const auto n = solutions_.col(i).tail(rows);
    weighted_.col(i).head(rows) = n.cwiseQuotient(row);
    if (!tree) continue;
    lambda += n;
    tree_reactions(*system_, state, scales.length, work, others_);
    lambda -= n;
    weighted_.col(i).tail(others_.size()) = others_ - reactions_;
  }
  normal_.noalias() = weighted_.transpose() * weighted_;
  factors_.compute(normal_);
  // Twice: the second removes the rounding of the first.
  scaled_.resize(weighted_.rows());
  for (int i = 0; i < 2; ++i) {
    if (tree && i > 0) tree_reactions(*system_, state, scales.length, work, reactions_);
    scaled_.head(rows) = lambda.cwiseQuotient(row);
    scaled_.tail(reactions_.size()) = reactions_;
    part_.noalias() = weighted_.transpose() * scaled_;
    factors_.solveInPlace(part_);
    lambda.noalias() -= vectors() * part_;
  }
}

std::string row_names(const Model& model, const std::vector<int>& rows) {
  constexpr std::size_t kMost = 12;
  std::vector<std::string> names;
  for (const int row : rows) {
    if (names.size() == kMost) {
      names.push_back(fmt::format("and {} more", rows.size() - kMost));
      break;
    }
    names.push_back(model.row_name(row));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

ConstraintWatch::ConstraintWatch(const System& system, const State& start, Work& work,
                                 std::vector<int> released)
    : system_(&system), released_(std::move(released)), watches_(has_loops(system.model())) {
  find_following(start);
  if (!watches_ && follow_.empty()) return;
  scales_ = constraint_scales(system, start, work);
  weakest_.setZero(system.model().rows);
  if (!follow_.empty()) prepare();
}
ConstraintWatch::~ConstraintWatch() = default;

void ConstraintWatch::find_following(const State& state) {
  follow_.clear();
  std::set_difference(state.redundant.begin(), state.redundant.end(), released_.begin(), released_.end(),
                      std::back_inserter(follow_));
}

void ConstraintWatch::prepare() {
  if (work_) return;
  work_ = std::make_unique<Work>(*system_);
  dependences_ = std::make_unique<Dependences>(*system_);
  blocks_.resize(block_numbers(system_->model()));
}

void ConstraintWatch::archive(Archive& a) {
  bool prepared = work_ != nullptr;
  a(prepared, scales_, watches_, weakest_, usual_, look_again_, warned_at_, warnings_);
  if (prepared) {
    prepare();
    work_->archive(*system_, a);
  } else {
    work_.reset();
  }
}

bool ConstraintWatch::settle(State& state) {
  // A redundant row that depends on an imposed one by more than this changes places with it: the imposed rows stay far from dependent.
  constexpr double kLargestFactor = 4;
  const int most_exchanges = 4 * static_cast<int>(state.redundant.size());
  find_following(state);
  for (int exchanges = 0;; ++exchanges) {
    if (!factorize_accelerations(*system_, state, *work_)) return true;
    dependences_->evaluate(state, follow_, *work_);
    const auto n = dependences_->vectors();
    double worst = kLargestFactor;
    std::size_t out = 0;
    int in = -1;
    for (std::size_t d = 0; d < follow_.size(); ++d)
      for (int i = 0; i < system_->model().rows; ++i) {
        const double factor =
            std::abs(n(i, static_cast<Eigen::Index>(d))) * scales_.row[at(follow_[d])] / scales_.row[at(i)];
        if (factor <= worst) continue;
        worst = factor;
        out = d;
        in = i;
      }
    if (in < 0 || exchanges == most_exchanges) break;
    std::replace(state.redundant.begin(), state.redundant.end(), follow_[out], in);
    follow_[out] = in;
    std::sort(state.redundant.begin(), state.redundant.end());
    std::sort(follow_.begin(), follow_.end());
  }
  dependences_->shorten(scales_, state, *work_);

  // Rows that are not imposed are met as well as the others; if not, they never followed from them.
  system_->residual(state, *work_, {true, false, false});
  work_->clear_residuals(released_);
  int violated = -1;
  double imposed = 0, left_out = 0;  // relative to the length of their subsystems
  std::size_t next = 0;
  for (int row = 0; row < system_->model().rows; ++row) {
    const double size = std::abs(work_->phi[at(row)]) * scales_.row[at(row)] / scales_.row_length[at(row)];
    if (next < state.redundant.size() && state.redundant[next] == row) {
      ++next;
      if (size > left_out) left_out = size, violated = row;
    } else {
      imposed = std::max(imposed, size);
    }
  }
  if (left_out <= std::max(1e-4, 100 * imposed)) return true;
  failure_ = fmt::format("t = {:.9g}: constraint '{}' was redundant initially but is now violated by {:.3g}",
                         state.t, system_->model().row_name(violated), work_->phi[at(violated)]);
  return false;
}

void ConstraintWatch::constraint_force(const State& state, const Eigen::VectorXd& lambda,
                                       Eigen::VectorXd& out) {
  system_->constraint_matrices(state, *work_, blocks_);
  out.setZero(system_->model().nv);
  for_each_entry(system_->model(), blocks_,
                 [&](int row, int velocity, double value) { out[velocity] += value * lambda[row]; });
}

// The weakest direction n of the imposed rows has the least sigma^2 = n^T S n, S = D B M^-1 B^T D with the scales D of the rows. One step of inverse iteration:
// B u = -D^-1 n, M u + B^T lambda = 0 gives lambda = D S^-1 n. The matrix of Newton's method does as well, since it is close to that of the accelerations for
// small steps. Leaves u and lambda in work.right, returns sigma^2.
double ConstraintWatch::follow_weakest(const State& state, Work& work) {
  const Model& model = system_->model();
  // A little of every direction: the weakest may have been orthogonal to the one that was the weakest before.
  constexpr double kLittle = 0.2;
  for (int i = 0; i < model.rows; ++i) weakest_[i] += kLittle * std::sin(1 + 1.7 * i);
  for (const int row : state.redundant) weakest_[row] = 0;
  std::fill(work.right.begin(), work.right.end(), 0.0);
  // In the stabilised form the rows of velocities are moved alike, so that eta stays zero.
  for (std::size_t first = at(model.nv); first < work.right.size(); first += at(model.rows))
    for (int i = 0; i < model.rows; ++i) work.right[first + at(i)] = -weakest_[i] / scales_.row[at(i)];
  const double before = weakest_.norm();
  work.solver->solve(work.right.data());
  for (int i = 0; i < model.rows; ++i) weakest_[i] = work.right[at(model.nv + i)] / scales_.row[at(i)];
  for (const int row : state.redundant) weakest_[row] = 0;
  const double after = weakest_.norm();
  if (!std::isfinite(after) || after == 0) {
    weakest_.setZero();
    return 0;
  }
  weakest_ /= after;
  return before / after;
}

// With w = B^T D n and u = -M^-1 w, sigma^2 = w^T M^-1 w changes by sigma' / sigma = w'^T u / w^T u, and sigma, which is linear where it passes zero, vanishes after
// -sigma / sigma'.
ConstraintWatch::Weakest ConstraintWatch::weakest(const State& state, double h) {
  constexpr int kIterations = 8;
  constexpr double kPart = 0.2;  // of the largest component: rows that are named
  Weakest out;
  const Model& model = system_->model();
  prepare();
  if (!factorize_accelerations(*system_, state, *work_)) return out;
  for (int k = 0; k < kIterations; ++k)
    if (follow_weakest(state, *work_) == 0) return out;
  Eigen::VectorXd n = weakest_;
  const Eigen::VectorXd u = Eigen::Map<const Eigen::VectorXd>(work_->right.data(), model.nv);
  for (int i = 0; i < model.rows; ++i)
    if (std::abs(n[i]) >= kPart * n.cwiseAbs().maxCoeff()) out.rows.push_back(i);

  for (int i = 0; i < model.rows; ++i) n[i] *= scales_.row[at(i)];
  Eigen::VectorXd w, after, before;
  constraint_force(state, n, w);
  const double shift = 1e-3 * h;
  State moved = state;
  const auto move = [&](double by, Eigen::VectorXd& force) {
    moved.q = state.q;
    moved.t = state.t + by;
    std::vector<double> theta = state.v;
    for (double& x : theta) x *= by;
    for (const Node& node : model.nodes)
      increment_position(node.type, theta.data() + node.v, moved.q.data() + node.q);
    constraint_force(moved, n, force);
  };
  move(shift, after);
  move(-shift, before);
  const double change = (after - before).dot(u) / (2 * shift);
  out.time_to = change == 0 ? INFINITY : -w.dot(u) / change;
  out.found = true;
  return out;
}

bool ConstraintWatch::after_step(State& state, double h, Work* work) {
  constexpr double kSuspicious = 0.05;
  constexpr double kUnseen = 20;  // steps
  if (state.redundant.size() > released_.size() && !settle(state)) return false;
  if (!watches_ || work == nullptr) return true;
  const double now = follow_weakest(state, *work);
  usual_ = std::max(usual_, now);
  if (now > kSuspicious * usual_ || state.t < look_again_) return true;
  const Weakest near = weakest(state, h);
  // A look at every step of a mechanism that is weak for a while would cost as much as the steps. sigma is nearly linear on its way to zero, so that half of the way there
  // needs no look; those that are nearer than a step are never left out.
  look_again_ = state.t + std::min(kUnseen, 0.5 * std::abs(near.time_to) / h) * h;
  const double when = state.t + near.time_to;
  // Two steps see it, that before it and that after it.
  if (!near.found || std::abs(near.time_to) > h || std::abs(when - warned_at_) < 2 * h) return true;
  warned_at_ = when;
  warnings_.push_back(
      fmt::format("t = {:.6g}: singular configuration: {} become redundant there; the motion beyond it may "
                  "not be unique, and multipliers are large",
                  when, row_names(system_->model(), near.rows)));
  return true;
}

void ConstraintWatch::shorten(State& state) {
  if (state.redundant.size() <= released_.size() || !factorize_accelerations(*system_, state, *work_)) return;
  find_following(state);
  dependences_->evaluate(state, follow_, *work_);
  dependences_->shorten(scales_, state, *work_);
}

std::string ConstraintWatch::singularity_near(const State& state, double h) {
  constexpr double kSteps = 5;
  if (!watches_) return {};
  const Weakest near = weakest(state, h);
  if (!near.found || std::abs(near.time_to) > kSteps * h) return {};
  return fmt::format("; there is a singular configuration at about t = {:.6g}, where {} become redundant",
                     state.t + near.time_to, row_names(system_->model(), near.rows));
}

}  // namespace liedyn
