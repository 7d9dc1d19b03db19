// Generic joint: each of the six directions is held or free, places along axes that the first body carries and turns about
// them. The directions held are the shape of an element.
#pragma once

#include "liedyn/model/joints/held_rows.h"

namespace liedyn {

template <int Rows>
struct Generic {
  static constexpr int frames = 2, rows = Rows, constants = kAxesConstants + 1;  // and the directions held
  static constexpr bool across = true;
  static constexpr Optional optional = {.check = true};

  static std::vector<Attachment> attachments(Held held);
  template <class S>
  static void derive(const Inputs<S>& in, S* p);
  static void check(const Inputs<double>& in, std::string& message, std::string& hint);
  static std::string row_name(Held held, int row);

  template <class S>
  static Eigen::Matrix<S, Rows, 1> phi(const std::array<Pose<S>, 2>& f, const S* p) {
    const std::array<HeldRow, 6> list = row_list(p);
    Eigen::Matrix<S, Rows, 1> out;
    for (int i = 0; i < Rows; ++i) out[i] = row_value(list[static_cast<std::size_t>(i)], f, p);
    return out;
  }
  template <class S>
  static void derivatives(const std::array<Motion<S>, 2>& f, const S* p, const S* lambda,
                          JointDerivatives<2, Rows, S>& d) {
    const JointAxes<S> axes(p);
    const std::array<HeldRow, 6> list = row_list(p);
    RowDerivatives<Rows, S> out(f, lambda, d);
    for (int i = 0; i < Rows; ++i) out.held(i, list[static_cast<std::size_t>(i)], axes);
  }

 private:
  template <class S>
  static std::array<HeldRow, 6> row_list(const S* p) {
    // Comparisons, since not every scalar can be turned into bits.
    Held held = 0;
    while (S(static_cast<double>(held)) < p[kAxesConstants]) ++held;
    return held_rows(held);
  }
};

ListedKind generic();

}  // namespace liedyn
