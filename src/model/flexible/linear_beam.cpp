#include "liedyn/model/flexible/linear_beam.h"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "liedyn/base/dual.h"
#include "liedyn/model/beams/beam.h"
#include "liedyn/model/beams/three_node.h"
#include "liedyn/model/beams/two_node.h"
#include "liedyn/model/flexible/kinds.h"

namespace liedyn {
namespace {

using Triplets = std::vector<Eigen::Triplet<double>>;

// A point of mass of an element: its displacement by those of the nodes of the element, in section axes: 3 x 6 for each node.
struct MassPoint {
  double mass;
  Mat3 R;  // section to body axes
  std::vector<Eigen::Matrix<double, 3, 6>> of;
};

// The centre of a section with inertia M = [m, -m c~; m c~, J] moves by u - c~ w.
MassPoint mass_point(const Mat6& M, const Mat3& R, std::initializer_list<Mat6> section_by_nodes) {
  MassPoint out{M(0, 0), R, {}};
  Eigen::Matrix<double, 3, 6> center;
  center << Mat3::Identity(), Mat3::Zero();
  if (out.mass > 0) center.rightCols<3>() = -M.bottomLeftCorner<3, 3>() / out.mass;
  for (const Mat6& Q : section_by_nodes) out.of.push_back(center * Q);
  return out;
}

std::vector<MassPoint> mass_points(TwoNodeBeam, const std::array<Motion<double>, 2>& f, const double* p) {
  const TwoNodeBeam::Parts<double> parts(p);
  const RelativePose<double> relative(f[0], f[1]);
  const Mat6 one = Mat6::Identity(), none = Mat6::Zero(), C = SE3<double>::ad(relative.half);
  const Mat3 middle = f[0].R * SE3<double>::exp(0.5 * relative.twist).R();
  return {mass_point(parts.M_A, f[0].R, {one, none}),
          mass_point(parts.M_m, middle, {0.5 * (one - C), 0.5 * (one + C)}),
          mass_point(parts.M_B, f[1].R, {none, one})};
}

std::vector<MassPoint> mass_points(ThreeNodeBeam, const std::array<Motion<double>, 3>& f, const double* p) {
  const ThreeNodeBeam::Parts<double> parts{p};
  const Mat6 one = Mat6::Identity(), none = Mat6::Zero();
  return {mass_point(parts.M(0), f[0].R, {one, none, none}),
          mass_point(parts.M(1), f[1].R, {none, one, none}),
          mass_point(parts.M(2), f[2].R, {none, none, one})};
}

// One element: its numbers, its nodes at rest, and which of the body's nodes these are.
template <class E>
struct LinearElement {
  std::array<double, E::constants> p;
  std::array<Motion<double>, E::frames> rest;
  std::array<int, E::frames> node;
};
template <class E>
std::vector<LinearElement<E>> elements_of(const std::vector<LinearBeam>& beams) {
  std::vector<LinearElement<E>> out;
  for (const LinearBeam& beam : beams) {
    const int elements = beam_mesh(beam.in.description(), beam.in.entry()).elements;
    for (int part = 0; part < elements; ++part) {
      LinearElement<E>& element = out.emplace_back();
      Inputs<double> own = beam.in;
      own.set_part(part);
      E::derive(own, element.p.data());
      element.p[E::kDelay] = 0;
      for (std::size_t i = 0; i < E::frames; ++i) {
        const std::size_t at = static_cast<std::size_t>(part) * (E::frames - 1) + i;
        element.rest[i] = beam.rest[at];
        element.node[i] = beam.nodes[at];
      }
    }
  }
  return out;
}

template <class E>
FiniteElements matrices(const std::vector<LinearBeam>& beams) {
  constexpr int F = E::frames;
  FiniteElements out;
  out.freedoms = 6;
  int count = 0;
  for (const LinearBeam& beam : beams)
    count = std::max(count, 1 + *std::max_element(beam.nodes.begin(), beam.nodes.end()));
  out.places.resize(3, count);
  for (const LinearBeam& beam : beams) {
    for (std::size_t i = 0; i < beam.nodes.size(); ++i) out.places.col(beam.nodes[i]) = beam.rest[i].p;
    const std::string of = is_member(beam.in.entry()) ? beam.in.entry().name + "." : "";
    out.groups[of + "start"] = {beam.nodes.front()};
    out.groups[of + "end"] = {beam.nodes.back()};
  }

  Triplets K, M, field, mass;
  int row = 0;
  for (const LinearElement<E>& element : elements_of<E>(beams)) {
    const auto& [p, f, node] = element;
    ForcePartials<F> d;
    E::partials({}, f, p.data(), d);
    // From the axes of the nodes to those of the body.
    const auto turn = [&](int i) {
      Mat6 R = Mat6::Zero();
      R.topLeftCorner<3, 3>() = R.bottomRightCorner<3, 3>() = f[static_cast<std::size_t>(i)].R;
      return R;
    };
    for (int i = 0; i < F; ++i)
      for (int j = 0; j < F; ++j) {
        const Mat6 k = turn(i) * (0.5 * (d.K[i][j] + d.K[j][i].transpose())) * turn(j).transpose(),
                   m = turn(i) * d.M[i][j] * turn(j).transpose();
        for (int r = 0; r < 6; ++r)
          for (int c = 0; c < 6; ++c) {
            const int at = 6 * node[static_cast<std::size_t>(i)] + r,
                      by = 6 * node[static_cast<std::size_t>(j)] + c;
            K.emplace_back(at, by, k(r, c));
            M.emplace_back(at, by, m(r, c));
          }
      }
    for (const MassPoint& point : mass_points(E(), f, p.data())) {
      for (int i = 0; i < F; ++i) {
        const Eigen::Matrix<double, 3, 6> rows =
            point.R * point.of[static_cast<std::size_t>(i)] * turn(i).transpose();
        for (int r = 0; r < 3; ++r)
          for (int c = 0; c < 6; ++c)
            if (rows(r, c) != 0)
              field.emplace_back(row + r, 6 * node[static_cast<std::size_t>(i)] + c, rows(r, c));
      }
      for (int r = 0; r < 3; ++r) mass.emplace_back(row + r, row + r, point.mass);
      row += 3;
    }
  }
  const int size = out.size();
  const auto fill = [](SparseMatrix& matrix, int rows, int columns, const Triplets& entries) {
    matrix.resize(rows, columns);
    matrix.setFromTriplets(entries.begin(), entries.end());
  };
  fill(out.K, size, size, K);
  fill(out.M, size, size, M);
  fill(out.field, row, size, field);
  fill(out.mass, row, row, mass);
  return out;
}

// Numbers of an element whose section has the stiffness 1: its forces are strains.
void make_stiffness_one(TwoNodeBeam, double* p) {
  Eigen::Map<Mat6>{p + TwoNodeBeam::kStiffness} = Mat6::Identity() / p[TwoNodeBeam::kLength];
}
void make_stiffness_one(ThreeNodeBeam, double* p) {
  for (int k = 0; k < ThreeNodeBeam::points; ++k)
    Eigen::Map<Mat6>{p + ThreeNodeBeam::kStiffness + 36 * k}.setIdentity();
}

template <class E>
Eigen::MatrixXd sections(const std::vector<LinearBeam>& beams, const Eigen::MatrixXd& U) {
  constexpr int F = E::frames;
  std::vector<LinearElement<E>> elements = elements_of<E>(beams);
  Eigen::MatrixXd out(12 * E::points * static_cast<Eigen::Index>(elements.size()), U.cols());
  Eigen::Index row = 0;
  for (LinearElement<E>& element : elements) {
    // With a delay of 1 the force of the element at rest is K times the strain rate: displacements are given as velocities.
    element.p[E::kDelay] = 1;
    std::array<double, E::constants> unit = element.p;
    make_stiffness_one(E(), unit.data());
    std::array<Motion<double>, F> f = element.rest;
    for (Eigen::Index c = 0; c < U.cols(); ++c) {
      for (std::size_t i = 0; i < F; ++i) {
        const int node = element.node[i];
        f[i].V << f[i].R.transpose() * U.block<3, 1>(6 * node, c),
            f[i].R.transpose() * U.block<3, 1>(6 * node + 3, c);
      }
      for (int point = 0; point < E::points; ++point) {
        Vec6 none, strain, force;
        E::section(f, unit.data(), point, none, strain);
        E::section(f, element.p.data(), point, none, force);
        out.block<6, 1>(row + 12 * point, c) = strain;
        out.block<6, 1>(row + 12 * point + 6, c) = force;
      }
    }
    row += 12 * E::points;
  }
  return out;
}

template <class E>
Eigen::MatrixXd second_derivatives(const std::vector<LinearBeam>& beams, const Eigen::MatrixXd& U) {
  using D = Dual<double, 1>;
  using DD = Dual<D, 1>;
  constexpr int F = E::frames;
  const int modes = static_cast<int>(U.cols());
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(U.rows(), pair_count(modes));
  for (const LinearElement<E>& element : elements_of<E>(beams)) {
    std::array<DD, E::constants> constants;
    std::copy(element.p.begin(), element.p.end(), constants.begin());
    for (int l = 0; l < modes; ++l)
      for (int k = 0; k <= l; ++k) {
        std::array<Motion<DD>, F> f;
        std::array<Vec3T<DD>, F> turns;
        for (std::size_t i = 0; i < F; ++i) {
          const int row = 6 * element.node[i];
          Vec6T<DD> q = Vec6T<DD>::Zero();
          for (int c = 0; c < 6; ++c) q[c].v.d[0] = U(row + c, k), q[c].d[0].v = U(row + c, l);
          const Motion<double>& rest = element.rest[i];
          turns[i] = q.tail<3>();
          f[i].p = rest.p.cast<DD>() + q.head<3>();
          f[i].R = SO3<DD>::exp(turns[i]).R() * rest.R.cast<DD>();
        }
        std::array<Vec6T<DD>, F> W;
        E::template wrench<DD>({}, f, constants.data(), W);
        for (std::size_t i = 0; i < F; ++i) {
          // exp(theta + dtheta) R_0 = R exp(R_0^T T(theta) dtheta)
          const Mat3T<DD> rest = element.rest[i].R.template cast<DD>();
          const Vec3T<DD> force = f[i].R * W[i].template head<3>();
          const Vec3T<DD> torque = SO3<DD>::T(turns[i]).transpose() * (rest * W[i].template tail<3>());
          const int row = 6 * element.node[i];
          for (int c = 0; c < 3; ++c) {
            out(row + c, pair_index(k, l)) += force[c].d[0].d[0];
            out(row + 3 + c, pair_index(k, l)) += torque[c].d[0].d[0];
          }
        }
      }
  }
  return out;
}

int order_of(const std::vector<LinearBeam>& beams) {
  const Inputs<double>& in = beams.front().in;
  return beam_mesh(in.description(), in.entry()).order;
}

// Numbers of the nodes of members, `count` in all, so that those that are joined have the same. Nodes of all members follow each other.
struct Joints {
  std::vector<int> parent;

  explicit Joints(int count) : parent(static_cast<std::size_t>(count)) {
    std::iota(parent.begin(), parent.end(), 0);
  }
  int root(int i) const {
    while (parent[static_cast<std::size_t>(i)] != i) i = parent[static_cast<std::size_t>(i)];
    return i;
  }
  // The smaller number stays.
  void join(int i, int j) {
    i = root(i), j = root(j);
    parent[static_cast<std::size_t>(std::max(i, j))] = std::min(i, j);
  }
};

const std::string& name_of(const LinearBeam& beam) { return beam.in.entry().name; }

double distance_to_line(const Vec3& p, const Vec3& a, const Vec3& b) {
  const Vec3 along = b - a;
  const double share = std::clamp((p - a).dot(along) / along.squaredNorm(), 0.0, 1.0);
  return (p - a - share * along).norm();
}

void refuse_touching(const LinearBeam& beam, std::size_t end, const LinearBeam& other, double tolerance) {
  const Vec3& p = beam.rest[end].p;
  for (std::size_t i = 0; i + 1 < other.rest.size(); ++i)
    if (distance_to_line(p, other.rest[i].p, other.rest[i + 1].p) <= tolerance)
      throw std::invalid_argument(fmt::format(
          "has the {} of '{}' on '{}' between two of its nodes, expected it at a node: choose the number of "
          "elements of '{}' so that there is one, or use two members",
          end == 0 ? "start" : "end", name_of(beam), name_of(other), name_of(other)));
}

void refuse_the_same(const LinearBeam& a, const LinearBeam& b, double tolerance) {
  const std::pair ends(a.nodes.front(), a.nodes.back());
  if (ends != std::pair(b.nodes.front(), b.nodes.back()) &&
      ends != std::pair(b.nodes.back(), b.nodes.front()))
    return;
  if ((beam_curve(a.in).at(0.5).p - beam_curve(b.in).at(0.5).p).norm() <= tolerance)
    throw std::invalid_argument(
        fmt::format("has two members between the same points, '{}' and '{}'", name_of(a), name_of(b)));
}

// Over a part of their length: the middle of a piece of one is on a piece of the other that is parallel to it. Bars that cross are not.
void refuse_overlapping(const LinearBeam& a, const LinearBeam& b, double tolerance) {
  for (std::size_t i = 0; i + 1 < a.rest.size(); ++i) {
    const Vec3 middle = 0.5 * (a.rest[i].p + a.rest[i + 1].p), along = a.rest[i + 1].p - a.rest[i].p;
    for (std::size_t j = 0; j + 1 < b.rest.size(); ++j) {
      const Vec3 &from = b.rest[j].p, &to = b.rest[j + 1].p;
      if (distance_to_line(middle, from, to) > tolerance ||
          along.cross(to - from).norm() > 1e-6 * along.norm() * (to - from).norm())
        continue;
      throw std::invalid_argument(
          fmt::format("has overlapping members, '{}' and '{}', about "
                      "({:.4g}, {:.4g}, {:.4g}) in the axes of the frame",
                      name_of(a), name_of(b), middle.x(), middle.y(), middle.z()));
    }
  }
}

// Every member must be reached from the first.
void refuse_apart(const std::vector<LinearBeam>& beams, int nodes) {
  Joints pieces(nodes);
  for (const LinearBeam& beam : beams)
    for (const int node : beam.nodes) pieces.join(beam.nodes.front(), node);
  std::string apart;
  for (const LinearBeam& beam : beams)
    if (pieces.root(beam.nodes.front()) != pieces.root(beams.front().nodes.front()))
      apart += (apart.empty() ? "'" : ", '") + name_of(beam) + "'";
  if (!apart.empty())
    throw std::invalid_argument(
        fmt::format("is disconnected: {} do{} not touch '{}' or the members connected to it; ends of members "
                    "must coincide, or lie at a node of another member",
                    apart, apart.find(',') == std::string::npos ? "es" : "", name_of(beams.front())));
}

// Gives the nodes their numbers, and refuses members that do not make one body.
void join_members(std::vector<LinearBeam>& beams) {
  for (const LinearBeam& beam : beams)
    if (order_of({beam}) != order_of(beams))
      throw std::invalid_argument(fmt::format(
          "has members of both kinds of elements, '{}' and '{}': expected the same `element` for all",
          name_of(beams.front()), name_of(beam)));
  Eigen::AlignedBox3d box;
  int count = 0;
  for (LinearBeam& beam : beams)
    for (const Motion<double>& node : beam.rest) {
      box.extend(node.p);
      beam.nodes.push_back(count++);
    }
  const double tolerance = 1e-6 * box.diagonal().norm();
  Joints joints(count);
  for (const LinearBeam& beam : beams)
    for (const std::size_t end : {std::size_t{0}, beam.rest.size() - 1})
      for (const LinearBeam& other : beams) {
        bool met = false;
        for (std::size_t i = 0; i < other.rest.size(); ++i)
          if (other.nodes[i] != beam.nodes[end] && (other.rest[i].p - beam.rest[end].p).norm() <= tolerance) {
            joints.join(beam.nodes[end], other.nodes[i]);
            met = true;
          }
        if (!met && &other != &beam) refuse_touching(beam, end, other, tolerance);
      }
  // Numbers without gaps, in the order of the members.
  std::vector<int> number(static_cast<std::size_t>(count), -1);
  int nodes = 0;
  for (LinearBeam& beam : beams)
    for (int& node : beam.nodes) {
      int& own = number[static_cast<std::size_t>(joints.root(node))];
      if (own < 0) own = nodes++;
      node = own;
    }
  for (std::size_t i = 0; i < beams.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      refuse_the_same(beams[j], beams[i], tolerance);
      refuse_overlapping(beams[j], beams[i], tolerance);
      refuse_overlapping(beams[i], beams[j], tolerance);
    }
  refuse_apart(beams, nodes);
}

}  // namespace

std::vector<const Entry*> beam_entries(const Description& d, const Entry& body) {
  std::vector<const Entry*> out;
  if (is_linear_beam(body)) out.push_back(&body);
  if (!is_beam_frame(body)) return out;
  for (const Entry& entry : d.entries(Section::Flexible))
    if (is_member(entry) && member_owner(d, entry) == body.name) out.push_back(&entry);
  return out;
}

std::vector<LinearBeam> linear_beams(const Inputs<double>& body) {
  const Description& d = body.description();
  std::vector<LinearBeam> out;
  for (const Entry* entry : beam_entries(d, body.entry())) {
    LinearBeam& beam =
        out.emplace_back(LinearBeam{Inputs<double>(d, *entry, body.all_parameters(), nullptr), {}, {}});
    const BeamCurve<double> curve = beam_curve(beam.in);
    const Pose<double> origin = is_member(*entry) ? Pose<double>{} : curve.start;
    const BeamMesh mesh = beam_mesh(d, *entry);
    for (int i = 0; i < mesh.nodes(); ++i) {
      const Pose<double> pose = curve.at(mesh.fraction(i));
      Motion<double>& node = beam.rest.emplace_back();
      node.R = origin.R.transpose() * pose.R;
      node.p = origin.R.transpose() * (pose.p - origin.p);
    }
  }
  if (out.empty())
    throw std::invalid_argument(fmt::format(
        "has no members: expected entries of the section flexible with \"of\": \"{}\" and the keys of a beam",
        body.entry().name));
  if (is_beam_frame(body.entry())) {
    join_members(out);
  } else {
    out.front().nodes.resize(out.front().rest.size());
    std::iota(out.front().nodes.begin(), out.front().nodes.end(), 0);
  }
  return out;
}

Eigen::MatrixXd linear_beam_second_derivatives(const std::vector<LinearBeam>& beams,
                                               const Eigen::MatrixXd& U) {
  return order_of(beams) == 2 ? second_derivatives<ThreeNodeBeam>(beams, U)
                              : second_derivatives<TwoNodeBeam>(beams, U);
}

Eigen::MatrixXd linear_beam_sections(const std::vector<LinearBeam>& beams, const Eigen::MatrixXd& U) {
  return order_of(beams) == 2 ? sections<ThreeNodeBeam>(beams, U) : sections<TwoNodeBeam>(beams, U);
}

FiniteElements linear_beam_elements(const std::vector<LinearBeam>& beams) {
  return order_of(beams) == 2 ? matrices<ThreeNodeBeam>(beams) : matrices<TwoNodeBeam>(beams);
}

}  // namespace liedyn
