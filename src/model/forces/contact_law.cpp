#include "liedyn/model/forces/contact_law.h"

#include <fmt/format.h>

namespace liedyn {
namespace {

// (ln(1 + x) - x)/x^2, by its series -1/2 + x/3 - x^2/4 + ... where the difference would cancel.
template <class S>
S log_remainder(const S& x) {
  using std::log;
  if (x > S(0.1) || x < S(-0.1)) return (log(1 + x) - x) / (x * x);
  S sum(0);
  for (int k = 18; k >= 2; --k) sum = S((k % 2 == 0 ? -1.0 : 1.0) / k) + x * sum;
  return sum;
}

// With L(x) = (ln(1 + x) - x)/x^2 the equation of the restitution is e^2 L(-e x) - L(x) = 0; its left side falls with x from (1 - e^2)/2
// at x = 0 without bound towards x = 1/e.
template <class S>
S restitution_residual(const S& x, const S& e) {
  return e * e * log_remainder(S(-e * x)) - log_remainder(x);
}

Field number(std::string name, std::string unit, std::string summary, std::vector<double> defaults,
             Range range, bool required = false) {
  return {.name = std::move(name),
          .type = FieldType::Number,
          .unit = std::move(unit),
          .summary = std::move(summary),
          .required = required,
          .defaults = std::move(defaults),
          .range = range};
}

}  // namespace

template <class S>
S damping_of_restitution(const S& e) {
  const double restitution = value(e);
  constexpr double kPlastic = 0.02;  // below, 1 - e x < e^-49 is nothing beside 1
  if (restitution < kPlastic) return 1 / e;
  if (!(restitution < 1))
    return S(1.5) * (S(1) - e);  // x = 3/2 (1 - e) + ... has the right derivative at e = 1
  double low = 0, high = 1 / restitution;
  for (int i = 0; i < 200 && high - low > 1e-17 * high; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (restitution_residual(middle, restitution) > 0 ? low : high) = middle;
  }
  // A step of Newton's method with numbers that have derivatives: x' = -(dF/de) e'/(dF/dx).
  using Slope = Dual<double, 1>;
  const Slope along = restitution_residual(seed<1>(low, 0), Slope(restitution));
  return S(low) - restitution_residual(S(low), e) / S(along.d[0]);
}
template double damping_of_restitution<double>(const double&);
template Varied damping_of_restitution<Varied>(const Varied&);

std::vector<Field> normal_fields(double exponent, const ContactUnits& units) {
  return {
      number("stiffness", units.stiffness, "Stiffness k of the force k d^n of the penetration d.", {},
             Range::Positive, true),
      number("exponent", "", "Exponent n, at least 1: 1 is linear, 1.5 the contact of two spheres (Hertz).",
             {exponent}, Range::Positive),
      number("damping", units.damping,
             "Factor a of the damping: the force is k d^n (1 + a d'), never below 0.", {},
             Range::NonNegative),
      number(
          "restitution", "",
          "Instead of `damping`: speed after an impact divided by the speed before it, above 0 and at most "
          "1, at `impact_speed`.",
          {}, Range::Positive),
      number("impact_speed", units.speed, "Speed before the impact that `restitution` belongs to.", {},
             Range::Positive)};
}

std::vector<Field> friction_fields() {
  return {
      number("friction", "",
             "Coefficient of friction while it slides. The friction acts in the middle of the penetration d, "
             "d/2 below the undeformed surfaces.",
             {0}, Range::NonNegative),
      number("static_friction", "", "Coefficient near rest; the same if not given.", {}, Range::NonNegative),
      number("smoothing", "m/s",
             "Sliding speed below which the friction falls smoothly to 0; required with `friction`.", {},
             Range::Positive),
      number("stribeck", "m/s",
             "Speed at which the coefficient falls from static_friction to friction; ten times "
             "`smoothing` if not given.",
             {}, Range::Positive)};
}

void check_normal(const Inputs<double>& in, int first, std::string& message, std::string& hint) {
  const double exponent = in.number(first + 1);
  if (exponent < 1) {
    message = fmt::format("exponent: must be at least 1, got {}", exponent);
    hint = "1 is a linear spring, 1.5 the contact of two spheres";
    return;
  }
  if (!in.stored(first + 3)) return;
  const double restitution = in.number(first + 3);
  if (restitution > 1) {
    message = fmt::format("restitution: must be at most 1, got {}", restitution);
    hint = "1 is an impact without losses";
  } else if (in.stored(first + 2)) {
    message = "damping and restitution: both are given";
    hint = "the restitution determines the damping: leave one of them out";
  } else if (!in.stored(first + 4)) {
    message = "impact_speed: missing: the restitution depends on the speed of the impact";
    hint = "give the speed at which the restitution was measured";
  }
}

void check_friction(const Inputs<double>& in, int first, std::string& message, std::string& hint) {
  const bool rubs = in.number(first) > 0 || (in.stored(first + 1) && in.number(first + 1) > 0);
  if (!rubs || in.stored(first + 2)) return;
  message = "smoothing: missing: friction needs a speed below which it falls smoothly to 0";
  hint = "a thousandth of the sliding speeds that matter, for example";
}

}  // namespace liedyn
