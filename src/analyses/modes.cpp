#include "liedyn/analyses/modes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "liedyn/analyses/lost_digits.h"
#include "liedyn/analyses/mode_pairs.h"
#include "liedyn/analyses/singular_position.h"
#include "liedyn/analyses/stiffness_scale.h"
#include "liedyn/base/suggest.h"
#include "liedyn/model/flexible/body.h"
#include "liedyn/system/matrix_parts.h"
#include "liedyn/system/node_components.h"

namespace liedyn {
namespace {

using Eigen::VectorXcd;
using Eigen::VectorXd;
using Complex = std::complex<double>;

constexpr int kSparseCount = 20;
constexpr int kLargestDenseIfFew = 3000;  // minutes, where the sparse solver cannot be used

void check(const ModesOptions& o) {
  if (o.count < 0) throw InputError("count", fmt::format("must not be negative, got {}", o.count));
  if (std::find(std::begin(kModeSolvers), std::end(kModeSolvers), o.solver) == std::end(kModeSolvers))
    throw InputError("solver", fmt::format("must be one of {}, got '{}'", fmt::join(kModeSolvers, ", "),
                                           excerpt(o.solver)));
  if (o.axes_given && !o.axes_rate.allFinite())
    throw InputError("axes", "must be three finite numbers, an angular velocity");
}

// The same model with all dampers off.
System without_dampers(const System& system) {
  Params params = system.params();
  for (const Section section : {Section::Forces, Section::Beams, Section::Flexible})
    for (const Entry& entry : system.model().description().entries(section))
      for (std::size_t f = 0; f < entry.fields.size(); ++f) {
        const std::string& name = entry.kind->fields[f].name;
        if (!name.ends_with("damping") && !name.ends_with("damping_ratio")) continue;
        for (int i = 0; i < entry.fields[f].count && entry.fields[f].first >= 0; ++i)
          params.set(entry.fields[f].first + i, 0);
      }
  return System(system.shared_model(), std::move(params));
}

// Whether the bodies take no part, and what the shape has of them is round-off: with y_b of the bodies and x of the states, a mode meets
// y_b^H ((s^2 M + s C + K) y_b + C x) = 0, as B y_b = 0; the terms of round-off do not balance each other. At s = 0 there may be no terms. Forces
// that depend on multipliers (friction) are not among them; what is not small is no round-off.
bool bodies_are_still(const Linearization& l, std::complex<double> s, const VectorXcd& shape) {
  constexpr double kUnbalanced = 1e-3, kSmall = 1e-6, kNothing = 1e-9;
  const Eigen::Index bodies = l.first_state;
  if (bodies == 0 || bodies == shape.size()) return bodies == 0;
  VectorXcd y = shape, x = shape;
  y.tail(shape.size() - bodies).setZero();
  x.head(bodies).setZero();
  const double moved = y.cwiseAbs().maxCoeff(), changed = x.cwiseAbs().maxCoeff();
  if (s == 0.0 || moved > kSmall * changed) return moved <= kNothing * changed;
  Complex sum = 0;
  double parts = 0;
  const auto add = [&](Complex factor, const SparseMatrix& X, const VectorXcd& of) {
    const Complex part = factor * y.dot(VectorXcd(X * of));
    sum += part;
    parts += std::abs(part);
  };
  add(s * s, l.M, y);
  add(s, l.C, y);
  add(1, l.K, y);
  add(1, l.C, x);
  return !(std::abs(sum) < kUnbalanced * parts);
}

// Beside the slowest of the others: the frequency below which a motion would be called one that nothing resists, as its stiffness is round-off of the
// stiffest that take part. Empty: it is far below.
std::string lost_in_round_off(const Linearization& l, const VectorXd& scale,
                              const std::vector<ModePair>& pairs) {
  constexpr double kNear = 0.3;
  double lost = 0, slowest = INFINITY;
  for (const ModePair& pair : pairs) {
    if (!pair.rigid) {
      slowest = std::min(slowest, std::abs(pair.s));
      continue;
    }
    const double mass = pair.y.dot(VectorXcd(l.M * pair.y)).real();
    if (mass > 0)
      lost = std::max(
          lost, std::sqrt(kResistance *
                          scale.head(l.first_state).dot(pair.y.head(l.first_state).cwiseAbs2()) / mass));
  }
  if (!(lost > kNear * slowest) || !std::isfinite(slowest)) return {};
  return fmt::format(
      "stiffnesses differ by so many orders of magnitude that a motion slower than about {:.2g} rad/s cannot "
      "be distinguished from a rigid-body motion",
      lost);
}

// The largest displacement or rotation of the shape becomes 1, the largest state where nothing moves; shares of the kinetic energy.
Mode finished(const System& system, const Linearization& l, const VectorXd& unit, ModePair pair) {
  Mode out;
  const bool still = bodies_are_still(l, pair.s, pair.y);
  const Eigen::Index scaled = still || l.first_state == 0 ? pair.y.size() : l.first_state;
  if (still) pair.y.head(l.first_state).setZero();
  const VectorXcd natural = pair.y, momentum = l.M * natural;
  pair.y = unit.asDiagonal() * natural;
  out.eigenvalue = pair.s;
  out.rigid = pair.rigid;
  Eigen::Index largest = 0;
  pair.y.head(scaled).cwiseAbs().maxCoeff(&largest);
  if (pair.y[largest] != 0.0) pair.y /= Complex(pair.y[largest]);
  out.shape.assign(pair.y.begin(), pair.y.end());
  out.shape.resize(static_cast<std::size_t>(system.model().nv));  // states that are held
  double sum = 0;
  for (std::size_t i = 0; i < system.model().body_types.size(); ++i) {
    const Node& node = system.model().nodes[i];
    const int size = node_size(node.type).v;
    const double energy =
        std::max(natural.segment(node.v, size).dot(momentum.segment(node.v, size)).real(), 0.0);
    out.share.push_back(energy);
    sum += energy;
  }
  if (sum > 0)
    for (double& share : out.share) share /= sum;
  return out;
}

// How the eigenvalues are found.
struct Method {
  int count = 0;  // modes that are wanted
  int freedoms = 0;
  bool small = false;    // enough for the dense solver
  bool dense = false;    // which is used
  bool follows = false;  // only dense matrices follow the constraints along the motion
};

void warn_of_dense(const ModesOptions& options, std::string_view why, Modes& out) {
  if (options.solver == "sparse") out.warnings.push_back(fmt::format("the dense solver was used: {}", why));
}

Method choose_method(const Model& model, const State& state, const ModesOptions& options, Modes& out) {
  Method m;
  // Krylov's method needs more directions than it has vectors: with fewer motions the rest of them would be round-off, or not be there.
  m.count = options.count > 0 ? options.count : kSparseCount;
  m.freedoms = model.first_state() - model.rows + static_cast<int>(state.redundant.size());
  const bool few = m.freedoms < std::max(2 * m.count + 1, 20);
  if (few && options.solver != "dense" && model.nv > kLargestDenseIfFew)
    throw NumericalError(
        state.t, fmt::format("{} modes of a model with {} degrees of freedom are too many for the sparse "
                             "solver, and its {} velocities too many for the dense one: request at most {}",
                             m.count, m.freedoms, model.nv, std::max(0, (m.freedoms - 1) / 2)));
  const bool steady = as_if_steady(out.axes), unsteady = !steady && !options.axes_given;
  m.small = model.nv <= kLargestDense;
  m.dense = options.solver == "dense" || few || (m.small && (unsteady || options.solver == "auto"));
  m.follows = unsteady && m.dense;
  if (few)
    warn_of_dense(options,
                  fmt::format("{} degrees of freedom are too few for {} modes by the sparse solver",
                              m.freedoms, m.count),
                  out);
  else if (m.follows)
    warn_of_dense(options, "the sparse solver does not support constraints along an unsteady motion", out);
  if (!steady)
    out.warnings.push_back(
        fmt::format("{}: the eigenvalues are those of t = {:.6g} s{}", not_steady(out.axes), state.t,
                    m.follows ? ", and depend on the coordinates" : ", with the constraints frozen there"));
  else if (std::string warning = not_quite_steady(out.axes, state.t); !warning.empty())
    out.warnings.push_back(std::move(warning));
  return m;
}

// The equations without what dissipates.
Linearization without_dissipation(Linearization l, Modes& out) {
  if (out.states > 0) {
    l = without_states(l);
    out.states = 0;
    out.warnings.emplace_back(
        "first-order states dissipate: without damping they are kept constant, and eigenvalues are "
        "those of the bodies alone");
  }
  l.C = antisymmetric_part(l.C);
  return l;
}

// None where the sparse solver has not found all that the dense one can find.
std::optional<std::vector<ModePair>> find_sparse(const Model& model, const State& state,
                                                 const ModesOptions& options, const Method& method,
                                                 const Linearization& l, const VectorXd& scale, Modes& out) {
  out.degrees_of_freedom = method.freedoms;
  SparseModes found = sparse_modes(model, l, scale, method.count, state.redundant, state.t);
  out.zeros = found.zeros;
  // A set that is known to lack some may lack any: there are more than `count`, since degrees of freedom are.
  std::string lack;
  if (found.pairs.size() < static_cast<std::size_t>(method.count))
    lack = fmt::format("only {} of {} modes were found", found.pairs.size(), method.count);
  else if (!found.all_zeros)
    lack = fmt::format("more than {} eigenvalues are zero", found.zeros);
  if (!lack.empty() && method.small) {
    warn_of_dense(options, lack + " by the sparse solver", out);
    return {};
  }
  if (!lack.empty() && found.pairs.empty())
    throw NumericalError(
        state.t,
        fmt::format("{} by the sparse solver, since eigenvalues are too close to each other, and the "
                    "model has more velocities than the dense solver takes: {}, at most {}",
                    lack, model.nv, kLargestDense));
  if (!lack.empty())
    out.warnings.push_back(lack +
                           " by the sparse solver: eigenvalues are too close to each other or zero, and "
                           "the slowest may be missing");
  return std::move(found.pairs);
}

std::vector<ModePair> find_dense(const Model& model, double t, const Linearization& l, const VectorXd& scale,
                                 Modes& out) {
  DenseModes found = dense_modes(model, l, scale, t);
  out.degrees_of_freedom = found.degrees_of_freedom;
  out.dimension = found.dimension;
  out.zeros = found.zeros;
  int count_of_all = out.zeros;
  for (const ModePair& pair : found.pairs)
    if (!pair.rigid) count_of_all += pair.s.imag() > 0 ? 2 : 1;
  if (!found.consistent || count_of_all != out.dimension)
    out.warnings.push_back(fmt::format(
        "{} eigenvalues were found and {} expected: they differ by too many orders of magnitude to be "
        "distinguished from each other and from round-off, and the slowest are unreliable",
        count_of_all, out.dimension));
  return std::move(found.pairs);
}

}  // namespace

double Mode::frequency() const { return std::abs(eigenvalue.imag()) / (2 * std::numbers::pi); }

double Mode::damping_ratio() const { return rigid ? 0 : -eigenvalue.real() / std::abs(eigenvalue); }

Modes modes(const System& system, const State& state, const ModesOptions& options) {
  check(options);
  const Model& model = system.model();
  Work work(system, kFullPivoting);
  Modes out;
  out.model = model.description().name;
  out.formulation = model.formulation();
  out.time = state.t;
  out.undamped = options.undamped;
  out.warnings = flexible_warnings(model, system.params().values().data());
  if (std::string warning = lost_digits(system, state, work); !warning.empty())
    out.warnings.push_back(std::move(warning));
  require_derivatives(system, state, work);
  if (options.axes_given)
    out.axes = {options.axes_rate, change_of_matrices(system, state, options.axes_rate, work), 0, false};
  else
    out.axes = steady_axes(system, state, work);
  const Method method = choose_method(model, state, options, out);
  if (method.follows) out.axes.rate = Vec3::Zero();

  // Dampers also make stiffness, where what they are fixed to turns: without dissipation they are not there.
  std::optional<System> undamped;
  if (options.undamped) undamped.emplace(without_dampers(system));
  const System& analysed = undamped ? *undamped : system;
  std::optional<Work> own_work;  // with the constants of the system that is analysed
  if (undamped) own_work.emplace(*undamped, kFullPivoting);
  Work& used = own_work ? *own_work : work;
  Linearization l = method.follows ? linearize_unsteady(analysed, state, used)
                                   : linearize(analysed, state, out.axes.rate, used);
  out.states = static_cast<int>(l.states());
  if (options.undamped) l = without_dissipation(std::move(l), out);
  const VectorXd unit = l.unit;
  const VectorXd scale = stiffness_scale(system, state, l, used).cwiseProduct(unit.cwiseAbs2());
  l = in_natural_units(l);

  std::optional<std::vector<ModePair>> found;
  if (!method.dense) found = find_sparse(model, state, options, method, l, scale, out);
  out.solver = found ? "sparse" : "dense";
  if (!found) {
    if (std::string warning = singular_position(system, state, l, work); !warning.empty())
      out.warnings.push_back(std::move(warning));
    found = find_dense(model, state.t, l, scale, out);
  }
  std::vector<ModePair>& pairs = *found;
  if (std::string warning = lost_in_round_off(l, scale, pairs); !warning.empty())
    out.warnings.push_back(std::move(warning));
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const ModePair& a, const ModePair& b) { return std::abs(a.s) < std::abs(b.s); });
  if (options.count > 0 && pairs.size() > static_cast<std::size_t>(options.count))
    pairs.resize(static_cast<std::size_t>(options.count));
  for (ModePair& pair : pairs) out.modes.push_back(finished(system, l, unit, std::move(pair)));
  return out;
}

std::vector<std::string> shape_names(const Model& model) {
  std::vector<std::string> out;
  for (int i = 0; i < model.nv; ++i) {
    const Entry& body = model.body_of(i);
    if (i >= model.first_state()) {
      out.push_back(body.name);
      continue;
    }
    const Node& node =
        model.nodes[static_cast<std::size_t>(&body - model.description().entries(Section::Bodies).data())];
    const int k = i - node.v;
    out.push_back(fmt::format("{}: {} {}", body.name,
                              is_displacement(node.type, k) ? "displacement" : "rotation",
                              "xyz"[component(node.type, k) % 3]));
  }
  return out;
}

}  // namespace liedyn
