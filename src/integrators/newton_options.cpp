#include "liedyn/integrators/newton_options.h"

namespace liedyn {
namespace {

// A damped iteration may halve its residual only: 1e-15 of it is left after 50.
constexpr int kCarefulIterations = 50;

}  // namespace

std::vector<IntegratorOption> newton_options() {
  return {{"newton",
           "auto",
           "A new matrix in every iteration (full), only when the contraction is worse than 0.5 (modified), "
           "or whichever is estimated to be cheaper (auto): full, or one matrix is kept until its solves "
           "become more expensive than the average so far, including the matrix.",
           {"auto", "full", "modified"}},
          {"jacobian", "full", "simplified: without the tangent operators.", {"full", "simplified"}},
          {"line_search", "false", "Armijo line search in Newton's method.", {"false", "true"}},
          {"newton_tol",
           "1e-8",
           "Tolerance of the residual in Newton's method, relative to the forces in the equations.",
           {},
           1e-15,
           1},
          {"newton_stop",
           "forces",
           "Reference of newton_tol: the forces in each equation; or, for comparison with programs that do "
           "so, the norm of all residuals before the first iteration (initial).",
           {"forces", "initial"}}};
}

CorrectorOptions corrector_with(const IntegratorOptions& options) {
  CorrectorOptions out;
  out.relative = options.number("newton_tol");
  out.from_first = options.word("newton_stop") == "initial";
  const std::string& newton = options.word("newton");
  out.renewal = newton == "full"       ? MatrixRenewal::EveryIteration
                : newton == "modified" ? MatrixRenewal::WhenSlow
                                       : MatrixRenewal::ByCost;
  out.simplified = options.word("jacobian") == "simplified";
  out.line_search = options.word("line_search") == "true";
  return out;
}

CorrectorOptions careful(CorrectorOptions options) {
  options.renewal = MatrixRenewal::EveryIteration;
  options.simplified = false;
  options.line_search = options.update == StageUpdate::Exact;
  options.max_iterations = kCarefulIterations;
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

}  // namespace liedyn
