// A force of one's own: the drag of a sphere, F = -c |v| v at the centre of mass.
#pragma once

#include <liedyn/liedyn.h>

struct Drag {
  enum Fields { kOn, kCoefficient };  // in the order of the list below
  static constexpr int frames = 1, constants = 1;
  static constexpr liedyn::Optional optional = {};

  static std::vector<liedyn::Attachment> attachments() {
    return {{.body_field = kOn, .place = liedyn::Attachment::Place::CenterOfMass}};
  }
  template <class S>
  static void derive(const liedyn::Inputs<S>& in, S* p) {
    p[0] = in.number(kCoefficient);
  }
  // W = -F in body axes. Without motion |v| has no derivative: the force is zero there.
  template <class S>
  static void wrench(const liedyn::World<S>&, const std::array<liedyn::Motion<S>, 1>& f, const S* p,
                     std::array<liedyn::Vec6T<S>, 1>& W) {
    using std::sqrt;
    const liedyn::Vec3T<S> v = f[0].V.template head<3>();
    const S square = v.squaredNorm();
    W[0].setZero();
    if (square > S(0)) W[0].template head<3>() = p[0] * sqrt(square) * v;
  }
};

inline void register_drag() {
  liedyn::register_force({{"drag",
                           "Drag that grows with the square of the speed.",
                           {{.name = "on",
                             .type = liedyn::FieldType::Body,
                             .unit = "",
                             .summary = "The body.",
                             .required = true},
                            {.name = "coefficient",
                             .type = liedyn::FieldType::Number,
                             .unit = "kg/m",
                             .summary = "c in F = -c |v| v.",
                             .required = true,
                             .range = liedyn::Range::NonNegative}}},
                          &liedyn::make_batch<liedyn::Automatic<Drag>>});
}
