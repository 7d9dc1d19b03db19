// Robots in MuJoCo's format, read by MuJoCo's own library: defaults, includes, inertia from geometries and meshes are as it understands them.
//
// Bodies that are welded together become one. A joint of MuJoCo is the joint of the same kind here, its coordinate counts as there. Springs,
// damping, rotor inertia ("armature"), dry friction and actuators on joints become forces; an actuator's control is a parameter of its name.
#include <mujoco/mujoco.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "robot_text.h"

namespace {

using namespace robots;

[[noreturn]] void throw_error(const char* text) { throw std::runtime_error(text); }
thread_local std::vector<std::string>* warnings_of_the_library = nullptr;
void keep_warning(const char* text) {
  if (warnings_of_the_library != nullptr) warnings_of_the_library->emplace_back(text);
}

Vector3d vector(const mjtNum* x) { return {x[0], x[1], x[2]}; }
Matrix3d matrix(const mjtNum* rows) {
  return Eigen::Map<const Eigen::Matrix<mjtNum, 3, 3, Eigen::RowMajor>>(rows).cast<double>();
}
class Reader {
 public:
  Reader(const mjModel& model, mjData& data) : m_(model), d_(data) {}

  json read() {
    check_supported();
    json out = {{"liedyn", 1}, {"name", Names::clean(m_.names, "robot")}};
    out["gravity"] =
        list(m_.opt.disableflags & mjDSBL_GRAVITY ? Vector3d(Vector3d::Zero()) : vector(m_.opt.gravity));
    for (const char* section : {"parameters", "bodies", "joints", "forces", "sensors"})
      out[section] = json::object();
    model_ = &out;
    name_all();
    for (int b = 1; b < m_.nbody; ++b)
      if (m_.body_weldid[b] == b) add_body(b);
    add_shapes();
    for (int e = 0; e < m_.neq; ++e) add_equality(e);
    for (int a = 0; a < m_.nu; ++a) add_actuator(a);
    for (const char* section : {"parameters", "joints", "forces", "sensors"})
      if (out[section].empty()) out.erase(section);
    out["simulation"] = {{"end", 1}, {"step", m_.opt.timestep}, {"formulation", "minimal"}};
    note_what_is_left_out();
    return out;
  }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  // ---- names: those of the file, as names of model files have to be

  void name_all() {
    body_names_.assign(static_cast<std::size_t>(m_.nbody), "ground");
    for (int b = 1; b < m_.nbody; ++b)
      if (m_.body_weldid[b] == b)
        body_names_[at(b)] = bodies_used_.add(m_.names + m_.name_bodyadr[b], "body_" + std::to_string(b));
    for (int b = 1; b < m_.nbody; ++b) body_names_[at(b)] = body_names_[at(m_.body_weldid[b])];
    for (int j = 0; j < m_.njnt; ++j)
      joint_names_.push_back(joints_used_.add(m_.names + m_.name_jntadr[j], "joint_" + std::to_string(j)));
  }
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  // ---- bodies

  struct Lump {
    double mass = 0;
    Vector3d center = Vector3d::Zero();
    Matrix3d inertia = Matrix3d::Zero();  // about the centre, inertial axes
  };
  // Of all bodies that are welded to body b, in the initial configuration.
  Lump lump(int b) const {
    Lump out;
    for (int i = b; i < m_.nbody; ++i)
      if (m_.body_weldid[i] == b) {
        out.mass += m_.body_mass[i];
        out.center += m_.body_mass[i] * vector(d_.xipos + 3 * i);
      }
    if (out.mass <= 0)
      throw Refused("the body '" + body_names_[at(b)] + "' moves and has no mass",
                    "give it a mass, or weld it");
    out.center /= out.mass;
    for (int i = b; i < m_.nbody; ++i)
      if (m_.body_weldid[i] == b) {
        const Matrix3d axes = matrix(d_.ximat + 9 * i);
        const Vector3d r = vector(d_.xipos + 3 * i) - out.center;
        out.inertia += axes * vector(m_.body_inertia + 3 * i).asDiagonal() * axes.transpose() +
                       m_.body_mass[i] * (r.squaredNorm() * Matrix3d::Identity() - r * r.transpose());
      }
    return out;
  }

  // Between several joints of a body there are bodies without mass there. Here each has a share of the body's inertia that changes the motion in its ninth digit.
  static constexpr double kShare = 1e-9;

  void add_body(int b) {
    const int joints = m_.body_jntnum[b], first = m_.body_jntadr[b];
    const std::string& name = body_names_[at(b)];
    const Lump own = lump(b);
    std::string before = body_names_[at(m_.body_parentid[b])];
    for (int j = first; j < first + joints; ++j) {
      const bool last = j == first + joints - 1;
      const std::string body = last ? name : bodies_used_.add(name + "_" + std::to_string(j - first + 1), "");
      write_body(body, own, last ? 1 - kShare * (joints - 1) : kShare, b);
      add_joint(j, before, body);
      before = body;
    }
  }
  // The reference point is the centre of mass, the axes are those of the file; the frame `origin` is that of the file.
  void write_body(const std::string& name, const Lump& lump, double share, int b) {
    const Matrix3d R = matrix(d_.xmat + 9 * b);
    const Matrix3d J = share * (R.transpose() * lump.inertia * R);
    const Vector3d origin = R.transpose() * (vector(d_.xpos + 3 * b) - lump.center);
    (*model_)["bodies"][name] = {{"type", "rigid"},
                                 {"mass", share * lump.mass},
                                 {"inertia", inertia(J)},
                                 {"position", list(lump.center)},
                                 {"orientation", orientation(R)},
                                 {"frames", {{"origin", {{"at", list(origin)}}}}}};
  }

  // ---- joints and what acts in them

  void add_joint(int j, const std::string& first, const std::string& second) {
    const int type = m_.jnt_type[j];
    if (type == mjJNT_FREE) return;
    const std::string& name = joint_names_[at(j)];
    json joint = {{"type", type == mjJNT_BALL    ? "spherical"
                           : type == mjJNT_SLIDE ? "prismatic"
                                                 : "revolute"},
                  {"between", {first, second}},
                  {"at", list(vector(d_.xanchor + 3 * j))}};
    if (type != mjJNT_BALL) {
      joint["axis"] = list(vector(d_.xaxis + 3 * j));
      // At the start the coordinate is the reference of the file: coordinate = motion - zero.
      if (const double reference = m_.qpos0[m_.jnt_qposadr[j]]; reference != 0) joint["zero"] = -reference;
    }
    (*model_)["joints"][name] = joint;
    if (type == mjJNT_BALL) return check_ball(j);
    const std::string kind = type == mjJNT_HINGE ? "joint_angle" : "joint_displacement";
    (*model_)["sensors"][name] = {{"type", kind}, {"of", name}};
    (*model_)["sensors"][name + "_rate"] = {{"type", kind + "_rate"}, {"of", name}};

    const int dof = m_.jnt_dofadr[j];
    json& forces = (*model_)["forces"];
    const double stiffness = m_.jnt_stiffness[j], damping = m_.dof_damping[dof];
    if (stiffness != 0 || damping != 0) {
      json spring = {{"type", "joint_spring"}, {"joint", name}};
      if (stiffness != 0) {
        spring["stiffness"] = stiffness;
        spring["free"] = m_.qpos_spring[m_.jnt_qposadr[j]];
      }
      if (damping != 0) spring["damping"] = damping;
      forces[name + "_spring"] = spring;
    }
    // A motor whose winding carries no current is a rotor.
    if (m_.dof_armature[dof] != 0)
      forces[name + "_rotor"] = {{"type", "dc_motor"},
                                 {"joint", name},
                                 {"resistance", 1e30},
                                 {"torque_constant", 1},
                                 {"rotor_inertia", m_.dof_armature[dof]}};
    if (const double friction = m_.dof_frictionloss[dof]; friction != 0) {
      forces[name + "_friction"] = {
          {"type", "joint_effort"},
          {"joint", name},
          {"effort", "-" + json(friction).dump() + "*tanh(" + name + "_rate/0.01)"}};
      ++frictions_;
    }
    if (m_.jnt_limited[j]) ++limits_;
  }
  void check_ball(int j) {
    const int dof = m_.jnt_dofadr[j];
    for (int k = 0; k < 3; ++k)
      if (m_.dof_damping[dof + k] != 0 || m_.dof_armature[dof + k] != 0 ||
          m_.dof_frictionloss[dof + k] != 0 || m_.jnt_stiffness[j] != 0)
        throw Refused(
            "the ball joint '" + joint_names_[at(j)] +
                "' has damping, friction, a spring or a rotor, which spherical joints here have not",
            "use hinges, or add a bushing to the model");
  }

  // ---- actuators: gear (gain u + b0 + b1 gear q + b2 gear q')

  void add_actuator(int a) {
    const std::string label =
        Names::clean(m_.names + m_.name_actuatoradr[a], "actuator_" + std::to_string(a));
    const auto left_out = [&](const std::string& why) {
      warnings_.push_back("the actuator '" + label + "' is left out: " + why);
    };
    if (m_.actuator_trntype[a] != mjTRN_JOINT) return left_out("it does not act in a joint");
    const int j = m_.actuator_trnid[2 * a];
    if (m_.jnt_type[j] != mjJNT_HINGE && m_.jnt_type[j] != mjJNT_SLIDE)
      return left_out("its joint is neither a hinge nor a slide");
    if (m_.actuator_dyntype[a] != mjDYN_NONE) return left_out("it has dynamics of its own");
    if (m_.actuator_gaintype[a] != mjGAIN_FIXED) return left_out("its gain is not fixed");
    const int bias = m_.actuator_biastype[a];
    if (bias != mjBIAS_NONE && bias != mjBIAS_AFFINE) return left_out("its bias is neither none nor affine");
    const std::string& joint = joint_names_[at(j)];
    std::string name = label;
    while ((*model_)["sensors"].contains(name) || (*model_)["parameters"].contains(name) || name == "t")
      name += "_control";
    (*model_)["parameters"][name] = 0;
    const auto number = [](double x) { return x < 0 ? "(" + json(x).dump() + ")" : json(x).dump(); };
    const auto limited = [&](const std::string& text, const mjtNum* range) {
      return "min(max(" + text + ", " + number(range[0]) + "), " + number(range[1]) + ")";
    };
    const double gear = m_.actuator_gear[6 * a];
    const mjtNum* gain = m_.actuator_gainprm + mjNGAIN * a;
    const mjtNum* b = m_.actuator_biasprm + mjNBIAS * a;
    std::string force = number(gain[0]) + "*" +
                        (m_.actuator_ctrllimited[a] ? limited(name, m_.actuator_ctrlrange + 2 * a) : name);
    if (bias == mjBIAS_AFFINE) {
      if (b[0] != 0) force += " + " + number(b[0]);
      if (b[1] != 0) force += " + " + number(b[1] * gear) + "*" + joint;
      if (b[2] != 0) force += " + " + number(b[2] * gear) + "*" + joint + "_rate";
    }
    if (m_.actuator_forcelimited[a]) force = limited(force, m_.actuator_forcerange + 2 * a);
    if (gear != 1) force = number(gear) + "*(" + force + ")";
    std::string own = name;
    while ((*model_)["forces"].contains(own)) own += "_motor";
    (*model_)["forces"][own] = {{"type", "joint_effort"}, {"joint", joint}, {"effort", force}};
  }

  // ---- closed loops

  void add_equality(int e) {
    if (!m_.eq_active[e]) return;
    const int type = m_.eq_type[e], one = m_.eq_obj1id[e], two = m_.eq_obj2id[e];
    const mjtNum* data = m_.eq_data + mjNEQDATA * e;
    const std::string name = joints_used_.add(m_.names + m_.name_eqadr[e], "equality_" + std::to_string(e));
    json& joints = (*model_)["joints"];
    if (type == mjEQ_CONNECT) {
      const Vector3d anchor = vector(d_.xpos + 3 * one) + matrix(d_.xmat + 9 * one) * vector(data);
      joints[name] = {{"type", "spherical"},
                      {"between", {body_names_[at(one)], body_names_[at(two)]}},
                      {"at", list(anchor)}};
    } else if (type == mjEQ_WELD) {
      joints[name] = {{"type", "fixed"},
                      {"between", {body_names_[at(one)], body_names_[at(two)]}},
                      {"at", list(vector(d_.xpos + 3 * one))}};
      warnings_.push_back("the weld '" + name + "' holds the two bodies as they are at the start");
    } else {
      throw Refused("the equality '" + name + "' is neither a connect nor a weld",
                    "couple joints by `gear` or `gear_mesh` in a model file");
    }
  }

  // ---- shapes, only to be drawn

  void add_shapes() {
    for (int g = 0; g < m_.ngeom; ++g) {
      const int b = m_.geom_bodyid[g], carrier = m_.body_weldid[b];
      const mjtNum* size = m_.geom_size + 3 * g;
      json shape;
      switch (m_.geom_type[g]) {
        case mjGEOM_SPHERE: shape = {{"type", "sphere"}, {"radius", size[0]}}; break;
        case mjGEOM_CAPSULE:
          shape = {{"type", "capsule"}, {"radius", size[0]}, {"length", 2 * size[1]}};
          break;
        case mjGEOM_CYLINDER:
          shape = {{"type", "cylinder"}, {"radius", size[0]}, {"length", 2 * size[1]}};
          break;
        case mjGEOM_ELLIPSOID: shape = {{"type", "ellipsoid"}, {"radii", {size[0], size[1], size[2]}}}; break;
        case mjGEOM_BOX: shape = {{"type", "box"}, {"size", {2 * size[0], 2 * size[1], 2 * size[2]}}}; break;
        default: ++hidden_; continue;  // planes, height fields, meshes
      }
      const Matrix3d R = carrier == 0 ? Matrix3d(Matrix3d::Identity()) : matrix(d_.xmat + 9 * carrier);
      const Vector3d from = carrier == 0 ? Vector3d(Vector3d::Zero()) : lump(carrier).center;
      shape["at"] = list(R.transpose() * (vector(d_.geom_xpos + 3 * g) - from));
      shape["rotation"] = orientation(R.transpose() * matrix(d_.geom_xmat + 9 * g));
      std::array<char, 8> color;
      const float* rgba = m_.geom_rgba + 4 * g;
      const auto byte = [](float x) {
        return static_cast<unsigned>(std::clamp(x, 0.0F, 1.0F) * 255.0F + 0.5F);
      };
      std::snprintf(color.data(), color.size(), "#%02x%02x%02x", byte(rgba[0]), byte(rgba[1]), byte(rgba[2]));
      shape["color"] = color.data();
      (*model_)["bodies"][body_names_[at(b)]]["shapes"].push_back(shape);
    }
  }

  // ---- what is not there

  void check_supported() const {
    for (int i = 0; i < m_.ntendon; ++i)
      if (m_.tendon_stiffness[i] != 0 || m_.tendon_damping[i] != 0 || m_.tendon_limited[i] ||
          m_.tendon_frictionloss[i] != 0)
        throw Refused("tendons with springs, damping, friction or limits are not supported",
                      "use spring_damper, distance or pulley in a model file");
    if (m_.opt.density != 0 || m_.opt.viscosity != 0)
      throw Refused("forces of a surrounding fluid (density, viscosity) are not supported",
                    "use forces with expressions in a model file");
  }
  void note_what_is_left_out() {
    const auto note = [&](int count, const std::string& what) {
      if (count > 0) warnings_.push_back(std::to_string(count) + " " + what);
    };
    note(limits_, "limits of joints are left out: add joint_stop where they matter");
    note(frictions_, "frictions of joints are a smooth function of the speed, tanh(rate/0.01)");
    note(hidden_, "planes, meshes and height fields are not drawn");
    int colliding = 0;
    for (int g = 0; g < m_.ngeom; ++g)
      colliding += m_.geom_contype[g] != 0 || m_.geom_conaffinity[g] != 0 ? 1 : 0;
    if (colliding > 1 && (m_.opt.disableflags & mjDSBL_CONTACT) == 0)
      note(colliding, "geometries that may collide do not: add contact elements where they matter");
  }

  const mjModel& m_;
  mjData& d_;
  json* model_ = nullptr;
  std::vector<std::string> body_names_, joint_names_, warnings_;
  Names bodies_used_, joints_used_;
  int limits_ = 0, frictions_ = 0, hidden_ = 0;
};

json read_file(const char* file) {
  std::vector<std::string> said;
  warnings_of_the_library = &said;
  mju_user_error = throw_error;
  mju_user_warning = keep_warning;
  std::array<char, 1000> error{};
  const std::unique_ptr<mjModel, void (*)(mjModel*)> model(
      mj_loadXML(file, nullptr, error.data(), error.size()), mj_deleteModel);
  warnings_of_the_library = nullptr;
  if (!model) throw Refused(error.data());
  const std::unique_ptr<mjData, void (*)(mjData*)> data(mj_makeData(model.get()), mj_deleteData);
  if (!data) throw Refused("not enough memory");
  mj_kinematics(model.get(), data.get());
  Reader reader(*model, *data);
  json out;
  out["model"] = reader.read();
  out["warnings"] = said;
  for (const std::string& warning : reader.warnings()) out["warnings"].push_back(warning);
  return out;
}

}  // namespace

LIEDYN_ROBOT_FORMAT(read_file)
