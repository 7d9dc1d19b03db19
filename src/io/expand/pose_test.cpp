// A model that is moved and turned as a sub-model is the same model, seen from its own axes: for every kind of joint, force and sensor.
#include "liedyn/io/expand/pose.h"

#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <nlohmann/json.hpp>

#include "liedyn/analyses/sensitivity.h"
#include "liedyn/analyses/simulate.h"
#include "liedyn/io/load.h"
#include "liedyn/io/read_model.h"
#include "liedyn/io/write_model.h"
#include "liedyn/model/sensors/list.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

using Json = nlohmann::ordered_json;

std::string pose_complaint(const std::string& text) {
  try {
    read_model_text(text, "model.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

// Where a model is put: with parameters, and with another sub-model around it.
const Json kInSpace = {{"at", {0.7, "-a", 0.3}}, {"rotation", {{"axis", {1, 2, -0.5}}, {"angle", "3*a"}}}};
const Json kAround = {{"at", {0.1, 0.2, -0.5}}, {"rotation", {{"cardan", {0.3, 0.5, 0.8}}}}};
const Json kInPlane = {{"at", {0.7, "-a", 0}}, {"rotation", {{"axis", {0, 0, 1}}, {"angle", "3*a"}}}};

Json placed(Json model, const Json& pose) {
  const Json simulation = model.contains("simulation") ? model["simulation"] : Json();
  model.erase("simulation");
  Json inner = pose;
  inner["model"] = std::move(model);
  Json out = {{"liedyn", 1}, {"parameters", {{"a", 0.4}}}, {"models", {{"s", inner}}}};
  if (!simulation.is_null()) out["simulation"] = simulation;
  return out;
}
Json placed_twice(Json model) {
  const Json simulation = model.contains("simulation") ? model["simulation"] : Json();
  Json inside = placed(std::move(model), kInSpace);
  inside.erase("simulation");
  Json outer = kAround;
  outer["model"] = std::move(inside);
  Json out = {{"liedyn", 1}, {"models", {{"o", outer}}}};
  if (!simulation.is_null()) out["simulation"] = simulation;
  return out;
}

// An expression sensor own_NAME with the components of each sensor that has three, as the expressions of the model see them.
void repeat_in_expressions(Json& model) {
  Json expressions = Json::object();
  for (const auto& [name, sensor] : model["sensors"].items())
    for (const ListedSensor& listed : sensor_kinds())
      if (listed.kind.type == sensor["type"].get<std::string>())
        expressions["own_" + name] = {
            {"type", "expression"},
            {"value", listed.components == 1 ? name : fmt::format("{0}[0]; 2*{0}[1]; {0}[2]^2", name)}};
  for (const auto& [name, sensor] : expressions.items()) model["sensors"][name] = sensor;
}

// ---- elements

// Sensors of how the bodies move at the start, and of what the element exerts.
void show_start(Json& model, Section section, const std::string& element) {
  Json sensors = Json::object();
  for (const auto& [name, body] : model["bodies"].items()) {
    const bool turns = body["type"] == "rigid";
    sensors["p_" + name] = {{"type", "position"}, {"of", name}};
    sensors["v_" + name] = {{"type", "velocity"}, {"of", name}};
    sensors["a_" + name] = {{"type", "acceleration"}, {"of", name}};
    if (!turns) continue;
    sensors["w_" + name] = {{"type", "angular_velocity"}, {"of", name}};
    sensors["x_" + name] = {{"type", "angular_acceleration"}, {"of", name}, {"axes", "inertial"}};
  }
  if (section == Section::Forces) {
    sensors["f"] = {{"type", "power"}, {"of", element}};
  }
  model["sensors"] = sensors;
  repeat_in_expressions(model);
}

// What the expressions show at the start, by sensor.
std::map<std::string, std::vector<double>> own_values(const Json& model, const std::string& prefix) {
  const System system = load_text(model.dump());
  Work work(system);
  const State state = consistent_state(system, 0, InitialPolicy::Project, work);
  const std::vector<double> values = sensed(system, state, work);
  std::map<std::string, std::vector<double>> out;
  for (const Sensor& sensor : system.model().sensors)
    if (sensor.name.starts_with(prefix + "own_")) {
      const double* first = values.data() + sensor.first;
      out[sensor.name.substr(prefix.size())] = {first, first + sensor.components};
    }
  return out;
}

// A model of two bodies and a point mass with an element of the kind between two of them, or of the first and the ground.
Json model_with(Section section, const Kind& kind, int pair, Random& random, std::string& element) {
  ModelBuilder builder({0, 0, 0});
  const bool plane = kind.type.starts_with("planar_");
  const char* type = plane ? "planar" : "rigid";
  for (const char* name : {"a", "b"}) {
    builder.body(name, type);
    set_random_fields(builder, *find_kind(Section::Bodies, type), random);
  }
  if (!plane) {
    builder.body("c", "point");
    set_random_fields(builder, *find_kind(Section::Bodies, "point"), random);
  }
  const bool in_two_joints = kind.type == "gear_mesh" || kind.type == "belt";  // with parallel axes
  constexpr std::pair<const char*, const char*> kPairs[] = {
      {"a", "b"}, {"ground", "a"}, {"a", "ground"}, {"c", "a"}, {"ground", "c"}};
  const auto& [first, second] = kPairs[pair];
  if (in_two_joints) {
    const std::string housing = pair == 0 ? "housing" : "ground";
    if (pair == 0) {
      builder.body(housing, "rigid");
      set_random_fields(builder, *find_kind(Section::Bodies, "rigid"), random);
    }
    const Vec3 axis = random.vector<3>(), place = random.vector<3>(), across = axis.cross(random.vector<3>());
    for (const char* name : {"a", "b"})
      builder.joint(fmt::format("shaft_{}", name), "revolute")
          .set("between", housing, name)
          .set("at", name == std::string("a") ? place : Vec3(place + across))
          .set("axis", axis);
    element = kind.type;
    builder.begin(section, element, kind.type).set("joints", "shaft_a", "shaft_b");
    builder.set("at", Vec3(place + 0.4 * across));
    if (kind.type == "belt")
      builder.set("first_radius", {0.1 * across.norm()})
          .set("second_radius", {0.2 * across.norm()})
          .set("stiffness", {3})
          .set("damping", {0.5})
          .set("pretension", {1});
  } else if (is_between_bodies(kind)) {
    add_between(builder, section, kind, first, second, random);
    element = fmt::format("{}_{}_{}", kind.type, first, second);
  } else {
    add_everywhere(builder, section, kind, {pair == 3 ? "c" : "a"}, Pairs::Neighbours, random);
    element = fmt::format("{}_{}", kind.type, pair == 3 ? "c" : "a");
  }
  Json model = Json::parse(model_text(*builder.finish()));
  model.erase("gravity");
  model.erase("simulation");
  // A point mass is held at its place.
  for (const char* group : {"joints", "forces"})
    if (model.contains(group) && model[group].contains(element))
      if (Json& entry = model[group][element]; entry.contains("between"))
        for (std::size_t i = 0; i < 2; ++i) {
          if (entry["between"][i] != "c") continue;
          Json& place = model["bodies"]["c"]["position"];
          if (place.is_null()) place = {0, 0, 0};
          if (entry.contains("points")) entry["points"][i] = place;
          if (entry.contains("at")) entry["at"] = place;
        }
  // Nothing holds the turn about the axis.
  if (kind.type == "bearing")
    for (const char* name : {"stiffness", "damping"})
      if (Json& bearing = model["forces"][element]; bearing.contains(name))
        for (std::size_t i = 0; i < 6; ++i) bearing[name][i][5] = bearing[name][5][i] = 0;
  // Far from the initial configuration the projection ends where its tolerance lets it, and ropes may end at their pulleys.
  if (kind.type == "pulley") model["joints"][element].erase("length");
  if (kind.type == "prescribed_motion") {
    model["joints"][element]["motion"] = "sin(2*t) + t^2";
    model["joints"][element + "_in"].erase("zero");
  }
  // The default depends on the inertial axes.
  if (model.contains("beams"))
    for (auto& beam : model["beams"]) beam["y_axis"] = {0.3, -0.5, 1.2};
  return model;
}

TEST(MovedModels, BeginAsTheyDoAloneForEveryKindOfElement) {
  constexpr int kSeeds = 12, kPairs = 5;
  int points = 0;  // kinds that point masses may have
  for (const Section section : {Section::Joints, Section::Forces})
    for (const Kind& kind : kinds(section)) {
      int compared = 0, on_ground = 0, with_point = 0, acting = 0;
      double worst = 0;
      for (int seed = 0; seed < kSeeds; ++seed)
        for (int pair = 0; pair < kPairs; ++pair) {
          Random random(static_cast<unsigned>(100 * seed + pair));
          Json model;
          std::map<std::string, std::vector<double>> alone;
          try {
            std::string element;
            model = model_with(section, kind, pair, random, element);
            show_start(model, section, element);
            alone = own_values(model, "");
          } catch (const std::exception&) {  // these numbers, or this body, will not do
            continue;
          }
          const bool plane = kind.type.starts_with("planar_");
          std::map<std::string, std::vector<double>> moved;
          try {
            moved = own_values(placed(model, plane ? kInPlane : kInSpace), "s.");
          } catch (const std::exception& error) {
            ADD_FAILURE() << kind.type << "\n" << error.what() << "\n" << model.dump(1);
            continue;
          }
          double difference = 0, scale = 1, exerted = 0;
          for (const auto& [name, values] : alone) {
            ASSERT_EQ(moved.at(name).size(), values.size()) << name;
            for (std::size_t i = 0; i < values.size(); ++i) {
              difference = std::max(difference, std::abs(moved.at(name)[i] - values[i]));
              scale = std::max(scale, std::abs(values[i]));
              if (name.starts_with("own_a_") || name == "own_f")
                exerted = std::max(exerted, std::abs(values[i]));
            }
          }
          EXPECT_LT(difference, 1e-8 * scale) << kind.type << " seed " << seed << " pair " << pair << "\n"
                                              << model.dump(1);
          worst = std::max(worst, difference / scale);
          ++compared;
          on_ground += static_cast<int>(pair == 1 || pair == 2 || pair == 4);
          with_point += static_cast<int>(pair >= 3);
          acting += static_cast<int>(exerted > 1e-3);
        }
      fmt::print(
          "  {:<24} {:3} compared, {:2} on the ground, {:2} of point masses, {:3} acting, {:8.1e} apart\n",
          kind.type, compared, on_ground, with_point, acting, worst);
      EXPECT_GE(compared, 3) << kind.type;
      EXPECT_GE(acting, 1) << kind.type;
      if (kind.field("between") >= 0) {
        EXPECT_GE(on_ground, 2) << kind.type;
      }
      points += static_cast<int>(with_point > 3);
    }
  EXPECT_GE(points, 8);
}

// ---- sensors

const char* kEverySensor = R"json({ "liedyn": 1, "parameters": { "k": 3 },
  "bodies": {
    "a": { "type": "rigid", "mass": 1, "inertia": [1, 2, 2.5], "position": [0.5, 0, 0.1], "orientation": { "axis": [1, 1, 0], "angle": 0.4 },
           "angular_velocity": { "consistent": [1, 2, 0.5] }, "velocity": "consistent", "frames": { "tip": { "at": [0, 0.2, 0] },
                                                                                                  "tool": { "at": [0.1, 0, 0], "rotation": { "axis": [1, 0, 1], "angle": 0.7 } } } },
    "b": { "type": "rigid", "mass": 2, "inertia": [1, 1.2, 1.5], "position": [1, 0.5, -0.2], "velocity": "consistent",
           "angular_velocity": "consistent" },
    "c": { "type": "point", "mass": 1, "position": [0, 1, 2], "velocity": [1, -2, 0.3] },
    "d": { "type": "rigid", "mass": 1, "inertia": [1, 2, 2.5], "position": [3, 0, 0], "velocity": "consistent", "angular_velocity_inertial": [0.3, -1, 2] },
    "ground": { "frames": { "hook": { "at": [0.2, 0, 1] }, "peg": { "at": [0.3, 0, 1], "rotation": { "axis": [0, 1, 0], "angle": 0.4 } } } } },
  "beams": { "wing": { "type": "rectangle", "from": [5, 0, 0], "to": [5, 1, 0], "y_axis": [0, 0, 1], "elements": 2, "width": 0.1, "height": 0.05,
                       "young": 1e6, "density": 1000 } },
  "flexible": { "strip": { "type": "rectangle", "from": [7, 0, 0], "to": [7, 1, 0.3], "y_axis": [1, 0, 0], "elements": 3, "width": 0.1, "height": 0.05,
                           "young": 1e6, "density": 1000, "modes": 3 },
                "strip_start": { "type": "interface", "of": "strip", "at": [7, 0, 0] }, "strip_end": { "type": "interface", "of": "strip", "at": [7, 1, 0.3] },
                "truss": { "type": "frame", "position": [8, 1, 0], "orientation": { "cardan": [0.2, 0.1, 0] }, "modes": 3 },
                "post": { "type": "rectangle", "of": "truss", "from": [0, 0, 0], "to": [0, 0, 1], "elements": 2, "width": 0.1, "height": 0.05,
                          "young": 1e6, "density": 1000 },
                "bar": { "type": "rectangle", "of": "truss", "from": [0, 0, 1], "to": [1, 0, 1], "elements": 2, "width": 0.1, "height": 0.05,
                         "young": 1e6, "density": 1000 },
                "truss_end": { "type": "interface", "of": "truss", "at": [8, 1, 0] },
                "block": { "type": "brick", "size": [1, 0.2, 0.2], "divisions": [3, 1, 1], "young": 1e6, "density": 1000, "position": [0, 5, 0], "modes": 2 },
                "face": { "type": "interface", "of": "block", "at": [0.5, 5, 0], "group": "x+" } },
  "joints": { "slide": { "type": "cylindrical", "between": ["ground", "a"], "at": [0.5, 0, 0.1], "axis": [1, 1, 0] },
              "hinge": { "type": "revolute", "between": ["a", "b"], "at": [1, 0, 0], "axis": [0, 1, 2] },
              "ball": { "type": "spherical", "between": ["d", "ground"], "at": [2.5, 0.1, 0.2] },
              "root": { "type": "fixed", "between": ["ground", "wing.start"], "at": [5, 0, 0] },
              "held": { "type": "fixed", "between": ["ground", "strip_start"], "at": [7, 0, 0] } },
  "states": { "low": { "type": "filter", "input": "v[0]*p[1] + w[2]", "time_constant": 0.1 } },
  "forces": { "rope": { "type": "spring_damper", "between": ["ground", "c"], "points": { "ground": [2, 0, 0], "c": [0, 0, 0] }, "stiffness": 10, "free_length": 1 },
              "drag": { "type": "force", "on": "b", "at": [1, 0.5, 0], "force": ["-k*vb[0]", "-vb[1] + p[2]", "-2*vb[2] + low"] },
              "brake": { "type": "torque", "on": "d", "torque": ["-k*w[0]", "-w[1]", "-r[0]"] },
              "motor": { "type": "joint_effort", "joint": "hinge", "effort": "-2*hinge_angle + vb[0] + ground_c[1]" },
              "drive": { "type": "dc_motor", "joint": "hinge", "resistance": 1, "torque_constant": 0.5, "voltage": 3 },
              "mount": { "type": "bushing", "between": ["d", "ground"], "at": [3, 0, 0], "stiffness": [5, 6, 7] },
              "tip_load": { "type": "force", "on": "wing.end", "force": [1, 2, 3] },
              "strip_load": { "type": "force", "on": "strip_end", "force": [3, 2, 1] },
              "truss_load": { "type": "force", "on": "truss_end", "force": ["100*sin(50*t)", 2, 30] },
              "turned_load": { "type": "force", "on": "c", "force": [1, 2, 3], "axes": "body", "rotation": { "axis": [0, 1, 1], "angle": 0.5 } },
              "face_load": { "type": "force", "on": "face", "force": [30, 20, 10], "axes": "body" } },
  "sensors": {
    "p": { "type": "position", "of": "a", "at": [1, 0, 0.2] }, "v": { "type": "velocity", "of": "c" }, "vb": { "type": "velocity", "of": "b" },
    "acc": { "type": "acceleration", "of": "b" }, "home": { "type": "position", "of": "ground" },
    "w": { "type": "angular_velocity", "of": "d", "axes": "inertial" }, "wb": { "type": "angular_velocity", "of": "d" },
    "alpha": { "type": "angular_acceleration", "of": "d", "axes": "inertial" },
    "r": { "type": "relative_position", "between": ["a", "b"] }, "ground_c": { "type": "relative_position", "between": ["ground", "c"] },
    "c_ground": { "type": "relative_position", "between": ["c", "ground"] }, "a_ground": { "type": "relative_position", "between": ["a", "ground"] },
    "hook_a": { "type": "relative_position", "between": ["ground.hook", "a.tip"] },
    "peg_tool": { "type": "relative_position", "between": ["ground.peg", "a.tool"] }, "tool_peg": { "type": "relative_velocity", "between": ["a.tool", "ground.peg"] },
    "rw_peg": { "type": "relative_angular_velocity", "between": ["ground.peg", "b"] }, "w_tool": { "type": "angular_velocity", "of": "a.tool" },
    "c_turned": { "type": "relative_position", "between": ["c", "b"], "first_rotation": { "axis": [1, 0, 0], "angle": 0.3 } },
    "apart": { "type": "relative_position", "between": ["a", "b"], "axes": "inertial" },
    "rv": { "type": "relative_velocity", "between": ["a", "b"] }, "rv_ground": { "type": "relative_velocity", "between": ["ground", "b"] },
    "rv_back": { "type": "relative_velocity", "between": ["b", "ground"] },
    "rw": { "type": "relative_angular_velocity", "between": ["a", "b"] }, "rw_ground": { "type": "relative_angular_velocity", "between": ["ground", "b"] },
    "turned": { "type": "relative_rotation", "between": ["a", "b"] },
    "l": { "type": "distance", "between": ["ground", "b"] }, "l_rate": { "type": "distance_rate", "between": ["a", "ground"] },
    "R": { "type": "reaction_force", "of": "hinge" }, "R_body": { "type": "reaction_force", "of": "hinge", "axes": "body" },
    "R_ground": { "type": "reaction_force", "of": "ball", "axes": "body" }, "T": { "type": "reaction_torque", "of": "slide" },
    "F": { "type": "applied_force", "of": "rope" }, "F_body": { "type": "applied_force", "of": "rope", "axes": "body" },
    "F_ground": { "type": "applied_force", "of": "mount", "axes": "body" }, "F_tip": { "type": "applied_force", "of": "tip_load", "axes": "body" },
    "M": { "type": "applied_torque", "of": "brake" },
    "tension": { "type": "effort", "of": "rope" }, "P": { "type": "power", "of": "drag" }, "W": { "type": "work", "of": "drag" },
    "current": { "type": "quantity", "of": "drive", "quantity": "current" },
    "N": { "type": "section_force", "of": "wing[0.25]" }, "B": { "type": "section_moment", "of": "wing[0.25]" },
    "e": { "type": "section_strain", "of": "strip[0.5]" }, "curl": { "type": "section_curvature", "of": "wing[0.5]" },
    "eta": { "type": "modal_coordinates", "of": "strip" },
    "u": { "type": "elastic_displacement", "of": "strip", "at": [7, 1, 0.3] },
    "u_inertial": { "type": "elastic_displacement", "of": "strip", "at": [7, 1, 0.3], "axes": "inertial" },
    "u_truss": { "type": "elastic_displacement", "of": "truss", "at": [9, 1, 1] },
    "place": { "type": "material_position", "of": "truss", "at": [9, 1, 1] },
    "sigma": { "type": "stress", "of": "block", "at": [0.2, 5.05, 0.05] },
    "hinge_angle": { "type": "joint_angle", "of": "hinge" }, "hinge_rate": { "type": "joint_angle_rate", "of": "hinge" },
    "shift": { "type": "joint_displacement", "of": "slide" }, "shift_rate": { "type": "joint_displacement_rate", "of": "slide" },
    "lag": { "type": "state", "of": "low" }, "E": { "type": "energy", "part": "kinetic" } },
  "simulation": { "end": 0.02, "step": 0.001, "integrator": "generalized-alpha" } })json";

// Whether expressions of any turned model may name such sensors. Those of the plane have a test of their own.
bool is_seen_in_space(const ListedSensor& listed) {
  const ShownIn axes = listed.traits.axes;
  return axes != ShownIn::Orientation && axes != ShownIn::Joint && axes != ShownIn::Angle;
}
const std::set<std::string> kOfExpressions = {"expression", "event", "sample"};

// The largest difference of what the expressions show in two runs, relative to the largest value of the sensor.
double largest_difference(const Json& model, const Json& other, const std::string& prefix) {
  const Trajectory alone = simulate(load_text(model.dump())).trajectory;
  const Trajectory moved = simulate(load_text(other.dump())).trajectory;
  EXPECT_EQ(alone.rows(), moved.rows());
  EXPECT_GT(alone.rows(), 5u);
  double worst = 0;
  for (const auto& [name, sensor] : model["sensors"].items()) {
    if (!name.starts_with("own_")) continue;
    double scale = 1e-9, difference = 0;
    for (std::size_t row = 0; row < alone.rows(); ++row) {
      const auto x = alone.at(row, name), y = moved.at(row, prefix + name);
      for (std::size_t i = 0; i < x.size(); ++i) {
        scale = std::max(scale, std::abs(x[i]));
        difference = std::max(difference, std::abs(x[i] - y[i]));
      }
    }
    EXPECT_LT(difference, 1e-6 * scale) << name << " of " << scale;
    worst = std::max(worst, difference / scale);
  }
  return worst;
}

TEST(MovedModels, ExpressionsSeeEverySensorAsInTheModelAlone) {
  Json model = Json::parse(kEverySensor);
  std::set<std::string> types;
  for (const auto& sensor : model["sensors"]) types.insert(sensor["type"]);
  for (const ListedSensor& listed : sensor_kinds())
    EXPECT_EQ(types.contains(listed.kind.type),
              is_seen_in_space(listed) && !kOfExpressions.contains(listed.kind.type))
        << listed.kind.type;
  repeat_in_expressions(model);
  expect_at_most(largest_difference(model, placed(model, kInSpace), "s."), 1e-6, "moved and turned");
  Json shifted = kInSpace;
  shifted.erase("rotation");
  expect_at_most(largest_difference(model, placed(model, shifted), "s."), 1e-6, "moved");
  expect_at_most(largest_difference(model, placed_twice(model), "o.s."), 1e-6,
                 "in a moved sub-model of a moved one");
}

// What the sensors themselves show, and expressions around the sub-model see, is in the axes of the whole.
TEST(MovedModels, SensorsShowTheAxesOfTheWhole) {
  Json model = Json::parse(kEverySensor);
  Json whole = placed(model, kInSpace);
  whole["sensors"] = {{"outside", {{"type", "expression"}, {"value", "s.p[0]; s.v[1]; s.w[2]"}}}};
  const Trajectory alone = simulate(load_text(model.dump())).trajectory;
  const Trajectory moved = simulate(load_text(whole.dump())).trajectory;
  const Eigen::Matrix3d R =
      Eigen::AngleAxisd(1.2, Eigen::Vector3d(1, 2, -0.5).normalized()).toRotationMatrix();
  const Eigen::Vector3d at(0.7, -0.4, 0.3);
  for (std::size_t row = 0; row < alone.rows(); ++row) {
    const auto expected = [&](const std::string& name) -> Eigen::Vector3d {
      const Eigen::Vector3d x(alone.at(row, name).data());
      return R * x + (name == "p" || name == "place" ? at : Eigen::Vector3d::Zero().eval());
    };
    for (const std::string name :
         {"p", "place", "v", "acc", "w", "alpha", "apart", "R", "T", "F", "M", "ground_c"})
      EXPECT_LT((Eigen::Vector3d(moved.at(row, "s." + name).data()) - expected(name)).norm(),
                1e-6 * std::max(1.0, expected(name).norm()))
          << name << " " << row;
    const auto outside = moved.at(row, "outside");
    EXPECT_NEAR(outside[0], expected("p")[0], 1e-9);
    EXPECT_NEAR(outside[1], expected("v")[1], 1e-9);
    EXPECT_NEAR(outside[2], expected("w")[2], 1e-9);
  }
}

TEST(MovedModels, InThePlane) {
  Json model = Json::parse(R"json({ "liedyn": 1, "simulation": { "end": 0.1, "step": 0.01 },
    "bodies": { "b": { "type": "planar", "mass": 1, "inertia": 2, "position": [1, 0.5], "angle": 0.3, "velocity": [1, -1], "angular_velocity": 3 },
                "ground": { "frames": { "pin": { "at": [1, 2] } } } },
    "forces": { "drag": { "type": "force", "on": "b", "force": ["-v[0] + sin(h)", "-2*v[1] - p[0]", 0] },
                "spring": { "type": "spring_damper", "between": ["ground.pin", "b"], "points": { "b": [0.1, 0.2, 0] }, "stiffness": 3, "free_length": 1 } },
    "sensors": { "h": { "type": "angle", "of": "b" }, "v": { "type": "velocity", "of": "b" }, "p": { "type": "position", "of": "b" } } })json");
  repeat_in_expressions(model);
  expect_at_most(largest_difference(model, placed(model, kInPlane), "s."), 1e-9, "in the plane");
}

// ---- forces by expressions

Json with_drag(const Json& rotation) {
  Json out = Json::parse(
      R"json({ "liedyn": 1, "parameters": { "turn": 1 }, "models": { "s": { "model": { "liedyn": 1, "parameters": { "c": 0.5 },
    "bodies": { "ball": { "type": "rigid", "mass": 1, "inertia": [1, 1, 1], "velocity": [1, 0, 0], "angular_velocity": [0, 0, 2] } },
    "forces": { "drag": { "type": "force", "on": "ball", "force": ["-c*v[0]", "-c*v[1]", "-c*v[2]"] },
                "brake": { "type": "torque", "on": "ball", "torque": ["-c*w[0]", "-c*w[1]", "-c*w[2]"] } },
    "sensors": { "v": { "type": "velocity", "of": "ball" }, "w": { "type": "angular_velocity", "of": "ball", "axes": "inertial" },
                 "P": { "type": "power", "of": "drag" }, "speed": { "type": "expression", "value": "sqrt(v[0]^2 + v[1]^2 + v[2]^2)" },
                 "ahead": { "type": "expression", "value": "v[0]" } } } } },
    "simulation": { "end": 1, "step": 0.001 } })json");
  out["models"]["s"]["rotation"] = rotation;
  return out;
}

TEST(MovedModels, DragStaysDrag) {
  const Json rotations[] = {
      {{"axis", {0, 0, 1}}, {"angle", "180*deg"}}, {{"axis", {0, 0, 1}}, {"angle", "90*deg"}},
      {{"axis", {1, 2, 3}}, {"angle", "turn"}},    {{"cardan", {0.3, "turn", -2}}},
      {{"quaternion", {0.5, "turn", 0.1, 0.2}}},   {{"rotation_vector", {0, 0.7, 0}}}};
  for (const Json& rotation : rotations) {
    const Trajectory run = simulate(load_text(with_drag(rotation).dump())).trajectory;
    const std::size_t end = run.rows() - 1;
    EXPECT_NEAR(run.at(end, "s.speed")[0], std::exp(-0.5), 1e-6) << rotation;
    EXPECT_NEAR(run.at(end, "s.ahead")[0], std::exp(-0.5), 1e-6) << rotation;
    EXPECT_NEAR(run.at(end, "s.P")[0], -0.5 * std::exp(-1.0), 1e-6) << rotation;
    EXPECT_NEAR(Eigen::Vector3d(run.at(end, "s.w").data()).norm(), 2 * std::exp(-0.5), 1e-6) << rotation;
  }
}

// Exact derivatives by the angle of the sub-model: its own speed does not depend on it, and what the sensors show turns with it. By its drag: v = exp(-c t).
TEST(MovedModels, ParametersOfTheRotationStayDifferentiable) {
  const System system = load_text(with_drag({{"axis", {0, 0, 1}}, {"angle", "turn"}}).dump());
  for (const SensitivityMethod method : {SensitivityMethod::Direct, SensitivityMethod::Adjoint}) {
    SensitivityOptions options;
    options.simulation = default_options(system.model().description());
    options.parameters = {"turn", "s.c"};
    options.outputs = {"s.speed", "s.ahead", "s.v[0]", "s.v[1]"};
    options.method = method;
    const Sensitivity d = sensitivity(system, options);
    const double v = std::exp(-0.5);
    const double expected[4][2] = {
        {0, -v}, {0, -v}, {-std::sin(1.0) * v, -std::cos(1.0) * v}, {std::cos(1.0) * v, -std::sin(1.0) * v}};
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = 0; j < 2; ++j)
        EXPECT_NEAR(d.derivative(i, j), expected[i][j], 1e-6) << d.outputs[i] << " " << d.parameters[j];
  }
}

TEST(MovedModels, ASpringPullsToTheOriginOfItsModel) {
  const std::string text =
      R"json({ "liedyn": 1, "repeat": [{ "for": { "i": [1, 3] }, "models": { "s{i}": { "at": ["{3*i}", 0, 1],
      "rotation": { "axis": [0, 0, 1], "angle": "{i}*90*deg" }, "model": { "liedyn": 1,
      "bodies": { "ball": { "type": "rigid", "mass": 1, "inertia": [1, 1, 1], "position": [1, 0, 0] } },
      "forces": { "k": { "type": "force", "on": "ball", "force": ["-4*p[0]", 0, 0] } },
      "sensors": { "p": { "type": "position", "of": "ball" }, "x": { "type": "expression", "value": "p[0]" } } } } } }],
    "simulation": { "end": 1, "step": 0.001 } })json";
  const Trajectory run = simulate(load_text(text)).trajectory;
  for (int i = 1; i <= 3; ++i) {
    EXPECT_NEAR(run.at(run.rows() - 1, fmt::format("s{}.x", i))[0], std::cos(2.0), 1e-5);
    const auto p = run.at(run.rows() - 1, fmt::format("s{}.p", i));
    EXPECT_NEAR(p[0], 3 * i + std::cos(2.0) * std::cos(i * M_PI / 2), 1e-5);
    EXPECT_NEAR(p[1], std::cos(2.0) * std::sin(i * M_PI / 2), 1e-5);
  }
}

// A value that the model around gives belongs to that model, and so do the sensors that it names.
TEST(MovedModels, ValuesFromOutsideSeeTheAxesOfTheWhole) {
  Json model = with_drag({{"axis", {0, 0, 1}}, {"angle", "180*deg"}});
  model["models"]["s"]["set"] = {{"forces.drag.force[0]", "0.5*s.v[0]"}};
  const Trajectory run = simulate(load_text(model.dump())).trajectory;
  EXPECT_NEAR(run.at(run.rows() - 1, "s.speed")[0], std::exp(-0.5), 1e-6);
}

// ---- boxes of the ground

TEST(MovedModels, BoxesOfTheGroundTurn) {
  const std::string text =
      R"json({ "liedyn": 1, "models": { "s": { "rotation": { "axis": [0, 0, 1], "angle": "90*deg" }, "model": { "liedyn": 1,
    "bodies": { "ball": { "type": "rigid", "mass": 1, "inertia": [1, 1, 1], "position": [0.8, 0, 0.25], "velocity": [0, 0, -1] } },
    "forces": { "c": { "type": "contact_sphere_box", "between": ["ball", "ground"], "points": [[0.8, 0, 0.25], [0, 0, 0]], "radius": 0.1,
                       "size": [2, 0.2, 0.2], "stiffness": 1e5 } },
    "sensors": { "p": { "type": "position", "of": "ball" } } } } }, "simulation": { "end": 0.5, "step": 1e-4 } })json";
  const Trajectory run = simulate(load_text(text)).trajectory;
  EXPECT_GT(run.at(run.rows() - 1, "s.p")[2], 0.6);
}

// ---- what is refused

TEST(MovedModels, RefuseWhatHasNoAxesToTurn) {
  const auto with = [](const std::string& sensor, const std::string& rest, const std::string& place) {
    return fmt::format(R"json({{ "liedyn": 1,
 "models": {{ "s": {{ {}, "model": {{ "liedyn": 1, "parameters": {{ "u": 0 }},
   "bodies": {{ "b": {{ "type": "rigid", "mass": 1, "inertia": [1, 1, 1] }} }},
   "joints": {{ "j": {{ "type": "spherical", "between": ["ground", "b"], "at": [0, 0, 0] }} }},
   "sensors": {{ "o": {{ {} }}, "v": {{ "type": "velocity", "of": "b" }} }},
   {} }} }} }} }})json",
                       place, sensor, rest);
  };
  const std::string turned = R"("rotation": { "axis": [0, 0, 1], "angle": 1 })", moved = R"("at": [1, 0, 0])";
  const std::string load = R"("forces": { "f": { "type": "force", "on": "b", "force": [0, 0, "o[1]"] } })";
  const std::string state = R"("states": { "x": { "type": "integral", "input": "2*o[0]" } })";
  const std::string event = R"("events": { "stop": { "when": "o[2] - 1", "action": "stop" } })";
  using testing::AllOf, testing::HasSubstr;
  for (const char* type : {"cardan_angles", "rotation_vector", "orientation"}) {
    const std::string sensor = fmt::format(R"("type": "{}", "of": "b")", type);
    for (const std::string& rest : {load, state, event})
      EXPECT_THAT(
          pose_complaint(with(sensor, rest, turned)),
          AllOf(HasSubstr("model.json:"), HasSubstr("the sub-model 's' is rotated"),
                HasSubstr("'s.o' of type " + std::string(type)), HasSubstr("hint: use a joint_angle")));
    EXPECT_THAT(pose_complaint(with(sensor, event, moved)), "accepted");
    EXPECT_THAT(pose_complaint(with(sensor, R"("forces": {})", turned)), "accepted");
  }
  EXPECT_THAT(pose_complaint(with(R"("type": "cardan_angles", "of": "b")", load, turned)),
              HasSubstr("model.json:6: forces.s.f.force: "));
  EXPECT_THAT(
      pose_complaint(with(R"("type": "relative_rotation", "between": ["ground", "b"])", event, turned)),
      HasSubstr("events.s.stop.when: the sub-model 's' is rotated"));
  EXPECT_THAT(pose_complaint(with(R"("type": "multiplier", "of": "j")", event, turned)),
              HasSubstr("use a reaction_force"));

  const auto sets = [&](const std::string& what) {
    return fmt::format(
        R"("forces": {{ "f": {{ "type": "force", "on": "b", "force": [0, 0, 0] }}, "g": {{ "type": "force", "on": "b", "axes": "body", "force": [0, 0, 0] }} }},
      "events": {{ "e": {{ "when": "t - 1", "set": "{}" }} }})",
        what);
  };
  const std::string plain = R"("type": "velocity", "of": "b")";
  for (const char* what : {"sensors.v[0] = 1", "forces.f.force[1] = 2", "u = 3; sensors.v[1] = -v[1]"})
    EXPECT_THAT(pose_complaint(with(plain, sets(what), turned)),
                AllOf(HasSubstr("events.s.e.set: "), HasSubstr("it cannot be set"),
                      HasSubstr("hint: set a parameter")))
        << what;
  for (const char* what :
       {"sensors.v[2] = -v[2]", "forces.f.force[2] = 2", "forces.g.force[0] = 2", "u = v[0]"})
    EXPECT_EQ(pose_complaint(with(plain, sets(what), turned)), "accepted") << what;
  EXPECT_THAT(pose_complaint(with(plain, sets("bodies.b.position[0] = 2"), moved)),
              HasSubstr("it cannot be set"));
  EXPECT_EQ(pose_complaint(with(plain, sets("sensors.v[0] = 1; forces.f.force[1] = 2"), moved)), "accepted");
}

// The default of y_axis follows the inertial axes, and a section must not be left behind: the load would bend it about its stiff axis.
TEST(MovedModels, TurnNoBeamWithoutItsYAxis) {
  for (const char* section : {"beams", "flexible"})
    for (const char* given : {"", R"("y_axis": [0, 1, 0],)"}) {
      const std::string text = fmt::format(
          R"json({{ "liedyn": 1, "models": {{ "s": {{ "rotation": {{ "axis": [1, 0, 0], "angle": 1.5 }}, "model": {{ "liedyn": 1,
   "{}": {{ "strip": {{ "type": "rectangle", "from": [0, 0, 0], "to": [1, 0, 0], {} "elements": 4, "width": 0.1, "height": 0.01,
                       "young": 2e11, "density": 7800 }} }} }} }} }} }})json",
          section, given);
      if (*given == '\0')
        EXPECT_THAT(pose_complaint(text),
                    testing::HasSubstr("s.strip.y_axis: the sub-model 's' is moved, but the default value of "
                                       "this direction depends on the inertial axes"))
            << section;
      else
        EXPECT_EQ(pose_complaint(text), "accepted") << section;
    }
}

// A kind that does not say in which axes it shows its values makes expressions of moved models with it fail: every kind says it. One that says it
// wrongly does not pass ExpressionsSeeEverySensorAsInTheModelAlone, or the tests of what is refused.
TEST(MovedModels, EverySensorSaysInWhichAxesItIs) {
  const Item nothing = Item::object(0);
  for (const ListedSensor& listed : sensor_kinds()) {
    EXPECT_NE(listed.traits.axes, ShownIn::Unknown) << listed.kind.type;
    EXPECT_NE(MovedModel(nothing).shown(listed.kind, nothing), ShownRole::Unknown) << listed.kind.type;
  }
}

// Sensors whose values are no vector are refused in turned models, every one of them.
TEST(MovedModels, SensorsThatAreNoVectorAreRefused) {
  int refused = 0;
  for (const ListedSensor& listed : sensor_kinds()) {
    if (listed.traits.axes != ShownIn::Orientation) continue;
    const std::string text = fmt::format(
        R"json({{ "liedyn": 1, "models": {{ "s": {{ "rotation": {{ "axis": [0, 0, 1], "angle": 1 }}, "model": {{ "liedyn": 1,
   "bodies": {{ "b": {{ "type": "rigid", "mass": 1, "inertia": [1, 1, 1] }} }},
   "sensors": {{ "o": {{ "type": "{}", "of": "b" }}, "e": {{ "type": "expression", "value": "o[0]" }} }} }} }} }} }})json",
        listed.kind.type);
    EXPECT_THAT(pose_complaint(text), testing::HasSubstr("'s.o' of type " + listed.kind.type))
        << listed.kind.type;
    ++refused;
  }
  EXPECT_GE(refused, 3);
}

}  // namespace
}  // namespace liedyn
