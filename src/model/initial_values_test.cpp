// Initial values as typed.
#include <gtest/gtest.h>

#include "liedyn/model/model.h"
#include "liedyn/model/testing.h"

namespace liedyn {
namespace {

// Otherwise a motion that the joints leave free would begin with whatever stood in memory.
TEST(InitialValues, WhatAssemblyIsToFindBeginsAtZero) {
  ModelBuilder builder({7, 8, 9});
  builder.body("first", "rigid")
      .set("mass", {3})
      .set("inertia", {1, 1, 1})
      .consistent("position")
      .consistent("orientation")
      .consistent("velocity")
      .consistent("angular_velocity");
  const auto description = builder.finish();
  for (const char* formulation : {"r3so3", "r3so3-spatial", "se3"}) {
    const auto model = Model::compile(description, formulation);
    const Initial initial = initial_values(*model, model->description().parameters.data());
    const Eigen::VectorXd place = as_vector(initial.q).head<3>(), velocity = as_vector(initial.v);
    fmt::print("  {:<14} |p| = {:g}, |v| = {:g}, w of the quaternion {:g}\n", formulation, place.norm(),
               velocity.norm(), initial.q[3]);
    EXPECT_EQ(place.norm(), 0);
    EXPECT_EQ(velocity.norm(), 0);
    EXPECT_EQ(initial.q[3], 1);
    EXPECT_EQ(std::count(initial.free_velocity.begin(), initial.free_velocity.end(), true), 6);
  }
}

}  // namespace
}  // namespace liedyn
