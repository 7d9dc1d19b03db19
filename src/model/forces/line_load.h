// Force and moment per length on a beam, constant along it, with axes that stand still or turn with the sections.
//
// Integrated as the beam's own inertia is: by Simpson's rule between two nodes, with the section in the middle as in
// model/beams/two_node.h, and by Lobatto's rule with three.
#pragma once

#include "liedyn/model/batch_of.h"
#include "liedyn/model/beams/screw.h"

namespace liedyn {

template <int Nodes>
struct LineLoad {
  static constexpr int frames = Nodes, rows = 0,
                       constants = 7;  // force and moment times the element's length, 1 if in body axes
  static constexpr Optional optional = {};
  static constexpr bool stiffness = true, damping = false, inertia = false;
  static constexpr double kWeight[3] = {1.0 / 6, 4.0 / 6, 1.0 / 6};

  static std::vector<Attachment> attachments() { return {}; }
  template <class S>
  static void derive(const Inputs<S>& in, S* p);

  // An applied load enters the residual with a minus sign.
  template <class S>
  static void wrench(const World<S>&, const std::array<Motion<S>, frames>& f, const S* p,
                     std::array<Vec6T<S>, frames>& W) {
    std::array<Vec6T<S>, frames> load;
    for (std::size_t i = 0; i < frames; ++i) load[i] = load_at(f[i].R, p);
    if constexpr (Nodes == 3) {
      for (std::size_t i = 0; i < 3; ++i) W[i] = S(-kWeight[i]) * load[i];
    } else {
      const Vec6T<S> c = RelativePose<S>(f[0], f[1]).half;
      const Vec6T<S> F = S(-kWeight[1]) * middle(p, c, load), turned = coadjoint(c, F);
      W[0] = S(-kWeight[0]) * load[0] + S(0.5) * (F - turned);
      W[1] = S(-kWeight[2]) * load[1] + S(0.5) * (F + turned);
    }
  }
  static void partials(const World<double>&, const std::array<Motion<double>, frames>& f, const double* p,
                       ForcePartials<frames>& d);

 private:
  template <class S>
  static Vec6T<S> load_at(const Mat3T<S>& R, const S* p) {
    const Eigen::Map<const Vec3T<S>> force(p), moment(p + 3);
    Vec6T<S> out;
    if (p[6] == S(0))
      out << R.transpose() * force, R.transpose() * moment;
    else
      out << force, moment;
    return out;
  }
  // R_m^T x of an inertial x: uniform translations belong to the interpolation of twists, Q_A (R_A^T x, 0) + Q_B (R_B^T x, 0).
  template <class S>
  static Vec6T<S> middle(const S* p, const Vec6T<S>& c, const std::array<Vec6T<S>, 2>& load) {
    if (p[6] != S(0)) return load[0];
    const Vec3T<S> cw = c.template tail<3>();
    const Vec6T<S> D = load[1] - load[0];
    Vec6T<S> out = load[0] + load[1];
    out.template head<3>() += cw.cross(Vec3T<S>(D.template head<3>()));
    out.template tail<3>() += cw.cross(Vec3T<S>(D.template tail<3>()));
    return S(0.5) * out;
  }
};

ListedKind line_load();

}  // namespace liedyn
