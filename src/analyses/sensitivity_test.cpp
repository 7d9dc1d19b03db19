// Derivatives with respect to parameters: against closed forms, and against extrapolated differences of whole runs along the same steps, for
// every integrator and formulation.

#include "liedyn/analyses/sensitivity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "liedyn/analyses/adjoint.h"
#include "liedyn/integrators/integrator.h"
#include "liedyn/system/testing.h"

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

// Differences of runs have a round-off that does not depend on the parameter: a derivative that is small beside the others is known less well.
void expect_agreement(const Sensitivity& s, const std::string& what, double tolerance = 1e-6) {
  constexpr double kRounding = 1e-9;
  std::vector<double> size(s.parameters.size());
  for (std::size_t k = 0; k < size.size(); ++k)
    for (std::size_t i = 0; i < s.outputs.size(); ++i)
      size[k] = std::max(size[k], std::abs(s.derivative(i, k)));
  const double largest = *std::max_element(size.begin(), size.end());
  for (std::size_t k = 0; k < size.size(); ++k) {
    fmt::print("  {:<70} {:<28} {:.1e} (differences {:.1e})\n", what, s.parameters[k], s.disagreement[k],
               s.uncertainty[k]);
    EXPECT_LT(s.disagreement[k] * size[k], tolerance * size[k] + kRounding * largest)
        << what << " " << s.parameters[k];
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
    const double expected[4][4] = {
        {t * t / 2, t, 1, 0},
        {0.25 * 0.25 / 2, 0.25, 1, 0},
        {t * t * t / 6, t * t / 2, t, 0},
        // m (v_x^2 + v_z^2)/2 - m g z is constant: m v_z, -m g, the energy per mass.
        {-2 * 3, 2 * 5, -2 * g, (4 * 4 + 5 * 5) / 2.0 - g * 3}};
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t k = 0; k < 4; ++k)
        EXPECT_NEAR(s.derivative(i, k), expected[i][k], 1e-10)
            << method << ": d(" << s.outputs[i] << ")/d(" << s.parameters[k] << ")";
  }
}

// x = x_0 cos(w t) + v_0/w sin(w t), w^2 = k/m: the amplitude a = sqrt(x_0^2 + v_0^2 m/k) lies between steps. Along steps that an adaptive method finds long enough (5 in a period), too.
TEST(Sensitivity, ExtremaAndIntegralsAreThoseBetweenSteps) {
  const double m = 2, k = 50, x0 = 0.1, v0 = 0.3, w = std::sqrt(k / m), end = 1.3;
  ModelBuilder builder({0, 0, 0});
  builder.body("b", "rigid")
      .set("mass", {m})
      .set("inertia", {1, 1, 1})
      .set("position", {x0, 0, 0})
      .set("velocity", {v0, 0, 0});
  builder.joint("rail", "prismatic")
      .set("between", "ground", "b")
      .set("at", {0, 0, 0})
      .set("axis", {1, 0, 0});
  builder.force("spring", "joint_spring")
      .set("joint", std::string("rail"))
      .set("stiffness", {k})
      .set("free", {-x0});
  builder.sensor("x", "position").set("of", std::string("b"));
  const System system = make_system(builder.finish());
  const Names parameters = {"forces.spring.stiffness", "bodies.b.velocity[0]", "bodies.b.mass"};
  const Names outputs = {"x[0]@max", "x[0]@min", "x[0]@integral"};
  const double a = std::sqrt(x0 * x0 + v0 * v0 * m / k);
  // The integral is (x_0 sin(w t) + v_0/w (1 - cos(w t)))/w.
  const double s = std::sin(w * end), c = std::cos(w * end);
  const double integral = (x0 * s + v0 / w * (1 - c)) / w;
  const double by_w = (x0 * end * c + v0 / w * end * s - v0 / (w * w) * (1 - c)) / w - integral / w;
  const double of_a[3] = {-v0 * v0 * m / (k * k) / (2 * a), v0 * m / k / a, v0 * v0 / k / (2 * a)};
  const double of_integral[3] = {by_w * w / (2 * k), (1 - c) / (w * w), -by_w * w / (2 * m)};
  for (const auto& [method, step, tolerance] :
       std::vector<std::tuple<std::string, double, double>>{{"dopri5", 0.02, 1e-6},
                                                            {"dopri5,adaptive=true,rtol=1e-8", 0.02, 2e-4},
                                                            {"esdirk4-6,newton_tol=1e-13", 0.02, 2e-5}}) {
    const Sensitivity found = differentiate(system, method, step, end, parameters, outputs);
    EXPECT_NEAR(found.values[0], a, tolerance * a) << method;
    EXPECT_NEAR(found.values[1], -a, tolerance * a) << method;
    EXPECT_NEAR(found.values[2], integral, tolerance * std::abs(integral)) << method;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t n = 0; n < 3; ++n) {
        const double expected = i == 0 ? of_a[n] : i == 1 ? -of_a[n] : of_integral[n];
        fmt::print("  {:<34} d({})/d({}) {:.9g}, exactly {:.9g}\n", method, outputs[i], parameters[n],
                   found.derivative(i, n), expected);
        EXPECT_NEAR(found.derivative(i, n), expected, 10 * tolerance * std::abs(expected)) << method;
      }
    // They are derivatives of what plain runs give, and the same backwards.
    expect_agreement(found, method, 1e-7);
    expect_same_backwards(system, found, method, step, end, outputs);
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

// (The top begins to fall at rest: its largest height is where it starts or just behind, with a kink of second order at the value of these parameters, through which differences converge slowly.)
TEST(Sensitivity, AgreesWithDifferencesForEveryFormulation) {
  for (const std::string& formulation : formulations())
    for (const std::string method : {"generalized-alpha", "generalized-alpha,index=2",
                                     "generalized-alpha,index=stabilized", "ss3", "rk44"}) {
      const Sensitivity s = differentiate(make_system(top(), formulation), solved_well(method), 1e-3, 0.008,
                                          kTopParameters, {"position", "position[2]@min"});
      expect_agreement(s, formulation + " " + method);
      expect_same_backwards(make_system(top(), formulation), s, solved_well(method), 1e-3, 0.008,
                            {"position", "position[2]@min"});
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

// What cannot be changed alone is said: a velocity that the pivot decides on, or a spin that this velocity goes with; not the spin about the line to the pivot.
TEST(Sensitivity, NotesParametersThatConstraintsBind) {
  ModelBuilder builder;
  builder.body("top", "rigid").set("mass", {15}).set("inertia", {0.234375, 0.46875, 0.234375});
  builder.set("position", {0, 1, 0}).set("velocity", {4.5, 0, 0}).set("angular_velocity", {0, 150, -4.5});
  builder.joint("pivot", "spherical").set("between", "ground", "top").set("at", {0, 0, 0});
  builder.sensor("position", "position").set("of", std::string("top"));
  const std::shared_ptr<const Description> description = builder.finish();
  for (const std::string formulation : {"r3so3", "minimal"})
    for (const auto& [initial, count] : {std::pair{"check", 2}, std::pair{"project", 0}}) {
      SensitivityOptions options;
      options.simulation.step = 1e-3;
      options.simulation.end = 2e-3;
      options.simulation.initial = initial;
      options.parameters = {"bodies.top.mass", "bodies.top.velocity[0]", "bodies.top.angular_velocity[1]",
                            "bodies.top.angular_velocity[2]", "gravity[2]"};
      options.outputs = {"position"};
      const Sensitivity s = sensitivity(make_system(description, formulation), options);
      ASSERT_EQ(s.notes.size(), static_cast<std::size_t>(count))
          << formulation << ", initial " << initial << ": " << testing::PrintToString(s.notes);
      if (count > 0) {
        EXPECT_THAT(s.notes[0], testing::HasSubstr("bodies.top.velocity[0]"));
        EXPECT_THAT(s.notes[1], testing::HasSubstr("bodies.top.angular_velocity[2]"));
      }
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

TEST(Sensitivity, KnowsPatternsAndRefusesRepetition) {
  const System system = make_system(mechanism());
  const Sensitivity s =
      differentiate(system, "rk44", 1e-3, 2e-3, {"bodies.*.mass", "forces.push.*", "bodies.rod.iner*[1]"},
                    {"tip[0]"}, false);
  EXPECT_EQ(s.parameters, (Names{"bodies.rod.mass", "bodies.bob.mass", "forces.push.force[1]",
                                 "forces.push.force[2]", "bodies.rod.inertia[1]"}));
  EXPECT_THAT(s.notes, ::testing::ElementsAre(::testing::HasSubstr("functions of time")));
  EXPECT_EQ(s.parameter_units[0], "kg");
  EXPECT_EQ(s.output_units[0], "m");
  // Twice the same number would be twice its derivative.
  EXPECT_THROW(
      differentiate(system, "rk44", 1e-3, 2e-3, {"bodies.rod.mass", "bodies.rod.mass"}, {"tip[0]"}, false),
      InputError);
  EXPECT_THROW(differentiate(system, "rk44", 1e-3, 2e-3, {"bodies.*.mas"}, {"tip[0]"}, false), InputError);
}

// Where the model refuses numbers on one side, differences are those of the other.
TEST(Sensitivity, ChecksAtTheBorderOfWhatIsAllowed) {
  ModelBuilder builder;
  builder.body("plate", "rigid")
      .set("mass", {1})
      .set("inertia", {1, 2, 3})
      .set("angular_velocity", {0.1, 2, 1});
  builder.sensor("spin", "angular_velocity").set("of", std::string("plate"));
  const System system = make_system(builder.finish());
  const Sensitivity s = differentiate(system, "dopri5", 0.01, 0.5,
                                      {"bodies.plate.inertia[0]", "bodies.plate.inertia[2]"}, {"spin"});
  expect_agreement(s, "a plate");
  EXPECT_THAT(s.disagrees, ::testing::Each(false));
}

// A Newton's method that stops early has other derivatives than the solution that it did not reach.
// A damping of zero where 1e-5 N s/m is much: the first steps of the differences overdamp or, below zero, let it grow without bound, and are wrong all together. To first order in c,
//   x = x_0 (1 - c t/(2 m)) cos(w t) + x_0 c/(2 m w) sin(w t).
TEST(Sensitivity, DifferencesFindTheScaleOfAValueOfZero) {
  const double m = 1e-8, k = 1e-2, x0 = 0.1, w = std::sqrt(k / m), end = 5e-3;
  ModelBuilder builder({0, 0, 0});
  builder.body("b", "rigid").set("mass", {m}).set("inertia", {1, 1, 1}).set("position", {x0, 0, 0});
  builder.joint("rail", "prismatic").set("between", "ground", "b").set("at", {0, 0, 0});
  builder.set("axis", {1, 0, 0});
  builder.force("spring", "joint_spring").set("joint", std::string("rail")).set("stiffness", {k});
  builder.set("free", {-x0});
  builder.sensor("place", "position").set("of", std::string("b"));
  const System system = make_system(builder.finish());
  const std::string integrator = "generalized-alpha,rho=0.9,newton_tol=1e-13";
  const Sensitivity checked =
      differentiate(system, integrator, 1e-5, end, {"forces.spring.damping"}, {"place[0]"});
  const double expected =
      x0 * (-end / (2 * m) * std::cos(w * end) + std::sin(w * end) / (2 * m * w));  // second order in h w
  EXPECT_NEAR(checked.derivative(0, 0), expected, 1e-3 * std::abs(expected));
  EXPECT_NEAR(checked.differences[0], checked.derivative(0, 0), 1e-5 * std::abs(expected));
  EXPECT_FALSE(checked.disagrees[0]);
  EXPECT_LT(checked.uncertainty[0], 1e-4);
}

TEST(Sensitivity, SaysWhereDifferencesDisagree) {
  const Sensitivity s = differentiate(make_system(top()), "generalized-alpha,newton_tol=1", 5e-3, 0.05,
                                      kTopParameters, {"position"});
  EXPECT_THAT(s.disagrees, ::testing::Contains(true));
  const Sensitivity good = differentiate(make_system(top()), "generalized-alpha,newton_tol=1e-12", 5e-3, 0.05,
                                         kTopParameters, {"position"});
  EXPECT_THAT(good.disagrees, ::testing::Each(false));
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
  SensitivityOptions differences;
  differences.simulation.end = 1e-2;
  differences.parameters = {"forces.push.force[0]"};
  differences.method = SensitivityMethod::Difference;
  EXPECT_THROW(sensitivity(system, differences), InputError);
  EXPECT_THAT(message({"bodies.bob.mas"}, {}, "rk44"), HasSubstr("mass"));
  EXPECT_THAT(message({}, {}, "rk44"), HasSubstr("at least one parameter"));
  EXPECT_THAT(message({"bodies.bob.mass"}, {"tap"}, "rk44"), HasSubstr("tip"));
  EXPECT_THAT(message({"bodies.bob.mass"}, {"tip[3]"}, "rk44"), HasSubstr("from 0 to 2"));
  EXPECT_THAT(message({"bodies.bob.mass"}, {"tip@later"}, "rk44"), HasSubstr("integral"));
  EXPECT_THAT(message({"bodies.bob.mass"}, {}, "generalized-alpha,variant=paper"),
              HasSubstr("variant=exact"));
}

// A number that follows a sensor or the time while the motion is evaluated has no value to vary, whichever force and method it is.
TEST(Sensitivity, RefusesNumbersThatFollowSensorsOrTime) {
  const auto model = [](const std::string& stiffness) {
    ModelBuilder builder({0, 0, 0});
    builder.parameter("k", 5);
    builder.body("b", "rigid").set("mass", {1}).set("inertia", {1, 1, 1}).set("velocity", {1, 0, 0});
    builder.joint("g", "prismatic").set("between", "ground", "b").set("at", {0, 0, 0}).set("axis", {1, 0, 0});
    builder.force("s", "joint_spring").set("joint", "g").set("stiffness", stiffness).set("damping", 0.1);
    builder.force("u", "bushing").set("between", "ground", "b").set("stiffness", {stiffness, 0, 0});
    builder.set("at", {0, 0, 0});
    builder.sensor("x", "joint_displacement").set("of", "g");
    return make_system(builder.finish());
  };
  for (const auto& [text, follows] :
       {std::pair<std::string, std::string>{"k+x", "depends on states or sensors, 'k+x', and cannot be set"},
        {"k*(1+t)", "depends on the time, 'k*(1+t)', and cannot be set"}}) {
    const System system = model(text);
    for (const std::string path : {"forces.s.stiffness", "forces.u.stiffness[0]"})
      for (const SensitivityMethod method :
           {SensitivityMethod::Direct, SensitivityMethod::Adjoint, SensitivityMethod::Difference}) {
        SensitivityOptions options;
        options.simulation.end = 1e-2;
        options.parameters = {"k", path};
        options.outputs = {"x"};
        options.method = method;
        try {
          sensitivity(system, options);
          ADD_FAILURE() << path << " of " << text;
        } catch (const InputError& error) {
          EXPECT_THAT(error.what(), ::testing::HasSubstr(path + ": " + follows));
        }
      }
    // A pattern leaves these out and says so; what remains is checked.
    const Sensitivity s =
        differentiate(system, "generalized-alpha,newton_tol=1e-12", 1e-3, 1e-1, {"forces.s.*", "k"}, {"x"});
    EXPECT_THAT(s.parameters, ::testing::Not(::testing::Contains("forces.s.stiffness")));
    EXPECT_THAT(s.parameters, ::testing::IsSupersetOf({"forces.s.damping", "k"}));
    EXPECT_THAT(s.notes, ::testing::Contains(
                             ::testing::HasSubstr("1 parameters are functions of time, states or sensors")));
    EXPECT_THAT(s.disagrees, ::testing::Each(false));
  }
}

// At the tolerance that is usual, stages are differentiated with their configuration held; far below it, with their increments held and everything recorded. Both are the same.
TEST(Sensitivity, IsTheSameWhateverAStageHolds) {
  for (const std::string& formulation : formulations())
    for (const std::string method :
         {"generalized-alpha", "generalized-alpha,sigma=1", "generalized-alpha,sigma=opt,index=2",
          "generalized-alpha,index=stabilized", "lms3", "ss3", "esdirk3-4", "bathe", "mssth3"})
      for (const std::string body : {"top", "mechanism"}) {
        const auto found = [&](const std::string& tolerance) {
          return differentiate(make_system(body == "top" ? top() : mechanism(), formulation),
                               method + tolerance, 4e-3, body == "top" ? 8e-3 : 0.02,
                               body == "top" ? kTopParameters : Names{"gravity[2]", "joints.wrist.at[0]"},
                               body == "top" ? Names{"position", "energy"} : Names{}, false);
        };
        const Sensitivity held = found(",newton_tol=1e-9"), recorded = found(",newton_tol=1e-13");
        double rest = 0, size = 0;
        for (std::size_t i = 0; i < held.derivatives.size(); ++i) {
          rest = std::max(rest, std::abs(held.derivatives[i] - recorded.derivatives[i]));
          size = std::max(size, std::abs(recorded.derivatives[i]));
        }
        fmt::print("  {:<20} {:<40} {:<10} {:.1e}\n", formulation, method, body, rest / size);
        EXPECT_LT(rest, 1e-6 * size) << formulation << " " << method << " " << body;
      }
}

}  // namespace
}  // namespace liedyn
