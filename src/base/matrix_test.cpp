#include "liedyn/base/matrix.h"

#include <gtest/gtest.h>

namespace liedyn {
namespace {

TEST(Matrix, SkewIsTheCrossProduct) {
  const Vec3 x(1, -2, 3);
  const Vec3 y(0.5, 4, -1);
  EXPECT_EQ(skew(x) * y, x.cross(y));
  EXPECT_EQ(skew(x).transpose(), -skew(x));
}

TEST(Matrix, SkewTakesASegmentOfATwist) {
  const Vec6 twist = Vec6::LinSpaced(1, 6);
  EXPECT_EQ(skew(twist.tail<3>()), skew(Vec3(4, 5, 6)));
}

TEST(Matrix, VeeInvertsSkewAndIgnoresTheSymmetricPart) {
  const Vec3 x(1, -2, 3);
  const Mat3 symmetric = x * x.transpose();
  EXPECT_EQ(vee(skew(x)), x);
  EXPECT_EQ(vee(skew(x) + symmetric), x);
}

}  // namespace
}  // namespace liedyn
