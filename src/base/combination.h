// Linear combinations as few entries of the tape: what a method calculates from step to step, and what is differentiated by hand.
#pragma once

#include "liedyn/base/varied.h"

namespace liedyn {

// A number of a given value whose derivative is a sum of multiples of others: one entry less than it has terms.
class DerivativeSum {
 public:
  void add(double slope, const Varied& x) {
    if (x.id == 0 || slope == 0) return;
    if (first_.id == 0)
      first_ = x, slope_ = slope;
    else if (sum_ == 0)
      sum_ = Tape::current().push(first_.id, slope_, x.id, slope);
    else
      sum_ = Tape::current().push(sum_, 1, x.id, slope);
  }
  Varied of_value(double value) const {
    if (sum_ != 0 || first_.id == 0) return {value, sum_};
    return {value, slope_ == 1 ? first_.id : Tape::current().push(first_.id, slope_)};
  }

 private:
  Varied first_{0};
  double slope_ = 0;
  Tape::Id sum_ = 0;
};

// a x + b y + c z
inline double combination(double a, double x, double b, double y) { return a * x + b * y; }
inline double combination(double a, double x, double b, double y, double c, double z) {
  return a * x + b * y + c * z;
}
inline Varied combination(double a, const Varied& x, double b, const Varied& y) {
  const double f = combination(a, x.v, b, y.v);
  if (x.id != 0 && y.id != 0) return {f, Tape::current().push(x.id, a, y.id, b)};
  DerivativeSum sum;
  sum.add(a, x);
  sum.add(b, y);
  return sum.of_value(f);
}
inline Varied combination(double a, const Varied& x, double b, const Varied& y, double c, const Varied& z) {
  const double f = combination(a, x.v, b, y.v, c, z.v);
  if (x.id != 0 && y.id != 0 && z.id != 0)
    return {f, Tape::current().push(Tape::current().push(x.id, a, y.id, b), 1, z.id, c)};
  DerivativeSum sum;
  sum.add(a, x);
  sum.add(b, y);
  sum.add(c, z);
  return sum.of_value(f);
}

}  // namespace liedyn
