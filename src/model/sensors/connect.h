// How sensors find what they look at, when a model is compiled.
#pragma once

#include "liedyn/model/compile.h"
#include "liedyn/model/sensors/sensor.h"

namespace liedyn {

// One entry of the section `sensors`, and what there is to look at.
class SensorConnection {
 public:
  SensorConnection(ModelCompiler& compiler, const Entry& of, const VariableNames& known)
      : model(compiler.model()), d(model.description()), entry(of), variables(known), compiler_(&compiler) {}

  Model& model;
  const Description& d;
  const Entry& entry;
  const VariableNames& variables;  // what expressions may name

  int field = 0;  // the one at hand

  // What the field names.
  const std::string& word() const { return liedyn::word(d, entry, field); }
  int find(Section section, std::string_view name) const { return compiler_->names().find(section, name); }
  // A frame on its i-th body.
  int add_frame(int i);
  // Something is wrong with the field.
  void refuse(std::string message, std::string hint);

 private:
  ModelCompiler* compiler_;
};

// Whether forces of this kind have an effort: they act in a joint, or along the line between two points. Contacts and tyres have two points as well, but act elsewhere.
bool has_effort(const Kind& force);

// Boundaries of elements where the section forces of an exact beam jump: nodes with forces or joints, in order.
std::vector<int> section_force_jumps(const Description& d, const Entry& beam);

// As its kind says, or by the types of its fields.
void connect_sensor(SensorConnection& c, Sensor& sensor);

// To places in a flexible body: nodes that are displaced, or points with a stress.
void connect_to_displacement(SensorConnection& c, Sensor& sensor);
void connect_to_stress(SensorConnection& c, Sensor& sensor);
// To something inside a machine element, by its name.
void connect_to_quantity(SensorConnection& c, Sensor& sensor);

}  // namespace liedyn
