#include "cases.h"

#include <utility>

#include <fmt/format.h>

#include "chain_by_hand.h"
#include "liedyn/system/initial.h"

namespace liedyn::speed {
namespace {

constexpr int kFirstSteps = 5;  // not measured: the predictor knows too little, and caches are cold
constexpr std::string_view kByHand = "chain/by_hand/";
constexpr int kByHandLinks[] = {1, 10, 100, 1000, 10000, 100000};

std::vector<Case> list() {
  std::vector<Case> out;
  const auto add = [&](std::string name, std::string model, std::string formulation, std::string integrator,
                       double step, double end) -> Case& {
    return out.emplace_back(
        Case{std::move(name), std::move(model), std::move(formulation), std::move(integrator), step, end});
  };
  const std::string alpha = "generalized-alpha,rho=0.9";

  add("heavy_top/geom1", "heavy_top", "r3so3", alpha, 1e-3, 1);
  add("heavy_top/sigma1", "heavy_top", "r3so3", alpha + ",sigma=1", 1e-3, 1);
  add("heavy_top/sigma1_paper", "heavy_top", "r3so3", alpha + ",sigma=1,variant=paper", 1e-3, 1);
  add("heavy_top/spatial_opt", "heavy_top", "r3so3-spatial", alpha + ",sigma=opt", 1e-3, 1);
  add("heavy_top/se3", "heavy_top", "se3", alpha, 1e-3, 1);
  add("heavy_top/stabilized", "heavy_top", "r3so3", alpha + ",index=stabilized", 1e-3, 1);
  add("slider_crank/geom1", "slider_crank", "r3so3", "generalized-alpha,rho=0.875", 1e-3, 5);
  add("slider_crank/sigma1", "slider_crank", "r3so3", "generalized-alpha,rho=0.875,sigma=1", 1e-3, 5);
  add("andrews_squeezer/planar", "andrews_squeezer", "r3so3", alpha, 1e-5, 0.05);
  add("andrews_squeezer/spatial", "andrews_squeezer_spatial", "r3so3", alpha, 1e-5, 0.05);
  add("rotor/geom1", "rotor", "r3so3", alpha, 1e-5, 0.5);
  add("rotor/spatial_opt", "rotor", "r3so3-spatial", alpha + ",sigma=opt", 1e-5, 0.5);
  add("flying_spaghetti/r3so3", "flying_spaghetti", "r3so3", alpha, 1e-2, 2);
  add("flying_spaghetti/se3", "flying_spaghetti", "se3", alpha, 1e-2, 2);
  add("puma560/minimal", "puma560", "minimal", "generalized-alpha,rho=0.8", 1e-3, 1);
  add("puma560/r3so3", "puma560", "r3so3", "generalized-alpha,rho=0.8", 1e-3, 1);

  // Sizes, with the solver that the program chooses and with KLU.
  const auto add_sizes = [&](const std::string& model, const std::vector<int>& sizes,
                             const std::vector<std::string>& arguments, const std::string& options) {
    for (const auto& [word, solver] : {std::pair("block", "auto"), std::pair("klu", "klu")})
      for (const int size : sizes) {
        Case& one =
            add(fmt::format("{}/{}/{}", model, word, size), model, "r3so3", alpha + options, 1e-3, 0.2);
        for (const std::string& argument : arguments)
          one.assignments.push_back({argument, static_cast<double>(size)});
        one.solver = solver;
      }
  };
  add_sizes("chain", {10, 100, 1000, 10000, 100000}, {"links"}, ",sigma=1");
  for (const int links : {10, 1000})  // the method of chain/by_hand, with its two linear solves per step
    add(fmt::format("chain/paper/{}", links), "chain", "r3so3", alpha + ",sigma=1,variant=paper", 1e-3, 0.2)
        .assignments = {{"links", static_cast<double>(links)}};
  add("chain/two_threads/10000", "chain", "r3so3", alpha + ",sigma=1", 1e-3, 0.2).assignments = {
      {"links", 10000}};
  out.back().threads = 2;
  add_sizes("ring", {10, 1000, 10000}, {"links"}, ",sigma=1");
  add_sizes("net", {10, 30, 100}, {"rows", "columns"}, ",sigma=1");
  return out;
}

class EngineStepper : public Stepper {
 public:
  explicit EngineStepper(const Case& one)
      : case_(one),
        system_(make_system(one)),
        integrator_(make_integrator(system_, one.integrator)),
        work_(system_, one.solver, integrator_->form()),
        initial_(make_initial(system_, one.solver)) {
    if (one.threads > 1) work_.use_threads(std::make_shared<ThreadPool>(one.threads));
    restart();
  }

  int advance() override {
    to_.angles = from_.angles;
    const Attempt attempt = integrator_->step(from_, case_.step, to_, work_);
    system_.follow_angles(to_, work_);  // as the driver does
    std::swap(from_, to_);
    return attempt.converged() ? attempt.corrector.iterations : -1;
  }
  bool at_end() const override { return from_.t >= case_.end; }
  void restart() override {
    from_ = initial_;
    integrator_->start(from_, case_.step, work_);
    to_ = from_;
    for (int i = 0; i < kFirstSteps; ++i) advance();
  }
  double bodies() const override { return static_cast<double>(system_.model().bodies().size()); }
  std::string_view solver() const override { return work_.solver->name(); }

 private:
  static System make_system(const Case& one) {
    std::vector<Assignment> assignments = one.assignments;
    const auto description = std::make_shared<const Description>(read_model(one.model, assignments));
    return System(Model::compile(description, one.formulation), Params(description));
  }
  static State make_initial(const System& system, const std::string& solver) {
    Work work(system, solver);
    return consistent_state(system, 0, InitialPolicy::Check, work);
  }

  Case case_;
  System system_;
  std::unique_ptr<Integrator> integrator_;
  Work work_;
  State initial_, from_, to_;
};

class ByHandStepper : public Stepper {
 public:
  explicit ByHandStepper(int links) : initial_(links, 1e-3, 0.9), chain_(initial_) { restart(); }

  int advance() override { return chain_.advance(); }
  bool at_end() const override { return chain_.time() >= 0.2; }
  void restart() override {
    chain_ = initial_;
    for (int i = 0; i < kFirstSteps; ++i) advance();
  }
  double bodies() const override { return chain_.links(); }
  std::string_view solver() const override { return "by hand"; }

 private:
  ChainByHand initial_, chain_;
};

}  // namespace

const std::vector<Case>& cases() {
  static const std::vector<Case> all = list();
  return all;
}

const Case* find_case(std::string_view name) {
  for (const Case& one : cases())
    if (one.name == name) return &one;
  return nullptr;
}

std::unique_ptr<Stepper> make_stepper(const std::string& name) {
  for (const int links : kByHandLinks)
    if (name == fmt::format("{}{}", kByHand, links)) return std::make_unique<ByHandStepper>(links);
  const Case* one = find_case(name);
  return one == nullptr ? nullptr : std::make_unique<EngineStepper>(*one);
}

std::vector<std::string> stepper_names() {
  std::vector<std::string> out;
  for (const Case& one : cases()) out.push_back(one.name);
  for (const int links : kByHandLinks) out.push_back(fmt::format("{}{}", kByHand, links));
  return out;
}

}  // namespace liedyn::speed
