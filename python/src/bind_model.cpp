#include "bind.h"
#include "liedyn/model/description.h"
#include "liedyn/model/field.h"
#include "liedyn/model/model.h"
#include "liedyn/model/record_all.h"
#include "liedyn/system/further_findings.h"

#include <pybind11/stl.h>

namespace liedyn::python {
namespace {

void bind_lists(py::module_& m) {
  py::enum_<FieldType>(m, "FieldType", "Type of the value of a key.")
      .value("Number", FieldType::Number)
      .value("Vector", FieldType::Vector)
      .value("PlaneVector", FieldType::PlaneVector)
      .value("Points", FieldType::Points)
      .value("Inertia", FieldType::Inertia)
      .value("Rotation", FieldType::Rotation)
      .value("Choice", FieldType::Choice)
      .value("Choices", FieldType::Choices)
      .value("Text", FieldType::Text)
      .value("Body", FieldType::Body)
      .value("Bodies", FieldType::Bodies)
      .value("Joint", FieldType::Joint)
      .value("Joints", FieldType::Joints)
      .value("State", FieldType::State)
      .value("Beam", FieldType::Beam)
      .value("Flexible", FieldType::Flexible)
      .value("Force", FieldType::Force)
      .value("Matrix6", FieldType::Matrix6)
      .value("Integer", FieldType::Integer)
      .value("Path", FieldType::Path);
  py::class_<Field>(m, "Field", "One key of an element, with its type, unit and default.")
      .def_readonly("name", &Field::name)
      .def_readonly("unit", &Field::unit)
      .def_property_readonly("summary", &full_summary)
      .def_readonly("type", &Field::type)
      .def_readonly("required", &Field::required)
      .def_readonly("may_be_consistent", &Field::may_be_consistent)
      .def_readonly("may_depend_on_time", &Field::may_depend_on_time)
      .def_readonly("holds_expression", &Field::holds_expression)
      .def_property_readonly("in_body_axes",
                             [](const Field& field) { return field.body_axes != BodyAxes::None; })
      .def_readonly("choices", &Field::choices)
      .def_property_readonly("several", [](const Field& field) { return field.type == FieldType::Choices; })
      .def_readonly("defaults", &Field::defaults)
      .def_property_readonly("default", &default_text,
                             "The default as a JSON string; empty if there is none.")
      .def("__repr__",
           [](const Field& field) { return "<Field " + field.name + ": " + field.summary + ">"; });
  py::class_<Kind>(m, "Kind", "A type of body, joint, force or sensor.")
      .def_readonly("type", &Kind::type)
      .def_readonly("summary", &Kind::summary)
      .def_property_readonly(
          "fields",
          [](const Kind& kind) { return by_name(kind.fields, [](const Field& f) { return f.name; }); })
      .def("__repr__", [](const Kind& kind) { return "<Kind " + kind.type + ": " + kind.summary + ">"; });

  m.def(
      "elements",
      [] {
        py::dict out;
        for (const Section section : kSections)
          out[py::cast(section_name(section))] =
              by_name(kinds(section), [](const Kind& kind) { return kind.type; });
        return out;
      },
      "Types of bodies, beams, joints, forces, states and sensors, by section and name, with their fields.");
  m.def("formulations", &formulations, "Names of the formulations, the default first.");
}

}  // namespace

void bind_model(py::module_& m) {
  bind_lists(m);

  py::class_<Params>(m, "Params", "The parameters of a model by path.")
      .def(py::init<const Params&>())
      .def("__len__", &Params::size)
      .def("find", &Params::find)
      .def("path", &Params::path)
      .def("get", &Params::get)
      .def("set", py::overload_cast<std::string_view, double>(&Params::set));

  // Model is constant in C++; pybind11 has no holder for that.
  py::class_<Model, std::shared_ptr<Model>>(m, "Model", "A model compiled for one formulation.")
      .def(py::init([](const Description& description, const std::string& formulation) {
        const auto shared = std::make_shared<const Description>(description);
        return std::const_pointer_cast<Model>(compile_model(shared, Params(shared), formulation));
      }))
      .def(
          "in_formulation",
          [](const Model& model, const std::string& formulation) {
            return std::const_pointer_cast<Model>(Model::compile(model.shared_description(), formulation));
          },
          "The same description compiled for another formulation; parameters of one are those of the other.")
      .def(
          "recording_all",
          [](const Model& model) {
            Description description = model.description();
            record_all(description);
            return std::const_pointer_cast<Model>(Model::compile(
                std::make_shared<const Description>(std::move(description)), model.formulation()));
          },
          "With sensors of all that moves. It has parameters of its own.")
      .def_property_readonly("name", [](const Model& model) { return model.description().name; })
      .def_property_readonly("file", [](const Model& model) { return model.description().file; })
      .def_property_readonly("text",
                             [](const Model& model) {
                               const auto& text = model.description().text;
                               return text == nullptr ? std::string() : *text;
                             })
      .def_property_readonly("formulation", &Model::formulation)
      .def_property_readonly(
          "units",
          [](const Model& model) {
            py::dict out;
            for (const Sensor& sensor : model.sensors) out[py::cast(sensor.name)] = model.unit_of(sensor);
            return out;
          },
          "Of the sensors, by name.")
      .def("params", [](const Model& model) { return Params(model.shared_description()); });
}

}  // namespace liedyn::python
