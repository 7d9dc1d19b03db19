#include "liedyn/model/states/state.h"

#include "liedyn/model/model.h"
#include "liedyn/model/states/signal_batch.h"

namespace liedyn {
namespace {

enum Fields { kInitial, kExpression, kTimeConstant };

// frames[0] is the state's own.
class StateBatch : public ForBothScalars<StateBatch, SignalBatch> {
 public:
  explicit StateBatch(bool lags) : lags_(lags) { expressions_.resize(1); }

  void connect(const Model& model, const std::vector<SignalName>& names,
               std::vector<Diagnostic>& findings) override {
    const Description& d = model.description();
    const auto index = static_cast<std::size_t>(entries.front());
    const Entry& entry = d.entries(Section::States)[index];
    frames = {model.state_frames[index]};
    const FieldValue& text = entry.fields[kExpression];
    expressions_.front().connect(model, names, d.words[static_cast<std::size_t>(text.word)],
                                 "states." + entry.name + "." + entry.kind->fields[kExpression].name,
                                 entry.line, frames, findings);
    const int count = static_cast<int>(frames.size());
    facts_.coupling = {.frames = count, .rows = 0, .diagonal = true, .across = count > 1};
    facts_.constants = static_cast<int>(signal().parameters().size()) + (lags_ ? 1 : 0);
  }

  // The parameters of the expression, and the time constant.
  template <class S>
  void derive(const Inputs<S>& in, S* out) const {
    for (const int parameter : signal().parameters()) *out++ = in.parameter(parameter);
    if (lags_) *out = in.number(kTimeConstant);
  }
  template <class S>
  void add_residual(const EvaluationOf<S>& at) const {
    at.wrench[node(at)][0] += at.motions[node(at)].A[0] - rate(at, signal().value(at, constants(at)));
  }
  template <class S>
  Vec6T<S> wrench_of(const EvaluationOf<S>&, int, int) const {
    return Vec6T<S>::Zero();
  }

  void jacobian(const Evaluation& at, const JacobianTarget& to) const override {
    const int count = static_cast<int>(frames.size());
    SignalExpression::Derivatives d;
    signal().derivatives(at, constants(at), count, d);
    at.wrench[node(at)][0] += at.motions[node(at)].A[0] - rate(at, d.value);
    // d(x' - f) = dx' - (f_X dX + f_V dV)
    const double factor = lags_ ? 1 / time_constant(at) : 1;
    if (lags_) d.V[0][0] -= 1;
    for (int j = 0; j < count; ++j) {
      const FrameView frame = view(at, j);
      if (frame.on_ground()) continue;
      const Seeds s = seeds(at, to, frame);
      Mat6 D = Mat6::Zero();
      D.row(0) = -factor * (d.X[j] * s.X + d.V[j] * s.V);
      if (j == 0) D.row(0) += s.A.row(0);
      add_block(to.values, to.blocks[j], D, NodeType::State, frame.type());
    }
  }

 private:
  const SignalExpression& signal() const { return expressions_.front(); }
  template <class S>
  const S* constants(const EvaluationOf<S>& at) const {
    return at.constants + first_constant;
  }
  template <class S>
  const S& time_constant(const EvaluationOf<S>& at) const {
    return constants(at)[signal().parameters().size()];
  }
  template <class S>
  int node(const EvaluationOf<S>& at) const {
    return at.frames[frames.front()].node;
  }
  template <class S>
  S rate(const EvaluationOf<S>& at, const S& input) const {
    return lags_ ? S((input - at.motions[node(at)].V[0]) / time_constant(at)) : input;
  }

  bool lags_;
};

// Every state is a batch of its own.
unsigned shape(const Description& d, const Entry& entry) {
  return static_cast<unsigned>(&entry - d.entries(Section::States).data());
}
std::unique_ptr<Batch> make(unsigned) { return std::make_unique<StateBatch>(false); }
std::unique_ptr<Batch> make_lag(unsigned) { return std::make_unique<StateBatch>(true); }

Field initial() {
  return {.name = "initial",
          .type = FieldType::Number,
          .unit = "",
          .summary = "Initial value.",
          .defaults = {0},
          .is_initial = true,
          .index = kInitial};
}
Field expression(std::string name, std::string summary) {
  return {.name = std::move(name),
          .type = FieldType::Text,
          .unit = "",
          .summary = std::move(summary) +
                     ": an expression of the time t, parameters, states and those sensors that are "
                     "coordinates or velocities.",
          .required = true,
          .holds_expression = true,
          .index = kExpression};
}

}  // namespace

ListedKind state_expression() {
  return {{"expression",
           "A state x with any rate of change, x' = rate.",
           {initial(), expression("rate", "The rate")}},
          &make,
          &shape};
}

ListedKind state_integral() {
  return {{"integral",
           "Integral of an input over time, x' = input: of a PID controller, for example.",
           {initial(), expression("input", "The input")}},
          &make,
          &shape};
}

ListedKind state_filter() {
  return {{"filter",
           "First-order lag, x' = (input - x)/time_constant: x follows the input smoothly.",
           {initial(),
            expression("input", "The input"),
            {.name = "time_constant",
             .type = FieldType::Number,
             .unit = "s",
             .summary = "After a step of the input, its difference to x falls to 1/e within this time.",
             .required = true,
             .range = Range::Positive,
             .index = kTimeConstant}}},
          &make_lag,
          &shape};
}

}  // namespace liedyn
