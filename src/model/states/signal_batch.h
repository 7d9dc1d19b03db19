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

  Coupling coupling() const override {
    const int count = static_cast<int>(frames.size());
    return {.frames = count, .rows = 0, .diagonal = true, .across = count > 1};
  }
  int numbers_per_element() const override {
    return static_cast<int>(signal().parameters().size()) + own_numbers();
  }
  const std::vector<Attachment>& attachments() const override;
  void derive_numbers(const Inputs<double>& in, double* out) const override { derive(in, out); }
  void derive_numbers(const Inputs<Varied>& in, Varied* out) const override { derive(in, out); }
  void check(const Inputs<double>&, std::string&, std::string&) const override {}
  std::string row_name(int) const override { return {}; }
  void constraint_matrices(const Evaluation&, double*) const override {}
  Energy energy(const Evaluation&) const override { return {}; }
  EnergyOf<Varied> energy(const VariedEvaluation&) const override { return {}; }
  AxisMotion axis_motion(const Evaluation&, int) const override { return {}; }
  AxisMotionOf<Varied> axis_motion(const VariedEvaluation&, int) const override { return {}; }
  int angles_per_element() const override { return 0; }  // the sensors have their own
  void wound_angles(const Evaluation&, int, double*) const override {}

 protected:
  // A field whose number stands behind the parameters of the expression; -1: none.
  virtual int own_number() const { return -1; }
  int own_numbers() const { return own_number() >= 0 ? 1 : 0; }

  template <class S>
  const S* numbers(const EvaluationOf<S>& at) const {
    return at.numbers + first_number;
  }
  template <class S>
  const S* own(const EvaluationOf<S>& at) const {
    return numbers(at) + signal().parameters().size();
  }
  template <class S>
  FrameViewOf<S> view(const EvaluationOf<S>& at, int i) const {
    return FrameViewOf<S>(at.frames[frames[static_cast<std::size_t>(i)]], at.numbers, at.nodes, at.motions);
  }
  // How the motion of the i-th frame follows the unknowns of its node.
  Seeds seeds(const Evaluation& at, const JacobianTarget& to, const FrameView& frame) const;

  const SignalExpression& signal() const { return expressions_.front(); }  // of elements with one
  std::vector<SignalExpression> expressions_ = std::vector<SignalExpression>(1);

 private:
  template <class S>
  void derive(const Inputs<S>& in, S* out) const {
    for (const int parameter : signal().parameters()) *out++ = in.parameter(parameter);
    if (own_number() >= 0) *out = in.number(own_number());
  }
};

}  // namespace liedyn
