// Machine elements in every variant: their matrices against differences along the groups, in every formulation, and what is said about mistakes.
#include <gtest/gtest.h>

#include "liedyn/model/parameter_paths.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

// All machines at once, their signals following sensors, states and each other.
std::shared_ptr<const Description> machines(Random& random) {
  ModelBuilder builder({0, 0, -9.81});
  for (const char* name : {"wheel", "probe", "other", "shaft"}) {
    builder.body(name, "rigid").set("mass", {random.between(1, 2)}).set("inertia", random.inertia());
    builder.set("position", random.vector<3>()).set("orientation", random.vector<3>());
    builder.set("velocity", random.vector<3>()).set("angular_velocity", random.vector<3>());
  }
  builder.joint("hinge", "revolute").set("between", "ground", "wheel").set("at", {0.1, 0.2, 0.3});
  builder.set("axis", {0.3, -0.5, 0.8});
  builder.joint("slide", "cylindrical").set("between", "wheel", "other").set("at", {0.4, -0.2, 0.1});
  builder.set("axis", {-0.2, 0.6, 0.4});
  builder.joint("axle", "revolute").set("between", "probe", "shaft").set("at", {-0.3, 0.5, 0.2});
  builder.set("axis", {0.7, 0.1, -0.4}).set("zero", {0.3});
  builder.state("charge", "integral").set("initial", {0.3}).set("input", std::string("sin(t)"));
  builder.sensor("place", "position").set("of", std::string("probe")).set("at", {0.3, -0.2, 0.5});
  builder.sensor("rate", "joint_angle_rate").set("of", std::string("axle"));

  const auto signal = [&](const char* field, const std::string& text) {
    builder.set(field, {0.0}).expression(field, 0, text);
  };
  const auto joint = [&](const char* name, const char* coordinate = "auto") {
    builder.set("joint", std::string(name)).set("coordinate", std::string(coordinate));
  };
  const auto motor = [&] {
    builder.set("resistance", {1.3}).set("torque_constant", {0.7}).set("gear_ratio", {-1.6});
    builder.set("rotor_inertia", {0.4}).set("damping", {0.2});
  };
  builder.force("motor", "dc_motor").set("inductance", {0.6}).set("initial_current", {0.4});
  joint("hinge");
  motor();
  signal("voltage", "3*sin(place[1]) - 0.5*motor.current^2 + charge*t + 0.1*cylinder.pressure_a");
  builder.force("linear", "dc_motor");
  joint("slide", "displacement");
  motor();
  signal("voltage", "1 + rate*place[0]");
  builder.force("coupling", "clutch").set("joints", "hinge", "axle").set("law", std::string("stick"));
  builder.set("deflection", {0.7}).set("damping_time", {0.3});
  signal("capacity", "2 + charge^2 + 0.3*rate");
  builder.force("slipping", "clutch").set("joints", "axle", "hinge").set("smoothing", {0.4});
  signal("capacity", "1.5 + 0.2*place[2]");
  builder.force("brake", "joint_clutch").set("law", std::string("stick")).set("deflection", {0.5});
  joint("slide", "angle");
  builder.set("capacity", {0.9});
  const auto hydraulics = [&](const std::string& valve) {
    builder.set("area_a", {0.8}).set("area_b", {0.5}).set("dead_volume_a", {0.6}).set("dead_volume_b", {0.9});
    builder.set("stroke", {40}).set("bulk_modulus", {1.7}).set("rated_flow", {1.2}).set("rated_drop", {0.7});
    builder.set("supply_pressure", {2}).set("tank_pressure", {-0.3}).set("leakage", {0.2});
    builder.set("smoothing", {0.4}).set("damping", {0.3});
    signal("valve", valve);
  };
  builder.force("cylinder", "hydraulic_cylinder").set("between", "wheel", "probe");
  builder.set("points", {0.2, 0.1, -0.4, 0.5, 0.3, 0.6}).set("retracted", {1e-3});
  hydraulics("0.6 + 0.2*sin(place[0]) + 0.1*coupling.bristle");
  builder.force("vane", "joint_hydraulics").set("retracted", {-20});
  joint("axle");
  hydraulics("-0.7 + 0.2*cos(rate)");
  const Mat6 A = Mat6::NullaryExpr([&] { return random.between(-1, 1); });
  const Mat6 K = A * A.transpose() + Mat6::Identity();
  builder.force("bearing", "bearing").set("between", "ground", "shaft").set("at", {0.2, 0.3, -0.1});
  builder.set("orientation", {0.4, -0.3, 0.8});
  Mat6 free = K;
  free.row(5).setZero();
  free.col(5).setZero();
  builder.set("stiffness", std::vector<double>(free.data(), free.data() + 36));
  builder.set("damping", std::vector<double>(K.data(), K.data() + 36));
  return builder.finish();
}

TEST(Machines, HaveTheirMatrices) {
  for (const std::string& formulation : formulations()) {
    Random random(7);
    const System system = make_system(machines(random), formulation);
    Work work(system);
    const State state = random_state(system, random);
    ASSERT_TRUE(system.not_finite(state, work).empty()) << formulation;
    const int nv = system.model().nv;
    const auto residual = [&](const State& at) -> Eigen::VectorXd {
      system.residual(at, work, {true, true, true});
      return as_vector(work.r);
    };
    const auto block = [&](const Seeding& force) {
      MatrixRequest request;
      request.force = force;
      system.jacobian(state, work, {true, true, true}, request);
      return Eigen::MatrixXd(
          dense_matrix(block_pattern(system.model(), IndexForm::Index3), *work.solver).topLeftCorner(nv, nv));
    };
    const auto changed = [&](std::vector<double> State::*constants) {
      return differences(
          [&](const Eigen::VectorXd& d) {
            State at = state;
            for (std::size_t i = 0; i < (at.*constants).size(); ++i)
              (at.*constants)[i] += d[static_cast<Eigen::Index>(i)];
            return residual(at);
          },
          nv);
    };
    const Eigen::MatrixXd K =
        differences([&](const Eigen::VectorXd& d) { return residual(moved(system, state, d)); }, nv);
    expect_at_most(row_difference(block({1, 0, 0}), K), 1e-7, formulation + ": K = dr/dq");
    expect_at_most(row_difference(block({0, 1, 0}), changed(&State::v)), 1e-7, formulation + ": C = dr/dv");
    expect_at_most(row_difference(block({0, 0, 1}), changed(&State::vdot)), 1e-7,
                   formulation + ": M = dr/dvdot");
  }
}

// The same accelerations in every formulation, with the inertia of rotors.
TEST(Machines, AccelerateAlikeInEveryFormulation) {
  std::vector<double> first;
  for (const std::string& formulation : formulations()) {
    Random random(7);
    const System system = make_system(machines(random), formulation);
    Work work(system);
    const State state = consistent_state(
        system, 0.2, {.policy = InitialPolicy::Project, .given = nullptr, .movable = {}}, work);
    std::vector<double> rates(state.vdot.end() - 8, state.vdot.end());  // of the states
    const std::vector<double> seen = sensed(system, state, work);
    rates.insert(rates.end(), seen.begin(), seen.end());
    if (first.empty()) first = rates;
    expect_at_most(relative_difference(as_vector(rates), as_vector(first)), 1e-9, formulation);
  }
}

// A state of a force has the name of both; its initial value is a number of the force.
TEST(Machines, HaveStatesByTheirNames) {
  Random random(7);
  const auto d = machines(random);
  std::vector<std::string> names;
  for (const Entry& state : d->entries(Section::States)) names.push_back(state.name);
  EXPECT_EQ(names, (std::vector<std::string>{"charge", "motor.current", "coupling.bristle", "brake.bristle",
                                             "cylinder.pressure_a", "cylinder.pressure_b", "vane.pressure_a",
                                             "vane.pressure_b"}));
  Params params(d);
  EXPECT_EQ(params.path(params.find("forces.motor.initial_current")), "forces.motor.initial_current");
  params.set("forces.motor.initial_current", 0.9);
  const std::shared_ptr<const Model> model = Model::compile(d);
  const Initial initial = initial_values(*model, params.values().data());
  EXPECT_EQ(initial.v[static_cast<std::size_t>(model->first_state()) + 1], 0.9);
}

// A slip is a difference of two rates of one unit.
TEST(Machines, ClutchesCoupleTwoAnglesOrTwoDisplacements) {
  const auto complaint_about = [](const std::string& first, const std::string& second) {
    ModelBuilder builder({0, 0, 0});
    for (const std::string name : {"a", "b"}) {
      builder.body(name, "rigid").set("mass", {1}).set("inertia", {1, 1, 1});
      builder.joint("joint_" + name, name == "a" ? first : second).set("between", "ground", name);
      builder.set("at", {0, 0, 0}).set("axis", {0, 0, 1});
    }
    builder.force("c", "clutch").set("joints", "joint_a", "joint_b");
    builder.set("capacity", {1}).set("smoothing", {0.1});
    const auto description = builder.finish();
    const std::vector<Diagnostic> found =
        check_parameters(*Model::compile(description), description->parameters.data());
    return found.empty() ? std::string() : to_string(found.front());
  };
  EXPECT_EQ(complaint_about("revolute", "revolute"), "");
  EXPECT_EQ(complaint_about("revolute", "cylindrical"), "");
  EXPECT_EQ(complaint_about("prismatic", "prismatic"), "");
  EXPECT_NE(complaint_about("revolute", "prismatic")
                .find("forces.c: joints: expected two angles or two displacements, got an angle of "
                      "'joint_a' and a displacement of 'joint_b'"),
            std::string::npos)
      << complaint_about("revolute", "prismatic");
  EXPECT_NE(complaint_about("prismatic", "revolute").find("got a displacement of 'joint_a'"),
            std::string::npos);
}

}  // namespace
}  // namespace liedyn
