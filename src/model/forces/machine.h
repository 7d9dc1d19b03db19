// Machine elements: motors, clutches, cylinders. Such an element exerts an effort e on a coordinate x of the mechanism, and may have first-order
// states s of its own:
//
//   e = e(x, x', s, n) - J x''            s_k' = f_k(x, x', s, n)            n = n_0 + sum_k u_k n_k
//
// The numbers n follow signals u_k as in model/forces/signal_force.h. The residual has W_i = -e B_i^T on the frames of the coordinate, with
// B_i = dx/dX_i, and -f_k in the equation of the state, which has s_k' from elsewhere (model/forces/machine_states.h). With e_x, e_v, e_s and e_u
// from dual numbers through the law,
//
//   de = e_x B dX + e_v (Z dX + B dV) + e_s ds + e_u du - J dx''
//
// and the same for f_k; dW_i = -B_i^T de - e G_ij dX_j.
//
// A machine E is a struct of static members:
//   using Coordinate = ...;                               one of those below
//   static constexpr int states, numbers;                 the first number is J if `inertia` is true
//   static constexpr bool inertia, reads_value;           whether it has J, and whether its law reads x
//   template <class S> static void derive(const Inputs<S>&, S* n);        affine in the fields that follow signals
//   static void check(const Inputs<double>&, std::string& message, std::string& hint);
//   template <class S> static void law(const S& x, const S& rate, const S* s, const S* n, S& effort, S* f);
//   static std::vector<MachineQuantity> quantities();            what sensors may show of it
//   template <class S> static S quantity(int which, const S& x, const S& rate, const S* s, const S* n);
#pragma once

#include "liedyn/base/dual.h"
#include "liedyn/model/common_fields.h"
#include "liedyn/model/forces/machine_output.h"
#include "liedyn/model/forces/machine_states.h"
#include "liedyn/model/forces/signal_force.h"
#include "liedyn/model/joint_coordinate.h"

namespace liedyn {

// Derivatives of a coordinate of F frames; those of x'' where there is an inertia.
template <int F>
struct MachineCoordinate {
  using Row = Eigen::Matrix<double, 1, 6>;
  double value, rate, acceleration;
  Row B[F], Z[F];
  Mat6 G[F][F];
  Row acceleration_X[F], acceleration_V[F];
};

// The angle or the displacement of the joint in field 0, chosen by field 1.
struct CoordinateOfJoint {
  static constexpr int frames = 2, constants = kCoordinateConstants, angles = 1;
  static std::vector<Attachment> attachments() { return frames_of_joint(0); }
  template <class S>
  static void derive(const Inputs<S>& in, S* p) {
    derive_coordinate(in, 0, 1, p);
  }
  template <class S>
  static S value(const std::array<Motion<S>, 2>& f, const S* p, const double* reference) {
    return coordinate_value<S>(f[0], f[1], p, S(reference[0]));
  }
  template <class S>
  static std::array<Vec6T<S>, 2> gradient(const std::array<Motion<S>, 2>& f, const S* p) {
    return coordinate_gradient<S>(f[0], f[1], p);
  }
  template <class S>
  static S acceleration(const std::array<Motion<S>, 2>& f, const S* p);
  static void derivatives(const std::array<Motion<double>, 2>& f, const double* p, const double* reference,
                          bool with_acceleration, MachineCoordinate<2>& out);
};

// The coordinate of the second of the joints in field 0 less that of the first: the slip of two shafts. Only its rate is read.
struct DifferenceOfJoints {
  static constexpr int frames = 4, constants = 2 * kCoordinateConstants, angles = 0;
  static std::vector<Attachment> attachments() { return frames_of_joint(0, 2); }
  template <class S>
  static void derive(const Inputs<S>& in, S* p) {
    for (int i = 0; i < 2; ++i) derive_coordinate(in, i, -1, p + i * kCoordinateConstants);
  }
  template <class S>
  static S value(const std::array<Motion<S>, 4>&, const S*, const double*) {
    return S(0);
  }
  template <class S>
  static std::array<Vec6T<S>, 4> gradient(const std::array<Motion<S>, 4>& f, const S* p) {
    const auto first = coordinate_gradient<S>(f[0], f[1], p);
    const auto second = coordinate_gradient<S>(f[2], f[3], p + kCoordinateConstants);
    return {-first[0], -first[1], second[0], second[1]};
  }
  template <class S>
  static S acceleration(const std::array<Motion<S>, 4>&, const S*) {
    return S(0);
  }
  static void derivatives(const std::array<Motion<double>, 4>& f, const double* p, const double* reference,
                          bool with_acceleration, MachineCoordinate<4>& out);
};

// The distance l of two points, fields 0 and 1 as of model/forces/two_point_force.h. With n from the first to the second,
// B_1 = (-n^T R_1, 0) and B_2 = (n^T R_2, 0). Where the points meet, there is no direction and no force.
struct DistanceOfPoints {
  static constexpr int frames = 2, constants = 0, angles = 0;
  static std::vector<Attachment> attachments() { return frames_at_two_points(0, 1); }
  template <class S>
  static void derive(const Inputs<S>&, S*) {}
  template <class S>
  static S value(const std::array<Motion<S>, 2>& f, const S*, const double*) {
    using std::sqrt;
    const S square = (f[1].p - f[0].p).squaredNorm();
    return square > S(0) ? S(sqrt(square)) : S(0);
  }
  template <class S>
  static std::array<Vec6T<S>, 2> gradient(const std::array<Motion<S>, 2>& f, const S* p) {
    const S length = value(f, p, nullptr);
    std::array<Vec6T<S>, 2> B = {Vec6T<S>::Zero(), Vec6T<S>::Zero()};
    if (!(length > S(0))) return B;
    const Vec3T<S> n = (f[1].p - f[0].p) / length;
    B[0].template head<3>() = -(f[0].R.transpose() * n);
    B[1].template head<3>() = f[1].R.transpose() * n;
    return B;
  }
  template <class S>
  static S acceleration(const std::array<Motion<S>, 2>&, const S*) {
    return S(0);
  }
  static void derivatives(const std::array<Motion<double>, 2>& f, const double* p, const double* reference,
                          bool with_acceleration, MachineCoordinate<2>& out);
};

template <class E>
class Machine : public ForBothScalars<Machine<E>, SignalBatch>, public MachineOutput {
  using Base = ForBothScalars<Machine<E>, SignalBatch>;
  using C = typename E::Coordinate;
  static constexpr int F = C::frames, N = E::constants, States = E::states, Own = C::constants + N;
  static constexpr int kAngles = E::reads_value ? C::angles : 0;
  static_assert(!E::inertia || std::is_same_v<C, CoordinateOfJoint>);

 public:
  using Base::entries, Base::first_angle, Base::first_constant, Base::frames;

  Machine() {
    facts_.acting_frames = F;
    facts_.angles = kAngles;
    facts_.attachments = C::attachments();
    lay_out();
  }

  void connect(const Model& model, const std::vector<SignalName>& names,
               std::vector<Diagnostic>& findings) override {
    const Description& d = model.description();
    const Entry& entry = d.entries(Section::Forces)[index(entries.front())];
    const auto& states = d.entries(Section::States);
    for (const ForceState& own : states_of_force(d, entry)) {
      const std::string name = entry.name + "." + own.name;
      const auto found =
          std::find_if(states.begin(), states.end(), [&](const Entry& state) { return state.name == name; });
      frames.push_back(model.state_frames[static_cast<std::size_t>(found - states.begin())]);
    }
    std::vector<std::int32_t> seen;  // the frames that the signals depend on
    for (const NumberExpression* signal : signals_of(d, entry)) {
      fields_.push_back(signal->number - entry.first_parameter);
      expressions_.emplace_back().connect(model, names, signal->text, parameter_path(d, signal->number),
                                          signal->line, seen, findings);
    }
    seen_ = static_cast<int>(seen.size());
    frames.insert(frames.end(), seen.begin(), seen.end());
    lay_out();
  }

  void check(const Inputs<double>& in, std::string& message, std::string& hint) const override {
    E::check(in, message, hint);
  }

  void jacobian(const Evaluation& at, const JacobianTarget& to) const override { add_jacobian(at, to); }
  void wound_angles(const Evaluation& at, int, double* out) const override {
    if constexpr (kAngles > 0) out[0] = C::template value<double>(motions(at), first_of(at), reference(at));
  }

  const std::vector<MachineQuantity>& quantities() const override {
    static const std::vector<MachineQuantity> list = E::quantities();
    return list;
  }
  double quantity(const Evaluation& at, int which) const override { return quantity_of(at, which); }
  Varied quantity(const VariedEvaluation& at, int which) const override { return quantity_of(at, which); }
  double rotor_power(const Evaluation& at) const override { return rotor_power_of(at); }
  Varied rotor_power(const VariedEvaluation& at) const override { return rotor_power_of(at); }

  // The numbers of the coordinate, n_0, the n_k, and the parameters of the signals.
  template <class S>
  void derive(const Inputs<S>& in, S* out) const {
    C::derive(in, out);
    out += C::constants;
    E::derive(in, out);
    const Entry& entry = in.entry();
    int count = 0;
    for (const FieldValue& value : entry.fields)
      count = std::max(count, value.first + value.count - entry.first_parameter);
    std::array<S, kMostOwnParameters> own{};
    std::copy_n(in.all_parameters() + entry.first_parameter, std::min(count, kMostOwnParameters),
                own.begin());
    Inputs<S> one = in;
    one.set_own_parameters(own.data());
    for (std::size_t k = 0; k < fields_.size(); ++k) {
      S* slope = out + N * static_cast<int>(k + 1);
      own[index(fields_[k])] = S(1);
      E::derive(one, slope);
      own[index(fields_[k])] = S(0);
      for (int i = 0; i < N; ++i) slope[i] -= out[i];
    }
    out += N * static_cast<int>(1 + fields_.size());
    for (const SignalExpression& signal : expressions_)
      for (const int parameter : signal.parameters()) *out++ = in.parameter(parameter);
  }
  template <class S>
  void add_residual(const EvaluationOf<S>& at) const {
    const auto f = motions(at);
    const auto B = C::template gradient<S>(f, first_of(at));
    std::array<S, static_cast<std::size_t>(States) + 1> rates{};
    const S effort = effort_of<S>(at, f, seen_by<S>(at, f, B), rates.data());
    push<S>(at, effort, B, rates.data());
  }
  template <class S>
  EnergyOf<S> energy_of(const EvaluationOf<S>& at) const {
    EnergyOf<S> sum;
    if constexpr (E::inertia) {
      const auto f = motions(at);
      const Seen<S> seen = seen_by<S>(at, f, C::template gradient<S>(f, first_of(at)));
      sum.kinetic = S(0.5) * seen.n[0] * seen.rate * seen.rate;
    }
    return sum;
  }
  template <class S>
  Vec6T<S> wrench_of(const EvaluationOf<S>& at, int, int i) const {
    if (i >= F) return Vec6T<S>::Zero();
    const auto f = motions(at);
    const auto B = C::template gradient<S>(f, first_of(at));
    std::array<S, static_cast<std::size_t>(States) + 1> rates{};
    return -effort_of<S>(at, f, seen_by<S>(at, f, B), rates.data()) * B[index(i)];
  }

 private:
  using Base::expressions_, Base::facts_, Base::seeds, Base::view;
  static constexpr int kMostOwnParameters = 64;  // of one entry
  static constexpr int kMostSignals = 8;         // fields that follow signals
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  void lay_out() {
    facts_.coupling = {.frames = F + States + seen_, .rows = 0, .diagonal = true, .across = true};
    facts_.constants = C::constants + N * (1 + static_cast<int>(expressions_.size()));
    for (const SignalExpression& signal : expressions_)
      facts_.constants += static_cast<int>(signal.parameters().size());
  }
  template <class S>
  const S* first_of(const EvaluationOf<S>& at) const {
    return at.constants + first_constant;
  }
  template <class S>
  const S* slope_of(const EvaluationOf<S>& at, std::size_t k) const {
    return first_of(at) + C::constants + N * static_cast<int>(k + 1);
  }
  // Where the parameters of the k-th signal stand.
  template <class S>
  const S* parameters_of(const EvaluationOf<S>& at, std::size_t k) const {
    const S* p = slope_of(at, expressions_.size());
    for (std::size_t i = 0; i < k; ++i) p += expressions_[i].parameters().size();
    return p;
  }

  template <class S>
  std::array<Motion<S>, F> motions(const EvaluationOf<S>& at) const {
    std::array<Motion<S>, F> m;
    for (int i = 0; i < F; ++i) m[index(i)] = view(at, i).motion();
    return m;
  }
  template <class S>
  int state_node(const EvaluationOf<S>& at, int k) const {
    return at.frames[frames[index(F + k)]].node;
  }

  // Where the coordinate was at the end of the last step.
  template <class S>
  const double* reference(const EvaluationOf<S>& at) const {
    return kAngles > 0 ? at.angles + first_angle : nullptr;
  }

  // What the law sees.
  template <class S>
  struct Seen {
    S value, rate;
    std::array<S, static_cast<std::size_t>(States) + 1> states;
    std::array<S, static_cast<std::size_t>(N)> n;
  };
  template <class S>
  Seen<S> seen_by(const EvaluationOf<S>& at, const std::array<Motion<S>, F>& f,
                  const std::array<Vec6T<S>, F>& B) const {
    Seen<S> out{};
    out.value = S(0);
    if constexpr (E::reads_value) out.value = C::template value<S>(f, first_of(at), reference(at));
    out.rate = S(0);
    for (int i = 0; i < F; ++i) out.rate += B[index(i)].dot(f[index(i)].V);
    for (int k = 0; k < States; ++k) out.states[index(k)] = at.motions[state_node(at, k)].V[0];
    std::copy_n(first_of(at) + C::constants, N, out.n.begin());
    for (std::size_t k = 0; k < expressions_.size(); ++k) {
      const S signal = expressions_[k].value(at, parameters_of(at, k));
      for (int i = 0; i < N; ++i) out.n[index(i)] += signal * slope_of(at, k)[i];
    }
    return out;
  }
  template <class S>
  S effort_of(const EvaluationOf<S>& at, const std::array<Motion<S>, F>& f, const Seen<S>& seen,
              S* rates) const {
    S effort(0);
    E::template law<S>(seen.value, seen.rate, seen.states.data(), seen.n.data(), effort, rates);
    if constexpr (E::inertia) effort -= seen.n[0] * C::template acceleration<S>(f, first_of(at));
    return effort;
  }

  template <class S>
  S quantity_of(const EvaluationOf<S>& at, int which) const {
    const auto f = motions(at);
    const Seen<S> seen = seen_by<S>(at, f, C::template gradient<S>(f, first_of(at)));
    return E::template quantity<S>(which, seen.value, seen.rate, seen.states.data(), seen.n.data());
  }
  // J x' x''
  template <class S>
  S rotor_power_of([[maybe_unused]] const EvaluationOf<S>& at) const {
    if constexpr (E::inertia) {
      const auto f = motions(at);
      const Seen<S> seen = seen_by<S>(at, f, C::template gradient<S>(f, first_of(at)));
      return seen.n[0] * seen.rate * C::template acceleration<S>(f, first_of(at));
    }
    return S(0);
  }

  template <class S>
  void push(const EvaluationOf<S>& at, const S& effort, const std::array<Vec6T<S>, F>& B,
            const S* rates) const {
    for (int i = 0; i < F; ++i) {
      const FrameViewOf<S> frame = view(at, i);
      if (!frame.on_ground())
        at.wrench[frame.node()] += frame.wrench_at_node(Vec6T<S>(-effort * B[index(i)]));
    }
    for (int k = 0; k < States; ++k) at.wrench[state_node(at, k)][0] -= rates[k];
  }

  void add_jacobian(const Evaluation& at, const JacobianTarget& to) const {
    constexpr int kOutputs = 1 + States;  // e, then f_k
    using Row = SignalExpression::Row;
    using Local = Dual<double, 2 + States>;
    using Along = Dual<double, 1>;
    const auto f = motions(at);
    MachineCoordinate<F> x;
    const Seen<double> seen = seen_by<double>(at, f, C::template gradient<double>(f, first_of(at)));
    double inertia = 0;
    if constexpr (E::inertia) inertia = seen.n[0];
    C::derivatives(f, first_of(at), reference(at), inertia != 0, x);

    // e and f_k with their derivatives with respect to x, x' and the states, then with respect to the signals.
    std::array<Local, static_cast<std::size_t>(States) + 1> local_states{}, local_rates{};
    std::array<Local, static_cast<std::size_t>(N)> local_n{};
    for (int k = 0; k < States; ++k) local_states[index(k)] = seed<2 + States>(seen.states[index(k)], 2 + k);
    for (int i = 0; i < N; ++i) local_n[index(i)] = Local(seen.n[index(i)]);
    Local effort(0);
    E::template law<Local>(seed<2 + States>(seen.value, 0), seed<2 + States>(seen.rate, 1),
                           local_states.data(), local_n.data(), effort, local_rates.data());
    std::array<double, static_cast<std::size_t>(States) + 1> rates{};
    for (int k = 0; k < States; ++k) rates[index(k)] = local_rates[index(k)].v;
    const double whole_effort = effort.v - inertia * x.acceleration;
    std::array<Vec6, F> B;
    for (int i = 0; i < F; ++i) B[index(i)] = x.B[i].transpose();
    push<double>(at, whole_effort, B, rates.data());

    const auto slope = [&](int output, int direction) {
      return (output == 0 ? effort : local_rates[index(output - 1)]).d[index(direction)];
    };
    std::vector<SignalExpression::Derivatives>& u = scratch(expressions_.size());
    std::array<std::array<double, kOutputs>, kMostSignals> by_signal{};
    for (std::size_t k = 0; k < expressions_.size(); ++k) {
      expressions_[k].derivatives(at, parameters_of(at, k), seen_, u[k]);
      std::array<Along, static_cast<std::size_t>(States) + 1> s{}, along_rates{};
      std::array<Along, static_cast<std::size_t>(N)> n{};
      for (int i = 0; i < States; ++i) s[index(i)] = Along(seen.states[index(i)]);
      for (int i = 0; i < N; ++i) {
        n[index(i)] = Along(seen.n[index(i)]);
        n[index(i)].d[0] = slope_of(at, k)[i];
      }
      Along along(0);
      E::template law<Along>(Along(seen.value), Along(seen.rate), s.data(), n.data(), along,
                             along_rates.data());
      by_signal[k][0] = along.d[0];
      for (int i = 0; i < States; ++i) by_signal[k][index(1 + i)] = along_rates[index(i)].d[0];
    }

    const int count = F + States + seen_;
    for (int j = 0; j < count; ++j) {
      const FrameView frame_j = view(at, j);
      if (frame_j.on_ground()) continue;
      const Seeds seed_j = seeds(at, to, frame_j);
      std::array<Row, static_cast<std::size_t>(kOutputs)> d;
      for (int o = 0; o < kOutputs; ++o) {
        if (j < F) {
          d[index(o)] =
              (slope(o, 0) * x.B[j] + slope(o, 1) * x.Z[j]) * seed_j.X + slope(o, 1) * (x.B[j] * seed_j.V);
          if (o == 0 && inertia != 0)
            d[0] -= inertia *
                    (x.acceleration_X[j] * seed_j.X + x.acceleration_V[j] * seed_j.V + x.B[j] * seed_j.A);
        } else if (j < F + States) {
          d[index(o)] = slope(o, 2 + j - F) * seed_j.V.row(0);
        } else {
          d[index(o)].setZero();
          for (std::size_t k = 0; k < expressions_.size(); ++k)
            d[index(o)] += by_signal[k][index(o)] *
                           (u[k].X[j - F - States] * seed_j.X + u[k].V[j - F - States] * seed_j.V);
        }
      }
      for (int i = 0; i < F; ++i) {
        const FrameView frame_i = view(at, i);
        if (frame_i.on_ground()) continue;
        Mat6 D = -(x.B[i].transpose() * d[0]);
        if (j < F) D -= whole_effort * (x.G[i][j] * seed_j.X);
        frame_i.to_node_rows(D);
        add_block(to.values, to.blocks[i * count + j], D, frame_i.type(), frame_j.type());
      }
      for (int k = 0; k < States; ++k) {
        Mat6 D = Mat6::Zero();
        D.row(0) = -d[index(1 + k)];
        add_block(to.values, to.blocks[(F + k) * count + j], D, NodeType::State, frame_j.type());
      }
    }
  }

  // Threads evaluate a model at the same time.
  static std::vector<SignalExpression::Derivatives>& scratch(std::size_t count) {
    static thread_local std::vector<SignalExpression::Derivatives> out;
    if (out.size() < count) out.resize(count);
    return out;
  }

  std::vector<int> fields_;  // the numbers that follow signals, counted from the entry's first
  int seen_ = 0;             // frames that the signals depend on, behind those of the element and its states
};

// For ListedKind: every machine is a batch of its own. `variant` is below 2.
inline unsigned machine_shape(const Description& d, const Entry& entry, unsigned variant) {
  return 2 * static_cast<unsigned>(&entry - d.entries(Section::Forces).data()) + variant;
}
inline unsigned machine_variant(unsigned shape) { return shape % 2; }

// A number of a machine.
Field machine_number(std::string name, std::string unit, std::string summary, std::vector<double> defaults,
                     Range range = Range::Any);
// The value at the start of one of its states.
Field machine_start(std::string name, std::string unit, std::string summary);
Field required_machine_number(std::string name, std::string unit, std::string summary, Range range);
// One that may be a function of time and follow states and sensors.
Field machine_signal(std::string name, std::string unit, std::string summary, std::vector<double> defaults);

// ---- coordinates

// x'' along the motion. Displacement: x = a.r with r = R_1^T (p_2 - p_1). Angle: that of u = Q x_2 in the plane of x_1 and y_1, with the relative
// angular velocity n = Q w_2 - w_1.
template <class S>
S CoordinateOfJoint::acceleration(const std::array<Motion<S>, 2>& f, const S* p) {
  const JointAxes<S> axes(p);
  const Mat3T<S> Q = f[0].R.transpose() * f[1].R;
  const Vec3T<S> w1 = f[0].V.template tail<3>(), w2 = f[1].V.template tail<3>();
  const Vec3T<S> alpha1 = f[0].A.template tail<3>(), alpha2 = f[1].A.template tail<3>();
  if (!is_angle(p)) {
    const Vec3T<S> u1 = f[0].V.template head<3>(), u2 = f[1].V.template head<3>();
    const Vec3T<S> r = f[0].R.transpose() * (f[1].p - f[0].p);
    const Vec3T<S> moved = Q * u2, rate = moved - u1 - w1.cross(r);
    // r'' = Q (u_2' + w_2 x u_2) - w_1 x Q u_2 - u_1' - w_1' x r - w_1 x r'
    const Vec3T<S> turned = Q * Vec3T<S>(f[1].A.template head<3>() + w2.cross(u2));
    const Vec3T<S> second =
        turned - w1.cross(moved) - f[0].A.template head<3>() - alpha1.cross(r) - w1.cross(rate);
    return axes.first.col(2).dot(second);
  }
  const Vec3T<S> u = Q * axes.second.col(0), turned = Q * w2;
  const Vec3T<S> n = turned - w1, n_rate = Q * alpha2 - alpha1 - w1.cross(turned);
  const Vec3T<S> u_rate = n.cross(u), u_second = n_rate.cross(u) + n.cross(u_rate);
  const auto x1 = axes.first.col(0), y1 = axes.first.col(1);
  const S c = x1.dot(u), s = y1.dot(u), c1 = x1.dot(u_rate), s1 = y1.dot(u_rate), c2 = x1.dot(u_second),
          s2 = y1.dot(u_second), square = c * c + s * s;
  return (c * s2 - s * c2) / square - S(2) * (c * c1 + s * s1) * (c * s1 - s * c1) / (square * square);
}

}  // namespace liedyn
