#include "liedyn/io/expand/frames.h"

#include <map>
#include <optional>

#include <fmt/format.h>

#include "liedyn/base/suggest.h"
#include "liedyn/io/expand/pose.h"
#include "liedyn/model/description.h"
#include "liedyn/model/description_names.h"
#include "liedyn/model/frame_rotation.h"
#include "liedyn/model/sensors/list.h"

namespace liedyn {
namespace {

struct NamedFrame {
  std::string body;
  Term3 at;
  TermMatrix R = identity_matrix();
  bool has_rotation = false;  // given, perhaps as none: its axes are those of the body
};

class FrameWriter {
 public:
  FrameWriter(Item& root, Scope& scope) : root_(root), scope_(scope), findings_(scope.findings()) {}

  void write() {
    if (Item* bodies = root_.find("bodies"); bodies != nullptr && bodies->is(JsonType::Object))
      for (Item& body : bodies->items)
        if (body.is(JsonType::Object)) collect(body);
    if (frames_.empty()) return;
    for (const Section section : kSections)
      if (Item* entries = root_.find(section_name(section));
          entries != nullptr && entries->is(JsonType::Object))
        for (Item& entry : entries->items) {
          const Item* type = entry.find("type");
          const Kind* kind =
              type != nullptr && type->is(JsonType::String) ? find_kind(section, type->text) : nullptr;
          if (kind == nullptr) continue;
          path_ = fmt::format("{}.{}", section_name(section), excerpt(entry.key, 80));
          section_ = section;
          if (section == Section::Bodies)
            write_host(entry);
          else
            write_entry(*kind, entry);
        }
  }

 private:
  void collect(Item& body) {
    const Item* frames = body.find("frames");
    if (frames == nullptr) return;
    const std::string path = fmt::format("bodies.{}.frames", excerpt(body.key, 80));
    if (!frames->is(JsonType::Object)) findings_.expected(path, "frames by name", *frames);
    for (const Item& item : frames->items) {
      const std::string own = fmt::format("{}.{}", path, excerpt(item.key));
      if (!is_dotted_name(item.key)) {
        findings_.add(own,
                      "expected a name of letters, digits, underscores and hyphens that begins with a letter",
                      {}, item.origin);
        continue;
      }
      if (!item.is(JsonType::Object)) {
        findings_.expected(own, "an object with \"at\" and optionally \"rotation\"", item);
        continue;
      }
      NamedFrame frame;
      frame.body = body.key;
      for (const Item& value : item.items) {
        if (value.key == "at") {
          // In the plane two components suffice.
          const bool plane = value.is(JsonType::Array) && value.items.size() == 2;
          const auto at = scope_.terms(value, plane ? 2 : 3, own + ".at");
          if (at) frame.at = {(*at)[0], (*at)[1], plane ? Term(0) : (*at)[2]};
        } else if (value.key == "rotation") {
          if (const auto R = scope_.rotation(value, own + ".rotation")) frame.R = *R;
          frame.has_rotation = true;
        } else {
          findings_.add(fmt::format("{}.{}", own, excerpt(value.key)), "unknown key",
                        "a frame has \"at\" and \"rotation\"", value.origin);
        }
      }
      frames_.emplace(fmt::format("{}.{}", body.key, item.key), frame);
    }
    body.erase("frames");
  }

  const NamedFrame* find(const Item& name) const {
    if (!name.is(JsonType::String)) return nullptr;
    const auto found = frames_.find(name.text);
    return found == frames_.end() ? nullptr : &found->second;
  }

  // "there is no body 'arm.tol'" is what the reader says; here the frames of that body are known.
  void check_name(const Item& name, const std::string& path) {
    if (!name.is(JsonType::String) || name.text.find('.') == std::string::npos) return;
    Suggestion suggestion(name.text);
    bool has_frames = false;
    for (const auto& [key, frame] : frames_)
      if (name.text.starts_with(frame.body + ".")) has_frames = true, suggestion.consider(key);
    const Item* bodies = root_.find("bodies");
    if (!has_frames || (bodies != nullptr && bodies->find(name.text) != nullptr)) return;
    findings_.add(path, fmt::format("there is no frame '{}'", excerpt(name.text)),
                  did_you_mean(suggestion.name()), name.origin);
  }

  // Position and orientation of a body in inertial axes as far as the file gives them. One that rides has those of its carrier unless it has its own.
  struct Pose {
    Term3 p;
    TermMatrix R = identity_matrix();
  };
  std::optional<Pose> pose_of(const std::string& body) {
    const auto p = position_of(body);
    const auto R = orientation_of(body);
    if (!p || !R) return {};
    return Pose{*p, *R};
  }
  std::optional<Term3> position_of(const std::string& body, int depth = 0) {
    if (body == "ground") return Term3{};
    const Item* entry = body_named(body, depth);
    if (entry == nullptr) return {};
    const Item* position = entry->find("position");
    if (position == nullptr) {
      const Item* on = entry->find("on");
      return on == nullptr ? Term3{} : position_of(on->text, depth + 1);
    }
    if (!position->is(JsonType::Array)) return {};
    const bool plane = position->items.size() == 2;
    const auto p = scope_.terms(*position, plane ? 2 : 3, fmt::format("bodies.{}.position", body));
    if (!p) return {};
    return Term3{(*p)[0], (*p)[1], plane ? Term(0) : (*p)[2]};
  }
  std::optional<TermMatrix> orientation_of(const std::string& body, int depth = 0) {
    if (body == "ground") return identity_matrix();
    const Item* entry = body_named(body, depth);
    if (entry == nullptr) return {};
    if (const Item* orientation = entry->find("orientation")) {
      if (!orientation->is(JsonType::Object) || orientation->find("consistent") != nullptr) return {};
      return scope_.rotation(*orientation, fmt::format("bodies.{}.orientation", body));
    }
    if (const Item* angle = entry->find("angle")) {
      if (!angle->is(JsonType::Number) && !(angle->is(JsonType::String) && angle->text != "consistent"))
        return {};
      const auto a = scope_.term(*angle, fmt::format("bodies.{}.angle", body));
      if (!a) return {};
      return TermMatrix{Term3{cos(*a), -sin(*a), 0}, Term3{sin(*a), cos(*a), 0}, Term3{0, 0, 1}};
    }
    const Item* on = entry->find("on");
    return on == nullptr ? identity_matrix() : orientation_of(on->text, depth + 1);
  }
  // Null: it is none, or one of those that carry each other.
  const Item* body_named(const std::string& name, int depth) const {
    constexpr int kMostCarriers = 100;
    const Item* bodies = root_.find("bodies");
    const Item* body = bodies != nullptr && depth < kMostCarriers ? bodies->find(name) : nullptr;
    return body != nullptr && body->is(JsonType::Object) ? body : nullptr;
  }
  static TermMatrix product(const TermMatrix& A, const TermMatrix& B) {
    return is_identity(A) ? B : is_identity(B) ? A : A * B;
  }
  static Term3 turned(const TermMatrix& R, const Term3& v) { return is_identity(R) ? v : R * v; }

  // A body on a frame of another one stands there, if nothing else is said.
  void write_host(Item& entry) {
    Item* on = entry.find("on");
    if (on == nullptr) return;
    check_if_unknown(*on, path_ + ".on");
    const NamedFrame* frame = find(*on);
    if (frame == nullptr) return;
    const int origin = on->origin;
    on->text = frame->body;
    const auto pose = pose_of(frame->body);
    if (!pose)
      return findings_.add(
          path_ + ".on",
          fmt::format(
              "the position of '{}' is not given, so that this frame has no position in inertial axes",
              frame->body),
          "name the body, and give \"position\"", origin);
    if (entry.find("position") == nullptr)
      entry.set("position", item_of(pose->p + turned(pose->R, frame->at), origin));
    if (entry.find("orientation") == nullptr) {
      const TermMatrix R = product(pose->R, frame->R);
      if (!is_identity(R)) entry.set("orientation", rotation_item(R, origin));
    }
  }

  void check_if_unknown(const Item& name, const std::string& path) {
    if (find(name) == nullptr) check_name(name, path);
  }

  void write_entry(const Kind& kind, Item& entry) {
    const int field = bodies_field(kind);
    if (field < 0) return;
    const Field& named = kind.fields[static_cast<std::size_t>(field)];
    Item* value = entry.find(named.name);
    if (value == nullptr) return;
    std::vector<Item*> names;
    if (named.type == FieldType::Body) {
      names = {value};
    } else if (value->is(JsonType::Array) && value->items.size() == 2) {
      names = {&value->items[0], &value->items[1]};
    } else {
      return;
    }
    std::vector<const NamedFrame*> frames;
    bool any = false;
    for (Item* name : names) {
      check_if_unknown(*name, fmt::format("{}.{}", path_, named.name));
      frames.push_back(find(*name));
      if (frames.back() == nullptr) continue;
      name->text = frames.back()->body;
      any = true;
    }
    std::vector<std::string> bodies;
    for (const Item* name : names) bodies.push_back(name->text);
    const int origin = value->origin;  // fill() adds fields: `value` does not stay where it is
    for (std::size_t i = 0; i < frames.size(); ++i)
      if (frames[i] != nullptr && frames[i]->has_rotation)
        turn_axes(kind, static_cast<int>(i), *frames[i], entry, origin);
    for (const Field& f : kind.fields) {
      if (f.body_axes == BodyAxes::None) continue;
      std::vector<const NamedFrame*> own = frames;
      if (read_names(f, entry, bodies, own) || any) fill(f, entry, bodies, own, origin);
    }
  }

  // The axes of a frame in the place of those of its i-th body, where the entry uses these.
  void turn_axes(const Kind& kind, int i, const NamedFrame& frame, Item& entry, int origin) {
    const int axes = kind.field("axes");
    if (axes >= 0) {
      const Item* given = entry.find("axes");
      const std::string& chosen = given != nullptr && given->is(JsonType::String)
                                      ? given->text
                                      : kind.fields[static_cast<std::size_t>(axes)].choices.front();
      if (chosen == "inertial") return;
    }
    // It counts turns: a coordinate of the body itself.
    const bool is_angle = section_ == Section::Sensors && listed_sensor(kind).traits.axes == ShownIn::Angle;
    if (is_angle && is_identity(frame.R)) return;
    if (is_angle)
      return findings_.add(path_, "this angle is one of a body, and the frame that is named has a rotation",
                           "name the body, and add the angle of the frame in an expression", origin);
    const int field = frame_rotation_field(kind, i);
    if (field < 0) return turn_orientation(kind, i, frame, entry, origin);
    if (is_identity(frame.R)) return;
    const std::string& name = kind.fields[static_cast<std::size_t>(field)].name;
    if (const Item* given = entry.find(name))
      return findings_.add(fmt::format("{}.{}", path_, name), "is given twice, here and by the frame",
                           "leave one of them out", given->origin);
    entry.set(name, rotation_item(frame.R, origin));
  }

  // Bushings, bearings, generic joints and boxes have an orientation, which the frame gives unless it is typed. Others need the location only.
  void turn_orientation(const Kind& kind, int i, const NamedFrame& frame, Item& entry, int origin) {
    for (const Field& field : kind.fields) {
      if (field.type != FieldType::Rotation || entry.find(field.name) != nullptr) continue;
      const PoseRole role = pose_role(field);
      if (role == (i == 0 ? PoseRole::OnFirst : PoseRole::OnSecond))
        entry.set(field.name, rotation_item(frame.R, origin));
      if (role != PoseRole::Orientation) continue;
      const auto R = orientation_of(frame.body);
      if (!R) {
        findings_.add(
            path_,
            fmt::format("the orientation of '{}' is not given, so that this frame has no axes in the "
                        "initial configuration",
                        frame.body),
            fmt::format("give \"{}\"", field.name), origin);
        continue;
      }
      entry.set(field.name, rotation_item(product(*R, frame.R), origin));
    }
  }

  // "at": "arm.tool" or "points": ["arm.tool", "ground.hook"]: frames that stand for the field, which is taken out.
  bool read_names(const Field& field, Item& entry, const std::vector<std::string>& bodies,
                  std::vector<const NamedFrame*>& frames) {
    Item* value = entry.find(field.name);
    if (value == nullptr || field.pose == PoseRole::Direction) return false;
    std::vector<const Item*> names;
    if (value->is(JsonType::String)) names = {value};
    if (value->is(JsonType::Array))
      for (const Item& item : value->items)
        if (item.is(JsonType::String) && find(item) != nullptr) names.push_back(&item);
    if (names.empty() || (value->is(JsonType::Array) && names.size() != value->items.size())) return false;
    for (const Item* name : names) {
      const NamedFrame* frame = find(*name);
      const std::string path = fmt::format("{}.{}", path_, field.name);
      if (frame == nullptr) return check_name(*name, path), false;
      bool carried = false;
      for (std::size_t i = 0; i < bodies.size(); ++i)
        if (bodies[i] == frame->body) frames[i] = frame, carried = true;
      if (!carried) {
        findings_.add(path,
                      fmt::format("'{}' is a frame of '{}', which is none of the bodies {}", name->text,
                                  frame->body, fmt::join(bodies, ", ")),
                      {}, name->origin);
        return false;
      }
    }
    entry.erase(field.name);
    return true;
  }

  // Writes what frames say about a location or a direction.
  void fill(const Field& field, Item& entry, const std::vector<std::string>& bodies,
            const std::vector<const NamedFrame*>& frames, int origin) {
    const bool is_direction = field.pose == PoseRole::Direction;
    const bool plane = field.type == FieldType::PlaneVector;
    Item* given = entry.find(field.name);
    if (is_direction &&
        (given != nullptr || !field.required || plane || (field.name != "axis" && field.name != "normal")))
      return;
    const std::string path = fmt::format("{}.{}", path_, field.name);
    if (given != nullptr && !given->is(JsonType::Object))
      return findings_.add(path, "cannot be combined with a frame, which gives the position",
                           "name the body instead of its frame, or leave it out", given->origin);
    Item out = Item::object(origin);
    if (given != nullptr) out = *given;
    const auto components = [&](const Term3& v) {
      Item item = item_of(v, origin);
      if (plane) item.items.pop_back();
      return item;
    };
    const NamedFrame* some = nullptr;
    std::string without;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      if (!carries(field.body_axes, static_cast<int>(i))) continue;
      if (frames[i] == nullptr) {
        if (out.find(bodies[i]) == nullptr) without = bodies[i];
        continue;
      }
      some = frames[i];
      if (out.find(bodies[i]) != nullptr)
        return findings_.add(path, fmt::format("'{}' is given twice, here and by its frame", bodies[i]),
                             "leave one of them out", given->origin);
      out.set(bodies[i],
              components(is_direction ? Term3{some->R[0][2], some->R[1][2], some->R[2][2]} : some->at));
    }
    if (some == nullptr) return;
    if (without.empty()) {
      entry.set(field.name, std::move(out));
      return;
    }
    // The other body has no frame: the place in the initial configuration, if it is known.
    const auto pose =
        given == nullptr && field.type != FieldType::Points ? pose_of(some->body) : std::nullopt;
    if (!pose)
      return findings_.add(
          path,
          fmt::format("the position on '{}' is unknown: '{}' has a frame here, but '{}' has none", without,
                      some->body, without),
          fmt::format("name a frame of '{0}' as well, or give \"{1}\": {{\"{0}\": [...]}}", without,
                      field.name),
          origin);
    entry.set(field.name,
              components(is_direction ? turned(pose->R, {some->R[0][2], some->R[1][2], some->R[2][2]})
                                      : pose->p + turned(pose->R, some->at)));
  }

  static bool is_dotted_name(std::string_view text) {
    while (true) {
      const std::size_t dot = text.find('.');
      if (!is_name(text.substr(0, dot))) return false;
      if (dot == std::string_view::npos) return true;
      text.remove_prefix(dot + 1);
    }
  }

  Item& root_;
  Scope& scope_;
  Findings& findings_;
  std::map<std::string, NamedFrame, std::less<>> frames_;  // by "body.frame"
  std::string path_;
  Section section_ = Section::Bodies;  // of the entry at hand
};

}  // namespace

void expand_frames(Item& root, Scope& scope) { FrameWriter(root, scope).write(); }

}  // namespace liedyn
