// Shapes of exact beams: elastic displacements are what remains of a motion without that of the beam as a rigid body.
#include "liedyn/analyses/shapes.h"

#include <gtest/gtest.h>

#include "liedyn/model/nodes/stage.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

TEST(Shapes, ElasticDisplacementsOfExactBeamsAreThoseRelativeToTheFirstNode) {
  for (const bool curved : {false, true}) {
    ModelBuilder builder;
    builder.body("block", "rigid").set("mass", {1}).set("inertia", {1, 1, 1}).set("position", {3, 0, 0});
    builder.beam("arm", "rectangle").set("from", {1, 0.2, 0}).set("to", {2, 0.5, 0.3}).set("elements", {4});
    if (curved) builder.set("through", {1.4, 0.5, 0});
    builder.set("young", {1e9}).set("density", {1000}).set("width", {0.02}).set("height", {0.03});
    const System system = make_system(builder.finish());
    Shapes shapes(system);
    State state = described_state(system);
    expect_at_most(shapes.at(state).displacements.cwiseAbs().maxCoeff(), 1e-14, "relaxed, as described");
    // All nodes as one rigid body.
    Random random(2);
    const Mat3 R = random.rotation().R();
    const Vec3 p = random.vector<3>();
    for (const Node& node : system.model().nodes) {
      double* q = state.q.data() + node.q;
      const Vec3 x = Eigen::Map<const Vec3>(q);
      Eigen::Map<Vec3>{q} = Vec3(R * x + p);
      store_rotation(SO3<double>::from_matrix(R) * rotation_of(q), q);
    }
    expect_at_most(shapes.at(state).displacements.cwiseAbs().maxCoeff(), 1e-14, "moved as a rigid body");
    // The tip besides.
    const Vec3 by(0.1, -0.2, 0.05);
    Eigen::Map<Vec3>{state.q.data() + system.model().nodes.back().q} += by;
    const Eigen::Matrix3Xd u = shapes.at(state).displacements;
    expect_at_most((u.col(u.cols() - 1) - by).norm(), 1e-14, "displacement of the tip");
    expect_at_most(u.leftCols(u.cols() - 1).cwiseAbs().maxCoeff(), 1e-14, "of all others");
  }
}

}  // namespace
}  // namespace liedyn
