// A model in code, in the words of model files: a section is a function, a key is the name of a field.
//
//   ModelBuilder b({0, 0, -9.81});
//   b.parameter("length", 0.5).parameter("swing", "2*length");
//   b.body("rod", "rigid").set("mass", 2).set("inertia", {0.001, 0.04, 0.04}).set("position", {"length/2", 0, 0});
//   b.joint("pivot", "revolute").set("between", {"ground", "rod"}).set("at", {0, 0, 0}).set("axis", {0, 1, 0});
//   b.force("motor", "joint_actuator").set("joint", "pivot").set("feed_forward", "3*sin(2*t)");
//   b.sensor("angle", "joint_angle").set("of", "pivot");
//   std::shared_ptr<const Description> description = b.finish();
//
// What a value may be depends on the field, as in a file: a text is a name or a word where the field takes one, and an expression where
// it takes numbers. Errors are collected: finish() throws one InputError that names the entry and the field of each.
#pragma once

#include <array>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "liedyn/base/matrix.h"
#include "liedyn/model/description.h"

namespace liedyn {

// One item of a list: a number, or a text, which is an expression among numbers and a name or word elsewhere.
struct FieldItem {
  double number = 0;
  std::optional<std::string> text = {};

  template <class T>
  requires std::is_arithmetic_v<T> FieldItem(T value) : number(static_cast<double>(value)) {}
  FieldItem(const char* value) : text(value) {}
  FieldItem(std::string value) : text(std::move(value)) {}
};
using FieldItems = std::vector<FieldItem>;

// An orientation in one of the forms of model files: {"cardan": [0, 0, 0.1]} is cardan(0, 0, 0.1).
struct RotationItems {
  RotationForm form;
  FieldItems items;
};
RotationItems rotation_vector(FieldItem x, FieldItem y, FieldItem z);
RotationItems cardan(FieldItem first, FieldItem second, FieldItem third);
RotationItems quaternion(FieldItem w, FieldItem x, FieldItem y, FieldItem z);
RotationItems axis_angle(FieldItem x, FieldItem y, FieldItem z, FieldItem angle);
RotationItems rotation_matrix(const Mat3& R);

class ModelBuilder {
 public:
  // The name is that of results. Gravity is 9.81 m/s^2 along -z if nothing is given.
  explicit ModelBuilder(std::array<double, 3> gravity = {0, 0, -9.81}, std::string name = "model");
  ~ModelBuilder();

  // Before the first entry. A parameter may be an expression of earlier ones; components of gravity may be expressions of all.
  ModelBuilder& parameter(const std::string& name, FieldItem value);
  ModelBuilder& gravity(FieldItem x, FieldItem y, FieldItem z);
  // Also before the first entry: expressions of t are evaluated at the start.
  ModelBuilder& simulation(SimulationSettings settings);

  // Each begins an entry, which ends where the next one begins.
  ModelBuilder& body(const std::string& name, std::string_view type) {
    return begin(Section::Bodies, name, type);
  }
  ModelBuilder& beam(const std::string& name, std::string_view type) {
    return begin(Section::Beams, name, type);
  }
  ModelBuilder& flexible(const std::string& name, std::string_view type) {
    return begin(Section::Flexible, name, type);
  }
  ModelBuilder& joint(const std::string& name, std::string_view type) {
    return begin(Section::Joints, name, type);
  }
  ModelBuilder& force(const std::string& name, std::string_view type) {
    return begin(Section::Forces, name, type);
  }
  ModelBuilder& state(const std::string& name, std::string_view type) {
    return begin(Section::States, name, type);
  }
  ModelBuilder& sensor(const std::string& name, std::string_view type) {
    return begin(Section::Sensors, name, type);
  }
  ModelBuilder& begin(Section section, const std::string& name, std::string_view type);

  // Fields of the entry begun last. Points one after the other: {x, y, z, x, y, z}.
  template <class T>
  requires std::is_arithmetic_v<T> ModelBuilder& set(std::string_view field, T number) {
    return set(field, {FieldItem(number)});
  }
  // A template, as {0} would otherwise be a null text and not a list of one number.
  template <class Char>
  requires std::is_same_v<Char, char> ModelBuilder& set(std::string_view field, const Char* text) {
    return set(field, std::string(text));
  }
  ModelBuilder& set(std::string_view field, const std::string& text);
  ModelBuilder& set(std::string_view field, std::initializer_list<FieldItem> items);
  ModelBuilder& set(std::string_view field, const FieldItems& items);
  ModelBuilder& set(std::string_view field, std::span<const double> numbers);
  ModelBuilder& set(std::string_view field, const Vec3& v);
  // Of an inertia or a rotation, or of a section of a beam.
  template <class Matrix>
  requires std::is_same_v<Matrix, Mat3> || std::is_same_v<Matrix, Mat6> ModelBuilder& set(
      std::string_view field, const Matrix& matrix) {
    return set_matrix(field, matrix);
  }
  ModelBuilder& set(std::string_view field, const RotationItems& rotation);
  // Two names: {first, second}.
  ModelBuilder& set(std::string_view field, const std::string& first, const std::string& second);
  // Some of the words of a list.
  ModelBuilder& choose(std::string_view field, const std::vector<std::string>& words);
  // The i-th number of a field set before, as an expression.
  ModelBuilder& expression(std::string_view field, int i, const std::string& text);

  // "consistent": assembly finds the value; guess() gives it where to begin, {"consistent": [...]}.
  ModelBuilder& consistent(std::string_view field);
  ModelBuilder& guess(std::string_view field, std::initializer_list<FieldItem> items);
  template <class Value>
  ModelBuilder& guess(std::string_view field, const Value& value) {
    set(field, value);
    return mark_consistent(field);
  }

  // Points or directions in the axes of bodies: {"crank": [0.1, 0, 0], "rod": [-0.15, 0, 0]}. Of planar elements x and y count.
  ModelBuilder& in_bodies(std::string_view field, const std::vector<std::pair<std::string, Vec3>>& vectors);

  // What viewers show.
  ModelBuilder& visual(Visual visual);

  // Throws InputError with all findings. The builder is used up then.
  std::shared_ptr<const Description> finish();

 private:
  DescriptionBuilder& builder();  // made when parameters and gravity are known
  void close();
  bool too_late(std::string_view what);
  bool has_entry(std::string_view field);
  const Field* field(std::string_view name) const;  // null: the entry has none
  ModelBuilder& set_numbers(std::string_view field, const FieldItems& items, RotationForm form);
  ModelBuilder& set_matrix(std::string_view field, const Eigen::MatrixXd& matrix);
  ModelBuilder& mark_consistent(std::string_view field);

  std::string name_;
  std::array<FieldItem, 3> gravity_;
  std::vector<DescriptionBuilder::Parameter> parameters_;
  std::optional<SimulationSettings> settings_;
  std::unique_ptr<DescriptionBuilder> builder_;
  Section section_ = Section::Bodies;
  const Kind* kind_ = nullptr;  // of the entry begun last
  bool begun_ = false;          // an entry has begun, or could not
  bool open_ = false;           // it could, and has not ended
  bool finished_ = false;
};

}  // namespace liedyn
