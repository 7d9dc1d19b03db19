#include "liedyn/io/packed_array.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>

#include "liedyn/base/error.h"
#include "liedyn/base/suggest.h"

namespace liedyn {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they stand in memory");

using Json = nlohmann::ordered_json;

template <class T>
struct ArrayType;
template <>
struct ArrayType<float> {
  static constexpr const char* name = "f32";
  using Word = std::uint32_t;
};
template <>
struct ArrayType<double> {
  static constexpr const char* name = "f64";
  using Word = std::uint64_t;
};
template <>
struct ArrayType<std::int8_t> {
  static constexpr const char* name = "i8";
  using Word = std::uint8_t;
};
template <>
struct ArrayType<std::int16_t> {
  static constexpr const char* name = "i16";
  using Word = std::uint16_t;
};
template <>
struct ArrayType<std::uint32_t> {
  static constexpr const char* name = "u32";
  using Word = std::uint32_t;
};

std::size_t count_of(const ArrayShape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}
std::size_t row_of(const ArrayShape& shape) {
  return shape.empty() ? 1
                       : std::accumulate(shape.begin() + 1, shape.end(), std::size_t{1}, std::multiplies<>());
}

// byte k of word i at k n + i, of the differences to the word one row before
template <class Word>
std::string shuffled_differences(const Word* words, std::size_t n, std::size_t row) {
  std::string out(n * sizeof(Word), '\0');
  for (std::size_t i = 0; i < n; ++i) {
    const Word difference = i < row ? words[i] : static_cast<Word>(words[i] - words[i - row]);
    for (std::size_t k = 0; k < sizeof(Word); ++k)
      out[k * n + i] = static_cast<char>((difference >> (8 * k)) & 0xff);
  }
  return out;
}
template <class Word>
std::vector<Word> summed_words(const std::string& bytes, std::size_t n, std::size_t row) {
  std::vector<Word> out(n);
  for (std::size_t i = 0; i < n; ++i) {
    Word word = 0;
    for (std::size_t k = 0; k < sizeof(Word); ++k)
      word = static_cast<Word>(
          word |
          static_cast<Word>(static_cast<Word>(static_cast<unsigned char>(bytes[k * n + i])) << (8 * k)));
    out[i] = i < row ? word : static_cast<Word>(word + out[i - row]);
  }
  return out;
}

std::string deflated(std::string_view bytes) {
  // Poses change little from one row to the next: more effort gains about a hundredth and takes several times as long.
  constexpr int kLevel = 6;
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string out(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                static_cast<uLong>(bytes.size()), kLevel) != Z_OK)
    throw std::bad_alloc();
  out.resize(size);
  return out;
}

constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// False: it is not base64.
bool from_base64(std::string_view text, std::string& out) {
  if (text.size() % 4 != 0) return false;
  out.clear();
  out.reserve(text.size() / 4 * 3);
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  for (std::size_t i = 0; i < text.size(); i += 4) {
    std::uint32_t word = 0;
    const std::size_t digits = i + 4 == text.size() ? 4 - padding : 4;
    for (std::size_t k = 0; k < 4; ++k) {
      const char* const digit = k < digits ? std::strchr(kDigits, text[i + k]) : kDigits;
      if (digit == nullptr || *digit == '\0') return false;
      word = (word << 6) | static_cast<std::uint32_t>(digit - kDigits);
    }
    for (std::size_t k = 0; k + 1 < digits; ++k) out += static_cast<char>((word >> (16 - 8 * k)) & 0xff);
  }
  return true;
}

bool inflated(const std::string& compressed, std::size_t size, std::string& out) {
  out.assign(size, '\0');
  uLongf got = static_cast<uLongf>(size);
  return (size == 0 && compressed.size() < 16) ||
         (uncompress(reinterpret_cast<Bytef*>(out.data()), &got,
                     reinterpret_cast<const Bytef*>(compressed.data()),
                     static_cast<uLong>(compressed.size())) == Z_OK &&
          got == size);
}

template <class T>
std::vector<double> numbers_of(const std::string& bytes, std::size_t n, std::size_t row, bool coded) {
  using Word = typename ArrayType<T>::Word;
  std::vector<Word> words(n);
  if (coded)
    words = summed_words<Word>(bytes, n, row);
  else if (n > 0)
    std::memcpy(words.data(), bytes.data(), n * sizeof(Word));
  std::vector<double> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<double>(std::bit_cast<T>(words[i]));
  return out;
}

std::size_t bytes_of(const std::string& type) {
  if (type == "f64") return 8;
  if (type == "f32" || type == "u32") return 4;
  if (type == "i16") return 2;
  return type == "i8" ? 1 : 0;
}

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t word = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k)
      word = (word << 8) | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) out += k <= count ? kDigits[(word >> (18 - 6 * k)) & 63] : '=';
  }
  return out;
}

template <class T>
Json pack_array(const std::vector<T>& values, const ArrayShape& shape, ArrayCoding coding,
                std::size_t distance) {
  using Word = typename ArrayType<T>::Word;
  if (values.size() != count_of(shape))
    throw std::logic_error("an array does not have the size of its shape");
  Json out = {{"type", ArrayType<T>::name}, {"shape", shape}};
  std::string bytes;
  if (coding == ArrayCoding::DeltaShuffle) {
    out["coding"] = "delta-shuffle";
    if (distance > 0) out["distance"] = distance;
    bytes = shuffled_differences(reinterpret_cast<const Word*>(values.data()), values.size(),
                                 distance > 0 ? distance : row_of(shape));
  } else {
    bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  }
  out["data"] = to_base64(deflated(bytes));
  return out;
}
template Json pack_array(const std::vector<float>&, const ArrayShape&, ArrayCoding, std::size_t);
template Json pack_array(const std::vector<double>&, const ArrayShape&, ArrayCoding, std::size_t);
template Json pack_array(const std::vector<std::int8_t>&, const ArrayShape&, ArrayCoding, std::size_t);
template Json pack_array(const std::vector<std::int16_t>&, const ArrayShape&, ArrayCoding, std::size_t);
template Json pack_array(const std::vector<std::uint32_t>&, const ArrayShape&, ArrayCoding, std::size_t);

template <class Integer>
Json pack_field(const std::vector<float>& values, const ArrayShape& shape) {
  constexpr double kMost = std::numeric_limits<Integer>::max();
  const std::size_t row = row_of(shape);
  std::vector<Integer> integers(values.size());
  std::vector<double> scales;
  for (std::size_t first = 0; first < values.size(); first += row) {
    double largest = 0;
    for (std::size_t i = first; i < first + row; ++i)
      largest = std::max(largest, std::abs(double(values[i])));
    const double scale = largest > 0 ? largest / kMost : 1;
    for (std::size_t i = first; i < first + row; ++i)
      integers[i] = static_cast<Integer>(std::lround(double(values[i]) / scale));
    scales.push_back(scale);
  }
  Json out = pack_array(integers, shape, ArrayCoding::DeltaShuffle, shape.back());
  out["scale"] = scales;
  return out;
}
template Json pack_field<std::int8_t>(const std::vector<float>&, const ArrayShape&);
template Json pack_field<std::int16_t>(const std::vector<float>&, const ArrayShape&);

std::vector<double> unpack_array(const Json& array, const std::string& path) {
  const auto refuse = [&](const std::string& what) -> void { throw InputError(path, what); };
  if (!array.is_object() || !array.contains("type") || !array["type"].is_string() ||
      !array.contains("shape") || !array["shape"].is_array() || !array.contains("data") ||
      !array["data"].is_string())
    refuse("expected an array of numbers, {\"type\", \"shape\", \"data\"}");
  const std::string type = array["type"];
  const std::size_t size = bytes_of(type);
  if (size == 0) refuse(fmt::format("expected the type f32, f64, i8, i16 or u32, got '{}'", type));
  ArrayShape shape;
  std::size_t n = 1;
  for (const Json& extent : array["shape"]) {
    if (!extent.is_number_unsigned()) refuse("expected a shape of whole numbers");
    shape.push_back(extent);
    // zlib makes no more than about a thousand bytes of one.
    if (shape.back() > 0 &&
        n > 2048 * (array["data"].get_ref<const std::string&>().size() + 1) / shape.back())
      refuse("fewer data than its shape requires");
    n *= shape.back();
  }
  std::string compressed, bytes;
  if (!from_base64(array["data"].get_ref<const std::string&>(), compressed) ||
      !inflated(compressed, n * size, bytes))
    refuse("the data are damaged");
  const bool coded = array.contains("coding");
  if (coded && array["coding"] != "delta-shuffle")
    refuse(fmt::format("expected the coding delta-shuffle, got {}", excerpt(array["coding"].dump())));
  const std::size_t row = row_of(shape);
  std::size_t before = row;
  if (array.contains("distance")) {
    if (!array["distance"].is_number_unsigned() || array["distance"] == 0)
      refuse("expected a whole number as `distance`");
    before = array["distance"];
  }
  std::vector<double> out = type == "f64"   ? numbers_of<double>(bytes, n, before, coded)
                            : type == "f32" ? numbers_of<float>(bytes, n, before, coded)
                            : type == "u32" ? numbers_of<std::uint32_t>(bytes, n, before, coded)
                            : type == "i8"  ? numbers_of<std::int8_t>(bytes, n, before, coded)
                                            : numbers_of<std::int16_t>(bytes, n, before, coded);
  if (!array.contains("scale")) return out;
  const Json& scale = array["scale"];
  if (!scale.is_number() && (!scale.is_array() || shape.empty() || scale.size() != shape[0] ||
                             !std::ranges::all_of(scale, [](const Json& one) { return one.is_number(); })))
    refuse("expected one scale, or one for each first index");
  for (std::size_t i = 0; i < n; ++i)
    out[i] *= scale.is_number() ? scale.get<double>() : scale[i / row].get<double>();
  return out;
}

}  // namespace liedyn
