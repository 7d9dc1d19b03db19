// Both solvers of `modes` on every shipped model: what the sparse one shows are the slowest of what the dense one does, or it says that it was not used.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "liedyn/analyses/modes.h"
#include "liedyn/analyses/operating_point.h"
#include "liedyn/base/paths.h"
#include "liedyn/io/read_model.h"
#include "liedyn/model/testing.h"
#include "liedyn/system/tree_state.h"

namespace liedyn {
namespace {

using Complex = std::complex<double>;

// The largest difference, relative to an eigenvalue and at least a thousandth of the fastest one. Of two with the same |s| either may be the first.
double difference(const std::vector<Mode>& dense, const std::vector<Mode>& sparse) {
  double out = 0;
  for (std::size_t i = 0; i < sparse.size(); ++i) {
    const Complex s = sparse[i].eigenvalue;
    double nearest = INFINITY;
    for (const Mode& mode : dense) nearest = std::min(nearest, std::abs(mode.eigenvalue - s));
    const double other_size = std::abs(std::abs(dense[i].eigenvalue) - std::abs(s));
    const double most = std::max(nearest, other_size);
    if (most > 0)
      out = std::max(out, most / std::max(std::abs(s), 1e-3 * std::abs(sparse.back().eigenvalue)));
  }
  return out;
}

TEST(ShippedModes, AreTheSameOfBothSolvers) {
  int models = 0, by_sparse = 0;
  for (const std::string& name : model_names()) {
    const auto description = std::make_shared<const Description>(read_model(name));
    System system = in_absolute_coordinates({Model::compile(description, "r3so3"), Params(description)});
    const State state = operating_point(system, "initial", default_options(*description));
    ++models;
    // With given axes both linearise in the same way, whatever the motion.
    for (const bool axes_given : {false, true}) {
      const Modes dense = modes(system, state, {.solver = "dense", .axes_given = axes_given});
      for (const int count : {0, 5}) {
        const Modes sparse =
            modes(system, state, {.count = count, .solver = "sparse", .axes_given = axes_given});
        const std::string what = fmt::format("{}, {}, {} of {} modes by the {} solver", name,
                                             axes_given ? "axes at rest" : "own axes", sparse.modes.size(),
                                             dense.modes.size(), sparse.solver);
        EXPECT_GE(sparse.modes.size(), std::min<std::size_t>(count > 0 ? 5 : 20, dense.modes.size())) << what;
        EXPECT_EQ(sparse.zeros, dense.zeros) << what;
        EXPECT_EQ(sparse.degrees_of_freedom, dense.degrees_of_freedom) << what;
        ASSERT_LE(sparse.modes.size(), dense.modes.size()) << what;
        expect_at_most(difference(dense.modes, sparse.modes), 1e-6, what);
        const bool said = std::any_of(
            sparse.warnings.begin(), sparse.warnings.end(),
            [](const std::string& text) { return text.find("dense solver was used") != text.npos; });
        EXPECT_EQ(said, sparse.solver == "dense") << what;
        if (sparse.solver == "sparse") ++by_sparse;
      }
      EXPECT_TRUE(dense.zeros == 0 || dense.modes.front().rigid)
          << name << ": " << dense.zeros << " zeros without a motion";
    }
  }
  EXPECT_GE(models, 20);
  EXPECT_GE(by_sparse, 10);  // others fall back to the dense one, some by round-off
}

}  // namespace
}  // namespace liedyn
