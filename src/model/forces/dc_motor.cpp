#include "liedyn/model/forces/dc_motor.h"

#include <fmt/format.h>

namespace liedyn {
namespace {

enum Fields {
  kJoint,
  kCoordinate,
  kVoltage,
  kResistance,
  kInductance,
  kTorqueConstant,
  kGearRatio,
  kRotorInertia,
  kDamping,
  kInitialCurrent
};

// Whether the current of a motor is a state.
bool has_inductance(const Description& d, const Entry& motor) {
  const FieldValue& L = motor.fields[kInductance];
  return L.first >= 0 && d.parameters[static_cast<std::size_t>(L.first)] != 0;
}

std::vector<ForceState> states_of_motor(const Description& d, const Entry& motor) {
  if (!has_inductance(d, motor)) return {};
  return {{.name = "current", .initial = "initial_current"}};
}

}  // namespace

template <bool Inductive>
template <class S>
void DcMotor<Inductive>::derive(const Inputs<S>& in, S* n) {
  const S g = in.number(kGearRatio);
  n[0] = g * g * in.number(kRotorInertia);
  n[1] = in.number(kVoltage);
  n[2] = in.number(kResistance);
  n[3] = in.number(kInductance);
  n[4] = in.number(kTorqueConstant);
  n[5] = g;
  n[6] = in.number(kDamping);
}

template <bool Inductive>
void DcMotor<Inductive>::check(const Inputs<double>& in, std::string& message, std::string& hint) {
  const double L = in.number(kInductance);
  if (in.number(kGearRatio) == 0) {
    message = "gear_ratio: expected a number that is not 0, got 0";
    hint = "it is the number of turns of the rotor per turn of the joint; 1 without a gear";
  } else if (Inductive && L == 0) {
    message =
        "inductance: expected a positive number, got 0: this model was made with the current as a state";
    hint = "write 0 into the model file, or leave it out: the current then follows the voltage at once";
  } else if (!Inductive && L != 0) {
    message =
        fmt::format("inductance: expected 0, got {}: this model was made without a state for the current", L);
    hint = "write the inductance into the model file: the current is a state then";
  }
}

ListedKind dc_motor() {
  return {
      {.type = "dc_motor",
       .summary =
           "Direct-current motor in a joint: resistance, inductance, back-EMF, gear, rotor inertia and "
           "friction. With an inductance its current is a state, NAME.current.",
       .fields =
           {named_joint("The joint that it drives.").as(kJoint), joint_coordinate_choice().as(kCoordinate),
            machine_signal("voltage", "V", "Voltage at the terminals.", {0}).as(kVoltage),
            required_machine_number("resistance", "ohm", "Resistance of the winding.", Range::Positive)
                .as(kResistance),
            machine_number("inductance", "H",
                           "Inductance of the winding; with 0 the current follows the voltage at once.", {0},
                           Range::NonNegative)
                .as(kInductance),
            required_machine_number(
                "torque_constant", "N m/A",
                "Torque of the rotor per current; in V s/rad it is the constant of the back-EMF too.",
                Range::Positive)
                .as(kTorqueConstant),
            machine_number("gear_ratio", "1 or rad/m",
                           "Angle of the rotor per angle or displacement of the joint; negative if they turn "
                           "against each other.",
                           {1})
                .as(kGearRatio),
            machine_number("rotor_inertia", "kg m^2",
                           "Moment of inertia of the rotor; the joint feels it times the square of the gear "
                           "ratio, in its relative motion.",
                           {0}, Range::NonNegative)
                .as(kRotorInertia),
            machine_number("damping", "N m s/rad", "Viscous friction of the rotor.", {0}, Range::NonNegative)
                .as(kDamping),
            machine_start("initial_current", "A", "Current at the start, if there is an inductance.")
                .as(kInitialCurrent)},
       .states = &states_of_motor},
      [](unsigned shape) -> std::unique_ptr<Batch> {
        if (machine_variant(shape) == 1) return std::make_unique<Machine<DcMotor<true>>>();
        return std::make_unique<Machine<DcMotor<false>>>();
      },
      [](const Description& d, const Entry& entry) {
        return machine_shape(d, entry, has_inductance(d, entry) ? 1 : 0);
      }};
}

}  // namespace liedyn
