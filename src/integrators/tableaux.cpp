#include "liedyn/integrators/tableaux.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "liedyn/base/decompositions.h"
#include "liedyn/base/dual.h"

namespace liedyn {
namespace {

using Complex = std::complex<double>;

double binomial(int n, int k) {
  double out = 1;
  for (int i = 1; i <= k; ++i) out = out * (n - k + i) / i;
  return out;
}

// Rows below the first, each up to its diagonal. c follows as the sums of the rows.
Tableau from_rows(int order, const std::vector<std::vector<double>>& rows) {
  const auto s = static_cast<Eigen::Index>(rows.size()) + 1;
  Tableau out;
  out.order = order;
  out.A = Eigen::MatrixXd::Zero(s, s);
  for (Eigen::Index i = 1; i < s; ++i) {
    const std::vector<double>& row = rows[static_cast<std::size_t>(i - 1)];
    for (std::size_t j = 0; j < row.size(); ++j) out.A(i, static_cast<Eigen::Index>(j)) = row[j];
  }
  out.c = out.A.rowwise().sum();
  return out;
}

// A row with the sum c whose first entry is what the others leave.
std::vector<double> row_of_sum(double c, std::vector<double> others) {
  double first = c;
  for (const double x : others) first -= x;
  others.insert(others.begin(), first);
  return others;
}

Eigen::VectorXd weights(const std::vector<double>& b) {
  return Eigen::Map<const Eigen::VectorXd>(b.data(), static_cast<Eigen::Index>(b.size()));
}

double largest_coefficient(const Tableau& t) {
  const double most = t.A.cwiseAbs().maxCoeff();
  return std::isfinite(t.A.sum()) ? most : std::numeric_limits<double>::infinity();
}

}  // namespace

std::complex<double> Tableau::stability(std::complex<double> z) const {
  const Eigen::Index s = c.size();
  const Eigen::MatrixXcd system = Eigen::MatrixXcd::Identity(s, s) - z * A.cast<Complex>();
  const Eigen::VectorXcd stage_values = system.partialPivLu().solve(Eigen::VectorXcd::Ones(s));
  return stage_values[s - 1];  // stiffly accurate: R is the last stage
}

double Tableau::damping_at_infinity() const {
  // The stages of y' = lambda y, lambda -> infinity: A^ Y = -a_1 y_0 with A^ the implicit part and a_1 its first column.
  const Eigen::Index s = c.size() - 1;
  const Eigen::VectorXd stage_values = A.bottomRightCorner(s, s).partialPivLu().solve(-A.col(0).tail(s));
  return stage_values[s - 1];
}

// gamma = (2 - sqrt(2 (1 + rho))) / (2 (1 - rho)), Eq. (7), without the quotient that is 0/0 at rho = 1.
Tableau bathe(double rho) {
  const double g = 1 / (2 + std::sqrt(2 * (1 + rho)));
  return from_rows(2, {{g, g}, {-(4 * g * g - 6 * g + 1) / (4 * g), (1 - 2 * g) / (4 * g), g}});
}

namespace {

// R(z) = (1 + a_1 z + ... + a_n z^n)/(1 - gamma z)^n of MSSTC(n).
struct SubstepStability {
  double gamma;
  std::array<double, 6> a;
};

// a_1, a_2 give second order, a_n = rho gamma^n the damping at infinity. gamma and a_3 ... a_{n-1} make |R| on the imaginary axis as flat
// as possible: the coefficients c_4 ... c_{2n-2} of |1 - gamma i t|^{2n} - |P(i t)|^2 vanish,
//   c_2j = C(n, j) gamma^2j + (-1)^(j+1) sum_m (-1)^m a_m a_{2j-m},  j = 2 ... n-1.
template <class S>
void flatness(int n, double rho, const S& gamma, const S* free, S* a, S* residual) {
  S power(1);
  for (int i = 0; i < n; ++i) power *= gamma;
  a[0] = S(1);
  a[1] = S(1) - S(n) * gamma;
  a[2] = S(0.5) - S(n) * gamma + S(n * (n - 1) / 2) * gamma * gamma;
  for (int m = 3; m < n; ++m) a[m] = free[m - 3];
  a[n] = S(rho) * power;
  S even(gamma * gamma);
  for (int j = 2; j < n; ++j) {
    even *= gamma * gamma;
    S sum(0);
    for (int m = std::max(0, 2 * j - n); m <= std::min(n, 2 * j); ++m)
      sum += S(m % 2 == 0 ? 1 : -1) * a[m] * a[2 * j - m];
    residual[j - 2] = S(binomial(n, j)) * even + S(j % 2 == 0 ? -1 : 1) * sum;
  }
}

// From rho = 1, where n trapezoidal steps solve the equations (gamma = 1/(2n), a_m = C(n, m) gamma^m), down to rho: the branch with gamma
// near 1/(2n).
SubstepStability flattest(int n, double rho) {
  constexpr int kContinuationSteps = 20, kNewtonSteps = 6;
  using S = Dual<double, 3>;
  const int unknowns = n - 2;
  std::array<double, 3> x = {};  // gamma, a_3 ... a_{n-1}
  x[0] = 0.5 / n;
  for (int m = 3; m < n; ++m) x[static_cast<std::size_t>(m - 2)] = binomial(n, m) * std::pow(x[0], m);
  SubstepStability out{};
  for (int step = 1; step <= kContinuationSteps; ++step) {
    const double now = 1 - (1 - rho) * step / kContinuationSteps;
    for (int newton = 0; newton < kNewtonSteps; ++newton) {
      std::array<S, 3> at, residual{};
      std::array<S, 6> a{};
      for (std::size_t i = 0; i < 3; ++i) at[i] = S(x[i]), at[i].d[i] = 1;
      flatness<S>(n, now, at[0], at.data() + 1, a.data(), residual.data());
      Eigen::MatrixXd J(unknowns, unknowns);
      Eigen::VectorXd r(unknowns);
      for (int i = 0; i < unknowns; ++i) {
        const S& value = residual[static_cast<std::size_t>(i)];
        r[i] = value.v;
        for (int j = 0; j < unknowns; ++j) J(i, j) = value.d[static_cast<std::size_t>(j)];
      }
      const Eigen::VectorXd d = J.fullPivLu().solve(r);
      for (int i = 0; i < unknowns; ++i) x[static_cast<std::size_t>(i)] -= d[i];
    }
  }
  std::array<double, 3> residual{};
  out.gamma = x[0];
  flatness<double>(n, rho, x[0], x.data() + 1, out.a.data(), residual.data());
  return out;
}

}  // namespace

Tableau trapezoidal_substeps(int n, double rho) {
  const auto [g, a] = flattest(n, rho);
  // The stages before the last are trapezoidal sub-steps, with the stability functions T^i, T = (1 + x)/(1 - x), x = gamma z. With the
  // weights q_0 ... q_{n-1}, gamma the last one has (1 - x) R = 1 + z sum_i q_i T^i; multiplied by (1 - x)^(n-1), this is
  //   sum_i q_i (1 + x)^i (1 - x)^(n-1-i) = sum_m p_m x^m,   p_{m-1} = gamma (a_m/gamma^m - (-1)^m C(n-1, m)),
  // and x = (t - 1)/(t + 1) turns it into sum_i q_i t^i = 2^(1-n) sum_m p_m (t - 1)^m (t + 1)^(n-1-m).
  std::vector<double> q(static_cast<std::size_t>(n), 0.0);
  double power = 1;
  for (int m = 0; m < n; ++m) {
    power *= g;
    const double p = g * (a[static_cast<std::size_t>(m + 1)] / power +
                          (m % 2 == 0 ? 1 : -1) * (m + 1 < n ? binomial(n - 1, m + 1) : 0));
    std::vector<double> product = {1};  // (t - 1)^m (t + 1)^(n-1-m), lowest power first
    for (int factor = 0; factor < n - 1; ++factor) {
      product.push_back(0);
      for (std::size_t i = product.size() - 1; i > 0; --i)
        product[i] = product[i - 1] + (factor < m ? -1 : 1) * product[i];
      product[0] *= factor < m ? -1 : 1;
    }
    for (std::size_t i = 0; i < q.size(); ++i) q[i] += std::ldexp(p * product[i], 1 - n);
  }
  std::vector<std::vector<double>> rows;
  for (int i = 1; i < n; ++i) {
    rows.emplace_back(static_cast<std::size_t>(i) + 1, 2 * g);
    rows.back().front() = rows.back().back() = g;
  }
  q.push_back(g);
  rows.push_back(q);
  return from_rows(2, rows);
}

namespace {

// gamma of MSSTH(n), the branch of
//   sum_j (-1)^j C(n, j) gamma^j/(n - j)! = (-1)^n R(inf) gamma^n
// that begins at rho = 0 with the smallest A-stable root; R(inf) = rho, -rho for n = 5. (Table 7 of the paper prints those of
// MSSTC(3) in the column of MSSTH(3), with which that method is unstable.)
double high_order_gamma(int n, double rho) {
  constexpr int kContinuationSteps = 20, kNewtonSteps = 6;
  double g = n == 3 ? 0.43586652150845899942 : n == 4 ? 0.57281606248213485541 : 0.27805384113645232493;
  const double sign = n == 3 ? -1 : 1;
  for (int step = 0; step <= kContinuationSteps; ++step)
    for (int newton = 0; newton < kNewtonSteps; ++newton) {
      Dual<double, 1> x(g), sum(0.0), power(1.0);
      x.d[0] = 1;
      for (int j = 0; j <= n; ++j) {
        sum += Dual<double, 1>((j % 2 == 0 ? 1 : -1) * binomial(n, j) / std::tgamma(n - j + 1)) * power;
        if (j < n) power *= x;
      }
      sum -= Dual<double, 1>(sign * rho * step / kContinuationSteps) * power;
      g -= sum.v / sum.d[0];
    }
  return g;
}

// Eqs. (30), (31).
Tableau high_order_3(double g) {
  const double c3 = (24 * g * g - 20 * g + 3) / (24 * g * g - 24 * g + 4);
  const double a32 = c3 * (c3 - 2 * g) / (4 * g);
  const double b2 = (3 * c3 + 6 * g - 6 * c3 * g - 2) / (12 * g * (c3 - 2 * g));
  const double b3 = (6 * g * g - 6 * g + 1) / (3 * c3 * (c3 - 2 * g));
  return from_rows(3, {{g, g}, row_of_sum(c3, {a32, g}), row_of_sum(1, {b2, b3, g})});
}

// Eqs. (32), (33).
Tableau high_order_4(double g, double c3, double c4) {
  const double g2 = g * g, g3 = g2 * g;
  const double eta1 = 48 * (1 - c4) * g3 + 8 * (3 * c3 * c3 - 6 * c3 + 9 * c4 - 5) * g2 +
                      6 * (-4 * c3 * c3 + 6 * c3 - 4 * c4 + 1) * g + 4 * c3 * c3 - 5 * c3 + 2 * c4;
  const double eta2 = 48 * (1 - c3) * g3 + 8 * (3 * c3 * c3 + 3 * c3 - 5) * g2 +
                      6 * (-4 * c3 * c3 + 2 * c3 + 1) * g + 4 * c3 * c3 - 3 * c3;
  const double a32 = c3 * (c3 - 2 * g) / (4 * g);
  const double a42 = c4 * (c4 - 2 * g) * eta1 / (4 * g * eta2);
  const double a43 = (c4 * c4 - 4 * a42 * g - 2 * c4 * g) / (2 * c3);
  const double b2 = -(12 * (c3 * c4 - c3 - c4 + 1) * g + 4 * c3 + 4 * c4 - 6 * c3 * c4 - 3) /
                    (24 * g * (c3 - 2 * g) * (c4 - 2 * g));
  const double b3 =
      (24 * (c4 - 1) * g2 + 4 * (5 - 6 * c4) * g + 4 * c4 - 3) / (12 * c3 * (c4 - c3) * (c3 - 2 * g));
  const double b4 =
      -(24 * (c3 - 1) * g2 + 4 * (5 - 6 * c3) * g + 4 * c3 - 3) / (12 * c4 * (c4 - c3) * (c4 - 2 * g));
  return from_rows(
      4, {{g, g}, row_of_sum(c3, {a32, g}), row_of_sum(c4, {a42, a43, g}), row_of_sum(1, {b2, b3, b4, g})});
}

// Eqs. (34), (35); eta_7 = eta_2 and eta_10 = eta_6 there.
Tableau high_order_5(double g, double c3, double c4) {
  const double g2 = g * g, g3 = g2 * g, g4 = g3 * g, g5 = g4 * g;
  const double eta1 = 240 * (1 - c4) * g4 + 40 * (3 * c3 * c3 - 6 * c3 + 12 * c4 - 7) * g3 +
                      20 * (-9 * c3 * c3 + 13 * c3 - 12 * c4 + 4) * g2 +
                      (60 * c3 * c3 - 70 * c3 + 40 * c4 - 6) * g - 5 * c3 * c3 + 5 * c3 - 2 * c4;
  const double eta2 = 120 * (1 - c3) * g3 + 20 * (9 * c3 - 7) * g2 + 20 * (2 - 3 * c3) * g + 5 * c3 - 3;
  const double eta3 = -720 * g5 + (360 * c3 + 848) * g4 + (-336 * c3 - 368) * g3 + (120 * c3 + 64) * g2 +
                      (-18 * c3 - 4) * g + c3;
  const double eta4 = -480 * g5 + (240 * c3 + 600) * g4 + (-240 * c3 - 288) * g3 + (96 * c3 + 56) * g2 +
                      (-16 * c3 - 4) * g + c3;
  const double c5 = eta3 / eta4;
  const double eta5 = 120 * (-c4 * c4 + 2 * c4 - c3 - c5 + c3 * c5) * g3 +
                      20 * (9 * c4 * c4 - 15 * c4 + 8 * c3 + 7 * c5 - 9 * c3 * c5) * g2 +
                      10 * (-6 * c4 * c4 + 9 * c4 - 5 * c3 - 4 * c5 + 6 * c3 * c5) * g + 5 * c4 * c4 -
                      7 * c4 + 4 * c3 + 3 * c5 - 5 * c3 * c5;
  const auto eta = [&](double x, double y) {  // eta_6, eta_8, eta_9 of two abscissae
    return 120 * (x + y - x * y - 1) * g2 + 10 * (12 * x * y - 10 * y - 10 * x + 9) * g + 15 * x + 15 * y -
           20 * x * y - 12;
  };
  const double eta6 = eta(c3, c4);
  const double a32 = c3 * (c3 - 2 * g) / (4 * g);
  const double a42 = -c4 * (c4 - 2 * g) * eta1 / (4 * g * (c3 - 2 * g) * eta2);
  const double a43 = (c4 * c4 - 4 * a42 * g - 2 * c4 * g) / (2 * c3);
  const double a53 = c5 * (c5 - c3) * (c5 - 2 * g) * eta5 / (c3 * (c4 - c3) * (c3 - 2 * g) * eta6);
  const double a54 =
      c5 * (c5 - c3) * (c5 - c4) * (c5 - 2 * g) * eta2 / (c4 * (c4 - c3) * (c4 - 2 * g) * eta6);
  const double a52 = (c5 * c5 - 2 * a53 * c3 - 2 * a54 * c4 - 2 * c5 * g) / (4 * g);
  const double b3 = -eta(c4, c5) / (60 * c3 * (c4 - c3) * (c5 - c3) * (c3 - 2 * g));
  const double b4 = eta(c3, c5) / (60 * c4 * (c4 - c3) * (c5 - c4) * (c4 - 2 * g));
  const double b5 = -eta6 / (60 * c5 * (c5 - c3) * (c5 - c4) * (c5 - 2 * g));
  const double b2 = (1 - 2 * g - 2 * b3 * c3 - 2 * b4 * c4 - 2 * b5 * c5) / (4 * g);
  return from_rows(5, {{g, g},
                       row_of_sum(c3, {a32, g}),
                       row_of_sum(c4, {a42, a43, g}),
                       row_of_sum(c5, {a52, a53, a54, g}),
                       row_of_sum(1, {b2, b3, b4, b5, g})});
}

// Table 7, rho = 0, 0.1, ..., 1; the last c4 of both methods, missing there, from the methods' first implementation.
struct Abscissae {
  double c3_of_4, c4_of_4, c4_of_5;
};
constexpr std::array<Abscissae, 11> kTable7 = {{
    {0.5590985754229417305152542, 0.7414011664833654036144139, 0.9673258605571696255864822},
    {0.6002938888698324121975147, 0.7584129875780372120885886, 0.9085500184865173967097007},
    {0.6385228144891605953328610, 0.7731436659604612460228168, 0.8510912674088796370241994},
    {0.6752454071331807752264900, 0.7860312064122737529814344, 0.7951780419709296721109126},
    {0.7116626313535582440037008, 0.7972514819203143643377985, 0.7409689864721386021173544},
    {0.7489373901316857945701066, 0.8067140747427041791439706, 0.6885609787040850582329199},
    {0.7884370115210036155119526, 0.8139662529419134928687640, 0.6379972790560722861741283},
    {0.8321495959968309360981758, 0.8179301032006714988753515, 0.5892756783804685705163706},
    {0.8836585039419085905336449, 0.8162478946500242305006623, 0.5423562209596147765111596},
    {0.9508833135343227253337252, 0.8036295352568830763217989, 0.4971683414199104533715001},
    {1.0534803411702867301702400, 0.7689305362617052663765094, 0.4536172576687555468843982},
}};

}  // namespace

Tableau high_order_substeps(int n, double rho) {
  const double g = high_order_gamma(n, rho);
  if (n == 3) return high_order_3(g);
  constexpr double kPrintedC3 = 0.1, kOtherC3 = 0.2;
  const auto with = [&](const Abscissae& at, double c3_of_5) {
    return n == 4 ? high_order_4(g, at.c3_of_4, at.c4_of_4) : high_order_5(g, c3_of_5, at.c4_of_5);
  };
  const auto row = std::min<std::size_t>(static_cast<std::size_t>(rho * 10 + 1e-9), kTable7.size() - 2);
  const Abscissae &below = kTable7[row], &above = kTable7[row + 1];
  const double part = 10 * rho - static_cast<double>(row);
  constexpr double kRounding = 1e-9;
  if (part < kRounding) return with(below, kPrintedC3);
  if (part > 1 - kRounding) return with(above, kPrintedC3);
  const auto between = [&](double x, double y) { return x + part * (y - x); };
  const Abscissae middle = {between(below.c3_of_4, above.c3_of_4), between(below.c4_of_4, above.c4_of_4),
                            between(below.c4_of_5, above.c4_of_5)};
  // Between the rows two abscissae may meet (or eta_2 of MSSTH(5) vanish), where the coefficients are infinite. Order and stability do not depend
  // on c3 and c4: there the first choice is taken that does not lose more than two digits, or the one that loses least.
  constexpr double kLargest = 100;
  Tableau best = with(middle, kPrintedC3);
  for (const Tableau& other : {with(below, kPrintedC3), with(above, kPrintedC3), with(middle, kOtherC3)})
    if (largest_coefficient(best) > kLargest && largest_coefficient(other) < largest_coefficient(best))
      best = other;
  return best;
}

Tableau esdirk3_4() {
  const double g = 0.4358665215084589994160194511935568425293, c3 = 0.6;
  const double a32 = c3 * (c3 - 2 * g) / (4 * g);
  const double b2 = (-2 + 3 * c3 + 6 * g * (1 - c3)) / (12 * g * (c3 - 2 * g));
  const double b3 = (1 - 6 * g + 6 * g * g) / (3 * c3 * (c3 - 2 * g));
  Tableau out = from_rows(3, {{g, g}, row_of_sum(c3, {a32, g}), row_of_sum(1, {b2, b3, g})});
  out.embedded =
      weights({0.1088966176158644541561307380704960821824, -0.9153258118707127534816380978168183454991,
               1.271273597302152167844715894135642876535, 0.5351555969526961314807914656106793867813});
  out.embedded_order = 2;
  return out;
}

Tableau esdirk3_5() {
  const double s = std::sqrt(2.0), g = 9.0 / 40;
  const double a3 = 9 * (1 + s) / 80, a4 = (22 + 15 * s) / (80 * (1 + s)),
               b1 = (2398 + 1205 * s) / (2835 * (4 + 3 * s));
  Tableau out = from_rows(3, {{g, g},
                              {a3, a3, g},
                              {a4, a4, -7 / (40 * (1 + s)), g},
                              {b1, b1, -2374 * (1 + 2 * s) / (2835 * (5 + 3 * s)), 5827.0 / 7560, g}});
  const double e1 = (5547709 * s - 4800247) / 16519545;
  out.embedded = weights({e1, e1, 11095418 * (1 - s) / 16519545, 30698249.0 / 44052120, 49563.0 / 233080});
  out.embedded_order = 2;
  return out;
}

Tableau esdirk4_6() {
  const double g = 31.0 / 125;
  const double a3 = -360286518617.0 / 7014585480527.0, a4 = -506388693497.0 / 5937754990171.0,
               a5 = -7628305438933.0 / 11061539393788.0, b1 = -12917657251.0 / 5222094901039.0;
  Tableau out =
      from_rows(4, {{g, g},
                    {a3, a3, g},
                    {a4, a4, 7149918333491.0 / 13390931526268.0, g},
                    {a5, a5, 21592626537567.0 / 14352247503901.0, 11630056083252.0 / 17263101053231.0, g},
                    {b1, b1, 5602338284630.0 / 15643096342197.0, 9002339615474.0 / 18125249312447.0,
                     -2420307481369.0 / 24731958684496.0, g}});
  const double e1 = -1007911106287.0 / 12117826057527.0;
  out.embedded = weights({e1, e1, 17694008993113.0 / 35931961998873.0, 5816803040497.0 / 11256217655929.0,
                          -538664890905.0 / 7490061179786.0, 2032560730450.0 / 8872919773257.0});
  out.embedded_order = 3;
  return out;
}

// Explicit methods: the last row is that of the weights, and the stage there begins the next step.

Tableau rk44() { return from_rows(4, {{0.5}, {0, 0.5}, {0, 0, 1}, {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6}}); }

Tableau ode23() {
  Tableau out = from_rows(3, {{0.5}, {0, 0.75}, {2.0 / 9, 1.0 / 3, 4.0 / 9}});
  out.embedded = weights({7.0 / 24, 0.25, 1.0 / 3, 0.125});
  out.embedded_order = 2;
  return out;
}

Tableau dopri5() {
  Tableau out = from_rows(5, {{0.2},
                              {3.0 / 40, 9.0 / 40},
                              {44.0 / 45, -56.0 / 15, 32.0 / 9},
                              {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
                              {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
                              {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}});
  out.embedded =
      weights({5179.0 / 57600, 0, 7571.0 / 16695, 393.0 / 640, -92097.0 / 339200, 187.0 / 2100, 1.0 / 40});
  out.embedded_order = 4;
  // Shampine's interpolant of fourth order, as Hairer, Norsett and Wanner use it.
  out.quartic =
      weights({-12715105075.0 / 11282082432, 0, 87487479700.0 / 32700410799, -10690763975.0 / 1880347072,
               701980252875.0 / 199316789632, -1453857185.0 / 822651844, 69997945.0 / 29380423});
  return out;
}

Tableau rk67() {
  const double s = std::sqrt(5.0);
  return from_rows(6, {{(5 - s) / 10},
                       {-s / 10, (5 + 2 * s) / 10},
                       {(7 * s - 15) / 20, (s - 1) / 4, (15 - 7 * s) / 10},
                       {(5 - s) / 60, 0, 1.0 / 6, (15 + 7 * s) / 60},
                       {(5 + s) / 60, 0, (9 - 5 * s) / 12, 1.0 / 6, (3 * s - 5) / 10},
                       {1.0 / 6, 0, (25 * s - 55) / 12, -(25 + 7 * s) / 12, 5 - 2 * s, (5 + s) / 2},
                       {1.0 / 12, 0, 0, 0, 5.0 / 12, 5.0 / 12, 1.0 / 12}});
}

Eigen::VectorXd Tableau::weights_at(double s) const {
  // Cubic Hermite between the ends: theta = s^2 (3 - 2 s) b + (s (1 - s)^2 for the first, -s^2 (1 - s) for the last slope)
  Eigen::VectorXd out = s * s * (3 - 2 * s) * b();
  out[0] += s * (1 - s) * (1 - s);
  out[c.size() - 1] -= s * s * (1 - s);
  if (quartic.size() > 0) out += s * s * (1 - s) * (1 - s) * quartic;
  return out;
}

namespace {

// A rooted tree by what it contributes to an order condition, b . stages = 1/density.
struct Tree {
  Eigen::VectorXd stages;  // the product over its branches of A times their stages; e for a single node
  double density = 1;      // nodes times the densities of the branches
  double symmetry = 1;     // ways to exchange equal branches, times the symmetries of the branches
};

// Trees by their number of nodes, from 1 up to `order`: a tree of n nodes is a set of branches with n - 1.
std::vector<std::vector<Tree>> rooted_trees(const Eigen::MatrixXd& A, int order) {
  std::vector<std::vector<Tree>> trees(static_cast<std::size_t>(order));
  trees[0].push_back({Eigen::VectorXd::Ones(A.rows())});
  for (int nodes = 2; nodes <= order; ++nodes) {
    std::vector<Tree>& grown = trees[static_cast<std::size_t>(nodes - 1)];
    // Branches in descending order, so that every set is met once; `equal` of them are like the last one.
    const auto attach = [&](const auto& self, const Tree& root, int left, std::size_t size, std::size_t kind,
                            int equal) -> void {
      if (left == 0) {
        grown.push_back(root);
        return;
      }
      for (std::size_t n = std::min(size, static_cast<std::size_t>(left)); n >= 1; --n) {
        const std::size_t last = n == size ? kind : trees[n - 1].size() - 1;
        for (std::size_t k = 0; k <= last; ++k) {
          const Tree& branch = trees[n - 1][k];
          const int alike = n == size && k == kind ? equal + 1 : 1;
          self(self,
               Tree{root.stages.cwiseProduct(A * branch.stages), root.density * branch.density,
                    root.symmetry * branch.symmetry * alike},
               left - static_cast<int>(n), n, k, alike);
        }
      }
    };
    const auto largest = static_cast<std::size_t>(nodes - 1);
    attach(attach, Tree{Eigen::VectorXd::Ones(A.rows()), static_cast<double>(nodes)}, nodes - 1, largest,
           trees[largest - 1].size() - 1, 0);
  }
  return trees;
}

}  // namespace

std::vector<double> order_residuals(const Tableau& t, const Eigen::VectorXd& b, int order, double at) {
  std::vector<double> out;
  const std::vector<std::vector<Tree>> trees = rooted_trees(t.A, order);
  for (const Tree& tree : trees.back())
    out.push_back((b.dot(tree.stages) - std::pow(at, order) / tree.density) / tree.symmetry);
  return out;
}

Eigen::MatrixXcd MultistepFormula::amplification(std::complex<double> x) const {
  Eigen::MatrixXcd companion = Eigen::MatrixXcd::Zero(steps, steps);
  for (int j = 0; j < steps; ++j) {
    const auto k = static_cast<std::size_t>(j + 1);
    companion(0, j) = (alpha[k] + x * beta[k]) / (1.0 - x * beta[0]);
    if (j > 0) companion(j, j - 1) = 1;
  }
  return companion;
}

double MultistepFormula::defect(int p) const {
  // y_k at t = 0, the points before it at -1, -2, ...
  double sum = p == 0 ? 1 : 0;
  for (int j = 0; j <= steps; ++j) {
    const auto k = static_cast<std::size_t>(j);
    sum -= alpha[k] * std::pow(-j, p);
    if (p > 0) sum -= beta[k] * p * std::pow(-j, p - 1);
  }
  return sum / std::tgamma(p + 1);
}

MultistepFormula trapezoidal_rule() { return {1, {0, 1}, {0.5, 0.5}}; }

namespace {

// The factors g_i z + 1 - g_i of the first characteristic polynomial besides z - 1: g_i = (1 + b_i (1 - rho))/(1 + rho), with the roots
// b_i of sum_k (-1)^k C(r-1, k)/C(2r-2, k) b^(r-1-k) = 0.
std::vector<Complex> polynomial_factors(int r, double rho) {
  std::vector<Complex> b;
  if (r == 2) b = {0.5};
  if (r == 3) b = {{0.25, std::sqrt(15.0) / 12}, {0.25, -std::sqrt(15.0) / 12}};
  if (r == 4) {
    const double u = std::cbrt(35 * (10 + 3 * std::sqrt(15.0)));
    const double real = 1.0 / 6 + u / 30 - 35 / (30 * u);
    // b^3 - b^2/2 + b/5 - 1/20: the other two roots have the sum 1/2 - real and the product 1/(20 real).
    const double half = (0.5 - real) / 2, imaginary = std::sqrt(1 / (20 * real) - half * half);
    b = {{half, imaginary}, {half, -imaginary}, real};
  }
  for (Complex& g : b) g = (1.0 + g * (1 - rho)) / (1 + rho);
  return b;
}

}  // namespace

// (z - 1) prod_i (g_i z + 1 - g_i) y = h ((z + rho)/(1 + rho))^r y': second order, all roots at infinity at -rho, the boundary locus as
// flat as possible.
MultistepFormula damped_multistep(int r, double rho) {
  std::vector<Complex> first = {1, -1};  // highest power first
  for (const Complex& g : polynomial_factors(r, rho)) {
    std::vector<Complex> product(first.size() + 1);
    for (std::size_t i = 0; i < first.size(); ++i) {
      product[i] += g * first[i];
      product[i + 1] += (1.0 - g) * first[i];
    }
    first = product;
  }
  MultistepFormula out;
  out.steps = r;
  const double lead = first[0].real();
  for (int j = 0; j <= r; ++j) {
    const auto k = static_cast<std::size_t>(j);
    out.alpha[k] = j == 0 ? 0.0 : -first[k].real() / lead;
    out.beta[k] = binomial(r, j) * std::pow(rho, j) / (std::pow(1 + rho, r) * lead);
  }
  return out;
}

MultistepFormula damped_two_step(double rho, double ratio) {
  const double damped = (1 - rho) * (1 - rho);
  const double denominator = 2 * (1 + ratio) - damped;
  const double beta = ratio * (damped * (2 + ratio) + 2 * (2 * rho - 1) * (1 + ratio)) / denominator;
  const double delta = ratio * ratio * damped / (2 * denominator);
  // In terms of the new step, which is `ratio` times the old one.
  return {2,
          {0, 1 - beta, beta},
          {(delta / ratio + ratio / 2) / ratio, (beta / 2 + ratio / 2 - delta * (1 + ratio) / ratio) / ratio,
           (beta / 2 + delta) / ratio}};
}

SingleStepFormula damped_single_step(int r, double rho) {
  return {1 / (1 + rho), polynomial_factors(r, rho)};
}

}  // namespace liedyn
