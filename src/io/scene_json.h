// Numbers of a scene as JSON: rounded to what is drawn, long arrays packed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "liedyn/base/matrix.h"
#include "liedyn/io/packed_array.h"

namespace liedyn {

inline constexpr double kQuaternionUnit = 32767;  // numbers of quaternions in 16 bits

// Six digits are enough for what is drawn.
double tidy(double x);
nlohmann::ordered_json json_of(const Vec3& v);
nlohmann::ordered_json json_of(const Mat3& R);

// Sixteen bits turn by at most 5e-5 rad: too much for points far from the floating frame of a flexible body, which is drawn to 1e-5 of its size.
nlohmann::ordered_json packed_rotations(const std::vector<float>& values, const ArrayShape& shape,
                                        bool in_sixteen_bits);
// Modes [K, N, 3] in 16 bits, unless what rounding moves a vertex by, for the coordinates [T, K] of the motion, is more than a length.
nlohmann::ordered_json packed_modes(const std::vector<float>& modes, const std::vector<float>& coordinates,
                                    std::size_t K, double tolerance);
// Stresses [K, N, 6] colour a body: in 8 bits, unless what rounding adds, for the coordinates [T, K] of the motion, is more than a share of the largest von Mises stress.
nlohmann::ordered_json packed_stresses(const std::vector<float>& stress,
                                       const std::vector<float>& coordinates, std::size_t K, bool is_growing);
// In 16 bits, with one scale.
nlohmann::ordered_json packed_over_time(const std::vector<float>& values, const ArrayShape& shape);

// The text of a scene; what is no UTF-8 is replaced.
std::string dumped(const nlohmann::ordered_json& scene);

}  // namespace liedyn
