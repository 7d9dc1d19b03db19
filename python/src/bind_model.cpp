#include "bind.h"
#include "model/description.h"
#include "model/field.h"
#include "model/model.h"
#include "system/further_findings.h"

#include <pybind11/stl.h>

namespace liedyn::python {
namespace {

void bind_lists(py::module_& m) {
  py::class_<Field>(m, "Field", "What may be typed for one key of an element.")
      .def_readonly("name", &Field::name)
      .def_readonly("unit", &Field::unit)
      .def_property_readonly("summary", &full_summary)
      .def_readonly("required", &Field::required)
      .def_readonly("choices", &Field::choices)
      .def_property_readonly("several", [](const Field& field) { return field.type == FieldType::Choices; })
      .def_readonly("defaults", &Field::defaults)
      .def_property_readonly("default", &default_text, "The default as JSON text; empty if there is none.")
      .def("__repr__",
           [](const Field& field) { return "<Field " + field.name + ": " + field.summary + ">"; });
  py::class_<Kind>(m, "Kind", "A type of body, joint, force or sensor.")
      .def_readonly("type", &Kind::type)
      .def_readonly("summary", &Kind::summary)
      .def_property_readonly(
          "fields",
          [](const Kind& kind) { return by_name(kind.fields, [](const Field& f) { return f.name; }); })
      .def("__repr__", [](const Kind& kind) { return "<Kind " + kind.type + ": " + kind.summary + ">"; });

  m.def("elements", [] {
    py::dict out;
    for (const Section section : kSections)
      out[py::cast(section_name(section))] =
          by_name(kinds(section), [](const Kind& kind) { return kind.type; });
    return out;
  });
  m.def("formulations", &formulations);
}

}  // namespace

void bind_model(py::module_& m) {
  bind_lists(m);

  py::class_<Params>(m, "Params", "The numbers of a model by name path.")
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
      .def_property_readonly("name", [](const Model& model) { return model.description().name; })
      .def_property_readonly("file", [](const Model& model) { return model.description().file; })
      .def_property_readonly("formulation", &Model::formulation)
      .def("params", [](const Model& model) { return Params(model.shared_description()); });
}

}  // namespace liedyn::python
