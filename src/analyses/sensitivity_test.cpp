// Derivatives with respect to parameters: against closed forms, and against extrapolated differences of whole runs along the same steps, for
// every integrator and formulation.

#include "analyses/sensitivity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyses/adjoint.h"
#include "integrators/integrator.h"
#include "system/testing.h"

namespace liedyn {
namespace {

using Names = std::vector<std::string>;

Sensitivity differentiate(const System& system, const std::string& integrator, double step, double end,
                          const Names& parameters, const Names& outputs = {}, bool check = true) {
  SensitivityOptions options;
  options.simulation.integrator = integrator;
  options.simulation.step = step;
  options.simulation.end = end;
  options.parameters = parameters;
  options.outputs = outputs;
  options.check = check;
  return sensitivity(system, options);
}

// Forwards and backwards are the same derivatives.
void expect_same_backwards(const System& system, const Sensitivity& forwards, const std::string& integrator,
                           double step, double end, const Names& outputs) {
  SensitivityOptions options;
  options.simulation.integrator = integrator;
  options.simulation.step = step;
  options.simulation.end = end;
  options.parameters = forwards.parameters;
  options.outputs = outputs;
  options.method = SensitivityMethod::Adjoint;
  const Sensitivity backwards = sensitivity(system, options);
  double rest = 0, size = 0;
  for (std::size_t i = 0; i < forwards.derivatives.size(); ++i) {
    rest = std::max(rest, std::abs(forwards.derivatives[i] - backwards.derivatives[i]));
    size = std::max(size, std::abs(forwards.derivatives[i]));
  }
  fmt::print("  {:<70} adjoint - direct            {:.1e}\n", integrator, rest / size);
  EXPECT_LT(rest, 1e-9 * size) << integrator;
}

void expect_agreement(const Sensitivity& s, const std::string& what, double tolerance = 1e-6) {
  for (std::size_t k = 0; k < s.parameters.size(); ++k) {
    fmt::print("  {:<70} {:<28} {:.1e} (differences {:.1e})\n", what, s.parameters[k], s.disagreement[k],
               s.uncertainty[k]);
    EXPECT_LT(s.disagreement[k], tolerance) << what << " " << s.parameters[k];
  }
}

// Newton's method far below what is compared.
std::string solved_well(const std::string& integrator) {
  for (const ListedIntegrator& listed : integrators())
    if (listed.name == integrator.substr(0, integrator.find(',')))
      for (const IntegratorOption& option : listed.options)
        if (option.name == "newton_tol") return integrator + ",newton_tol=1e-13";
  return integrator;
}

// A stone thrown: x = x_0 + v_0 t + g t^2/2, met exactly by every method of second order.
TEST(Sensitivity, MeetsTheClosedFormOfAThrownStone) {
  ModelBuilder builder;
  builder.body("stone", "point").set("mass", {2}).set("position", {1, 2, 3}).set("velocity", {4, 0, 5});
  builder.sensor("place", "position").set("of", std::string("stone"));
  builder.sensor("energy", "energy");
  const System system = make_system(builder.finish());
  const double t = 0.7, g = -9.81;
  for (const std::string method : {"generalized-alpha", "lms3", "rk44", "dopri5"}) {
    const Sensitivity s = differentiate(
        system, method, 0.1, t,
        {"gravity[2]", "bodies.stone.velocity[2]", "bodies.stone.position[2]", "bodies.stone.mass"},
        {"place[2]", "place[2]@0.25", "place[2]@integral", "energy"}, false);
    const double h = 0.1;
    const double expected[4][4] = {
        {t * t / 2, t, 1, 0},
        {0.25 * 0.25 / 2, 0.25, 1, 0},
        // The trapezoidal rule: t^3/6 + t h^2/12 for t^2/2.
        {t * t * t / 6 + t * h * h / 12, t * t / 2, t, 0},
        // m (v_x^2 + v_z^2)/2 - m g z is constant: m v_z, -m g, the energy per mass.
        {-2 * 3, 2 * 5, -2 * g, (4 * 4 + 5 * 5) / 2.0 - g * 3}};
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t k = 0; k < 4; ++k)
        EXPECT_NEAR(s.derivative(i, k), expected[i][k], 1e-10)
            << method << ": d(" << s.outputs[i] << ")/d(" << s.parameters[k] << ")";
  }
}

std::shared_ptr<const Description> top() {
  ModelBuilder builder;
  add_heavy_top(builder);
  builder.sensor("position", "position").set("of", std::string("top"));
  builder.sensor("force", "reaction_force").set("of", std::string("pivot"));
  builder.sensor("energy", "energy");
  return builder.finish();
}
const Names kTopParameters = {"bodies.top.mass", "bodies.top.angular_velocity[2]", "gravity[2]",
                              "bodies.top.angular_velocity[0]"};

TEST(Sensitivity, AgreesWithDifferencesForEveryIntegrator) {
  const System system = make_system(top());
  for (const ListedIntegrator& listed : integrators()) {
    const std::string method = solved_well(listed.name);
    const Names outputs = {"position", "energy@integral", "position[0]@0.0211"};
    const Sensitivity s = differentiate(system, method, 2e-3, 0.04, kTopParameters, outputs);
    expect_agreement(s, method);
    expect_same_backwards(system, s, method, 2e-3, 0.04, outputs);
  }
}

TEST(Sensitivity, AgreesWithDifferencesForEveryFormulation) {
  for (const std::string& formulation : formulations())
    for (const std::string method : {"generalized-alpha", "generalized-alpha,index=2",
                                     "generalized-alpha,index=stabilized", "ss3", "rk44"}) {
      const Sensitivity s = differentiate(make_system(top(), formulation), solved_well(method), 1e-3, 0.008,
                                          kTopParameters, {"position", "position[2]@max"});
      expect_agreement(s, formulation + " " + method);
      expect_same_backwards(make_system(top(), formulation), s, solved_well(method), 1e-3, 0.008,
                            {"position", "position[2]@max"});
    }
}

TEST(Sensitivity, AgreesWithDifferencesForFormsChartsAndStarts) {
  for (const std::string options :
       {"sigma=1", "sigma=opt", "form=linear", "form=linear,coordinates=conformal",
        "form=linear,coordinates=cayley", "form=residual,coordinates=conformal", "start=corrected",
        "adaptive=true,rtol=1e-4"})
    expect_agreement(differentiate(make_system(top()), solved_well("generalized-alpha," + options), 2e-3,
                                   0.03, kTopParameters, {"position", "force@integral"}),
                     options);
}

// A velocity that is found from the others moves with these, whether the run also projects what is given or not.
TEST(Sensitivity, FollowsConsistentVelocitiesWhateverIsProjected) {
  for (const std::string initial : {"check", "project"}) {
    SensitivityOptions options;
    options.simulation.integrator = solved_well("generalized-alpha");
    options.simulation.step = 1e-3;
    options.simulation.end = 5e-3;
    options.simulation.initial = initial;
    options.parameters = kTopParameters;
    options.outputs = {"position", "energy"};
    options.check = true;
    expect_agreement(sensitivity(make_system(top()), options), "initial " + initial);
  }
}

// A pendulum with everything on it: spring, damper, friction, a load that follows the time, a controller with a state.
std::shared_ptr<const Description> mechanism() {
  ModelBuilder builder;
  builder.body("rod", "rigid")
      .set("mass", {2})
      .set("inertia", {0.1, 0.25, 0.3})
      .set("position", {0.5, 0, 0})
      .set("angular_velocity", {0, 1, 0})
      .consistent("velocity");
  builder.body("bob", "rigid")
      .set("mass", {1})
      .set("inertia", {0.02, 0.03, 0.04})
      .set("position", {1.2, 0, -0.2})
      .consistent("velocity")
      .consistent("angular_velocity");
  builder.joint("hinge", "revolute")
      .set("between", "ground", "rod")
      .set("at", {0, 0, 0})
      .set("axis", {0, 1, 0});
  builder.joint("wrist", "universal")
      .set("between", "rod", "bob")
      .set("at", {1, 0, 0})
      .set("first_axis", {0, 1, 0})
      .set("second_axis", {0, 0, 1});
  builder.force("spring", "spring_damper")
      .set("between", "ground", "bob")
      .set("points", {1.5, 0, 1, 1.2, 0, -0.2})
      .set("stiffness", {30})
      .set("damping", {2});
  builder.force("brake", "joint_friction")
      .set("joint", std::string("hinge"))
      .set("coefficient", {0.3})
      .set("radius", {0.05})
      .set("smoothing", {0.1});
  builder.force("torsion", "joint_spring").set("joint", std::string("hinge")).set("stiffness", {4});
  builder.force("push", "force")
      .set("on", std::string("bob"))
      .set("force", {0, 1, 0})
      .expression("force", 0, "3*sin(7*t)");
  builder.sensor("tip", "position").set("of", std::string("bob"));
  builder.sensor("turn", "joint_angle").set("of", std::string("hinge"));
  builder.sensor("load", "reaction_torque").set("of", std::string("hinge"));
  builder.sensor("energy", "energy");
  return builder.finish();
}

TEST(Sensitivity, AgreesWithDifferencesForAllKindsOfParameters) {
  const Names parameters = {
      "bodies.bob.mass",          "bodies.rod.inertia[1]",      "bodies.rod.angular_velocity[1]",
      "joints.wrist.at[0]",       "joints.wrist.at[2]",         "joints.wrist.second_axis[1]",
      "forces.spring.stiffness",  "forces.spring.points[0][2]", "forces.brake.coefficient",
      "forces.torsion.stiffness", "forces.push.force[1]"};
  const auto compare = [&](const std::string& formulation, const std::string& integrator) {
    const System system = make_system(mechanism(), formulation);
    const Names outputs = {"tip", "turn", "energy"};
    const Sensitivity s = differentiate(system, integrator, 5e-3, 0.2, parameters, outputs);
    expect_agreement(s, formulation + " " + integrator);
    expect_same_backwards(system, s, integrator, 5e-3, 0.2, outputs);
  };
  for (const std::string formulation : {"r3so3", "se3", "euler-parameters", "minimal"})
    compare(formulation, solved_well("generalized-alpha"));
  compare("r3so3", "dopri5");
}

// Without room for all states every sqrt(N)-th one is kept, and the others are calculated again: the same gradient in memory that grows like the square root.
TEST(Sensitivity, MemoryOfTheAdjointGrowsLikeTheSquareRootOfTheSteps) {
  const System system = make_system(top());
  SimulateOptions options;
  options.integrator = "generalized-alpha,newton_tol=1e-13";
  options.step = 1e-3;
  std::vector<double> bytes;
  for (const double end : {0.05, 0.2}) {
    options.end = end;
    const std::vector<Output> outputs = parse_outputs(system, options, {"position[0]", "energy@integral"});
    const std::vector<double> ends = step_ends(system, options);
    const std::vector<int> parameters = {system.params().find("bodies.top.mass"),
                                         system.params().find("gravity[2]")};
    const Eigen::MatrixXd weights = Eigen::MatrixXd::Identity(2, 2);
    AdjointRun with_room(system, options, ends, outputs), without(system, options, ends, outputs, 1);
    EXPECT_EQ(with_room.distance(), 1U);
    EXPECT_EQ(without.distance(),
              static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(ends.size())))));
    bytes.push_back(static_cast<double>(without.most_bytes()));
    const Eigen::MatrixXd expected = with_room.gradients(parameters, weights),
                          found = without.gradients(parameters, weights);
    EXPECT_LT((found - expected).norm(), 1e-10 * expected.norm());
  }
  fmt::print("  {} and {} bytes of states with 50 and 200 steps\n", bytes[0], bytes[1]);
  EXPECT_LT(bytes[1], 2.2 * bytes[0]);
}

TEST(Sensitivity, SaysWhatItDoesNotKnow) {
  const System system = make_system(mechanism());
  const auto message = [&](const Names& parameters, const Names& outputs, const std::string& integrator) {
    try {
      differentiate(system, integrator, 1e-3, 1e-2, parameters, outputs, false);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(message({"forces.push.force[0]"}, {}, "rk44"), HasSubstr("function of time"));
  EXPECT_THAT(message({"bodies.bob.mas"}, {}, "rk44"), HasSubstr("mass"));
  EXPECT_THAT(message({}, {}, "rk44"), HasSubstr("at least one parameter"));
  EXPECT_THAT(message({"bodies.bob.mass"}, {"tap"}, "rk44"), HasSubstr("tip"));
  EXPECT_THAT(message({"bodies.bob.mass"}, {"tip[3]"}, "rk44"), HasSubstr("from 0 to 2"));
  EXPECT_THAT(message({"bodies.bob.mass"}, {"tip@later"}, "rk44"), HasSubstr("integral"));
  EXPECT_THAT(message({"bodies.bob.mass"}, {}, "generalized-alpha,variant=paper"),
              HasSubstr("variant=exact"));
}

}  // namespace
}  // namespace liedyn
