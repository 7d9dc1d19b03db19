#include "liedyn/io/write_gltf.h"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>
#include <vector>

#include "liedyn/base/error.h"
#include "liedyn/base/matrix.h"
#include "liedyn/base/version.h"
#include "liedyn/io/packed_array.h"
#include "liedyn/io/scene_check.h"

namespace liedyn {
namespace {

using Json = nlohmann::ordered_json;

// Numbers of the standard.
constexpr int kFloat = 5126, kUnsignedInt = 5125, kUnsignedShort = 5123;
constexpr int kVertices = 34962, kIndices = 34963;

// A closed surface with a normal at every vertex.
struct Surface {
  std::vector<float> positions, normals;
  std::vector<std::uint32_t> triangles;

  std::uint32_t add(const Vec3& p, const Vec3& n) {
    for (int i = 0; i < 3; ++i) positions.push_back(static_cast<float>(p[i]));
    for (int i = 0; i < 3; ++i) normals.push_back(static_cast<float>(n[i]));
    return static_cast<std::uint32_t>(positions.size() / 3 - 1);
  }
  void quad(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
    triangles.insert(triangles.end(), {a, b, c, a, c, d});
  }
};

Surface box(const Vec3& size) {
  Surface out;
  for (int axis = 0; axis < 3; ++axis)
    for (const double sign : {1.0, -1.0}) {
      const Vec3 n = sign * Vec3::Unit(axis), u = sign * Vec3::Unit((axis + 1) % 3),
                 v = Vec3::Unit((axis + 2) % 3);
      std::uint32_t corner[4];
      const double places[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
      for (int i = 0; i < 4; ++i)
        corner[i] = out.add(0.5 * (n + places[i][0] * u + places[i][1] * v).cwiseProduct(size), n);
      out.quad(corner[0], corner[1], corner[2], corner[3]);
    }
  return out;
}

// A profile (radius, z) with normals, turned about z. Neighbours at the same place have different normals: an edge.
struct ProfilePoint {
  double radius, z, normal_radius, normal_z;
};
Surface turned(const std::vector<ProfilePoint>& profile) {
  constexpr int kSteps = 24;
  Surface out;
  for (const ProfilePoint& p : profile)
    for (int i = 0; i <= kSteps; ++i) {
      const double angle = 2 * std::numbers::pi * i / kSteps, c = std::cos(angle), s = std::sin(angle);
      out.add({p.radius * c, p.radius * s, p.z},
              Vec3(p.normal_radius * c, p.normal_radius * s, p.normal_z).normalized());
    }
  constexpr std::uint32_t kRow = kSteps + 1;
  for (std::uint32_t k = 0; k + 1 < profile.size(); ++k) {
    if (profile[k].radius == profile[k + 1].radius && profile[k].z == profile[k + 1].z) continue;
    for (std::uint32_t i = 0; i < kSteps; ++i) {
      const std::uint32_t a = k * kRow + i, b = a + kRow;
      if (profile[k].radius > 0) out.triangles.insert(out.triangles.end(), {a, a + 1, b + 1});
      if (profile[k + 1].radius > 0) out.triangles.insert(out.triangles.end(), {a, b + 1, b});
    }
  }
  return out;
}
Surface cylinder(double r, double inner, double top, double length) {
  const double h = 0.5 * length;
  std::vector<ProfilePoint> p = {{inner, -h, 0, -1}, {r, -h, 0, -1}, {r, -h, 1, 0}};
  // A cone has its tip at the top.
  p[2].normal_z = (r - top) / length;
  p.push_back({top, h, 1, (r - top) / length});
  if (top > 0) p.insert(p.end(), {{top, h, 0, 1}, {inner, h, 0, 1}});
  if (inner > 0) p.insert(p.end(), {{inner, h, -1, 0}, {inner, -h, -1, 0}});
  return turned(p);
}
// Two half spheres, `length` apart.
Surface capsule(double r, double length) {
  constexpr int kSteps = 16;
  std::vector<ProfilePoint> p;
  for (int i = 0; i <= kSteps; ++i) {
    const double angle = std::numbers::pi * i / kSteps, s = i == 0 || i == kSteps ? 0 : std::sin(angle);
    const double side = i <= kSteps / 2 ? -0.5 : 0.5;
    p.push_back({r * s, -r * std::cos(angle) + side * length, s, -std::cos(angle)});
    if (i == kSteps / 2 && length > 0) p.push_back({r, 0.5 * length, 1, 0});
  }
  return turned(p);
}

Surface mesh(const std::vector<double>& vertices, const std::vector<double>& triangles) {
  Surface out;
  out.positions.assign(vertices.begin(), vertices.end());
  out.triangles.assign(triangles.begin(), triangles.end());
  return out;
}

Vec3 vector_of(const Json& j) { return {j[0].get<double>(), j[1].get<double>(), j[2].get<double>()}; }

Surface surface_of(const Json& shape) {
  const std::string type = shape["type"];
  const double r = shape.value("radius", 0.0), length = shape.value("length", 0.0);
  if (type == "box") return box(vector_of(shape["size"]));
  if (type == "sphere") return capsule(r, 0);
  if (type == "cylinder") return cylinder(r, 0, r, length);
  if (type == "tube") return cylinder(r, shape.value("inner", 0.0), r, length);
  if (type == "cone") return cylinder(r, 0, 0, length);
  if (type == "capsule") return capsule(r, length);
  if (type == "ellipsoid") {
    Surface out = capsule(1, 0);
    const Vec3 radii = vector_of(shape["radii"]);
    for (std::size_t i = 0; i < out.positions.size(); ++i) {
      out.positions[i] *= static_cast<float>(radii[static_cast<Eigen::Index>(i % 3)]);
      out.normals[i] /= static_cast<float>(radii[static_cast<Eigen::Index>(i % 3)]);
    }
    for (std::size_t i = 0; i < out.normals.size(); i += 3) {
      const Eigen::Vector3f n = Eigen::Map<Eigen::Vector3f>(&out.normals[i]).normalized();
      Eigen::Map<Eigen::Vector3f>{&out.normals[i]} = n;
    }
    return out;
  }
  return mesh(unpack_array(shape["vertices"], "vertices"), unpack_array(shape["triangles"], "triangles"));
}

// Linear colour values of a palette that is easy on the eye, bodies in turn.
constexpr std::array<std::array<double, 3>, 6> kPalette = {{{0.12, 0.30, 0.55},
                                                            {0.75, 0.33, 0.08},
                                                            {0.10, 0.42, 0.25},
                                                            {0.45, 0.13, 0.40},
                                                            {0.62, 0.52, 0.10},
                                                            {0.25, 0.27, 0.30}}};

// The surface of a flexible body: the weights of its morph targets at all times, of which the first `linear` are modal coordinates and the others products of two.
struct Morph {
  int node;
  std::size_t count, linear;
  std::vector<float> weights;
};

// Of a scene that check_scene has accepted.
class Writer {
 public:
  explicit Writer(const Json& scene) : scene_(scene) {
    gltf_ = {{"asset", {{"version", "2.0"}, {"generator", "Liedyn " + std::string(version())}}},
             {"scene", 0},
             {"scenes", {{{"name", scene.value("title", "")}, {"nodes", {0}}}}},
             {"nodes", Json::array()}};
    const std::vector<double> times = unpack_array(scene["times"], "times");
    // Load factors are shown as seconds; a model alone stands still.
    // Times of an animation increase: of the states before and after an event it has the later one.
    for (std::size_t row = 0; row < times.size(); ++row) {
      const auto t = static_cast<float>(times[row] - times[0]);
      if (times_.empty() || t > times_.back())
        times_.push_back(t), rows_.push_back(row);
      else
        rows_.back() = row;
    }
    F_ = scene["frames"].size();
    positions_ = unpack_array(scene["positions"], "positions");
    rotations_ = unpack_array(scene["rotations"], "rotations");
  }

  std::string write() {
    root();
    add_frames();
    std::size_t color = 0;
    for (const Json& body : scene_["bodies"]) {
      const std::string kind = body["kind"];
      if (kind == "beam")
        add_beam(body, color++);
      else if (kind == "flexible")
        add_flexible(body, color++);
      else
        add_shapes(body, kind == "ground" ? kPalette.size() - 1 : color++);
    }
    if (scene_.value("kind", "") == "modes")
      animate_modes();
    else
      animate_motion();
    return packed();
  }

 private:
  // ---- data

  int view(const void* data, std::size_t size, int target) {
    while (bytes_.size() % 4 != 0) bytes_ += '\0';
    Json one = {{"buffer", 0}, {"byteOffset", bytes_.size()}, {"byteLength", size}};
    if (target != 0) one["target"] = target;
    bytes_.append(static_cast<const char*>(data), size);
    gltf_["bufferViews"].push_back(std::move(one));
    return static_cast<int>(gltf_["bufferViews"].size()) - 1;
  }
  template <class T>
  int accessor(const std::vector<T>& values, int type, const char* shape, std::size_t width, int target,
               bool bounds = false) {
    Json one = {{"bufferView", view(values.data(), values.size() * sizeof(T), target)},
                {"componentType", type},
                {"count", values.size() / width},
                {"type", shape}};
    if (bounds) {
      std::vector<T> low(width, std::numeric_limits<T>::max()), high(width, std::numeric_limits<T>::lowest());
      for (std::size_t i = 0; i < values.size(); ++i) {
        low[i % width] = std::min(low[i % width], values[i]);
        high[i % width] = std::max(high[i % width], values[i]);
      }
      one["min"] = low, one["max"] = high;
    }
    gltf_["accessors"].push_back(std::move(one));
    return static_cast<int>(gltf_["accessors"].size()) - 1;
  }
  int points(const std::vector<float>& values, int target = kVertices, bool bounds = false) {
    return accessor(values, kFloat, "VEC3", 3, target, bounds);
  }

  int add_node(Json node, int parent) {
    gltf_["nodes"].push_back(std::move(node));
    const int index = static_cast<int>(gltf_["nodes"].size()) - 1;
    if (parent >= 0) gltf_["nodes"][static_cast<std::size_t>(parent)]["children"].push_back(index);
    return index;
  }

  int material(std::size_t color, const std::string& given = {}) {
    Json factor;
    if (!given.empty()) {
      for (std::size_t i = 0; i < 3; ++i) {
        const double x = std::stoi(given.substr(1 + 2 * i, 2), nullptr, 16) / 255.0;
        factor.push_back(x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4));
      }
    } else {
      factor = kPalette[color % kPalette.size()];
    }
    factor.push_back(1.0);
    const auto [it, is_new] = materials_.try_emplace(factor.dump(), static_cast<int>(materials_.size()));
    if (is_new)
      gltf_["materials"].push_back(
          {{"pbrMetallicRoughness",
            {{"baseColorFactor", factor}, {"metallicFactor", 0.1}, {"roughnessFactor", 0.6}}},
           {"doubleSided", true}});
    return it->second;
  }

  Json primitive(const Surface& s, int material) {
    Json out = {{"attributes", {{"POSITION", points(s.positions, kVertices, true)}}},
                {"indices", accessor(s.triangles, kUnsignedInt, "SCALAR", 1, kIndices)},
                {"material", material}};
    if (!s.normals.empty()) out["attributes"]["NORMAL"] = points(s.normals);
    return out;
  }

  // ---- nodes

  // glTF has y upwards.
  void root() {
    const Vec3 gravity = vector_of(scene_["gravity"]);
    const bool planar = scene_.value("planar", false);
    const Vec3 up = gravity.norm() > 0 ? Vec3(-gravity.normalized())
                    : planar           ? Vec3(Vec3::UnitY())
                                       : Vec3(Vec3::UnitZ());
    const Eigen::Quaterniond q = Eigen::Quaterniond::FromTwoVectors(up, Vec3::UnitY());
    add_node({{"name", scene_.value("title", "")}, {"rotation", {q.x(), q.y(), q.z(), q.w()}}}, -1);
  }

  std::array<float, 4> rotation(std::size_t row, std::size_t frame) const {
    const double* q = &rotations_[4 * (row * F_ + frame)];
    const double norm = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    return {static_cast<float>(q[1] / norm), static_cast<float>(q[2] / norm), static_cast<float>(q[3] / norm),
            static_cast<float>(q[0] / norm)};
  }

  void add_frames() {
    for (std::size_t f = 0; f < F_; ++f)
      frame_nodes_.push_back(
          add_node({{"name", scene_["frames"][f]},
                    {"translation", {positions_[3 * f], positions_[3 * f + 1], positions_[3 * f + 2]}},
                    {"rotation", rotation(0, f)}},
                   0));
  }
  int frame_node(const Json& body) const {
    const int frame = body["frame"];
    return frame < 0 ? 0 : frame_nodes_.at(static_cast<std::size_t>(frame));
  }

  void add_shapes(const Json& body, std::size_t color) {
    for (const Json& shape : body["shapes"]) {
      const int own = material(color, shape.value("color", ""));
      // Equal shapes are one mesh.
      Json key = shape;
      for (const char* place : {"at", "rotation", "derived", "color"}) key.erase(place);
      const auto [it, is_new] = meshes_.try_emplace(key.dump() + std::to_string(own), -1);
      if (is_new) {
        gltf_["meshes"].push_back({{"primitives", {primitive(surface_of(shape), own)}}});
        it->second = static_cast<int>(gltf_["meshes"].size()) - 1;
      }
      Json node = {{"mesh", it->second}};
      if (shape.contains("at")) node["translation"] = shape["at"];
      if (shape.contains("rotation")) {
        const Json& q = shape["rotation"];
        const Eigen::Quaterniond unit = Eigen::Quaterniond(q[0], q[1], q[2], q[3]).normalized();
        node["rotation"] = {unit.x(), unit.y(), unit.z(), unit.w()};
      }
      add_node(std::move(node), frame_node(body));
    }
  }

  // A surface around the nodes of the beam, whose sections move with them: a skin.
  void add_beam(const Json& body, std::size_t color) {
    const Json &nodes = body["nodes"], &section = body["section"];
    const auto ring = [&](double x) {
      std::vector<std::pair<double, double>> out;
      const auto number = [&](const char* key) {
        const double first = section.value(key, 0.0);
        return section.contains("end") ? (1 - x) * first + x * section["end"].value(key, first) : first;
      };
      constexpr int kSteps = 16;
      if (section["type"] != "rectangle") {
        for (int i = 0; i < kSteps; ++i) {
          const double angle = 2 * std::numbers::pi * i / kSteps;
          out.emplace_back(number("radius") * std::cos(angle), number("radius") * std::sin(angle));
        }
        return out;
      }
      const double y = 0.5 * number("width"), z = 0.5 * number("height");
      out = {{y, z}, {-y, z}, {-y, -z}, {y, -z}};
      return out;
    };
    Surface s;
    std::vector<std::uint16_t> joints;
    std::vector<float> weights, binds;
    const std::size_t N = nodes.size();
    Json skin = {{"joints", Json::array()}};
    std::uint32_t size = 0;
    for (std::size_t i = 0; i < N; ++i) {
      const std::size_t f = nodes[i];
      const double* q = &rotations_[4 * f];
      const Eigen::Quaterniond R = Eigen::Quaterniond(q[0], q[1], q[2], q[3]).normalized();
      const Vec3 p(positions_[3 * f], positions_[3 * f + 1], positions_[3 * f + 2]);
      const auto corners = ring(N > 1 ? static_cast<double>(i) / static_cast<double>(N - 1) : 0);
      size = static_cast<std::uint32_t>(corners.size());
      for (const auto& [y, z] : corners) {
        s.add(p + R * Vec3(0, y, z), Vec3::UnitX());
        joints.insert(joints.end(), {static_cast<std::uint16_t>(i), 0, 0, 0});
        weights.insert(weights.end(), {1, 0, 0, 0});
      }
      Eigen::Isometry3d bind = Eigen::Isometry3d::Identity();
      bind.translate(p).rotate(R);
      const Eigen::Matrix4f inverse = bind.inverse().matrix().cast<float>();
      binds.insert(binds.end(), inverse.data(), inverse.data() + 16);
      binds[binds.size() - 1] = 1;
      for (const std::size_t k : {13U, 9U, 5U}) binds[binds.size() - k] = 0;
      skin["joints"].push_back(frame_nodes_.at(f));
    }
    for (std::uint32_t i = 0; i + 1 < N; ++i)
      for (std::uint32_t k = 0; k < size; ++k)
        s.quad(i * size + k, i * size + (k + 1) % size, (i + 1) * size + (k + 1) % size, (i + 1) * size + k);
    for (std::uint32_t k = 1; k + 1 < size; ++k) {
      const auto last = static_cast<std::uint32_t>((N - 1) * size);
      s.triangles.insert(s.triangles.end(), {0, k + 1, k, last, last + k, last + k + 1});
    }
    s.normals.clear();  // flat walls
    skin["inverseBindMatrices"] = accessor(binds, kFloat, "MAT4", 16, 0);
    gltf_["skins"].push_back(std::move(skin));
    Json one = primitive(s, material(color));
    one["attributes"]["JOINTS_0"] = accessor(joints, kUnsignedShort, "VEC4", 4, kVertices);
    one["attributes"]["WEIGHTS_0"] = accessor(weights, kFloat, "VEC4", 4, kVertices);
    gltf_["meshes"].push_back({{"primitives", {std::move(one)}}});
    // Where a skin hangs does not matter: it follows its joints.
    gltf_["scenes"][0]["nodes"].push_back(add_node(
        {{"name", body["name"]}, {"mesh", gltf_["meshes"].size() - 1}, {"skin", gltf_["skins"].size() - 1}},
        -1));
  }

  // Modes are morph targets.
  void add_flexible(const Json& body, std::size_t color) {
    const std::vector<double> vertices = unpack_array(body["vertices"], "vertices");
    Json one = primitive(mesh(vertices, unpack_array(body["triangles"], "triangles")), material(color));
    const std::vector<double> modes = unpack_array(body["modes"], "modes"),
                              coordinates = unpack_array(body["coordinates"], "coordinates");
    const std::size_t K = vertices.empty() ? 0 : modes.size() / vertices.size();
    for (std::size_t k = 0; k < K; ++k) {
      const auto first = modes.begin() + static_cast<std::ptrdiff_t>(k * vertices.size());
      one["targets"].push_back(
          {{"POSITION",
            points({first, first + static_cast<std::ptrdiff_t>(vertices.size())}, kVertices, true)}});
    }
    std::vector<float> weights(coordinates.begin(), coordinates.end());
    Json whole = {{"primitives", {std::move(one)}}};
    if (K > 0)
      whole["weights"] =
          std::vector<float>(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(K));
    gltf_["meshes"].push_back(std::move(whole));
    const int node =
        add_node({{"name", std::string(body["name"]) + " surface"}, {"mesh", gltf_["meshes"].size() - 1}},
                 frame_node(body));
    morphs_.push_back({node, K, std::min(K, body.value("mode_count", K)), std::move(weights)});
  }

  // ---- motion

  void begin_animation(const std::string& name, int times) {
    time_accessor_ = times;
    gltf_["animations"].push_back({{"name", name}, {"samplers", Json::array()}, {"channels", Json::array()}});
  }
  void animate(int node, const char* what, int output) {
    Json& animation = gltf_["animations"].back();
    animation["channels"].push_back(
        {{"sampler", animation["samplers"].size()}, {"target", {{"node", node}, {"path", what}}}});
    animation["samplers"].push_back(
        {{"input", time_accessor_}, {"interpolation", "LINEAR"}, {"output", output}});
  }
  void animate_frame(std::size_t frame, const std::vector<float>& places, const std::vector<float>& turns) {
    animate(frame_nodes_[frame], "translation", points(places, 0));
    animate(frame_nodes_[frame], "rotation", accessor(turns, kFloat, "VEC4", 4, 0));
  }
  void animate_weights(const Morph& morph, const std::vector<float>& weights) {
    if (morph.count > 0) animate(morph.node, "weights", accessor(weights, kFloat, "SCALAR", 1, 0));
  }
  int time_line(const std::vector<float>& times) { return accessor(times, kFloat, "SCALAR", 1, 0, true); }

  void animate_motion() {
    if (times_.size() < 2 || F_ == 0) return;
    begin_animation("motion", time_line(times_));
    for (std::size_t f = 0; f < F_; ++f) {
      std::vector<float> places, turns;
      for (const std::size_t row : rows_) {
        for (std::size_t i = 0; i < 3; ++i)
          places.push_back(static_cast<float>(positions_[3 * (row * F_ + f) + i]));
        const std::array<float, 4> q = rotation(row, f);
        turns.insert(turns.end(), q.begin(), q.end());
      }
      animate_frame(f, places, turns);
    }
    for (const Morph& morph : morphs_) {
      std::vector<float> weights;
      for (const std::size_t row : rows_)
        weights.insert(weights.end(), morph.weights.begin() + static_cast<std::ptrdiff_t>(row * morph.count),
                       morph.weights.begin() + static_cast<std::ptrdiff_t>((row + 1) * morph.count));
      animate_weights(morph, weights);
    }
  }

  // Each mode is an animation of its own, one period in a second: with the amplitude a and the phase s
  //
  //   p + a Re(d exp(i s)),    exp(a Re(r exp(i s))) R,    eta + a Re(c exp(i s))
  //
  // where d, r and c are displacements, rotations and modal coordinates of the mode. Its largest displacement is the share of the size that pages begin with.
  void animate_modes() {
    constexpr int kSteps = 32;
    constexpr double kShare = 0.12;
    if (F_ == 0) return;
    const double amplitude = kShare * scene_.value("size", 1.0);
    std::vector<float> times;
    for (int k = 0; k <= kSteps; ++k) times.push_back(static_cast<float>(k) / kSteps);
    const int line = time_line(times);
    int number = 0;
    for (const Json& mode : scene_["mode_list"]) {
      const double frequency = mode.value("frequency", 0.0);
      const std::string swings = frequency > 0 ? fmt::format("{:.4g} Hz", frequency) : "no oscillation";
      begin_animation(fmt::format("mode {}, {}", ++number, swings), line);
      const std::vector<double> d = unpack_array(mode["displacement"], "displacement"),
                                c = unpack_array(mode["coordinates"], "coordinates");
      const auto at_step = [&](const std::vector<double>& values, std::size_t n, int k) {
        const double phase = 2 * std::numbers::pi * (k % kSteps) / kSteps;
        return amplitude * (std::cos(phase) * values[2 * n] - std::sin(phase) * values[2 * n + 1]);
      };
      for (std::size_t f = 0; f < F_; ++f) {
        std::vector<float> places, turns;
        for (int k = 0; k <= kSteps; ++k) {
          for (std::size_t i = 0; i < 3; ++i)
            places.push_back(static_cast<float>(positions_[3 * f + i] + at_step(d, 6 * f + i, k)));
          const Vec3 r(at_step(d, 6 * f + 3, k), at_step(d, 6 * f + 4, k), at_step(d, 6 * f + 5, k));
          const std::array<float, 4> rest = rotation(0, f);
          const Eigen::Quaterniond turn(Eigen::AngleAxisd(r.norm(), r.stableNormalized()));
          const Eigen::Quaterniond q =
              (turn * Eigen::Quaterniond(rest[3], rest[0], rest[1], rest[2])).normalized();
          for (const double x : {q.x(), q.y(), q.z(), q.w()}) turns.push_back(static_cast<float>(x));
        }
        animate_frame(f, places, turns);
      }
      std::size_t first = 0;
      for (const Morph& morph : morphs_) {
        std::vector<float> weights;
        for (int k = 0; k <= kSteps; ++k)
          for (std::size_t i = 0; i < morph.count; ++i)
            weights.push_back(morph.weights[i] +
                              (i < morph.linear ? static_cast<float>(at_step(c, first + i, k)) : 0));
        animate_weights(morph, weights);
        first += morph.linear;
      }
    }
  }

  // Header, then JSON and numbers as two chunks of whole words.
  std::string packed() {
    while (bytes_.size() % 4 != 0) bytes_ += '\0';
    gltf_["buffers"] = {{{"byteLength", bytes_.size()}}};
    std::string text = gltf_.dump(-1, ' ', false, Json::error_handler_t::replace);
    while (text.size() % 4 != 0) text += ' ';
    std::string out;
    const auto word = [&](std::size_t value) {
      const auto w = static_cast<std::uint32_t>(value);
      out.append(reinterpret_cast<const char*>(&w), sizeof w);
    };
    const std::size_t total = 12 + 8 + text.size() + 8 + bytes_.size();
    if (total > std::numeric_limits<std::uint32_t>::max())
      throw InputError("", "the scene is too large for a .glb file", "use fewer frames: --frames N");
    out += "glTF";
    word(2), word(total);
    word(text.size()), out += "JSON", out += text;
    word(bytes_.size()), out.append("BIN\0", 4), out += bytes_;
    return out;
  }

  const Json& scene_;
  Json gltf_;
  std::string bytes_;
  std::size_t F_ = 0;
  std::vector<float> times_;       // of the animation
  std::vector<std::size_t> rows_;  // of the scene, at these times
  std::vector<double> positions_, rotations_;
  std::vector<int> frame_nodes_;
  std::vector<Morph> morphs_;
  std::map<std::string, int> materials_, meshes_;
  int time_accessor_ = -1;
};

}  // namespace

std::string gltf_of(const std::string& scene) {
  const Json json = Json::parse(scene, nullptr, false);
  check_scene(json);
  return Writer(json).write();
}

}  // namespace liedyn
