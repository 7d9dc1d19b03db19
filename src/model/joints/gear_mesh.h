// Teeth in mesh: two wheels (or a wheel and a rack, a worm and its wheel) on joints of the same carrier touch at the point P with the normal n,
// both fixed in the carrier. With x of model/line_of_action.h for each of the two,
//
//   Phi = x_1 - x_2
//
// whose multiplier is the force between the teeth: lambda n acts on the second wheel at P, -lambda n on the first.
//
// Without a given normal: t_i is the direction in which P moves with wheel i, rho the normal of the pitch surfaces (across t_1 and t_2; where
// these are parallel, across t_1 and the common generator of the pitch cylinders or cones), from the first wheel into the second. The
// generator g across t and rho, towards the axis of the first wheel that turns, leads along the tooth with the helix angle beta,
// d = g cos(beta) + t sin(beta), and with the normal pressure angle alpha
//
//   n = n_t cos(alpha) + rho sin(alpha),   n_t = +-rho x d, the sign such that n_t.t_1 > 0
//
// This is F_t = F cos(alpha) cos(beta), F_r = F_t tan(alpha)/cos(beta), F_a = F_t tan(beta) of cylindrical wheels.
//
// Where lambda is negative, the other flanks carry, and teeth still push the wheels apart: the part of n along rho does not turn with the
// torque. With `flanks: both` the force on the second wheel is therefore lambda n + (|lambda| - lambda) rho (rho.n). The second term moves
// neither wheel, since rho is across t_1 and t_2; it loads the bearings.
#pragma once

#include "liedyn/model/batch_of.h"
#include "liedyn/model/line_of_action.h"

namespace liedyn {

struct GearMesh {
  static constexpr int frames = 4, rows = 1, angles = 2;
  // Of each wheel: axes, line along n, line along rho (rho.n) if both flanks carry.
  static constexpr int normal_line = kCoordinateConstants, radial_line = normal_line + kLineConstants;
  static constexpr int side = radial_line + kLineConstants, constants = 2 * side + angles;
  static constexpr bool across = true;
  static constexpr Optional optional = {.check = true};

  static std::vector<Attachment> attachments();
  template <class S>
  static void derive(const Inputs<S>& in, S* p);
  static void check(const Inputs<double>& in, std::string& message, std::string& hint);
  static std::string row_name(int) { return "teeth"; }

  template <class S>
  static S displacement(const std::array<Pose<S>, 4>& f, const S* p, std::size_t i) {
    const S* own = p + side * static_cast<int>(i);
    return line_value(f[2 * i], f[2 * i + 1], own, own + normal_line,
                      p[constants - angles + static_cast<int>(i)]);
  }
  template <class S>
  static Eigen::Matrix<S, 1, 1> phi(const std::array<Pose<S>, 4>& f, const S* p) {
    return Eigen::Matrix<S, 1, 1>(displacement(f, p, 0) - displacement(f, p, 1));
  }
  template <class S>
  static void derivatives(const std::array<Motion<S>, 4>& f, const S* p, const S* lambda,
                          JointDerivatives<4, 1, S>& d);
  static void wound_angles(const std::array<Motion<double>, 4>& f, const double* p, double* out);
};

// With both flanks: adds (|lambda| - lambda) times the gradient of y_1 - y_2, y the displacements along rho (rho.n).
class BothFlanks : public BatchOf<GearMesh> {
 public:
  using BatchOf<GearMesh>::BatchOf;
  void residual(const Evaluation& at) const override;
  void residual(const VariedEvaluation& at) const override;
  void jacobian(const Evaluation& at, const JacobianTarget& to) const override;
  Vec6 wrench_on(const Evaluation& at, int e, int i) const override;
  Vec6T<Varied> wrench_on(const VariedEvaluation& at, int e, int i) const override;

 private:
  template <bool WithMatrix, class S>
  void add(const EvaluationOf<S>& at, const JacobianTarget& to) const;
};

ListedKind gear_mesh();

// How the coordinates of the two joints go together, first over second: both angles or displacements, or one of each in rad/m or m/rad.
double gear_ratio(const Kind& first, const Kind& second, const double* constants);

}  // namespace liedyn
