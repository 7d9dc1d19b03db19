#include "liedyn/io/configuration_file.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "liedyn/base/suggest.h"
#include "liedyn/base/version.h"
#include "liedyn/io/json.h"
#include "liedyn/io/text_output.h"
#include "liedyn/model/nodes/stage.h"
#include "liedyn/model/parameter_paths.h"
#include "liedyn/system/evaluation.h"
#include "liedyn/system/node_components.h"
#include "liedyn/system/tree_state.h"

namespace liedyn {
namespace {

using Json = nlohmann::ordered_json;

Json array_of(const Eigen::VectorXd& v) {
  Json out = Json::array();
  for (const double x : v) out.push_back(x);
  return out;
}

// "arm" of "arm.modes2", three of the modal coordinates of the flexible body; empty of other names.
std::string_view owner_of_modes(std::string_view body) {
  const std::size_t dot = body.rfind(".modes");
  return dot == std::string_view::npos ? std::string_view() : body.substr(0, dot);
}

constexpr std::string_view kRead[] = {"position", "orientation", "angle", "velocity", "angular_velocity"};
constexpr std::string_view kOnlyWritten[] = {"acceleration", "angular_acceleration"};

class Reader {
 public:
  Reader(std::string file, const Params& params)
      : file_(std::move(file)),
        names_(params.description().parameter_names),
        values_(params.values().begin(), params.values().begin() + params.parameter_count()) {}
  std::vector<Diagnostic> findings;

  void finding(int line, std::string path, std::string message, std::string hint = {}) {
    findings.push_back({file_, line, std::move(path), std::move(message), std::move(hint)});
  }
  // A finite number, or an expression of parameters; false with what is wrong otherwise.
  bool evaluate(const JsonValue& value, double& out, std::string& message, std::string& hint) const {
    message = "expected a finite number, got " + value.describe();
    hint.clear();
    if (value.is(JsonType::Number)) {
      out = value.number();
      return std::isfinite(out);
    }
    if (!value.is(JsonType::String)) return false;
    try {
      out = Expression::parse(value.text(), names_).evaluate<double>(values_);
      return std::isfinite(out);
    } catch (const ExpressionError& error) {
      message = fmt::format("in the expression '{}', at character {}: {}", excerpt(value.text()),
                            error.position() + 1, error.what());
      hint = error.hint();
      return false;
    }
  }
  // N finite numbers; false with a finding if there are not.
  bool numbers(const JsonValue& value, const std::string& path, int count, double* out) {
    const bool is_list = value.is(JsonType::Array) && value.size() == static_cast<std::size_t>(count);
    bool good = is_list;
    int i = 0;
    std::string message = fmt::format("expected {} finite numbers, got {}", count, value.describe()), hint;
    if (is_list)
      for (const JsonValue item : value) {
        std::string wrong;
        if (!good || evaluate(item, out[i++], wrong, hint)) continue;
        if (item.is(JsonType::String)) message = wrong;
        good = false;
      }
    if (!good) finding(value.line(), path, message, hint);
    return good;
  }
  // In the forms in which models may have it; a bare array is a rotation vector.
  void orientation(const JsonValue& value, const std::string& path, SO3<double>& out) {
    const auto part = [&](std::string_view key) {
      return value.is(JsonType::Object) ? value.find(key) : JsonValue();
    };
    const auto place = [&](std::string_view key) { return fmt::format("{}.{}", path, key); };
    const auto is_form = [&](std::string_view key, std::size_t keys = 1) {
      return part(key) && value.size() == keys;
    };
    Vec3 x;
    if (value.is(JsonType::Array)) {
      if (numbers(value, path, 3, x.data())) out = SO3<double>::exp(x);
    } else if (is_form("rotation_vector")) {
      if (numbers(part("rotation_vector"), place("rotation_vector"), 3, x.data())) out = SO3<double>::exp(x);
    } else if (is_form("cardan")) {
      if (numbers(part("cardan"), place("cardan"), 3, x.data()))
        out =
            SO3<double>::exp({x[0], 0, 0}) * SO3<double>::exp({0, x[1], 0}) * SO3<double>::exp({0, 0, x[2]});
    } else if (is_form("axis", 2) && part("angle")) {
      double angle = 0;
      if (!numbers(part("axis"), place("axis"), 3, x.data()) || !number(part("angle"), place("angle"), angle))
        return;
      if (x.norm() > 0)
        out = SO3<double>::exp(angle / x.norm() * x);
      else
        finding(value.line(), place("axis"), "expected an axis that is not zero");
    } else if (is_form("quaternion")) {
      Eigen::Vector4d q;
      if (!numbers(part("quaternion"), place("quaternion"), 4, q.data())) return;
      if (std::abs(q.norm() - 1) > 1e-6)
        finding(value.line(), place("quaternion"), fmt::format("expected the length 1, got {}", q.norm()));
      else
        out = SO3<double>::from_coordinates(q / q.norm());
    } else if (is_form("matrix") && part("matrix").is(JsonType::Array) && part("matrix").size() == 3) {
      double rows[9];
      int i = 0;
      for (const JsonValue row : part("matrix"))
        if (!numbers(row, place("matrix"), 3, rows + 3 * i++)) return;
      const std::string mistake = rotation_mistake(RotationForm::Matrix, rows);
      if (mistake.empty())
        out = SO3<double>::from_matrix(Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(rows));
      else
        finding(value.line(), place("matrix"), mistake);
    } else {
      finding(
          value.line(), path,
          fmt::format("expected {{\"quaternion\": [w, x, y, z]}}, {{\"rotation_vector\": [x, y, z]}}, "
                      "{{\"cardan\": [a, b, c]}}, {{\"axis\": [x, y, z], \"angle\": a}} or {{\"matrix\": [3 "
                      "rows of 3]}}, got {}",
                      value.describe()));
    }
  }
  bool number(const JsonValue& value, const std::string& path, double& out) {
    std::string message, hint;
    const bool good = evaluate(value, out, message, hint);
    if (!good) finding(value.line(), path, message, hint);
    return good;
  }
  void body(const JsonValue& value, const std::string& path, NodeType type, BodyConfiguration& out) {
    if (!value.is(JsonType::Object))
      return finding(value.line(), path, "expected an object, got " + value.describe());
    const bool planar = is_planar(type);
    for (const JsonValue item : value) {
      const std::string key(item.key()), place = path + "." + key;
      // What the body cannot do must be zero.
      const auto zero = [&](double largest, const char* why) {
        constexpr double kZero = 1e-9;
        if (largest > kZero) finding(item.line(), place, why);
      };
      if (key == "position") {
        out.gives.position = numbers(item, place, 3, out.position.data());
        if (planar) zero(std::abs(out.position.z()), "expected z = 0: the body stays in the plane");
      } else if (key == "velocity") {
        out.gives.velocity = numbers(item, place, 3, out.velocity.data());
        if (planar) zero(std::abs(out.velocity.z()), "expected z = 0: the body stays in the plane");
        if (!translates(type)) zero(out.velocity.norm(), "expected 0: the body only rotates");
      } else if (key == "angular_velocity") {
        out.gives.angular_velocity = numbers(item, place, 3, out.angular_velocity.data());
        if (planar)
          zero(out.angular_velocity.head<2>().norm(), "expected x = y = 0: the body turns about z only");
        if (!rotates(type)) zero(out.angular_velocity.norm(), "expected 0: the body has no orientation");
      } else if (key == "orientation") {
        orientation(item, place, out.orientation), out.gives.orientation = true;
        out.angle.reset();
        const Vec3 turn = out.orientation.log();
        if (planar) zero(turn.head<2>().norm(), "expected a rotation about z");
        if (!rotates(type)) zero(turn.norm(), "expected no rotation: the body has no orientation");
      } else if (key == "angle" && planar) {
        double angle = 0;
        out.gives.orientation = number(item, place, angle);
        out.orientation = SO3<double>::exp({0, 0, angle});
        out.angle = angle;
      } else if (std::find(std::begin(kOnlyWritten), std::end(kOnlyWritten), key) == std::end(kOnlyWritten))
        finding(item.line(), place, "unknown key", did_you_mean(key, kRead));
    }
  }
  // What people write has known keys only; what the program writes has others for the reader.
  void keys(const JsonValue& root) {
    constexpr std::string_view kKeys[] = {"bodies", "joints", "states"};
    constexpr std::string_view kForReaders[] = {"model", "time", "sensors"};
    if (root.find("liedyn")) return;
    for (const JsonValue value : root) {
      const auto is_key = [&](const auto& keys) {
        return std::find(std::begin(keys), std::end(keys), value.key()) != std::end(keys);
      };
      if (!is_key(kKeys) && !is_key(kForReaders))
        finding(value.line(), excerpt(value.key()), "unknown key, expected bodies, joints or states",
                did_you_mean(value.key(), kKeys));
    }
  }
  // The flexible bodies that have another number of modes in the file, each with a finding: modal coordinates mean nothing
  // for other modes. What people write may leave some out, what the program writes has them all.
  std::vector<std::string> modes(const JsonValue& root, const JsonValue& bodies, const Model& model) {
    const bool is_complete = static_cast<bool>(root.find("liedyn"));
    std::vector<std::string> out;
    for (const Entry& flexible : model.description().entries(Section::Flexible)) {
      int in_file = 0, in_model = 0, line = 0;
      bool named = false;
      for (const JsonValue value : bodies) {
        named = named || value.key() == flexible.name;
        if (owner_of_modes(value.key()) != flexible.name) continue;
        in_file += 3;
        if (line == 0) line = value.line();
      }
      for (const Entry& body : model.description().entries(Section::Bodies))
        if (owner_of_modes(body.name) == flexible.name) in_model += 3;
      if (in_file <= in_model && !(is_complete && named && in_file < in_model)) continue;
      finding(line, "bodies." + flexible.name,
              fmt::format("has {} modal coordinates here and {} in the model", in_file, in_model),
              "they belong to the modes of the model that wrote them: use the same number of modes and "
              "interfaces");
      out.push_back(flexible.name);
    }
    return out;
  }
  // {"hinge": 0.5, "slider": {"value": 0.1, "rate": 2}, "wheel": {"rate": 3}}
  std::vector<JointStart> joints(const JsonValue& values) {
    std::vector<JointStart> out;
    if (!values.is(JsonType::Object)) {
      finding(values.line(), "joints", "expected an object, got " + values.describe());
      return out;
    }
    for (const JsonValue value : values) {
      const std::string name(value.key()), path = "joints." + excerpt(name);
      JointStart start{.joint = name, .line = value.line()};
      if (value.is(JsonType::Object)) {
        for (const JsonValue part : value) {
          if (part.key() == "value")
            number(part, path + ".value", start.value.emplace());
          else if (part.key() == "rate")
            number(part, path + ".rate", start.rate.emplace());
          else
            finding(part.line(), path + "." + excerpt(part.key()), "unknown key, expected value or rate");
        }
        if (value.size() == 0) finding(value.line(), path, "expected \"value\" or \"rate\"");
      } else {
        number(value, path, start.value.emplace());
      }
      out.push_back(std::move(start));
    }
    return out;
  }
  void states(const JsonValue& values, const Model& model, std::vector<double>& out) {
    if (!values.is(JsonType::Object))
      return finding(values.line(), "states", "expected an object, got " + values.describe());
    std::vector<std::string> names;
    for (const Entry& entry : model.description().entries(Section::States)) names.push_back(entry.name);
    for (const JsonValue value : values) {
      const std::string name(value.key());
      const auto found = std::find(names.begin(), names.end(), name);
      if (found == names.end())
        finding(value.line(), "states." + name, "the model has no such state", did_you_mean(name, names));
      else
        number(value, "states." + name, out[static_cast<std::size_t>(found - names.begin())]);
    }
  }

 private:
  std::string file_;
  VariableNames names_;  // of parameters
  std::vector<double> values_;
};

// Bodies attached to others ("on") that the file leaves out stay where they are on their hosts.
void follow_hosts(const Description& description, const Configuration& described, std::vector<bool>& done,
                  Configuration& out) {
  const auto& bodies = description.entries(Section::Bodies);
  const auto follow = [&](const auto& self, std::size_t i) -> void {
    if (done[i] || !bodies[i].rides || bodies[i].host < 0) return;
    done[i] = true;
    const auto h = static_cast<std::size_t>(bodies[i].host);
    self(self, h);
    const BodyConfiguration &before = described.bodies[h], &host = out.bodies[h];
    BodyConfiguration& body = out.bodies[i];
    const Mat3 R = host.orientation.R(), turn = R * before.orientation.R().transpose();
    const Vec3 arm = turn * (described.bodies[i].position - before.position),
               omega = R * host.angular_velocity;
    body.position = host.position + arm;
    body.orientation = SO3<double>::from_matrix(turn * described.bodies[i].orientation.R());
    body.velocity = host.velocity + omega.cross(arm);
    body.angular_velocity = body.orientation.R().transpose() * omega;
  };
  for (std::size_t i = 0; i < bodies.size(); ++i) follow(follow, i);
}

// What each force exerts, and by what each state changes.
struct Effect {
  std::string path;
  std::vector<double> values;
};
std::vector<Effect> effects(const System& system, const State& state, Work& work) {
  const Model& model = system.model();
  system.residual(state, work, {});
  std::vector<Effect> out;
  for (std::size_t i = 0; i < model.state_frames.size(); ++i)
    out.push_back({"states." + model.description().entries(Section::States)[i].name,
                   {work.r[static_cast<std::size_t>(model.first_state()) + i]}});
  const Evaluation e = evaluation_at<double>(model, *work.constants, state, {}, work);
  for (std::size_t b = 0; b < model.batches.size(); ++b) {
    if (model.sections[b] != Section::Forces) continue;
    const Batch& batch = *model.batches[b];
    for (int k = 0; k < batch.size(); ++k) {
      Effect& force = out.emplace_back();
      force.path = "forces." + model.entry_of(static_cast<int>(b), k).name;
      for (int f = 0; f < std::min(batch.coupling().frames, batch.acting_frames()); ++f) {
        const Vec6 W = batch.wrench_on(e, k, f);
        force.values.insert(force.values.end(), W.begin(), W.end());
      }
    }
  }
  return out;
}

// What acts on angles beyond half a turn, by itself or by a sensor: a start from this configuration counts angles from -pi to pi, and has other forces.
std::vector<std::string> wound_forces(const System& system, const State& state) {
  std::vector<std::string> out;
  if (state.angles.empty()) return out;
  State start = state;
  std::fill(start.angles.begin(), start.angles.end(), 0.0);
  Work work(system);
  system.follow_angles(start, work);
  if (start.angles == state.angles) return out;
  // What is zero here by chance, sin(angle) after a whole turn, is judged by what it is elsewhere.
  constexpr double kElsewhere = 0.1, kRoundOff = 1e-9;
  State moved = state;
  const std::vector<double> theta(state.v.size(), kElsewhere);
  for (const Node& node : system.model().nodes)
    increment_position(node.type, theta.data() + node.v, moved.q.data() + node.q);
  const std::vector<Effect> here = effects(system, state, work), there = effects(system, start, work),
                            elsewhere = effects(system, moved, work);
  for (std::size_t i = 0; i < here.size(); ++i) {
    double largest = 0, difference = 0;
    for (std::size_t k = 0; k < here[i].values.size(); ++k) {
      const double a = here[i].values[k], b = there[i].values[k];
      largest = std::max({largest, std::abs(a), std::abs(b), std::abs(elsewhere[i].values[k])});
      difference = std::max(difference, std::abs(a - b));
    }
    if (difference > kRoundOff * largest && (out.empty() || out.back() != here[i].path))
      out.push_back(here[i].path);
  }
  return out;
}

std::string refusal_of_wound(std::string_view force) {
  return fmt::format(
      "'{}' depends on an angle beyond half a turn, but initial angles are from -pi to pi: its value would "
      "differ",
      force);
}
// A `zero` cannot take off more than half a turn, and files of configurations hold no turns.
constexpr const char* kWoundHint =
    "place the bodies near this position in the model and give angles (free, target, lower, upper) relative "
    "to it; only checkpoints of runs keep full turns (--resume)";

}  // namespace

std::string why_no_start(const System& system, const State& state) {
  const std::vector<std::string> wound = wound_forces(system, state);
  return wound.empty() ? "" : fmt::format("{} (hint: {})", refusal_of_wound(wound.front()), kWoundHint);
}

std::string configuration_json(const System& system, const State& state) {
  const Model& model = system.model();
  const Configuration configuration = configuration_of(system, state);
  const auto& entries = model.description().entries(Section::Bodies);
  Work work(system);
  system.residual(state, work, {});
  const std::vector<Motion<double>> motions = work.motions;
  Json bodies = Json::object();
  for (std::size_t i = 0; i < configuration.bodies.size(); ++i) {
    const BodyConfiguration& b = configuration.bodies[i];
    const Motion<double>& m = motions[i];
    const NodeType type = model.body_types[i];
    Json body = {{"position", array_of(b.position)}};
    if (rotates(type)) body["orientation"] = {{"quaternion", array_of(b.orientation.coordinates())}};
    if (b.angle) body["angle"] = *b.angle;
    if (translates(type)) body["velocity"] = array_of(b.velocity);
    if (rotates(type)) body["angular_velocity"] = array_of(b.angular_velocity);
    if (translates(type)) body["acceleration"] = array_of(m.acceleration());
    if (rotates(type)) body["angular_acceleration"] = array_of(m.A.tail<3>());
    bodies[entries[i].name] = body;
  }
  Json states = Json::object();
  for (std::size_t i = 0; i < configuration.states.size(); ++i)
    states[model.description().entries(Section::States)[i].name] = configuration.states[i];
  Json sensors = Json::object();
  std::vector<double> variables(static_cast<std::size_t>(model.sensor_variables)), values(variables.size());
  system.sense(state, work, variables, values.data());
  for (const Sensor& sensor : model.sensors) {
    Json value = Json::array();
    for (int i = 0; i < sensor.components; ++i)
      value.push_back(values[static_cast<std::size_t>(sensor.first + i)]);
    sensors[sensor.name] = sensor.components == 1 ? value[0] : value;
  }
  Json json = {
      {"liedyn", version()}, {"model", model.description().name}, {"time", state.t}, {"bodies", bodies}};
  if (!states.empty()) json["states"] = states;
  if (const std::vector<std::string> wound = wound_forces(system, state); !wound.empty())
    json["wound"] = wound;
  json["sensors"] = sensors;
  return json.dump(2);
}

void check_configuration_output(const std::string& file) {
  if (std::filesystem::path(file).extension() != ".json")
    throw InputError("--out",
                     fmt::format("expected a file that ends with .json, got '{}'", excerpt(file, 200)));
  check_writable(file);
}

void write_configuration(const System& system, const State& state, const std::string& file) {
  write_text(file, configuration_json(system, state) + "\n");
}

std::vector<JointStart> take_initial(std::vector<Assignment>& assignments, Description& description) {
  constexpr std::string_view prefix = "initial.";
  std::vector<JointStart> out;
  std::erase_if(assignments, [&](const Assignment& a) {
    if (!a.path.starts_with(prefix)) return false;
    out.push_back({.joint = a.path.substr(prefix.size()), .value = a.value, .path = excerpt(a.path)});
    description.assigned.emplace_back(a.path, a.value);
    return true;
  });
  return out;
}

Configuration read_configuration(const std::string& file, const System& system, const StartOptions& options) {
  return read_configuration_text(read_text_file(file), file, system, options);
}

Configuration read_configuration_text(const std::string& text, const std::string& file, const System& system,
                                      const StartOptions& options) {
  const Model& model = system.model();
  const JsonDocument document = JsonDocument::parse(text, file);
  Reader reader(file, system.params());
  reader.findings = document.duplicates();
  // What the file leaves out is as typed in the model, which minimal coordinates do not keep.
  const System absolute = in_absolute_coordinates(system);
  State state = absolute.empty_state();
  const Initial initial = initial_values(absolute.model(), absolute.params().values().data());
  state.q = initial.q;
  state.v = initial.v;
  Configuration out = configuration_of(absolute, state);
  const Configuration described = out;
  std::vector<bool> named(out.bodies.size(), false);
  const bool object = document.root().is(JsonType::Object);
  const JsonValue bodies = object ? document.root().find("bodies") : JsonValue();
  const JsonValue states = object ? document.root().find("states") : JsonValue();
  const JsonValue joints = object ? document.root().find("joints") : JsonValue();
  if (object) reader.keys(document.root());
  if (const JsonValue wound = object ? document.root().find("wound") : JsonValue();
      wound && wound.is(JsonType::Array))
    for (const JsonValue force : wound)
      reader.finding(wound.line(), "wound",
                     refusal_of_wound(force.is(JsonType::String) ? excerpt(force.text()) : ""), kWoundHint);
  if (!reader.findings.empty() && !bodies && !states && !joints) throw InputError(reader.findings);
  if (bodies ? !bodies.is(JsonType::Object) : !states && !joints) {
    reader.finding(document.root().line(), "bodies", "expected an object with the names of bodies as keys");
  } else if (bodies) {
    const auto& entries = model.description().entries(Section::Bodies);
    std::vector<std::string> names;
    for (const Entry& entry : entries) names.push_back(entry.name);
    const std::vector<std::string> other_modes = reader.modes(document.root(), bodies, model);
    const auto is_known = [&](std::string_view name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    // Of another model: one message instead of one for each of its bodies.
    const JsonValue of = document.root().find("model");
    bool foreign = false;
    if (of && of.is(JsonType::String) && of.text() != model.description().name)
      for (const JsonValue value : bodies) foreign = foreign || !is_known(value.key());
    if (foreign)
      reader.finding(of.line(), "model",
                     fmt::format("this is a configuration of the model '{}', expected one of '{}'",
                                 excerpt(of.text()), model.description().name));
    for (const JsonValue value : bodies) {
      if (foreign) break;
      const std::string name(value.key());
      const auto found = std::find(names.begin(), names.end(), name);
      if (std::find(other_modes.begin(), other_modes.end(), owner_of_modes(name)) != other_modes.end())
        continue;
      if (found == names.end())
        reader.finding(value.line(), "bodies." + name, "the model has no such body",
                       did_you_mean(name, names));
      else {
        const auto index = static_cast<std::size_t>(found - names.begin());
        named[index] = true;
        reader.body(value, "bodies." + name, model.body_types[index], out.bodies[index]);
      }
    }
    follow_hosts(model.description(), described, named, out);
  }
  if (states) reader.states(states, model, out.states);
  std::vector<JointStart> starts = joints ? reader.joints(joints) : std::vector<JointStart>();
  if (!reader.findings.empty()) throw InputError(reader.findings);
  starts.insert(starts.end(), options.joints.begin(), options.joints.end());
  if (starts.empty()) return out;
  return with_joint_coordinates(system, starts, out,
                                options.time.value_or(model.description().simulation.start), file);
}

}  // namespace liedyn
