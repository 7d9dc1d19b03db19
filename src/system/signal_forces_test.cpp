// Forces whose numbers follow states and sensors: their matrices against differences along the groups, for every field of every listed
// force that may do so, in every formulation, and what they exert against the same force with the numbers typed.
#include <gtest/gtest.h>

#include "liedyn/model/forces/list.h"
#include "liedyn/model/parameter_paths.h"
#include "liedyn/model/record_all.h"
#include "liedyn/system/subsystems.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

// Every kind of sensor that expressions of the dynamics may name, looking at bodies and joints that move in all directions.
const std::vector<std::string> kSignals = {"0.7 + 0.2*sin(place[1]) + t",
                                           "0.5 + 0.3*speed[0]*speed[2]",
                                           "0.4 + 0.2*cos(spin[1]) + 0.1*turn_rate[2]",
                                           "0.6 + 0.2*sin(far[2]) + 0.1*apart[0]",
                                           "0.8 + 0.3*closing[1]*closing[0]",
                                           "0.5 + 0.1*gap^2 + 0.2*gap_rate",
                                           "0.9 + 0.3*tanh(hinge_angle)",
                                           "0.6 + 0.2*hinge_rate^2",
                                           "0.4 + 0.3*charge^2",
                                           "0.5 + 0.2*mixed[0]",
                                           "where(place[0] > 0, 0.4 + 0.1*place[0], 0.3 - 0.2*place[0])"};

void add_sensors(ModelBuilder& builder) {
  const auto of = [&](const std::string& name, const std::string& type,
                      const std::string& what) -> ModelBuilder& {
    return builder.sensor(name, type).set("of", what);
  };
  const auto between = [&](const std::string& name, const std::string& type) -> ModelBuilder& {
    return builder.sensor(name, type).set("between", "wheel", "probe");
  };
  of("place", "position", "probe").set("at", {0.3, -0.2, 0.5});
  of("speed", "velocity", "probe").set("at", {0.1, 0.4, -0.3});
  of("spin", "angular_velocity", "probe");
  of("turn_rate", "angular_velocity", "probe").set("axes", std::string("inertial"));
  between("far", "relative_position").set("points", {0.2, 0.1, 0, 0.3, 0.5, -0.4});
  between("apart", "relative_position").set("axes", std::string("inertial"));
  between("closing", "relative_velocity").set("points", {0.2, 0.1, 0, 0.3, 0.5, -0.4});
  between("closing_inertial", "relative_velocity").set("axes", std::string("inertial"));
  between("twist", "relative_angular_velocity");
  between("twist_inertial", "relative_angular_velocity").set("axes", std::string("inertial"));
  between("gap", "distance").set("points", {0, 0.4, 0.2, -0.6, 0.1, 0.3});
  between("gap_rate", "distance_rate").set("points", {0, 0.4, 0.2, -0.6, 0.1, 0.3});
  of("hinge_angle", "joint_angle", "hinge");
  of("hinge_rate", "joint_angle_rate", "hinge");
  builder.sensor("sum", "expression")
      .set("value", std::string("0.3*twist[0] + twist_inertial[1]*closing_inertial[2]"));
  builder.sensor("mixed", "expression").set("value", std::string("sum + 0.2*sum^2 + t; place[0]"));
}

// The force of this kind, between all that it may act on; the numbers that may follow signals do.
std::shared_ptr<const Description> model_with(const Kind& kind, Random& random, bool follows) {
  ModelBuilder builder({0, 0, -9.81});
  for (const char* name : {"wheel", "probe", "other"}) {
    builder.body(name, "rigid").set("mass", {random.between(1, 2)}).set("inertia", random.inertia());
    builder.set("position", random.vector<3>()).set("orientation", random.vector<3>());
    builder.set("velocity", random.vector<3>()).set("angular_velocity", random.vector<3>());
  }
  builder.joint("hinge", "revolute").set("between", "ground", "wheel").set("at", {0.1, 0.2, 0.3});
  builder.set("axis", {0.3, -0.5, 0.8}).set("zero", {0.4});
  builder.joint("axle", "revolute").set("between", "ground", "other").set("at", {0.2, -0.1, 0.4});
  builder.set("axis", {0.6, 0.2, -0.3});
  builder.state("charge", "integral").set("initial", {0.3}).set("input", std::string("sin(t)"));
  builder.beam("rod", "circle").set("from", {0, 0, 1}).set("to", {1, 0, 1}).set("elements", {2});
  builder.set("radius", {0.05}).set("young", {1e4}).set("density", {100});

  builder.force("push", kind.type);
  if (kind.field("between") >= 0) builder.set("between", "other", "wheel");
  if (kind.field("joint") >= 0) builder.set("joint", std::string("hinge"));
  if (kind.field("joints") >= 0) builder.set("joints", "hinge", "axle");
  if (const int on = kind.field("on"); on >= 0)
    builder.set(
        "on",
        std::string(kind.fields[static_cast<std::size_t>(on)].type == FieldType::Beam ? "rod" : "wheel"));
  if (kind.field("points") >= 0) builder.set("points", {0.2, 0.1, -0.4, 0.5, 0.3, 0.6});
  if (kind.field("at") >= 0) builder.set("at", {0.4, -0.3, 0.2});
  std::size_t next = 0;
  for (const Field& field : kind.fields) {
    if (!field.may_depend_on_signals) {
      // Machine elements have further numbers that they need.
      const bool needed = field.required || field.name == "smoothing" || field.name == "rotor_inertia";
      if (needed && field.type == FieldType::Number) builder.set(field.name, {0.8});
      continue;
    }
    const int count = field.type == FieldType::Vector ? 3 : 1;
    builder.set(field.name, std::vector<double>(static_cast<std::size_t>(count), 0.7));
    for (int i = 0; i < count && follows; ++i, ++next)
      builder.expression(field.name, i, next % 12 == 11 ? "0.6 + t" : kSignals[next % 12]);
  }
  add_sensors(builder);
  return builder.finish();
}

bool has_signals(const Kind& kind) {
  return std::any_of(kind.fields.begin(), kind.fields.end(),
                     [](const Field& f) { return f.may_depend_on_signals; });
}

TEST(SignalForces, OfEveryListedKindHaveTheirMatrices) {
  int kinds_with_signals = 0;
  for (const ListedKind& listed : force_kinds()) {
    if (!has_signals(listed.kind)) continue;
    ++kinds_with_signals;
    for (const std::string& formulation : formulations()) {
      Random random(11);
      const System system = make_system(model_with(listed.kind, random, true), formulation);
      Work work(system);
      const State state = random_state(system, random);
      ASSERT_TRUE(system.not_finite(state, work).empty()) << listed.kind.type << " in " << formulation;
      const auto residual = [&](const State& at) -> Eigen::VectorXd {
        system.residual(at, work, {true, true, true});
        return as_vector(work.r);
      };
      const auto block = [&](const Seeding& force) {
        MatrixRequest request;
        request.force = force;
        system.jacobian(state, work, {true, true, true}, request);
        const int nv = system.model().nv;
        return Eigen::MatrixXd(dense_matrix(block_pattern(system.model(), IndexForm::Index3), *work.solver)
                                   .topLeftCorner(nv, nv));
      };
      const Eigen::MatrixXd K = differences(
          [&](const Eigen::VectorXd& d) { return residual(moved(system, state, d)); }, system.model().nv);
      const Eigen::MatrixXd C = differences(
          [&](const Eigen::VectorXd& d) {
            State at = state;
            for (std::size_t i = 0; i < at.v.size(); ++i) at.v[i] += d[static_cast<Eigen::Index>(i)];
            return residual(at);
          },
          system.model().nv);
      const std::string name = listed.kind.type + " in " + formulation;
      expect_at_most(row_difference(block({1, 0, 0}), K), 1e-7, name + ": K = dr/dq");
      expect_at_most(row_difference(block({0, 1, 0}), C), 1e-7, name + ": C = dr/dv");
    }
  }
  EXPECT_EQ(kinds_with_signals, 14);
}

// `--record all` finds sensors that every force can have, and each force is seen by more than its power.
TEST(RecordAll, SeesWhatEveryListedForceExerts) {
  for (const ListedKind& listed : force_kinds()) {
    if (!has_signals(listed.kind)) continue;
    for (const std::string formulation : {"r3so3", "minimal"}) {
      Random random(13);
      Description d = *model_with(listed.kind, random, false);
      record_all(d);
      const auto& sensors = d.entries(Section::Sensors);
      EXPECT_TRUE(listed.along != nullptr || std::any_of(sensors.begin(), sensors.end(),
                                                         [](const Entry& e) {
                                                           return e.name == "push.effort" ||
                                                                  e.name == "push.applied_force";
                                                         }))
          << listed.kind.type;
      const System system = make_system(std::make_shared<const Description>(std::move(d)), formulation);
      Work work(system);
      for (const double value : sensed(system, random_state(system, random), work))
        EXPECT_TRUE(std::isfinite(value)) << listed.kind.type << " in " << formulation;
    }
  }
}

// With the values of the signals typed as numbers the residual is the same.
TEST(SignalForces, ExertWhatTheSameNumbersWould) {
  for (const ListedKind& listed : force_kinds()) {
    if (!has_signals(listed.kind)) continue;
    Random random(5);
    const System system = make_system(model_with(listed.kind, random, true));
    Random again(5);
    const System typed = make_system(model_with(listed.kind, again, false));
    Work work(system);
    // Where joints hold: off their constraints, the coordinate of the dynamics and that of the sensor differ.
    State state = consistent_state(system, 0.3,
                                   {.policy = InitialPolicy::Project, .given = nullptr, .movable = {}}, work);
    std::fill(state.vdot.begin(), state.vdot.end(), 0.0);  // the residual is then not just round-off
    const std::vector<double> seen = sensed(system, state, work);

    // The expressions, evaluated from what the sensors show.
    const Description& d = system.model().description();
    VariableNames names;
    std::vector<double> values;
    names.add("t");
    values.push_back(state.t);
    names.add("charge");
    values.push_back(state.v.back());
    for (const Sensor& sensor : system.model().sensors)
      for (int i = 0; i < sensor.components; ++i) {
        names.add(sensor.components == 1 ? sensor.name : fmt::format("{}[{}]", sensor.name, i));
        values.push_back(seen[static_cast<std::size_t>(sensor.first + i)]);
      }
    Params params = typed.params();
    for (const NumberExpression& signal : d.signals)
      params.set(parameter_path(d, signal.number),
                 Expression::parse(signal.text, names).evaluate<double>(values));
    const System same(typed.shared_model(), params);
    Work same_work(same);
    system.residual(state, work, {true, true, true});
    same.residual(state, same_work, {true, true, true});
    expect_at_most(relative_difference(as_vector(work.r), as_vector(same_work.r)), 1e-12,
                   listed.kind.type + ": residual with expressions - with their values");
    // What acts on the bodies: those that expressions only look at feel nothing.
    std::vector<Acting> acting, same_acting;
    acting_forces(system, state, work, acting);
    acting_forces(same, state, same_work, same_acting);
    double largest = 0, difference = 0;
    for (std::size_t i = 0; i < acting.size(); ++i) {
      largest = std::max({largest, same_acting[i].force, same_acting[i].torque});
      difference = std::max({difference, std::abs(acting[i].force - same_acting[i].force),
                             std::abs(acting[i].torque - same_acting[i].torque)});
    }
    expect_at_most(difference / largest, 1e-12, listed.kind.type + ": forces on bodies - with typed values");
    EXPECT_TRUE(system.not_finite(state, work).empty()) << listed.kind.type;
  }
}

}  // namespace
}  // namespace liedyn
