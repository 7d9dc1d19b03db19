// What a user of the corrector chooses, and what a solve reports.
#pragma once

#include <cstdint>
#include <optional>

#include "liedyn/model/nodes/parameter_stage.h"
#include "liedyn/system/layout.h"

namespace liedyn {

inline bool is_same(const Stage& a, const Stage& b) {
  return a.c_1 == b.c_1 && a.c_2 == b.c_2 && a.c_v == b.c_v;
}

// When Newton's matrix is evaluated and factorised.
enum class MatrixRenewal : std::uint8_t {
  EveryIteration,  // full Newton
  WhenSlow,        // modified Newton: kept until the contraction is worse than kWorstContraction
  ByCost,  // kept while the additional iterations cost less than a new matrix; full Newton where matrices are cheap
};

struct CorrectorOptions {
  // Stop when each residual is below `relative` times the size of the terms of its equation (system/subsystems.h), or at its round-off.
  double relative = 1e-8;
  // Stop instead when the norm of all residuals is below `relative` times its value at the predictor: for comparison with programs that do so.
  bool from_first = false;
  int max_iterations = 20;
  MatrixRenewal renewal = MatrixRenewal::EveryIteration;
  bool simplified = false;   // leave the tangent operators out of the matrix, where they matter least
  bool line_search = false;  // Armijo
  IndexForm form = IndexForm::Index3;
  StageUpdate update = StageUpdate::Exact;
  double sigma = 0;  // for StageUpdate::Expanded
  // Lie nodes advance in local coordinates of this form (parameter_stage.h) instead of by the stage relation.
  std::optional<LocalForm> local;
  Chart chart = Chart::Exponential;

  bool holds_positions() const { return form != IndexForm::Index2; }
  bool holds_velocities() const { return form != IndexForm::Index3; }
  bool in_parameter_space(const Node& node) const { return local.has_value() || is_conventional(node.type); }
};

enum class CorrectorFailure { None, TooManyIterations, Singular, NotFinite, SingularParameters };

struct CorrectorOutcome {
  CorrectorFailure failure = CorrectorFailure::None;
  int iterations = 0;   // linear solves
  int jacobians = 0;    // assemblies with factorisation
  int worst = -1;       // unknown whose equation was worst, or that made the matrix singular
  double residual = 0;  // of that equation
  double regularity =
      1;  // least |cos phi_2| of Cardan angles at the last iterate, and the node it belongs to
  int least_regular = -1;
  bool has_factors =
      false;  // the solver holds the factors of the last matrix, not one that was assembled in vain
  bool converged() const { return failure == CorrectorFailure::None; }
};

}  // namespace liedyn
