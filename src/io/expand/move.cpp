#include "liedyn/io/expand/move.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "liedyn/base/suggest.h"
#include "liedyn/io/model_format.h"

namespace liedyn {
namespace {

class Mover {
 public:
  Mover(const PartPose& pose, Findings& findings, std::string name)
      : pose_(pose), findings_(findings), name_(std::move(name)) {}

  void apply(Item& root) {
    model_.emplace(root);
    for (const Section section : kSections)
      if (Item* entries = root.find(section_name(section));
          entries != nullptr && entries->is(JsonType::Object))
        for (Item& entry : entries->items) {
          path_ = fmt::format("{}.{}", section_name(section), excerpt(entry.key, 80));
          if (section == Section::Bodies && entry.key == "ground") {
            move_ground(entry);
            continue;
          }
          if (const Kind* kind = kind_of(section, entry))
            for (const Field& field : kind->fields) move_field(section, *kind, field, entry);
        }
  }

 private:
  void refuse(const Field& field, int origin, std::string_view why, std::string hint = {}) {
    findings_.add(fmt::format("{}.{}", path_, field.name),
                  fmt::format("the sub-model '{}' is moved, but {}", name_, why), std::move(hint), origin);
  }

  void move_field(Section section, const Kind& kind, const Field& field, Item& entry) {
    const PoseRole role = model_->role(section, kind, field, entry);
    if (role == PoseRole::Fixed) return;
    Item* value = entry.find(field.name);
    const Item* host = section == Section::Bodies ? entry.find("on") : nullptr;
    const bool rides = host != nullptr && host->text != "ground";
    if (value == nullptr && section == Section::Sensors) {
      if (role == PoseRole::Point) add_reference(kind, field, entry);
      return;
    }
    if (value == nullptr) {
      // Defaults are places too, but for bodies that follow another one.
      if (field.defaults.empty() || rides) {
        if ((section == Section::Beams || section == Section::Flexible) && field.name == "y_axis" &&
            pose_.turns)
          refuse(field, entry.origin, "the default value of this direction depends on the inertial axes",
                 "give it");
        return;
      }
      add_default(role, field, entry);
      return;
    }
    if (role == PoseRole::Unknown)
      return refuse(field, value->origin, "it is unknown whether this field moves with it",
                    "give the position in the sub-model itself");
    if (value->is(JsonType::String) && role != PoseRole::Angle)
      return;  // "consistent", or the name of a frame
    if (value->is(JsonType::Object) && value->items.size() == 1 && value->items[0].key == "consistent")
      value = &value->items[0];
    move(role, field, *value);
  }

  void add_default(PoseRole role, const Field& field, Item& entry) {
    const int origin = entry.origin;
    if (role == PoseRole::Point && is_plane(field)) {
      if (!check_plane(field, origin)) return;
      Item item = item_of(pose_.p, origin);
      item.items.pop_back();
      entry.set(field.name, std::move(item));
    } else if (role == PoseRole::Point) {
      entry.set(field.name, item_of(pose_.p, origin));
    } else if (role == PoseRole::Orientation && pose_.turns) {
      entry.set(field.name, rotation_item(pose_.R, origin));
    } else if (role == PoseRole::Angle && pose_.turns && check_plane(field, origin)) {
      entry.set(field.name, item_of(*pose_.angle, origin));
    }
  }

  // The reference point of the ground is the origin, which moves: where a sensor gives no points, this one must be said.
  void add_reference(const Kind& kind, const Field& field, Item& entry) {
    for (const Field& named : kind.fields) {
      const Item* bodies = entry.find(named.name);
      if (bodies == nullptr || (named.type != FieldType::Body && named.type != FieldType::Bodies)) continue;
      std::vector<std::string> names{bodies->text};
      if (named.type == FieldType::Bodies) {
        names.clear();
        for (const Item& name : bodies->items) names.push_back(name.text);
      }
      if (std::find(names.begin(), names.end(), "ground") == names.end()) continue;
      // Beside a frame the reference point of the ground would have to be given.
      for (const std::string& name : names)
        if (model_->is_frame(name)) return;
      Item points = Item::object(entry.origin);
      for (const std::string& name : names)
        points.set(name, item_of(name == "ground" ? pose_.p : Term3{}, entry.origin));
      entry.set(field.name, std::move(points));
      return;
    }
  }

  static bool is_plane(const Field& field) {
    return field.type == FieldType::PlaneVector || pose_role(field) == PoseRole::Angle;
  }
  bool check_plane(const Field& field, int origin) {
    if (pose_.in_plane()) return true;
    refuse(field, origin, "elements in the plane can only be moved in the plane",
           "give \"at\": [x, y, 0] and a rotation about [0, 0, 1]");
    return false;
  }

  void move(PoseRole role, const Field& field, Item& value) {
    if (is_plane(field) && !check_plane(field, value.origin)) return;
    if (role == PoseRole::Angle) {
      if (!pose_.turns || is_blank(value) || (value.is(JsonType::String) && value.text == "consistent"))
        return;
      if (const auto a = term_of(value)) replace(value, item_of(*a + *pose_.angle, value.origin));
      return;
    }
    if (role == PoseRole::Orientation) return turn_orientation(field, value);
    if (value.is(JsonType::Object)) {  // in the axes of bodies, of which the ground is moved
      for (Item& components : value.items)
        if (components.key == "ground")
          move_vector(role, field, components);
        else if (model_->axes_stand_still(components.key))
          move_vector(PoseRole::Direction, field, components);
      return;
    }
    if (field.type == FieldType::Points ||
        (value.is(JsonType::Array) && !value.items.empty() && value.items[0].is(JsonType::Array))) {
      for (Item& point : value.items)
        if (!point.is(JsonType::String)) move_vector(role, field, point);
      return;
    }
    move_vector(role, field, value);
  }

  static void replace(Item& value, Item by) {
    by.key = value.key;
    value = std::move(by);
  }

  static bool is_blank(const Item& item) {
    return item.is(JsonType::String) && item.text.find_first_not_of(" \t\r\n") == std::string::npos;
  }
  static std::optional<Term> term_of(const Item& item) {
    if (item.is(JsonType::Number)) return Term(item.number);
    if (item.is(JsonType::String)) return Term::expression(item.text);
    return {};
  }

  // What is not made of numbers and expressions is left to the reader, or refused if it would have to turn.
  void move_vector(PoseRole role, const Field& field, Item& value) {
    if (role == PoseRole::Direction && !pose_.turns) return;
    const std::size_t count = is_plane(field) ? 2 : 3;
    if (!value.is(JsonType::Array) || value.items.size() != count) return;
    Term3 v;
    for (std::size_t i = 0; i < count; ++i) {
      if (is_blank(value.items[i])) return;  // the reader complains
      const auto x = term_of(value.items[i]);
      if (!x)
        return refuse(field, value.origin, "this function of time cannot be rotated",
                      "write it as an expression of t");
      v[i] = *x;
    }
    if (pose_.turns) v = pose_.R * v;
    if (role == PoseRole::Point) v = pose_.p + v;
    for (std::size_t i = 0; i < count; ++i) replace(value.items[i], item_of(v[i], value.items[i].origin));
  }

  void turn_orientation(const Field& field, Item& value) {
    if (!pose_.turns) return;
    Findings reasons(findings_.origins());
    const std::optional<TermMatrix> R = rotation_of(value, reasons);
    if (!R) {
      const Diagnostic& reason = reasons.list().front();
      return refuse(field, value.origin, fmt::format("this rotation cannot be rotated: {}", reason.message),
                    reason.hint);
    }
    replace(value, rotation_item(pose_.R * *R, value.origin));
  }

  // Names in the sub-model are not checked here: the reader does.
  static std::optional<TermMatrix> rotation_of(const Item& value, Findings& reasons) {
    std::vector<Assignment> none;
    Item names = Item::object(0), parameters = Item::object(0);
    collect_names(value, parameters);
    names.set("parameters", std::move(parameters));
    return Scope(names, none, reasons).rotation(value, "");
  }
  static void collect_names(const Item& item, Item& parameters) {
    if (item.is(JsonType::String))
      renamed(item.text, [&](std::string_view name, bool called) {
        if (!is_one_of(name, {"pi", "deg"}) && !is_built_in_function(name) &&
            !(called && is_expression_function(name)))
          parameters.set(name, Item::of_number(1, 0));
        return std::string(name);
      });
    for (const Item& child : item.items) collect_names(child, parameters);
  }

  // Shapes and frames of the ground stand in inertial axes.
  void move_ground(Item& ground) {
    std::vector<Item*> placed;
    if (Item* shape = ground.find("shape")) placed.push_back(shape);
    for (const char* list : {"shapes", "frames"})
      if (Item* items = ground.find(list))
        for (Item& item : items->items) placed.push_back(&item);
    const Field at{.name = "at", .type = FieldType::Vector, .unit = "m", .summary = ""};
    const Field rotation{.name = "rotation", .type = FieldType::Rotation, .unit = "rad", .summary = ""};
    for (Item* item : placed) {
      if (!item->is(JsonType::Object)) continue;
      if (Item* value = item->find("at")) {
        // In the plane two components suffice.
        if (value->is(JsonType::Array) && value->items.size() == 2)
          value->items.push_back(Item::of_number(0, value->origin));
        move_vector(PoseRole::Point, at, *value);
      } else
        item->set("at", item_of(pose_.p, item->origin));
      if (Item* value = item->find("rotation"))
        turn_orientation(rotation, *value);
      else if (pose_.turns)
        item->set("rotation", rotation_item(pose_.R, item->origin));
    }
  }

  const PartPose& pose_;
  Findings& findings_;
  std::string name_, path_;
  std::optional<MovedModel> model_;
};

}  // namespace

void move_places(Item& sub_model, const std::string& name, const PartPose& pose, Findings& findings) {
  Mover(pose, findings, name).apply(sub_model);
}

}  // namespace liedyn
