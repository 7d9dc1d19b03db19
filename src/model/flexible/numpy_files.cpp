#include "liedyn/model/flexible/numpy_files.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <vector>

namespace liedyn {
namespace {

constexpr std::string_view kArchive = "PK\x03\x04", kArray = "\x93NUMPY";
constexpr double kMostEntries = 1e8;
constexpr std::size_t kMostBytes = 1U << 30;  // of an array

[[noreturn]] void fail(const std::string& message) { throw std::invalid_argument(message); }

// An unsigned number of `size` bytes, least significant first, at a place that must exist.
std::uint64_t little(std::string_view bytes, std::size_t at, std::size_t size) {
  if (size > bytes.size() || at > bytes.size() - size) fail("the file ends too early");
  std::uint64_t out = 0;
  for (std::size_t i = size; i-- > 0;) out = out << 8 | static_cast<unsigned char>(bytes[at + i]);
  return out;
}
std::string_view part(std::string_view bytes, std::uint64_t at, std::uint64_t size) {
  if (size > bytes.size() || at > bytes.size() - size) fail("the file ends too early");
  return bytes.substr(at, size);
}

// ---- zip archives

std::string inflated(std::string_view packed, std::size_t size) {
  // Deflate makes at most 1032 bytes of one: a larger promise is a lie, and need not be believed.
  if (size > 1040 * (packed.size() + 1)) fail("the archive is damaged: a size is impossible");
  if (size > kMostBytes) fail("has an array of more than a gigabyte");
  std::string out(size, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) fail("cannot be decompressed");
  // zlib counts in 32 bits: in portions.
  constexpr std::size_t kPortion = 1U << 30;
  std::size_t taken = 0, made = 0;
  int result = Z_OK;
  while (result == Z_OK) {
    const std::size_t in = std::min(kPortion, packed.size() - taken), room = std::min(kPortion, size - made);
    // zlib does not write to its input, but its interface is older than const.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + taken));
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + made);
    stream.avail_out = static_cast<uInt>(room);
    result = inflate(&stream, Z_NO_FLUSH);
    taken += in - stream.avail_in;
    made += room - stream.avail_out;
  }
  inflateEnd(&stream);
  if (result != Z_STREAM_END || made != size) fail("the archive is damaged: a member cannot be decompressed");
  return out;
}

// The members of an archive by name, without their ending .npy. Their places come from the directory at the end: what stands before each member need not
// know its size yet.
std::map<std::string, std::string, std::less<>> members_of(std::string_view bytes) {
  constexpr std::size_t kEndSize = 22, kLongestComment = 0xffff;
  constexpr std::string_view kEnd = "PK\x05\x06", kEntry = "PK\x01\x02";
  if (bytes.size() < kEndSize) fail("the file ends too early");
  const std::size_t tail = std::min(bytes.size(), kEndSize + kLongestComment);
  const std::size_t found = bytes.substr(bytes.size() - tail).rfind(kEnd);
  if (found == std::string_view::npos)
    fail("the file ends too early: the directory of the archive is missing");
  const std::size_t end = bytes.size() - tail + found;
  part(bytes, end, kEndSize);
  const std::uint64_t count = little(bytes, end + 10, 2);
  std::uint64_t at = little(bytes, end + 16, 4);
  std::map<std::string, std::string, std::less<>> out;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (part(bytes, at, 4) != kEntry) fail("the archive is damaged: its directory is wrong");
    const std::uint64_t flags = little(bytes, at + 8, 2), method = little(bytes, at + 10, 2),
                        crc = little(bytes, at + 16, 4), packed_size = little(bytes, at + 20, 4),
                        size = little(bytes, at + 24, 4), name_size = little(bytes, at + 28, 2),
                        extra = little(bytes, at + 30, 2), comment = little(bytes, at + 32, 2),
                        local = little(bytes, at + 42, 4);
    std::string name(part(bytes, at + 46, name_size));
    at += 46 + name_size + extra + comment;
    if (packed_size == 0xffffffff || size == 0xffffffff || local == 0xffffffff)
      fail("has an array of more than a gigabyte");
    if (flags & 1) fail("the archive is encrypted");
    if (part(bytes, local, 4) != kArchive) fail("the archive is damaged: its directory is wrong");
    const std::string_view packed =
        part(bytes, local + 30 + little(bytes, local + 26, 2) + little(bytes, local + 28, 2), packed_size);
    if (method != 0 && method != 8)
      fail(fmt::format("the compression method {} is not supported, expected that of np.savez_compressed",
                       method));
    if (method == 0 && packed_size != size) fail("the archive is damaged: two sizes differ");
    std::string content = method == 0 ? std::string(packed) : inflated(packed, size);
    if (crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()) != crc)
      fail(fmt::format("the archive is damaged: the check sum of '{}' is wrong", name));
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    out.insert_or_assign(std::move(name), std::move(content));
  }
  return out;
}

// ---- arrays

struct Array {
  char kind = 'f';  // f: reals, i: whole numbers with a sign, u: without, S: texts, b: truth values
  std::size_t item = 8;
  bool swapped = false, by_columns = false;
  std::vector<std::uint64_t> shape;
  std::string_view data;

  std::size_t count() const { return item == 0 ? 0 : data.size() / item; }
  double number(std::size_t i) const {
    const auto bits = word(i);
    switch (kind) {
      case 'f':
        return item == 8 ? std::bit_cast<double>(bits)
                         : static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
      case 'i': return static_cast<double>(whole(i));
      default: return static_cast<double>(bits);
    }
  }
  std::int64_t whole(std::size_t i) const {
    const std::size_t shift = 64 - 8 * item;
    const auto bits = static_cast<std::int64_t>(word(i) << shift);
    return kind == 'i' ? bits >> shift : static_cast<std::int64_t>(word(i));
  }

 private:
  std::uint64_t word(std::size_t i) const {
    std::uint64_t out = 0;
    for (std::size_t k = 0; k < item; ++k) {
      const std::size_t byte = swapped ? k : item - 1 - k;
      out = out << 8 | static_cast<unsigned char>(data[i * item + byte]);
    }
    return out;
  }
};

// What stands in the header after 'key': (a dictionary in Python's notation).
std::string_view value_of(std::string_view header, std::string_view key) {
  const std::string quoted = fmt::format("'{}':", key);
  const std::size_t at = header.find(quoted);
  if (at == std::string_view::npos) fail(fmt::format("its header has no '{}'", key));
  std::string_view out = header.substr(at + quoted.size());
  out.remove_prefix(std::min(out.find_first_not_of(' '), out.size()));
  return out;
}

Array array_of(std::string_view bytes) {
  if (!bytes.starts_with(kArray)) fail("is not an array of NumPy");
  const std::uint64_t version = little(bytes, 6, 1), width = version == 1 ? 2 : 4;
  if (version < 1 || version > 3) fail(fmt::format("the version {} of its format is not known", version));
  const std::uint64_t length = little(bytes, 8, width);
  const std::string_view header = part(bytes, 8 + width, length);
  Array out;

  std::string_view type = value_of(header, "descr");
  const std::size_t close = type.size() > 1 && type[0] == '\'' ? type.find('\'', 1) : std::string_view::npos;
  if (close == std::string_view::npos) fail("has fields or objects, expected numbers");
  type = type.substr(1, close - 1);
  const std::string known = "<>|=";
  int item = 0;
  if (type.size() < 3 || known.find(type[0]) == std::string::npos ||
      std::from_chars(type.data() + 2, type.data() + type.size(), item).ptr != type.data() + type.size())
    fail(fmt::format("has the type '{}', expected numbers", type));
  out.kind = type[1];
  out.item = static_cast<std::size_t>(std::max(item, 0));
  if (out.kind == 'U') out.kind = 'S', out.item *= 4;  // four bytes for each character
  out.swapped = type[0] == '>';
  const bool number = (out.kind == 'f' && (item == 4 || item == 8)) || (out.kind == 'b' && item == 1) ||
                      ((out.kind == 'i' || out.kind == 'u') && std::has_single_bit(out.item) && item <= 8);
  if (!number && !(out.kind == 'S' && item > 0))
    fail(fmt::format("has the type '{}', expected numbers", type));

  out.by_columns = value_of(header, "fortran_order").starts_with("True");
  std::string_view shape = value_of(header, "shape");
  const std::size_t last = shape.find(')');
  if (!shape.starts_with('(') || last == std::string_view::npos) fail("its header has no shape");
  shape = shape.substr(1, last - 1);
  double total = 1;
  while (!shape.empty()) {
    std::uint64_t n = 0;
    const auto [end, error] = std::from_chars(shape.data(), shape.data() + shape.size(), n);
    if (error != std::errc()) fail("its header has no shape");
    out.shape.push_back(n);
    total *= static_cast<double>(n);
    shape.remove_prefix(static_cast<std::size_t>(end - shape.data()));
    shape.remove_prefix(std::min(shape.find_first_not_of(", "), shape.size()));
  }
  if (!(total <= kMostEntries))
    fail(fmt::format("has {:.3g} entries, expected at most {:.3g}", total, kMostEntries));
  std::uint64_t size = out.item;
  for (const std::uint64_t n : out.shape) size *= n;
  out.data = part(bytes, 8 + width + length, size);
  return out;
}

template <class Read>
auto in_array(std::string_view name, const Read& read) {
  try {
    return read();
  } catch (const std::invalid_argument& mistake) {
    fail(fmt::format("the array '{}': {}", name, mistake.what()));
  }
}

double finite(const Array& array, std::size_t i) {
  const double out = array.number(i);
  if (!std::isfinite(out)) fail("has an entry that is infinite or not a number");
  return out;
}

SparseMatrix dense_matrix(const Array& array) {
  if (array.kind == 'S') fail("is a string, expected numbers");
  if (array.shape.size() != 2) fail(fmt::format("has {} dimensions, expected 2", array.shape.size()));
  const std::size_t rows = array.shape[0], columns = array.shape[1];
  if (rows == 0 || columns == 0) fail("is empty");
  std::vector<Eigen::Triplet<double>> entries;
  for (std::size_t c = 0; c < columns; ++c)
    for (std::size_t r = 0; r < rows; ++r)
      if (const double x = finite(array, array.by_columns ? c * rows + r : r * columns + c); x != 0)
        entries.emplace_back(static_cast<int>(r), static_cast<int>(c), x);
  SparseMatrix out(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns));
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

using Members = std::map<std::string, std::string, std::less<>>;

bool is_sparse(const Members& members) { return members.contains("format") && members.contains("shape"); }

SparseMatrix sparse_matrix(const Members& members) {
  const auto array = [&](const char* name) {
    const auto found = members.find(name);
    if (found == members.end()) fail(fmt::format("a sparse matrix needs the array '{}'", name));
    return in_array(name, [&] { return array_of(found->second); });
  };
  const auto whole = [&](const Array& of, const char* name) {
    if (of.kind != 'i' && of.kind != 'u') fail(fmt::format("the array '{}': expected whole numbers", name));
    std::vector<std::int64_t> out(of.count());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = of.whole(i);
    return out;
  };
  const auto numbers = [&](const char* name) { return whole(array(name), name); };

  const Array format_text = array("format");
  std::string format;
  for (const char c : format_text.data)
    if (c != '\0') format += c;
  if (format != "csr" && format != "csc" && format != "coo")
    fail(fmt::format(
        "the sparse format '{}' is not supported, expected csr, csc or coo: convert it by .tocsr()",
        format.substr(0, 20)));
  const std::vector<std::int64_t> shape = numbers("shape");
  constexpr std::int64_t kMost = 10'000'000;
  if (shape.size() != 2 || shape[0] < 1 || shape[1] < 1 || shape[0] > kMost || shape[1] > kMost)
    fail("the array 'shape': expected the two sizes of a matrix");
  const Array data = array("data");
  if (data.kind == 'S') fail("the array 'data': expected numbers");
  std::vector<Eigen::Triplet<double>> entries;
  const auto add = [&](std::int64_t row, std::int64_t column, std::size_t i) {
    if (row < 0 || row >= shape[0] || column < 0 || column >= shape[1])
      fail(fmt::format("there is no entry ({}, {}) in a matrix of {} x {}", row, column, shape[0], shape[1]));
    entries.emplace_back(static_cast<int>(row), static_cast<int>(column),
                         in_array("data", [&] { return finite(data, i); }));
  };
  if (format == "coo") {
    const std::vector<std::int64_t> rows = numbers("row"), columns = numbers("col");
    if (rows.size() != data.count() || columns.size() != data.count())
      fail(fmt::format("expected as many rows and columns as entries, got {}, {} and {}", rows.size(),
                       columns.size(), data.count()));
    for (std::size_t i = 0; i < rows.size(); ++i) add(rows[i], columns[i], i);
  } else {
    const bool by_rows = format == "csr";
    const std::vector<std::int64_t> others = numbers("indices"), first = numbers("indptr");
    const std::int64_t lines = by_rows ? shape[0] : shape[1];
    if (static_cast<std::int64_t>(first.size()) != lines + 1 || first.front() != 0)
      fail(fmt::format("the array 'indptr': expected {} numbers from 0 on", lines + 1));
    if (others.size() != data.count() || first.back() != static_cast<std::int64_t>(others.size()))
      fail(fmt::format("expected as many indices as entries, got {} and {}", others.size(), data.count()));
    for (std::int64_t line = 0; line < lines; ++line) {
      const std::int64_t begin = first[static_cast<std::size_t>(line)],
                         end = first[static_cast<std::size_t>(line) + 1];
      if (begin > end || end > first.back())
        fail("the array 'indptr': expected numbers in non-decreasing order");
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t other = others[static_cast<std::size_t>(i)];
        add(by_rows ? line : other, by_rows ? other : line, static_cast<std::size_t>(i));
      }
    }
  }
  SparseMatrix out(shape[0], shape[1]);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

}  // namespace

bool is_numpy(std::string_view bytes) { return bytes.starts_with(kArchive) || bytes.starts_with(kArray); }

SparseMatrix parse_numpy(std::string_view bytes, std::string_view given, std::string_view usual) {
  if (bytes.starts_with(kArray)) return dense_matrix(array_of(bytes));
  const Members members = members_of(bytes);
  if (given.empty() && is_sparse(members)) return sparse_matrix(members);
  const std::string_view name = given.empty() ? usual : given;
  auto found = members.find(name);
  if (given.empty() && members.size() == 1) found = members.begin();
  if (found == members.end()) {
    std::string known;
    for (const auto& [other, content] : members) known += (known.empty() ? "" : ", ") + other;
    fail(fmt::format("there is no array '{}'; there are: {}", name, known.empty() ? "none" : known));
  }
  return in_array(found->first, [&] { return dense_matrix(array_of(found->second)); });
}

}  // namespace liedyn
