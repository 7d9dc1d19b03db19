#include "liedyn/io/scene_content.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "liedyn/io/scene_json.h"
#include "liedyn/io/scene_surface.h"
#include "liedyn/model/compile.h"
#include "liedyn/model/flexible/linear_beam.h"
#include "liedyn/model/nodes/stage.h"
#include "liedyn/model/sensors/connect.h"

namespace liedyn {
namespace {

using Json = nlohmann::ordered_json;

constexpr long kMostFrames = 2000;
constexpr std::size_t kMostPoses = 2'000'000;  // times x frames, unless a number of times is asked for

Json json_of_shape(const SceneShape& s) {
  using Type = SceneShape::Type;
  Json out;
  switch (s.type) {
    case Type::Box:
      out = {{"type", "box"}, {"size", {tidy(s.size[0]), tidy(s.size[1]), tidy(s.size[2])}}};
      break;
    case Type::Sphere: out = {{"type", "sphere"}, {"radius", tidy(s.radius())}}; break;
    case Type::Cylinder:
      out = {{"type", "cylinder"}, {"radius", tidy(s.radius())}, {"length", tidy(s.length())}};
      break;
    case Type::Capsule:
      out = {{"type", "capsule"}, {"radius", tidy(s.radius())}, {"length", tidy(s.length())}};
      break;
    case Type::Tube:
      out = {{"type", "tube"},
             {"radius", tidy(s.radius())},
             {"inner", tidy(s.size[2])},
             {"length", tidy(s.length())}};
      break;
    case Type::Ellipsoid:
      out = {{"type", "ellipsoid"}, {"radii", {tidy(s.size[0]), tidy(s.size[1]), tidy(s.size[2])}}};
      break;
    case Type::Mesh:
      out = {{"type", "mesh"},
             {"vertices", pack_array(s.vertices, {s.vertices.size() / 3, 3})},
             {"triangles", pack_array(s.triangles, {s.triangles.size() / 3, 3})}};
      break;
  }
  if (!s.at.isZero()) out["at"] = json_of(s.at);
  if (!s.axes.isIdentity(1e-9)) out["rotation"] = json_of(s.axes);
  if (!s.color.empty()) out["color"] = s.color;
  if (s.derived) out["derived"] = true;
  return out;
}

Json json_of_section(const SectionOutline& s) {
  Json out = {{"type", !s.is_round ? "rectangle" : s.wall > 0 ? "tube" : "circle"}};
  if (s.is_round) {
    out["radius"] = tidy(s.radius);
    if (s.wall > 0) out["inner"] = tidy(s.radius - s.wall);
    return out;
  }
  out["width"] = tidy(s.width);
  out["height"] = tidy(s.height);
  if (s.wall > 0) out["thickness"] = tidy(s.wall);
  return out;
}
double half_diagonal(const SectionOutline& s) {
  return s.is_round ? s.radius : 0.5 * std::hypot(s.width, s.height);
}

}  // namespace

bool is_drawable(const std::vector<Motion<double>>& motions) {
  constexpr double kFarthest = 1e30;  // what a 32-bit number holds, with room for differences
  return std::all_of(motions.begin(), motions.end(), [](const Motion<double>& m) {
    return m.R.allFinite() && m.p.cwiseAbs().maxCoeff() < kFarthest;
  });
}

Trajectory empty_trajectory(const Model& model) {
  Trajectory out;
  for (const Sensor& sensor : model.sensors) {
    out.channels.push_back({sensor.name, model.unit_of(sensor), out.columns, sensor.components});
    out.columns += sensor.components;
  }
  return out;
}
SceneContent::SceneContent(const System& system, const State& first, long frames)
    : model(system.shared_model()), params(system.params()), poses(system) {
  const std::vector<Entry>& entries = model->description().entries(Section::Bodies);
  State initial = system.empty_state();
  initial.q = initial_values(*model, params.values().data()).q;
  for (const Motion<double>& m : poses.at_state(initial)) reference.push_back(m);
  for (const Entry& entry : entries) {
    frame_of_body.push_back(entry.kind->is_modal ? -1 : static_cast<int>(body_of_frame.size()));
    if (!entry.kind->is_modal) body_of_frame.push_back(static_cast<int>(frame_of_body.size()) - 1);
  }
  reach.assign(body_of_frame.size(), 0);
  balls.resize(body_of_frame.size());
  symbol.assign(entries.size(), 0);
  rod.assign(entries.size(), 0);
  limit = at(static_cast<int>(std::max(frames, 0L)));
  if (frames <= 0)
    limit = std::clamp(kMostPoses / std::max<std::size_t>(1, body_of_frame.size()), std::size_t{2},
                       static_cast<std::size_t>(kMostFrames));

  std::vector<SceneBody> facts(entries.size());
  read_bodies(facts);
  read_attachments(facts);
  extent = size_at(poses.at_state(first), facts);
  add_bodies(facts);
  add_joints();
  add_forces();
}

std::vector<SceneShape> SceneContent::shapes_of(const std::string& name, const SceneBody* facts) {
  std::vector<SceneShape> out = given_shapes(model->description(), name, missing);
  if (out.empty() && facts != nullptr) out = derived_shapes(*facts, extent);
  return out;
}

// Mass, centre and inertia, from the fields that bodies have.
void SceneContent::read_bodies(std::vector<SceneBody>& facts) {
  for_each_element(Section::Bodies, [&](const Batch& batch, int e, const Entry& entry) {
    const Kind& kind = *entry.kind;
    const int mass = kind.field("mass"), inertia = kind.field("inertia"),
              reference_point = kind.field("reference");
    if (entry.is_part() || mass < 0) return;
    const Inputs<double> in(model->description(), entry, params.values().data(), nullptr);
    SceneBody& out = facts[at(batch.entries[at(e)])];
    out.mass = in.number(mass);
    if (reference_point >= 0) out.center = -in.vector(reference_point);
    out.is_point = inertia < 0;
    if (out.is_point) return;
    const double* J = in.values(inertia);
    out.in_plane = kind.fields[at(inertia)].type == FieldType::Number;
    if (out.in_plane)
      out.inertia(2, 2) = J[0];
    else
      out.inertia << J[0], J[5], J[4], J[5], J[1], J[3], J[4], J[3], J[2];
  });
}

Vec3 SceneContent::offset(int frame) const {
  return offset_of(model->frames[at(frame)], poses.constants().data.data()).rho;
}
Json SceneContent::place(int frame) const {
  return {{"frame", scene_frame(node(frame))}, {"at", json_of(offset(frame))}};
}
std::string SceneContent::body_name(int index) const { return index < 0 ? "ground" : body(at(index)).name; }

std::vector<int> SceneContent::own_frames(const Batch& batch, int element) const {
  const std::vector<Attachment>& attachments = batch.attachments();
  const int frames = batch.coupling().frames;
  std::vector<int> out;
  for (std::size_t i = 0;
       i < attachments.size() && static_cast<int>(i) < std::min(frames, batch.acting_frames()); ++i)
    if (attachments[i].joint_field < 0) out.push_back(batch.frames[at(element * frames) + i]);
  return out;
}

// The axis of a joint in the axes of its first (side 0) or second body.
std::optional<Vec3> SceneContent::axis(const Batch& batch, int element, int side) const {
  const std::vector<int> frames = own_frames(batch, element);
  if (frames.size() < 2) return std::nullopt;
  const Description& d = model->description();
  const Entry& entry = d.entries(Section::Joints)[at(batch.entries[at(element)])];
  int field = entry.kind->field("axis");
  if (field < 0) field = entry.kind->field(side == 0 ? "first_axis" : "second_axis");
  if (field < 0 && entry.kind->coordinates.angle) return Vec3(Vec3::UnitZ());  // in the plane
  if (field < 0) return std::nullopt;
  Pose<double> ends[2];
  for (std::size_t i = 0; i < 2; ++i)
    if (const int own = node(frames[i]); own >= 0) ends[i] = reference[at(own)];
  const Inputs<double> in(d, entry, params.values().data(), ends);
  if (!in.stored(field)) return std::nullopt;
  const Vec3 out = in.direction_in_body(field, side);
  if (!(out.norm() > 0) || !out.allFinite()) return std::nullopt;
  return Vec3(out.normalized());
}

void SceneContent::read_attachments(std::vector<SceneBody>& facts) {
  using Attached = SceneAttachment::Kind;
  const Description& d = model->description();
  const auto add = [&](int frame, SceneAttachment attachment) {
    attachment.at = offset(frame);
    if (const int own = node(frame); own >= 0)
      facts[at(own)].attachments.push_back(attachment);
    else
      ground_points.push_back(attachment.at);
  };
  for_each_element(Section::Joints, [&](const Batch& batch, int e, const Entry& entry) {
    const std::vector<int> frames = own_frames(batch, e);
    for (std::size_t i = 0; i < frames.size() && i < 2; ++i) {
      SceneAttachment a;
      if (const std::optional<Vec3> direction = axis(batch, e, static_cast<int>(i))) a.axis = *direction;
      const AxisCoordinates moves = entry.kind->coordinates;
      if (moves.displacement)
        a.kind = Attached::Slides;
      else if (moves.angle)
        a.kind = Attached::Turns;
      // A disc on a plane: the second body is the wheel.
      const int radius = entry.kind->field("radius");
      if (i == 1 && radius >= 0 && entry.kind->field("normal") >= 0)
        a.disc = Inputs<double>(d, entry, params.values().data(), nullptr).number(radius);
      add(frames[i], a);
    }
  });
  for_each_element(Section::Forces, [&](const Batch& batch, int e, const Entry& entry) {
    // Points that touch something are no joints.
    if (entry.kind->field("points") < 0 || entry.kind->field("normal") >= 0) return;
    for (const int frame : own_frames(batch, e)) add(frame, {});
  });
}

// The box of joints, centres of mass and beams; bodies without joints with what their inertia says.
double SceneContent::size_at(const std::vector<Motion<double>>& now,
                             const std::vector<SceneBody>& facts) const {
  SceneBox box;
  for (const Vec3& p : ground_points) box.add(p);
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (frame_of_body[i] < 0) continue;
    const SceneBody& own = facts[i];
    for (const SceneAttachment& a : own.attachments) box.add(now[i].p + now[i].R * a.at, a.disc);
    box.add(now[i].p + now[i].R * own.center, own.attachments.empty() ? own.core_radius() : 0);
  }
  for (const auto& batch : model->batches)
    if (const auto* body = dynamic_cast<const FlexibleOutput*>(batch.get())) {
      const auto made = body->source().made(model->description(), params.values().data());
      const Motion<double>& frame = now[at(node(body->batch().frames[0]))];
      const Eigen::Matrix3Xd& places = made->mesh.elements.places;
      for (Eigen::Index k = 0; k < places.cols(); ++k) box.add(frame.p + frame.R * places.col(k));
    }
  return box.size() > 0 && std::isfinite(box.size()) ? box.size() : 1;
}

void SceneContent::add_bodies(const std::vector<SceneBody>& facts) {
  const Description& d = model->description();
  const auto shapes_json = [](const std::vector<SceneShape>& shapes) {
    Json out = Json::array();
    for (const SceneShape& s : shapes) out.push_back(json_of_shape(s));
    return out;
  };
  bodies.push_back({{"name", "ground"},
                    {"kind", "ground"},
                    {"frame", -1},
                    {"shapes", shapes_json(shapes_of("ground", nullptr))}});
  for (std::size_t i = 0; i < facts.size(); ++i) {
    const Entry& entry = body(i);
    if (entry.is_part_of(Section::Beams)) {
      if (entry.node == 0) add_beam(d.entries(Section::Beams)[at(entry.owner)], i);
      continue;
    }
    if (entry.is_part_of(Section::Flexible)) continue;
    const std::vector<SceneShape> shapes = shapes_of(entry.name, &facts[i]);
    const auto frame = at(frame_of_body[i]);
    double thickness = 0;
    for (const SceneShape& s : shapes) {
      thickness = std::max(thickness, s.thickness());
      if (s.derived && s.type == SceneShape::Type::Capsule) rod[i] = std::max(rod[i], s.thickness());
      reach[frame] = std::max(reach[frame], s.reach());
      for (const SceneShape::Ball& ball : s.balls()) balls[frame].push_back(ball);
    }
    // A pin is a little thicker than the rods that it joins.
    symbol[i] = 0.15 * std::max(facts[i].span(), 2.5 * reach[frame]);
    if (thickness > 0) symbol[i] = std::min(symbol[i], 1.1 * thickness);
    bodies.push_back({{"name", entry.name},
                      {"kind", "rigid"},
                      {"type", entry.kind->type},
                      {"frame", frame},
                      {"shapes", shapes_json(shapes)},
                      {"mass", tidy(facts[i].mass)},
                      {"center", json_of(facts[i].center)}});
  }
  for (const auto& batch : model->batches)
    if (const auto* own = dynamic_cast<const FlexibleOutput*>(batch.get())) add_flexible(*own);
}

void SceneContent::add_beam(const Entry& beam, std::size_t first) {
  const Description& d = model->description();
  const Inputs<double> in(d, beam, params.values().data(), nullptr);
  const BeamMesh mesh = beam_mesh(d, beam);
  const SectionOutline start = section_outline(in, 0), end = section_outline(in, 1);
  Json nodes = Json::array();
  for (std::size_t i = 0; i < at(mesh.nodes()); ++i) {
    nodes.push_back(frame_of_body[first + i]);
    const double x = mesh.fraction(static_cast<int>(i));
    const double half = (1 - x) * half_diagonal(start) + x * half_diagonal(end);
    reach[at(frame_of_body[first + i])] = half;
    symbol[first + i] = 1.5 * half;
  }
  Json section = json_of_section(start);
  if (const Json other = json_of_section(end); other != section) section["end"] = other;
  const Vec3 gap = reference[first].p - reference[first + at(mesh.nodes()) - 1].p;
  Json out = {{"name", beam.name}, {"kind", "beam"},     {"type", beam.kind->type},
              {"nodes", nodes},    {"section", section}, {"closed", gap.norm() < 1e-9 * extent}};
  if (const std::optional<SectionConstants> c = section_constants(in, 0)) {
    out["young"] = tidy(c->young);
    // Area, moments of area about y and z, torsion constant; of each node where they vary.
    const auto constants_at = [&](double x) -> Json {
      const SectionConstants own = section_constants(in, x).value_or(*c);
      return {tidy(own.area), tidy(own.about_y), tidy(own.about_z), tidy(own.torsion)};
    };
    out["constants"] = constants_at(0);
    if (section.contains("end")) {
      out["constants"] = Json::array();
      for (int i = 0; i < mesh.nodes(); ++i) out["constants"].push_back(constants_at(mesh.fraction(i)));
    }
  }
  const bool has_stress = out.contains("constants");
  const auto& entries = d.entries(Section::Beams);
  const auto index = static_cast<int>(&beam - entries.data());
  for (std::size_t b = 0; b < model->batches.size(); ++b) {
    const auto* sections = dynamic_cast<const BeamSections*>(model->batches[b].get());
    if (model->sections[b] != Section::Beams || sections == nullptr) continue;
    const auto& list = model->batches[b]->entries;
    const auto found = std::find(list.begin(), list.end(), index);
    if (found == list.end()) continue;
    SceneBeam& own = beams.emplace_back(SceneBeam{bodies.size(), sections, !has_stress});
    std::vector<int> ends = section_force_jumps(d, beam);
    const bool has_jumps = !ends.empty();
    ends.push_back(mesh.elements);
    const int first_element = static_cast<int>(found - list.begin());
    for (int from = 0, part = 0; part < static_cast<int>(ends.size()); from = ends[at(part++)]) {
      const int elements = ends[at(part)] - from, last = elements * mesh.order;
      for (int i = 0; i <= last; ++i)
        own.stations.push_back(
            {from * mesh.order + i, first_element + from, elements, static_cast<double>(i) / last});
    }
    if (has_jumps) {
      out["stations"] = Json::array();
      for (const SceneBeam::Station& station : own.stations) out["stations"].push_back(station.node);
    }
  }
  bodies.push_back(std::move(out));
}

void SceneContent::add_flexible(const FlexibleOutput& own) {
  const Description& d = model->description();
  const auto made = own.source().made(d, params.values().data());
  const Entry& entry = d.entries(Section::Flexible)[at(own.source().body())];
  const FiniteElements& elements = made->mesh.elements;
  const FlexibleSurface surface = flexible_surface(own, d, params.values().data());
  const std::size_t N = surface.vertices.size();
  const std::vector<float> places = surface.places(elements);
  SceneFlexible out;
  out.entry = bodies.size();
  out.modes = own.modes_of_body();
  out.second_order = own.pairs_of_body() > 0;
  const std::vector<std::int32_t>& frames = own.batch().frames;
  for (int i = 0; i < out.modes / 3; ++i) out.modal.push_back(node(frames[at(1 + i)]));
  out.shapes = surface.displacements(elements, made->reduced.modes.leftCols(out.modes));
  if (out.second_order) out.pairs = surface.displacements(elements, made->reduced.pairs);
  const int body_index = node(frames[0]);
  const auto frame = at(frame_of_body[at(body_index)]);
  for (std::size_t i = 0; i < N; ++i)
    reach[frame] = std::max(reach[frame], Vec3(places[3 * i], places[3 * i + 1], places[3 * i + 2]).norm());
  SceneShape relaxed;
  relaxed.type = SceneShape::Type::Mesh;
  relaxed.vertices = places;
  balls[frame] = relaxed.balls();
  symbol[at(body_index)] = 0.05 * elements.extent();
  for (int i = 0; i < own.source().interfaces(); ++i)
    for (std::size_t b = 0; b < frame_of_body.size(); ++b)
      if (body(b).name == d.entries(Section::Flexible)[at(own.source().interface_entry(i))].name)
        symbol[b] = 0.05 * elements.extent();
  Json json = {{"name", entry.name},
               {"kind", "flexible"},
               {"type", entry.kind->type},
               {"frame", frame},
               {"vertices", pack_array(places, {N, 3}, ArrayCoding::DeltaShuffle)},
               {"triangles",
                pack_array(surface.triangles, {surface.triangles.size() / 3, 3}, ArrayCoding::DeltaShuffle)},
               {"mode_count", out.modes}};
  if (!made->mesh.solid.elements.empty()) {
    const Eigen::MatrixXd stresses =
        middle_stresses(made->mesh.solid, made->mesh.material, made->reduced.modes.leftCols(out.modes));
    out.stress = surface.stresses(made->mesh.solid, stresses);
    json["young"] = tidy(made->mesh.material.young);
  }
  if (!made->mesh.lines.empty()) {
    const std::vector<LinearBeam> members =
        linear_beams(Inputs<double>(d, entry, params.values().data(), nullptr));
    out.stress = surface.beam_stresses(members, made->reduced.modes.leftCols(out.modes));
    if (!out.stress.empty()) json["young"] = tidy(section_constants(members.front().in, 0)->young);
  }
  bodies.push_back(std::move(json));
  flexible.push_back(std::move(out));
}

void SceneContent::add_joints() {
  for_each_element(Section::Joints, [&](const Batch& batch, int e, const Entry& entry) {
    if (entry.rides) return;
    Json out = {{"name", entry.name}, {"type", entry.kind->type}};
    const std::vector<int> frames = own_frames(batch, e);
    if (frames.empty()) {
      joints.push_back(std::move(out));
      return;
    }
    Json names = Json::array(), ends = Json::array();
    double radius = 0.03 * extent, thickest = 0;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const int own = node(frames[i]);
      names.push_back(body_name(own));
      Json end = place(frames[i]);
      if (i < 2)
        if (const std::optional<Vec3> direction = axis(batch, e, static_cast<int>(i)))
          end["axis"] = json_of(*direction);
      ends.push_back(std::move(end));
      if (own >= 0 && symbol[at(own)] > 0) radius = std::min(radius, symbol[at(own)]);
      if (own >= 0) thickest = std::max(thickest, rod[at(own)]);
    }
    radius = std::max(radius, 0.85 * thickest);  // a pin inside of its rod would not be seen
    out["bodies"] = names;
    for (const char* key : {"frame", "at", "axis"})
      if (ends[0].contains(key)) out[key] = ends[0][key];
    out["ends"] = std::move(ends);
    out["radius"] = tidy(radius);
    joints.push_back(std::move(out));
  });
}

void SceneContent::add_forces() {
  const Description& d = model->description();
  for_each_element(Section::Forces, [&](const Batch& batch, int e, const Entry& entry) {
    if (!batch.parts.empty()) return;  // spread over a beam
    const std::vector<int> frames = own_frames(batch, e);
    Json out = {{"name", entry.name}, {"type", entry.kind->type}, {"ends", Json::array()}};
    double size = 0.015 * extent;
    for (const int frame : frames) {
      out["ends"].push_back(place(frame));
      if (const int own = node(frame); own >= 0 && symbol[at(own)] > 0)
        size = std::min(size, symbol[at(own)]);
    }
    const int radius = entry.kind->field("radius");
    const Inputs<double> in(d, entry, params.values().data(), nullptr);
    const bool has_radius = radius >= 0 && in.stored(radius);
    out["radius"] = tidy(has_radius ? in.number(radius) : size);
    forces.push_back(std::move(out));
  });
}

}  // namespace liedyn
