// From a linear finite element model to few modes of a floating frame.
//
// free: the lowest modes of the free body. Hurty, Craig and Bampton: the static deformations for a unit displacement or rotation of each interface, and the
// lowest modes with all interfaces held; their Ritz modes with the free body's mass and stiffness are what remains.
//
// In both cases the six rigid motions L are taken out exactly: L^T M phi = 0 (the frame of Tisserand), so that modes carry neither momentum nor
// moment of momentum to first order, and the body's centre of mass stays where it is in the frame.
//
// With second derivatives g_kl of the internal forces displacements are quadratic in the modal coordinates,
//
//   u = sum_k phi_k eta_k + 1/2 sum_kl s_kl eta_k eta_l,        K s_kl = -g_kl
//
// but for rigid motions and what the modes themselves can do: bent parts become shorter. Centrifugal forces, and forces at interfaces, work on this
// shortening, which is what geometric stiffness is (theory/15).
#pragma once

#include <Eigen/Core>
#include <functional>
#include <vector>

#include "liedyn/model/flexible/finite_elements.h"
#include "liedyn/model/motion.h"

namespace liedyn {

enum class ReductionMethod { HurtyCraigBampton, Free };

// Nodes that move as one rigid body with the interface.
struct InterfaceNodes {
  Vec3 place;  // body axes
  std::vector<int> nodes;
};

// Accelerations of a rigid motion, relative to free fall, in body axes: gamma + alpha x X + W X with gamma = R^T (a - g) at the origin and W = omega omega^T - |omega|^2.
// As twelve numbers: gamma, alpha, and W_xx, W_yy, W_zz, W_yz, W_xz, W_xy.
inline constexpr int kInertialLoads = 12;
template <class S>
Eigen::Matrix<S, kInertialLoads, 1> inertial_loads(const Motion<S>& frame, const Vec3T<S>& gravity) {
  const Vec3T<S> w = frame.V.template tail<3>();
  const Mat3T<S> W = w * w.transpose() - w.dot(w) * Mat3T<S>::Identity();
  Eigen::Matrix<S, kInertialLoads, 1> out;
  out << frame.R.transpose() * (frame.acceleration() - gravity), frame.A.template tail<3>(), W(0, 0), W(1, 1),
      W(2, 2), W(1, 2), W(0, 2), W(0, 1);
  return out;
}

struct ReducedBody {
  Eigen::VectorXd frequencies;  // rad/s, of the free reduced body
  Eigen::MatrixXd modes;        // displacements of the nodes of the finite element model; the largest is 1
  // Displacement and rotation of each interface by the modal coordinates, body axes: 6 x modes.
  std::vector<Eigen::Matrix<double, 6, Eigen::Dynamic>> interfaces;
  // Second derivatives of the same, 6 x pairs, and of the displacements of the nodes; empty without them.
  std::vector<Eigen::Matrix<double, 6, Eigen::Dynamic>> interface_pairs;
  Eigen::MatrixXd pairs;
  std::vector<double> integrals;  // ShapeIntegrals, without damping
  // What weight and inertial forces of a rigid motion deform besides, for stresses and section forces: static displacements of the nodes that no mode has, for the
  // unit loads of InertialLoads. Modes show these forces slowly, one after the other; together with this they are exact as far as all is static.
  Eigen::Matrix<double, Eigen::Dynamic, kInertialLoads> inertial;
};

// How many modes there will be: a multiple of three, since modal coordinates are nodes in R^3. `modes` is what the user asks for.
int reduced_modes(ReductionMethod method, int modes, int interfaces);

// Second derivatives of the internal forces along columns of displacements, as solid_second_derivatives has them.
using SecondDerivatives = std::function<Eigen::MatrixXd(const Eigen::MatrixXd& U)>;

// Throws std::invalid_argument with what is wrong with the body.
ReducedBody reduce(const FiniteElements& full, const std::vector<InterfaceNodes>& interfaces,
                   ReductionMethod method, int modes, const SecondDerivatives& second = {});

}  // namespace liedyn
