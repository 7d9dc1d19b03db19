// Models in SDFormat, read by its own library: includes, frames and poses relative to others are as it understands them.
//
// A link is a body whose reference point is its centre of mass, in the axes of the link; the frame `origin` is that of the link. Joints are those of
// the same kind here, between any two links, so that loops are allowed. Damping and springs become forces.
#include <memory>
#include <string>
#include <vector>

#include <sdf/sdf.hh>

#include "robot_text.h"

namespace {

using namespace robots;

Vector3d vector(const ignition::math::Vector3d& v) { return {v.X(), v.Y(), v.Z()}; }

struct Place {
  Matrix3d R = Matrix3d::Identity();
  Vector3d p = Vector3d::Zero();
  Place() = default;
  explicit Place(const ignition::math::Pose3d& pose)
      : R(Quaterniond(pose.Rot().W(), pose.Rot().X(), pose.Rot().Y(), pose.Rot().Z()).toRotationMatrix()),
        p(vector(pose.Pos())) {}
  Place operator*(const Place& o) const {
    Place out;
    out.R = R * o.R;
    out.p = R * o.p + p;
    return out;
  }
};

void check(const sdf::Errors& errors) {
  if (!errors.empty()) throw Refused(errors.front().Message());
}
Place in_model(const sdf::SemanticPose& pose) {
  ignition::math::Pose3d out;
  check(pose.Resolve(out, "__model__"));
  return Place(out);
}

class Reader {
 public:
  Reader(const sdf::Model& model, const Vector3d& gravity) : model_(model), at_(model.RawPose()) {
    out_ = {{"liedyn", 1}, {"name", Names::clean(model.Name(), "robot")}, {"gravity", list(gravity)}};
    for (const char* section : {"bodies", "joints", "forces", "sensors"}) out_[section] = json::object();
  }

  json read() {
    if (model_.ModelCount() > 0)
      throw Refused("the model '" + model_.Name() + "' contains other models",
                    "merge them, or read them one by one as sub-models");
    if (model_.Static()) throw Refused("the model '" + model_.Name() + "' is static: nothing in it can move");
    for (std::uint64_t i = 0; i < model_.LinkCount(); ++i) add_link(*model_.LinkByIndex(i));
    for (std::uint64_t i = 0; i < model_.JointCount(); ++i) add_joint(*model_.JointByIndex(i));
    for (const char* section : {"joints", "forces", "sensors"})
      if (out_[section].empty()) out_.erase(section);
    out_["simulation"] = {{"end", 1}, {"step", 1e-3}, {"formulation", "minimal"}};
    if (limits_ > 0)
      warnings_.push_back(std::to_string(limits_) +
                          " limits of joints are left out: add joint_stop where they matter");
    if (collisions_ > 1)
      warnings_.push_back(std::to_string(collisions_) +
                          " collision shapes do not collide: add contact elements where they matter");
    if (hidden_ > 0)
      warnings_.push_back(std::to_string(hidden_) + " meshes, planes and height fields are not drawn");
    return {{"model", out_}, {"warnings", warnings_}};
  }

 private:
  void add_link(const sdf::Link& link) {
    const std::string name = names_.add(link.Name(), "link");
    bodies_[link.Name()] = name;
    const Place at = at_ * in_model(link.SemanticPose());
    const auto& inertial = link.Inertial();
    const Vector3d center = vector(inertial.Pose().Pos());  // in the axes of the link
    const auto moi = inertial.Moi();                        // about the centre, in these axes
    Matrix3d J;
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) J(r, c) = moi(static_cast<std::size_t>(r), static_cast<std::size_t>(c));
    json body = {{"type", "rigid"},
                 {"mass", inertial.MassMatrix().Mass()},
                 {"inertia", inertia(J)},
                 {"position", list(at.p + at.R * center)},
                 {"orientation", orientation(at.R)},
                 {"frames", {{"origin", {{"at", list(-center)}}}}}};
    for (std::uint64_t i = 0; i < link.VisualCount(); ++i) {
      const sdf::Visual& visual = *link.VisualByIndex(i);
      ignition::math::Pose3d pose;
      check(visual.SemanticPose().Resolve(pose, link.Name()));
      json shape = shape_of(*visual.Geom());
      if (shape.is_null()) {
        ++hidden_;
        continue;
      }
      shape["at"] = list(Place(pose).p - center);
      shape["rotation"] = orientation(Place(pose).R);
      body["shapes"].push_back(shape);
    }
    collisions_ += static_cast<int>(link.CollisionCount());
    out_["bodies"][name] = body;
  }

  static json shape_of(const sdf::Geometry& geometry) {
    if (const auto* box = geometry.BoxShape()) return {{"type", "box"}, {"size", list(vector(box->Size()))}};
    if (const auto* sphere = geometry.SphereShape())
      return {{"type", "sphere"}, {"radius", sphere->Radius()}};
    if (const auto* cylinder = geometry.CylinderShape())
      return {{"type", "cylinder"}, {"radius", cylinder->Radius()}, {"length", cylinder->Length()}};
    if (const auto* capsule = geometry.CapsuleShape())
      return {{"type", "capsule"}, {"radius", capsule->Radius()}, {"length", capsule->Length()}};
    if (const auto* ellipsoid = geometry.EllipsoidShape())
      return {{"type", "ellipsoid"}, {"radii", list(vector(ellipsoid->Radii()))}};
    return {};
  }

  std::string body_of(const std::string& link) const {
    if (link == "world") return "ground";
    const auto found = bodies_.find(link);
    if (found == bodies_.end()) throw Refused("there is no link '" + link + "'");
    return found->second;
  }

  void add_joint(const sdf::Joint& joint) {
    const std::string name = joints_.add(joint.Name(), "joint");
    std::string parent, child;
    check(joint.ResolveParentLink(parent));
    check(joint.ResolveChildLink(child));
    const Place at = at_ * in_model(joint.SemanticPose());
    json out = {{"type", ""}, {"between", {body_of(parent), body_of(child)}}, {"at", list(at.p)}};
    const auto axis = [&](unsigned i) -> Vector3d {
      ignition::math::Vector3d xyz;
      if (joint.Axis(i) == nullptr) throw Refused("the joint '" + joint.Name() + "' has no axis");
      check(joint.Axis(i)->ResolveXyz(xyz));
      return at.R * vector(xyz);
    };
    bool slides = false;
    switch (joint.Type()) {
      case sdf::JointType::FIXED: out["type"] = "fixed"; break;
      case sdf::JointType::BALL: out["type"] = "spherical"; break;
      case sdf::JointType::UNIVERSAL:
        out["type"] = "universal";
        out["first_axis"] = list(axis(0));
        out["second_axis"] = list(axis(1));
        break;
      case sdf::JointType::PRISMATIC: slides = true; [[fallthrough]];
      case sdf::JointType::REVOLUTE:
      case sdf::JointType::CONTINUOUS:
        out["type"] = slides ? "prismatic" : "revolute";
        out["axis"] = list(axis(0));
        break;
      default:
        throw Refused("the joint '" + joint.Name() +
                          "' is neither fixed, ball, universal, prismatic, revolute nor continuous",
                      "write it in a model file: screw, gear, cylindrical and others are there");
    }
    out_["joints"][name] = out;
    if (out.contains("axis"))
      return add_coordinate(name, *joint.Axis(0), slides, joint.Type() == sdf::JointType::CONTINUOUS);
    for (const unsigned i : {0U, 1U})
      if (const sdf::JointAxis* own = joint.Axis(i);
          own != nullptr && (own->Damping() != 0 || own->Friction() != 0 || own->SpringStiffness() != 0))
        throw Refused("the joint '" + joint.Name() +
                          "' has damping, friction or a spring, which such joints here have not",
                      "add a bushing to the model");
  }

  // What sensors show of a joint, and what acts in it.
  void add_coordinate(const std::string& name, const sdf::JointAxis& axis, bool slides, bool continuous) {
    const std::string kind = slides ? "joint_displacement" : "joint_angle";
    out_["sensors"][name] = {{"type", kind}, {"of", name}};
    out_["sensors"][name + "_rate"] = {{"type", kind + "_rate"}, {"of", name}};
    if (axis.Damping() != 0 || axis.SpringStiffness() != 0) {
      json spring = {{"type", "joint_spring"}, {"joint", name}, {"damping", axis.Damping()}};
      if (axis.SpringStiffness() != 0) {
        spring["stiffness"] = axis.SpringStiffness();
        spring["free"] = axis.SpringReference();
      }
      out_["forces"][name + "_spring"] = spring;
    }
    if (axis.Friction() != 0) {
      out_["forces"][name + "_friction"] = {
          {"type", "joint_effort"},
          {"joint", name},
          {"effort", "-" + json(axis.Friction()).dump() + "*tanh(" + name + "_rate/0.01)"}};
      warnings_.push_back("the friction of '" + name +
                          "' is a smooth function of the speed, tanh(rate/0.01)");
    }
    if (!continuous && (axis.Lower() > -1e15 || axis.Upper() < 1e15)) ++limits_;
  }

  const sdf::Model& model_;
  Place at_;
  json out_;
  std::map<std::string, std::string> bodies_;  // by link
  Names names_, joints_;
  std::vector<std::string> warnings_;
  int limits_ = 0, collisions_ = 0, hidden_ = 0;
};

json read_file(const char* file) {
  sdf::Console::Instance()->SetQuiet(true);
  sdf::Root root;
  check(root.Load(file));
  if (root.Model() != nullptr) return Reader(*root.Model(), {0, 0, -9.8}).read();
  if (root.WorldCount() == 0) throw Refused("there is no model in the file");
  const sdf::World& world = *root.WorldByIndex(0);
  const sdf::Model* moving = nullptr;
  for (std::uint64_t i = 0; i < world.ModelCount(); ++i) {
    const sdf::Model* model = world.ModelByIndex(i);
    if (model->Static()) continue;
    if (moving != nullptr) throw Refused("the world has several models that move", "write one file for each");
    moving = model;
  }
  if (moving == nullptr) throw Refused("no model of the world can move");
  return Reader(*moving, vector(world.Gravity())).read();
}

}  // namespace

LIEDYN_ROBOT_FORMAT(read_file)
