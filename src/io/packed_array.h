// Arrays of numbers inside JSON: little-endian bytes, compressed by zlib, in base64.
//
//   {"type": "f32", "shape": [rows, ...], "coding": "delta-shuffle", "distance": 3, "scale": [...], "data": "..."}
//
// Delta-shuffle makes arrays over time small: each number, read as an unsigned integer of its bits, is replaced by its difference to the number one row before, or
// `distance` numbers before (modulo 2^bits, so that nothing is lost), and the bytes are sorted by their place in the number. Numbers times `scale` (one for all, or one
// per first index) are the values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace liedyn {

using ArrayShape = std::vector<std::size_t>;
enum class ArrayCoding { Plain, DeltaShuffle };

// T: float, double, std::int8_t, std::int16_t, std::uint32_t. `distance` 0: a row.
template <class T>
nlohmann::ordered_json pack_array(const std::vector<T>& values, const ArrayShape& shape,
                                  ArrayCoding coding = ArrayCoding::Plain, std::size_t distance = 0);
// Fields [modes, vertices, components] as integers with a scale for each mode: an error of at most 1.6e-5 (Integer: std::int16_t) or 4e-3 (std::int8_t) of the largest
// number of that mode. Neighbouring vertices differ little.
template <class Integer>
nlohmann::ordered_json pack_field(const std::vector<float>& values, const ArrayShape& shape);

// The values again. Throws InputError if it is no such array; `path` says where it stands.
std::vector<double> unpack_array(const nlohmann::ordered_json& array, const std::string& path);

std::string to_base64(std::string_view bytes);

}  // namespace liedyn
