#include "chain_by_hand.h"

#include <algorithm>
#include <cmath>

#include <Eigen/LU>

#include "liedyn/lie/trig.h"

namespace liedyn::speed {
namespace {

constexpr double kMass = 1;
constexpr double kSmallForce = 1e-7, kSmallDistance = 1e-11;
constexpr int kMostIterations = 20;

Vec3 inertia() { return {0.01, 0.1, 0.1}; }
Vec3 weight() { return {0, 0, -9.81 * kMass}; }
Vec3 joint_before() { return {-0.5, 0, 0}; }  // in body axes
Vec3 joint_after() { return {0.5, 0, 0}; }

// exp(w~) = 1 + f1 w~ + f2 w~^2
Mat3 exponential(const Vec3& w) {
  const double square = w.squaredNorm();
  const Mat3 s = skew(w);
  return Mat3::Identity() + stumpff<1>(square) * s + stumpff<2>(square) * (s * s);
}

}  // namespace

ChainByHand::ChainByHand(int links, double step, double rho)
    : step_(step),
      alpha_m_((2 * rho - 1) / (rho + 1)),
      alpha_f_(rho / (rho + 1)),
      from_(static_cast<std::size_t>(links)),
      equations_(from_.size()),
      joints_(from_.size()) {
  gamma_ = 0.5 + alpha_f_ - alpha_m_;
  beta_ = 0.25 * (gamma_ + 0.5) * (gamma_ + 0.5);
  for (std::size_t i = 0; i < from_.size(); ++i) {
    Link& link = from_[i];
    link.R.setIdentity();
    link.x = {static_cast<double>(i) + 0.5, 0, 0};
    for (Vec3* v : {&link.u, &link.u_dot, &link.u_alpha, &link.Omega, &link.Omega_dot, &link.Omega_alpha})
      v->setZero();
  }
  // Accelerations at the start, from M vdot + B^T lambda = weight, B vdot = 0: the same linear system, vdot in the place of dq.
  to_ = from_;
  for (Joint& joint : joints_) joint.lambda.setZero();
  evaluate(1, 0, false);
  solve_joints();
  for (std::size_t i = 0; i < from_.size(); ++i) {
    from_[i].u_dot = from_[i].u_alpha = translation(i, 1 / kMass);
    from_[i].Omega_dot = from_[i].Omega_alpha = rotation(i);
  }
}

void ChainByHand::predict() {
  const double h = step_;
  for (std::size_t i = 0; i < from_.size(); ++i) {
    const Link& a = from_[i];
    Link& b = to_[i];
    b.u_alpha = (alpha_f_ * a.u_dot - alpha_m_ * a.u_alpha) / (1 - alpha_m_);
    b.Omega_alpha = (alpha_f_ * a.Omega_dot - alpha_m_ * a.Omega_alpha) / (1 - alpha_m_);
    b.u = a.u + h * ((1 - gamma_) * a.u_alpha + gamma_ * b.u_alpha);
    b.Omega = a.Omega + h * ((1 - gamma_) * a.Omega_alpha + gamma_ * b.Omega_alpha);
    b.x = a.x + h * a.u + h * h * ((0.5 - beta_) * a.u_alpha + beta_ * b.u_alpha);
    const Vec3 theta = h * a.Omega + h * h * ((0.5 - beta_) * a.Omega_alpha + beta_ * b.Omega_alpha);
    // sigma = 1: the rate of the local coordinates instead of Omega, to first order
    b.R = a.R * exponential(theta - h * beta_ / gamma_ * b.Omega.cross(theta));
    b.u_dot.setZero();
    b.Omega_dot.setZero();
  }
  for (Joint& joint : joints_) joint.lambda.setZero();
}

bool ChainByHand::evaluate(double beta_prime, double gamma_prime, bool stiffness) {
  const Mat3 J = inertia().asDiagonal();
  const Mat3 a = skew(joint_before()), b = skew(joint_after());
  const Mat3 c = Mat3::Identity() / (beta_prime * kMass);
  const std::size_t n = to_.size();
  double largest_force = 0, largest_distance = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Link& link = to_[i];
    Equations& e = equations_[i];
    Joint& before = joints_[i];
    // Phi of the joint before: x_{i-1} + R_{i-1} p_b - x_i - R_i p_a; the link before has written its part.
    if (i == 0) {
      before.phi.setZero();
      before.right.setZero();
      before.diagonal.setZero();
    }
    before.phi -= link.x + link.R * joint_before();
    largest_distance = std::max(largest_distance, before.phi.cwiseAbs().maxCoeff());

    const Vec3 next = i + 1 < n ? joints_[i + 1].lambda : Vec3::Zero();
    const Vec3 lambda_before = link.R.transpose() * before.lambda;  // body axes
    const Vec3 lambda_after = link.R.transpose() * next;
    const Vec3 momentum = J * link.Omega;
    e.force = kMass * link.u_dot - weight() - before.lambda + next;
    e.torque = J * link.Omega_dot + link.Omega.cross(momentum) - a * lambda_before + b * lambda_after;
    largest_force = std::max({largest_force, e.force.cwiseAbs().maxCoeff(), e.torque.cwiseAbs().maxCoeff()});

    Mat3 W = beta_prime * J + gamma_prime * (skew(link.Omega) * J - skew(momentum));
    if (stiffness) W += b * skew(lambda_after) - a * skew(lambda_before);
    e.W_inverse = W.inverse();
    e.A = link.R * a;
    e.B = -link.R * b;

    // This link's part of B A^-1 B^T and of Phi - B A^-1 r, in the rows of its two joints.
    const Mat3 A_W = e.A * e.W_inverse;
    before.diagonal += c + A_W * e.A.transpose();
    before.right += before.phi + c * e.force - A_W * e.torque;
    if (i + 1 == n) break;
    const Mat3 B_W = e.B * e.W_inverse;
    Joint& after = joints_[i + 1];
    after.diagonal = c + B_W * e.B.transpose();
    before.upper = A_W * e.B.transpose() - c;
    before.lower = B_W * e.A.transpose() - c;
    after.phi = link.x + link.R * joint_after();
    after.right = -(c * e.force + B_W * e.torque);
  }
  return largest_force < kSmallForce && largest_distance < kSmallDistance;
}

void ChainByHand::solve_joints() {
  const std::size_t n = joints_.size();
  for (std::size_t j = 0; j < n; ++j) {
    Joint& joint = joints_[j];
    joint.diagonal = joint.diagonal.inverse().eval();
    if (j + 1 == n) break;
    const Mat3 factor = joint.lower * joint.diagonal;
    joints_[j + 1].diagonal -= factor * joint.upper;
    joints_[j + 1].right -= factor * joint.right;
  }
  for (std::size_t j = n; j-- > 0;) {
    Joint& joint = joints_[j];
    Vec3 right = joint.right;
    if (j + 1 < n) right -= joint.upper * joints_[j + 1].increment;
    joint.increment = joint.diagonal * right;
  }
}

Vec3 ChainByHand::translation(std::size_t i, double inverse_mass) const {
  Vec3 force = equations_[i].force - joints_[i].increment;
  if (i + 1 < joints_.size()) force += joints_[i + 1].increment;
  return -inverse_mass * force;
}

Vec3 ChainByHand::rotation(std::size_t i) const {
  const Equations& e = equations_[i];
  Vec3 torque = e.torque + e.A.transpose() * joints_[i].increment;
  if (i + 1 < joints_.size()) torque += e.B.transpose() * joints_[i + 1].increment;
  return -(e.W_inverse * torque);
}

int ChainByHand::advance() {
  const double beta_prime = (1 - alpha_m_) / (step_ * step_ * beta_ * (1 - alpha_f_));
  const double gamma_prime = gamma_ / (step_ * beta_);
  predict();
  int solves = 0;
  while (!evaluate(beta_prime, gamma_prime, true)) {
    if (solves == kMostIterations) return -1;
    ++solves;
    solve_joints();
    for (std::size_t i = 0; i < to_.size(); ++i) {
      Link& link = to_[i];
      const Vec3 d = translation(i, 1 / (beta_prime * kMass)), w = rotation(i);
      link.x += d;
      link.u += gamma_prime * d;
      link.u_dot += beta_prime * d;
      link.R = (link.R * exponential(w)).eval();
      link.Omega += gamma_prime * w;
      link.Omega_dot += beta_prime * w;
    }
    for (Joint& joint : joints_) joint.lambda += joint.increment;
  }
  const double share = (1 - alpha_f_) / (1 - alpha_m_);
  for (Link& link : to_) {
    link.u_alpha += share * link.u_dot;
    link.Omega_alpha += share * link.Omega_dot;
  }
  std::swap(from_, to_);
  time_ += step_;
  return solves;
}

}  // namespace liedyn::speed
