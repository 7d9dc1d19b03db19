// Modes of every shipped model, through the files that users run: no eigenvalue is lost, and both solvers find the same.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analyses/modes.h"
#include "io/read_model.h"
#include "model/testing.h"
#include "system/initial.h"

namespace liedyn {
namespace {

std::vector<std::string> shipped_models() {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(find_model_file("pendulum")).parent_path().parent_path()))
    if (std::filesystem::exists(entry.path() / "model.json")) out.push_back(entry.path().filename().string());
  std::sort(out.begin(), out.end());
  return out;
}

TEST(ShippedModes, AreAllThereAndTheSameFromBothSolvers) {
  constexpr int kCount = 8;
  const std::vector<std::string> all = shipped_models();
  EXPECT_GE(all.size(), 20u);
  for (const std::string& name : all) {
    std::vector<Assignment> smaller;
    if (name == "net") smaller = {{"rows", 4}, {"columns", 4}};
    const auto description = std::make_shared<const Description>(read_model(name, smaller));
    const System system(Model::compile(description, "r3so3"), Params(description));
    Work work(system);
    const State state = consistent_state(system, 0, InitialPolicy::Project, work);
    for (const bool undamped : {false, true}) {
      SCOPED_TRACE(fmt::format("{}{}", name, undamped ? ", undamped" : ""));
      const Modes dense = modes(system, state, {.undamped = undamped, .solver = "dense", .axes_given = true});
      int count = dense.zeros;
      for (const Mode& mode : dense.modes)
        if (!mode.rigid) count += mode.eigenvalue.imag() > 0 ? 2 : 1;
      EXPECT_EQ(count, dense.dimension);
      const Modes sparse = modes(
          system, state, {.undamped = undamped, .count = kCount, .solver = "sparse", .axes_given = true});
      if (sparse.solver != "sparse") continue;  // too few degrees of freedom
      EXPECT_EQ(sparse.zeros, dense.zeros);
      ASSERT_GE(dense.modes.size(), sparse.modes.size());
      double worst = 0;
      for (std::size_t i = 0; i < sparse.modes.size(); ++i) {
        EXPECT_EQ(sparse.modes[i].rigid, dense.modes[i].rigid) << "mode " << i + 1;
        if (sparse.modes[i].rigid) continue;
        const double size = std::abs(sparse.modes[i].eigenvalue);
        double nearest = INFINITY;
        for (const Mode& mode : dense.modes)
          nearest = std::min(nearest, std::abs(mode.eigenvalue - sparse.modes[i].eigenvalue) / size);
        worst = std::max({worst, nearest, std::abs(std::abs(dense.modes[i].eigenvalue) - size) / size});
      }
      expect_at_most(
          worst, 1e-6,
          fmt::format("{}{}: {} degrees of freedom, {} modes of both solvers", name,
                      undamped ? ", undamped" : "", dense.degrees_of_freedom, sparse.modes.size()));
    }
  }
}

}  // namespace
}  // namespace liedyn
