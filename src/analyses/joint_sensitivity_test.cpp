// Derivatives with respect to parameters through every kind of joint: forwards and backwards, with implicit and explicit methods, against
// extrapolated finite differences of whole runs.
#include <gtest/gtest.h>

#include "liedyn/analyses/sensitivity.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

// Two bodies, the second of which follows the joint, and what the kind needs. The initial configuration meets the joint, whatever its numbers are.
std::shared_ptr<const Description> two_bodies_with(const Kind& kind, std::vector<std::string>& parameters) {
  Random random(3);
  ModelBuilder builder({1, -2, -9});
  const bool plane = kind.type.starts_with("planar_");
  for (const std::string name : {"one", "two"}) {
    const bool free = name == "two";
    builder.body(name, plane ? "planar" : "rigid").set("mass", {random.between(1, 2)});
    if (plane)
      builder.set("inertia", {1.2})
          .set("position", {random.between(-1, 1), random.between(-1, 1)})
          .set("angle", {0.4});
    else
      builder.set("inertia", {1, 1.3, 1.6})
          .set("position", random.vector<3>())
          .set("orientation", random.vector<3>());
    if (free)
      builder.consistent("velocity").consistent("angular_velocity");
    else if (plane)
      builder.set("velocity", {0.3, -0.2}).set("angular_velocity", {0.7});
    else
      builder.set("velocity", random.vector<3>()).set("angular_velocity", random.vector<3>());
  }
  parameters = {"gravity[2]", "bodies.two.mass"};
  if (plane) parameters[0] = "gravity[1]";
  const auto fill = [&](const Kind& of, const std::string& name) {
    for (const Field& field : of.fields) {
      if (!field.required) continue;
      const std::string path = fmt::format("joints.{}.{}", name, field.name);
      switch (field.type) {
        case FieldType::Bodies: builder.set("between", "one", "two"); break;
        case FieldType::Joint: builder.set(field.name, std::string("hinge")); break;
        case FieldType::Joints: builder.set(field.name, "hinge", "rail"); break;
        case FieldType::Vector:
          builder.set(field.name, random.vector<3>());
          parameters.push_back(path + "[1]");
          break;
        case FieldType::PlaneVector:
          builder.set(field.name, {random.between(-1, 1), random.between(-1, 1)});
          parameters.push_back(path + "[1]");
          break;
        case FieldType::Points:
          if (field.name == "pulleys")
            builder.set(field.name, {0.3, 1, 0.2, 0.1, 1.2, -0.4});
          else
            builder.set(field.name, {1, 0.2, 0, -0.5, 0.3, 0.4});
          parameters.push_back(path + "[1][2]");
          break;
        case FieldType::Choices: builder.choose(field.name, {"x", "rotation_y"}); break;
        default:
          builder.set(field.name, {0.4});
          if (field.may_depend_on_time)
            builder.expression(field.name, 0, "0.9*t^2");
          else
            parameters.push_back(path);
      }
    }
  };
  const auto with_axis = [&](const std::string& name, const std::string& type) {
    builder.joint(name, type).set("between", "one", "two").set("at", random.vector<3>());
    builder.set("axis", random.vector<3>());
  };
  if (kind.field("joint") >= 0) with_axis("hinge", "revolute");
  if (kind.field("joints") >= 0) {
    with_axis("hinge", "cylindrical");
    // A third body, so that both coordinates are free.
    builder.body("three", "rigid")
        .set("mass", {1})
        .set("inertia", {1, 1, 1})
        .set("position", random.vector<3>());
    builder.consistent("velocity").consistent("angular_velocity");
    // Teeth need joints on the same body.
    const std::string carrier = kind.type == "gear_mesh" ? "one" : "two";
    builder.joint("rail", "prismatic").set("between", carrier, "three").set("at", random.vector<3>());
    builder.set("axis", random.vector<3>());
  }
  builder.joint("joint", kind.type);
  fill(kind, "joint");
  builder.sensor("place", "position").set("of", std::string("two"));
  builder.sensor("turn", "orientation").set("of", std::string("two"));
  builder.sensor("energy", "energy");
  return builder.finish();
}

TEST(JointSensitivity, AgreesWithFiniteDifferencesForEveryKindOfJoint) {
  for (const Kind& kind : kinds(Section::Joints)) {
    std::vector<std::string> parameters;
    const auto description = two_bodies_with(kind, parameters);
    for (const std::string integrator : {"generalized-alpha,newton_tol=1e-13",
                                         "generalized-alpha,index=stabilized,newton_tol=1e-13", "rk44"}) {
      const System system = make_system(description);
      SensitivityOptions options;
      options.simulation.integrator = integrator;
      options.simulation.step = 5e-3;
      options.simulation.end = 0.015;
      options.parameters = parameters;
      options.outputs = {"place", "turn", "energy"};
      const auto found_by = [&](SensitivityMethod method) {
        options.method = method;
        return sensitivity(system, options).derivatives;
      };
      const std::vector<double> direct = found_by(SensitivityMethod::Direct),
                                adjoint = found_by(SensitivityMethod::Adjoint),
                                differences = found_by(SensitivityMethod::Difference);
      // In the size of the largest: the location of a slider or of a weld changes nothing.
      const std::string what = fmt::format("{}, {}", kind.type, integrator.substr(0, 30));
      expect_at_most(relative_difference(as_vector(direct), as_vector(differences)), 1e-7,
                     what + ": direct - differences");
      expect_at_most(relative_difference(as_vector(adjoint), as_vector(direct)), 1e-11,
                     what + ": adjoint - direct");
    }
  }
}

}  // namespace
}  // namespace liedyn
