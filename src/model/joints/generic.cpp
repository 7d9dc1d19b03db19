#include "liedyn/model/joints/generic.h"

#include "liedyn/model/common_fields.h"
#include "liedyn/model/parameter_paths.h"
#include "liedyn/model/typed_rotation.h"

namespace liedyn {
namespace {

enum Fields { kBetween, kAt, kFixed, kOrientation };

Held directions(const Description& description, const Entry& entry) {
  return Inputs<double>(description, entry, nullptr, nullptr).choices(kFixed);
}

std::unique_ptr<Batch> make(Held held) {
  switch (std::popcount(held)) {
    case 1: return make_batch<Generic<1>>(held);
    case 2: return make_batch<Generic<2>>(held);
    case 3: return make_batch<Generic<3>>(held);
    case 4: return make_batch<Generic<4>>(held);
    case 5: return make_batch<Generic<5>>(held);
    default: return make_batch<Generic<6>>(held);
  }
}

}  // namespace

template <int Rows>
std::vector<Attachment> Generic<Rows>::attachments(Held held) {
  return held_attachments(held, kBetween, kAt);
}

template <int Rows>
template <class S>
void Generic<Rows>::derive(const Inputs<S>& in, S* p) {
  derive_axes(in, typed_rotation(in, kOrientation).R(), p);
  derive_zero(in, p);
  p[kAxesConstants] = S(in.choices(kFixed));
}

template <int Rows>
void Generic<Rows>::check(const Inputs<double>& in, std::string& message, std::string&) {
  const std::string mistake = rotation_mistake(in.form(kOrientation), in.values(kOrientation));
  if (!mistake.empty()) message = "orientation: " + mistake;
}

template <int Rows>
std::string Generic<Rows>::row_name(Held held, int row) {
  return liedyn::row_name(held_rows(held)[static_cast<std::size_t>(row)]);
}

template struct Generic<1>;
template struct Generic<2>;
template struct Generic<3>;
template struct Generic<4>;
template struct Generic<5>;
template struct Generic<6>;

ListedKind generic() {
  return {{.type = "generic",
           .summary = "Constrains any of six relative motions: displacements along three axes of the first "
                      "body and rotations about them.",
           .fields = {between_bodies("The two bodies; the first carries the axes.").as(kBetween),
                      common_place().as(kAt),
                      {.name = "fixed",
                       .type = FieldType::Choices,
                       .unit = "",
                       .summary = "The constrained motions; the others are free.",
                       .required = true,
                       .choices = {"x", "y", "z", "rotation_x", "rotation_y", "rotation_z"},
                       .index = kFixed},
                      {.name = "orientation",
                       .type = FieldType::Rotation,
                       .unit = "rad",
                       .summary = "Axes of the joint in the initial configuration, joint to inertial axes.",
                       .defaults = {0, 0, 0},
                       .pose = PoseRole::Orientation,
                       .index = kOrientation}},
           .keeps_orientation = true,
           .is_smooth = true},
          &make,
          &directions};
}

}  // namespace liedyn
