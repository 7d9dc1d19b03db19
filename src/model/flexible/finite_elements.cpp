#include "liedyn/model/flexible/finite_elements.h"

#include <fmt/format.h>

#include <Eigen/LU>
#include <array>
#include <cmath>
#include <stdexcept>

namespace liedyn {
namespace {

using Eigen::MatrixXd;
using Triplets = std::vector<Eigen::Triplet<double>>;

// Shape functions of an element at natural coordinates: values and derivatives by these.
struct Shape {
  Eigen::VectorXd N;
  Eigen::Matrix<double, Eigen::Dynamic, 3> slope;
};

Shape hexahedron_shape(const Vec3& x) {
  constexpr double corner[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                   {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
  Shape out{Eigen::VectorXd(8), Eigen::Matrix<double, Eigen::Dynamic, 3>(8, 3)};
  for (int i = 0; i < 8; ++i) {
    const Vec3 c(corner[i][0], corner[i][1], corner[i][2]);
    const Vec3 f = Vec3::Ones() + c.cwiseProduct(x);
    out.N[i] = f.prod() / 8;
    for (int k = 0; k < 3; ++k) out.slope(i, k) = c[k] * f[(k + 1) % 3] * f[(k + 2) % 3] / 8;
  }
  return out;
}

// Barycentric coordinates (1 - x - y - z, x, y, z); ten nodes: L (2 L - 1) at the corners, 4 L_a L_b on the edges.
Shape tetrahedron_shape(const Vec3& x, int nodes) {
  const Eigen::Vector4d L(1 - x.sum(), x[0], x[1], x[2]);
  Eigen::Matrix<double, 4, 3> dL;
  dL << -1, -1, -1, 1, 0, 0, 0, 1, 0, 0, 0, 1;
  Shape out{Eigen::VectorXd(nodes), Eigen::Matrix<double, Eigen::Dynamic, 3>(nodes, 3)};
  if (nodes == 4) {
    out.N = L;
    out.slope = dL;
    return out;
  }
  constexpr int edge[6][2] = {{0, 1}, {1, 2}, {2, 0}, {3, 0}, {2, 3}, {1, 3}};
  for (int i = 0; i < 4; ++i) {
    out.N[i] = L[i] * (2 * L[i] - 1);
    out.slope.row(i) = (4 * L[i] - 1) * dL.row(i);
  }
  for (int e = 0; e < 6; ++e) {
    const int a = edge[e][0], b = edge[e][1];
    out.N[4 + e] = 4 * L[a] * L[b];
    out.slope.row(4 + e) = 4 * (L[b] * dL.row(a) + L[a] * dL.row(b));
  }
  return out;
}

Shape shape_of(std::size_t nodes, const Vec3& x) {
  return nodes == 8 ? hexahedron_shape(x) : tetrahedron_shape(x, static_cast<int>(nodes));
}

struct Point {
  Vec3 x;
  double weight;
};

// Products of Gauss's rule: on the cube with 2 points in each direction; on the tetrahedron with 4, as a cube that is collapsed
// (x, y (1 - x), z (1 - x) (1 - y)), which is exact for degree 5.
std::vector<Point> quadrature(std::size_t nodes) {
  std::vector<Point> out;
  if (nodes == 8) {
    const double g = 1 / std::sqrt(3.0);
    for (int i = 0; i < 8; ++i) out.push_back({{i & 1 ? g : -g, i & 2 ? g : -g, i & 4 ? g : -g}, 1});
    return out;
  }
  constexpr double place[4] = {0.06943184420297371, 0.33000947820757187, 0.66999052179242813,
                               0.93056815579702629};
  constexpr double weight[4] = {0.17392742256872693, 0.32607257743127307, 0.32607257743127307,
                                0.17392742256872693};
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      for (int k = 0; k < 4; ++k) {
        const double a = 1 - place[i], b = 1 - place[j];
        out.push_back(
            {{place[i], place[j] * a, place[k] * a * b}, weight[i] * weight[j] * weight[k] * a * a * b});
      }
  return out;
}

Eigen::Matrix3Xd corners(const SolidMesh& mesh, const std::vector<int>& element) {
  Eigen::Matrix3Xd X(3, element.size());
  for (std::size_t i = 0; i < element.size(); ++i)
    X.col(static_cast<Eigen::Index>(i)) = mesh.places.col(element[i]);
  return X;
}

// Strains (xx, yy, zz, yz, xz, xy) of displacements with these gradients of shape functions, one per row.
MatrixXd strain_matrix(const MatrixXd& gradient) {
  MatrixXd B = MatrixXd::Zero(6, 3 * gradient.rows());
  for (Eigen::Index i = 0; i < gradient.rows(); ++i) {
    const Eigen::Index c = 3 * i;
    const double x = gradient(i, 0), y = gradient(i, 1), z = gradient(i, 2);
    B(0, c) = x, B(1, c + 1) = y, B(2, c + 2) = z;
    B(3, c + 1) = z, B(3, c + 2) = y;
    B(4, c) = z, B(4, c + 2) = x;
    B(5, c) = y, B(5, c + 1) = x;
  }
  return B;
}

// The strain of one element as a function of the displacements of its nodes, at any natural coordinates. Hexahedra have three incompatible modes per
// direction, u = (1 - x_k^2) a_k, that let them bend; their gradients are taken with the Jacobian of the centre (Taylor, Beresford, Wilson 1976), so that
// the patch test holds, and the a_k are eliminated: a = -K_aa^-1 K_au u.
class SolidElement {
 public:
  SolidElement(const Eigen::Matrix3Xd& X, const Mat6& D) : X_(X), nodes_(static_cast<std::size_t>(X.cols())) {
    const Eigen::Index n = 3 * X.cols(), extra = nodes_ == 8 ? 9 : 0;
    if (extra > 0) {
      const Mat3 J = X_ * shape_of(nodes_, Vec3::Zero()).slope;
      center_inverse_ = J.inverse();
      center_det_ = J.determinant();
    }
    MatrixXd K = MatrixXd::Zero(n + extra, n + extra);
    for (const Point& point : quadrature(nodes_)) {
      const double det = determinant(point.x);
      const MatrixXd B = full_strain(point.x);
      K.noalias() += (point.weight * det) * (B.transpose() * D * B);
    }
    if (extra > 0) {
      eliminated_ = -K.bottomRightCorner(extra, extra).ldlt().solve(K.bottomLeftCorner(extra, n));
      K_ = K.topLeftCorner(n, n) + K.topRightCorner(n, extra) * eliminated_;
    } else {
      K_ = K;
    }
  }

  // Its volume is not positive somewhere: the order of its nodes is wrong, or its shape.
  static bool inside_out(const Eigen::Matrix3Xd& X) {
    const auto nodes = static_cast<std::size_t>(X.cols());
    return std::ranges::any_of(quadrature(nodes), [&](const Point& point) {
      return !((X * shape_of(nodes, point.x).slope).determinant() > 0);
    });
  }

  const MatrixXd& K() const { return K_; }
  // Integral of N N^T: the mass matrix of one direction, for density 1.
  MatrixXd mass() const {
    MatrixXd M = MatrixXd::Zero(X_.cols(), X_.cols());
    for (const Point& point : quadrature(nodes_)) {
      const Eigen::VectorXd N = shape_of(nodes_, point.x).N;
      M.noalias() += (point.weight * determinant(point.x)) * (N * N.transpose());
    }
    return M;
  }
  // 6 x 3 nodes
  MatrixXd strain(const Vec3& x) const {
    const MatrixXd B = full_strain(x);
    const Eigen::Index n = 3 * X_.cols();
    if (nodes_ != 8) return B;
    return B.leftCols(n) + B.rightCols(9) * eliminated_;
  }

  // What pairs of columns of U (3 nodes x ...) add to solid_second_derivatives. With the gradients H_k of the displacements, incompatible modes included, and their
  // stresses S_k the third-order part of the energy is the integral of S : H^T H/2 and its derivative that of P : dH,
  //
  //   P = H_l S_k + H_k S_l + S(sym(H_k^T H_l))
  //
  // The incompatible modes may follow linearly: the energy is stationary in them.
  MatrixXd second_derivatives(const MatrixXd& U, const Mat6& D) const {
    const Eigen::Index modes = U.cols();
    MatrixXd all = U;
    if (nodes_ == 8) {
      all.conservativeResize(U.rows() + 9, modes);
      all.bottomRows(9) = eliminated_ * U;
    }
    const Eigen::Index functions = all.rows() / 3;
    MatrixXd forces = MatrixXd::Zero(all.rows(), pair_count(static_cast<int>(modes)));
    std::vector<Mat3> H(static_cast<std::size_t>(modes)), S(static_cast<std::size_t>(modes));
    for (const Point& point : quadrature(nodes_)) {
      const MatrixXd gradients = full_gradients(point.x);
      const double weight = point.weight * determinant(point.x);
      for (Eigen::Index k = 0; k < modes; ++k) {
        const auto i = static_cast<std::size_t>(k);
        H[i] = Eigen::Map<const Eigen::Matrix3Xd>(all.col(k).data(), 3, functions) * gradients;
        S[i] = stress_tensor(D, H[i]);
      }
      for (Eigen::Index l = 0; l < modes; ++l)
        for (Eigen::Index k = 0; k <= l; ++k) {
          const auto a = static_cast<std::size_t>(k), b = static_cast<std::size_t>(l);
          const Mat3 P = H[b] * S[a] + H[a] * S[b] + stress_tensor(D, H[a].transpose() * H[b]);
          Eigen::Map<Eigen::Matrix3Xd>(
              forces.col(pair_index(static_cast<int>(k), static_cast<int>(l))).data(), 3, functions) +=
              weight * (P * gradients.transpose());
        }
    }
    if (nodes_ != 8) return forces;
    return forces.topRows(U.rows()) + eliminated_.transpose() * forces.bottomRows(9);
  }

 private:
  double determinant(const Vec3& x) const { return (X_ * shape_of(nodes_, x).slope).determinant(); }
  // Of the stress by the symmetric part of a gradient.
  static Mat3 stress_tensor(const Mat6& D, const Mat3& gradient) {
    Vec6 strain;
    strain << gradient.diagonal(), gradient(1, 2) + gradient(2, 1), gradient(0, 2) + gradient(2, 0),
        gradient(0, 1) + gradient(1, 0);
    const Vec6 s = D * strain;
    Mat3 out;
    out << s[0], s[5], s[4], s[5], s[1], s[3], s[4], s[3], s[2];
    return out;
  }
  // Gradients of the shape functions and of the incompatible ones, one per row.
  MatrixXd full_gradients(const Vec3& x) const {
    const Shape shape = shape_of(nodes_, x);
    const Mat3 J = X_ * shape.slope;  // dX/dx
    const MatrixXd gradient = shape.slope * J.inverse();
    if (nodes_ != 8) return gradient;
    MatrixXd all(11, 3);
    all.topRows(8) = gradient;
    const double scale = center_det_ / J.determinant();
    for (int k = 0; k < 3; ++k) all.row(8 + k) = scale * (-2 * x[k]) * center_inverse_.row(k);
    return all;
  }
  MatrixXd full_strain(const Vec3& x) const { return strain_matrix(full_gradients(x)); }

  Eigen::Matrix3Xd X_;
  std::size_t nodes_;
  Mat3 center_inverse_;
  double center_det_ = 0;
  MatrixXd K_, eliminated_;
};

// Natural coordinates of a place, by Newton's method from the middle.
Vec3 natural_coordinates(const Eigen::Matrix3Xd& X, const Vec3& place) {
  const auto nodes = static_cast<std::size_t>(X.cols());
  Vec3 x = nodes == 8 ? Vec3(Vec3::Zero()) : Vec3(Vec3::Constant(0.25));
  for (int i = 0; i < 20; ++i) {
    const Shape shape = shape_of(nodes, x);
    const Vec3 step = Mat3(X * shape.slope).lu().solve(place - X * shape.N);
    x += step;
    if (!(step.norm() > 1e-13)) break;
  }
  return x;
}

// By how much natural coordinates are outside of the element, and the nearest that are inside.
double outside(std::size_t nodes, Vec3& x) {
  const Vec3 before = x;
  if (nodes == 8) {
    x = x.cwiseMax(-1).cwiseMin(1);
  } else {
    x = x.cwiseMax(0);
    if (x.sum() > 1) x /= x.sum();
  }
  return (x - before).norm();
}

}  // namespace

MatrixXd FiniteElements::rigid_motions() const {
  MatrixXd L = MatrixXd::Zero(size(), 6);
  for (int i = 0; i < nodes(); ++i) {
    L.block<3, 3>(freedoms * i, 0).setIdentity();
    L.block<3, 3>(freedoms * i, 3) = -skew(Vec3(places.col(i)));
    if (freedoms == 6) L.block<3, 3>(6 * i + 3, 3).setIdentity();
  }
  return L;
}

double FiniteElements::extent() const {
  return (places.rowwise().maxCoeff() - places.rowwise().minCoeff()).norm();
}

Mat6 Material::stiffness() const {
  const double shear = young / (2 * (1 + poisson)), lambda = 2 * shear * poisson / (1 - 2 * poisson);
  Mat6 D = Mat6::Zero();
  D.topLeftCorner<3, 3>().setConstant(lambda);
  D.diagonal().head<3>().array() += 2 * shear;
  D.diagonal().tail<3>().setConstant(shear);
  return D;
}

SolidMesh brick_mesh(const Vec3& size, const std::array<int, 3>& divisions) {
  const auto [nx, ny, nz] = divisions;
  SolidMesh out;
  out.places.resize(3, (nx + 1) * (ny + 1) * (nz + 1));
  const auto node = [&](int i, int j, int k) { return (k * (ny + 1) + j) * (nx + 1) + i; };
  for (int k = 0; k <= nz; ++k)
    for (int j = 0; j <= ny; ++j)
      for (int i = 0; i <= nx; ++i) {
        const int index[3] = {i, j, k};
        Vec3 place;
        for (int c = 0; c < 3; ++c) {
          const auto d = static_cast<std::size_t>(c);
          place[c] = size[c] * (static_cast<double>(index[c]) / divisions[d] - 0.5);
          if (index[c] == 0) out.groups[fmt::format("{}-", "xyz"[c])].push_back(node(i, j, k));
          if (index[c] == divisions[d]) out.groups[fmt::format("{}+", "xyz"[c])].push_back(node(i, j, k));
        }
        out.places.col(node(i, j, k)) = place;
      }
  for (int k = 0; k < nz; ++k)
    for (int j = 0; j < ny; ++j)
      for (int i = 0; i < nx; ++i)
        out.elements.push_back({node(i, j, k), node(i + 1, j, k), node(i + 1, j + 1, k), node(i, j + 1, k),
                                node(i, j, k + 1), node(i + 1, j, k + 1), node(i + 1, j + 1, k + 1),
                                node(i, j + 1, k + 1)});
  return out;
}

FiniteElements solid_elements(const SolidMesh& mesh, const Material& material) {
  FiniteElements out;
  out.places = mesh.places;
  out.groups = mesh.groups;
  const Mat6 D = material.stiffness();
  Triplets K, M;
  for (std::size_t at = 0; at < mesh.elements.size(); ++at) {
    const std::vector<int>& element = mesh.elements[at];
    const Eigen::Matrix3Xd X = corners(mesh, element);
    if (SolidElement::inside_out(X)) {
      const Vec3 middle = X.rowwise().mean();
      throw std::invalid_argument(
          fmt::format("has an inverted element: number {}, about ({:.4g}, {:.4g}, {:.4g}) in body axes",
                      mesh.numbers.empty() ? static_cast<long>(at) + 1 : mesh.numbers[at], middle.x(),
                      middle.y(), middle.z()));
    }
    const SolidElement e(X, D);
    const MatrixXd mass = material.density * e.mass();
    const int n = static_cast<int>(element.size());
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const int row = 3 * element[static_cast<std::size_t>(i)],
                  column = 3 * element[static_cast<std::size_t>(j)];
        for (int r = 0; r < 3; ++r) {
          M.emplace_back(row + r, column + r, mass(i, j));
          for (int c = 0; c < 3; ++c) K.emplace_back(row + r, column + c, e.K()(3 * i + r, 3 * j + c));
        }
      }
  }
  out.K.resize(out.size(), out.size());
  out.M.resize(out.size(), out.size());
  out.K.setFromTriplets(K.begin(), K.end());
  out.M.setFromTriplets(M.begin(), M.end());
  return out;
}

MatrixXd solid_second_derivatives(const SolidMesh& mesh, const Material& material, const MatrixXd& U) {
  const Mat6 D = material.stiffness();
  MatrixXd out = MatrixXd::Zero(U.rows(), pair_count(static_cast<int>(U.cols())));
  for (const std::vector<int>& element : mesh.elements) {
    const auto n = static_cast<Eigen::Index>(element.size());
    MatrixXd own(3 * n, U.cols());
    for (Eigen::Index i = 0; i < n; ++i)
      own.middleRows<3>(3 * i) = U.middleRows<3>(3 * element[static_cast<std::size_t>(i)]);
    const MatrixXd forces = SolidElement(corners(mesh, element), D).second_derivatives(own, D);
    for (Eigen::Index i = 0; i < n; ++i)
      out.middleRows<3>(3 * element[static_cast<std::size_t>(i)]) += forces.middleRows<3>(3 * i);
  }
  return out;
}

StressRows stress_rows(const SolidMesh& mesh, const Material& material, const Vec3& place) {
  struct Found {
    const std::vector<int>* element;
    Vec3 x;
    double distance;
  };
  std::vector<Found> found;
  StressRows out;
  out.distance = INFINITY;
  double tolerance = 0;  // elements that meet at the place share it up to round-off
  for (const std::vector<int>& element : mesh.elements) {
    const Eigen::Matrix3Xd X = corners(mesh, element);
    const double size = (X.rowwise().maxCoeff() - X.rowwise().minCoeff()).norm();
    if ((X.rowwise().mean() - place).norm() - size > out.distance) continue;
    Vec3 x = natural_coordinates(X, place);
    if (!x.allFinite()) continue;
    double distance = 0;
    if (outside(element.size(), x) > 0) distance = (X * shape_of(element.size(), x).N - place).norm();
    found.push_back({&element, x, distance});
    if (distance < out.distance) out.distance = distance, tolerance = 1e-9 * size;
  }
  std::erase_if(found, [&](const Found& f) { return f.distance > out.distance + tolerance; });
  const Mat6 D = material.stiffness();
  for (const Found& f : found) {
    const MatrixXd rows = D * SolidElement(corners(mesh, *f.element), D).strain(f.x);
    out.rows.conservativeResize(6, out.rows.cols() + rows.cols());
    out.rows.rightCols(rows.cols()) = rows / static_cast<double>(found.size());
    for (const int node : *f.element)
      for (int c = 0; c < 3; ++c) out.freedoms.push_back(3 * node + c);
  }
  return out;
}

MatrixXd middle_stresses(const SolidMesh& mesh, const Material& material, const MatrixXd& U) {
  const Mat6 D = material.stiffness();
  MatrixXd out(6 * static_cast<Eigen::Index>(mesh.elements.size()), U.cols());
  Eigen::Index row = 0;
  for (const std::vector<int>& element : mesh.elements) {
    const auto n = static_cast<Eigen::Index>(element.size());
    MatrixXd own(3 * n, U.cols());
    for (Eigen::Index i = 0; i < n; ++i)
      own.middleRows<3>(3 * i) = U.middleRows<3>(3 * element[static_cast<std::size_t>(i)]);
    const Vec3 middle = element.size() == 8 ? Vec3(0, 0, 0) : Vec3(0.25, 0.25, 0.25);
    out.middleRows<6>(row) = D * SolidElement(corners(mesh, element), D).strain(middle) * own;
    row += 6;
  }
  return out;
}

}  // namespace liedyn
