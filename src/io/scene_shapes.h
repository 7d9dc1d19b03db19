// What rigid bodies look like in a scene: the shapes that the model gives, or shapes that follow from inertia and from where joints sit.
//
// Derived shapes: a body has a core, the cylinder, sphere or box of uniform density with its inertia, about the centre of mass. Slender bodies are rods between their
// joints. Joints outside of the core are connected to it by thin rods; three or more joints in a plane span a plate. A body without inertia is a small sphere.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "liedyn/base/matrix.h"
#include "liedyn/model/description.h"

namespace liedyn {

struct SceneShape {
  enum class Type { Box, Sphere, Cylinder, Capsule, Tube, Ellipsoid, Mesh };
  Type type = Type::Box;
  // Edges of a box, radii of an ellipsoid; otherwise radius, length (along z, centred) and inner radius.
  std::array<double, 3> size = {0, 0, 0};
  Vec3 at = Vec3::Zero();                     // of its centre, body axes
  Mat3 axes = Mat3::Identity();               // shape to body axes
  std::string color = {};                     // "#rrggbb"; empty: the viewer chooses
  bool derived = false;                       // from inertia and joints
  std::vector<float> vertices = {};           // of a mesh, body axes relative to `at` and `axes`
  std::vector<std::uint32_t> triangles = {};  // counter-clockwise seen from outside

  double radius() const { return size[0]; }
  double length() const { return size[1]; }
  // Spheres (centre in body axes, radius) whose box holds it: its corners or ends.
  using Ball = std::pair<Vec3, double>;
  std::vector<Ball> balls() const;
  // Of the sphere about the body's reference point that holds it.
  double reach() const;
  // Its smallest extent; 0 of a mesh, where it is not known.
  double thickness() const;
};

// Where something is attached to a body.
struct SceneAttachment {
  enum class Kind { Turns, Slides, Other };
  Vec3 at = Vec3::Zero();    // body axes
  Vec3 axis = Vec3::Zero();  // of the joint, body axes; zero: it has none
  Kind kind = Kind::Other;
  double disc = 0;  // radius of a disc about `axis` there: of a wheel that rolls, of a gear; 0: none
};

// What derived shapes follow from.
struct SceneBody {
  double mass = 0;
  Vec3 center = Vec3::Zero();   // of mass, body axes
  Mat3 inertia = Mat3::Zero();  // about it
  bool is_point = false;        // a point mass
  bool in_plane = false;        // inertia has only zz
  std::vector<SceneAttachment> attachments = {};

  // Radius of the sphere about the centre of mass that holds the core; 0 if there is none.
  double core_radius() const;
  // Largest distance between attachments and the centre of mass.
  double span() const;
};

// `extent` is the size of the model: of all joints and centres of mass.
std::vector<SceneShape> derived_shapes(const SceneBody& body, double extent);

// The shapes that a model gives for a body (or "ground"); what cannot be shown is added to `missing`.
std::vector<SceneShape> given_shapes(const Description& description, const std::string& body,
                                     std::vector<std::string>& missing);

}  // namespace liedyn
