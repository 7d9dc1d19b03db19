#include "liedyn/model/forces/options_without_effect.h"

#include <fmt/format.h>

#include "liedyn/model/element.h"
#include "liedyn/model/is_given.h"

namespace liedyn {
namespace {

// `option` is read only beside one of `needed`, which must not be 0 if `positive`.
struct Needs {
  const char* option;
  std::vector<const char*> needed;
  bool positive = false;
};
const std::vector<Needs>& needs() {
  static const std::vector<Needs> list = {{"impact_speed", {"restitution"}},
                                          {"stribeck", {"static_friction", "static_coefficient"}},
                                          {"smoothing", {"friction", "static_friction"}},
                                          {"presliding_damping", {"presliding"}},
                                          {"relaxation_time", {"presliding"}},
                                          {"backlash", {"stiffness", "cubic_stiffness"}},
                                          {"initial_current", {"inductance"}, true}};
  return list;
}

class Looking {
 public:
  Looking(const Description& d, const Entry& force, std::vector<std::string>& out)
      : d_(&d), force_(&force), out_(&out) {}

  void all() const {
    for (const Needs& rule : needs()) {
      bool known = false, there = false;
      std::vector<const char*> missing;
      for (const char* name : rule.needed)
        if (force_->kind->field(name) >= 0) {
          known = true;
          there = there || (given(name) && !(rule.positive && is_constant_zero(name)));
          missing.push_back(name);
        }
      if (known && !there && given(rule.option) && !is_constant_zero(rule.option))
        say(rule.option, fmt::format("without {}", fmt::join(missing, " or ")));
    }
    // Bristles hold a body at rest: the speed below which friction falls to 0 is not read, but for the speed of Stribeck's law.
    if (given("presliding") && given("smoothing") && !(given("static_friction") && !given("stribeck")))
      say("smoothing", "with presliding");
    // Clutches have the fields of both laws.
    if (const int law = force_->kind->field("law"); law >= 0 && force_->kind->field("deflection") >= 0) {
      const bool sticks = Inputs<double>(*d_, *force_, nullptr, nullptr).choice(law) == 1;
      for (const char* option : {"smoothing", "deflection", "damping_time", "initial_bristle"})
        if (given(option) && sticks == (std::string_view(option) == "smoothing"))
          say(option, sticks ? "with the law stick" : "with the law smooth");
    }
  }

 private:
  bool given(const char* name) const { return is_given(*force_, force_->kind->field(name)); }
  // Zero as typed; a parameter or a function may become something else.
  bool is_constant_zero(const char* name) const {
    const int first = force_->fields[static_cast<std::size_t>(force_->kind->field(name))].first;
    if (first < 0) return false;
    for (const NumberExpression& expression : d_->expressions)
      if (expression.number == first) return false;
    return d_->parameters[static_cast<std::size_t>(first)] == 0;
  }
  void say(const char* option, const std::string& why) const {
    out_->push_back(fmt::format("forces.{}.{} has no effect {}: leave it out, or change what it depends on",
                                force_->name, option, why));
  }

  const Description* d_;
  const Entry* force_;
  std::vector<std::string>* out_;
};

}  // namespace

std::vector<std::string> options_without_effect(const Description& description) {
  std::vector<std::string> out;
  for (const Entry& force : description.entries(Section::Forces)) Looking(description, force, out).all();
  return out;
}

}  // namespace liedyn
