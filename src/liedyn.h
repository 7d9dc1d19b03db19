// Liedyn for C++ programs: models, simulations, derivatives, extensions. docs/howto/use_from_cpp.md has complete programs.
//
// A run of a shipped model or of a model file:
//
//   const liedyn::System top = liedyn::load("heavy_top", {{"spin", 100}});
//   liedyn::SimulateOptions options = liedyn::default_options(top);
//   options.end = 0.5;
//   const liedyn::Result result = liedyn::simulate(top, options);
//   if (!result.summary.completed) std::cerr << result.summary.failure << '\n';
//   const std::span<const double> position = result.trajectory.last("position");          // of a sensor, at the end
//
// A model in code, in the vocabulary of model files:
//
//   liedyn::ModelBuilder b({0, 0, -9.81});
//   b.body("rod", "rigid").set("mass", 2).set("inertia", {0.001, 0.04, 0.04}).set("position", {0.25, 0, 0});
//   b.joint("pivot", "revolute").set("between", {"ground", "rod"}).set("at", {0, 0, 0}).set("axis", {0, 1, 0});
//   b.force("motor", "joint_actuator").set("joint", "pivot").set("feed_forward", 0);
//   b.sensor("angle", "joint_angle").set("of", "pivot");
//   const liedyn::System rod = liedyn::make_system(b);
//
// A time loop in your program, with inputs:
//
//   liedyn::Simulation simulation(rod);
//   while (simulation.time() < 2) {
//     simulation.set_input("forces.motor.feed_forward", -60 * simulation.sensor("angle")[0]);
//     simulation.advance(0.01);
//   }
//
// Exact derivatives of what sensors show at the end:
//
//   const liedyn::Sensitivity s = liedyn::sensitivity(rod, {.simulation = liedyn::default_options(rod),
//                                                           .parameters = {"bodies.rod.mass"}, .outputs = {"angle"}});
//   const double slope = s.derivative("angle", "bodies.rod.mass");
//
// Errors of the caller throw InputError, which lists all of them. A failure of the numerics throws NumericalError; simulate() reports it in
// Result::summary. Extensions: register_joint, register_force, register_sensor and register_integrator, before the first model is read;
// LIEDYN_PLUGIN puts them into a shared object.
#pragma once

#include "liedyn/analyses/robot.h"
#include "liedyn/analyses/sensitivity.h"
#include "liedyn/analyses/simulate.h"
#include "liedyn/analyses/simulation.h"
#include "liedyn/base/code_function.h"
#include "liedyn/base/error.h"
#include "liedyn/base/version.h"
#include "liedyn/integrators/registration.h"
#include "liedyn/io/load.h"
#include "liedyn/io/plugin.h"
#include "liedyn/io/write_results.h"
#include "liedyn/model/automatic.h"
#include "liedyn/model/builder.h"
#include "liedyn/model/common_fields.h"
#include "liedyn/model/registration.h"
