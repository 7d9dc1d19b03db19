#include "integrators/newton_options.h"

#include <algorithm>
#include <cmath>

namespace liedyn {

std::vector<IntegratorOption> newton_options() {
  return {{"newton",
           "auto",
           "A new matrix in every iteration (full), only when the contraction is worse than 0.5 (modified), "
           "or whichever "
           "is estimated to cost less (auto): full, or kept until the additional iterations have cost as "
           "much as a new one.",
           {"auto", "full", "modified"}},
          {"jacobian", "full", "simplified: without the tangent operators.", {"full", "simplified"}},
          {"line_search", "false", "Armijo line search in Newton's method.", {"false", "true"}},
          {"newton_tol",
           "1e-8",
           "Residual at which Newton's method stops, relative to the forces at work.",
           {},
           1e-15,
           1}};
}

CorrectorOptions corrector_with(const IntegratorOptions& options) {
  CorrectorOptions out;
  out.relative = options.number("newton_tol");
  out.modified = options.word("newton") == "modified";
  out.by_cost = options.word("newton") == "auto";
  out.simplified = options.word("jacobian") == "simplified";
  out.line_search = options.word("line_search") == "true";
  return out;
}

CorrectorOptions careful(CorrectorOptions options) {
  options.modified = false;
  options.by_cost = false;
  options.simplified = false;
  options.line_search = options.update == StageUpdate::Exact;
  options.max_iterations = 50;
  return options;
}

IntegratorOption coordinates_option() {
  return {"coordinates",
          "exp",
          "Local coordinates of rotations by phi about n: phi n (exp), 4 tan(phi/4) n (conformal), 2 "
          "tan(phi/2) n "
          "(cayley).",
          {"exp", "conformal", "cayley"}};
}

Chart chart_from(const IntegratorOptions& options) {
  const std::string& coordinates = options.word("coordinates");
  return coordinates == "exp"      ? Chart::Exponential
         : coordinates == "cayley" ? Chart::Cayley
                                   : Chart::Conformal;
}

std::vector<IntegratorOption> step_control_options() {
  return {{"adaptive",
           "false",
           "Steps chosen so that the local errors add up to the tolerances in each unit of time.",
           {"false", "true"}},
          {"rtol", "1e-4", "Relative tolerance: of the size of the model, and in radians.", {}, 1e-14, 1},
          {"atol", "1e-8", "Absolute tolerance, in metres, radians and units of states.", {}, 0, 1e6}};
}

Tolerances::Tolerances(const IntegratorOptions& options)
    : adaptive(options.word("adaptive") == "true"),
      relative(options.number("rtol")),
      absolute(options.number("atol")) {}

double Tolerances::worst(const System& system, const std::vector<double>& increments,
                         const Work& work) const {
  double size = 0, worst = 0;
  for (const Motion<double>& m : work.motions) size = std::max(size, m.p.cwiseAbs().maxCoeff());
  const std::vector<Node>& nodes = system.model().nodes;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const Node& node = nodes[n];
    const int places = place_count(node.type);
    // The increments of a state's node are those of the integral of x.
    const double state = node.type == NodeType::State ? std::abs(work.motions[n].V[0]) : 1.0;
    for (int i = 0; i < node_size(node.type).v; ++i) {
      const double scale = i < places ? size : state;  // metres; radians
      const double error = std::abs(increments[static_cast<std::size_t>(node.v + i)]);
      worst = std::max(worst, error / (absolute + relative * scale));
    }
  }
  return worst;
}

double Tolerances::worst_velocity(const System& system, const std::vector<double>& errors, const State& from,
                                  const State& to) const {
  double speed = 0, spin = 0, worst_speed = 0, worst_spin = 0;
  double worst_state = 0;
  for (const Node& node : system.model().nodes) {
    const int places = place_count(node.type);
    if (node.type == NodeType::State) {
      const auto k = static_cast<std::size_t>(node.v);
      const double scale = std::max(std::abs(from.v[k]), std::abs(to.v[k]));
      worst_state = std::max(worst_state, std::abs(errors[k]) / (absolute + relative * scale));
      continue;
    }
    for (int i = 0; i < node_size(node.type).v; ++i) {
      const auto k = static_cast<std::size_t>(node.v + i);
      double &scale = i < places ? speed : spin, &worst = i < places ? worst_speed : worst_spin;
      scale = std::max({scale, std::abs(from.v[k]), std::abs(to.v[k])});
      worst = std::max(worst, std::abs(errors[k]));
    }
  }
  return std::max(
      {worst_speed / (absolute + relative * speed), worst_spin / (absolute + relative * spin), worst_state});
}

}  // namespace liedyn
