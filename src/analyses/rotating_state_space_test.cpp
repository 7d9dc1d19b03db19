// State spaces about steady rotation, against closed forms and published frequencies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "liedyn/analyses/state_space.h"
#include "liedyn/base/decompositions.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

// Angular frequencies of the poles, those above the real axis.
std::vector<double> frequencies(const StateSpace& space) {
  std::vector<double> out;
  const Eigen::EigenSolver<Eigen::MatrixXd> eigen(space.A, false);
  for (const std::complex<double>& s : eigen.eigenvalues())
    if (s.imag() > 1e-3) out.push_back(s.imag());
  std::sort(out.begin(), out.end());
  return out;
}

// A rigid rotor that spins about z in two bearings at z = -+a, each with the stiffness k along x and along y.
struct Rotor {
  double mass = 4, across = 0.06, axial = 0.1, a = 0.25, k = 3e4, spin = 400;

  std::shared_ptr<const Description> model() const {
    ModelBuilder b({0, 0, 0});
    b.body("rotor", "rigid").set("mass", {mass}).set("inertia", {across, across, axial});
    b.set("angular_velocity", {0, 0, spin});
    const auto spring = [&](const std::string& name, const Vec3& end, const Vec3& wall) {
      b.force(name, "spring_damper").set("between", "ground", "rotor");
      b.set("points", {wall.x(), wall.y(), wall.z(), end.x(), end.y(), end.z()}).set("stiffness", {k});
    };
    for (const double z : {-a, a}) {
      const std::string end = z < 0 ? "low" : "high";
      spring(end + "_x", Vec3(0, 0, z), Vec3(-1, 0, z));
      spring(end + "_y", Vec3(0, 0, z), Vec3(0, -1, z));
    }
    spring("thrust", Vec3::Zero(), Vec3(0, 0, -1));
    b.force("push", "torque").set("on", std::string("rotor")).set("torque", {0, 0, 0});
    b.sensor("end", "position").set("of", std::string("rotor")).set("at", {0, 0, a});
    return b.finish();
  }
  // (across s^2 + 2 k a^2) theta_x + axial spin s theta_y = T_x,  and with the other sign for theta_y; the end at z = a moves by (a theta_y, -a theta_x).
  Eigen::Matrix2cd transfer(std::complex<double> s) const {
    Eigen::Matrix2cd D, out;
    const std::complex<double> own = across * s * s + 2 * k * a * a, gyro = axial * spin * s;
    D << own, gyro, -gyro, own;
    out << 0, a, -a, 0;
    return out * D.inverse();
  }
};

// The axis whirls forwards and backwards,  omega = (+-C Omega + sqrt(C^2 Omega^2 + 8 A k a^2))/(2 A),  beside the plain oscillations along x and y, sqrt(2 k/m),
// and along z.
TEST(RotatingStateSpace, ARotorInBearingsWhirlsForwardsAndBackwards) {
  for (const double spin : {0.0, 100.0, 400.0})
    for (const std::string& formulation : absolute_formulations()) {
      Rotor rotor;
      rotor.spin = spin;
      const System system = make_system(rotor.model(), formulation);
      Work work(system);
      const StateSpace space =
          state_space(system, consistent_state(system, 0, {}, work),
                      {.inputs = {"forces.push.torque[0]", "forces.push.torque[1]"}, .outputs = {"end"}});
      const std::string name = fmt::format("{}, spin {}", formulation, spin);
      EXPECT_TRUE(space.warnings.empty()) << name << testing::PrintToString(space.warnings);
      const double gyro = rotor.axial * spin,
                   root = std::sqrt(gyro * gyro + 8 * rotor.across * rotor.k * rotor.a * rotor.a);
      std::vector<double> expected = {std::sqrt(rotor.k / rotor.mass), std::sqrt(2 * rotor.k / rotor.mass),
                                      std::sqrt(2 * rotor.k / rotor.mass), (root - gyro) / (2 * rotor.across),
                                      (root + gyro) / (2 * rotor.across)};
      std::sort(expected.begin(), expected.end());
      const std::vector<double> found = frequencies(space);
      ASSERT_EQ(found.size(), expected.size()) << name;
      for (std::size_t i = 0; i < found.size(); ++i)
        expect_at_most(std::abs(found[i] / expected[i] - 1), 1e-7, fmt::format("{}: frequency {}", name, i));
      // What a torque does to the end, cross-coupled by the spin.
      for (const double omega : {20.0, 150.0, 600.0}) {
        const std::complex<double> s(1, omega);
        const Eigen::Matrix2cd wanted = rotor.transfer(s);
        expect_at_most(
            (space.transfer(s).topRows(2) - wanted).cwiseAbs().maxCoeff() / wanted.cwiseAbs().maxCoeff(),
            1e-8, fmt::format("{}: transfer matrix at {} rad/s", name, omega));
      }
    }
}

// A cantilever that turns about its root, across: flapping frequencies of Wright, Smith, Thresher, Wang (J. Appl. Mech. 49, 1982) in units of sqrt(E I/m L^4). In the plane
// of rotation the square is less by that of the speed.
TEST(RotatingStateSpace, ARotatingCantileverHasItsPublishedFrequencies) {
  const std::pair<double, double> cases[] = {{2, 4.1373}, {5, 6.4495}};
  for (const auto& [speed, flap] : cases) {
    const double EA = 1e6;
    ModelBuilder b({0, 0, 0});
    b.beam("blade", "stiffness").set("from", {0, 0, 0}).set("to", {1, 0, 0}).set("elements", {8});
    b.set("element", std::string("three_node")).set("axial_stiffness", {EA});
    b.set("shear_stiffness_y", {1e5}).set("shear_stiffness_z", {1e5}).set("torsional_stiffness", {10});
    b.set("bending_stiffness_y", {1}).set("bending_stiffness_z", {1}).set("mass_per_length", {1});
    b.set("inertia_per_length", {2e-7, 1e-7, 1e-7}).set("angular_velocity_inertial", {0, 0, speed});
    b.joint("hub", "revolute").set("between", "ground", "blade.start").set("at", {0, 0, 0});
    b.set("axis", {0, 0, 1});
    b.joint("motor", "prescribed_motion").set("joint", std::string("hub")).set("motion", {0.0});
    b.expression("motion", 0, fmt::format("{}*t", speed));
    b.force("push", "force").set("on", std::string("blade.end")).set("force", {0, 0, 0});
    b.sensor("tip", "position").set("of", std::string("blade.end"));
    const System system = make_system(b.finish());
    // Stretched by the centrifugal force, u = (Omega^2 m/E A) (x/2 - x^3/6).
    Configuration stretched = configuration_of(system, described_state(system));
    for (BodyConfiguration& node : stretched.bodies) {
      const double x = node.position.x();
      node.position.x() += speed * speed / EA * (x / 2 - x * x * x / 6);
      node.velocity = Vec3(0, speed * node.position.x(), 0);
    }
    InitialOptions initial;
    initial.given = &stretched;
    Work work(system);
    const StateSpace space = state_space(system, consistent_state(system, 0, initial, work), {});
    // The blade is steady as far as its elements agree with the closed form of the stretch.
    expect_at_most((space.axes.rate - Vec3(0, 0, speed)).norm(), 1e-4, "axes turn with the blade");
    const std::vector<double> found = frequencies(space);
    for (const double expected : {flap, std::sqrt(flap * flap - speed * speed)}) {
      double nearest = INFINITY;
      for (const double w : found)
        if (std::abs(w - expected) < std::abs(nearest - expected)) nearest = w;
      expect_at_most(std::abs(nearest / expected - 1), 1e-3,
                     fmt::format("Omega = {}: frequency {:.4f}, relative", speed, expected));
    }
  }
}

}  // namespace
}  // namespace liedyn
