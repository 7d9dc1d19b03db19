#include "liedyn/io/write_model.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "liedyn/base/error.h"
#include "liedyn/io/mesh_file.h"
#include "liedyn/io/model_format.h"
#include "liedyn/model/sensors/events.h"

namespace liedyn {
namespace {

using Json = nlohmann::ordered_json;

class ModelWriter {
 public:
  explicit ModelWriter(const Description& d) : d_(d) {
    for (const auto* list : {&d.expressions, &d.signals})
      for (const NumberExpression& e : *list) expressions_.emplace(e.number, e.text);
  }

  Json write() const {
    Json out = {{"liedyn", kFormatVersion}, {"name", d_.name}};
    for (std::size_t i = 0; i < d_.parameter_names.size(); ++i)
      out["parameters"][d_.parameter_names[i]] = number(static_cast<int>(i));
    out["gravity"] = numbers(d_.gravity(), 3);
    for (const Section section : kSections)
      for (const Entry& entry : d_.entries(section))
        if (was_typed(section, entry)) out[key_of(section, entry)][entry.name] = of(entry);
    for (const Visual& visual : d_.visuals)
      if (const std::optional<Json> one = shape(visual)) out["bodies"][visual.body]["shapes"].push_back(*one);
    const SimulationSettings& s = d_.simulation;
    out["simulation"] = {{"start", s.start},
                         {"end", s.end},
                         {"step", s.step},
                         {"integrator", s.integrator},
                         {"formulation", s.formulation},
                         {"initial", s.initial},
                         {"output_every", s.output_every}};
    return out;
  }

 private:
  // Nodes of beams, frames and modes of flexible bodies, states of forces ("motor.current"), and joints of bodies that ride follow from other entries.
  bool was_typed(Section section, const Entry& entry) const {
    if (section == Section::Bodies) return !entry.is_part();
    if (section == Section::States) {
      const std::string_view owner = std::string_view(entry.name).substr(0, entry.name.rfind('.'));
      return owner == entry.name || std::ranges::find(d_.entries(Section::Forces), owner, &Entry::name) ==
                                        d_.entries(Section::Forces).end();
    }
    return !(section == Section::Joints && entry.rides);
  }

  static std::string key_of(Section section, const Entry& entry) {
    return section == Section::Sensors && acts(*entry.kind) ? "events" : std::string(section_name(section));
  }

  Json number(int i) const {
    if (const auto found = expressions_.find(i); found != expressions_.end()) return found->second;
    const double value = d_.parameters[static_cast<std::size_t>(i)];
    constexpr double kLargest = 1e15;
    const bool whole =
        value == std::floor(value) && std::abs(value) < kLargest && !(value == 0 && std::signbit(value));
    return whole ? Json(static_cast<std::int64_t>(value)) : Json(value);
  }
  Json numbers(int first, int count) const {
    Json out = Json::array();
    for (int i = 0; i < count; ++i) out.push_back(number(first + i));
    return out;
  }
  Json rows(int first, int count, int columns) const {
    Json out = Json::array();
    for (int row = 0; row < count; ++row) out.push_back(numbers(first + row * columns, columns));
    return out;
  }
  const std::string& word(int i) const { return d_.words[static_cast<std::size_t>(i)]; }

  Json of(const Entry& entry) const {
    Json out = {{"type", entry.kind->type}};
    for (std::size_t i = 0; i < entry.fields.size(); ++i) {
      if (!entry.fields[i].given) continue;
      const Field& field = entry.kind->fields[i];
      if (!entry.fields[i].consistent)
        out[field.name] = of(field, entry.fields[i]);
      else if (entry.fields[i].first < 0)
        out[field.name] = "consistent";
      else
        out[field.name] = {{"consistent", of(field, entry.fields[i])}};
    }
    return out;
  }

  Json of(const Field& field, const FieldValue& value) const {
    const int first = value.first, count = value.count;
    if (value.in_bodies) {
      const int each = field.type == FieldType::PlaneVector ? 2 : 3;
      Json out = Json::object();
      for (int i = 0; i < count / each; ++i) out[word(value.word + i)] = numbers(first + i * each, each);
      return out;
    }
    switch (field.type) {
      case FieldType::Number: return number(first);
      case FieldType::Integer: return value.integer();
      case FieldType::Vector:
      case FieldType::PlaneVector:
      case FieldType::Inertia: return numbers(first, count);
      case FieldType::Points: return rows(first, 2, 3);
      case FieldType::Path: return count == 3 ? numbers(first, 3) : rows(first, count / 3, 3);
      case FieldType::Matrix6: return rows(first, 6, 6);
      case FieldType::Rotation: return rotation(first, value.form);
      case FieldType::Bodies:
      case FieldType::Joints: return {word(value.word), word(value.word + 1)};
      case FieldType::Choices: {
        Json out = Json::array();
        for (int i = 0; i < count; ++i) out.push_back(word(value.word + i));
        return out;
      }
      case FieldType::Choice:
      case FieldType::Text:
      case FieldType::Body:
      case FieldType::Joint:
      case FieldType::State:
      case FieldType::Beam:
      case FieldType::Flexible:
      case FieldType::Force: return word(value.word);
    }
    return {};
  }

  // As in io/expand/shapes.h, without mass: it is only drawn. Nothing of hidden ones, of bodies that have no entry, and of meshes that cannot be read again.
  std::optional<Json> shape(const Visual& v) const {
    const auto& bodies = d_.entries(Section::Bodies);
    const bool has_entry = v.body == "ground" || std::ranges::any_of(bodies, [&](const Entry& entry) {
                             return entry.name == v.body && was_typed(Section::Bodies, entry);
                           });
    if (!has_entry || v.color[3] == 0) return std::nullopt;
    const auto& [a, b, c] = v.size;
    Json out = {{"type", v.shape}};
    if (v.shape == "box") {
      out["size"] = v.size;
    } else if (v.shape == "ellipsoid") {
      out["radii"] = v.size;
    } else if (v.shape == "extrusion") {
      out["polygon"] = Json::parse(v.mesh);
      out["length"] = c;
    } else if (v.shape == "mesh") {
      try {
        read_mesh(v.mesh);
      } catch (const InputError&) {
        return std::nullopt;
      }
      out["file"] = std::filesystem::absolute(v.mesh).lexically_normal().string();
      out["scale"] = v.size;
    } else {
      out["radius"] = a;
      if (v.shape == "tube") out["inner"] = b;
      if (v.shape != "sphere") out["length"] = c;
    }
    if (v.position != Visual().position) out["at"] = v.position;
    if (v.orientation != Visual().orientation) out["rotation"] = {{"quaternion", v.orientation}};
    const auto byte = [](double x) { return std::lround(255 * std::clamp(x, 0.0, 1.0)); };
    if (v.color != Visual().color)
      out["color"] = fmt::format("#{:02x}{:02x}{:02x}", byte(v.color[0]), byte(v.color[1]), byte(v.color[2]));
    return out;
  }

  Json rotation(int first, RotationForm form) const {
    const std::string name(kRotationNames[static_cast<int>(form)]);
    if (form == RotationForm::Matrix) return {{name, rows(first, 3, 3)}};
    if (form == RotationForm::AxisAngle) return {{name, numbers(first, 3)}, {"angle", number(first + 3)}};
    return {{name, numbers(first, kRotationValues[static_cast<int>(form)])}};
  }

  const Description& d_;
  std::unordered_map<int, std::string> expressions_;  // by number
};

}  // namespace

std::string model_text(const Description& description) { return ModelWriter(description).write().dump(2); }

}  // namespace liedyn
