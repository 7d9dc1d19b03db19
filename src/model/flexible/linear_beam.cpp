#include "model/flexible/linear_beam.h"

#include "base/dual.h"
#include "model/beams/beam.h"
#include "model/beams/three_node.h"
#include "model/beams/two_node.h"

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

// The nodes at rest, in the axes of the body.
std::vector<Motion<double>> nodes_of(const Inputs<double>& in, const BeamMesh& mesh) {
  const BeamCurve<double> curve = beam_curve(in);
  const Pose<double> origin = curve.start;
  std::vector<Motion<double>> out(static_cast<std::size_t>(mesh.nodes()));
  for (int i = 0; i < mesh.nodes(); ++i) {
    const Pose<double> pose = curve.at(mesh.fraction(i));
    Motion<double>& node = out[static_cast<std::size_t>(i)];
    node.R = origin.R.transpose() * pose.R;
    node.p = origin.R.transpose() * (pose.p - origin.p);
  }
  return out;
}

template <class E>
FiniteElements elements(const Inputs<double>& in) {
  constexpr int F = E::frames;
  const BeamMesh mesh = beam_mesh(in.description(), in.entry());
  FiniteElements out;
  out.freedoms = 6;
  out.places.resize(3, mesh.nodes());
  const std::vector<Motion<double>> nodes = nodes_of(in, mesh);
  for (int i = 0; i < mesh.nodes(); ++i) out.places.col(i) = nodes[static_cast<std::size_t>(i)].p;
  out.groups["start"] = {0};
  out.groups["end"] = {mesh.nodes() - 1};

  Triplets K, M, field, mass;
  int row = 0;
  for (int part = 0; part < mesh.elements; ++part) {
    Inputs<double> own = in;
    own.set_part(part);
    std::array<double, E::numbers> p;
    E::derive(own, p.data());
    p[E::kDelay] = 0;
    const int first = part * (F - 1);
    std::array<Motion<double>, F> f;
    for (int i = 0; i < F; ++i) f[static_cast<std::size_t>(i)] = nodes[static_cast<std::size_t>(first + i)];
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
            K.emplace_back(6 * (first + i) + r, 6 * (first + j) + c, k(r, c));
            M.emplace_back(6 * (first + i) + r, 6 * (first + j) + c, m(r, c));
          }
      }
    for (const MassPoint& point : mass_points(E(), f, p.data())) {
      for (int i = 0; i < F; ++i) {
        const Eigen::Matrix<double, 3, 6> rows =
            point.R * point.of[static_cast<std::size_t>(i)] * turn(i).transpose();
        for (int r = 0; r < 3; ++r)
          for (int c = 0; c < 6; ++c)
            if (rows(r, c) != 0) field.emplace_back(row + r, 6 * (first + i) + c, rows(r, c));
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
Eigen::MatrixXd sections(const Inputs<double>& in, const Eigen::MatrixXd& U) {
  constexpr int F = E::frames;
  const BeamMesh mesh = beam_mesh(in.description(), in.entry());
  const std::vector<Motion<double>> nodes = nodes_of(in, mesh);
  Eigen::MatrixXd out(12 * E::points * mesh.elements, U.cols());
  for (int part = 0; part < mesh.elements; ++part) {
    Inputs<double> own = in;
    own.set_part(part);
    std::array<double, E::numbers> stiff, unit;
    E::derive(own, stiff.data());
    // With a delay of 1 the force of the element at rest is K times the strain rate: displacements are given as velocities.
    stiff[E::kDelay] = 1;
    unit = stiff;
    make_stiffness_one(E(), unit.data());
    std::array<Motion<double>, F> f;
    for (Eigen::Index c = 0; c < U.cols(); ++c) {
      for (int i = 0; i < F; ++i) {
        const int node = part * (F - 1) + i;
        Motion<double>& m = f[static_cast<std::size_t>(i)] = nodes[static_cast<std::size_t>(node)];
        m.V << m.R.transpose() * U.block<3, 1>(6 * node, c), m.R.transpose() * U.block<3, 1>(6 * node + 3, c);
      }
      for (int point = 0; point < E::points; ++point) {
        const int row = 12 * (E::points * part + point);
        Vec6 none, strain, force;
        E::section(f, unit.data(), point, none, strain);
        E::section(f, stiff.data(), point, none, force);
        out.block<6, 1>(row, c) = strain;
        out.block<6, 1>(row + 6, c) = force;
      }
    }
  }
  return out;
}

template <class E>
Eigen::MatrixXd second_derivatives(const Inputs<double>& in, const Eigen::MatrixXd& U) {
  using D = Dual<double, 1>;
  using DD = Dual<D, 1>;
  constexpr int F = E::frames;
  const BeamMesh mesh = beam_mesh(in.description(), in.entry());
  const std::vector<Motion<double>> nodes = nodes_of(in, mesh);
  const int modes = static_cast<int>(U.cols());
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(U.rows(), pair_count(modes));
  for (int part = 0; part < mesh.elements; ++part) {
    Inputs<double> own = in;
    own.set_part(part);
    std::array<double, E::numbers> p;
    E::derive(own, p.data());
    p[E::kDelay] = 0;
    std::array<DD, E::numbers> numbers;
    std::copy(p.begin(), p.end(), numbers.begin());
    for (int l = 0; l < modes; ++l)
      for (int k = 0; k <= l; ++k) {
        std::array<Motion<DD>, F> f;
        std::array<Vec3T<DD>, F> turns;
        for (int i = 0; i < F; ++i) {
          const int row = 6 * (part * (F - 1) + i);
          Vec6T<DD> q = Vec6T<DD>::Zero();
          for (int c = 0; c < 6; ++c) q[c].v.d[0] = U(row + c, k), q[c].d[0].v = U(row + c, l);
          const Motion<double>& rest = nodes[static_cast<std::size_t>(part * (F - 1) + i)];
          const auto at = static_cast<std::size_t>(i);
          turns[at] = q.tail<3>();
          f[at].p = rest.p.cast<DD>() + q.head<3>();
          f[at].R = SO3<DD>::exp(turns[at]).R() * rest.R.cast<DD>();
        }
        std::array<Vec6T<DD>, F> W;
        E::template wrench<DD>({}, f, numbers.data(), W);
        for (int i = 0; i < F; ++i) {
          // exp(theta + dtheta) R_0 = R exp(R_0^T T(theta) dtheta)
          const auto at = static_cast<std::size_t>(i);
          const Mat3T<DD> rest = nodes[static_cast<std::size_t>(part * (F - 1) + i)].R.template cast<DD>();
          const Vec3T<DD> force = f[at].R * W[at].template head<3>();
          const Vec3T<DD> torque = SO3<DD>::T(turns[at]).transpose() * (rest * W[at].template tail<3>());
          const int row = 6 * (part * (F - 1) + i);
          for (int c = 0; c < 3; ++c) {
            out(row + c, pair_index(k, l)) += force[c].d[0].d[0];
            out(row + 3 + c, pair_index(k, l)) += torque[c].d[0].d[0];
          }
        }
      }
  }
  return out;
}

}  // namespace

Eigen::MatrixXd linear_beam_second_derivatives(const Inputs<double>& in, const Eigen::MatrixXd& U) {
  return beam_mesh(in.description(), in.entry()).order == 2 ? second_derivatives<ThreeNodeBeam>(in, U)
                                                            : second_derivatives<TwoNodeBeam>(in, U);
}

Eigen::MatrixXd linear_beam_sections(const Inputs<double>& in, const Eigen::MatrixXd& U) {
  return beam_mesh(in.description(), in.entry()).order == 2 ? sections<ThreeNodeBeam>(in, U)
                                                            : sections<TwoNodeBeam>(in, U);
}

FiniteElements linear_beam(const Inputs<double>& in) {
  return beam_mesh(in.description(), in.entry()).order == 2 ? elements<ThreeNodeBeam>(in)
                                                            : elements<TwoNodeBeam>(in);
}

}  // namespace liedyn
