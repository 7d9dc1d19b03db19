#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>

#include "liedyn/analyses/eigenvalues.h"
#include "liedyn/analyses/mode_pairs.h"
#include "liedyn/base/decompositions.h"

namespace liedyn {
namespace {

using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::VectorXcd;
using Eigen::VectorXd;
using Complex = std::complex<double>;

// s = +-i omega, or real if omega^2 < 0.
void add_square(double square, const VectorXcd& y, std::vector<ModePair>& out) {
  if (square > 0) {
    out.push_back({Complex(0, std::sqrt(square)), y});
  } else {
    out.push_back({Complex(std::sqrt(-square), 0), y});
    out.push_back({Complex(-std::sqrt(-square), 0), y});
  }
}

// A X = B with rows and columns of A brought to the size 1.
MatrixXd equilibrated_solve(const MatrixXd& A, const MatrixXd& B) {
  VectorXd row = A.cwiseAbs().rowwise().maxCoeff().cwiseMax(1e-300).cwiseInverse();
  MatrixXd scaled = row.asDiagonal() * A;
  const VectorXd column = scaled.cwiseAbs().colwise().maxCoeff().transpose().cwiseMax(1e-300).cwiseInverse();
  scaled = scaled * column.asDiagonal();
  return column.asDiagonal() * scaled.partialPivLu().solve(row.asDiagonal() * B);
}

MatrixXd mass_factor(const MatrixXd& N, const SparseMatrix& M, double time) {
  if (N.cols() == 0) return MatrixXd(0, 0);
  const Eigen::LLT<MatrixXd> cholesky(symmetric_part(MatrixXd(N.transpose() * (M * N))));
  if (cholesky.info() != Eigen::Success)
    throw NumericalError(time, "the mass matrix is not positive definite on the admissible motions");
  return cholesky.matrixU();
}

// Undamped and symmetric: s^2 z + k z = 0 with M = L L^T on the admissible motions y = N x, z = L^T x.
EigenProblem symmetric_problem(const Model& model, const Linearization& l, const MatrixXd& N,
                               const std::vector<int>& named, const std::vector<int>& dependent,
                               const MatrixXd& R, const RoundOff& round_off) {
  EigenProblem out;
  out.size = N.cols();
  out.squares = true;
  const VectorXd one = VectorXd::Ones(out.size);
  const auto motions = std::make_shared<const MatrixXd>(
      R.triangularView<Eigen::Upper>().transpose().solve(N.transpose()).transpose());
  out.matrix = [&l, motions, one] { return Balanced{-(motions->transpose() * (l.K * *motions)), one}; };
  // z = -L^T (t^2 M + K)^-1 M y, without the projection of the stiffness, whose largest entries would drown the others in round-off.
  const auto matrix = std::make_shared<ShiftedMatrix>(model, l, dependent);
  out.inverse = [&l, &R, &named, motions, one, matrix](double t) -> std::optional<Balanced> {
    if (!matrix->factorize(0, t * t)) return {};
    const MatrixXd right = l.M * *motions;
    MatrixXd T(one.size(), one.size());
    VectorXd y(l.M.rows());
    for (Eigen::Index i = 0; i < right.cols(); ++i) {
      matrix->solve(right.col(i).data(), nullptr, y.data());
      T.col(i) = -(R * y(named));
    }
    return Balanced{std::move(T), one};
  };
  out.is_round_off = [motions, round_off](double s, const VectorXcd& z) {
    return round_off(s, VectorXcd(*motions * z.real() + Complex(0, 1) * (*motions * z.imag())));
  };
  return out;
}

// The general case, x' = A x: y = P xi, y' = V zeta + Y xi, x = (xi, zeta) with the masses as the unit of xi and of the rates of bodies, and states in
// units that balance the matrix.
struct FirstOrderCoordinates {
  MatrixXd P, V, Y;  // V with the states, which are the last of zeta
  std::vector<int> coordinates, rates, dependent;
  MatrixXd of_xi, of_rates;  // upper factors of the masses
  Eigen::Index bodies = 0;   // rates of bodies among zeta
  VectorXd state_unit;

  Eigen::Index size() const { return P.cols() + V.cols(); }
  // Columns (y, y') of all x.
  void motions(MatrixXd& y, MatrixXd& rate) const {
    const Eigen::Index np = P.cols(), nr = V.cols();
    y = MatrixXd::Zero(P.rows(), size());
    rate = y;
    y.leftCols(np) = P;
    rate << Y, V;
    const auto divide = [](auto&& columns, const MatrixXd& R) {
      columns = R.triangularView<Eigen::Upper>().transpose().solve(columns.transpose()).transpose().eval();
    };
    divide(y.leftCols(np), of_xi);
    divide(rate.leftCols(np), of_xi);
    divide(rate.middleCols(np, bodies), of_rates);
    rate.rightCols(nr - bodies) = rate.rightCols(nr - bodies).eval() * state_unit.asDiagonal();
  }
  // x of columns (y, y').
  MatrixXd of(const MatrixXd& y, const MatrixXd& rate) const {
    const Eigen::Index np = P.cols(), nr = V.cols();
    MatrixXd out(size(), y.cols());
    out << of_xi * MatrixXd(y(coordinates, Eigen::all)), MatrixXd(rate(rates, Eigen::all));
    out.middleRows(np, bodies) = of_rates * out.middleRows(np, bodies).eval();
    out.bottomRows(nr - bodies) = state_unit.cwiseInverse().asDiagonal() * out.bottomRows(nr - bodies).eval();
    return out;
  }
};

// Rates in units of w: both blocks across are then of the same size.
Balanced with_time_unit(const FirstOrderCoordinates& x, MatrixXd A, double w) {
  VectorXd D = VectorXd::Ones(x.size());
  D.segment(x.P.cols(), x.bodies).setConstant(w);
  A = D.cwiseInverse().asDiagonal() * A.eval() * D.asDiagonal();
  return {std::move(A), std::move(D)};
}

}  // namespace

DenseModes dense_modes(const Model& model, const Linearization& l, const VectorXd& scale, double time) {
  DenseModes out;
  const RoundOff round_off{&l, &scale};
  const auto solved = [&](const EigenProblem& problem) {
    try {
      Eigenvalues found = all_eigenvalues(problem);
      out.zeros = found.zeros;
      out.consistent = found.consistent;
      return found;
    } catch (const std::runtime_error& error) {
      throw NumericalError(time, error.what());
    }
  };
  FirstOrderCoordinates x;
  MatrixXd A;
  if (l.is_plain()) {
    MatrixXd N = admissible_motions(l.B, l.unit, &x.dependent);
    x.rates = x.coordinates = name_coordinates(N, l.unit);
    const Eigen::Index n = N.cols();
    out.degrees_of_freedom = static_cast<int>(n);
    out.dimension = 2 * out.degrees_of_freedom;
    if (n == 0) return out;
    const MatrixXd R = mass_factor(N, l.M, time);
    const MatrixXd motions = R.triangularView<Eigen::Upper>().transpose().solve(N.transpose()).transpose();
    const MatrixXd k = motions.transpose() * (l.K * motions), c = motions.transpose() * (l.C * motions);
    const double stiffness = k.norm(), damping = c.norm();
    const bool undamped = damping * damping <= kSymmetric * kSymmetric * stiffness;
    if (undamped && antisymmetric_part(k).norm() <= kSymmetric * stiffness) {
      const Eigenvalues found =
          solved(symmetric_problem(model, l, N, x.coordinates, x.dependent, R, round_off));
      for (Eigen::Index i = 0; i < found.at_rest.cols(); ++i)
        out.pairs.push_back({0, VectorXd(motions * found.at_rest.col(i)).cast<Complex>(), true});
      for (Eigen::Index i = 0; i < found.found.values.size(); ++i)
        add_square(-found.found.values[i].real(),
                   VectorXd(motions * found.found.vectors.col(i).real()).cast<Complex>(), out.pairs);
      return out;
    }
    x.P = x.V = N;
    x.Y = MatrixXd::Zero(N.rows(), n);
    x.of_xi = x.of_rates = R;
    x.bodies = n;
    A = MatrixXd::Zero(2 * n, 2 * n);
    A.topRightCorner(n, n).setIdentity();
    A.bottomRows(n) << -k, -c;
  } else {
    MinimalEquations e = minimal_equations(l);
    const Eigen::Index np = e.P.cols(), nr = e.V.cols(), states = l.states();
    out.degrees_of_freedom = static_cast<int>(nr - states);
    out.dimension = static_cast<int>(np + nr);
    if (np + nr == 0) return out;
    x.bodies = nr - states;
    x.of_xi = mass_factor(e.P, l.M, time);
    x.of_rates = mass_factor(e.V.leftCols(x.bodies), l.M, time);
    x.P = std::move(e.P);
    x.V = std::move(e.V);
    x.Y = std::move(e.Y);
    x.coordinates = e.coordinates;
    x.rates = e.rates;
    x.dependent = e.dependent;
    // R A R^-1
    MatrixXd R = MatrixXd::Identity(np + nr, np + nr);
    R.topLeftCorner(np, np) = x.of_xi;
    R.block(np, np, x.bodies, x.bodies) = x.of_rates;
    A = R.triangularView<Eigen::Upper>().transpose().solve((R * e.A).transpose()).transpose();
  }
  const Eigen::Index np = x.P.cols(), states = l.states();
  const auto across = [&](const MatrixXd& X) { return X.block(0, np, np, x.bodies).norm(); };
  const auto down = [&](const MatrixXd& X) { return X.block(np, 0, x.bodies, np).norm(); };
  const double rate = across(A) > 0 ? std::sqrt(down(A) / across(A)) : 0;
  const double w = std::max(rate, A.block(np, np, x.bodies, x.bodies).norm() /
                                      std::sqrt(std::max(1.0, static_cast<double>(x.bodies))));
  x.state_unit = VectorXd::Ones(states);
  const Balanced given = with_time_unit(x, A, w > 0 ? w : 1);
  const Balanced units = balanced(given.A, np + x.bodies);
  x.state_unit = units.D.tail(states);

  MatrixXd y, rates;
  x.motions(y, rates);
  EigenProblem problem;
  problem.size = x.size();
  problem.matrix = [&] { return Balanced{units.A, given.D}; };
  ShiftedMatrix matrix(model, l, x.dependent);
  problem.inverse = [&](double t) -> std::optional<Balanced> {
    MatrixXd T(x.size(), x.size());
    if (l.drift) {
      // In the units of A.
      const MatrixXd one = MatrixXd::Identity(x.size(), x.size());
      T = given.D.asDiagonal() * equilibrated_solve(units.A - t * one, one) *
          given.D.cwiseInverse().asDiagonal();
    } else {
      // From the matrices as they are: the round-off of a projection would be that of its largest entries.
      if (!matrix.factorize(t)) return {};
      const InverseFirstOrder inverse{&matrix, &l, t, 1};
      const Eigen::Index n = l.M.rows();
      MatrixXd solution(2 * n, x.size());
      for (Eigen::Index i = 0; i < x.size(); ++i) {
        VectorXd in(2 * n);
        in << y.col(i), rates.col(i);
        inverse.perform_op(in.data(), solution.col(i).data());
      }
      T = x.of(solution.topRows(n), solution.bottomRows(n));
    }
    const double slow = across(T) > 0 ? std::sqrt(down(T) / across(T)) : 0;
    return with_time_unit(x, std::move(T), slow > 0 ? slow : t > 0 ? t : 1);
  };
  const auto motion = [&](const MatrixXd& of, const VectorXcd& v) {
    return VectorXcd(of * v.real() + Complex(0, 1) * (of * v.imag()));
  };
  // The motion beside a state that moves nothing is round-off itself.
  constexpr double kPart = 1e-6;
  problem.is_round_off = [&](double s, const VectorXcd& v) {
    return v.head(np).norm() > kPart * v.norm() && round_off(s, motion(y, v));
  };
  const Eigenvalues found = solved(problem);
  const auto add = [&](Complex s, const VectorXcd& v, bool rigid) {
    out.pairs.push_back({s, shape_of(l, s, motion(y, v), motion(rates, v)), rigid});
  };
  for (Eigen::Index i = 0; i < found.at_rest.cols(); ++i) add(0, found.at_rest.col(i).cast<Complex>(), true);
  for (Eigen::Index i = 0; i < found.found.values.size(); ++i)
    if (found.found.values[i].imag() >= 0) add(found.found.values[i], found.found.vectors.col(i), false);
  return out;
}

}  // namespace liedyn
