// Elements made of an expression of the dynamics: their frames are those of what it names, so that each is a batch of its own.
#pragma once

#include "liedyn/model/states/signal_expression.h"

namespace liedyn {

class SignalBatch : public Batch {
 public:
  // Once all nodes, frames, joints and sensors of the model are there.
  virtual void connect(const Model& model, const std::vector<SignalName>& names,
                       std::vector<Diagnostic>& findings) = 0;

  const std::vector<SignalExpression>& signals() const { return expressions_; }

 protected:
  template <class S>
  FrameViewOf<S> view(const EvaluationOf<S>& at, int i) const {
    return FrameViewOf<S>(at.frames[frames[static_cast<std::size_t>(i)]], at.constants, at.nodes, at.motions);
  }
  // How the motion of the i-th frame follows the unknowns of its node.
  Seeds seeds(const Evaluation& at, const JacobianTarget& to, const FrameView& frame) const;

  std::vector<SignalExpression> expressions_;
};

}  // namespace liedyn
