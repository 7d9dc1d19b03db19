// A function of time with its first two derivatives, for constraints that depend on the time.
#pragma once

#include "liedyn/base/dual.h"

namespace liedyn {

using TimeJet = Dual<Dual<double, 1>, 1>;

inline TimeJet time_variable(double t) {
  TimeJet out(t);
  out.v.d[0] = 1;
  out.d[0].v = 1;
  return out;
}
inline double value_of(const TimeJet& x) { return x.v.v; }
inline double rate_of(const TimeJet& x) { return x.v.d[0]; }
inline double second_rate_of(const TimeJet& x) { return x.d[0].d[0]; }

}  // namespace liedyn
