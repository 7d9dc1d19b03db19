#include "liedyn/io/scene_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "liedyn/base/error.h"
#include "liedyn/base/suggest.h"
#include "liedyn/io/packed_array.h"

namespace liedyn {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();  // extent of an array

struct Value {
  const Json* json;  // null: it is missing
  std::string path;

  explicit operator bool() const { return json != nullptr; }
  Value operator[](const char* key) const {  // of an object
    const auto found = json->find(key);
    return {found == json->end() ? nullptr : &*found, path.empty() ? key : fmt::format("{}.{}", path, key)};
  }
};

[[noreturn]] void expected(const Value& at, const std::string& what) {
  throw InputError(at.path,
                   fmt::format("expected {}, got {}", what, at ? excerpt(at.json->dump()) : "nothing"));
}

std::string text(const Value& at) {
  if (!at || !at.json->is_string()) expected(at, "a string");
  return at.json->get<std::string>();
}
void number(const Value& at) {
  if (!at || !at.json->is_number()) expected(at, "a number");
}
void numbers(const Value& at, std::size_t count) {
  if (!at || !at.json->is_array() || at.json->size() != count ||
      !std::ranges::all_of(*at.json, [](const Json& one) { return one.is_number(); }))
    expected(at, fmt::format("{} numbers", count));
}
std::int64_t whole(const Value& at, std::int64_t least, std::size_t end) {
  const bool is_whole = at && at.json->is_number_integer();
  const std::int64_t value = is_whole ? at.json->get<std::int64_t>() : 0;
  if (!is_whole || value < least || value >= static_cast<std::int64_t>(end))
    expected(at, fmt::format("a whole number from {} to {}", least, static_cast<std::int64_t>(end) - 1));
  return value;
}
std::vector<Value> list(const Value& at) {
  if (!at || !at.json->is_array()) expected(at, "a list");
  std::vector<Value> out;
  for (const Json& one : *at.json) out.push_back({&one, fmt::format("{}[{}]", at.path, out.size())});
  return out;
}
std::vector<Value> objects(const Value& at) {
  std::vector<Value> out = list(at);
  for (const Value& one : out)
    if (!one.json->is_object()) expected(one, "an object");
  return out;
}

std::string shown(const ArrayShape& shape) {
  std::vector<std::string> extents;
  for (const std::size_t n : shape) extents.push_back(n == kAny ? "any" : std::to_string(n));
  return fmt::format("[{}]", fmt::join(extents, ", "));
}
std::vector<double> array(const Value& at, const ArrayShape& shape) {
  std::vector<double> out = unpack_array(at ? *at.json : Json(), at.path);
  const auto got = (*at.json)["shape"].get<ArrayShape>();
  if (!std::ranges::equal(got, shape, [](std::size_t n, std::size_t m) { return m == kAny || n == m; }))
    throw InputError(at.path, fmt::format("expected the shape {}, got {}", shown(shape), shown(got)));
  if (!std::ranges::all_of(out, [](double x) { return std::isfinite(x); }))
    throw InputError(at.path, "expected finite numbers");
  return out;
}

// The number of its vertices.
std::size_t check_surface(const Value& at) {
  const std::size_t N = array(at["vertices"], {kAny, 3}).size() / 3;
  for (const double corner : array(at["triangles"], {kAny, 3}))
    if (!(corner >= 0 && corner < static_cast<double>(N) && corner == std::floor(corner)))
      throw InputError(at["triangles"].path, fmt::format("there is no vertex {}, only {}", corner, N));
  return N;
}

void check_shape(const Value& at) {
  const std::string type = text(at["type"]);
  const auto is_one_of = [&](std::initializer_list<const char*> types) {
    return std::ranges::find(types, type) != types.end();
  };
  const bool is_long = is_one_of({"cylinder", "tube", "cone", "capsule"});
  if (is_long || type == "sphere")
    number(at["radius"]);
  else if (type == "box")
    numbers(at["size"], 3);
  else if (type == "ellipsoid")
    numbers(at["radii"], 3);
  else if (type == "mesh")
    check_surface(at);
  else
    expected(at["type"], "box, sphere, cylinder, capsule, tube, cone, ellipsoid or mesh");
  if (is_long) number(at["length"]);
  if (type == "tube") number(at["inner"]);
  if (at["at"]) numbers(at["at"], 3);
  if (at["rotation"]) numbers(at["rotation"], 4);
  if (!at["color"]) return;
  const std::string color = text(at["color"]);
  if (color.size() != 7 || color[0] != '#' ||
      color.find_first_not_of("0123456789abcdefABCDEF", 1) != std::string::npos)
    expected(at["color"], "\"#rrggbb\"");
}

void check_section(const Value& at) {
  if (!at || !at.json->is_object()) expected(at, "an object");
  for (const char* key : {"radius", "inner", "width", "height", "thickness"})
    if (at[key]) number(at[key]);
}

// Bodies and modes refer to times and frames.
class Bodies {
 public:
  Bodies(const Value& bodies, std::size_t times, std::size_t frames) : T_(times), F_(frames) {
    for (const Value& body : objects(bodies)) {
      const std::string kind = text(body["kind"]);
      text(body["name"]);
      if (kind == "beam")
        check_beam(body);
      else if (kind == "flexible")
        check_flexible(body);
      else if (kind == "rigid" || kind == "ground")
        check_rigid(body);
      else
        expected(body["kind"], "ground, rigid, beam or flexible");
    }
  }
  // Those that modes of the model have, of all flexible bodies.
  std::size_t coordinates() const { return coordinates_; }

 private:
  void check_frame(const Value& body) const { whole(body["frame"], -1, F_); }
  void check_rigid(const Value& body) const {
    check_frame(body);
    for (const Value& shape : objects(body["shapes"])) check_shape(shape);
  }
  void check_beam(const Value& body) const {
    const std::vector<Value> nodes = list(body["nodes"]);
    if (nodes.size() < 2) expected(body["nodes"], "at least 2 nodes");
    for (const Value& node : nodes) whole(node, 0, F_);
    check_section(body["section"]);
    text(body["section"]["type"]);
    if (body["section"]["end"]) check_section(body["section"]["end"]);
  }
  void check_flexible(const Value& body) {
    check_frame(body);
    const std::size_t N = check_surface(body), K = array(body["coordinates"], {T_, kAny}).size() / T_;
    array(body["modes"], {K, K > 0 ? N : kAny, 3});
    const Value count = body["mode_count"];
    coordinates_ += count ? static_cast<std::size_t>(whole(count, 0, K + 1)) : K;
  }

  std::size_t T_, F_, coordinates_ = 0;
};

}  // namespace

void check_scene(const Json& scene) {
  if (!scene.is_object() || !scene.contains("format") || scene["format"] != "liedyn scene 1")
    throw InputError("", "expected a scene, or a page with one",
                     "liedyn run MODEL --html FILE.html and --scene FILE.json write them");
  const Value at{&scene, ""};
  text(at["title"]);
  const std::string kind = text(at["kind"]);
  numbers(at["gravity"], 3);
  if (at["size"]) number(at["size"]);
  if (at["planar"] && !at["planar"].json->is_boolean()) expected(at["planar"], "true or false");
  const std::size_t T = array(at["times"], {kAny}).size();
  if (T == 0) throw InputError("times", "expected at least one time");
  const std::vector<Value> frames = list(at["frames"]);
  for (const Value& name : frames) text(name);
  const std::size_t F = frames.size();
  array(at["positions"], {T, F, 3});
  const std::vector<double> q = array(at["rotations"], {T, F, 4});
  for (std::size_t i = 0; i < q.size(); i += 4)
    if (q[i] == 0 && q[i + 1] == 0 && q[i + 2] == 0 && q[i + 3] == 0)
      throw InputError("rotations", "expected quaternions, got zero");
  const Bodies bodies(at["bodies"], T, F);
  if (kind == "modes")
    for (const Value& mode : objects(at["mode_list"])) {
      number(mode["frequency"]);
      array(mode["displacement"], {F, 6, 2});
      array(mode["coordinates"], {bodies.coordinates(), 2});
    }
  if (at["channels"])
    for (const Value& channel : objects(at["channels"])) {
      text(channel["name"]);
      text(channel["unit"]);
      list(channel["components"]);
    }
  if (at["warnings"])
    for (const Value& warning : list(at["warnings"])) text(warning);
}

}  // namespace liedyn
