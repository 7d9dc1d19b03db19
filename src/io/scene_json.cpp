#include "liedyn/io/scene_json.h"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>

namespace liedyn {

using Json = nlohmann::ordered_json;

double tidy(double x) { return std::isfinite(x) ? std::stod(fmt::format("{:.6g}", x)) : 0; }
Json json_of(const Vec3& v) { return {tidy(v[0]), tidy(v[1]), tidy(v[2])}; }
Json json_of(const Mat3& R) {
  const Eigen::Quaterniond q(R);
  return {tidy(q.w()), tidy(q.x()), tidy(q.y()), tidy(q.z())};
}

Json packed_rotations(const std::vector<float>& values, const ArrayShape& shape, bool in_sixteen_bits) {
  if (!in_sixteen_bits) return pack_array(values, shape, ArrayCoding::DeltaShuffle);
  std::vector<std::int16_t> integers;
  integers.reserve(values.size());
  for (const float x : values) integers.push_back(static_cast<std::int16_t>(std::lround(x)));
  return pack_array(integers, shape, ArrayCoding::DeltaShuffle);
}

Json packed_modes(const std::vector<float>& modes, const std::vector<float>& coordinates, std::size_t K,
                  double tolerance) {
  const std::size_t row = K > 0 ? modes.size() / K : 0;
  const ArrayShape shape = {K, row / 3, 3};
  double moved = 0;
  for (std::size_t k = 0; k < K; ++k) {
    double mode = 0, coordinate = 0;
    for (std::size_t i = k * row; i < (k + 1) * row; ++i) mode = std::max(mode, std::abs(double(modes[i])));
    for (std::size_t i = k; i < coordinates.size(); i += K)
      coordinate = std::max(coordinate, std::abs(double(coordinates[i])));
    moved += coordinate * mode * std::sqrt(3.0) / (2 * 32767);
  }
  return moved > tolerance ? pack_array(modes, shape, ArrayCoding::DeltaShuffle)
                           : pack_field<std::int16_t>(modes, shape);
}

Json packed_stresses(const std::vector<float>& stress, const std::vector<float>& coordinates, std::size_t K,
                     bool is_growing) {
  constexpr double kShare = 0.02;
  constexpr std::size_t kMostRows = 20;  // are enough to know the largest stress
  const std::size_t width = stress.size() / K, rows = coordinates.size() / K;
  const ArrayShape shape = {K, width / 6, 6};
  const auto count = [](std::size_t n) { return static_cast<Eigen::Index>(n); };
  const Eigen::Map<const Eigen::MatrixXf> S(stress.data(), count(width), count(K));
  const Eigen::Map<const Eigen::MatrixXf> eta(coordinates.data(), count(K), count(rows));
  double largest = 0, rounded = 0;
  for (std::size_t row = 0; row < rows; row += std::max<std::size_t>(1, rows / kMostRows)) {
    const Eigen::VectorXf s = S * eta.col(count(row));
    // xx, yy, zz, yz, xz, xy
    for (Eigen::Index i = 0; i < s.size(); i += 6) {
      const double xy = s[i] - s[i + 1], yz = s[i + 1] - s[i + 2], zx = s[i + 2] - s[i];
      const double shear = s.segment<3>(i + 3).squaredNorm();
      largest = std::max(largest, std::sqrt(0.5 * (xy * xy + yz * yz + zx * zx) + 3 * shear));
    }
  }
  for (Eigen::Index k = 0; rows > 0 && k < S.cols(); ++k)
    rounded += double(S.col(k).cwiseAbs().maxCoeff()) * double(eta.row(k).cwiseAbs().maxCoeff()) / (2 * 127);
  const bool is_coarse = !is_growing && rounded < kShare * largest;
  return is_coarse ? pack_field<std::int8_t>(stress, shape) : pack_field<std::int16_t>(stress, shape);
}

Json packed_over_time(const std::vector<float>& values, const ArrayShape& shape) {
  constexpr double kMost = 32767;
  double largest = 0;
  for (const float x : values) largest = std::max(largest, std::abs(double(x)));
  const double scale = largest > 0 ? largest / kMost : 1;
  std::vector<std::int16_t> integers;
  integers.reserve(values.size());
  for (const float x : values) integers.push_back(static_cast<std::int16_t>(std::lround(double(x) / scale)));
  Json out = pack_array(integers, shape, ArrayCoding::DeltaShuffle);
  out["scale"] = scale;
  return out;
}

std::string dumped(const Json& scene) { return scene.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace liedyn
