#include "liedyn/analyses/modes.h"

#include <algorithm>
#include <complex>
#include <memory>
#include <numeric>

#include <fmt/format.h>

#include "commands.h"
#include "liedyn/io/write_modes.h"
#include "liedyn/io/write_scene.h"
#include "liedyn/io/write_vtk.h"

namespace liedyn::cli {
namespace {

struct ModesArguments {
  OperatingPointArguments point;
  ModesOptions options;
  std::vector<double> axes;
  std::string out, vtk;
  SceneArguments scene;
  bool json = false;
};

// "rod 62 %, slider 38 %": who moves most; of a mode in which nothing moves, "state current": what changes most.
std::string movers(const Model& model, const Mode& mode) {
  constexpr std::size_t kMost = 3;
  constexpr double kLeast = 0.005;
  std::vector<std::size_t> order(mode.share.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return mode.share[a] > mode.share[b]; });
  std::vector<std::string> out;
  for (const std::size_t i : order)
    if (out.size() < kMost && mode.share[i] >= kLeast)
      out.push_back(fmt::format("{} {:.0f} %", model.description().entries(Section::Bodies)[i].name,
                                100 * mode.share[i]));
  if (!out.empty() || mode.shape.size() <= static_cast<std::size_t>(model.first_state()))
    return fmt::format("{}", fmt::join(out, ", "));
  const auto states = mode.shape.begin() + model.first_state();
  const auto largest = std::max_element(
      states, mode.shape.end(), [](const auto& a, const auto& b) { return std::abs(a) < std::abs(b); });
  return "state " + shape_names(model)[static_cast<std::size_t>(largest - mode.shape.begin())];
}

void print(const Modes& m, const Model& model) {
  fmt::print("{}: {} degree{} of freedom{}, linearised at t = {:.6g} s{}\n", m.model, m.degrees_of_freedom,
             m.degrees_of_freedom == 1 ? "" : "s",
             m.states > 0 ? fmt::format(", {} state{}", m.states, m.states == 1 ? "" : "s") : "", m.time,
             m.undamped ? ", without damping" : "");
  if (!m.axes.rate.isZero())
    fmt::print("  in axes that rotate at ({:.6g}, {:.6g}, {:.6g}) rad/s\n", m.axes.rate.x(), m.axes.rate.y(),
               m.axes.rate.z());
  if (m.dimension > 0 && m.zeros > 0) fmt::print("  {} eigenvalues, {} of them zero\n", m.dimension, m.zeros);
  if (m.modes.empty()) return;
  fmt::print("  {:>4}  {:>14}  {:>10}  {:>30}  {}\n", "mode", "frequency/Hz", "damping", "eigenvalue s/(1/s)",
             "kinetic energy");
  // + 0.0: no sign before a zero
  for (std::size_t i = 0; i < m.modes.size(); ++i) {
    const Mode& mode = m.modes[i];
    const std::string eigenvalue =
        mode.rigid
            ? "0"
            : fmt::format(
                  "{:.6g}{}", mode.eigenvalue.real(),
                  mode.eigenvalue.imag() == 0 ? "" : fmt::format(" +- {:.10g} i", mode.eigenvalue.imag()));
    fmt::print("  {:>4}  {:>14.8g}  {:>10}  {:>30}  {}{}\n", i + 1, mode.frequency(),
               mode.rigid ? "-" : fmt::format("{:.4g}", mode.damping_ratio() + 0.0), eigenvalue,
               movers(model, mode), mode.rigid ? " (no stiffness)" : "");
  }
}

int modes_command(ModesArguments& arguments) {
  if (!arguments.out.empty()) check_modes_output(arguments.out);
  arguments.scene.check();
  System system = arguments.point.model.load_absolute();
  if (!arguments.axes.empty()) {
    arguments.options.axes_given = true;
    arguments.options.axes_rate = Vec3(arguments.axes[0], arguments.axes[1], arguments.axes[2]);
  }
  const State state = arguments.point.state(system);
  const Modes found = modes(system, state, arguments.options);
  if (!arguments.out.empty()) write_modes(found, system.model(), arguments.out);
  std::string shapes;
  if (!arguments.vtk.empty()) {
    VtkWriter writer(arguments.vtk, system.model().description().name);
    writer.add_modes(system, state, found);
    shapes = writer.finish();
  }
  if (arguments.scene.wanted())
    arguments.scene.write(SceneWriter().finish(found, system, state), !arguments.json);
  for (const std::string& warning : found.warnings) fmt::print(stderr, "warning: {}\n", warning);
  if (arguments.json) {
    fmt::print("{}\n", modes_json(found, system.model()));
    return kDone;
  }
  print(found, system.model());
  if (!arguments.out.empty()) fmt::print("The modes are in {}\n", arguments.out);
  if (!shapes.empty()) fmt::print("The shapes are in {}\n", shapes);
  return kDone;
}

}  // namespace

void add_modes(CLI::App& program, int& exit_code) {
  CLI::App& command = *program.add_subcommand(
      "modes", "Eigenvalues and mode shapes of the linearised, constrained equations about a state");
  const auto a = std::make_shared<ModesArguments>();
  a->point.add_to(command);
  command.add_flag("--undamped", a->options.undamped,
                   "Ignore dissipation; gyroscopic forces and follower loads are kept");
  command
      .add_option("--count", a->options.count,
                  "Only the modes of the lowest |s|; large models: 20 if not given")
      ->type_name("N");
  command
      .add_option("--axes", a->axes,
                  "Angular velocity of the rotating axes [rad/s] in which the motion is linearised; if not "
                  "given, axes in which it is steady")
      ->type_name("X Y Z")
      ->expected(3);
  command
      .add_option(
          "--solver", a->options.solver,
          fmt::format(
              "All modes from dense matrices, or some from sparse ones; auto: dense up to {} velocities",
              kLargestDense))
      ->type_name(fmt::format("{}", fmt::join(kModeSolvers, "|")));
  command.add_option("--out", a->out, "Write eigenvalues and shapes to this file; .csv, .json or .npz")
      ->type_name("FILE");
  command
      .add_option("--vtk", a->vtk,
                  "Write the mode shapes for ParaView into this folder: open MODEL.pvd, warp by `shape`")
      ->type_name("FOLDER");
  a->scene.add_to(command, "the moving mode shapes");
  command.add_flag("--json", a->json, "Print one JSON object, and nothing else on standard output");
  command.footer(
      "Shapes are small displacements and rotations of the bodies along inertial axes "
      "(docs/theory/12_linearization.md). About a "
      "motion that\nis not steady the eigenvalues are those of the equations frozen at that time, and a "
      "warning says so.\n"
      "Exit code 0: done; 2: the input is wrong; 3: there is no such state, or the eigenvalue solver did not "
      "converge.");
  command.callback([a, &exit_code] { exit_code = modes_command(*a); });
}

}  // namespace liedyn::cli
