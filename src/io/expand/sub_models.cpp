#include "liedyn/io/expand/sub_models.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "liedyn/base/paths.h"
#include "liedyn/base/suggest.h"
#include "liedyn/io/expand/pose.h"
#include "liedyn/io/expand/repeat.h"
#include "liedyn/io/model_format.h"
#include "liedyn/model/sensors/events.h"

namespace liedyn {
namespace {

constexpr int kDeepestPart = 20;
constexpr std::size_t kMostPartValues = 100'000'000;

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// ---- names

// Puts the name of a sub-model before all names in it. Sensors that its expressions name become what they are in its own axes.
class Prefixer {
 public:
  Prefixer(std::string prefix, std::filesystem::path directory, const PartPose& pose, Findings& findings)
      : prefix_(std::move(prefix)), directory_(std::move(directory)), pose_(pose), findings_(findings) {}

  void apply(Item& root) {
    if (pose_.moves()) {
      alone_ = root;
      model_.emplace(alone_);
      collect_sensors();
    }
    if (const Item* tables = root.find("tables"))
      for (const Item& table : tables->items) tables_.emplace(table.key);
    if (Item* parameters = root.find("parameters"))
      for (Item& parameter : parameters->items)
        parameter.key = prefixed(parameter.key), rename_expressions(parameter);
    if (Item* tables = root.find("tables"))
      for (Item& table : tables->items) {
        table.key = prefixed(table.key);
        if (Item* file = table.find("file")) move_file(*file);
      }
    for (const Section section : kSections)
      if (Item* entries = root.find(section_name(section));
          entries != nullptr && entries->is(JsonType::Object))
        for (Item& entry : entries->items) {
          const bool ground = section == Section::Bodies && entry.key == "ground";
          if (!ground) entry.key = prefixed(entry.key);
          const Kind* kind = kind_of(section, entry);
          for (Item& value : entry.items) {
            group_ = section_name(section), entry_ = &entry, value_ = &value;
            const int field = kind != nullptr ? kind->field(value.key) : -1;
            if (value.key == "type") continue;
            if (section == Section::Sensors && kind != nullptr && acts(*kind))
              rename_event(value);
            else if (field >= 0)
              rename_field(section, kind->fields[static_cast<std::size_t>(field)], value);
            else if (section == Section::Bodies)
              rename_shapes(value, ground);
          }
        }
    if (Item* events = root.find("events"); events != nullptr && events->is(JsonType::Object))
      for (Item& event : events->items) {
        event.key = prefixed(event.key);
        for (Item& value : event.items) {
          group_ = "events", entry_ = &event, value_ = &value;
          rename_event(value);
        }
      }
  }

 private:
  std::string path() const {
    return fmt::format("{}.{}.{}", group_, excerpt(entry_->key, 80), excerpt(value_->key));
  }

  struct ShownSensor {
    ShownRole role;
    std::string type;
  };
  // Those that show something else than they would if the model stood alone.
  void collect_sensors() {
    const Item* sensors = alone_.find(section_name(Section::Sensors));
    if (sensors == nullptr) return;
    for (const Item& sensor : sensors->items)
      if (const Kind* kind = kind_of(Section::Sensors, sensor))
        if (const ShownRole role = model_->shown(*kind, sensor); changes(pose_, role))
          sensors_.emplace(sensor.key, ShownSensor{role, kind->type});
  }

  // A name of an expression with its index.
  std::string seen(std::string_view name, std::string_view index, const Item& item) const {
    const std::string whole = body(std::string(name));
    const auto found = sensors_.find(name);
    const std::optional<int> own = component(index);
    const bool is_vector = found != sensors_.end() && (found->second.role == ShownRole::Point ||
                                                       found->second.role == ShownRole::Direction);
    // What is no component of it the reader reports.
    if (found == sensors_.end() || (is_vector && !own)) return whole + std::string(index);
    if (const auto term = in_own_axes(pose_, found->second.role, whole, own.value_or(0)))
      return fmt::format("({})", term->text());
    refuse_sensor(whole, found->second, item.origin);
    return whole + std::string(index);
  }
  // "[2]"
  static std::optional<int> component(std::string_view index) {
    if (index.size() != 3 || index[1] < '0' || index[1] > '2') return {};
    return index[1] - '0';
  }

  void refuse_sensor(const std::string& name, const ShownSensor& sensor, int origin) const {
    if (sensor.role == ShownRole::Unknown)
      return findings_.add(path(),
                           fmt::format("the sub-model '{}' is moved, but it is unknown in which axes the "
                                       "sensor '{}' of type {} is, which this expression names",
                                       prefix_, excerpt(name, 80), sensor.type),
                           "name sensors of other types", origin);
    findings_.add(
        path(),
        fmt::format("the sub-model '{}' is turned, but '{}' of type {}, which this expression names, cannot "
                    "be shown in its axes",
                    prefix_, excerpt(name, 80), sensor.type),
        sensor.role == ShownRole::Multipliers
            ? "name a reaction_force or reaction_torque"
            : "name a joint_angle, the relative_rotation of two bodies of the sub-model, or the difference "
              "of the positions of two points, which is a direction of their body",
        origin);
  }

  std::string prefixed(std::string_view name) const { return fmt::format("{}.{}", prefix_, name); }
  // The ground is the same for all; its frames belong to the sub-model.
  std::string body(const std::string& name) const {
    if (name == "ground") return name;
    return name.starts_with("ground.") ? "ground." + prefixed(name.substr(7)) : prefixed(name);
  }

  void rename_expressions(Item& item) const {
    if (item.outer) {
      item.outer = false;
      return;
    }
    if (item.is(JsonType::String))
      item.text = renamed(item.text, [&](std::string_view name, bool called, std::string_view index) {
        if (is_one_of(name, {"t", "pi", "deg"}) || is_built_in_function(name))
          return std::string(name) + std::string(index);
        // Functions of the program have their names everywhere; a table of the sub-model goes before.
        if (called && !tables_.contains(name) && is_expression_function(name)) return std::string(name);
        return seen(name, index, item);
      });
    for (Item& child : item.items) rename_expressions(child);
  }

  // A value of an event or of a sample: "u = 3; sensors.speed[2] = -0.8*speed[2]" and the like.
  void rename_event(Item& value) const {
    if (is_one_of(value.key, {"type", "direction", "action"})) return;
    if (!is_one_of(value.key, {"set", "into"}) || value.outer || !value.is(JsonType::String))
      return rename_expressions(value);
    std::string out;
    for (std::size_t begin = 0; begin <= value.text.size();) {
      const std::size_t end = std::min(value.text.find(';', begin), value.text.size());
      const std::string one = value.text.substr(begin, end - begin);
      const std::size_t equals = std::min(one.find('='), one.size());
      Item expression = value;
      expression.text = one.substr(equals);
      rename_expressions(expression);
      out += (begin > 0 ? ";" : "") + target(one.substr(0, equals), value) + expression.text;
      begin = end + 1;
    }
    value.text = out;
  }
  // "forces.motor.torque", "sensors.speed[2]" or "u", with the blanks around it.
  std::string target(const std::string& text, const Item& event) const {
    const std::size_t begin = text.find_first_not_of(" \t\n\r");
    if (begin == std::string::npos) return text;
    if (text.compare(begin, 7, "gravity") == 0) return turned_target(text, pose_.turns, event);
    const std::size_t dot = std::min(text.find('.', begin), text.size());
    const std::string group = text.substr(begin, dot - begin);
    const bool is_group =
        group == "parameters" || std::any_of(std::begin(kSections), std::end(kSections),
                                             [&](Section s) { return group == section_name(s); });
    const std::size_t name = is_group && dot < text.size() ? dot + 1 : begin;
    const std::string out = text.substr(0, name) + body(text.substr(name));
    return turned_target(out, is_group && moves(group, text.substr(name)), event);
  }
  // Whether what an event sets, "speed[2]" of the sensors, is another number in the whole.
  bool moves(const std::string& group, std::string_view name) const {
    const Item* entries = alone_.find(group);
    if (!model_ || entries == nullptr) return false;
    if (group == section_name(Section::Sensors))
      return sensors_.contains(name.substr(0, name.find_first_of("[ \t\n\r")));
    for (const Section section : kSections)
      for (const Item& entry : entries->items) {
        if (group != section_name(section) || !name.starts_with(entry.key + ".")) continue;
        const Kind* kind = kind_of(section, entry);
        if (kind == nullptr) continue;
        std::string_view rest = name.substr(entry.key.size() + 1);
        const int field = kind->field(rest.substr(0, rest.find_first_of(".[ \t\n\r")));
        if (field < 0) continue;
        const PoseRole role =
            model_->role(section, *kind, kind->fields[static_cast<std::size_t>(field)], entry);
        rest.remove_prefix(kind->fields[static_cast<std::size_t>(field)].name.size());
        // In the axes of a body: "points.arm[0]".
        const bool in_body = role != PoseRole::Orientation && rest.starts_with(".") &&
                             !model_->axes_stand_still(rest.substr(1, rest.find('[') - 1));
        if (role == PoseRole::Fixed || in_body) return false;
        return role == PoseRole::Point ? pose_.moves() : pose_.turns;
      }
    return false;
  }
  // A component that is one of the axes of the whole as well can be set there; places cannot.
  std::string turned_target(const std::string& text, bool moves, const Item& event) const {
    if (!moves) return text;
    const std::size_t index = text.find('[');
    const std::optional<int> own =
        index == std::string::npos ? std::nullopt : component(std::string_view(text).substr(index, 3));
    const bool still = pose_.p[0].is(0) && pose_.p[1].is(0) && pose_.p[2].is(0);
    const bool free = still || text.find("sensors.") != std::string::npos;
    if (const auto same = own && free ? pose_.same_component(*own) : std::nullopt)
      return text.substr(0, index + 1) + std::to_string(*same) + text.substr(index + 2);
    findings_.add(path(),
                  fmt::format("the sub-model '{}' is moved, and '{}' is not in its axes: it cannot be set",
                              prefix_, excerpt(text, 80)),
                  "set a parameter that the sub-model's expressions use, the rate of a joint, or write the "
                  "event in the model around",
                  event.origin);
    return text;
  }

  void rename_word(Item& item, bool is_body) const {
    if (item.outer)
      item.outer = false;
    else if (item.is(JsonType::String))
      item.text = is_body ? body(item.text) : prefixed(item.text);
    for (Item& child : item.items) rename_word(child, is_body);
  }

  void rename_field(Section section, const Field& field, Item& value) const {
    switch (field.type) {
      case FieldType::Body:
      case FieldType::Bodies: return rename_word(value, true);
      case FieldType::Joint:
      case FieldType::Joints:
      case FieldType::State:
      case FieldType::Beam:
      case FieldType::Force:
      case FieldType::Flexible: return rename_word(value, false);
      case FieldType::Choice:
      case FieldType::Choices:
      case FieldType::Integer: return;
      case FieldType::Text:
        if (field.holds_expression) return rename_expressions(value);
        // Flexible bodies name files; other texts are for readers.
        if (section == Section::Flexible && field.required) move_file(value);
        return;
      default: break;
    }
    if (value.is(JsonType::String) && value.text == "consistent") return;
    Item* inner = value.is(JsonType::Object) && value.items.size() == 1 && value.items[0].key == "consistent"
                      ? &value.items[0]
                      : &value;
    if (field.body_axes != BodyAxes::None && inner->is(JsonType::Object))
      for (Item& components : inner->items) components.key = body(components.key);
    // A function of time from a file.
    if (Item* table = inner->find("table"); table != nullptr && table->is(JsonType::String)) {
      move_file(*table);
      return;
    }
    // Names of frames stand where arrays of numbers do.
    const bool vector = field.type == FieldType::Vector || field.type == FieldType::PlaneVector ||
                        field.type == FieldType::Points;
    if (vector && inner->is(JsonType::String)) return rename_word(*inner, true);
    if (field.type == FieldType::Points)
      for (Item& point : inner->items)
        if (point.is(JsonType::String)) return rename_word(*inner, true);
    rename_expressions(*inner);
  }

  // Shapes, frames and densities of bodies: all their strings are expressions but these.
  void rename_shapes(Item& item, bool ground) const {
    if (is_one_of(item.key, {"type", "color", "file"})) return;
    if (item.key == "frames" && ground)
      for (Item& frame : item.items) frame.key = prefixed(frame.key);
    if (item.is(JsonType::String)) return rename_expressions(item);
    for (Item& child : item.items) rename_shapes(child, false);
  }

  void move_file(Item& file) const {
    if (file.outer) {
      file.outer = false;
      return;
    }
    if (!file.is(JsonType::String) || directory_.empty() || std::filesystem::path(file.text).is_absolute())
      return;
    file.text = (directory_ / file.text).string();
  }

  std::string prefix_;
  std::filesystem::path directory_;  // of the sub-model, from that of the model around it
  const PartPose& pose_;
  Findings& findings_;
  Item alone_;  // the sub-model as it was, if it moves
  std::optional<MovedModel> model_;
  std::map<std::string, ShownSensor, std::less<>> sensors_;
  std::set<std::string, std::less<>> tables_;
  std::string_view group_;  // what is being renamed
  const Item *entry_ = nullptr, *value_ = nullptr;
};

// ---- places

// Moves what a model gives in inertial axes.
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
        if (section == Section::Beams && field.name == "y_axis" && pose_.turns)
          refuse(field, entry.origin, "the default of this direction depends on the inertial axes",
                 "give it");
        return;
      }
      add_default(role, field, entry);
      return;
    }
    if (role == PoseRole::Unknown)
      return refuse(field, value->origin, "it is unknown whether this field moves with it",
                    "give the place in the sub-model itself");
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
    return field.type == FieldType::PlaneVector || pose_role(Section::Bodies, field) == PoseRole::Angle;
  }
  bool check_plane(const Field& field, int origin) {
    if (pose_.in_plane()) return true;
    refuse(field, origin, "what is in the plane can only move in the plane",
           "give \"at\": [x, y, 0] and a rotation about [0, 0, 1]");
    return false;
  }

  void move(PoseRole role, const Field& field, Item& value) {
    if (is_plane(field) && !check_plane(field, value.origin)) return;
    if (role == PoseRole::Angle) {
      if (!pose_.turns || (value.is(JsonType::String) && value.text == "consistent")) return;
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
      const auto x = term_of(value.items[i]);
      if (!x)
        return refuse(field, value.origin, "this function of time cannot be turned",
                      "write it as an expression of t");
      v[i] = *x;
    }
    if (pose_.turns) v = pose_.R * v;
    if (role == PoseRole::Point) v = pose_.p + v;
    for (std::size_t i = 0; i < count; ++i) replace(value.items[i], item_of(v[i], value.items[i].origin));
  }

  void turn_orientation(const Field& field, Item& value) {
    if (!pose_.turns) return;
    const std::optional<TermMatrix> R = rotation_of(value);
    if (!R)
      return refuse(field, value.origin, "this rotation cannot be turned",
                    "give {\"axis\": [...], \"angle\": a} with a constant axis");
    replace(value, rotation_item(pose_.R * *R, value.origin));
  }

  // Names in the sub-model are not checked here: the reader does.
  std::optional<TermMatrix> rotation_of(const Item& value) {
    Origins origins;
    Findings ignored(origins);
    std::vector<Assignment> none;
    Item names = Item::object(0), parameters = Item::object(0);
    collect_names(value, parameters);
    names.set("parameters", std::move(parameters));
    return Scope(names, none, ignored).rotation(value, "");
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

// ---- files

class Expander {
 public:
  Expander(Origins& origins, Findings& findings) : origins_(origins), findings_(findings) {}

  void expand(Item& root, const std::string& file, std::vector<Assignment>& assignments,
              const std::string& prefix, const std::vector<std::filesystem::path>& around) {
    expand_repeat(root, assignments, findings_);
    check_names(root);
    const Item* models = root.find("models");
    if (models == nullptr) return;
    const Item list = *models;
    root.erase("models");
    if (!list.is(JsonType::Object)) return findings_.expected(prefix + "models", "sub-models by name", list);
    std::vector<Assignment> none;
    Scope scope(root, none, findings_);
    for (const Item& entry : list.items) include(root, entry, file, scope, prefix, around);
    order_sensors(root);
  }

 private:
  // Dots belong to the program: left.knee.
  void check_names(const Item& root) {
    for (const Item& part : root.items) {
      const bool section = part.key == "parameters" || part.key == "tables" ||
                           std::any_of(std::begin(kSections), std::end(kSections),
                                       [&](Section s) { return part.key == section_name(s); });
      if (!section || !part.is(JsonType::Object)) continue;
      for (const Item& entry : part.items)
        if (entry.key.find('.') != std::string::npos)
          findings_.add(fmt::format("{}.{}", part.key, excerpt(entry.key)), "expected a name without dots",
                        "names with dots are those of sub-models and of parts of beams", entry.origin);
    }
  }

  // Expressions use sensors that stand before them, and those of sub-models come last: sensors that use these move behind them.
  static void order_sensors(Item& root) {
    Item* sensors = root.find(section_name(Section::Sensors));
    if (sensors == nullptr || !sensors->is(JsonType::Object)) return;
    std::set<std::string, std::less<>> waiting;
    for (const Item& sensor : sensors->items) waiting.insert(sensor.key);
    std::vector<Item> left = std::move(sensors->items), ordered;
    const auto waits = [&](const Item& sensor) {
      bool out = false;
      const Kind* kind = kind_of(Section::Sensors, sensor);
      for (const Item& value : sensor.items) {
        const int field = kind != nullptr ? kind->field(value.key) : -1;
        if (field >= 0 && kind->fields[static_cast<std::size_t>(field)].holds_expression &&
            value.is(JsonType::String))
          renamed(value.text, [&](std::string_view name, bool) {
            out = out || (name != sensor.key && waiting.contains(name));
            return std::string(name);
          });
      }
      return out;
    };
    while (!left.empty()) {
      std::vector<Item> later;
      const std::size_t before = ordered.size();
      for (Item& sensor : left)
        if (waits(sensor)) {
          later.push_back(std::move(sensor));
        } else {
          waiting.erase(sensor.key);
          ordered.push_back(std::move(sensor));
        }
      // Sensors that wait for each other: the reader reports them.
      if (ordered.size() == before)
        std::move(later.begin(), later.end(), std::back_inserter(ordered)), later.clear();
      left = std::move(later);
    }
    sensors->items = std::move(ordered);
  }

  void include(Item& root, const Item& entry, const std::string& file, Scope& scope,
               const std::string& prefix, const std::vector<std::filesystem::path>& around) {
    const std::string path = fmt::format("{}models.{}", prefix, excerpt(entry.key));
    if (!is_name(entry.key) || entry.key.find('-') != std::string::npos || entry.key == "ground")
      return findings_.add(
          path, "expected a name of letters, digits and underscores that does not begin with a digit", {},
          entry.origin);
    for (const Item& part : root.items)
      if (part.key != "name" && part.find(entry.key) != nullptr)
        return findings_.add(path, fmt::format("'{}' is also one of the {}", entry.key, part.key),
                             "choose another name", entry.origin);
    if (!entry.is(JsonType::Object))
      return findings_.expected(path, "an object with \"file\" or \"model\"", entry);
    constexpr std::string_view kKeys[] = {"file", "model", "at", "rotation", "set"};
    for (const Item& value : entry.items)
      if (std::find(std::begin(kKeys), std::end(kKeys), value.key) == std::end(kKeys))
        return findings_.add(fmt::format("{}.{}", path, excerpt(value.key)), "unknown key",
                             did_you_mean(value.key, kKeys), value.origin);
    const Item* name = entry.find("file");
    const Item* inside = entry.find("model");
    if ((name == nullptr) == (inside == nullptr))
      return findings_.add(path,
                           name == nullptr ? "missing: \"file\", the model file"
                                           : "\"file\" and \"model\" cannot both be given",
                           {}, entry.origin);
    if (around.size() > kDeepestPart)
      return findings_.add(path, fmt::format("sub-models are nested more than {} levels deep", kDeepestPart),
                           {}, entry.origin);

    Item sub;
    std::string sub_file = file;
    std::filesystem::path directory;
    std::vector<std::filesystem::path> files = around;
    if (inside != nullptr) {
      if (!inside->is(JsonType::Object)) return findings_.expected(path + ".model", "a model", *inside);
      sub = *inside;
      files.emplace_back();
    } else {
      if (!name->is(JsonType::String))
        return findings_.expected(path + ".file", "the name of a model file", *name);
      if (!read(*name, path, file, around, sub, sub_file, files)) return;
      const std::filesystem::path given = name->text;
      const bool beside =
          given.is_relative() && std::filesystem::path(file).parent_path() / given == sub_file;
      directory = beside ? given.parent_path() : std::filesystem::absolute(sub_file).parent_path();
    }
    if (const Item* version = sub.find("liedyn");
        name != nullptr &&
        (version == nullptr || !version->is(JsonType::Number) || version->number != kFormatVersion))
      return findings_.add(path + ".file",
                           fmt::format("'{}' is no model of version {}", excerpt(sub_file), kFormatVersion),
                           "a model file begins with { \"liedyn\": 1,", name->origin);
    for (const Item& part : sub.items) {
      const auto known = std::find_if(std::begin(kModelKeys), std::end(kModelKeys),
                                      [&](const FormatKey& key) { return key.name == part.key; });
      if (known == std::end(kModelKeys))
        findings_.add(fmt::format("{}: {}", path, excerpt(part.key)), "unknown key", {}, part.origin);
    }
    // Settings of runs are those of the outermost model, but to leave out this one would be another mechanism.
    if (const Item* simulation = sub.find("simulation");
        simulation != nullptr && simulation->is(JsonType::Object) && simulation->find("until") != nullptr)
      return findings_.add(path, "the sub-model has \"until\", which only the outermost model can have",
                           "give the model around it an event with the action \"stop\"", entry.origin);
    if (sub.find("gravity") != nullptr && root.find("gravity") == nullptr)
      return findings_.add(path, "the sub-model has gravity, but the model around it has none",
                           "give \"gravity\" there: it holds for all", entry.origin);
    if (const Item* values = entry.find("set"); values != nullptr && !set_values(*values, path, sub)) return;

    const std::size_t before = findings_.list().size();
    std::vector<Assignment> none;
    expand(sub, sub_file, none, path + ".", files);
    if (findings_.list().size() > before) return;
    values_ += sub.count();
    if (values_ > kMostPartValues)
      return findings_.add(path, "the sub-models have too many values together", {}, entry.origin);
    PartPose pose;
    if (!read_pose(entry, path, scope, pose)) return;
    Prefixer(entry.key, directory, pose, findings_).apply(sub);
    if (pose.moves()) Mover(pose, findings_, entry.key).apply(sub);
    merge(root, sub);
  }

  bool read(const Item& name, const std::string& path, const std::string& file,
            const std::vector<std::filesystem::path>& around, Item& sub, std::string& sub_file,
            std::vector<std::filesystem::path>& files) {
    const auto refuse = [&](std::string message, std::string hint = {}) {
      findings_.add(path + ".file", std::move(message), std::move(hint), name.origin);
      return false;
    };
    std::filesystem::path wanted = name.text;
    if (wanted.is_relative()) wanted = std::filesystem::path(file).parent_path() / wanted;
    std::error_code error;
    if (!std::filesystem::is_regular_file(wanted, error)) {
      // The name of a shipped model.
      const auto shipped = is_name(name.text) ? find_model(name.text) : std::nullopt;
      if (!shipped)
        return refuse(fmt::format("there is no file '{}'", excerpt(wanted.string(), 200)),
                      "paths are relative to the file that names them");
      wanted = *shipped;
    }
    if (const std::string outside = outside_of_model(wanted, around.front().string()); !outside.empty())
      return refuse(fmt::format("'{}': {}", excerpt(name.text, 200), outside), kAllowOutside);
    if (wanted.extension() == ".urdf")
      return refuse("a URDF file cannot be a sub-model", "expected a model file, .json");
    const std::filesystem::path canonical = std::filesystem::weakly_canonical(wanted, error);
    for (const std::filesystem::path& outer : around)
      if (outer == canonical)
        return refuse(fmt::format("'{}' contains itself", excerpt(wanted.string(), 200)),
                      "sub-models cannot go in a circle");
    sub_file = wanted.string();
    files.push_back(canonical);
    try {
      const JsonDocument document = JsonDocument::parse(read_text_file(sub_file), sub_file);
      sub = Item::of(document.root(), sub_file, origins_.top_line(name.origin), origins_);
      for (const Diagnostic& d : document.duplicates())
        findings_.add(d.path, d.message, d.hint,
                      origins_.add(d.file, d.line, origins_.top_line(name.origin)));
    } catch (const InputError& unreadable) {
      for (const Diagnostic& d : unreadable.diagnostics())
        findings_.add(d.path.empty() ? path : d.path, d.message, d.hint,
                      origins_.add(d.file, d.line, origins_.top_line(name.origin)));
      return false;
    }
    if (!sub.is(JsonType::Object))
      return refuse(fmt::format("'{}' is no model: expected an object, got {}", excerpt(sub_file, 200),
                                sub.describe()));
    return true;
  }

  // Parameters, arguments and any other number by its path. The values belong to the model around.
  bool set_values(const Item& values, const std::string& path, Item& sub) {
    if (!values.is(JsonType::Object))
      return findings_.expected(path + ".set", "values by name", values), false;
    bool good = true;
    for (const Item& value : values.items) {
      const std::string own = fmt::format("{}.set.{}", path, excerpt(value.key));
      if (!value.is(JsonType::Number) && !value.is(JsonType::String)) {
        findings_.expected(own, "a number or an expression", value);
        good = false;
        continue;
      }
      Item* target = nullptr;
      std::vector<std::string> names;
      for (const char* group : {"parameters", "arguments"})
        if (Item* list = sub.find(group)) {
          for (const Item& known : list->items) names.push_back(known.key);
          if (target == nullptr) target = list->find(value.key);
        }
      // An argument with its range.
      if (target != nullptr && target->is(JsonType::Object)) target = target->find("value");
      if (target == nullptr) target = find_item(sub, value.key);
      if (target == nullptr || (!target->is(JsonType::Number) && !target->is(JsonType::String))) {
        std::string hint = did_you_mean(value.key, names);
        if (hint.empty() && !names.empty())
          hint = fmt::format("it has {}", excerpt(fmt::format("{}", fmt::join(names, ", ")), 200));
        findings_.add(own, "the sub-model has no parameter and no number of this name", std::move(hint),
                      value.origin);
        good = false;
        continue;
      }
      Item given = value;
      given.key = target->key;
      given.outer = true;
      *target = std::move(given);
    }
    return good;
  }

  bool read_pose(const Item& entry, const std::string& path, Scope& scope, PartPose& pose) {
    if (const Item* at = entry.find("at")) {
      const auto p = scope.vector(*at, path + ".at");
      if (!p) return false;
      pose.p = *p;
    }
    if (const Item* rotation = entry.find("rotation")) {
      const auto R = scope.rotation(*rotation, path + ".rotation");
      if (!R) return false;
      pose.R = *R;
      pose.turns = !is_identity(*R);
      if ((*R)[2] == Term3{0, 0, 1}) {
        const Item* angle = rotation->find("angle");
        const bool numbers = (*R)[0][0].is_number() && (*R)[1][0].is_number();
        if (numbers)
          pose.angle = std::atan2((*R)[1][0].number(), (*R)[0][0].number());
        else if (const auto a = angle != nullptr ? scope.term(*angle, path) : std::nullopt)
          pose.angle = rotation->find("axis")->items[2].number > 0 ? *a : -*a;
      }
    }
    return true;
  }

  static void merge(Item& root, Item& sub) {
    for (Item& part : sub.items) {
      const bool section = std::any_of(std::begin(kSections), std::end(kSections),
                                       [&](Section s) { return part.key == section_name(s); });
      if ((!section && !is_one_of(part.key, {"parameters", "tables", "events"})) ||
          !part.is(JsonType::Object))
        continue;
      Item* target = root.find(part.key);
      if (target == nullptr) target = &root.set(part.key, Item::object(part.origin));
      if (!target->is(JsonType::Object)) continue;  // which the reader reports
      for (Item& entry : part.items) {
        Item* ground = part.key == "bodies" && entry.key == "ground" ? target->find("ground") : nullptr;
        if (ground != nullptr)
          merge_ground(*ground, entry);
        else
          target->items.push_back(std::move(entry));
      }
    }
  }
  static void merge_ground(Item& ground, const Item& other) {
    if (const Item* shape = ground.find("shape")) {
      Item list = Item::array(shape->origin);
      list.items.push_back(*shape);
      ground.erase("shape");
      ground.set("shapes", std::move(list));
    }
    for (const Item& part : other.items) {
      const bool single = part.key == "shape";
      const std::string key = single ? "shapes" : part.key;
      Item* target = ground.find(key);
      if (target == nullptr)
        target = &ground.set(key, key == "shapes" ? Item::array(part.origin) : Item::object(part.origin));
      if (single)
        target->items.push_back(part);
      else
        target->items.insert(target->items.end(), part.items.begin(), part.items.end());
    }
  }

  Origins& origins_;
  Findings& findings_;
  std::size_t values_ = 0;
};

}  // namespace

void expand_models(Item& root, const std::string& file, std::vector<Assignment>& assignments,
                   Origins& origins, Findings& findings) {
  std::error_code error;
  std::vector<std::filesystem::path> around;
  around.push_back(file.empty() ? std::filesystem::path() : std::filesystem::weakly_canonical(file, error));
  Expander(origins, findings).expand(root, file, assignments, "", around);
}

}  // namespace liedyn
