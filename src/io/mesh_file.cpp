#include "liedyn/io/mesh_file.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "liedyn/base/error.h"
#include "liedyn/base/paths.h"
#include "liedyn/base/suggest.h"
#include "liedyn/io/format_library.h"
#include "liedyn/io/json.h"
#include "liedyn/io/mesh_format.h"

namespace liedyn {
namespace {

using Point = std::array<double, 3>;
using Matrix4 = std::array<double, 16>;  // by columns, as glTF has them

static_assert(std::endian::native == std::endian::little, "mesh files are little-endian");

constexpr std::size_t kLargestFile = std::size_t{1} << 30;
constexpr std::size_t kMostTriangles = 20'000'000;

[[noreturn]] void fail(const std::string& file, int line, std::string message, std::string hint = {}) {
  throw InputError({{file, line, "", std::move(message), std::move(hint)}});
}

std::string content_of(const std::string& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) fail(file, 0, "there is no such file");
  if (!std::filesystem::is_regular_file(status)) fail(file, 0, "is not a regular file, expected a mesh");
  const auto size = std::filesystem::file_size(file, error);
  if (error || size > kLargestFile) fail(file, 0, "is larger than 1 GB, which is more than a mesh can be");
  std::ifstream stream(file, std::ios::binary);
  std::string text(static_cast<std::size_t>(size), '\0');
  if (!stream || !stream.read(text.data(), static_cast<std::streamsize>(size)))
    fail(file, 0, "cannot be read");
  return text;
}

template <class T>
T read_as(std::string_view bytes, std::size_t offset) {
  T out;
  std::memcpy(&out, bytes.data() + offset, sizeof(T));
  return out;
}

void check_finite(const Point& p, const std::string& file, int line, std::size_t index) {
  for (const double x : p)
    if (!std::isfinite(x)) fail(file, line, fmt::format("vertex {} is not finite, got {}", index + 1, x));
}

// Vertices with the same coordinates become one.
class Welder {
 public:
  explicit Welder(TriangleMesh& mesh) : mesh_(mesh) {}
  std::uint32_t add(Point p) {
    for (double& x : p) x += 0.0;  // -0 is 0
    const auto [found, is_new] = index_.try_emplace(p, static_cast<std::uint32_t>(mesh_.vertices.size()));
    if (is_new) mesh_.vertices.push_back(p);
    return found->second;
  }

 private:
  struct Hash {
    std::size_t operator()(const Point& p) const {
      std::size_t h = 0;
      for (const double x : p) h = h * 1000003 ^ std::hash<double>{}(x);
      return h;
    }
  };
  TriangleMesh& mesh_;
  std::unordered_map<Point, std::uint32_t, Hash> index_;
};

// ---- text

class Lines {
 public:
  Lines(std::string_view text, const std::string& file) : text_(text), file_(file) {}
  bool next() {
    if (start_ >= text_.size()) return false;
    const std::size_t end = std::min(text_.find('\n', start_), text_.size());
    rest_ = text_.substr(start_, end - start_);
    start_ = end + 1;
    ++line_;
    return true;
  }
  std::string_view word() {
    const std::size_t begin = rest_.find_first_not_of(" \t\r\f\v");
    if (begin == std::string_view::npos) return rest_ = {};
    rest_.remove_prefix(begin);
    const std::size_t end = std::min(rest_.find_first_of(" \t\r\f\v"), rest_.size());
    const std::string_view out = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return out;
  }
  double number() {
    std::string_view text = word();
    if (text.starts_with('+')) text.remove_prefix(1);
    double out = 0;
    const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc{} || last != text.data() + text.size())
      stop(fmt::format("expected a number, got '{}'", excerpt(text)));
    if (!std::isfinite(out)) stop(fmt::format("expected a finite number, got {}", out));
    return out;
  }
  Point point() {
    Point out;
    for (double& x : out) x = number();
    return out;
  }
  [[noreturn]] void stop(std::string message, std::string hint = {}) const {
    fail(file_, line_, std::move(message), std::move(hint));
  }
  int line() const { return line_; }

 private:
  std::string_view text_, rest_;
  const std::string& file_;
  std::size_t start_ = 0;
  int line_ = 0;
};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

TriangleMesh ascii_stl(std::string_view text, const std::string& file) {
  TriangleMesh mesh;
  Welder welder(mesh);
  Lines lines(text, file);
  std::array<std::uint32_t, 3> corners{};
  std::size_t count = 0;
  bool in_facet = false;
  while (lines.next()) {
    const std::string word = lower(lines.word());
    if ((word == "vertex" || word == "endfacet") && !in_facet)
      lines.stop(fmt::format("expected facet, got {}", word));
    if (word == "facet") {
      if (in_facet) lines.stop("a facet begins before the previous one ends");
      in_facet = true;
      count = 0;
    } else if (word == "vertex") {
      if (count == 3) lines.stop("expected a facet of three vertices, got a fourth");
      corners[count++] = welder.add(lines.point());
    } else if (word == "endfacet") {
      if (count != 3) lines.stop(fmt::format("expected a facet of three vertices, got {}", count));
      mesh.triangles.push_back(corners);
      in_facet = false;
    } else if (!word.empty() && word != "solid" && word != "outer" && word != "endloop" &&
               word != "endsolid") {
      lines.stop(fmt::format("expected facet, vertex or endfacet, got '{}'", excerpt(word)));
    }
  }
  if (in_facet) lines.stop("the file ends within a facet");
  return mesh;
}

// 80 bytes of header, the number of triangles, and for each of them a normal, three vertices and two bytes.
constexpr std::size_t kStlHeader = 84, kStlTriangle = 50;

TriangleMesh binary_stl(std::string_view bytes, const std::string& file) {
  const std::size_t count = read_as<std::uint32_t>(bytes, 80);
  if (kStlHeader + kStlTriangle * count > bytes.size())
    fail(file, 0,
         fmt::format("the header announces {} triangles, which need {} bytes, but the file has {}", count,
                     kStlHeader + kStlTriangle * count, bytes.size()),
         "is the file complete, and an STL file?");
  if (count > kMostTriangles)
    fail(file, 0, fmt::format("expected at most {} triangles, got {}", kMostTriangles, count));
  TriangleMesh mesh;
  mesh.triangles.reserve(count);
  Welder welder(mesh);
  for (std::size_t i = 0; i < count; ++i) {
    std::array<std::uint32_t, 3> corners{};
    for (std::size_t c = 0; c < 3; ++c) {
      Point p;
      for (std::size_t k = 0; k < 3; ++k)
        p[k] = read_as<float>(bytes, kStlHeader + kStlTriangle * i + 12 + 12 * c + 4 * k);
      check_finite(p, file, 0, 3 * i + c);
      corners[c] = welder.add(p);
    }
    mesh.triangles.push_back(corners);
  }
  return mesh;
}

// A binary file may begin with "solid" too: its size decides.
TriangleMesh stl(std::string_view bytes, const std::string& file) {
  const bool fits = bytes.size() >= kStlHeader &&
                    kStlHeader + kStlTriangle * read_as<std::uint32_t>(bytes, 80) == bytes.size();
  if (!fits && lower(bytes.substr(0, 5)) == "solid" && bytes.find('\0') == std::string_view::npos)
    return ascii_stl(bytes, file);
  if (bytes.size() < kStlHeader) fail(file, 0, "is neither an ASCII nor a binary STL file");
  return binary_stl(bytes, file);
}

TriangleMesh obj(std::string_view text, const std::string& file) {
  if (text.find('\0') != std::string_view::npos) fail(file, 0, "is not a text file, expected OBJ");
  TriangleMesh mesh;
  Welder welder(mesh);
  std::vector<std::uint32_t> welded;
  Lines lines(text, file);
  while (lines.next()) {
    const std::string_view word = lines.word();
    if (word == "v") welded.push_back(welder.add(lines.point()));
    if (word != "f") continue;
    std::vector<std::uint32_t> corners;
    // "7", "7/1", "7//3", "7/1/3"; negative numbers count from the last vertex.
    for (std::string_view corner = lines.word(); !corner.empty() && corner[0] != '#'; corner = lines.word()) {
      const std::string_view index = corner.substr(0, corner.find('/'));
      long value = 0;
      const auto [last, error] = std::from_chars(index.data(), index.data() + index.size(), value);
      const long count = static_cast<long>(welded.size());
      if (error != std::errc{} || last != index.data() + index.size())
        lines.stop(fmt::format("expected the number of a vertex, got '{}'", excerpt(corner)));
      if (value == 0 || value > count || value < -count)
        lines.stop(fmt::format("there is no vertex {}, only {} so far", value, count));
      corners.push_back(welded[static_cast<std::size_t>(value > 0 ? value - 1 : count + value)]);
    }
    if (corners.size() < 3)
      lines.stop(fmt::format("expected a face of three vertices or more, got {}", corners.size()));
    for (std::size_t i = 2; i < corners.size(); ++i)
      mesh.triangles.push_back({corners[0], corners[i - 1], corners[i]});
  }
  return mesh;
}

// ---- glTF

class Gltf {
 public:
  Gltf(std::string_view bytes, const std::string& file) : file_(file), welder_(mesh_) {
    if (bytes.starts_with("glTF"))
      read_chunks(bytes);
    else
      text_ = bytes;
    document_ = JsonDocument::parse(text_, file);
    root_ = document_.root();
  }

  TriangleMesh read() {
    if (!root_.is(JsonType::Object)) stop("expected an object", root_);
    if (const JsonValue required = root_.find("extensionsRequired");
        required && required.is(JsonType::Array) && required.size() > 0)
      fail(file_, required.line(),
           fmt::format("needs the extension {}, which is not supported", (*required.begin()).describe()),
           "export the mesh without compression and extensions");
    read_buffers();
    meshes_ = list("meshes");
    nodes_ = list("nodes");
    views_ = list("bufferViews");
    accessors_ = list("accessors");
    const std::vector<JsonValue> scenes = list("scenes");
    constexpr Matrix4 identity = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    if (scenes.empty()) {
      for (const JsonValue mesh : meshes_) add_mesh(mesh, identity);
      return std::move(mesh_);
    }
    const std::size_t scene = root_.find("scene") ? index(root_, "scene", scenes.size()) : 0;
    if (const JsonValue roots = scenes[scene].find("nodes"); roots && roots.is(JsonType::Array))
      for (const JsonValue node : roots)
        add_node(whole(node, "nodes", "an index", nodes_.size()), identity, 0);
    return std::move(mesh_);
  }

 private:
  [[noreturn]] void stop(std::string message, JsonValue where) const {
    fail(file_, where.line(), std::move(message));
  }

  // 12 bytes of header, then chunks: length, type, content. The first is JSON, the second binary.
  void read_chunks(std::string_view bytes) {
    constexpr std::uint32_t kJson = 0x4E4F534A, kBinary = 0x004E4942;
    if (bytes.size() < 12 || read_as<std::uint32_t>(bytes, 4) != 2)
      fail(file_, 0, "expected glTF of version 2");
    bytes.remove_prefix(12);
    while (bytes.size() >= 8) {
      const std::size_t length = read_as<std::uint32_t>(bytes, 0);
      const auto type = read_as<std::uint32_t>(bytes, 4);
      bytes.remove_prefix(8);
      if (length > bytes.size())
        fail(file_, 0,
             fmt::format("a chunk of {} bytes exceeds the {} bytes that follow", length, bytes.size()));
      if (type == kJson && text_.empty()) text_ = bytes.substr(0, length);
      if (type == kBinary && !binary_) binary_ = bytes.substr(0, length);
      bytes.remove_prefix(std::min((length + 3) / 4 * 4, bytes.size()));
    }
    if (text_.empty()) fail(file_, 0, "has no JSON chunk");
  }

  std::vector<JsonValue> list(std::string_view key) const {
    std::vector<JsonValue> out;
    const JsonValue array = root_.find(key);
    if (!array) return out;
    if (!array.is(JsonType::Array)) stop(fmt::format("{}: expected an array", key), array);
    for (const JsonValue item : array) {
      if (!item.is(JsonType::Object)) stop(fmt::format("{}: expected objects", key), item);
      out.push_back(item);
    }
    return out;
  }
  std::size_t whole(JsonValue value, std::string_view key, std::string_view what, std::size_t limit) const {
    if (!value.is(JsonType::Number) || !(value.number() >= 0) ||
        value.number() != std::floor(value.number()) || value.number() >= static_cast<double>(limit))
      stop(fmt::format("{}: expected {} below {}, got {}", key, what, limit, value.describe()), value);
    return static_cast<std::size_t>(value.number());
  }
  JsonValue required(JsonValue object, std::string_view key) const {
    const JsonValue value = object.find(key);
    if (!value) stop(fmt::format("'{}' is missing", key), object);
    return value;
  }
  std::size_t index(JsonValue object, std::string_view key, std::size_t count) const {
    return whole(required(object, key), key, "an index", count);
  }
  std::size_t size(JsonValue object, std::string_view key, std::size_t otherwise) const {
    const JsonValue value = object.find(key);
    return value ? whole(value, key, "a whole number", kLargestFile) : otherwise;
  }

  void read_buffers() {
    for (const JsonValue buffer : list("buffers")) {
      const JsonValue uri = buffer.find("uri");
      if (!uri) {
        if (!binary_) stop("a buffer has neither a file nor a binary chunk", buffer);
        buffers_.emplace_back(*binary_);
        continue;
      }
      if (!uri.is(JsonType::String)) stop("uri: expected a string", uri);
      if (uri.text().starts_with("data:")) {
        const std::size_t comma = uri.text().find(";base64,");
        if (comma == std::string_view::npos) stop("uri: expected data of the encoding base64", uri);
        buffers_.push_back(decoded(uri.text().substr(comma + 8), uri));
      } else {
        const std::filesystem::path named = std::filesystem::path(file_).parent_path() / uri.text();
        if (const std::string outside = outside_of_model(named, file_); !outside.empty())
          stop(fmt::format("uri: '{}': {}", excerpt(uri.text(), 200), outside), uri);
        buffers_.push_back(content_of(named.string()));
      }
    }
  }
  std::string decoded(std::string_view text, JsonValue where) const {
    std::string out;
    std::uint32_t bits = 0;
    int count = 0;
    for (const char c : text) {
      if (c == '=') break;
      const int value = c >= 'A' && c <= 'Z'   ? c - 'A'
                        : c >= 'a' && c <= 'z' ? c - 'a' + 26
                        : c >= '0' && c <= '9' ? c - '0' + 52
                        : c == '+'             ? 62
                        : c == '/'             ? 63
                                               : -1;
      if (value < 0) stop("uri: is not base64", where);
      bits = (bits << 6) | static_cast<std::uint32_t>(value);
      if (++count % 4 == 0) {
        for (int shift = 16; shift >= 0; shift -= 8) out += static_cast<char>((bits >> shift) & 0xff);
        bits = 0;
      }
    }
    if (count % 4 == 2) out += static_cast<char>((bits >> 4) & 0xff);
    if (count % 4 == 3)
      out += static_cast<char>((bits >> 10) & 0xff), out += static_cast<char>((bits >> 2) & 0xff);
    return out;
  }

  // Bytes of an accessor: where element i begins, all of them within the buffer.
  struct Data {
    std::string_view bytes;
    std::size_t count, stride;
    int component;  // 5121: 8 bits, 5123: 16 bits, 5125: 32 bits, 5126: float
  };
  Data data(std::size_t accessor, std::string_view type, std::size_t components) const {
    const JsonValue a = accessors_[accessor];
    if (a.find("sparse")) stop("sparse accessors are not supported", a);
    const JsonValue given = a.find("type");
    if (!given || !given.is(JsonType::String) || given.text() != type)
      stop(fmt::format("type: expected {}", type), a);
    Data out{};
    const JsonValue component = required(a, "componentType");
    const double number = component.is(JsonType::Number) ? component.number() : 0;
    const std::size_t width = number == 5121                     ? 1
                              : number == 5123                   ? 2
                              : number == 5125 || number == 5126 ? 4
                                                                 : 0;
    if (width == 0) stop(fmt::format("componentType: {} is not supported", component.describe()), a);
    out.component = static_cast<int>(number);
    out.count = size(a, "count", 0);
    if (out.count > 3 * kMostTriangles) stop(fmt::format("count: {} is too many", out.count), a);
    const JsonValue view = views_[index(a, "bufferView", views_.size())];
    const std::string& buffer = buffers_[index(view, "buffer", buffers_.size())];
    const std::size_t begin = size(view, "byteOffset", 0), length = size(view, "byteLength", 0);
    if (begin + length > buffer.size())
      stop(fmt::format("the view ends at byte {}, but its buffer has {}", begin + length, buffer.size()),
           view);
    const std::size_t offset = size(a, "byteOffset", 0);
    out.stride = size(view, "byteStride", width * components);
    if (out.stride == 0) stop("byteStride: expected a positive number", view);
    const std::size_t used = out.count > 0 ? (out.count - 1) * out.stride + width * components : 0;
    if (offset + used > length)
      stop(fmt::format("{} elements from byte {} exceed the {} bytes of their view", out.count, offset,
                       length),
           a);
    out.bytes = std::string_view(buffer).substr(begin + offset);
    return out;
  }

  std::vector<double> numbers(JsonValue object, std::string_view key, std::vector<double> otherwise) const {
    const JsonValue value = object.find(key);
    if (!value) return otherwise;
    if (!value.is(JsonType::Array) || value.size() != otherwise.size())
      stop(fmt::format("{}: expected {} numbers", key, otherwise.size()), value);
    std::size_t i = 0;
    for (const JsonValue number : value) {
      if (!number.is(JsonType::Number)) stop(fmt::format("{}: expected numbers", key), value);
      otherwise[i++] = number.number();
    }
    return otherwise;
  }

  static Matrix4 product(const Matrix4& A, const Matrix4& B) {
    Matrix4 out{};
    for (std::size_t c = 0; c < 4; ++c)
      for (std::size_t r = 0; r < 4; ++r)
        for (std::size_t k = 0; k < 4; ++k) out[4 * c + r] += A[4 * k + r] * B[4 * c + k];
    return out;
  }

  // A node has a matrix, or a translation, a rotation (x, y, z, w) and a scale.
  Matrix4 matrix_of(JsonValue node) const {
    Matrix4 out{};
    if (node.find("matrix")) {
      const std::vector<double> m = numbers(node, "matrix", std::vector<double>(16, 0));
      std::ranges::copy(m, out.begin());
      return out;
    }
    const auto t = numbers(node, "translation", {0, 0, 0}), s = numbers(node, "scale", {1, 1, 1});
    auto q = numbers(node, "rotation", {0, 0, 0, 1});
    const double norm = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(norm > 0)) stop("rotation: expected a quaternion, got zero", node);
    for (double& x : q) x /= norm;
    const double x = q[0], y = q[1], z = q[2], w = q[3];
    const double R[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                            {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                            {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    for (std::size_t r = 0; r < 3; ++r) {
      for (std::size_t c = 0; c < 3; ++c) out[4 * c + r] = R[r][c] * s[c];
      out[12 + r] = t[r];
    }
    out[15] = 1;
    return out;
  }

  void add_node(std::size_t number, const Matrix4& parent, int depth) {
    const JsonValue node = nodes_[number];
    constexpr int kDeepest = 50;
    constexpr std::size_t kMostNodes = 100'000;
    if (depth > kDeepest || ++visited_ > kMostNodes)
      stop("nodes are nested too deeply, or form a cycle", node);
    const Matrix4 at = product(parent, matrix_of(node));
    if (node.find("mesh")) add_mesh(meshes_[index(node, "mesh", meshes_.size())], at);
    if (const JsonValue children = node.find("children"); children && children.is(JsonType::Array))
      for (const JsonValue child : children)
        add_node(whole(child, "children", "an index", nodes_.size()), at, depth + 1);
  }

  void add_mesh(JsonValue mesh, const Matrix4& at) {
    const JsonValue primitives = mesh.find("primitives");
    if (!primitives || !primitives.is(JsonType::Array)) stop("'primitives' is missing", mesh);
    for (const JsonValue primitive : primitives) {
      if (!primitive.is(JsonType::Object)) stop("primitives: expected objects", primitive);
      constexpr std::size_t kTriangles = 4;
      if (const std::size_t mode = size(primitive, "mode", kTriangles); mode != kTriangles)
        stop(fmt::format("mode: expected triangles (4), got {}", mode), primitive);
      const JsonValue attributes = primitive.find("attributes");
      if (!attributes || !attributes.is(JsonType::Object)) stop("'attributes' is missing", primitive);
      add_primitive(primitive, data(index(attributes, "POSITION", accessors_.size()), "VEC3", 3), at);
    }
  }

  void add_primitive(JsonValue primitive, const Data& positions, const Matrix4& m) {
    if (positions.component != 5126) stop("POSITION: expected floats", primitive);
    std::vector<std::uint32_t> corners(positions.count);
    for (std::size_t i = 0; i < positions.count; ++i) {
      Point p, q;
      for (std::size_t k = 0; k < 3; ++k)
        p[k] = read_as<float>(positions.bytes, i * positions.stride + 4 * k);
      for (std::size_t r = 0; r < 3; ++r) q[r] = m[r] * p[0] + m[4 + r] * p[1] + m[8 + r] * p[2] + m[12 + r];
      check_finite(q, file_, primitive.line(), i);
      corners[i] = welder_.add(q);
    }
    // A mirrored node turns its triangles.
    const double det = m[0] * (m[5] * m[10] - m[6] * m[9]) - m[4] * (m[1] * m[10] - m[2] * m[9]) +
                       m[8] * (m[1] * m[6] - m[2] * m[5]);
    std::vector<std::uint32_t> order;
    if (primitive.find("indices")) {
      const Data indices = data(index(primitive, "indices", accessors_.size()), "SCALAR", 1);
      if (indices.component == 5126) stop("indices: expected whole numbers", primitive);
      for (std::size_t i = 0; i < indices.count; ++i) {
        const std::size_t at = i * indices.stride;
        const std::uint32_t index = indices.component == 5121   ? read_as<std::uint8_t>(indices.bytes, at)
                                    : indices.component == 5123 ? read_as<std::uint16_t>(indices.bytes, at)
                                                                : read_as<std::uint32_t>(indices.bytes, at);
        if (index >= corners.size())
          stop(fmt::format("indices: there is no vertex {}, only {}", index, corners.size()), primitive);
        order.push_back(corners[index]);
      }
    } else {
      order = corners;
    }
    if (order.size() % 3 != 0)
      stop(fmt::format("expected three vertices for each triangle, got {}", order.size()), primitive);
    if (mesh_.triangles.size() + order.size() / 3 > kMostTriangles) stop("has too many triangles", primitive);
    for (std::size_t i = 0; i + 2 < order.size(); i += 3)
      mesh_.triangles.push_back({order[i], order[det < 0 ? i + 2 : i + 1], order[det < 0 ? i + 1 : i + 2]});
  }

  const std::string& file_;
  std::string_view text_;
  std::optional<std::string_view> binary_;
  JsonDocument document_;
  JsonValue root_;
  std::vector<std::string> buffers_;
  std::vector<JsonValue> meshes_, nodes_, views_, accessors_;
  TriangleMesh mesh_;
  Welder welder_;
  std::size_t visited_ = 0;
};

// ---- polygons

double cross(const std::array<double, 2>& o, const std::array<double, 2>& a, const std::array<double, 2>& b) {
  return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
}

// Triangles of a polygon in the positive sense, by cutting off ears.
std::vector<std::array<std::uint32_t, 3>> ears(const std::vector<std::array<double, 2>>& p) {
  std::vector<std::uint32_t> open(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) open[i] = static_cast<std::uint32_t>(i);
  std::vector<std::array<std::uint32_t, 3>> out;
  while (open.size() > 3) {
    const std::size_t n = open.size();
    std::size_t best = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const auto &a = p[open[(i + n - 1) % n]], &b = p[open[i]], &c = p[open[(i + 1) % n]];
      if (!(cross(a, b, c) > 0)) continue;
      const bool empty = std::none_of(open.begin(), open.end(), [&](std::uint32_t k) {
        const auto& q = p[k];
        return q != a && q != b && q != c && cross(a, b, q) >= 0 && cross(b, c, q) >= 0 &&
               cross(c, a, q) >= 0;
      });
      if (!empty) continue;
      best = i;
      break;
    }
    out.push_back({open[(best + n - 1) % n], open[best], open[(best + 1) % n]});
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(best));
  }
  out.push_back({open[0], open[1], open[2]});
  return out;
}

// ---- Collada, by a library that is loaded for it

// Collects what the library finds; indices and numbers are checked here.
struct Collected {
  explicit Collected(const std::string& name) : file(name), welder(mesh) {}
  const std::string& file;
  TriangleMesh mesh;
  Welder welder;
  std::vector<std::uint32_t> welded;
  bool is_colored = false;
  std::string problem;
};

TriangleMesh collada(std::string_view content, const std::string& file) {
  static constexpr FormatLibrary kLibrary = {"liedyn_meshes.so", "libassimp-dev", kMeshFormatEntry, "meshes"};
  const MeshFormat* format = reinterpret_cast<MeshFormatEntry>(load_format(kLibrary, file))();
  if (format->version != MeshFormat::kVersion) refuse_version(kLibrary, file);
  Collected found(file);
  const MeshSink sink = {
      .mesh = &found,
      .vertex =
          [](void* to, const double* xyz) {
            auto& f = *static_cast<Collected*>(to);
            const bool is_finite = std::all_of(xyz, xyz + 3, [](double x) { return std::isfinite(x); });
            if (!is_finite && f.problem.empty())
              f.problem = fmt::format("vertex {} is not finite", f.welded.size() + 1);
            f.welded.push_back(f.welder.add(is_finite ? Point{xyz[0], xyz[1], xyz[2]} : Point{}));
          },
      .triangle =
          [](void* to, const std::uint32_t* corners, std::uint32_t color) {
            auto& f = *static_cast<Collected*>(to);
            std::array<std::uint32_t, 3> triangle{};
            for (std::size_t k = 0; k < 3; ++k) {
              if (corners[k] >= f.welded.size()) {
                f.problem = fmt::format("there is no vertex {}, only {}", corners[k] + 1, f.welded.size());
                return;
              }
              triangle[k] = f.welded[corners[k]];
            }
            f.mesh.triangles.push_back(triangle);
            f.mesh.colors.push_back(color);
            f.is_colored = f.is_colored || color != MeshSink::kNoColor;
          },
      .refuse = [](void* to, const char* message) { static_cast<Collected*>(to)->problem = message; }};
  format->read(content.data(), content.size(), "dae", &sink);
  if (!found.problem.empty()) fail(file, 0, fmt::format("cannot be read: {}", excerpt(found.problem, 200)));
  if (!found.is_colored) found.mesh.colors.clear();
  return std::move(found.mesh);
}

}  // namespace

TriangleMesh mesh_of_text(std::string_view content, const std::string& file) {
  const std::string extension = lower(std::filesystem::path(file).extension().string());
  TriangleMesh mesh;
  if (extension == ".stl")
    mesh = stl(content, file);
  else if (extension == ".obj")
    mesh = obj(content, file);
  else if (extension == ".gltf" || extension == ".glb")
    mesh = Gltf(content, file).read();
  else if (extension == ".dae")
    mesh = collada(content, file);
  else
    fail(file, 0,
         fmt::format("expected a mesh of the format .stl, .obj, .gltf, .glb or .dae, got '{}'",
                     excerpt(extension)));
  if (mesh.triangles.empty()) fail(file, 0, "has no triangles");
  return mesh;
}

TriangleMesh read_mesh(const std::string& file) { return mesh_of_text(content_of(file), file); }

// Over the tetrahedra of an origin o and the triangles (a, b, c), with a, b, c relative to o and D = a . (b x c),
//   V = sum D/6,   integral x dV = sum D/24 (a + b + c),
//   integral x x^T dV = sum D/120 (s s^T + a a^T + b b^T + c c^T),   s = a + b + c
// With o in the middle of the mesh, little cancels when the covariance is taken about the centre.
Solid solid_of(const TriangleMesh& mesh, const std::string& file) {
  if (mesh.triangles.empty()) fail(file, 0, "has no triangles");
  // An edge of a closed surface is passed as often in one direction as in the other.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::array<int, 2>> edges;
  for (const auto& t : mesh.triangles)
    for (std::size_t i = 0; i < 3; ++i) {
      const std::uint32_t a = t[i], b = t[(i + 1) % 3];
      if (a != b) ++edges[std::minmax(a, b)][a < b ? 0 : 1];
    }
  std::size_t open = 0, turned = 0;
  const std::pair<std::uint32_t, std::uint32_t>* first = nullptr;
  for (const auto& [edge, passed] : edges) {
    if (passed[0] == passed[1]) continue;
    if (first == nullptr) first = &edge;
    ++((passed[0] + passed[1]) % 2 == 1 ? open : turned);
  }
  const auto shown = [&](std::uint32_t i) {
    return fmt::format("[{:.6g}, {:.6g}, {:.6g}]", mesh.vertices[i][0], mesh.vertices[i][1],
                       mesh.vertices[i][2]);
  };
  if (open > 0)
    fail(file, 0,
         fmt::format("the mesh is open: {} edges belong to one triangle only, the first from {} to {}", open,
                     shown(first->first), shown(first->second)),
         "close the holes, or give the body its mass and inertia; a shape without density and mass is only "
         "drawn");
  if (turned > 0)
    fail(file, 0,
         fmt::format("triangles on both sides of {} edges are oriented differently, the first from {} to {}",
                     turned, shown(first->first), shown(first->second)),
         "orient all triangles counter-clockwise seen from outside");

  Point low = mesh.vertices[mesh.triangles[0][0]], high = low;
  for (const auto& t : mesh.triangles)
    for (const std::uint32_t corner : t)
      for (std::size_t k = 0; k < 3; ++k) {
        low[k] = std::min(low[k], mesh.vertices[corner][k]);
        high[k] = std::max(high[k], mesh.vertices[corner][k]);
      }
  Point o;
  double box = 1;
  for (std::size_t k = 0; k < 3; ++k) o[k] = low[k] + (high[k] - low[k]) / 2, box *= high[k] - low[k];

  constexpr std::size_t kRow[] = {0, 1, 2, 1, 0, 0}, kColumn[] = {0, 1, 2, 2, 2, 1};
  double volume = 0;
  Point moment{};
  std::array<double, 6> second{};
  for (const auto& t : mesh.triangles) {
    std::array<Point, 3> v;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t k = 0; k < 3; ++k) v[i][k] = mesh.vertices[t[i]][k] - o[k];
    const auto& [a, b, c] = v;
    const double D = a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                     a[2] * (b[0] * c[1] - b[1] * c[0]);
    volume += D / 6;
    Point s;
    for (std::size_t k = 0; k < 3; ++k) s[k] = a[k] + b[k] + c[k], moment[k] += D / 24 * s[k];
    for (std::size_t k = 0; k < 6; ++k) {
      const std::size_t i = kRow[k], j = kColumn[k];
      second[k] += D / 120 * (s[i] * s[j] + a[i] * a[j] + b[i] * b[j] + c[i] * c[j]);
    }
  }
  // Round-off of a flat mesh is far below this part of its bounding box.
  constexpr double kSmallest = 1e-12;
  if (!std::isfinite(volume) || !(std::abs(volume) > kSmallest * box) || !(box > 0))
    fail(file, 0, fmt::format("the mesh encloses no volume, got {:.6g}", volume),
         "a mass from a density needs a volume");
  if (volume < 0)
    fail(
        file, 0,
        fmt::format(
            "the mesh is inside out: its triangles are clockwise seen from outside, and its volume is {:.6g}",
            volume),
        "reverse the order of the vertices of all triangles (\"flip normals\")");
  Solid out;
  out.volume = volume;
  for (std::size_t k = 0; k < 3; ++k) out.center[k] = o[k] + moment[k] / volume;
  for (std::size_t k = 0; k < 6; ++k)
    out.covariance[k] = second[k] / volume - moment[kRow[k]] / volume * (moment[kColumn[k]] / volume);
  return out;
}

TriangleMesh extruded(const std::vector<std::array<double, 2>>& polygon, double length) {
  std::vector<std::array<double, 2>> p = polygon;
  double area = 0;
  for (std::size_t i = 0; i < p.size(); ++i) area += cross({0, 0}, p[i], p[(i + 1) % p.size()]);
  if (area < 0) std::ranges::reverse(p);
  TriangleMesh out;
  const auto n = static_cast<std::uint32_t>(p.size());
  for (const double z : {-length / 2, length / 2})
    for (const auto& xy : p) out.vertices.push_back({xy[0], xy[1], z});
  for (const auto& t : ears(p)) {
    out.triangles.push_back({t[0], t[2], t[1]});
    out.triangles.push_back({n + t[0], n + t[1], n + t[2]});
  }
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t j = (i + 1) % n;
    out.triangles.push_back({i, j, n + j});
    out.triangles.push_back({i, n + j, n + i});
  }
  return out;
}

}  // namespace liedyn
