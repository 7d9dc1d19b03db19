#include "liedyn/model/forces/applied.h"

#include "liedyn/model/forces/signal_force.h"
#include "liedyn/model/frame_rotation.h"

namespace liedyn {
namespace {

enum Fields { kOn, kLoad, kAxes, kRotation, kAt };

std::vector<Field> fields(const std::string& name, const std::string& unit, LoadKind load) {
  return {{.name = "on",
           .type = FieldType::Body,
           .unit = "",
           .summary = "The body it acts on.",
           .required = true,
           .index = kOn},
          {.name = name,
           .type = FieldType::Vector,
           .unit = unit,
           .summary = "Its components.",
           .required = true,
           .may_depend_on_time = true,
           .may_depend_on_signals = true,
           .load = load,
           .turns = load == LoadKind::Torque,
           .index = kLoad},
          {.name = "axes",
           .type = FieldType::Choice,
           .unit = "",
           .summary = "Axes of the components: inertial, or fixed to the body.",
           .choices = {"inertial", "body"},
           .index = kAxes},
          frame_rotation("rotation",
                         "Rotation from these body-fixed axes to the body axes; the body axes if not given.")
              .as(kRotation)};
}

}  // namespace

template <int Part>
std::vector<Attachment> Applied<Part>::attachments() {
  using Place = Attachment::Place;
  if constexpr (Part == 0) return {{kOn, 0, Place::Point, kAt, 0, Place::CenterOfMass}};
  return {{kOn, 0, Place::Reference}};
}

template <int Part>
template <class S>
void Applied<Part>::derive(const Inputs<S>& in, S* p) {
  Eigen::Map<Vec3T<S>> load(p);
  load = in.vector(kLoad);
  p[3] = S(in.choice(kAxes));
}

template <int Part>
void Applied<Part>::partials(const World<double>&, const std::array<Motion<double>, 1>& f, const double* n,
                             ForcePartials<1>& d) {
  d.K[0][0].setZero();
  // d(R^T f) = (R^T f)~ d_r
  if (n[3] == 0)
    d.K[0][0].template block<3, 3>(Part, 3) = -skew(Vec3(f[0].R.transpose() * Eigen::Map<const Vec3>(n)));
}

template struct Applied<0>;
template struct Applied<3>;
template void Applied<0>::derive<double>(const Inputs<double>&, double*);
template void Applied<3>::derive<double>(const Inputs<double>&, double*);

ListedKind force() {
  std::vector<Field> list = fields("force", "N", LoadKind::Force);
  list.push_back({.name = "at",
                  .type = FieldType::Vector,
                  .unit = "m",
                  .summary = "Point of the body in the initial configuration, inertial axes; the centre of "
                             "mass if not given.",
                  .body_axes = BodyAxes::Each,
                  .pose = PoseRole::Point,
                  .index = kAt});
  return {{"force", "Force at a point of a body.", list}, &make_force<Applied<0>>, &signal_shape};
}

ListedKind torque() {
  return {{"torque", "Torque on a body.", fields("torque", "N m", LoadKind::Torque)},
          &make_force<Applied<3>>,
          &signal_shape};
}

}  // namespace liedyn
