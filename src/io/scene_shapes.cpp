#include "liedyn/io/scene_shapes.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numbers>
#include <optional>
#include <utility>

#include "liedyn/base/error.h"
#include "liedyn/io/expand/shapes.h"
#include "liedyn/io/mesh_file.h"
#include "liedyn/io/mesh_format.h"

namespace liedyn {
namespace {

using Type = SceneShape::Type;
using Attached = SceneAttachment::Kind;

// Columns with z along a direction.
Mat3 axes_with_z(const Vec3& direction) {
  return Eigen::Quaterniond::FromTwoVectors(Vec3::UnitZ(), direction).toRotationMatrix();
}

SceneShape shape(Type type, std::array<double, 3> size, const Vec3& at, const Mat3& axes = Mat3::Identity()) {
  SceneShape out;
  out.type = type, out.size = size, out.at = at, out.axes = axes, out.derived = true;
  return out;
}

SceneShape rod(const Vec3& from, const Vec3& to, double radius) {
  const Vec3 along = to - from;
  const double length = along.norm();
  if (!(length > 0)) return shape(Type::Sphere, {radius, 0, 0}, from);
  return shape(Type::Capsule, {radius, length, 0}, 0.5 * (from + to), axes_with_z(along / length));
}

// Uniform bodies with a given inertia.
struct Core {
  Type type = Type::Box;  // Box, Cylinder (size: radius, length) or Sphere
  std::array<double, 3> size = {0, 0, 0};
  Mat3 axes = Mat3::Identity();
  double radius = 0;  // of the sphere that holds it

  double length() const {
    return type == Type::Cylinder ? size[1] : type == Type::Box ? size[2] : 2 * size[0];
  }
  // Half of its largest extent across z.
  double across() const { return type == Type::Box ? 0.5 * std::max(size[0], size[1]) : size[0]; }
  bool is_slender() const { return type != Type::Sphere && length() > 5 * across(); }
  void scale(double by) {
    for (double& x : size) x *= by;
    radius *= by;
  }
  // Distance of a point (relative to the centre) from it; 0 inside.
  double distance(const Vec3& point) const {
    const Vec3 x = axes.transpose() * point;
    if (type == Type::Sphere) return std::max(0.0, x.norm() - size[0]);
    Vec3 out = Vec3::Zero();
    if (type == Type::Box) {
      for (int i = 0; i < 3; ++i)
        out[i] = std::max(0.0, std::abs(x[i]) - 0.5 * size[static_cast<std::size_t>(i)]);
    } else {
      out << std::max(0.0, x.head<2>().norm() - size[0]), 0, std::max(0.0, std::abs(x[2]) - 0.5 * size[1]);
    }
    return out.norm();
  }
};

// Two moments that differ by less than this share make a body of revolution.
constexpr double kAlike = 5e-3;

// The z axis of the core is that of revolution, or the longest.
std::optional<Core> core_of(const SceneBody& body) {
  if (!(body.mass > 0) || body.is_point) return std::nullopt;
  Core out;
  if (body.in_plane) {
    const double J = body.inertia(2, 2) / body.mass;
    if (!(J > 0)) return std::nullopt;
    // A body that turns about its centre is taken for a wheel, others for a bar across the plane's normal.
    const bool at_center = std::any_of(body.attachments.begin(), body.attachments.end(), [&](const auto& a) {
      return a.kind == Attached::Turns && (a.at - body.center).norm() < 0.05 * std::sqrt(J);
    });
    if (at_center || body.attachments.empty()) {
      const double R = std::sqrt(2 * J);
      out.type = Type::Cylinder, out.size = {R, 0.15 * R, 0}, out.radius = R;
      return out;
    }
    const double length = std::sqrt(12 * J);
    out.size = {0.08 * length, 0.08 * length, length};
    out.radius = 0.5 * length;
    Vec3 along = Vec3::UnitX();
    double most = 0;
    for (const SceneAttachment& a : body.attachments)
      if (const Vec3 arm = a.at - body.center; arm.norm() > most) most = arm.norm(), along = arm / most;
    out.axes = axes_with_z(along);
    return out;
  }
  const Eigen::SelfAdjointEigenSolver<Mat3> principal(body.inertia / body.mass);
  if (principal.info() != Eigen::Success) return std::nullopt;
  const Vec3 J = principal.eigenvalues().cwiseMax(0.0);  // ascending
  Mat3 Q = principal.eigenvectors();
  if (!(J[2] > 0) || !J.allFinite()) return std::nullopt;
  if (J[2] - J[0] < kAlike * J[2]) {
    out.type = Type::Sphere;
    out.size[0] = out.radius = std::sqrt(2.5 * J[1]);
    return out;
  }
  const bool prolate = J[2] - J[1] < kAlike * J[2], oblate = J[1] - J[0] < kAlike * J[2];
  if (prolate || oblate) {
    const int axis = prolate ? 0 : 2, across = prolate ? 2 : 0;
    // J_axis = R^2/2, J_across = R^2/4 + l^2/12
    const double R = std::sqrt(2 * J[axis]), l = std::sqrt(std::max(0.0, 12 * (J[across] - 0.25 * R * R)));
    out.type = Type::Cylinder;
    out.size = {std::max(R, 0.02 * l), std::max(l, 0.12 * R), 0};
    out.axes = axes_with_z(Q.col(axis));
  } else {
    // e_i^2 = 6 (J_j + J_k - J_i)
    for (std::size_t i = 0; i < 3; ++i)
      out.size[i] = std::sqrt(std::max(0.0, 6 * (J.sum() - 2 * J[static_cast<Eigen::Index>(i)])));
    std::reverse(out.size.begin(), out.size.end());  // the smallest moment belongs to the longest edge
    for (double& edge : out.size) edge = std::max(edge, 0.1 * out.size[2]);
    out.axes << Q.col(2), Q.col(1), Q.col(0);
    if (out.axes.determinant() < 0) out.axes.col(0) *= -1;
  }
  out.radius = out.type == Type::Box ? 0.5 * Vec3(out.size[0], out.size[1], out.size[2]).norm()
                                     : std::hypot(out.size[0], 0.5 * out.size[1]);
  return out;
}

// Attachments without repetitions.
std::vector<Vec3> distinct_points(const SceneBody& body, double close) {
  std::vector<Vec3> out;
  for (const SceneAttachment& a : body.attachments)
    if (std::none_of(out.begin(), out.end(), [&](const Vec3& p) { return (p - a.at).norm() <= close; }))
      out.push_back(a.at);
  return out;
}

// Convex hull of points of a plane, counter-clockwise (Andrew's monotone chain).
using Plane = Eigen::Vector2d;
std::vector<Plane> convex_hull(std::vector<Plane> points) {
  std::sort(points.begin(), points.end(), [](const Plane& a, const Plane& b) {
    return a.x() < b.x() || (a.x() == b.x() && a.y() < b.y());
  });
  const auto turn = [](const Plane& a, const Plane& b, const Plane& c) {
    return (b - a).x() * (c - a).y() - (b - a).y() * (c - a).x();
  };
  std::vector<Plane> out;
  for (int pass = 0; pass < 2; ++pass) {
    const std::size_t floor = out.size();
    for (const Plane& p : points) {
      while (out.size() >= floor + 2 && turn(out[out.size() - 2], out.back(), p) <= 0) out.pop_back();
      out.push_back(p);
    }
    out.pop_back();
    std::reverse(points.begin(), points.end());
  }
  return out;
}

// The hull of the points, with rounded corners of a radius, as a plate across `normal`.
SceneShape plate(const std::vector<Vec3>& points, const Vec3& normal, double radius, double thickness) {
  constexpr int kSteps = 12;  // of a circle
  const Mat3 axes = axes_with_z(normal);
  Vec3 middle = Vec3::Zero();
  for (const Vec3& p : points) middle += p / static_cast<double>(points.size());
  std::vector<Plane> corners;
  for (const Vec3& p : points) {
    const Plane c = (axes.transpose() * (p - middle)).head<2>();
    for (int i = 0; i < kSteps; ++i) {
      const double angle = 2 * std::numbers::pi * i / kSteps;
      corners.emplace_back(c + radius * Plane(std::cos(angle), std::sin(angle)));
    }
  }
  const std::vector<Plane> hull = convex_hull(std::move(corners));
  SceneShape out = shape(Type::Mesh, {0, 0, 0}, middle, axes);
  const auto n = static_cast<std::uint32_t>(hull.size());
  // Top, bottom, and the rim twice: its normals are others than those of the faces.
  for (int ring = 0; ring < 4; ++ring)
    for (const Plane& p : hull)
      for (const double x : {p.x(), p.y(), (ring % 2 == 0 ? 0.5 : -0.5) * thickness})
        out.vertices.push_back(static_cast<float>(x));
  for (std::uint32_t i = 1; i + 1 < n; ++i) {
    out.triangles.insert(out.triangles.end(), {0, i, i + 1});
    out.triangles.insert(out.triangles.end(), {n, n + i + 1, n + i});
  }
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t next = (i + 1) % n, top = 2 * n, bottom = 3 * n;
    out.triangles.insert(out.triangles.end(), {bottom + i, bottom + next, top + next});
    out.triangles.insert(out.triangles.end(), {bottom + i, top + next, top + i});
  }
  return out;
}

// Normal of the plane that points lie in; nothing if they do not, or lie on a line.
std::optional<Vec3> common_plane(const std::vector<Vec3>& points, double size) {
  Vec3 middle = Vec3::Zero();
  for (const Vec3& p : points) middle += p / static_cast<double>(points.size());
  Mat3 spread = Mat3::Zero();
  for (const Vec3& p : points) spread += (p - middle) * (p - middle).transpose();
  const Eigen::SelfAdjointEigenSolver<Mat3> principal(spread);
  const Vec3 widths = principal.eigenvalues().cwiseMax(0.0).cwiseSqrt();
  if (widths[0] > 0.05 * size || widths[1] < 0.05 * size) return std::nullopt;
  return principal.eigenvectors().col(0).normalized();
}

// Two points that are farthest apart.
std::pair<Vec3, Vec3> farthest(const std::vector<Vec3>& points) {
  std::pair<Vec3, Vec3> out(points[0], points[0]);
  for (const Vec3& a : points)
    for (const Vec3& b : points)
      if ((a - b).norm() > (out.first - out.second).norm()) out = {a, b};
  return out;
}

double distance_to_line(const Vec3& point, const Vec3& a, const Vec3& b) {
  const Vec3 along = (b - a).normalized(), arm = point - a;
  return (arm - along * along.dot(arm)).norm();
}

// A rod through all joints of a slender body, as long as its core where that is longer.
SceneShape slender_rod(const SceneBody& body, const Core& core, std::pair<Vec3, Vec3> ends, double extent) {
  const Vec3 along = (ends.second - ends.first).normalized();
  const double length = (ends.second - ends.first).norm();
  const double half = 0.5 * core.length();
  if (core.length() > 1.5 * length && core.length() <= extent) {
    const double middle = along.dot(body.center - ends.first);
    const double from = std::min(0.0, middle - half), to = std::max(length, middle + half);
    ends = {ends.first + from * along, ends.first + to * along};
  }
  const double whole = (ends.second - ends.first).norm();
  // A box of given edges is shown as such: its section is known.
  if (core.type == Type::Box && !body.in_plane && std::abs((core.axes.col(2)).dot(along)) > 0.999 &&
      core.size[0] > 0.1 * core.size[2]) {
    const double most = 0.2 * whole;
    return shape(Type::Box, {std::min(core.size[0], most), std::min(core.size[1], most), whole},
                 0.5 * (ends.first + ends.second), core.axes);
  }
  return rod(ends.first, ends.second, std::clamp(0.8 * core.across(), 0.02 * whole, 0.035 * whole));
}

SceneShape as_shape(const Core& core, const Vec3& center) {
  return shape(core.type, core.size, center, core.axes);
}

// A block for what slides along an axis.
SceneShape block(const SceneBody& body, const Vec3& axis, double size) {
  return shape(Type::Box, {0.7 * size, 0.7 * size, size}, body.center, axes_with_z(axis));
}

}  // namespace

std::vector<SceneShape::Ball> SceneShape::balls() const {
  const auto corners = [&](const Vec3& low, const Vec3& high) {
    std::vector<Ball> out;
    for (int i = 0; i < 8; ++i) {
      const Vec3 corner((i & 1) != 0 ? high[0] : low[0], (i & 2) != 0 ? high[1] : low[1],
                        (i & 4) != 0 ? high[2] : low[2]);
      out.emplace_back(at + axes * corner, 0);
    }
    return out;
  };
  switch (type) {
    case Type::Box: {
      const Vec3 half = 0.5 * Vec3(size[0], size[1], size[2]);
      return corners(-half, half);
    }
    case Type::Sphere: return {{at, size[0]}};
    case Type::Ellipsoid: return {{at, *std::max_element(size.begin(), size.end())}};
    case Type::Mesh: {
      Vec3 low = Vec3::Zero(), high = Vec3::Zero();
      for (std::size_t i = 0; i + 2 < vertices.size(); i += 3) {
        const Vec3 v(vertices[i], vertices[i + 1], vertices[i + 2]);
        low = i == 0 ? v : Vec3(low.cwiseMin(v));
        high = i == 0 ? v : Vec3(high.cwiseMax(v));
      }
      return corners(low, high);
    }
    default: break;
  }
  // Along z. The ends of a flat disc are both its middle.
  const Vec3 half = axes.col(2) * (0.5 * size[1]);
  return {{at - half, size[0]}, {at + half, size[0]}};
}

double SceneShape::thickness() const {
  switch (type) {
    case Type::Mesh: return 0;
    case Type::Sphere: return 2 * size[0];
    case Type::Box: return *std::min_element(size.begin(), size.end());
    case Type::Ellipsoid: return 2 * *std::min_element(size.begin(), size.end());
    case Type::Capsule: return 2 * size[0];
    default: return std::min(2 * size[0], size[1]);
  }
}

double SceneShape::reach() const {
  double out = 0;
  for (const auto& [center, radius] : balls()) out = std::max(out, center.norm() + radius);
  return out;
}

double SceneBody::core_radius() const {
  const std::optional<Core> core = core_of(*this);
  return core ? core->radius : 0;
}

double SceneBody::span() const {
  double out = 0;
  for (const SceneAttachment& a : attachments) {
    out = std::max(out, (a.at - center).norm());
    for (const SceneAttachment& b : attachments) out = std::max(out, (a.at - b.at).norm());
  }
  return out;
}

namespace {

// Massless bodies that connect joints are rods; a sphere marks the others.
void add_marks(const SceneBody& body, const std::vector<Vec3>& points, double extent,
               std::vector<SceneShape>& out) {
  const double span = body.span();
  const double radius = (body.is_point ? 0.035 : 0.015) * extent;
  if (out.empty() && (body.is_point || span < 2 * radius))
    out.push_back(
        shape(Type::Sphere, {span > 0 ? std::min(radius, 0.25 * span) : radius, 0, 0}, body.center));
  if (span > 0)
    for (const Vec3& p : points)
      if ((p - body.center).norm() > 1e-3 * span && !body.is_point)
        out.push_back(rod(body.center, p, 0.03 * std::min(span, 0.5 * extent)));
}

// Rods to joints outside of the core. They begin on its centre line, so that slender cores are met at right angles.
void add_arms(const SceneBody& body, const Core& core, const std::vector<Vec3>& points, double thin,
              std::vector<SceneShape>& out) {
  for (const Vec3& p : points) {
    const Vec3 arm = p - body.center;
    if (core.distance(arm) < std::max(thin, 0.15 * core.radius)) continue;
    Vec3 from = body.center;
    if (core.type != Type::Sphere && core.length() > 2 * core.across()) {
      const Vec3 z = core.axes.col(2);
      const double most = 0.5 * core.length() - core.across();
      from += std::clamp(z.dot(arm), -most, most) * z;
    }
    const double reach = (p - from).norm();
    out.push_back(rod(from, p, std::min(thin, 0.06 * reach)));
  }
}

// The inertia of a disc across hinges that are all parallel to its axis is that of a link of a planar mechanism: it tells nothing of the outline.
bool is_planar_link(const SceneBody& body, const Core& core, std::size_t joints) {
  return joints >= 2 && core.type == Type::Cylinder && core.length() < 0.2 * core.across() &&
         std::all_of(body.attachments.begin(), body.attachments.end(), [&](const SceneAttachment& a) {
           return a.kind != Attached::Turns || (std::abs(a.axis.dot(core.axes.col(2))) > 0.999 &&
                                                (a.at - body.center).norm() > 0.05 * core.across());
         });
}

}  // namespace

std::vector<SceneShape> derived_shapes(const SceneBody& body, double extent) {
  std::vector<SceneShape> out;
  const double span = body.span();
  const std::vector<Vec3> points = distinct_points(body, 1e-3 * std::max(span, 1e-6 * extent));
  std::optional<Core> core = core_of(body);

  // Wheels and gears say how large they are.
  for (const SceneAttachment& a : body.attachments)
    if (a.disc > 0 && !a.axis.isZero())
      out.push_back(
          shape(Type::Cylinder, {a.disc, 0.15 * a.disc, 0}, a.at, axes_with_z(a.axis.normalized())));
  if (!out.empty()) core.reset();

  if (!core || body.is_point) {
    add_marks(body, points, extent, out);
    return out;
  }
  const bool in_plane = body.in_plane || is_planar_link(body, *core, points.size());
  const bool is_slender = core->is_slender();
  // Inertias that stand for no real body (a one, typed in haste) must not hide the mechanism.
  if (!points.empty()) {
    const double most = is_slender ? extent : std::max(0.35 * extent, 1.2 * span);
    if (2 * core->radius > most) core->scale(most / (2 * core->radius));
  }
  if (points.empty()) return {as_shape(*core, body.center)};

  // A slender body, or one whose joints lie on a line through its centre of mass: one rod.
  const auto ends = farthest(points);
  const double length = (ends.second - ends.first).norm();
  const bool on_line = length > 0 && std::all_of(points.begin(), points.end(), [&](const Vec3& p) {
                         return distance_to_line(p, ends.first, ends.second) < 0.02 * length;
                       });
  const bool has_center = on_line && distance_to_line(body.center, ends.first, ends.second) < 0.05 * length;
  const double width = std::min(std::max(span, 2 * core->radius), extent);
  const double thin = std::clamp(0.3 * core->across(), 0.02 * width, 0.04 * width);
  if (is_slender && has_center && length > 0.3 * core->length())
    return {slender_rod(body, *core, ends, extent)};
  // With a joint at one end: the last link of a chain looks like the others.
  if (is_slender && points.size() == 1) {
    const Vec3 z = core->axes.col(2), arm = points[0] - body.center;
    const double along = z.dot(arm), half = 0.5 * core->length();
    if (std::abs(along) > 0.7 * half && (arm - along * z).norm() < 0.05 * half)
      return {slender_rod(body, *core, {points[0], body.center - std::copysign(half, along) * z}, extent)};
  }

  // Three joints or more in a plane: a plate.
  if (points.size() >= 3 && !on_line) {
    std::vector<Vec3> corners = points;
    if (const std::optional<Vec3> normal = common_plane(corners, length)) {
      const double radius = std::min(0.06 * length, 0.03 * extent);
      out.push_back(plate(corners, *normal, radius, 0.6 * radius));
      if (core->distance(body.center) == 0 && !in_plane && (is_slender || 2 * core->radius > length))
        return out;
      if (in_plane || 2 * core->radius < 0.3 * length) return out;
    }
  }

  const auto slides = std::find_if(body.attachments.begin(), body.attachments.end(), [](const auto& a) {
    return a.kind == Attached::Slides && !a.axis.isZero();
  });
  const bool is_compact = span < 0.15 * extent;
  if (slides != body.attachments.end() && is_compact) {
    // The size of a slider is that of its inertia if it is plausible.
    const double size = std::clamp(2 * core->radius, 0.12 * extent, 0.2 * extent);
    out.push_back(block(body, slides->axis.normalized(), size));
  } else if (on_line && has_center && 2 * core->across() < 0.5 * length && points.size() >= 2) {
    // A connecting rod with a compact inertia: the rod carries the core.
    out.push_back(
        rod(ends.first, ends.second, std::clamp(0.3 * core->across(), 0.02 * length, 0.05 * length)));
    if (!in_plane && !is_slender) out.push_back(as_shape(*core, body.center));
    return out;
  } else if (in_plane && points.size() >= 2) {
    // In the plane only one moment is known: joints show more of the body.
    for (const Vec3& p : points)
      if ((p - body.center).norm() > 0.02 * length) out.push_back(rod(body.center, p, 0.03 * length));
    if (on_line && distance_to_line(body.center, ends.first, ends.second) < 0.2 * length)
      out = {rod(ends.first, ends.second, 0.03 * length)};
    return out;
  } else if (out.empty()) {
    out.push_back(as_shape(*core, body.center));
  }

  add_arms(body, *core, points, thin, out);
  return out;
}

namespace {

// One mesh for each colour; white where the file has none.
std::vector<std::pair<std::string, TriangleMesh>> by_color(const TriangleMesh& mesh) {
  std::map<std::uint32_t, TriangleMesh> parts;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i)
    parts[mesh.colors[i] == MeshSink::kNoColor ? 0xffffff : mesh.colors[i]].triangles.push_back(
        mesh.triangles[i]);
  std::vector<std::pair<std::string, TriangleMesh>> out;
  for (auto& [color, part] : parts) {
    std::map<std::uint32_t, std::uint32_t> index;
    for (auto& triangle : part.triangles)
      for (std::uint32_t& corner : triangle) {
        const auto [found, is_new] =
            index.try_emplace(corner, static_cast<std::uint32_t>(part.vertices.size()));
        if (is_new) part.vertices.push_back(mesh.vertices[corner]);
        corner = found->second;
      }
    out.emplace_back(fmt::format("#{:06x}", color), std::move(part));
  }
  return out;
}

void set_mesh(const TriangleMesh& mesh, SceneShape& out) {
  out.type = Type::Mesh;
  out.size = {0, 0, 0};
  for (const std::array<double, 3>& v : mesh.vertices)
    for (const double x : v) out.vertices.push_back(static_cast<float>(x));
  for (const std::array<std::uint32_t, 3>& t : mesh.triangles)
    out.triangles.insert(out.triangles.end(), t.begin(), t.end());
}

// Base at -length/2, tip at length/2.
TriangleMesh cone(double radius, double length) {
  constexpr std::uint32_t kSides = 48;
  TriangleMesh out;
  for (std::uint32_t i = 0; i < kSides; ++i) {
    const double angle = 2 * std::numbers::pi * i / kSides;
    out.vertices.push_back({radius * std::cos(angle), radius * std::sin(angle), -0.5 * length});
    const std::uint32_t next = (i + 1) % kSides;
    out.triangles.push_back({i, next, kSides});
    out.triangles.push_back({next, i, kSides + 1});
  }
  out.vertices.push_back({0, 0, 0.5 * length});
  out.vertices.push_back({0, 0, -0.5 * length});
  return out;
}

// Sizes as in io/expand/shapes.h. Throws InputError if the file of a mesh cannot be read.
void set_shape(const Visual& visual, SceneShape& out) {
  const auto& [a, b, c] = visual.size;
  out.size = {a, c, b};  // radius, length, inner radius
  if (visual.shape == "box" || visual.shape == "ellipsoid") {
    out.type = visual.shape == "box" ? Type::Box : Type::Ellipsoid;
    out.size = visual.size;
  } else if (visual.shape == "sphere") {
    out.type = Type::Sphere;
  } else if (visual.shape == "cylinder") {
    out.type = Type::Cylinder;
  } else if (visual.shape == "capsule") {
    out.type = Type::Capsule;
  } else if (visual.shape == "tube") {
    out.type = Type::Tube;
  } else if (visual.shape == "cone") {
    set_mesh(cone(a, c), out);
  } else {
    set_mesh(mesh_of(visual), out);
  }
}

}  // namespace

std::vector<SceneShape> given_shapes(const Description& description, const std::string& body,
                                     std::vector<std::string>& missing) {
  std::vector<SceneShape> out;
  const auto add = [&](const Visual& visual) {
    SceneShape one;
    one.at = Vec3(visual.position[0], visual.position[1], visual.position[2]);
    const auto& q = visual.orientation;
    one.axes = Eigen::Quaterniond(q[0], q[1], q[2], q[3]).normalized().toRotationMatrix();
    const bool has_color = visual.color[3] != 0 && visual.color != Visual().color;
    try {
      if (visual.shape == "mesh" && !has_color) {
        const TriangleMesh mesh = mesh_of(visual);
        if (!mesh.colors.empty()) {
          for (const auto& [color, part] : by_color(mesh)) {
            SceneShape piece = one;
            set_mesh(part, piece);
            piece.color = color;
            out.push_back(std::move(piece));
          }
          return;
        }
        set_mesh(mesh, one);
      } else {
        set_shape(visual, one);
      }
    } catch (const InputError& error) {
      // A page is made to be given away: where the model lay is nobody's business.
      for (Diagnostic found : error.diagnostics()) {
        found.file = std::filesystem::path(found.file).filename().string();
        missing.push_back(
            fmt::format("body '{}': its {} is not shown: {}", body, visual.shape, to_string(found)));
      }
      return;
    }
    const auto byte = [](double x) { return std::lround(255 * std::clamp(x, 0.0, 1.0)); };
    if (has_color)
      one.color = fmt::format("#{:02x}{:02x}{:02x}", byte(visual.color[0]), byte(visual.color[1]),
                              byte(visual.color[2]));
    out.push_back(std::move(one));
  };
  // Shapes for collisions have the opacity 0. They stand in for meshes that cannot be read.
  for (const bool hidden : {false, true}) {
    if (!out.empty()) break;
    for (const Visual& visual : description.visuals)
      if (visual.body == body && (visual.color[3] == 0) == hidden) add(visual);
  }
  return out;
}

}  // namespace liedyn
