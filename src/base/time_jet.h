// A function of time with its first two derivatives, for constraints that depend on the time.
#pragma once

#include "liedyn/base/dual.h"

namespace liedyn {

template <class S>
using TimeJetOf = Dual<Dual<S, 1>, 1>;
using TimeJet = TimeJetOf<double>;

template <class S>
TimeJetOf<S> constant_in_time(const S& x) {
  return TimeJetOf<S>(Dual<S, 1>(x));
}
// t itself, of rate 1.
template <class S = double>
TimeJetOf<S> time_variable(double t) {
  TimeJetOf<S> out = constant_in_time(S(t));
  out.v.d[0] = S(1);
  out.d[0].v = S(1);
  return out;
}
inline double value_of(const TimeJet& x) { return x.v.v; }
inline double rate_of(const TimeJet& x) { return x.v.d[0]; }
inline double second_rate_of(const TimeJet& x) { return x.d[0].d[0]; }

}  // namespace liedyn
