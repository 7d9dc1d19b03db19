#include "liedyn/io/expand/prefix.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "liedyn/base/suggest.h"
#include "liedyn/io/model_format.h"
#include "liedyn/model/sensors/events.h"

namespace liedyn {
namespace {

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
                           fmt::format("the sub-model '{}' is moved, but this expression uses the sensor "
                                       "'{}' of type {}, whose axes are unknown",
                                       prefix_, excerpt(name, 80), sensor.type),
                           "use sensors of other types", origin);
    findings_.add(path(),
                  fmt::format("the sub-model '{}' is rotated, but this expression uses '{}' of type {}, "
                              "which cannot be given in the rotated axes",
                              prefix_, excerpt(name, 80), sensor.type),
                  sensor.role == ShownRole::Multipliers
                      ? "use a reaction_force or reaction_torque"
                      : "use a joint_angle, the relative_rotation of two bodies of the sub-model, or the "
                        "difference of the positions of two points of a body",
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
                  "event in the model that contains it",
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

}  // namespace

void put_prefix(Item& sub_model, const std::string& name, const std::filesystem::path& directory,
                const PartPose& pose, Findings& findings) {
  Prefixer(name, directory, pose, findings).apply(sub_model);
}

}  // namespace liedyn
