// Expressions of the dynamics: the rate of a state, the effort of an actuator. They may name the time, parameters, states, and the
// sensors that are coordinates or velocities of bodies and joints (those with a gradient, model/sensors/sensor.h).
//
//   y = f(t, parameters, s_1, s_2, ...),     dy = sum_k f_k ds_k,     ds_k = s_X dX + s_V dV on the frames of s_k
//
// The f_k come from dual numbers through the expression, the s_X and s_V from the sensors: the derivatives are exact.
#pragma once

#include <string>
#include <vector>

#include "liedyn/base/expression.h"
#include "liedyn/model/sensors/sensor.h"

namespace liedyn {

class Model;

// What a name in such an expression stands for.
struct SignalName {
  enum class Kind : std::uint8_t { Time, Parameter, FirstOrderState, Sensor };
  std::string name;
  Kind kind;
  int index = 0;      // of the parameter, state or sensor
  int component = 0;  // of the sensor
};
// All that expressions of the model may name; later ones hide earlier ones.
std::vector<SignalName> signal_names(const Model& model);

class SignalExpression {
 public:
  // How many names one expression may use, and how many frames these may depend on.
  static constexpr int kMaxNames = 24, kMaxFrames = 24;

  // Appends what is wrong to `findings`, under `path`. `frames` are the frames that the element has already (Model::frames); those
  // that the expression depends on are added. The model must not move or grow any more.
  void connect(const Model& model, const std::vector<SignalName>& names, const std::string& text,
               const std::string& path, int line, std::vector<std::int32_t>& frames,
               std::vector<Diagnostic>& findings);

  // The parameters that it uses, by their index: their values are to stand in `numbers` in this order.
  const std::vector<int>& parameters() const { return parameters_; }
  // The expression itself, and what its variables are, one by one.
  const Expression& expression() const { return expression_; }
  std::vector<SignalName::Kind> variables() const;

  template <class S>
  S value(const EvaluationOf<S>& at, const S* constants) const;

  // The derivatives with respect to the increments and the twists of the frames of `frames`.
  using Row = Eigen::Matrix<double, 1, 6>;
  struct Derivatives {
    double value;
    Row X[kMaxFrames], V[kMaxFrames];
  };
  void derivatives(const Evaluation& at, const double* constants, int frames, Derivatives& out) const;

 private:
  struct Input {
    SignalName::Kind kind;
    int number = 0;                  // of a parameter
    std::int32_t node = -1;          // of a state
    const Sensor* sensor = nullptr;  // and the joint that it looks at, if any
    const Batch* joint = nullptr;
    int component = 0;
    int frames[2] = {-1, -1};  // what it depends on, among those of the element
  };
  SensorGradient gradient(const Evaluation& at, const Input& input) const;

  Expression expression_;  // of the inputs
  std::vector<Input> inputs_;
  std::vector<int> parameters_;
};

}  // namespace liedyn
