// Functions of robots, over many states at once: arrays have one row per state.
#include "bind.h"
#include "liedyn/analyses/robot.h"

#include <array>
#include <optional>
#include <tuple>

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

namespace liedyn::python {
namespace {

using Array = py::array_t<double, py::array::c_style | py::array::forcecast>;
using Point = std::array<double, 3>;
using Rotation = std::array<double, 9>;  // row by row

Vec3 vector(const Point& x) { return {x[0], x[1], x[2]}; }

// Calls evaluate(state, row of the result) for each of `count` states, without the lock of the interpreter.
template <class Evaluate>
Array for_each_state(py::ssize_t count, std::vector<py::ssize_t> shape, const Evaluate& evaluate) {
  py::ssize_t size = 1;
  for (const py::ssize_t n : shape) size *= n;
  shape.insert(shape.begin(), count);
  Array out(shape);
  double* to = out.mutable_data();
  const py::gil_scoped_release free;
  for (py::ssize_t i = 0; i < count; ++i) evaluate(i, to + i * size);
  return out;
}

Robot::Target target_of(const Robot& robot, const std::string& frame, const Point& at, const Point& position,
                        const std::optional<Rotation>& rotation) {
  Robot::Target out;
  out.frame = robot.frame(frame, vector(at));
  out.position = vector(position);
  out.turns = rotation.has_value();
  if (rotation)
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) out.rotation(r, c) = (*rotation)[static_cast<std::size_t>(3 * r + c)];
  return out;
}

// Matrices are row by row in numpy.
void transpose(double* M, int rows, int columns) {
  const Eigen::MatrixXd copy = Eigen::Map<const Eigen::MatrixXd>(M, rows, columns);
  Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>{M, rows, columns} = copy;
}

}  // namespace

void bind_robot(py::module_& m) {
  py::class_<Robot>(m, "Robot")
      .def(py::init([](const std::shared_ptr<Model>& model, const Params& params) {
        return std::make_unique<Robot>(System(model, params));
      }))
      .def_property_readonly("nq", &Robot::nq)
      .def_property_readonly("nv", &Robot::nv)
      .def_property_readonly("mass", &Robot::mass)
      .def_property_readonly("coordinate_names", &Robot::coordinate_names)
      .def_property_readonly("velocity_names", &Robot::velocity_names)
      .def_property_readonly("initial_q", &Robot::initial_q)
      .def("set_time", &Robot::set_time)
      .def("inverse_dynamics",
           [](Robot& r, const Array& q, const Array& v, const Array& a, bool forces) {
             const double *qs = q.data(), *vs = v.data(), *as = a.data();
             return for_each_state(q.shape(0), {r.nv()}, [&](py::ssize_t i, double* out) {
               r.inverse_dynamics(qs + i * r.nq(), vs + i * r.nv(), as + i * r.nv(), out, forces);
             });
           })
      .def("forward_dynamics",
           [](Robot& r, const Array& q, const Array& v, const Array& tau, bool forces) {
             const double *qs = q.data(), *vs = v.data(), *ts = tau.data();
             return for_each_state(q.shape(0), {r.nv()}, [&](py::ssize_t i, double* out) {
               r.forward_dynamics(qs + i * r.nq(), vs + i * r.nv(), ts + i * r.nv(), out, forces);
             });
           })
      .def("mass_matrix",
           [](Robot& r, const Array& q) {
             const double* qs = q.data();
             return for_each_state(q.shape(0), {r.nv(), r.nv()},
                                   [&](py::ssize_t i, double* out) { r.mass_matrix(qs + i * r.nq(), out); });
           })
      .def("bias",
           [](Robot& r, const Array& q, const Array& v, bool forces) {
             const double *qs = q.data(), *vs = v.data();
             return for_each_state(q.shape(0), {r.nv()}, [&](py::ssize_t i, double* out) {
               r.bias(qs + i * r.nq(), vs + i * r.nv(), out, forces);
             });
           })
      .def("gravity",
           [](Robot& r, const Array& q) {
             const double* qs = q.data();
             return for_each_state(q.shape(0), {r.nv()},
                                   [&](py::ssize_t i, double* out) { r.gravity(qs + i * r.nq(), out); });
           })
      .def("frame_pose",
           [](Robot& r, const std::string& name, const Point& at, const Array& q) {
             const Robot::Frame frame = r.frame(name, vector(at));
             const double* qs = q.data();
             return for_each_state(q.shape(0), {4, 4}, [&](py::ssize_t i, double* out) {
               const Pose<double> pose = r.frame_pose(frame, qs + i * r.nq());
               Eigen::Map<Eigen::Matrix<double, 4, 4, Eigen::RowMajor>> T(out);
               T << pose.R, pose.p, 0, 0, 0, 1;
             });
           })
      .def("frame_jacobian",
           [](Robot& r, const std::string& name, const Point& at, const Array& q) {
             const Robot::Frame frame = r.frame(name, vector(at));
             const double* qs = q.data();
             return for_each_state(q.shape(0), {6, r.nv()}, [&](py::ssize_t i, double* out) {
               r.frame_jacobian(frame, qs + i * r.nq(), out);
               transpose(out, 6, r.nv());
             });
           })
      .def("center_of_mass",
           [](Robot& r, const Array& q) {
             const double* qs = q.data();
             return for_each_state(q.shape(0), {3}, [&](py::ssize_t i, double* out) {
               Eigen::Map<Vec3>{out} = r.center_of_mass(qs + i * r.nq());
             });
           })
      .def("momentum",
           [](Robot& r, const Array& q, const Array& v) {
             const double *qs = q.data(), *vs = v.data();
             return for_each_state(q.shape(0), {6}, [&](py::ssize_t i, double* out) {
               Eigen::Map<Vec6>{out} = r.momentum(qs + i * r.nq(), vs + i * r.nv());
             });
           })
      .def("inverse_kinematics",
           [](Robot& r,
              const std::vector<std::tuple<std::string, Point, Point, std::optional<Rotation>>>& wanted,
              const std::vector<double>& start, const std::vector<double>& lower,
              const std::vector<double>& upper, double tolerance, int iterations, int attempts) {
             std::vector<Robot::Target> targets;
             for (const auto& [frame, at, position, rotation] : wanted)
               targets.push_back(target_of(r, frame, at, position, rotation));
             Robot::Solution found;
             {
               const py::gil_scoped_release free;
               found = r.inverse_kinematics(targets, start.data(),
                                            {lower, upper, tolerance, iterations, attempts});
             }
             return py::make_tuple(found.q, found.position_error, found.rotation_error, found.iterations,
                                   found.converged);
           });
}

}  // namespace liedyn::python
