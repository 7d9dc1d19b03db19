// Universal joint (Hooke, Cardan): the two points coincide, and an axis of the first body keeps its angle to an axis of the
// second, most often a right one,
//   Phi = (p_1 - p_2,  (R_1 a).(R_2 b) - c)
#pragma once

#include "liedyn/model/joints/held_rows.h"

namespace liedyn {

struct Universal {
  static constexpr int frames = 2, rows = 4, constants = 7;  // a and b in the axes of their bodies, c
  static constexpr bool across = true;
  static constexpr Optional optional = {.check = true};
  static constexpr int places = 3;
  static void turns(const Mat3& R_1, const Mat3& R_2, const double* p, const double* lambda,
                    TurnDerivatives<1>& d);

  static std::vector<Attachment> attachments();
  template <class S>
  static void derive(const Inputs<S>& in, S* p);
  static void check(const Inputs<double>& in, std::string& message, std::string& hint);
  static std::string row_name(int row);

  template <class S>
  static Eigen::Matrix<S, 4, 1> phi(const std::array<Pose<S>, 2>& f, const S* p) {
    const Eigen::Map<const Vec3T<S>> a(p), b(p + 3);
    Eigen::Matrix<S, 4, 1> out;
    out << f[0].p - f[1].p, (f[0].R * a).dot(f[1].R * b) - p[6];
    return out;
  }
  template <class S>
  static void derivatives(const std::array<Motion<S>, 2>& f, const S* p, const S* lambda,
                          JointDerivatives<2, 4, S>& d) {
    RowDerivatives<4, S> out(f, lambda, d);
    for (int k = 0; k < 3; ++k) out.place(k, k);
    out.turn(3, Eigen::Map<const Vec3T<S>>(p), Eigen::Map<const Vec3T<S>>(p + 3), p[6]);
  }
};

ListedKind universal();

}  // namespace liedyn
