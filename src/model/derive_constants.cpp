// What the model makes of its parameters: the numbers of elements, initial values, and what is wrong with either.
#include <fmt/format.h>

#include <algorithm>

#include "liedyn/lie/so3.h"
#include "liedyn/model/bodies/rigid.h"
#include "liedyn/model/frame_rotation.h"
#include "liedyn/model/is_given.h"
#include "liedyn/model/model.h"
#include "liedyn/model/parameter_paths.h"
#include "liedyn/model/part_start.h"
#include "liedyn/model/sensors/list.h"
#include "liedyn/model/typed_rotation.h"

namespace liedyn {
namespace {

// What a body's fields say about its start.
struct BodyFields {
  int position, orientation, angle, velocity, angular_velocity, inertial_angular_velocity, reference;
  explicit BodyFields(const Kind& kind)
      : position(kind.field("position")),
        orientation(kind.field("orientation")),
        angle(kind.field("angle")),
        velocity(kind.field("velocity")),
        angular_velocity(kind.field("angular_velocity")),
        inertial_angular_velocity(kind.field("angular_velocity_inertial")),
        reference(kind.field("reference")) {}
};

template <class S>
struct BodyStart {
  Vec3T<S> position = Vec3T<S>::Zero();
  SO3<S> rotation;
  S angle = S(0);                      // of a body in the plane, in radians as typed
  Vec3T<S> center = Vec3T<S>::Zero();  // centre of mass relative to the reference point, body axes
};

template <class S>
Vec3T<S> vector_or_zero(const Inputs<S>& in, int field) {
  return field >= 0 && in.stored(field) ? in.vector(field) : Vec3T<S>(Vec3T<S>::Zero());
}

template <class S>
BodyStart<S> start_of(const Description& d, const Entry& body, const S* params) {
  if (body.is_part()) {
    const PartStart<S> part = part_start(d, body, params);
    BodyStart<S> out;
    out.position = part.position;
    out.rotation = part.rotation;
    return out;
  }
  const BodyFields f(*body.kind);
  const Inputs<S> in(d, body, params, nullptr);
  BodyStart<S> out;
  // What assembly is to find has no numbers: it begins at zero.
  out.position = vector_or_zero(in, f.position);
  if (f.orientation >= 0 && in.stored(f.orientation)) out.rotation = typed_rotation(in, f.orientation);
  if (f.angle >= 0 && in.stored(f.angle)) {
    out.angle = in.number(f.angle);
    out.rotation = SO3<S>::exp(Vec3T<S>(S(0), S(0), out.angle));
  }
  if (f.reference >= 0) out.center = -in.vector(f.reference);
  // What is not said about a body that rides is as it is with the body that carries it.
  if (body.rides) {
    BodyStart<S> host;
    if (body.host >= 0)
      host = start_of(d, d.entries(Section::Bodies)[static_cast<std::size_t>(body.host)], params);
    if (!is_given(body, f.position)) out.position = host.position;
    if (!is_given(body, f.orientation)) out.rotation = host.rotation;
  }
  return out;
}

// The frame's pose in the initial configuration, and its offset if it has numbers for one.
template <class S>
Pose<S> place_frame(const Model& m, const Frame& frame, const Entry& entry, const Attachment& a,
                    const S* params, S* constants) {
  const Description& d = m.description();
  BodyStart<S> body;
  if (frame.node >= 0)
    body = start_of(d, d.entries(Section::Bodies)[static_cast<std::size_t>(frame.node)], params);
  Pose<S> pose{body.rotation.R(), body.position};
  const bool point = a.place == Attachment::Place::Point && is_given(entry, a.point_field);
  const Attachment::Place place = a.place == Attachment::Place::Point && !point ? a.otherwise : a.place;
  const Inputs<S> in(d, entry, params, nullptr);
  const bool in_body = point && in.in_bodies(a.point_field);
  Vec3T<S> offset = Vec3T<S>::Zero();  // in body axes
  if (in_body)
    offset = in.vector_in_body(a.point_field, a.body_index);
  else if (place == Attachment::Place::CenterOfMass)
    offset = body.center;
  const bool rides = entry.rides;  // a joint that is where the body is
  if ((point && !in_body) || rides) {
    pose.p =
        rides ? start_of(d, d.entries(Section::Bodies)[static_cast<std::size_t>(entry.host)], params).position
              : in.vector(a.point_field, a.point_index);
    offset = frame.node < 0 ? pose.p : Vec3T<S>(pose.R.transpose() * (pose.p - body.position));
  } else {
    pose.p += pose.R * offset;
  }
  // Axes of its own turn with the body: R_frame = R Q.
  SO3<S> Q;
  if (!frame.aligned) {
    Q = typed_rotation(in, frame_rotation_field(*entry.kind, a.body_index));
    pose.R = (pose.R * Q.R()).eval();
  }
  if (frame.constants >= 0) {
    S* out = constants + frame.constants;
    Eigen::Map<Vec3T<S>>{out} = offset;
    Eigen::Map<Eigen::Matrix<S, 4, 1>>{out + 3} = Q.coordinates();
  }
  return pose;
}

constexpr int kMaxFrames = 4;

template <class S>
Inputs<S> element_inputs(const Model& m, const TimedParameters<S>& params, int batch, int element,
                         const std::vector<Attachment>& attachments, Pose<S>* poses, S* constants) {
  const Batch& b = *m.batches[static_cast<std::size_t>(batch)];
  const Entry& entry = m.entry_of(batch, element);
  Inputs<S> inputs(m.description(), entry, params.values, poses);
  inputs.set_rates(params.rates, params.second_rates);
  if (!b.parts.empty()) inputs.set_part(b.parts[static_cast<std::size_t>(element)]);
  for (std::size_t i = 0; i < attachments.size(); ++i) {
    const auto frame =
        static_cast<std::size_t>(b.frames[static_cast<std::size_t>(element) * attachments.size() + i]);
    const Attachment& a = attachments[i];
    if (a.joint_field < 0) {
      poses[i] = place_frame(m, m.frames[frame], entry, a, params.values, constants);
      continue;
    }
    // As the joint itself sees it.
    const auto [joint_batch, joint_element] = m.named_joint(batch, element, a.joint_index);
    const Entry& joint = m.entry_of(joint_batch, joint_element);
    const auto& joint_attachments = m.batches[static_cast<std::size_t>(joint_batch)]->attachments();
    poses[i] =
        place_frame(m, m.frames[frame], joint, joint_attachments[static_cast<std::size_t>(a.joint_frame)],
                    params.values, constants);
    inputs.set_joint(a.joint_index, joint);
  }
  return inputs;
}

}  // namespace

template <class S>
void derive_element(const Model& m, const TimedParameters<S>& params, int batch, int element,
                    ConstantsOf<S>& constants) {
  const Batch& b = *m.batches[static_cast<std::size_t>(batch)];
  Pose<S> poses[kMaxFrames];
  const Inputs<S> in =
      element_inputs(m, params, batch, element, b.attachments(), poses, constants.data.data());
  b.derive_constants(in, constants.data.data() + b.first_constant + element * b.constants_per_element());
}

template void derive_element(const Model&, const TimedParameters<double>&, int, int, Constants&);
template void derive_element(const Model&, const TimedParameters<Varied>&, int, int, ConstantsOf<Varied>&);

namespace {

// Whether points or directions of an entry are given in the axes of bodies.
bool in_bodies(const Entry& entry) {
  return std::any_of(entry.fields.begin(), entry.fields.end(),
                     [](const FieldValue& v) { return v.in_bodies; });
}

// The geometry of the links, from the initial configuration: there the coordinates of all joints of the tree are zero. Where a joint is given in
// body axes they are zero where its frames on both bodies coincide, so that the outer body is moved there.
template <class S>
void derive_links(const Model& m, const S* params, ConstantsOf<S>& constants) {
  const Description& d = m.description();
  const auto pose_of = [&](int body) {
    if (body < 0) return Pose<S>();
    const BodyStart<S> start =
        start_of(d, d.entries(Section::Bodies)[static_cast<std::size_t>(body)], params);
    return Pose<S>{start.rotation.R(), start.position};
  };
  for (std::size_t b = 0; b < m.batches.size(); ++b) {
    const Batch& batch = *m.batches[b];
    if (dynamic_cast<const TreeJoints*>(&batch) == nullptr) continue;
    for (int e = 0; e < batch.size(); ++e) {
      Pose<S> ends[kMaxFrames];
      element_inputs(m, TimedParameters<S>{params}, static_cast<int>(b), e, batch.attachments(), ends,
                     constants.data.data());
      const Entry& entry = m.entry_of(static_cast<int>(b), e);
      const TreeForm& form = *entry.kind->tree;
      const S* own = constants.data.data() + batch.first_constant + e * batch.constants_per_element();
      const int joint = batch.entries[static_cast<std::size_t>(e)];
      const int behind =
          m.tree->links[static_cast<std::size_t>(m.tree->of_joint[static_cast<std::size_t>(joint)])].body;
      const auto first_frame = static_cast<std::size_t>(batch.frames[static_cast<std::size_t>(2 * e)]);
      const bool backwards = m.frames[first_frame].node == behind;
      Pose<S> outer = pose_of(behind);
      if (in_bodies(entry)) close_joint(form, own, backwards ? 0 : 1, ends, outer);
      const JointFrames<S> frames = joint_frames<S>(form, ends, own, backwards);
      for (int i = m.tree->of_joint[static_cast<std::size_t>(joint)];;) {
        const Link& link = m.tree->links[static_cast<std::size_t>(i)];
        const Link* inner = link.parent < 0 ? nullptr : &m.tree->links[static_cast<std::size_t>(link.parent)];
        derive_link(link, pose_of(inner != nullptr ? inner->body : -1), outer, frames,
                    constants.data.data() + link.constants);
        if (link.step == 0) break;
        i = link.parent;
      }
    }
  }
}

}  // namespace

template <class S>
void derive_constants(const Model& m, const S* params, ConstantsOf<S>& constants) {
  constants.data.assign(static_cast<std::size_t>(m.constants), S(0));
  constants.gravity = Eigen::Map<const Vec3T<S>>(params + m.description().gravity());
  for (std::size_t b = 0; b < m.batches.size(); ++b)
    for (int e = 0; e < m.batches[b]->size(); ++e)
      derive_element(m, TimedParameters<S>{params}, static_cast<int>(b), e, constants);
  if (m.tree) derive_links(m, params, constants);
  const auto& entries = m.description().entries(Section::Sensors);
  for (std::size_t i = 0; i < m.sensors.size(); ++i) {
    if (m.sensors[i].frame < 0) continue;
    if (m.frames[static_cast<std::size_t>(m.sensors[i].frame)].node >= static_cast<int>(m.body_types.size()))
      continue;  // of a state
    const bool two = m.sensors[i].second_frame >= 0;
    for (int k = 0; k < (two ? 2 : 1); ++k) {
      const int frame = k == 0 ? m.sensors[i].frame : m.sensors[i].second_frame;
      place_frame(m, m.frames[static_cast<std::size_t>(frame)], entries[i],
                  sensor_attachment(*entries[i].kind, k), params, constants.data.data());
    }
  }
}

template void derive_constants(const Model&, const double*, Constants&);
template void derive_constants(const Model&, const Varied*, ConstantsOf<Varied>&);

namespace {

// A part of a beam or of a flexible body begins to move as a piece of a rigid body.
template <class S>
void start_part(const Description& d, const Entry& body, const S* params, const Node& node,
                InitialOf<S>& out) {
  if (body.kind->is_modal) return;  // relaxed
  const PartStart<S> start = part_start(d, body, params);
  S *q = out.q.data() + node.q, *v = out.v.data() + node.v;
  Eigen::Map<Vec3T<S>>{q} = start.position;
  store_rotation(start.rotation, q);
  Eigen::Map<Vec3T<S>>{v} =
      moves_in_body_axes(node.type) ? Vec3T<S>(start.R.transpose() * start.velocity) : start.velocity;
  Eigen::Map<Vec3T<S>>{v + 3} = turns_rotation(node.type)
                                    ? start.angular_velocity
                                    : Vec3T<S>(start.R.transpose() * start.angular_velocity);
  for (int k = 0; k < 3; ++k) {
    const auto i = static_cast<std::size_t>(node.v + k);
    out.free_position[i] = start.free_position;
    out.free_position[i + 3] = start.free_orientation;
    out.free_velocity[i] = start.free_velocity;
    out.free_velocity[i + 3] = start.free_angular_velocity;
  }
}

// A body that rides begins to move with the one that carries it, as far as nothing else is said; what assembly may choose there it may here.
template <class S>
void start_with_host(const Model& m, std::size_t index, std::vector<bool>& done, InitialOf<S>& out) {
  const auto& bodies = m.description().entries(Section::Bodies);
  const Entry& body = bodies[index];
  const int own = m.node_of_body(static_cast<int>(index));
  if (own < 0 || !body.rides || body.host < 0 || done[index]) return;
  done[index] = true;
  start_with_host(m, static_cast<std::size_t>(body.host), done, out);
  const BodyFields f(*body.kind);
  const Node& node = m.nodes[static_cast<std::size_t>(own)];
  const int host_node = m.node_of_body(body.host);
  if (host_node < 0) return;  // a joint of a tree moves it
  const Node& host = m.nodes[static_cast<std::size_t>(host_node)];
  const std::vector<S> rest(6, S(0));
  const Motion<S> motion = node_motion(host.type, out.q.data() + host.q, out.v.data() + host.v, rest.data());
  const S* q = out.q.data() + node.q;
  const Mat3T<S> R = rotation_of(q).R();
  const Vec3T<S> omega = motion.R * motion.V.template tail<3>();
  const Vec3T<S> arm = Eigen::Map<const Vec3T<S>>(q) - motion.p;
  const Vec3T<S> velocity = motion.R * motion.V.template head<3>() + omega.cross(arm);
  const bool turns_freely =
      !is_given(body, f.angular_velocity) && !is_given(body, f.inertial_angular_velocity);
  S* v = out.v.data() + node.v;
  if (!is_given(body, f.velocity))
    Eigen::Map<Vec3T<S>>{v} = moves_in_body_axes(node.type) ? Vec3T<S>(R.transpose() * velocity) : velocity;
  if (turns_freely)
    Eigen::Map<Vec3T<S>>{v + 3} = turns_rotation(node.type) ? omega : Vec3T<S>(R.transpose() * omega);
  const auto any = [&](const std::vector<bool>& flags) {
    const auto first = flags.begin() + host.v;
    return std::any_of(first, first + node_size(host.type).v, [](bool flag) { return flag; });
  };
  if (any(out.free_position)) std::fill_n(out.free_position.begin() + node.v, 6, true);
  if (any(out.free_velocity) && !is_given(body, f.velocity))
    std::fill_n(out.free_velocity.begin() + node.v, 3, true);
  if (any(out.free_velocity) && turns_freely) std::fill_n(out.free_velocity.begin() + node.v + 3, 3, true);
}

}  // namespace

template <class S>
InitialOf<S> initial_values(const Model& m, const S* params) {
  const Description& d = m.description();
  InitialOf<S> out;
  out.q.assign(static_cast<std::size_t>(m.nq), S(0));
  out.v.assign(static_cast<std::size_t>(m.nv), S(0));
  out.free_position.assign(static_cast<std::size_t>(m.nv), false);
  out.free_velocity.assign(static_cast<std::size_t>(m.nv), false);
  if (m.tree)
    for (const Link& link : m.tree->links)
      if (link.kind == Link::Kind::Rotation)
        store_rotation(SO3<S>(), out.q.data() + m.nodes[static_cast<std::size_t>(link.node)].q);
  for (std::size_t i = 0; i < m.body_types.size(); ++i) {
    const int node_index = m.node_of_body(static_cast<int>(i));
    if (node_index < 0) continue;  // at the zero of its joint
    const Entry& body = d.entries(Section::Bodies)[i];
    const Node& node = m.nodes[static_cast<std::size_t>(node_index)];
    if (body.is_part()) {
      start_part(d, body, params, node, out);
      continue;
    }
    const BodyFields f(*body.kind);
    const Inputs<S> in(d, body, params, nullptr);
    const BodyStart<S> start = start_of(d, body, params);
    const Mat3T<S> R = start.rotation.R();
    const Vec3T<S> velocity = vector_or_zero(in, f.velocity);
    const auto consistent = [&](int field) {
      return field >= 0 && body.fields[static_cast<std::size_t>(field)].consistent;
    };
    const auto mark = [&](std::vector<bool>& flags, int first, int count) {
      for (int k = 0; k < count; ++k) flags[static_cast<std::size_t>(node.v + first + k)] = true;
    };
    const int places = place_count(node.type);
    if (places > 0 && consistent(f.position)) mark(out.free_position, 0, places);
    if (places > 0 && consistent(f.velocity)) mark(out.free_velocity, 0, places);
    if (is_planar(node.type)) {
      S* q = out.q.data() + node.q;
      S* v = out.v.data() + node.v;
      const Vec3T<S> own = moves_in_body_axes(node.type) ? Vec3T<S>(R.transpose() * velocity) : velocity;
      for (int k = 0; k < 2; ++k) q[k] = start.position[k], v[k] = own[k];
      q[2] = start.angle;
      v[2] = in.stored(f.angular_velocity) ? in.number(f.angular_velocity) : S(0);
      if (consistent(f.angle)) mark(out.free_position, 2, 1);
      if (consistent(f.angular_velocity)) mark(out.free_velocity, 2, 1);
      continue;
    }
    Vec3T<S> omega = vector_or_zero(in, f.angular_velocity);
    if (is_given(body, f.inertial_angular_velocity))
      omega = R.transpose() * in.vector(f.inertial_angular_velocity);

    S* q = out.q.data() + node.q;
    S* v = out.v.data() + node.v;
    Eigen::Map<Vec3T<S>>{q} = start.position;
    const bool translates = places > 0, rotates = node.type != NodeType::R3;
    const int rotational = places;
    if (rotates) store_rotation(start.rotation, q);
    if (translates)
      Eigen::Map<Vec3T<S>>{v} = moves_in_body_axes(node.type) ? Vec3T<S>(R.transpose() * velocity) : velocity;
    if (rotates)
      Eigen::Map<Vec3T<S>>{v + rotational} = turns_rotation(node.type) ? Vec3T<S>(R * omega) : omega;
    if (rotates && consistent(f.orientation)) mark(out.free_position, rotational, 3);
    if (rotates && consistent(f.angular_velocity)) mark(out.free_velocity, rotational, 3);
  }
  std::vector<bool> done(m.body_types.size(), false);
  for (std::size_t i = 0; i < m.body_types.size(); ++i) start_with_host(m, i, done, out);
  const auto& states = d.entries(Section::States);
  for (std::size_t i = 0; i < states.size(); ++i)
    out.v[static_cast<std::size_t>(m.first_state()) + i] =
        Inputs<S>(d, states[i], params, nullptr).number(states[i].kind->field("initial"));
  return out;
}
template Initial initial_values(const Model&, const double*);
template InitialOf<Varied> initial_values(const Model&, const Varied*);

std::vector<Diagnostic> check_parameters(const Model& m, const double* params) {
  const Description& d = m.description();
  std::vector<Diagnostic> findings;
  const auto add = [&](const Entry& entry, Section section, const std::string& message,
                       const std::string& hint) {
    findings.push_back(
        {d.file, entry.line, fmt::format("{}.{}", section_name(section), entry.name), message, hint});
  };
  for (const Entry& body : d.entries(Section::Bodies)) {
    const BodyFields f(*body.kind);
    const Inputs<double> in(d, body, params, nullptr);
    if (f.orientation < 0 || !in.stored(f.orientation)) continue;
    const std::string mistake = rotation_mistake(in.form(f.orientation), in.values(f.orientation));
    if (!mistake.empty()) add(body, Section::Bodies, "orientation: " + mistake, "");
  }
  for (const Entry& body : d.entries(Section::Bodies)) {
    const BodyFields f(*body.kind);
    if (is_given(body, f.angular_velocity) && is_given(body, f.inertial_angular_velocity))
      add(body, Section::Bodies,
          "angular_velocity and angular_velocity_inertial are both given, expected one of them", "");
  }
  // The entries of a matrix may be set one by one.
  for (const Section section : kSections)
    for (const Entry& entry : d.entries(section))
      for (std::size_t f = 0; f < entry.kind->fields.size(); ++f) {
        if (entry.kind->fields[f].type != FieldType::Matrix6) continue;
        const Inputs<double> in(d, entry, params, nullptr);
        const int field = static_cast<int>(f);
        if (!in.stored(field)) continue;
        if (const std::string mistake = symmetry_mistake(6, in.values(field)); !mistake.empty())
          add(entry, section, entry.kind->fields[f].name + ": " + mistake, "set both");
      }
  std::vector<double> scratch(static_cast<std::size_t>(m.constants), 0);
  // A point mass has no extension: what acts on it acts on the point itself, and nothing turns it.
  const auto check_point = [&](const Frame& frame, const Entry& entry, Section section, bool turns) {
    const int node = frame.node < 0 ? -1 : m.node_of_body(frame.node);
    if (node < 0 || m.nodes[static_cast<std::size_t>(node)].type != NodeType::R3) return;
    const bool off =
        frame.constants >= 0 &&
        Eigen::Map<const Vec3>(&scratch[static_cast<std::size_t>(frame.constants)]).norm() > 1e-9;
    const std::string& name = d.entries(Section::Bodies)[static_cast<std::size_t>(frame.node)].name;
    if (off)
      add(entry, section, fmt::format("the given point is not the position of the point mass '{}'", name),
          "a point mass has no other points; use a rigid body");
    else if (turns)
      add(entry, section, fmt::format("the point mass '{}' has no orientation", name), "use a rigid body");
  };
  for (std::size_t b = 0; b < m.batches.size(); ++b) {
    const std::vector<Attachment> attachments = m.batches[b]->attachments();
    for (int e = 0; e < m.batches[b]->size(); ++e) {
      Pose<double> poses[kMaxFrames];
      std::string message, hint;
      m.batches[b]->check(element_inputs(m, TimedParameters<double>{params}, static_cast<int>(b), e,
                                         attachments, poses, scratch.data()),
                          message, hint);
      if (!message.empty()) add(m.entry_of(static_cast<int>(b), e), m.sections[b], message, hint);
      const Entry& entry = m.entry_of(static_cast<int>(b), e);
      if (m.sections[b] == Section::Bodies) continue;
      bool turned = false;
      for (std::size_t f = 0; f < entry.fields.size(); ++f)
        turned = turned || (entry.fields[f].given && entry.kind->fields[f].turns);
      for (std::size_t i = 0; i < attachments.size(); ++i) {
        const bool turns = turned || attachments[i].oriented;
        check_point(m.frames[static_cast<std::size_t>(
                        m.batches[b]->frames[static_cast<std::size_t>(e) * attachments.size() + i])],
                    entry, m.sections[b], turns);
      }
    }
  }
  return findings;
}

}  // namespace liedyn
