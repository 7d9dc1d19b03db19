#include "liedyn/io/expand/shapes.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <ranges>

#include <fmt/format.h>

#include "liedyn/base/paths.h"
#include "liedyn/base/suggest.h"
#include "liedyn/io/mesh_file.h"
#include "liedyn/lie/so3.h"

namespace liedyn {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr std::size_t kMostCorners = 1000;

// ---- types

Field length_field(std::string name, std::string summary, Range range = Range::Positive) {
  return {.name = std::move(name),
          .type = FieldType::Number,
          .unit = "m",
          .summary = std::move(summary),
          .required = true,
          .range = range};
}
Field vector_field(std::string name, std::string summary, Range range) {
  return {.name = std::move(name),
          .type = FieldType::Vector,
          .unit = "m",
          .summary = std::move(summary),
          .required = true,
          .range = range};
}

Kind shape_kind(std::string type, std::string summary, std::vector<Field> fields) {
  fields.push_back({.name = "at",
                    .type = FieldType::Vector,
                    .unit = "m",
                    .summary = "Origin of the shape, relative to the reference point of the body, body axes.",
                    .defaults = {0, 0, 0}});
  fields.push_back({.name = "rotation",
                    .type = FieldType::Rotation,
                    .unit = "rad",
                    .summary = "Rotation from the axes of the shape to those of the body.",
                    .defaults = {0, 0, 0}});
  fields.push_back(
      {.name = "density",
       .type = FieldType::Number,
       .unit = "kg/m^3",
       .summary = "Density; that of the body if not given. Without density and mass the shape is only drawn.",
       .range = Range::Positive});
  fields.push_back({.name = "mass",
                    .type = FieldType::Number,
                    .unit = "kg",
                    .summary = "Mass, instead of the density.",
                    .range = Range::Positive});
  fields.push_back({.name = "color", .type = FieldType::Text, .unit = "", .summary = "Colour, \"#rrggbb\"."});
  return {.type = std::move(type), .summary = std::move(summary), .fields = std::move(fields)};
}

// ---- solids in their own axes

// Volume, and per mass the centre and the inertia about it (xx, yy, zz, yz, xz, xy).
struct TermSolid {
  Term volume;
  Term3 center;
  std::array<Term, 6> inertia;
};

Term square(const Term& x) { return x * x; }

TermSolid symmetric(Term volume, const Term& transverse, const Term& axial) {
  return {std::move(volume), {}, {transverse, transverse, axial, 0, 0, 0}};
}

// J = (b^2 + c^2)/12, ...
TermSolid box(const Term3& s) {
  const Term a = square(s[0]), b = square(s[1]), c = square(s[2]);
  return {s[0] * s[1] * s[2], {}, {(b + c) / 12, (a + c) / 12, (a + b) / 12, 0, 0, 0}};
}
// J = (b^2 + c^2)/5, ...
TermSolid ellipsoid(const Term3& r) {
  const Term a = square(r[0]), b = square(r[1]), c = square(r[2]);
  return {4 * kPi / 3 * (r[0] * r[1] * r[2]), {}, {(b + c) / 5, (a + c) / 5, (a + b) / 5, 0, 0, 0}};
}
// J = (R^2 + r^2)/2 about the axis, (3 (R^2 + r^2) + l^2)/12 across it
TermSolid tube(const Term& radius, const Term& inner, const Term& length) {
  const Term squares = square(radius) + square(inner);
  return symmetric(kPi * (square(radius) - square(inner)) * length, (3 * squares + square(length)) / 12,
                   squares / 2);
}
// A cylinder and two half spheres, whose centres are at 3/8 r from their planes: with the volumes V_c and V_s of cylinder and sphere,
//   V J_z = V_c r^2/2 + V_s 2/5 r^2,   V J_x = V_c (3 r^2 + l^2)/12 + V_s (2/5 r^2 + l^2/4 + 3/8 l r)
TermSolid capsule(const Term& r, const Term& l) {
  const Term cylinder = kPi * square(r) * l, sphere = 4 * kPi / 3 * (square(r) * r),
             volume = cylinder + sphere;
  return symmetric(volume,
                   (cylinder * ((3 * square(r) + square(l)) / 12) +
                    sphere * (0.4 * square(r) + square(l) / 4 + 0.375 * (l * r))) /
                       volume,
                   (cylinder * (square(r) / 2) + sphere * (0.4 * square(r))) / volume);
}
// The centre is at a quarter of the height: J_z = 3/10 r^2, J_x = 3/20 r^2 + 3/80 l^2
TermSolid cone(const Term& r, const Term& l) {
  TermSolid out =
      symmetric(kPi / 3 * (square(r) * l), 0.15 * square(r) + 0.0375 * square(l), 0.3 * square(r));
  out.center[2] = -0.25 * l;
  return out;
}
// A cylinder between two points: with the direction u, J = J_x I + (J_z - J_x) u u^T
TermSolid rod(const Term3& from, const Term3& to, const Term& radius) {
  const Term3 d = to - from;
  const Term squared = dot(d, d), length = sqrt(squared);
  const TermSolid along = tube(radius, 0, length);
  const Term across = along.inertia[0], difference = (along.inertia[2] - across) / squared;
  TermSolid out{along.volume, Term(0.5) * (from + to), {}};
  for (std::size_t i = 0; i < 3; ++i) out.inertia[i] = across + difference * square(d[i]);
  out.inertia[3] = difference * (d[1] * d[2]);
  out.inertia[4] = difference * (d[0] * d[2]);
  out.inertia[5] = difference * (d[0] * d[1]);
  return out;
}
// The inertia per mass of a covariance C: tr(C) I - C
std::array<Term, 6> inertia_of(const std::array<Term, 6>& C) {
  return {C[1] + C[2], C[0] + C[2], C[0] + C[1], -C[3], -C[4], -C[5]};
}
// Over the triangles of the first corner and the sides (a, b), with D = a x b,
//   A = sum D/2,   integral x = sum D/6 (a + b),   integral x x^T = sum D/24 (s s^T + a a^T + b b^T),   s = a + b
// `sense`: -1 for a polygon in the negative sense, so that the volume is positive.
TermSolid extrusion(const std::vector<std::array<Term, 2>>& polygon, const Term& length, double sense) {
  const std::array<Term, 2>& o = polygon[0];
  Term area, x, y, xx, yy, xy;
  for (std::size_t i = 1; i + 1 < polygon.size(); ++i) {
    const Term a[] = {polygon[i][0] - o[0], polygon[i][1] - o[1]};
    const Term b[] = {polygon[i + 1][0] - o[0], polygon[i + 1][1] - o[1]};
    const Term D = sense * (a[0] * b[1] - a[1] * b[0]), s[] = {a[0] + b[0], a[1] + b[1]};
    area += D / 2;
    x += D * s[0] / 6;
    y += D * s[1] / 6;
    xx += D * (square(s[0]) + square(a[0]) + square(b[0])) / 24;
    yy += D * (square(s[1]) + square(a[1]) + square(b[1])) / 24;
    xy += D * (s[0] * s[1] + a[0] * a[1] + b[0] * b[1]) / 24;
  }
  const Term cx = x / area, cy = y / area;
  const std::array<Term, 6> covariance = {
      xx / area - square(cx), yy / area - square(cy), square(length) / 12, 0, 0, xy / area - cx * cy};
  return {area * length, {o[0] + cx, o[1] + cy, 0}, inertia_of(covariance)};
}
TermSolid scaled(const Solid& solid, const Term3& s) {
  TermSolid out;
  out.volume = s[0] * s[1] * s[2] * solid.volume;
  constexpr std::size_t kRow[] = {0, 1, 2, 1, 0, 0}, kColumn[] = {0, 1, 2, 2, 2, 1};
  std::array<Term, 6> covariance;
  for (std::size_t k = 0; k < 3; ++k) out.center[k] = s[k] * solid.center[k];
  for (std::size_t k = 0; k < 6; ++k) covariance[k] = s[kRow[k]] * s[kColumn[k]] * solid.covariance[k];
  out.inertia = inertia_of(covariance);
  return out;
}

// ---- masses in the axes of the body

struct Lump {
  Term mass;
  Term3 center;
  std::array<Term, 6> inertia;  // about the centre

  bool is_number() const {
    bool out = mass.is_number();
    for (const Term& x : center) out = out && x.is_number();
    for (const Term& x : inertia) out = out && x.is_number();
    return out;
  }
};

// |d|^2 I - d d^T
std::array<Term, 6> shifted(const Term3& d) {
  return inertia_of({square(d[0]), square(d[1]), square(d[2]), d[1] * d[2], d[0] * d[2], d[0] * d[1]});
}

// Two bodies: J = J_1 + J_2 + m_1 m_2/(m_1 + m_2) (|d|^2 I - d d^T), where nothing cancels.
Lump merged(const Lump& a, const Lump& b) {
  Lump out;
  out.mass = a.mass + b.mass;
  const Term reduced = a.mass * b.mass / out.mass;
  const Term3 d = b.center - a.center;
  const std::array<Term, 6> steiner = shifted(d);
  const Term part = b.mass / out.mass;
  for (std::size_t i = 0; i < 3; ++i) out.center[i] = a.center[i] + part * d[i];
  for (std::size_t i = 0; i < 6; ++i) out.inertia[i] = a.inertia[i] + b.inertia[i] + reduced * steiner[i];
  return out;
}

// Expressions of many bodies stay short with sums about the first centre: with e = c - c_1 and S = sum m e,
//   c = c_1 + S/M,   J = sum (J + m (|e|^2 I - e e^T)) - (|S|^2 I - S S^T)/M
Lump sum(const std::vector<Lump>& lumps) {
  if (lumps.size() == 1) return lumps[0];
  if (lumps.size() == 2) return merged(lumps[0], lumps[1]);
  Lump out;
  Term3 S;
  for (const Lump& lump : lumps) {
    const Term3 e = lump.center - lumps[0].center;
    const std::array<Term, 6> steiner = shifted(e);
    out.mass += lump.mass;
    S = S + lump.mass * e;
    for (std::size_t i = 0; i < 6; ++i) out.inertia[i] += lump.inertia[i] + lump.mass * steiner[i];
  }
  const std::array<Term, 6> steiner = shifted(S);
  for (std::size_t i = 0; i < 6; ++i) out.inertia[i] = out.inertia[i] - steiner[i] / out.mass;
  for (std::size_t i = 0; i < 3; ++i) out.center[i] = lumps[0].center[i] + S[i] / out.mass;
  return out;
}

Lump total(const std::vector<Lump>& lumps) {
  std::vector<Lump> parts;
  for (const Lump& lump : lumps) {
    if (!lump.is_number()) continue;
    if (parts.empty())
      parts.push_back(lump);
    else
      parts[0] = merged(parts[0], lump);
  }
  for (const Lump& lump : lumps)
    if (!lump.is_number()) parts.push_back(lump);
  return sum(parts);
}

// ---- reading

struct Polygon {
  std::vector<std::array<Term, 2>> corners;
  std::vector<std::array<double, 2>> values;
  double sense = 1;
};

class ShapeReader {
 public:
  ShapeReader(Item& root, Scope& scope) : root_(root), scope_(scope), findings_(scope.findings()) {}

  std::vector<Visual> read(const Origins& origins) {
    origins_ = &origins;
    Item* bodies = root_.find("bodies");
    if (bodies == nullptr || !bodies->is(JsonType::Object)) return {};
    for (Item& body : bodies->items)
      if (body.is(JsonType::Object)) read_body(body);
    // The ground has nothing but shapes.
    if (const Item* ground = bodies->find("ground"); ground != nullptr && ground->items.empty())
      bodies->erase("ground");
    return std::move(visuals_);
  }

 private:
  void read_body(Item& body) {
    body_ = body.key;
    const std::string path = "bodies." + excerpt(body.key, 80);
    Item* one = body.find("shape");
    Item* several = body.find("shapes");
    const Item* density = body.find("density");
    if (one == nullptr && several == nullptr) {
      if (density != nullptr)
        findings_.add(path + ".density", "there is no shape that has a density", "give the body a shape",
                      density->origin);
      body.erase("density");
      return;
    }
    if (one != nullptr && several != nullptr)
      findings_.add(path + ".shape", "cannot be combined with 'shapes'", "put it into the list", one->origin);
    density_.reset();
    if (density != nullptr) {
      density_ = scope_.term(*density, path + ".density");
      if (density_ && !scope_.is_positive(*density_, *density, path + ".density")) density_.reset();
    }
    // A mass without inertia: the shapes have one density, whichever gives this mass.
    if (density == nullptr && shares_mass(body)) density_ = Term(1);
    lumps_.clear();
    failed_ = false;
    const int origin = (several != nullptr ? several : one)->origin;
    if (one != nullptr) read_shape(*one, path + ".shape");
    if (several != nullptr) {
      if (!several->is(JsonType::Array)) findings_.expected(path + ".shapes", "a list of shapes", *several);
      for (std::size_t i = 0; i < several->items.size(); ++i)
        read_shape(several->items[i], fmt::format("{}.shapes[{}]", path, i));
    }
    for (const char* key : {"shape", "shapes", "density"}) body.erase(key);
    if (body.key != "ground") give_mass(body, path, origin);
  }

  // Whether the body has a mass of its own, but neither the inertia that its type has nor a shape with mass or density.
  static bool shares_mass(const Item& body) {
    const Item* type = body.find("type");
    const Kind* kind =
        type != nullptr && type->is(JsonType::String) ? find_kind(Section::Bodies, type->text) : nullptr;
    if (kind == nullptr || body.find("mass") == nullptr) return false;
    if (kind->field("inertia") < 0 || body.find("inertia") != nullptr) return false;
    const auto has_mass = [](const Item& shape) {
      return shape.find("mass") != nullptr || shape.find("density") != nullptr;
    };
    const Item *one = body.find("shape"), *several = body.find("shapes");
    return (one == nullptr || !has_mass(*one)) &&
           (several == nullptr || std::none_of(several->items.begin(), several->items.end(), has_mass));
  }

  // What the body's type has and the file does not give. An explicit mass scales the inertia.
  void give_mass(Item& body, const std::string& path, int origin) {
    const Item* type = body.find("type");
    const Kind* kind =
        type != nullptr && type->is(JsonType::String) ? find_kind(Section::Bodies, type->text) : nullptr;
    if (kind == nullptr) return;
    const auto wants = [&](std::string_view field) {
      return kind->field(field) >= 0 && body.find(field) == nullptr;
    };
    // In the plane there is one moment of inertia.
    const int field = kind->field("inertia");
    const bool planar = field >= 0 && kind->fields[static_cast<std::size_t>(field)].type == FieldType::Number;
    if (failed_) {  // no further findings about what is missing
      if (wants("mass")) body.set("mass", Item::of_number(1, origin));
      if (wants("inertia"))
        body.set("inertia", planar ? Item::of_number(1, origin) : item_of(Term3{1, 1, 1}, origin));
      return;
    }
    if (lumps_.empty()) {
      if (wants("mass"))
        findings_.add(path, "its shapes have neither density nor mass, and it has no mass of its own",
                      "give the shapes a density, or the body its mass and inertia", origin);
      return;
    }
    const Lump all = total(lumps_);
    Term ratio = 1;
    if (const Item* mass = body.find("mass")) {
      const auto given = scope_.term(*mass, path + ".mass");
      if (!given) {
        body.set("mass", Item::of_number(1, origin));
        return;
      }
      ratio = *given / all.mass;
    }
    if (wants("mass")) body.set("mass", item_of(all.mass, origin));
    if (wants("inertia")) {
      if (planar) {
        body.set("inertia", item_of(ratio * all.inertia[2], origin));
      } else {
        Item inertia = Item::array(origin);
        for (const Term& j : all.inertia) inertia.items.push_back(item_of(ratio * j, origin));
        body.set("inertia", std::move(inertia));
      }
    }
    if (wants("reference")) {
      Item reference = item_of(-all.center, origin);
      if (planar) reference.items.pop_back();
      body.set("reference", std::move(reference));
    }
    if (kind->field("reference") < 0 && !(all.center[0].is(0) && all.center[1].is(0) && all.center[2].is(0)))
      findings_.add(
          path,
          fmt::format("the centre of mass of the shapes of a body of type {} must be its origin", kind->type),
          "move the shapes, or use the type rigid", origin);
  }

  void read_shape(const Item& shape, const std::string& path) {
    const std::size_t before = findings_.list().size();
    read_checked(shape, path);
    failed_ = failed_ || findings_.list().size() > before;
  }

  void read_checked(const Item& shape, const std::string& path) {
    const auto types =
        shape_kinds() | std::views::transform([](const Kind& k) -> std::string_view { return k.type; });
    if (!shape.is(JsonType::Object))
      return findings_.expected(path, "an object with a type and its dimensions", shape);
    const Item* type = shape.find("type");
    if (type == nullptr)
      return findings_.add(path + ".type", fmt::format("missing, expected one of {}", fmt::join(types, ", ")),
                           {}, shape.origin);
    const auto kind = std::ranges::find(shape_kinds(), type->text, &Kind::type);
    if (!type->is(JsonType::String) || kind == shape_kinds().end())
      return findings_.expected(path + ".type", fmt::format("one of {}", fmt::join(types, ", ")), *type,
                                type->is(JsonType::String) ? did_you_mean(type->text, types) : "");
    for (const Item& value : shape.items)
      if (value.key != "type" && kind->field(value.key) < 0) {
        const auto known =
            kind->fields | std::views::transform([](const Field& f) -> std::string_view { return f.name; });
        std::string hint = did_you_mean(value.key, known);
        if (hint.empty()) hint = fmt::format("it has {}", fmt::join(known, ", "));
        findings_.add(fmt::format("{}.{}", path, excerpt(value.key)),
                      fmt::format("unknown key '{}' for the shape {}", excerpt(value.key), kind->type),
                      std::move(hint), value.origin);
      }
    for (const Field& field : kind->fields)
      if (field.required && shape.find(field.name) == nullptr)
        findings_.add(fmt::format("{}.{}", path, field.name), fmt::format("missing: {}", field.summary), {},
                      shape.origin);

    shape_ = &shape;
    path_ = path;
    Visual visual{.body = body_, .shape = type->text, .mesh = {}};
    if (!read_color(visual)) return;
    // Density or mass; the shape of a body with a density takes that one.
    std::optional<Term> density, mass;
    if (const Item* given = shape.find("density")) density = positive(*given, "density");
    if (const Item* given = shape.find("mass")) mass = positive(*given, "mass");
    if (shape.find("density") != nullptr && shape.find("mass") != nullptr)
      return findings_.add(path + ".mass", "cannot be combined with 'density'", "give one of them",
                           shape.find("mass")->origin);
    if (!mass && !density) density = density_;

    Term3 at;
    TermMatrix rotation = identity_matrix();
    if (const Item* given = shape.find("at")) {
      const auto read = scope_.vector(*given, path + ".at");
      if (!read) return;
      at = *read;
    }
    if (const Item* given = shape.find("rotation")) {
      const auto read = scope_.rotation(*given, path + ".rotation");
      if (!read) return;
      rotation = *read;
    }
    with_mass_ = mass || density;
    const auto solid = read_solid(kind->type, visual);
    if (!solid) return;
    if (with_mass_) {
      Lump lump;
      lump.mass = mass ? *mass : *density * solid->volume;
      lump.center = at + (is_identity(rotation) ? solid->center : rotation * solid->center);
      const std::array<Term, 6>& j = solid->inertia;
      TermMatrix J = {Term3{j[0], j[5], j[4]}, Term3{j[5], j[1], j[3]}, Term3{j[4], j[3], j[2]}};
      if (!is_identity(rotation)) J = rotation * J * transposed(rotation);
      lump.inertia = {J[0][0], J[1][1], J[2][2], J[1][2], J[0][2], J[0][1]};
      for (Term& moment : lump.inertia) moment = lump.mass * moment;
      lumps_.push_back(std::move(lump));
    }
    place(visual, at, rotation);
  }

  std::optional<Term> positive(const Item& item, std::string_view name) {
    const std::string path = fmt::format("{}.{}", path_, name);
    const auto out = scope_.term(item, path);
    if (!out || !scope_.is_positive(*out, item, path)) return {};
    return out;
  }
  std::optional<Term> positive(std::string_view name) {
    const Item* item = shape_->find(name);
    return item != nullptr ? positive(*item, name) : std::nullopt;
  }
  std::optional<Term3> vector(std::string_view name) {
    const Item* item = shape_->find(name);
    return item != nullptr ? scope_.vector(*item, fmt::format("{}.{}", path_, name)) : std::nullopt;
  }
  std::optional<Term3> positive_vector(std::string_view name) {
    const auto out = vector(name);
    if (out)
      for (std::size_t i = 0; i < 3; ++i)
        if (!scope_.is_positive((*out)[i], *shape_->find(name), fmt::format("{}.{}[{}]", path_, name, i)))
          return {};
    return out;
  }

  bool read_color(Visual& visual) {
    const Item* color = shape_->find("color");
    if (color == nullptr) return true;
    const std::string& text = color->text;
    const bool good = color->is(JsonType::String) && text.size() == 7 && text[0] == '#' &&
                      text.find_first_not_of("0123456789abcdefABCDEF", 1) == std::string::npos;
    if (!good) findings_.expected(path_ + ".color", "a colour, \"#rrggbb\"", *color);
    for (std::size_t i = 0; good && i < 3; ++i)
      visual.color[i] = std::stoi(text.substr(1 + 2 * i, 2), nullptr, 16) / 255.0;
    return good;
  }

  // What the shape encloses in its own axes, and its dimensions for viewers. None, with a finding, if it is wrong.
  std::optional<TermSolid> read_solid(const std::string& type, Visual& visual) {
    const auto show = [&](const Term& a, const Term& b, const Term& c) {
      visual.size = {scope_.value(a), scope_.value(b), scope_.value(c)};
    };
    if (type == "box" || type == "ellipsoid") {
      const auto size = positive_vector(type == "box" ? "size" : "radii");
      if (!size) return {};
      show((*size)[0], (*size)[1], (*size)[2]);
      return type == "box" ? box(*size) : ellipsoid(*size);
    }
    if (type == "extrusion") return read_extrusion(visual);
    if (type == "mesh") return read_mesh_shape(visual);
    const auto radius = positive("radius");
    if (!radius) return {};
    if (type == "sphere") {
      show(*radius, *radius, *radius);
      return ellipsoid({*radius, *radius, *radius});
    }
    if (type == "rod") {
      const auto from = vector("from"), to = vector("to");
      if (!from || !to) return {};
      return read_rod(*from, *to, *radius, visual);
    }
    const auto length = positive("length");
    if (!length) return {};
    show(*radius, *radius, *length);
    if (type == "cylinder") return tube(*radius, 0, *length);
    if (type == "capsule") return capsule(*radius, *length);
    if (type == "cone") return cone(*radius, *length);
    const auto inner = positive("inner");  // tube
    if (!inner) return {};
    if (!(scope_.value(*inner) < scope_.value(*radius))) {
      findings_.add(path_ + ".inner",
                    fmt::format("expected an inner radius below the radius {}, got {}", scope_.value(*radius),
                                scope_.value(*inner)),
                    {}, shape_->find("inner")->origin);
      return {};
    }
    show(*radius, *inner, *length);
    return tube(*radius, *inner, *length);
  }

  // Viewers see a cylinder along its own z axis.
  std::optional<TermSolid> read_rod(const Term3& from, const Term3& to, const Term& radius, Visual& visual) {
    Vec3 d, middle;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto k = static_cast<Eigen::Index>(i);
      d[k] = scope_.value(to[i]) - scope_.value(from[i]);
      middle[k] = scope_.value(from[i]) + d[k] / 2;
    }
    if (!(d.norm() > 0) || !std::isfinite(d.norm())) {
      findings_.add(path_ + ".to", "expected two different points, got the same twice", {},
                    shape_->find("to")->origin);
      return {};
    }
    visual.shape = "cylinder";
    visual.size = {scope_.value(radius), scope_.value(radius), d.norm()};
    visual.position = {middle[0], middle[1], middle[2]};
    const Eigen::Quaterniond q = Eigen::Quaterniond::FromTwoVectors(Vec3::UnitZ(), d);
    visual.orientation = {q.w(), q.x(), q.y(), q.z()};
    return rod(from, to, radius);
  }

  std::optional<TermSolid> read_extrusion(Visual& visual) {
    const Item* polygon = shape_->find("polygon");
    const auto length = positive("length");
    if (polygon == nullptr || !length) return {};
    const std::string path = path_ + ".polygon";
    if (!polygon->is(JsonType::Array) || polygon->items.size() < 3 || polygon->items.size() > kMostCorners) {
      findings_.expected(path, fmt::format("from 3 to {} corners, [[x, y], ...]", kMostCorners), *polygon);
      return {};
    }
    Polygon p;
    for (std::size_t i = 0; i < polygon->items.size(); ++i) {
      const auto corner = scope_.terms(polygon->items[i], 2, fmt::format("{}[{}]", path, i));
      if (!corner) return {};
      p.corners.push_back({(*corner)[0], (*corner)[1]});
      p.values.push_back({scope_.value((*corner)[0]), scope_.value((*corner)[1])});
    }
    if (!check(p, *polygon, path)) return {};
    visual.size = {1, 1, scope_.value(*length)};
    for (const auto& [x, y] : p.values)
      visual.mesh += fmt::format("{}[{}, {}]", visual.mesh.empty() ? "[" : ", ", x, y);
    visual.mesh += "]";
    return extrusion(p.corners, *length, p.sense);
  }

  // Sides that cross or touch have no inside.
  bool check(Polygon& p, const Item& item, const std::string& path) {
    const std::size_t n = p.values.size();
    const auto cross = [](const auto& o, const auto& a, const auto& b) {
      return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
    };
    double area = 0, square = 0;
    for (std::size_t i = 0; i < n; ++i) {
      area += cross(p.values[0], p.values[i], p.values[(i + 1) % n]) / 2;
      square = std::max({square, std::pow(p.values[i][0] - p.values[0][0], 2),
                         std::pow(p.values[i][1] - p.values[0][1], 2)});
    }
    constexpr double kFlat = 1e-12;
    if (!(std::abs(area) > kFlat * square) || !std::isfinite(area)) {
      findings_.add(path, fmt::format("expected a polygon with an area, got {:.6g}", area), {}, item.origin);
      return false;
    }
    p.sense = area < 0 ? -1 : 1;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i + 1; j < n; ++j) {
        const auto &a = p.values[i], &b = p.values[(i + 1) % n], &c = p.values[j], &d = p.values[(j + 1) % n];
        const bool neighbours = j == i + 1 || (i == 0 && j == n - 1);
        const bool crosses = !neighbours && cross(a, b, c) * cross(a, b, d) <= 0 &&
                             cross(c, d, a) * cross(c, d, b) <= 0 &&
                             !(cross(a, b, c) == 0 && cross(a, b, d) == 0 && !overlap(a, b, c, d));
        if (a == b || crosses) {
          findings_.add(path,
                        a == b ? fmt::format("corners {} and {} are the same", i + 1, (i + 1) % n + 1)
                               : fmt::format("side {} crosses or touches side {}", i + 1, j + 1),
                        "list each corner once, in order around the outline", item.origin);
          return false;
        }
      }
    return true;
  }
  // Of two sides on one line.
  static bool overlap(const std::array<double, 2>& a, const std::array<double, 2>& b,
                      const std::array<double, 2>& c, const std::array<double, 2>& d) {
    const std::size_t k = std::abs(b[0] - a[0]) > std::abs(b[1] - a[1]) ? 0 : 1;
    return std::max(std::min(a[k], b[k]), std::min(c[k], d[k])) <=
           std::min(std::max(a[k], b[k]), std::max(c[k], d[k]));
  }

  std::optional<TermSolid> read_mesh_shape(Visual& visual) {
    const Item* file = shape_->find("file");
    if (file == nullptr) return {};
    if (!file->is(JsonType::String)) {
      findings_.expected(path_ + ".file", "the name of a file", *file);
      return {};
    }
    Term3 scale = {1, 1, 1};
    if (const Item* given = shape_->find("scale")) {
      if (given->is(JsonType::Array)) {
        const auto three = positive_vector("scale");
        if (!three) return {};
        scale = *three;
      } else {
        const auto one = positive("scale");
        if (!one) return {};
        scale = {*one, *one, *one};
      }
    }
    std::filesystem::path path = file->text;
    if (path.is_relative()) path = std::filesystem::path(origins_->file(file->origin)).parent_path() / path;
    if (const std::string outside = outside_of_model(path, origins_->file(1)); !outside.empty()) {
      findings_.add(path_ + ".file", fmt::format("'{}': {}", excerpt(file->text, 200), outside),
                    kAllowOutside, file->origin);
      return {};
    }
    visual.mesh = path.string();
    visual.size = {scope_.value(scale[0]), scope_.value(scale[1]), scope_.value(scale[2])};
    try {
      const TriangleMesh mesh = read_mesh(visual.mesh);
      if (!with_mass_) return TermSolid{};
      return scaled(solid_of(mesh, visual.mesh), scale);
    } catch (const InputError& error) {
      for (const Diagnostic& d : error.diagnostics())
        findings_.add(
            path_ + ".file",
            fmt::format("{}{}: {}", d.file, d.line > 0 ? fmt::format(":{}", d.line) : "", d.message), d.hint,
            file->origin);
      return {};
    }
  }

  void place(Visual visual, const Term3& at, const TermMatrix& rotation) {
    Mat3 R;
    Vec3 p;
    for (std::size_t i = 0; i < 3; ++i) {
      p[static_cast<Eigen::Index>(i)] = scope_.value(at[i]);
      for (std::size_t j = 0; j < 3; ++j)
        R(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = scope_.value(rotation[i][j]);
    }
    const Vec3 inner(visual.position[0], visual.position[1], visual.position[2]);
    const Eigen::Quaterniond q =
        Eigen::Quaterniond(R) * Eigen::Quaterniond(visual.orientation[0], visual.orientation[1],
                                                   visual.orientation[2], visual.orientation[3]);
    const Vec3 out = p + R * inner;
    visual.position = {out[0], out[1], out[2]};
    visual.orientation = {q.w(), q.x(), q.y(), q.z()};
    for (const double x : {out[0], out[1], out[2], q.w(), visual.size[0], visual.size[1], visual.size[2]})
      if (!std::isfinite(x))
        return findings_.add(path_, "its position is not finite", scope_.hint_of(x), shape_->origin);
    visuals_.push_back(std::move(visual));
  }

  Item& root_;
  Scope& scope_;
  Findings& findings_;
  const Origins* origins_ = nullptr;
  std::vector<Visual> visuals_;
  std::string body_;
  std::optional<Term> density_;  // of the body
  std::vector<Lump> lumps_;      // of its shapes
  bool failed_ = false;
  const Item* shape_ = nullptr;  // the one being read
  std::string path_;
  bool with_mass_ = false;
};

}  // namespace

const std::vector<Kind>& shape_kinds() {
  static const std::vector<Kind> list = [] {
    const Field radius = length_field("radius", "Radius."),
                length = length_field("length", "Length along z.");
    Field polygon = {.name = "polygon",
                     .type = FieldType::Path,
                     .unit = "m",
                     .summary = "Corners of the outline, in order, [[x, y], ...].",
                     .required = true};
    Field file = {
        .name = "file",
        .type = FieldType::Text,
        .unit = "",
        .summary =
            "STL, OBJ, glTF or Collada file (.stl, .obj, .gltf, .glb, .dae), relative to the model file.",
        .required = true};
    Field scale = {
        .name = "scale",
        .type = FieldType::Number,
        .unit = "",
        .summary =
            "Factor of all coordinates of the file, or one factor for each axis; 0.001 for millimetres.",
        .defaults = {1},
        .range = Range::Positive};
    std::vector<Kind> out;
    out.push_back(
        shape_kind("box", "Box about its origin.",
                   {vector_field("size", "Lengths of the edges along x, y and z.", Range::Positive)}));
    out.push_back(shape_kind("sphere", "Sphere about its origin.", {radius}));
    out.push_back(shape_kind("cylinder", "Cylinder along z, its middle at the origin.", {radius, length}));
    out.push_back(
        shape_kind("capsule", "Cylinder along z with half spheres at its ends, its middle at the origin.",
                   {radius, length_field("length", "Length of the cylinder, without the half spheres.")}));
    out.push_back(
        shape_kind("cone", "Cone along z: the base at -length/2, the tip at length/2.", {radius, length}));
    out.push_back(shape_kind("rod", "Cylinder from one point to another.",
                             {vector_field("from", "Where its axis begins.", Range::Any),
                              vector_field("to", "Where its axis ends.", Range::Any), radius}));
    out.push_back(shape_kind("tube", "Hollow cylinder along z, its middle at the origin.",
                             {radius, length_field("inner", "Inner radius."), length}));
    out.push_back(shape_kind("ellipsoid", "Ellipsoid about its origin.",
                             {vector_field("radii", "Half axes along x, y and z.", Range::Positive)}));
    out.push_back(shape_kind("extrusion",
                             "Prism along z over a polygon in the x-y plane, from -length/2 to length/2.",
                             {polygon, length}));
    out.push_back(shape_kind("mesh", "Closed surface of triangles from a file.", {file, scale}));
    return out;
  }();
  return list;
}

std::vector<Visual> expand_shapes(Item& root, Scope& scope) {
  return ShapeReader(root, scope).read(scope.findings().origins());
}

TriangleMesh mesh_of(const Visual& visual) {
  if (visual.shape != "extrusion") {
    TriangleMesh mesh = read_mesh(visual.mesh);
    for (auto& vertex : mesh.vertices)
      for (std::size_t k = 0; k < 3; ++k) vertex[k] *= visual.size[k];
    return mesh;
  }
  const JsonDocument document = JsonDocument::parse(visual.mesh, "");
  std::vector<std::array<double, 2>> polygon;
  for (const JsonValue corner : document.root()) {
    std::array<double, 2> xy{};
    std::size_t i = 0;
    for (const JsonValue x : corner) xy[i++] = x.number();
    polygon.push_back(xy);
  }
  return extruded(polygon, visual.size[2]);
}

}  // namespace liedyn
