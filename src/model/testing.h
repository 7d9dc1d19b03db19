// For tests only: models at random from the lists of kinds, and checks that print what they
// compared.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "liedyn/lie/so3.h"
#include "liedyn/model/builder.h"
#include "liedyn/model/motion.h"

namespace liedyn {

// Prints "what: value (at most bound)" and fails if it is larger, or not a number.
inline void expect_at_most(double value, double bound, const std::string& what) {
  fmt::print("  {:<66} {:9.2e}  (at most {:.0e})\n", what, value, bound);
  EXPECT_LE(value, bound) << what;
}
inline void expect_between(double value, double least, double most, const std::string& what) {
  fmt::print("  {:<66} {:9.4g}  ({:g} to {:g})\n", what, value, least, most);
  EXPECT_GE(value, least) << what;
  EXPECT_LE(value, most) << what;
}

// Largest difference of two vectors or matrices, relative to the largest number of the second (absolute if that is zero).
template <class A, class B>
double relative_difference(const A& a, const B& b) {
  if (b.size() == 0) return 0;
  if (!a.allFinite() || !b.allFinite()) return std::numeric_limits<double>::infinity();
  const double scale = b.cwiseAbs().maxCoeff(), difference = (a - b).cwiseAbs().maxCoeff();
  return scale > 0 ? difference / scale : difference;
}

inline Eigen::Map<const Eigen::VectorXd> as_vector(const std::vector<double>& values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}

class Random {
 public:
  explicit Random(unsigned seed) : generator_(seed) {}
  double between(double least, double most) {
    return std::uniform_real_distribution<double>(least, most)(generator_);
  }
  int below(int count) { return std::uniform_int_distribution<int>(0, count - 1)(generator_); }
  template <int N>
  Eigen::Matrix<double, N, 1> vector() {
    return Eigen::Matrix<double, N, 1>::NullaryExpr([this] { return between(-1, 1); });
  }
  void fill(std::vector<double>& values) {
    for (double& x : values) x = between(-1, 1);
  }
  SO3<double> rotation() { return SO3<double>::exp(3 * vector<3>()); }
  Motion<double> motion() {
    Motion<double> m;
    m.R = rotation().R();
    m.p = vector<3>();
    m.V = vector<6>();
    m.A = vector<6>();
    return m;
  }
  // Of a body made of a few masses: (xx, yy, zz, yz, xz, xy).
  std::array<double, 6> inertia() {
    Mat3 J = Mat3::Zero();
    for (int i = 0; i < 5; ++i) {
      const Vec3 x = vector<3>();
      J += x.squaredNorm() * Mat3::Identity() - x * x.transpose();
    }
    return {J(0, 0), J(1, 1), J(2, 2), J(1, 2), J(0, 2), J(0, 1)};
  }

 private:
  std::mt19937 generator_;
};

// Values for the fields of the entry just begun, at random but such as a user might type; some of the optional ones are
// left out. Fields that name bodies, joints and formulations are left to the caller.
inline void set_random_fields(ModelBuilder& builder, const Kind& kind, Random& random) {
  const auto numbers = [&](int count, double least, double most) {
    std::vector<double> out(static_cast<std::size_t>(count));
    for (double& x : out) x = random.between(least, most);
    return out;
  };
  for (const Field& field : kind.fields) {
    // Axes that are turned against those of the body, without a random number: those of other fields stay as they are.
    if (field.type == FieldType::Rotation && field.name.ends_with("rotation")) {
      builder.set(field.name, {0.3, -0.5, 0.8});
      continue;
    }
    // Without these, others would have no meaning.
    const bool needed =
        field.required || field.name == "impact_speed" || field.name == "smoothing" || field.name == "lower";
    if (!needed && random.below(3) == 0) continue;
    switch (field.type) {
      case FieldType::Number:
        if (field.name.starts_with("thickness")) {  // of a wall, thinner than half of what it encloses
          builder.set(field.name, numbers(1, 0.05, 0.2));
          break;
        }
        if (field.name == "shear_modulus") break;                              // poisson does
        if (field.name == "damping" && kind.field("restitution") >= 0) break;  // either of them
        if (field.name == "restitution") {
          builder.set(field.name, numbers(1, 0.3, 1));
          break;
        }
        if (field.name == "exponent") {
          builder.set(field.name, numbers(1, 1, 2.5));
          break;
        }
        if (field.name == "lower" || field.name == "edge_radius" || field.name == "clearance") {
          builder.set(field.name, numbers(1, 0.1, 0.4));
          break;
        }
        builder.set(field.name, numbers(1, 0.5, 1.5));
        if (field.may_depend_on_time) builder.expression(field.name, 0, "0.4 + 0.3*sin(2*t) + t^2");
        break;
      case FieldType::Vector:
      case FieldType::Rotation:
        // Springs store energy and dampers take it away.
        if (field.name.ends_with("stiffness") || field.name.ends_with("damping") ||
            field.range == Range::NonNegative) {
          builder.set(field.name, numbers(3, 0.5, 1.5));
          break;
        }
        // A body has one angular velocity: in body axes here.
        if (field.name != "angular_velocity_inertial") builder.set(field.name, numbers(3, -1, 1));
        break;
      case FieldType::PlaneVector: builder.set(field.name, numbers(2, -1, 1)); break;
      case FieldType::Path: builder.set(field.name, numbers(3, -1, 1)); break;
      case FieldType::Points: builder.set(field.name, numbers(6, -1, 1)); break;
      case FieldType::Inertia: builder.set(field.name, random.inertia()); break;
      case FieldType::Integer: builder.set(field.name, {1.0 + random.below(3)}); break;
      case FieldType::Choice:
        if (field.name != "formulation" && field.name != "coordinate")
          builder.set(
              field.name,
              field.choices[static_cast<std::size_t>(random.below(static_cast<int>(field.choices.size())))]);
        break;
      case FieldType::Choices: {
        std::vector<std::string> chosen = {
            field.choices[static_cast<std::size_t>(random.below(static_cast<int>(field.choices.size())))]};
        for (const std::string& word : field.choices)
          if (word != chosen.front() && random.below(2) == 0) chosen.push_back(word);
        builder.choose(field.name, chosen);
        break;
      }
      case FieldType::Text: builder.set(field.name, std::string("0.3 + sin(2*t)")); break;
      case FieldType::Body:
      case FieldType::Bodies:
      case FieldType::Joint:
      case FieldType::Joints:
      case FieldType::State:
      case FieldType::Beam:
      case FieldType::Force:
      case FieldType::Flexible: break;
      case FieldType::Matrix6: {
        const Mat6 A = Mat6::NullaryExpr([&] { return random.between(-1, 1); });
        const Mat6 K = A * A.transpose() + Mat6::Identity();
        builder.set(field.name, std::vector<double>(K.data(), K.data() + 36));
        break;
      }
    }
  }
}

// A body of every kind, in every formulation it may have of its own; their names.
inline std::vector<std::string> add_every_body(ModelBuilder& builder, Random& random) {
  std::vector<std::string> names;
  for (const Kind& kind : kinds(Section::Bodies)) {
    const int field = kind.field("formulation");
    const std::vector<std::string> own =
        field < 0 ? std::vector<std::string>{""} : kind.fields[static_cast<std::size_t>(field)].choices;
    for (const std::string& formulation : own) {
      names.push_back(fmt::format("{}{}", kind.type, names.size()));
      builder.body(names.back(), kind.type);
      set_random_fields(builder, kind, random);
      if (!formulation.empty()) builder.set("formulation", formulation);
    }
  }
  return names;
}

// Which pairs of bodies to connect.
enum class Pairs { All, Neighbours };

// Indices of the pairs, in either order.
inline std::vector<std::pair<std::size_t, std::size_t>> pairs_of(std::size_t bodies, Pairs pairs) {
  std::vector<std::pair<std::size_t, std::size_t>> out;
  for (std::size_t i = 0; i < bodies; ++i)
    for (std::size_t j = 0; j < bodies; ++j)
      if (i != j && (pairs == Pairs::All || j == (i + 1) % bodies)) out.emplace_back(i, j);
  return out;
}

inline bool is_between_bodies(const Kind& kind) {
  return kind.field("between") >= 0 || kind.field("joint") >= 0 || kind.field("joints") >= 0;
}

// An element of the kind between two bodies; one of them may be "ground". If it acts in joints, these are added before it.
inline void add_between(ModelBuilder& builder, Section section, const Kind& kind, const std::string& first,
                        const std::string& second, Random& random) {
  const std::string name = fmt::format("{}_{}_{}", kind.type, first, second);
  std::string joint_type;
  const auto add_joint = [&](const std::string& joint_name) {
    constexpr std::array<const char*, 3> with_coordinates = {"revolute", "prismatic", "cylindrical"};
    joint_type = with_coordinates[static_cast<std::size_t>(random.below(3))];
    builder.joint(joint_name, joint_type).set("between", first, second);
    set_random_fields(builder, *find_kind(Section::Joints, joint_type), random);
  };
  const bool one = kind.field("joint") >= 0, two = kind.field("joints") >= 0;
  if (one || two) add_joint(name + "_in");
  if (two) add_joint(name + "_and");
  builder.begin(section, name, kind.type);
  set_random_fields(builder, kind, random);
  if (kind.field("between") >= 0) builder.set("between", first, second);
  if (one) builder.set("joint", name + "_in");
  if (one && joint_type == "cylindrical")
    builder.set("coordinate", random.below(2) == 0 ? "angle" : "displacement");
  if (two) builder.set("joints", name + "_in", name + "_and");
}

// A beam with a section of the kind, anywhere.
inline void add_beam(ModelBuilder& builder, const Kind& kind, const std::string& name, Random& random) {
  builder.beam(name, kind.type);
  set_random_fields(builder, kind, random);
}

// An element of the kind for each body, or for each such pair of bodies; `bodies` may hold "ground".
inline void add_everywhere(ModelBuilder& builder, Section section, const Kind& kind,
                           const std::vector<std::string>& bodies, Pairs pairs, Random& random) {
  if (is_between_bodies(kind)) {
    // Those that bring joints with them: between a few only, or the joints would be most of the model.
    const bool in_joints = kind.field("between") < 0;
    auto all = pairs_of(bodies.size(), in_joints ? Pairs::Neighbours : pairs);
    if (in_joints) all.resize(std::min<std::size_t>(all.size(), 3));
    for (const auto& [i, j] : all) add_between(builder, section, kind, bodies[i], bodies[j], random);
    return;
  }
  for (const std::string& body : bodies) {
    if (body == "ground") continue;
    const int on = kind.field("on");
    if (kind.fields[static_cast<std::size_t>(on)].type == FieldType::Beam) {
      const std::string beam = fmt::format("beam_of_{}", body);
      add_beam(builder, *find_kind(Section::Beams, "rectangle"), beam, random);
      builder.begin(section, fmt::format("{}_{}", kind.type, body), kind.type);
      set_random_fields(builder, kind, random);
      builder.set("on", beam);
      return;  // one is enough
    }
    builder.begin(section, fmt::format("{}_{}", kind.type, body), kind.type);
    set_random_fields(builder, kind, random);
    builder.set("on", body);
  }
}

// States of every kind and an effort in a joint, whose expressions name all sensors that they may, each other and the time.
inline void add_every_signal(ModelBuilder& builder, const std::vector<std::string>& bodies, Random& random) {
  const auto planar = std::find_if(bodies.begin(), bodies.end(),
                                   [](const std::string& name) { return name.starts_with("planar"); });
  builder.joint("signals", "cylindrical").set("between", bodies[0], bodies[2]);
  set_random_fields(builder, *find_kind(Section::Joints, "cylindrical"), random);
  builder.sensor("turn", "joint_angle").set("of", std::string("signals"));
  builder.sensor("turning", "joint_angle_rate").set("of", std::string("signals"));
  builder.sensor("slide", "joint_displacement").set("of", std::string("signals"));
  builder.sensor("sliding", "joint_displacement_rate").set("of", std::string("signals"));
  builder.sensor("place", "position").set("of", bodies[3]).set("at", random.vector<3>());
  builder.sensor("speed", "velocity").set("of", bodies[4]).set("at", random.vector<3>());
  builder.sensor("spin", "angular_velocity").set("of", bodies[2]);
  builder.sensor("inertial_spin", "angular_velocity")
      .set("of", bodies[3])
      .set("axes", std::string("inertial"));
  builder.sensor("heading", "angle").set("of", *planar);
  builder.sensor("charge_now", "state").set("of", std::string("charge"));
  builder.state("charge", "expression")
      .set("initial", {0.4})
      .set("rate", std::string("place[0]*speed[1] - sin(charge)*lag + turning*slide + cos(t)*heading"));
  builder.state("total", "integral")
      .set("input", std::string("spin[2]*turn - sliding*inertial_spin[0] + charge_now^2"));
  builder.state("lag", "filter")
      .set("input", std::string("place[2]*total + exp(0.3*turning)"))
      .set("time_constant", {0.7});
  builder.force("drive", "joint_effort")
      .set("joint", std::string("signals"))
      .set("coordinate", std::string("angle"))
      .set("effort", std::string("2*charge - slide*turning + lag^2 + speed[0]*sin(heading) + t"));
  builder.force("push", "joint_effort")
      .set("joint", std::string("signals"))
      .set("coordinate", std::string("displacement"))
      .set("effort", std::string("-3*slide - sliding + total*cos(turn)"));
}

// A flexible body of each method of reduction, with interfaces in several formulations and elements between these.
inline void add_flexible_bodies(ModelBuilder& builder, Random& random) {
  const auto interface = [&](const std::string& name, const std::string& of, const std::string& group,
                             const std::string& formulation) {
    builder.begin(Section::Flexible, name, "interface")
        .set("of", of)
        .set("at", random.vector<3>())
        .set("group", group)
        .set("formulation", formulation);
  };
  builder.begin(Section::Flexible, "strip", "rectangle");
  builder.set("from", random.vector<3>()).set("to", random.vector<3>()).set("through", random.vector<3>());
  builder.set("elements", {4}).set("young", {3}).set("density", {2}).set("width", {0.5}).set("height", {0.7});
  builder.set("method", std::string("free")).set("modes", {5}).set("damping_ratio", {0.1});
  builder.set("formulation", std::string("r3so3-spatial"));
  builder.begin(Section::Flexible, "block", "brick");
  builder.set("size", {1, 0.6, 0.8}).set("divisions", {2, 1, 1}).set("young", {4}).set("density", {3});
  builder.set("position", random.vector<3>()).set("orientation", random.vector<3>()).set("modes", {3});
  builder.set("damping", {0.3});
  interface("strip_start", "strip", "start", "se3");
  interface("strip_end", "strip", "end", "model");
  interface("block_left", "block", "x-", "euler-parameters");
  interface("block_right", "block", "x+", "model");
  builder.joint("strip_block", "spherical")
      .set("between", "strip_end", "block_left")
      .set("at", random.vector<3>());
  builder.joint("block_ground", "revolute").set("between", "ground", "block_right");
  builder.set("at", random.vector<3>()).set("axis", random.vector<3>());
  builder.force("strip_spring", "bushing")
      .set("at", random.vector<3>())
      .set("between", "strip_start", "block_right")
      .set("stiffness", {1, 2, 3});
}

// Forces of contacts and stops have kinks, where they begin and where the nearest points change: no differences there. Their derivatives are
// compared with dual numbers (model/derivatives_test.cpp), and whole runs through them (analyses/contact_sensitivity_test.cpp).
inline bool has_kinks(const Kind& kind) { return kind.field("restitution") >= 0; }

// Every kind of body in every formulation, every kind of force on them and on ground, and joints: of every kind by turns, so
// that each pair has one and each kind joins many pairs.
inline std::shared_ptr<const Description> model_of_everything(Random& random, Pairs pairs) {
  const Vec3 gravity = 5 * random.vector<3>();
  ModelBuilder builder({gravity.x(), gravity.y(), gravity.z()});
  std::vector<std::string> bodies = add_every_body(builder, random);
  bodies.insert(bodies.begin() + 1, "ground");
  const auto& joints = kinds(Section::Joints);
  const auto all_pairs = pairs_of(bodies.size(), pairs);
  for (std::size_t k = 0; k < std::max(all_pairs.size(), joints.size()); ++k) {
    const auto& [i, j] = all_pairs[k % all_pairs.size()];
    add_between(builder, Section::Joints, joints[k % joints.size()], bodies[i], bodies[j], random);
  }
  for (const Kind& kind : kinds(Section::Forces))
    if (!has_kinks(kind)) add_everywhere(builder, Section::Forces, kind, bodies, pairs, random);
  add_flexible_bodies(builder, random);
  add_every_signal(builder, bodies, random);
  return builder.finish();
}

// The heavy top of Brüls and Cardona: held at the origin by a spherical joint.
inline void add_heavy_top(ModelBuilder& builder, double spin = 150) {
  builder.body("top", "rigid")
      .set("mass", {15})
      .set("inertia", {0.234375, 0.46875, 0.234375})
      .set("position", {0, 1, 0})
      .consistent("velocity")
      .set("angular_velocity", {0, spin, -4.61538});
  builder.joint("pivot", "spherical").set("between", "ground", "top").set("at", {0, 0, 0});
}

// Links of 1 m along x, hung at the origin, at rest.
inline void add_chain(ModelBuilder& builder, int links) {
  const auto link = [](int i) { return fmt::format("link{}", i); };
  for (int i = 0; i < links; ++i)
    builder.body(link(i), "rigid")
        .set("mass", {1})
        .set("inertia", {0.01, 0.1, 0.1})
        .set("position", {i + 0.5, 0, 0});
  for (int i = 0; i < links; ++i)
    builder.joint(fmt::format("joint{}", i), "spherical")
        .set("between", i == 0 ? "ground" : link(i - 1), link(i))
        .set("at", {static_cast<double>(i), 0, 0});
}

}  // namespace liedyn
