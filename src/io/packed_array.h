// Arrays of numbers inside JSON: little-endian bytes, compressed by zlib, in base64.
//
//   {"type": "f32", "shape": [rows, ...], "coding": "delta-shuffle", "scale": [...], "data": "..."}
//
// Delta-shuffle makes arrays over time small: each number, read as an unsigned integer of its bits, is replaced by its difference to the number one row before
// (modulo 2^bits, so that nothing is lost), and the bytes are sorted by their place in the number. Numbers times `scale` (one for all, or one per first index) are the values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace liedyn {

using ArrayShape = std::vector<std::size_t>;
enum class ArrayCoding { Plain, DeltaShuffle };

// T: float, double, std::int16_t, std::uint32_t.
template <class T>
nlohmann::ordered_json pack_array(const std::vector<T>& values, const ArrayShape& shape,
                                  ArrayCoding coding = ArrayCoding::Plain);
// As 16-bit integers with a scale for each first index: an error of at most 1.6e-5 of the largest number of that index.
nlohmann::ordered_json pack_scaled(const std::vector<float>& values, const ArrayShape& shape);

// The values again. Throws InputError if it is no such array; `path` says where it stands.
std::vector<double> unpack_array(const nlohmann::ordered_json& array, const std::string& path);

std::string to_base64(std::string_view bytes);

}  // namespace liedyn
