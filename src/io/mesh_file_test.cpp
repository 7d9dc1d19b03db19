#include "liedyn/io/mesh_file.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <string_view>
#include <tuple>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <Eigen/Core>
#include <Eigen/Geometry>

#include "liedyn/base/error.h"
#include "liedyn/base/paths.h"

namespace liedyn {
namespace {

using Vec3d = Eigen::Vector3d;

// An icosahedron whose triangles are divided and moved onto an ellipsoid.
TriangleMesh ellipsoid(int divisions, const Vec3d& radii, const Vec3d& center) {
  const double g = (1 + std::sqrt(5.0)) / 2;
  std::vector<Vec3d> v;
  for (const double a : {-1.0, 1.0})
    for (const double b : {-g, g}) v.insert(v.end(), {Vec3d(0, a, b), Vec3d(a, b, 0), Vec3d(b, 0, a)});
  std::vector<std::array<std::uint32_t, 3>> triangles;
  for (std::uint32_t i = 0; i < 12; ++i)
    for (std::uint32_t j = i + 1; j < 12; ++j)
      for (std::uint32_t k = j + 1; k < 12; ++k) {
        const auto near = [&](std::uint32_t a, std::uint32_t b) {
          return std::abs((v[a] - v[b]).norm() - 2) < 1e-9;
        };
        if (!near(i, j) || !near(j, k) || !near(i, k)) continue;
        const bool outward = v[i].dot(v[j].cross(v[k])) > 0;
        triangles.push_back(outward ? std::array{i, j, k} : std::array{i, k, j});
      }
  for (int d = 0; d < divisions; ++d) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> middles;
    const auto middle = [&](std::uint32_t a, std::uint32_t b) {
      const auto [found, is_new] =
          middles.try_emplace(std::minmax(a, b), static_cast<std::uint32_t>(v.size()));
      if (is_new) v.emplace_back((v[a] + v[b]) / 2);
      return found->second;
    };
    std::vector<std::array<std::uint32_t, 3>> finer;
    for (const auto& [a, b, c] : triangles) {
      const std::uint32_t ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
      finer.insert(finer.end(), {{a, ab, ca}, {ab, b, bc}, {ca, bc, c}, {ab, bc, ca}});
    }
    triangles = finer;
  }
  TriangleMesh out;
  for (const Vec3d& x : v) {
    const Vec3d p = center + radii.cwiseProduct(x.normalized());
    out.vertices.push_back({p[0], p[1], p[2]});
  }
  out.triangles = triangles;
  return out;
}

// Independent of tetrahedra: surface integrals, e.g. of x^2 y/2 n_x for the integral of x y, by a quadrature of degree 5 on each triangle.
Solid by_surface(const TriangleMesh& mesh) {
  const double s = std::sqrt(15.0), a = (6 - s) / 21, b = (6 + s) / 21;
  const double w[] = {9.0 / 40, (155 - s) / 1200, (155 + s) / 1200};
  double V = 0;
  Vec3d first = Vec3d::Zero();
  Eigen::Matrix3d second = Eigen::Matrix3d::Zero();
  for (const auto& t : mesh.triangles) {
    const auto at = [&](int i) { return Vec3d(mesh.vertices[t[static_cast<std::size_t>(i)]].data()); };
    const Vec3d n = (at(1) - at(0)).cross(at(2) - at(0)) / 2;
    const auto add = [&](double l0, double l1, double weight) {
      const Vec3d p = l0 * at(0) + l1 * at(1) + (1 - l0 - l1) * at(2);
      V += weight * p.dot(n) / 3;
      for (int i = 0; i < 3; ++i) {
        first[i] += weight * p[i] * p[i] / 2 * n[i];
        second(i, i) += weight * p[i] * p[i] * p[i] / 3 * n[i];
        const int j = (i + 1) % 3;
        second(i, j) += weight * p[i] * p[i] / 2 * p[j] * n[i];
      }
    };
    add(1.0 / 3, 1.0 / 3, w[0]);
    for (const auto& [l, weight] : {std::pair(a, w[1]), std::pair(b, w[2])})
      add(l, l, weight), add(l, 1 - 2 * l, weight), add(1 - 2 * l, l, weight);
  }
  Solid out;
  out.volume = V;
  const Vec3d c = first / V;
  out.center = {c[0], c[1], c[2]};
  out.covariance = {second(0, 0) / V - c[0] * c[0], second(1, 1) / V - c[1] * c[1],
                    second(2, 2) / V - c[2] * c[2], second(1, 2) / V - c[1] * c[2],
                    second(2, 0) / V - c[0] * c[2], second(0, 1) / V - c[0] * c[1]};
  return out;
}

TEST(MeshFile, SolidsAgreeWithSurfaceIntegralsAndConvergeToTheEllipsoid) {
  const Vec3d radii(0.3, 0.5, 0.8), center(0.2, -0.1, 0.4);
  double before = 0;
  for (const int divisions : {1, 2, 3, 4}) {
    const TriangleMesh mesh = ellipsoid(divisions, radii, center);
    const Solid solid = solid_of(mesh, "mesh"), surface = by_surface(mesh);
    EXPECT_NEAR(solid.volume, surface.volume, 1e-13 * surface.volume);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(solid.center[i], surface.center[i], 1e-13);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(solid.covariance[i], surface.covariance[i], 1e-13);
    const double exact = 4 * M_PI / 3 * radii.prod(), error = 1 - solid.volume / exact;
    if (before > 0) {
      EXPECT_NEAR(before / error, 4, 0.3);
    }  // second order in the size of the triangles
    before = error;
    if (divisions == 4) {
      for (std::size_t i = 0; i < 3; ++i)
        EXPECT_NEAR(solid.covariance[i], radii[static_cast<int>(i)] * radii[static_cast<int>(i)] / 5, 2e-3);
    }
  }
}

// A box far from the origin loses few digits.
TEST(MeshFile, ASolidFarAwayKeepsItsInertia) {
  TriangleMesh box = extruded({{0, 0}, {0.5, 0}, {0.5, 0.25}, {0, 0.25}}, 1);
  for (auto& v : box.vertices) v[0] += 1024, v[1] -= 2048;
  const Solid solid = solid_of(box, "box");
  EXPECT_NEAR(solid.volume, 0.125, 1e-15);
  EXPECT_NEAR(solid.covariance[0], 0.25 / 12, 1e-15);
  EXPECT_NEAR(solid.covariance[1], 0.0625 / 12, 1e-15);
  EXPECT_NEAR(solid.center[0], 1024.25, 1e-12);
}

// ---- files

std::string bytes_of(const void* data, std::size_t size) { return {static_cast<const char*>(data), size}; }
template <class T>
std::string bytes_of(T value) {
  return bytes_of(&value, sizeof value);
}

std::string binary_stl(const TriangleMesh& mesh) {
  std::string out(80, ' ');
  out.replace(0, 5, "solid");
  out += bytes_of(static_cast<std::uint32_t>(mesh.triangles.size()));
  for (const auto& t : mesh.triangles) {
    out += std::string(12, '\0');
    for (const std::uint32_t i : t)
      for (const double x : mesh.vertices[i]) out += bytes_of(static_cast<float>(x));
    out += std::string(2, '\0');
  }
  return out;
}
std::string ascii_stl(const TriangleMesh& mesh) {
  std::string out = "solid test\n";
  for (const auto& t : mesh.triangles) {
    out += " facet normal 0 0 0\n  outer loop\n";
    for (const std::uint32_t i : t)
      out += fmt::format("   vertex {} {:e} +{}\r\n", mesh.vertices[i][0], mesh.vertices[i][1],
                         std::abs(mesh.vertices[i][2]));
    out += "  endloop\n endfacet\n";
  }
  return out + "endsolid test\n";
}
std::string obj(const TriangleMesh& mesh) {
  std::string out = "# test\nmtllib x.mtl\no thing\n";
  for (const auto& v : mesh.vertices) out += fmt::format("v {} {} {}\n", v[0], v[1], v[2]);
  out += "vn 0 0 1\n";
  for (const auto& t : mesh.triangles)
    out += fmt::format("f {}//1 {}/1/1 {}\n", t[0] + 1, t[1] + 1,
                       static_cast<long>(t[2]) - static_cast<long>(mesh.vertices.size()));
  return out;
}
// With a node that moves, turns by 90 degrees about z and scales by two.
std::string glb(const TriangleMesh& mesh) {
  std::string data;
  for (const auto& v : mesh.vertices)
    for (const double x : v) data += bytes_of(static_cast<float>(x));
  const std::size_t vertices = data.size();
  for (const auto& t : mesh.triangles)
    for (const std::uint32_t i : t) data += bytes_of(static_cast<std::uint16_t>(i));
  std::string text = fmt::format(
      R"({{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],
"nodes":[{{"children":[1],"translation":[1,0,0]}},{{"mesh":0,"rotation":[0,0,0.7071067811865476,0.7071067811865476],"scale":[2,2,2]}}],
"meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"indices":1}}]}}],
"buffers":[{{"byteLength":{}}}],"bufferViews":[{{"buffer":0,"byteLength":{}}},{{"buffer":0,"byteOffset":{},"byteLength":{}}}],
"accessors":[{{"bufferView":0,"componentType":5126,"count":{},"type":"VEC3"}},{{"bufferView":1,"componentType":5123,"count":{},"type":"SCALAR"}}]}})",
      data.size(), vertices, vertices, data.size() - vertices, mesh.vertices.size(),
      3 * mesh.triangles.size());
  while (text.size() % 4 != 0) text += ' ';
  while (data.size() % 4 != 0) data += '\0';
  return "glTF" + bytes_of(std::uint32_t{2}) +
         bytes_of(static_cast<std::uint32_t>(28 + text.size() + data.size())) +
         bytes_of(static_cast<std::uint32_t>(text.size())) + "JSON" + text +
         bytes_of(static_cast<std::uint32_t>(data.size())) + std::string("BIN\0", 4) + data;
}

TEST(MeshFile, AllFormatsGiveTheSameSolid) {
  const TriangleMesh prism =
      extruded({{0, 0}, {0.5, 0}, {0.5, 0.25}, {0.125, 0.25}, {0.125, 1}, {0, 1}}, 0.5);
  const Solid exact = solid_of(prism, "prism");
  for (const auto& [content, file] :
       {std::pair(binary_stl(prism), "a.stl"), std::pair(obj(prism), "a.OBJ")}) {
    const Solid solid = solid_of(mesh_of_text(content, file), file);
    EXPECT_NEAR(solid.volume, exact.volume, 1e-15) << file;
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(solid.covariance[i], exact.covariance[i], 1e-15) << file;
  }
  TriangleMesh above = prism;
  for (auto& v : above.vertices) v[2] += 0.25;
  EXPECT_NEAR(solid_of(mesh_of_text(ascii_stl(above), "a.stl"), "a.stl").volume, exact.volume, 1e-15);
  const Solid turned = solid_of(mesh_of_text(glb(prism), "a.glb"), "a.glb");
  EXPECT_NEAR(turned.volume, 8 * exact.volume, 1e-14);
  EXPECT_NEAR(turned.center[0], 1 - 2 * exact.center[1], 1e-14);
  EXPECT_NEAR(turned.center[1], 2 * exact.center[0], 1e-14);
  EXPECT_NEAR(turned.covariance[0], 4 * exact.covariance[1], 1e-14);
  EXPECT_NEAR(turned.covariance[5], -4 * exact.covariance[5], 1e-14);
}

std::string mesh_complaint(const std::string& content, const std::string& file) {
  try {
    solid_of(mesh_of_text(content, file), file);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(MeshFile, NamesWhatIsWrong) {
  TriangleMesh box = extruded({{0, 0}, {1, 0}, {1, 1}, {0, 1}}, 1);
  const std::string whole = binary_stl(box);
  TriangleMesh open = box, turned = box, inside = box;
  open.triangles.pop_back();
  std::swap(turned.triangles[0][0], turned.triangles[0][1]);
  for (auto& t : inside.triangles) std::swap(t[0], t[1]);
  std::string huge = whole, nan = whole;
  std::memcpy(huge.data() + 80, "\xff\xff\xff\xff", 4);
  std::memcpy(nan.data() + 84 + 12, "\x00\x00\xc0\x7f", 4);
  const TriangleMesh flat{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}, {0, 2, 1}}};
  const std::tuple<std::string, const char*, const char*> cases[] = {
      {binary_stl(open), "a.stl", "a.stl: the mesh is open: 3 edges belong to one triangle only"},
      {binary_stl(turned), "a.stl", "triangles on both sides of 3 edges are oriented differently"},
      {binary_stl(inside), "a.stl", "the mesh is inside out"},
      {binary_stl(inside), "a.stl", "reverse the order of the vertices"},
      {binary_stl(flat), "a.stl", "the mesh encloses no volume"},
      {binary_stl({}), "a.stl", "has no triangles"},
      {huge, "a.stl", "the header announces 4294967295 triangles"},
      {nan, "a.stl", "vertex 1 is not finite"},
      {whole.substr(0, whole.size() - 10), "a.stl", "the header announces 12 triangles"},
      {"", "a.stl", "is neither an ASCII nor a binary STL file"},
      {"solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 nan\n", "a.stl",
       "a.stl:4: expected a finite number"},
      {"solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 zero\n", "a.stl",
       "a.stl:4: expected a number, got 'zero'"},
      {"solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\n", "a.stl", "the file ends within a facet"},
      {"v 0 0 0\nf 1 2 3\n", "a.obj", "a.obj:2: there is no vertex 2, only 1 so far"},
      {"v 0 0\n", "a.obj", "a.obj:1: expected a number, got ''"},
      {"v 0 0 0\nf 1 1\n", "a.obj", "expected a face of three vertices or more, got 2"},
      {"{}", "a.gltf", "has no triangles"},
      {"[]", "a.gltf", "expected an object"},
      {R"({"extensionsRequired": ["KHR_draco_mesh_compression"]})", "a.gltf",
       "needs the extension 'KHR_draco_mesh_compression'"},
      {R"({"scenes": [{"nodes": [0]}], "nodes": [{"children": [0]}]})", "a.gltf",
       "nodes are nested too deeply, or form a cycle"},
      {"x", "a.ply", "expected a mesh of the format .stl, .obj, .gltf, .glb or .dae, got '.ply'"},
  };
  for (const auto& [content, file, message] : cases)
    EXPECT_NE(mesh_complaint(content, file).find(message), std::string::npos)
        << mesh_complaint(content, file);
}

// A tetrahedron with the corners 0, 1, 2 and 3 units along the axes: three sides are red, the fourth is blue. The node moves it by one unit along x.
std::string collada(const char* up = "Y_UP") {
  return fmt::format(R"(<?xml version="1.0" encoding="utf-8"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><created>2020-01-01T00:00:00</created><modified>2020-01-01T00:00:00</modified><unit name="centimeter" meter="0.01"/><up_axis>{}</up_axis></asset>
<library_effects>
 <effect id="red-fx"><profile_COMMON><technique sid="common"><lambert><diffuse><color>1 0 0 1</color></diffuse></lambert></technique></profile_COMMON></effect>
 <effect id="blue-fx"><profile_COMMON><technique sid="common"><lambert><diffuse><color>0 0 1 1</color></diffuse></lambert></technique></profile_COMMON></effect>
</library_effects>
<library_materials>
 <material id="red"><instance_effect url="#red-fx"/></material><material id="blue"><instance_effect url="#blue-fx"/></material>
</library_materials>
<library_geometries><geometry id="corner"><mesh>
 <source id="p"><float_array id="pa" count="12">0 0 0 1 0 0 0 2 0 0 0 3</float_array>
  <technique_common><accessor source="#pa" count="4" stride="3"><param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
 <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
 <triangles count="3" material="r"><input semantic="VERTEX" source="#v" offset="0"/><p>0 2 1 0 1 3 0 3 2</p></triangles>
 <triangles count="1" material="b"><input semantic="VERTEX" source="#v" offset="0"/><p>1 2 3</p></triangles>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node id="n"><translate>1 0 0</translate><instance_geometry url="#corner"><bind_material><technique_common>
 <instance_material symbol="r" target="#red"/><instance_material symbol="b" target="#blue"/></technique_common></bind_material></instance_geometry></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>)",
                     up);
}
bool reads_collada() { return find_library("liedyn_meshes.so").has_value(); }

// The unit of the header counts, its direction upwards does not: the axes are those of the file.
TEST(MeshFile, ColladaIsReadWithItsUnitAndColors) {
  if (!reads_collada()) GTEST_SKIP() << "built without libassimp-dev";
  for (const char* up : {"X_UP", "Y_UP", "Z_UP"}) {
    const TriangleMesh mesh = mesh_of_text(collada(up), "a.dae");
    ASSERT_EQ(mesh.vertices.size(), 4U);
    ASSERT_EQ(mesh.triangles.size(), 4U);
    const Solid solid = solid_of(mesh, "a.dae");
    EXPECT_NEAR(solid.volume, 1 * 2 * 3 / 6.0 * 1e-6, 1e-12);
    EXPECT_NEAR(solid.center[0], 0.01 + 0.0025, 1e-8);
    EXPECT_NEAR(solid.center[1], 0.005, 1e-8);
    EXPECT_NEAR(solid.center[2], 0.0075, 1e-8);
    EXPECT_EQ(std::count(mesh.colors.begin(), mesh.colors.end(), 0xff0000U), 3);
    EXPECT_EQ(std::count(mesh.colors.begin(), mesh.colors.end(), 0x0000ffU), 1);
  }
  EXPECT_NE(mesh_complaint("<COLLADA/>", "a.dae").find("a.dae: cannot be read: "), std::string::npos);
  EXPECT_NE(mesh_complaint("", "a.dae").find("a.dae: cannot be read: "), std::string::npos);
}

TEST(MeshFile, ColladaNeedsItsLibrary) {
  if (reads_collada()) GTEST_SKIP() << "built with libassimp-dev";
  EXPECT_NE(
      mesh_complaint(collada(), "a.dae").find("this installation cannot read meshes of this kind (.dae)"),
      std::string::npos);
}

// Whatever the bytes are, there is a mesh or an InputError.
TEST(MeshFile, RandomMutationsNeverCrash) {
  const TriangleMesh box = extruded({{0, 0}, {1, 0}, {1, 1}, {0, 1}}, 1);
  std::mt19937 random(1);
  int read = 0, refused = 0;
  for (const auto& [content, file] :
       {std::pair(binary_stl(box), "a.stl"), std::pair(ascii_stl(box), "a.stl"), std::pair(obj(box), "a.obj"),
        std::pair(glb(box), "a.glb"), std::pair(collada(), reads_collada() ? "a.dae" : "a.obj")})
    for (int i = 0; i < (std::string_view(file) == "a.dae" ? 300 : 1500); ++i) {
      std::string bytes = content;
      const auto at = [&] { return std::uniform_int_distribution<std::size_t>(0, bytes.size() - 1)(random); };
      for (int n = std::uniform_int_distribution(1, 6)(random); n > 0; --n)
        switch (std::uniform_int_distribution(0, 4)(random)) {
          case 0: bytes[at()] = static_cast<char>(random()); break;
          case 1: {
            const std::size_t k = at();
            bytes[k] = static_cast<char>(bytes[k] ^ static_cast<char>(1 << (random() % 8)));
            break;
          }
          case 2: bytes.resize(at() + 1); break;
          case 3: bytes.insert(at(), bytes, at(), 20); break;
          default: bytes[at()] = "0123456789-.e{}[]\",:"[random() % 20];
        }
      try {
        solid_of(mesh_of_text(bytes, file), file);
        ++read;
      } catch (const InputError&) {
        ++refused;
      }
    }
  EXPECT_EQ(read + refused, reads_collada() ? 6300 : 7500);
  EXPECT_GT(read, 100);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace liedyn
