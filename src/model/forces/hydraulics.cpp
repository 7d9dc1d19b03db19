#include "liedyn/model/forces/hydraulics.h"

#include <fmt/format.h>

namespace liedyn {
namespace {

// Behind the two fields of the coordinate.
enum Fields {
  kAreaA = 2,
  kAreaB,
  kDeadA,
  kDeadB,
  kStroke,
  kRetracted,
  kBulk,
  kValve,
  kRatedFlow,
  kRatedDrop,
  kSupply,
  kTank,
  kLeakage,
  kSmoothing,
  kDamping,
  kInitialA,
  kInitialB
};

std::vector<Field> fields_of(bool joint) {
  const std::string area = joint ? "m^2 or m^3/rad" : "m^2", length = joint ? "m or rad" : "m";
  return {required_machine_number("area_a", area,
                                  "Area of the piston in chamber A, which makes the coordinate grow.",
                                  Range::Positive)
              .as(kAreaA),
          required_machine_number("area_b", area, "Area of the piston in chamber B, less that of the rod.",
                                  Range::Positive)
              .as(kAreaB),
          required_machine_number("dead_volume_a", "m^3",
                                  "Oil in chamber A and its line with the piston fully retracted.",
                                  Range::Positive)
              .as(kDeadA),
          required_machine_number("dead_volume_b", "m^3",
                                  "Oil in chamber B and its line with the piston fully extended.",
                                  Range::Positive)
              .as(kDeadB),
          required_machine_number("stroke", length, "Stroke of the piston.", Range::Positive).as(kStroke),
          joint ? machine_number("retracted", length, "The coordinate with the piston fully retracted.", {0})
                      .as(kRetracted)
                : required_machine_number("retracted", length,
                                          "Distance of the points with the piston fully retracted.",
                                          Range::Positive)
                      .as(kRetracted),
          required_machine_number("bulk_modulus", "Pa", "Bulk modulus of the oil, with air and hoses.",
                                  Range::Positive)
              .as(kBulk),
          machine_signal(
              "valve", "",
              "Opening of the valve: 1 joins A to the supply and B to the tank, -1 the other way round, 0 "
              "closes it.",
              {0})
              .as(kValve),
          required_machine_number("rated_flow", "m^3/s",
                                  "Flow through one edge of the fully open valve at `rated_drop`.",
                                  Range::NonNegative)
              .as(kRatedFlow),
          machine_number("rated_drop", "Pa", "Pressure drop over one edge at which `rated_flow` is given.",
                         {3.5e6}, Range::Positive)
              .as(kRatedDrop),
          required_machine_number("supply_pressure", "Pa", "Pressure of the supply.", Range::Any).as(kSupply),
          machine_number("tank_pressure", "Pa", "Pressure of the tank.", {0}).as(kTank),
          machine_number("leakage", "m^3/(s Pa)", "Leakage past the piston per pressure difference.", {0},
                         Range::NonNegative)
              .as(kLeakage),
          machine_number("smoothing", "Pa",
                         "Pressure drop below which the flow is proportional to it; far above, the flow is "
                         "proportional to its square root.",
                         {1e4}, Range::Positive)
              .as(kSmoothing),
          machine_number("damping", joint ? "N s/m or N m s/rad" : "N s/m", "Viscous friction of the piston.",
                         {0}, Range::NonNegative)
              .as(kDamping),
          machine_start("initial_pressure_a", "Pa", "Pressure in chamber A at the start.").as(kInitialA),
          machine_start("initial_pressure_b", "Pa", "Pressure in chamber B at the start.").as(kInitialB)};
}

std::vector<ForceState> states_of_cylinder(const Description&, const Entry&) {
  return {{.name = "pressure_a", .initial = "initial_pressure_a"},
          {.name = "pressure_b", .initial = "initial_pressure_b"}};
}

template <class Coordinate>
std::unique_ptr<Batch> make_hydraulics(unsigned) {
  return std::make_unique<Machine<Hydraulics<Coordinate>>>();
}
unsigned hydraulics_shape(const Description& d, const Entry& entry) { return machine_shape(d, entry, 0); }

}  // namespace

template <class Coordinate>
template <class S>
void Hydraulics<Coordinate>::derive(const Inputs<S>& in, S* n) {
  using std::sqrt;
  n[0] = in.number(kAreaA);
  n[1] = in.number(kAreaB);
  n[2] = in.number(kDeadA);
  n[3] = in.number(kDeadB);
  n[4] = in.number(kRetracted);
  n[5] = in.number(kStroke);
  n[6] = in.number(kBulk);
  n[7] = in.number(kLeakage);
  n[8] = in.number(kValve);
  n[9] = in.number(kRatedFlow) / sqrt(in.number(kRatedDrop));
  n[10] = in.number(kSupply);
  n[11] = in.number(kTank);
  n[12] = in.number(kSmoothing);
  n[13] = in.number(kDamping);
}

template <class Coordinate>
void Hydraulics<Coordinate>::check(const Inputs<double>& in, std::string& message, std::string& hint) {
  if (in.number(kSupply) < in.number(kTank)) {
    message = fmt::format("supply_pressure: expected at least the pressure of the tank, {}, got {}",
                          in.number(kTank), in.number(kSupply));
    return;
  }
  // Points in the axes of bodies may have to be assembled first.
  if constexpr (std::is_same_v<Coordinate, DistanceOfPoints>) {
    constexpr int kPoints = 1;
    if (in.in_bodies(kPoints)) return;
    const double length = (in.frame(1).p - in.frame(0).p).norm(), x = length - in.number(kRetracted);
    const double margin = 1e-6 * in.number(kStroke);
    if (x >= -margin && x <= in.number(kStroke) + margin) return;
    message = fmt::format(
        "points: their distance is {:.9g} m, expected {:.9g} m (retracted) to {:.9g} m (extended)", length,
        in.number(kRetracted), in.number(kRetracted) + in.number(kStroke));
    hint = "change `retracted` or `stroke`, or the points";
  }
}

ListedKind hydraulic_cylinder() {
  std::vector<Field> fields = {between_bodies("The two bodies: the housing and the rod.").as(0),
                               two_points().as(1)};
  for (Field& field : fields_of(false)) fields.push_back(std::move(field));
  return {{.type = "hydraulic_cylinder",
           .summary = "Hydraulic cylinder with two chambers and a valve between two points; its pressures "
                      "are the states "
                      "NAME.pressure_a and NAME.pressure_b.",
           .fields = std::move(fields),
           .acts_along_points = true,
           .states = &states_of_cylinder},
          &make_hydraulics<DistanceOfPoints>,
          &hydraulics_shape};
}

ListedKind joint_hydraulics() {
  std::vector<Field> fields = {named_joint("The joint that it drives.").as(0),
                               joint_coordinate_choice().as(1)};
  for (Field& field : fields_of(true)) fields.push_back(std::move(field));
  return {{.type = "joint_hydraulics",
           .summary = "Hydraulic actuator in a joint: a cylinder along a displacement, a vane actuator about "
                      "an angle; its "
                      "pressures are the states NAME.pressure_a and NAME.pressure_b.",
           .fields = std::move(fields),
           .states = &states_of_cylinder},
          &make_hydraulics<CoordinateOfJoint>,
          &hydraulics_shape};
}

}  // namespace liedyn
