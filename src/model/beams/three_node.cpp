#include "model/beams/three_node.h"

#include "base/dual.h"

namespace liedyn {

void ThreeNodeBeam::partials(const World<double>& world, const std::array<Motion<double>, 3>& f, const double* p,
                             ForcePartials<3>& out) {
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

  // g and its derivatives with respect to d_A, d_B by dual numbers, the rates d' included.
  using S = Dual<double, 12>;
  std::array<S, numbers> p_s;
  for (int i = 0; i < numbers; ++i) p_s[static_cast<std::size_t>(i)] = S(p[i]);
  std::array<Vec6T<S>, 2> d_s, rate_s;
  for (int i = 0; i < 2; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const Vec6& V = f[static_cast<std::size_t>(kEnd[i])].V;
    const Mat6 rate_d = SE3<double>::dTinv(d[i], V) + SE3<double>::dTinv(-d[i], f[1].V);
    for (int r = 0; r < 6; ++r) {
      d_s[k][r] = S(d[i][r]);
      d_s[k][r].d[static_cast<std::size_t>(6 * i + r)] = 1;
      rate_s[k][r] = S(rate[k][r]);
      for (int c = 0; c < 6; ++c) rate_s[k][r].d[static_cast<std::size_t>(6 * i + c)] = rate_d(r, c);
    }
  }
  const auto g_s = internal(Parts<S>{p_s.data()}, d_s, rate_s);
  Vec6 g[2];
  Mat6 g_d[2][2], g_rate[2][2];
  for (int i = 0; i < 2; ++i)
    for (int r = 0; r < 6; ++r) {
      const S& value = g_s[static_cast<std::size_t>(i)][r];
      g[i][r] = value.v;
      for (int j = 0; j < 2; ++j)
        for (int c = 0; c < 6; ++c) g_d[i][j](r, c) = value.d[static_cast<std::size_t>(6 * j + c)];
    }
  for (auto& row : g_rate)
    for (Mat6& block : row) block.setZero();
  if (parts.delay() != 0)
    for (int k = 0; k < points; ++k) {
      const Strain<double> strain(kShape[k], {d[0], d[1]}, parts.length());
      const Mat6 K = (0.5 * parts.length() * parts.delay()) * parts.K(k);
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) g_rate[i][j] += strain.slope[i].transpose() * K * strain.slope[j];
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

Energy ThreeNodeBeam::energy(const World<double>& world, const std::array<Motion<double>, 3>& f,
                             const double* p) {
  const Parts<double> parts{p};
  Energy out;
  for (int i = 0; i < 3; ++i) {
    const Motion<double>& m = f[static_cast<std::size_t>(i)];
    out += inertial_energy(parts.M(i), m.V, m, world.gravity);
  }
  for (int k = 0; k < points; ++k) {
    const Strain<double> strain(kShape[k], {relative(f[1], f[0]), relative(f[1], f[2])}, parts.length());
    const Vec6 e = strain.value - parts.relaxed(k);
    out.potential += 0.25 * parts.length() * e.dot(parts.K(k) * e);
  }
  return out;
}

void ThreeNodeBeam::section(const std::array<Motion<double>, 3>& f, const double* p, int point, Vec6& out_strain,
                            Vec6& force) {
  const Parts<double> parts{p};
  const std::array<Vec6, 2> d = {relative(f[1], f[0]), relative(f[1], f[2])};
  const std::array<Vec6, 2> rate = {
      SE3<double>::Tinv(d[0]) * f[0].V - SE3<double>::Tinv(-d[0]) * f[1].V,
      SE3<double>::Tinv(d[1]) * f[2].V - SE3<double>::Tinv(-d[1]) * f[1].V};
  const Strain<double> strain(kShape[point], d, parts.length());
  out_strain = strain.value - parts.relaxed(point);
  force = parts.K(point) * section_strain(parts, point, strain, rate);
}

}  // namespace liedyn
