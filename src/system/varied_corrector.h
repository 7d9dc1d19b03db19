// The corrector with derivatives.
#pragma once

#include <memory>
#include <vector>

#include "liedyn/model/nodes/varied_stage.h"
#include "liedyn/system/corrector.h"
#include "liedyn/system/varied_system.h"

namespace liedyn {

// The corrector with derivatives: Newton's method for the values, then the theorem above.
class VariedCorrector : public StageArraysOf<Varied> {
 public:
  VariedCorrector(const VariedSystem& system, const CorrectorOptions& options);

  void prepare(const VariedState&, VariedWork& work) { plain_.prepare(work.plain); }
  CorrectorOutcome solve(const Stage& stage, double h, const VariedState& reference, VariedState& to,
                         VariedWork& work);
  void forget_matrix() { plain_.forget_matrix(); }
  void expect_similar_solves() { plain_.expect_similar_solves(); }
  // theta of Lie nodes is not read after a solve: it gets no derivatives.
  void leave_theta() { leaves_theta_ = true; }

 private:
  void set_drift(double h, const VariedState& reference, const VariedState& to, VariedWork& work);
  VariedNodeStage held_stage(const Node& node, const VariedState& reference, VariedState& to);
  void hold_nodes(const Stage& stage, const VariedState& reference, VariedState& to);
  void move_nodes(const Stage& stage, const VariedState& reference, VariedState& to, const VariedWork& work);

  const VariedSystem* system_;
  Corrector plain_;
  bool leaves_theta_ = false;
  bool holds_all_ = false;  // no node advances in parameters: q is constant while the stage is held
  std::vector<Varied> increments_;
  std::vector<Varied> right_;
  // Rows and multipliers as Newton's method scales them, for the stage that they were made for.
  void set_scales(const Stage& stage, double h);
  std::shared_ptr<const VariedSystem::Scales> scales_;
  double scaled_rate_ = 0, scaled_c_v_ = 0, scaled_h_ = 0;
  std::vector<double> zeros_;
  State reference_, to_;
};
template <class S>
using CorrectorOf = std::conditional_t<is_varied<S>, VariedCorrector, Corrector>;

}  // namespace liedyn
