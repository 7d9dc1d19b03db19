#include "liedyn/model/part_start.h"

#include <algorithm>

#include "liedyn/model/beams/beam.h"
#include "liedyn/model/flexible/body.h"

namespace liedyn {
namespace {

template <class S>
PartStart<S> start_of_beam_node(const Description& d, const Entry& beam, const Entry& node, const S* params) {
  const Inputs<S> in(d, beam, params, nullptr);
  const auto vector = [&](int field) {
    return in.stored(field) ? in.vector(field) : Vec3T<S>(Vec3T<S>::Zero());
  };
  const Pose<S> pose = beam_curve(in).at(beam_mesh(d, beam).fraction(node.node));
  PartStart<S> out;
  out.position = pose.p;
  out.rotation = SO3<S>::from_matrix(pose.R);
  out.R = out.rotation.R();
  out.angular_velocity = vector(kBeamAngularVelocity);
  const Vec3T<S> arm = out.position - in.vector(kBeamFrom);
  out.velocity = vector(kBeamVelocity) + out.angular_velocity.cross(arm);
  out.free_velocity = beam.fields[kBeamVelocity].consistent;
  out.free_angular_velocity = beam.fields[kBeamAngularVelocity].consistent;
  return out;
}

// The frame of a flexible body, or an interface; its modes are relaxed.
template <class S>
PartStart<S> start_of_flexible(const Description& d, const Entry& entry, const Entry& body, const S* params) {
  PartStart<S> out;
  if (body.kind->is_modal) return out;
  const auto& entries = d.entries(Section::Flexible);
  const Entry* owner = &entry;
  if (is_interface(entry)) {
    const std::string& name = interface_owner(d, entry);
    owner = &*std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.name == name; });
  }
  const FlexibleStart<S> start = flexible_start(d, entry, *owner, params);
  out.position = start.pose.p;
  out.rotation = SO3<S>::from_matrix(start.pose.R);
  out.R = start.pose.R;
  out.velocity = start.velocity;
  out.angular_velocity = start.angular_velocity;
  out.free_position = start.free_position;
  out.free_orientation = start.free_orientation;
  out.free_velocity = start.free_velocity;
  out.free_angular_velocity = start.free_angular_velocity;
  return out;
}

}  // namespace

template <class S>
PartStart<S> part_start(const Description& d, const Entry& body, const S* params) {
  const Entry& owner = d.entries(body.owner_section)[static_cast<std::size_t>(body.owner)];
  return body.owner_section == Section::Beams ? start_of_beam_node(d, owner, body, params)
                                              : start_of_flexible(d, owner, body, params);
}
template PartStart<double> part_start(const Description&, const Entry&, const double*);
template PartStart<Varied> part_start(const Description&, const Entry&, const Varied*);

}  // namespace liedyn
