// Eigen's decompositions of dense matrices of any size, compiled once (decompositions.cpp): each costs seconds in every source that instantiates it. Those of eigenvalues
// are shared only where the argument is a matrix, not an expression.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>

#define LIEDYN_DECOMPOSITIONS(declaration)                                                               \
  declaration class Eigen::LLT<Eigen::MatrixXd>;                                                         \
  declaration class Eigen::LDLT<Eigen::MatrixXd>;                                                        \
  declaration class Eigen::PartialPivLU<Eigen::MatrixXd>;                                                \
  declaration class Eigen::PartialPivLU<Eigen::MatrixXcd>;                                               \
  declaration class Eigen::FullPivLU<Eigen::MatrixXd>;                                                   \
  declaration class Eigen::HouseholderQR<Eigen::MatrixXd>;                                               \
  declaration class Eigen::ColPivHouseholderQR<Eigen::MatrixXd>;                                         \
  declaration class Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd>;                             \
  declaration class Eigen::JacobiSVD<Eigen::MatrixXd>;                                                   \
  declaration class Eigen::BDCSVD<Eigen::MatrixXd>;                                                      \
  declaration Eigen::EigenSolver<Eigen::MatrixXd>& Eigen::EigenSolver<Eigen::MatrixXd>::compute(         \
      const Eigen::EigenBase<Eigen::MatrixXd>&, bool);                                                   \
  declaration Eigen::ComplexEigenSolver<Eigen::MatrixXcd>&                                               \
  Eigen::ComplexEigenSolver<Eigen::MatrixXcd>::compute(const Eigen::EigenBase<Eigen::MatrixXcd>&, bool); \
  declaration Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>&                                            \
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>::compute(const Eigen::EigenBase<Eigen::MatrixXd>&, int)

LIEDYN_DECOMPOSITIONS(extern template);
