#include "liedyn/io/scene_surface.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>

#include "liedyn/model/beams/beam.h"
#include "liedyn/model/beams/section.h"
#include "liedyn/model/flexible/linear_beam.h"

namespace liedyn {
namespace {

// A number of a beam's section at the fraction x of its length.
double number_at(const Inputs<double>& in, const std::string& name, double x) {
  const Kind& kind = in.kind();
  const double first = in.number(kind.field(name));
  const int end = kind.field(name + "_end");
  return end < 0 || !in.given(end) ? first : (1 - x) * first + x * in.number(end);
}

bool is_close(double a, double b) { return std::abs(a - b) < 0.01 * std::abs(b); }

SectionOutline solid_like(const Mat6& K) {
  SectionOutline out;
  out.height = std::sqrt(12 * K(4, 4) / K(0, 0));
  out.width = std::sqrt(12 * K(5, 5) / K(0, 0));
  return out;
}

void add_triangle(FlexibleSurface& to, int a, int b, int c) {
  for (const int i : {a, b, c}) to.triangles.push_back(static_cast<std::uint32_t>(i));
}

// Points around a section, counter-clockwise seen from x, with the normals of their walls. A rectangle has the ends and the middle of each side, where torsion has its largest
// stress: its corners are there twice, so that edges stay sharp.
struct OutlinePoint {
  Vec3 place, normal;
};
std::vector<OutlinePoint> points_around(const SectionOutline& s) {
  constexpr int kSteps = 16;
  std::vector<OutlinePoint> out;
  if (s.is_round) {
    for (int i = 0; i < kSteps; ++i) {
      const double angle = 2 * std::numbers::pi * i / kSteps;
      const Vec3 normal(0, std::cos(angle), std::sin(angle));
      out.push_back({s.radius * normal, normal});
    }
    return out;
  }
  const Vec3 half(0, 0.5 * s.width, 0.5 * s.height);
  for (const Vec3& normal :
       {Vec3(Vec3::UnitY()), Vec3(Vec3::UnitZ()), Vec3(-Vec3::UnitY()), Vec3(-Vec3::UnitZ())})
    for (const double along : {-1, 0, 1})
      out.push_back({half.cwiseProduct(normal + along * Vec3::UnitX().cross(normal)), normal});
  return out;
}

// `jumps`: boundaries of elements where section forces jump.
void add_beam(const LinearBeam& beam, int index, std::vector<int> jumps, FlexibleSurface& to) {
  const BeamMesh mesh = beam_mesh(beam.in.description(), beam.in.entry());
  const bool is_round = section_outline(beam.in, 0).is_round;
  const int size = static_cast<int>(points_around(section_outline(beam.in, 0)).size());
  const auto ring = [&](int node, int from, int end) {
    const auto i = static_cast<std::size_t>(node);
    const int first = static_cast<int>(to.vertices.size());
    for (const OutlinePoint& point : points_around(section_outline(beam.in, mesh.fraction(node))))
      to.vertices.push_back(
          {beam.nodes[i], beam.rest[i].R * point.place, index, node, point.normal, from, end});
    return first;
  };
  const auto add_cap = [&](int cap, bool at_end) {
    for (int k = 1; k + 1 < size; ++k)
      at_end ? add_triangle(to, cap, cap + k, cap + k + 1) : add_triangle(to, cap, cap + k + 1, cap + k);
  };
  jumps.push_back(mesh.elements);
  int from = 0;
  for (const int end : jumps) {
    int a = ring(from * mesh.order, from, end);
    for (int node = from * mesh.order + 1; node <= end * mesh.order; ++node) {
      const int b = ring(node, from, end);
      for (int k = 0; k < size; ++k) {
        if (!is_round && k % 3 == 2)
          continue;  // the end of one side and the start of the next are one corner
        const int next = (k + 1) % size;
        add_triangle(to, a + k, a + next, b + next);
        add_triangle(to, a + k, b + next, b + k);
      }
      a = b;
    }
    if (from == 0) add_cap(ring(0, from, end), false);
    if (end == mesh.elements) add_cap(ring(end * mesh.order, from, end), true);
    from = end;
  }
}

// tau_xy and tau_xz of a rectangle of the half sides a and c, for T/J = 1: (dphi/dz, -dphi/dy) with Prandtl's stress function
//   phi = a^2 - y^2 - 32 a^2/pi^3 sum_{n odd} (-1)^((n-1)/2)/n^3 cos(k y) cosh(k z)/cosh(k c),  k = n pi/(2 a)
Eigen::Vector2d rectangle_torsion(double a, double c, double y, double z) {
  constexpr double pi = std::numbers::pi;
  Eigen::Vector2d tau(0, 2 * y);
  double sign = 1;
  for (int n = 1; n < 400; n += 2, sign = -sign) {
    const double k = n * pi / (2 * a), back = std::exp(-2 * k * std::abs(z));
    const double scale =
        16 * a * sign / (pi * pi * n * n) * std::exp(k * (std::abs(z) - c)) / (1 + std::exp(-2 * k * c));
    tau[0] -= scale * std::cos(k * y) * std::copysign(1 - back, z);
    tau[1] -= scale * std::sin(k * y) * (1 + back);
  }
  return tau;
}

// Faces of an element in the order of Gmsh: corners, then for ten nodes the middles of the edges.
std::vector<std::vector<int>> faces_of(const std::vector<int>& e) {
  const auto pick = [&](std::initializer_list<int> which) {
    std::vector<int> out;
    for (const int i : which) out.push_back(e[static_cast<std::size_t>(i)]);
    return out;
  };
  if (e.size() == 8)
    return {pick({0, 3, 2, 1}), pick({4, 5, 6, 7}), pick({0, 1, 5, 4}),
            pick({1, 2, 6, 5}), pick({2, 3, 7, 6}), pick({3, 0, 4, 7})};
  if (e.size() == 10)
    return {pick({0, 2, 1, 6, 5, 4}), pick({0, 1, 3, 4, 9, 7}), pick({1, 2, 3, 5, 8, 9}),
            pick({0, 3, 2, 7, 8, 6})};
  return {pick({0, 2, 1}), pick({0, 1, 3}), pick({1, 2, 3}), pick({0, 3, 2})};
}

void add_solid(const SolidMesh& mesh, FlexibleSurface& to) {
  struct Face {
    std::vector<int> nodes;
    std::size_t element;
    int count = 0;
  };
  std::map<std::vector<int>, Face> faces;
  for (std::size_t e = 0; e < mesh.elements.size(); ++e)
    for (std::vector<int>& nodes : faces_of(mesh.elements[e])) {
      std::vector<int> key = nodes;
      std::sort(key.begin(), key.end());
      Face& face = faces[std::move(key)];
      if (face.count++ == 0) face.nodes = std::move(nodes), face.element = e;
    }
  std::map<int, int> vertex_of;
  const auto vertex = [&](int node) {
    const auto [it, is_new] = vertex_of.try_emplace(node, static_cast<int>(to.vertices.size()));
    if (is_new) to.vertices.push_back({node, Vec3::Zero()});
    return it->second;
  };
  for (const auto& [key, face] : faces) {
    if (face.count != 1) continue;
    std::vector<std::array<int, 3>> parts;
    const std::vector<int>& n = face.nodes;
    if (n.size() == 4)
      parts = {{n[0], n[1], n[2]}, {n[0], n[2], n[3]}};
    else if (n.size() == 6)
      parts = {{n[0], n[3], n[5]}, {n[3], n[1], n[4]}, {n[5], n[4], n[2]}, {n[3], n[4], n[5]}};
    else
      parts = {{n[0], n[1], n[2]}};
    Vec3 middle = Vec3::Zero();
    const std::vector<int>& element = mesh.elements[face.element];
    for (const int node : element) middle += mesh.places.col(node) / static_cast<double>(element.size());
    for (const auto& [a, b, c] : parts) {
      const Vec3 A = mesh.places.col(a);
      const Vec3 AB = mesh.places.col(b) - A, AC = mesh.places.col(c) - A;
      if (AB.cross(AC).dot(A - middle) >= 0)
        add_triangle(to, vertex(a), vertex(b), vertex(c));
      else
        add_triangle(to, vertex(a), vertex(c), vertex(b));
    }
  }
}

void add_nodes(const FiniteElements& elements, FlexibleSurface& to) {
  const double size = 0.01 * elements.extent();
  for (int node = 0; node < elements.nodes(); ++node) {
    const int first = static_cast<int>(to.vertices.size());
    for (int axis = 0; axis < 3; ++axis)
      for (const double sign : {1.0, -1.0}) to.vertices.push_back({node, sign * size * Vec3::Unit(axis)});
    for (int octant = 0; octant < 8; ++octant) {
      const int x = octant & 1, y = (octant >> 1) & 1, z = (octant >> 2) & 1;
      if ((x + y + z) % 2 == 0)
        add_triangle(to, first + x, first + 2 + y, first + 4 + z);
      else
        add_triangle(to, first + x, first + 4 + z, first + 2 + y);
    }
  }
}

}  // namespace

SectionOutline section_outline(const Inputs<double>& beam, double x) {
  SectionOutline out;
  const auto number = [&](const char* name) { return number_at(beam, name, x); };
  if (beam.kind().field("radius") >= 0) {
    out.is_round = true;
    out.radius = number("radius");
  } else if (beam.kind().field("width") >= 0) {
    out.width = number("width");
    out.height = number("height");
  } else {
    const Mat6 K = section_matrices(beam, x).stiffness;
    out = solid_like(K);
    if (!is_close(out.width, out.height)) return out;
    // Of equal moments of area: G J/E I is 1/(1 + nu) of a circle, and 0.84/(1 + nu) of a square.
    constexpr double kBetween = 0.71;  // for steel and aluminium
    const bool given = beam.kind().field("area") >= 0;
    const double ratio = given ? 12 * number("moment_y") / (number("area") * number("area")) : 0;
    out.is_round = given ? !is_close(ratio, 1) : K(3, 3) / K(4, 4) > kBetween;
    if (out.is_round) out.radius = 2 * std::sqrt(K(4, 4) / K(0, 0));
    return out;
  }
  if (beam.kind().field("thickness") >= 0) out.wall = number("thickness");
  return out;
}

std::optional<SectionConstants> section_constants(const Inputs<double>& beam, double x) {
  const Kind& kind = beam.kind();
  const bool has_outline = kind.field("radius") >= 0 || kind.field("width") >= 0;
  if (!has_outline || kind.field("young") < 0) return std::nullopt;
  const double E = beam.number(kind.field("young"));
  const int shear = kind.field("shear_modulus"), poisson = kind.field("poisson");
  double G = 0;
  if (shear >= 0 && beam.given(shear))
    G = beam.number(shear);
  else if (poisson >= 0)
    G = E / (2 * (1 + beam.number(poisson)));
  if (!(E > 0) || !(G > 0)) return std::nullopt;
  const Mat6 K = section_matrices(beam, x).stiffness;
  return SectionConstants{E, G, K(0, 0) / E, K(4, 4) / E, K(5, 5) / E, K(3, 3) / G};
}

Eigen::Matrix<double, 2, 3> section_shear(const SectionOutline& outline, const SectionConstants& constants,
                                          const Vec3& point, const Vec3& normal) {
  const auto& [young, shear_modulus, A, Iy, Iz, J] = constants;
  const double y = point.y(), z = point.z(), ny = normal.y(), nz = normal.z();
  Eigen::Matrix<double, 2, 3> out;
  if (outline.is_round) {
    const double R = outline.radius, r = outline.wall > 0 ? R - outline.wall : 0;
    const double k = 4.0 / 3 * (R * R + R * r + r * r) / (R * R + r * r) / A;
    out << k * nz * nz, -k * ny * nz, -z / J, -k * ny * nz, k * ny * ny, y / J;
    return out;
  }
  const double w = outline.width, h = outline.height, t = outline.wall;
  if (t > 0) {
    // Walls of height a along the force, between walls of width b, at a distance from the middle.
    const auto along = [&](double b, double a, double at, double I) {
      const double inside = a / 2 - t;
      const double first_moment =
          b * (a * a / 4 - inside * inside) / 2 + t * (inside * inside - std::min(at * at, inside * inside));
      return first_moment / (2 * t * I);
    };
    const double ym = (w - t) / 2, zm = (h - t) / 2, flow = 1 / (8 * ym * zm * t);
    if (ny != 0)
      out << 0, 0, 0, -ny * ym * z / Iz, along(w, h, z, Iy), ny * flow;
    else
      out << along(h, w, y, Iz), -nz * zm * y / Iy, -nz * flow, 0, 0, 0;
    return out;
  }
  const Eigen::Vector2d torsion = rectangle_torsion(w / 2, h / 2, y, z) / J;
  out << 1.5 / A * (1 - 4 * y * y / (w * w)), 0, torsion[0], 0, 1.5 / A * (1 - 4 * z * z / (h * h)),
      torsion[1];
  return out;
}

std::vector<float> FlexibleSurface::places(const FiniteElements& elements) const {
  std::vector<float> out;
  out.reserve(3 * vertices.size());
  for (const Vertex& v : vertices) {
    const Vec3 p = elements.places.col(v.node) + v.arm;
    for (int i = 0; i < 3; ++i) out.push_back(static_cast<float>(p[i]));
  }
  return out;
}

// u + theta x arm
std::vector<float> FlexibleSurface::displacements(const FiniteElements& elements,
                                                  const Eigen::MatrixXd& U) const {
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(U.cols()) * 3 * vertices.size());
  for (Eigen::Index k = 0; k < U.cols(); ++k)
    for (const Vertex& v : vertices) {
      const Eigen::Index first = elements.freedoms * v.node;
      Vec3 u = U.col(k).segment<3>(first);
      if (elements.freedoms == 6) u += Vec3(U.col(k).segment<3>(first + 3)).cross(v.arm);
      for (int i = 0; i < 3; ++i) out.push_back(static_cast<float>(u[i]));
    }
  return out;
}

std::vector<float> FlexibleSurface::stresses(const SolidMesh& mesh,
                                             const Eigen::MatrixXd& of_elements) const {
  std::vector<std::vector<std::size_t>> around(static_cast<std::size_t>(mesh.places.cols()));
  for (std::size_t e = 0; e < mesh.elements.size(); ++e)
    for (const int node : mesh.elements[e]) around[static_cast<std::size_t>(node)].push_back(e);
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(of_elements.cols()) * 6 * vertices.size());
  for (Eigen::Index k = 0; k < of_elements.cols(); ++k)
    for (const Vertex& v : vertices) {
      Vec6 mean = Vec6::Zero();
      const auto& elements = around[static_cast<std::size_t>(v.node)];
      for (const std::size_t e : elements)
        mean += of_elements.col(k).segment<6>(6 * static_cast<Eigen::Index>(e)) /
                static_cast<double>(elements.size());
      for (int i = 0; i < 6; ++i) out.push_back(static_cast<float>(mean[i]));
    }
  return out;
}

std::vector<float> FlexibleSurface::beam_stresses(const std::vector<LinearBeam>& beams,
                                                  const Eigen::MatrixXd& U) const {
  for (const LinearBeam& beam : beams)
    if (!section_constants(beam.in, 0)) return {};
  const Eigen::MatrixXd sections = linear_beam_sections(beams, U);  // twelve rows for each point
  Eigen::Index elements = 0;
  std::vector<Eigen::Index> first;
  for (const LinearBeam& beam : beams) {
    first.push_back(elements);
    elements += beam_mesh(beam.in.description(), beam.in.entry()).elements;
  }
  const auto points = sections.rows() / 12 / elements;  // in each element, equally far from its middle
  // Forces at a node: those of the points before and behind it within its part of the beam, linear between them and beyond the outer ones.
  const auto force_at = [&](const Vertex& v, Eigen::Index column) {
    const LinearBeam& beam = beams[static_cast<std::size_t>(v.beam)];
    const BeamMesh mesh = beam_mesh(beam.in.description(), beam.in.entry());
    const auto place = [&](Eigen::Index i) {
      const double gauss = 0.5 / std::sqrt(3.0);
      return static_cast<double>(i / points) + 0.5 + (points == 1 ? 0 : i % 2 == 0 ? -gauss : gauss);
    };
    const Eigen::Index row = first[static_cast<std::size_t>(v.beam)] * points, end = points * v.to;
    const auto force = [&](Eigen::Index i) -> Vec6 {
      return sections.block<6, 1>(12 * (row + i) + 6, column);
    };
    const double wanted = mesh.fraction(v.ring) * mesh.elements;
    Eigen::Index i = points * v.from;
    while (i + 2 < end && place(i + 1) < wanted) ++i;
    if (i + 1 == end) return force(i);
    const double share = (wanted - place(i)) / (place(i + 1) - place(i));
    return Vec6((1 - share) * force(i) + share * force(i + 1));
  };
  struct OfVertex {
    SectionConstants section;
    Vec3 arm;
    Eigen::Matrix<double, 2, 3> shear;
  };
  std::vector<OfVertex> of_vertices;
  for (const Vertex& v : vertices) {
    const LinearBeam& beam = beams[static_cast<std::size_t>(v.beam)];
    const double x = beam_mesh(beam.in.description(), beam.in.entry()).fraction(v.ring);
    const SectionConstants section = *section_constants(beam.in, x);
    const Vec3 arm = beam.rest[static_cast<std::size_t>(v.ring)].R.transpose() * v.arm;
    of_vertices.push_back({section, arm, section_shear(section_outline(beam.in, x), section, arm, v.wall)});
  }
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(U.cols()) * 6 * vertices.size());
  for (Eigen::Index column = 0; column < U.cols(); ++column)
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      const Vertex& v = vertices[i];
      const auto& [c, arm, shear] = of_vertices[i];
      const Mat3& R = beams[static_cast<std::size_t>(v.beam)].rest[static_cast<std::size_t>(v.ring)].R;
      const Vec6 f = force_at(v, column);  // N, Q_y, Q_z, T, M_y, M_z
      // sigma_xx = N/A + M_y z/I_y - M_z y/I_z
      Mat3 S = Mat3::Zero();
      S(0, 0) = f[0] / c.area + f[4] * arm.z() / c.about_y - f[5] * arm.y() / c.about_z;
      const Eigen::Vector2d tau = shear * f.segment<3>(1);
      S(0, 1) = S(1, 0) = tau[0];
      S(0, 2) = S(2, 0) = tau[1];
      const Mat3 T = R * S * R.transpose();
      for (const double x : {T(0, 0), T(1, 1), T(2, 2), T(1, 2), T(0, 2), T(0, 1)})
        out.push_back(static_cast<float>(x));
    }
  return out;
}

FlexibleSurface flexible_surface(const FlexibleOutput& body, const Description& description,
                                 const double* params) {
  const auto made = body.source().made(description, params);
  const Meshed& mesh = made->mesh;
  const Entry& entry = description.entries(Section::Flexible)[static_cast<std::size_t>(body.source().body())];
  FlexibleSurface out;
  if (!mesh.solid.elements.empty()) add_solid(mesh.solid, out);
  if (!mesh.lines.empty()) {
    int index = 0;
    for (const LinearBeam& beam : linear_beams(Inputs<double>(description, entry, params, nullptr)))
      add_beam(beam, index++, body.jumps(description, beam.in.entry()), out);
  }
  if (out.vertices.empty()) add_nodes(mesh.elements, out);
  return out;
}

}  // namespace liedyn
