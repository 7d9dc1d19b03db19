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

// Its steps, in their order.
class DenseSearch {
 public:
  DenseSearch(const Model& model, const Linearization& l, const VectorXd& scale, double time)
      : model_(model), l_(l), time_(time), round_off_{&l, &scale} {}

  DenseModes result() {
    if (l_.is_plain() ? !set_plain_equations() : !set_minimal_equations()) return std::move(out_);
    choose_units();
    find_first_order();
    return std::move(out_);
  }

 private:
  Eigenvalues solved(const EigenProblem& problem) {
    try {
      Eigenvalues found = all_eigenvalues(problem);
      out_.zeros = found.zeros;
      out_.consistent = found.consistent;
      return found;
    } catch (const std::runtime_error& error) {
      throw NumericalError(time_, error.what());
    }
  }

  // False: all modes are found, since the equations are symmetric and undamped, or since nothing can move.
  bool set_plain_equations() {
    MatrixXd N = admissible_motions(l_.B, l_.unit, &x_.dependent);
    x_.rates = x_.coordinates = name_coordinates(N, l_.unit);
    const Eigen::Index n = N.cols();
    out_.degrees_of_freedom = static_cast<int>(n);
    out_.dimension = 2 * out_.degrees_of_freedom;
    if (n == 0) return false;
    const MatrixXd R = mass_factor(N, l_.M, time_);
    const MatrixXd motions = R.triangularView<Eigen::Upper>().transpose().solve(N.transpose()).transpose();
    const MatrixXd k = motions.transpose() * (l_.K * motions), c = motions.transpose() * (l_.C * motions);
    const double stiffness = k.norm(), damping = c.norm();
    const bool undamped = damping * damping <= kSymmetric * kSymmetric * stiffness;
    if (undamped && antisymmetric_part(k).norm() <= kSymmetric * stiffness) {
      add_symmetric(N, R, motions);
      return false;
    }
    x_.P = x_.V = N;
    x_.Y = MatrixXd::Zero(N.rows(), n);
    x_.of_xi = x_.of_rates = R;
    x_.bodies = n;
    A_ = MatrixXd::Zero(2 * n, 2 * n);
    A_.topRightCorner(n, n).setIdentity();
    A_.bottomRows(n) << -k, -c;
    return true;
  }

  void add_symmetric(const MatrixXd& N, const MatrixXd& R, const MatrixXd& motions) {
    const Eigenvalues found =
        solved(symmetric_problem(model_, l_, N, x_.coordinates, x_.dependent, R, round_off_));
    for (Eigen::Index i = 0; i < found.at_rest.cols(); ++i)
      out_.pairs.push_back({0, VectorXd(motions * found.at_rest.col(i)).cast<Complex>(), true});
    for (Eigen::Index i = 0; i < found.found.values.size(); ++i)
      add_square(-found.found.values[i].real(),
                 VectorXd(motions * found.found.vectors.col(i).real()).cast<Complex>(), out_.pairs);
  }

  // With rows at velocity level, drift or states. False: nothing can move.
  bool set_minimal_equations() {
    MinimalEquations e = minimal_equations(l_);
    const Eigen::Index np = e.P.cols(), nr = e.V.cols(), states = l_.states();
    out_.degrees_of_freedom = static_cast<int>(nr - states);
    out_.dimension = static_cast<int>(np + nr);
    if (np + nr == 0) return false;
    x_.bodies = nr - states;
    x_.of_xi = mass_factor(e.P, l_.M, time_);
    x_.of_rates = mass_factor(e.V.leftCols(x_.bodies), l_.M, time_);
    x_.P = std::move(e.P);
    x_.V = std::move(e.V);
    x_.Y = std::move(e.Y);
    x_.coordinates = e.coordinates;
    x_.rates = e.rates;
    x_.dependent = e.dependent;
    // R A R^-1
    MatrixXd R = MatrixXd::Identity(np + nr, np + nr);
    R.topLeftCorner(np, np) = x_.of_xi;
    R.block(np, np, x_.bodies, x_.bodies) = x_.of_rates;
    A_ = R.triangularView<Eigen::Upper>().transpose().solve((R * e.A).transpose()).transpose();
    return true;
  }

  Eigen::Index positions() const { return x_.P.cols(); }
  double across(const MatrixXd& X) const { return X.block(0, positions(), positions(), x_.bodies).norm(); }
  double down(const MatrixXd& X) const { return X.block(positions(), 0, x_.bodies, positions()).norm(); }

  void choose_units() {
    const Eigen::Index np = positions(), states = l_.states();
    const double rate = across(A_) > 0 ? std::sqrt(down(A_) / across(A_)) : 0;
    const double w = std::max(rate, A_.block(np, np, x_.bodies, x_.bodies).norm() /
                                        std::sqrt(std::max(1.0, static_cast<double>(x_.bodies))));
    x_.state_unit = VectorXd::Ones(states);
    given_ = with_time_unit(x_, A_, w > 0 ? w : 1);
    units_ = balanced(given_.A, np + x_.bodies);
    x_.state_unit = units_.D.tail(states);
    x_.motions(motions_, rates_);
  }

  // (A - t)^-1; none where it is singular.
  std::optional<Balanced> inverse(const ShiftedMatrix& matrix, double t) const {
    MatrixXd T(x_.size(), x_.size());
    if (l_.drift) {
      // In the units of A.
      const MatrixXd one = MatrixXd::Identity(x_.size(), x_.size());
      T = given_.D.asDiagonal() * equilibrated_solve(units_.A - t * one, one) *
          given_.D.cwiseInverse().asDiagonal();
    } else {
      // From the matrices as they are: the round-off of a projection would be that of its largest entries.
      const InverseFirstOrder inverse{&matrix, &l_, t, 1};
      const Eigen::Index n = l_.M.rows();
      MatrixXd solution(2 * n, x_.size());
      for (Eigen::Index i = 0; i < x_.size(); ++i) {
        VectorXd in(2 * n);
        in << motions_.col(i), rates_.col(i);
        inverse.perform_op(in.data(), solution.col(i).data());
      }
      T = x_.of(solution.topRows(n), solution.bottomRows(n));
    }
    const double slow = across(T) > 0 ? std::sqrt(down(T) / across(T)) : 0;
    return with_time_unit(x_, std::move(T), slow > 0 ? slow : t > 0 ? t : 1);
  }

  void find_first_order() {
    ShiftedMatrix matrix(model_, l_, x_.dependent);
    EigenProblem problem;
    problem.size = x_.size();
    problem.matrix = [&] { return Balanced{units_.A, given_.D}; };
    problem.inverse = [&](double t) -> std::optional<Balanced> {
      if (!l_.drift && !matrix.factorize(t)) return {};
      return inverse(matrix, t);
    };
    const auto motion = [&](const MatrixXd& of, const VectorXcd& v) {
      return VectorXcd(of * v.real() + Complex(0, 1) * (of * v.imag()));
    };
    // The motion beside a state that moves nothing is round-off itself.
    constexpr double kPart = 1e-6;
    problem.is_round_off = [&](double s, const VectorXcd& v) {
      return v.head(positions()).norm() > kPart * v.norm() && round_off_(s, motion(motions_, v));
    };
    const Eigenvalues found = solved(problem);
    const auto add = [&](Complex s, const VectorXcd& v, bool rigid) {
      out_.pairs.push_back({s, shape_of(l_, s, motion(motions_, v), motion(rates_, v)), rigid});
    };
    for (Eigen::Index i = 0; i < found.at_rest.cols(); ++i)
      add(0, found.at_rest.col(i).cast<Complex>(), true);
    for (Eigen::Index i = 0; i < found.found.values.size(); ++i)
      if (found.found.values[i].imag() >= 0) add(found.found.values[i], found.found.vectors.col(i), false);
  }

  const Model& model_;
  const Linearization& l_;
  double time_;
  RoundOff round_off_;
  DenseModes out_;
  FirstOrderCoordinates x_;
  MatrixXd A_;
  Balanced given_, units_;
  MatrixXd motions_, rates_;  // of the first-order coordinates
};

}  // namespace

DenseModes dense_modes(const Model& model, const Linearization& l, const VectorXd& scale, double time) {
  return DenseSearch(model, l, scale, time).result();
}

}  // namespace liedyn
