#include "liedyn/model/beams/three_node.h"

#include "liedyn/base/dual.h"

namespace liedyn {
namespace {

// Second derivatives in w of a.T(w) b = p a.b + alpha w.(b x a) + beta (a.w)(b.w), the tangent operator of SO(3), and their derivative along u.
struct Hessian {
  Mat3 value, along;

  Hessian(const Isotropic<double, 3>& T, const Vec3& w, const Vec3& u, const Vec3& a, const Vec3& b) {
    const double q = a.dot(b), A = a.dot(w), B = b.dot(w), Au = a.dot(u), Bu = b.dot(u), wu = w.dot(u);
    const Vec3 c = b.cross(a), ab = B * a + A * b, ab_u = Bu * a + Au * b;
    const double wc = w.dot(c), uc = u.dot(c), AB = A * B, AB_u = Au * B + A * Bu;
    const auto sum = [&](std::size_t j) { return T.p[j] * q + T.a[j] * wc + T.b[j] * AB; };
    const auto sum_u = [&](std::size_t j) { return 2 * wu * sum(j + 1) + T.a[j] * uc + T.b[j] * AB_u; };
    const Vec3 g = T.a[1] * c + T.b[1] * ab, g_u = 2 * wu * (T.a[2] * c + T.b[2] * ab) + T.b[1] * ab_u;
    const Mat3 pair = a * b.transpose() + b * a.transpose();
    value = 4 * sum(2) * w * w.transpose() + 2 * (w * g.transpose() + g * w.transpose()) + T.b[0] * pair;
    value.diagonal().array() += 2 * sum(1);
    along = 4 * sum(2) * (u * w.transpose() + w * u.transpose()) + 4 * sum_u(2) * w * w.transpose() +
            2 * (u * g.transpose() + g * u.transpose() + w * g_u.transpose() + g_u * w.transpose()) +
            (2 * wu * T.b[1]) * pair;
    along.diagonal().array() += 2 * sum_u(1);
  }
};

// Second derivatives in x = (u, w) of F.T(x) y on SE(3) = f.(T(w) y_u + (DT(w).u) y_w) + m.T(w) y_w.
Mat6 tangent_hessian(const Vec6& x, const Vec6& F, const Vec6& y) {
  const Vec3 u = x.head<3>(), w = x.tail<3>(), f = F.head<3>(), m = F.tail<3>(), y_u = y.head<3>(),
             y_w = y.tail<3>();
  const Isotropic<double, 3> T = so3_tangent<3>(w.squaredNorm());
  const Hessian coupled(T, w, u, f, y_w);
  Mat6 out;
  out << Mat3::Zero(), coupled.value, coupled.value,
      Hessian(T, w, u, f, y_u).value + Hessian(T, w, u, m, y_w).value + coupled.along;
  return out;
}

}  // namespace

void ThreeNodeBeam::partials(const World<double>& world, const std::array<Motion<double>, 3>& f,
                             const double* p, ForcePartials<3>& out) {
  const Parts<double> parts{p};
  constexpr int kEnd[2] = {0, 2};  // nodes of d_A and d_B; the middle is node 1
  const Vec6 d[2] = {relative(f[1], f[0]), relative(f[1], f[2])};
  Mat6 forth[2], back[2];
  std::array<Vec6, 2> rate;
  for (int i = 0; i < 2; ++i) {
    forth[i] = SE3<double>::Tinv(d[i]);
    back[i] = SE3<double>::Tinv(-d[i]);
    rate[static_cast<std::size_t>(i)] = forth[i] * f[static_cast<std::size_t>(kEnd[i])].V - back[i] * f[1].V;
  }

  // g = sum of B^T n with the forces n of the sections, and its derivatives with respect to d_A, d_B and their rates.
  Vec6 g[2] = {Vec6::Zero(), Vec6::Zero()};
  Mat6 g_d[2][2], g_rate[2][2];
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) g_d[i][j].setZero(), g_rate[i][j].setZero();
  const double scale = 2 / parts.length();
  for (int k = 0; k < points; ++k) {
    const Shape& shape = kShape[k];
    const Strain<double> strain(shape, {d[0], d[1]}, parts.length());
    const Mat6 K = parts.K(k) / scale;
    const Vec6 n = K * section_strain(parts, k, strain, rate);
    Mat6 strain_d[2] = {strain.slope[0], strain.slope[1]};
    if (parts.delay() != 0) {
      // The rate of the strain is its derivative along d', so that its derivatives are those of B along d' (and B times those of d').
      using S = Dual<double, 1>;
      std::array<Vec6T<S>, 2> moving;
      for (std::size_t i = 0; i < 2; ++i)
        for (int r = 0; r < 6; ++r) {
          moving[i][r] = S(d[i][r]);
          moving[i][r].d[0] = rate[i][r];
        }
      const Strain<S> varied(shape, moving, S(parts.length()));
      for (int j = 0; j < 2; ++j) {
        const Mat6 rate_d = SE3<double>::dTinv(d[j], f[static_cast<std::size_t>(kEnd[j])].V) +
                            SE3<double>::dTinv(-d[j], f[1].V);
        strain_d[j] += parts.delay() * (varied.slope[j].unaryExpr([](const S& x) { return x.d[0]; }) +
                                        strain.slope[j] * rate_d);
      }
    }
    // B_i^T n = (2/L) (N_i dT(phi; phi')^T n + N_i' T(phi)^T n): its own derivatives are those of the scalar n.T(phi) phi'.
    const Vec6 phi = shape.N[0] * d[0] + shape.N[1] * d[1],
               along = shape.slope[0] * d[0] + shape.slope[1] * d[1];
    const Mat6 H = scale * tangent_hessian(phi, n, along);
    const Mat6 Y = -scale * swapped_rows(SE3<double>::dT(-phi, swapped(n)));
    for (int i = 0; i < 2; ++i) {
      g[i].noalias() += strain.slope[i].transpose() * n;
      const Mat6 BK = strain.slope[i].transpose() * K;
      for (int j = 0; j < 2; ++j) {
        g_d[i][j].noalias() += BK * strain_d[j];
        g_d[i][j] += (shape.N[i] * shape.N[j]) * H + (shape.N[i] * shape.slope[j]) * Y.transpose() +
                     (shape.slope[i] * shape.N[j]) * Y;
        if (parts.delay() != 0) g_rate[i][j].noalias() += parts.delay() * (BK * strain.slope[j]);
      }
    }
  }

  for (auto* blocks : {out.K, out.C, out.M})
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) blocks[i][j].setZero();
  // W_end = T^-T(d) g,  W_M = -T^-T(-d) g
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      Mat6 W_d = forth[i].transpose() * g_d[i][j], W_M = -(back[i].transpose() * g_d[i][j]);
      if (i == j) {
        W_d += transposed_slope(d[i], g[i]);
        W_M += transposed_slope(-d[i], g[i]);
      }
      out.K[kEnd[i]][kEnd[j]] += W_d * forth[j];
      out.K[kEnd[i]][1] -= W_d * back[j];
      out.K[1][kEnd[j]] += W_M * forth[j];
      out.K[1][1] -= W_M * back[j];
      if (parts.delay() == 0) continue;
      const Mat6 end = forth[i].transpose() * g_rate[i][j], middle = back[i].transpose() * g_rate[i][j];
      out.C[kEnd[i]][kEnd[j]] += end * forth[j];
      out.C[kEnd[i]][1] -= end * back[j];
      out.C[1][kEnd[j]] -= middle * forth[j];
      out.C[1][1] += middle * back[j];
    }
  for (int i = 0; i < 3; ++i) {
    const Motion<double>& m = f[static_cast<std::size_t>(i)];
    out.M[i][i] = parts.M(i);
    out.C[i][i] += gyroscopic(parts.M(i), m.V);
    // d(R^T gravity) = (R^T gravity)~ d_r
    out.K[i][i].rightCols<3>() -= parts.M(i).leftCols<3>() * skew(Vec3(m.R.transpose() * world.gravity));
  }
}

}  // namespace liedyn
