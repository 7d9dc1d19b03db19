// Where shapes touch, against a search over their points; and action and reaction.
#include <gtest/gtest.h>

#include "liedyn/model/forces/contact.h"
#include "liedyn/model/testing.h"

namespace liedyn {
namespace {

// Least value of a convex function over [-1, 1]^N: coordinate by coordinate, from many starts, with intervals that shrink.
template <int N, class F>
double least(const F& f, Random& random) {
  using Point = Eigen::Matrix<double, N, 1>;
  double best = 1e300;
  for (int start = 0; start < 4; ++start) {
    Point x = random.vector<N>();
    for (double width = 1; width > 1e-9; width *= 0.9)
      for (int k = 0; k < N; ++k)
        for (const double move : {-width, width}) {
          Point y = x;
          y[k] = std::clamp(y[k] + move, -1.0, 1.0);
          if (f(y) < f(x)) x = y;
        }
    best = std::min(best, f(x));
  }
  return best;
}

// The same over [-1, 1], by thirds.
template <class F>
double least_between(const F& f) {
  double low = -1, high = 1;
  for (int i = 0; i < 60; ++i) {
    const double third = (high - low) / 3;
    (f(low + third) < f(high - third) ? high : low) += f(low + third) < f(high - third) ? -third : third;
  }
  return f((low + high) / 2);
}

// Numbers of a contact with the law k = 1000, n = 1.5, a = 0.2 and friction.
template <class E, int N>
std::array<double, E::constants> constants(const std::array<double, N>& shapes) {
  static_assert(N + kContactConstants == E::constants);
  constexpr double law[] = {1000, 1.5, 0.2, 0.3, 0.4, 0.05, 0.5};
  std::array<double, E::constants> out;
  std::copy(shapes.begin(), shapes.end(), out.begin());
  std::copy(std::begin(law), std::end(law), out.begin() + N);
  return out;
}

FramePair<double> random_pair(Random& random) { return {random.motion(), random.motion()}; }
// The place of a point given in the axes of a frame.
Vec3 point_of(const Motion<double>& frame, const Vec3& x) { return frame.p + frame.R * x; }

TEST(ContactGeometry, CapsulesTouchWhereTheirSegmentsAreNearest) {
  Random random(3);
  double worst = 0;
  for (int sample = 0; sample < 200; ++sample) {
    const FramePair<double> f = random_pair(random);
    Vec3 a = 0.8 * random.vector<3>(), b = 0.8 * random.vector<3>();
    if (sample % 10 == 0) b = f[1].R.transpose() * (f[0].R * a) * random.between(-1, 1);  // parallel
    if (sample % 17 == 0) a.setZero();
    const auto p = constants<CapsuleCapsule, 8>({a.x(), a.y(), a.z(), 0.1, b.x(), b.y(), b.z(), 0.2});
    const double nearest = least_between([&](double s) {
      return least_between([&](double t) { return (point_of(f[0], s * a) - point_of(f[1], t * b)).norm(); });
    });
    worst = std::max(worst, std::abs(CapsuleCapsule::approach(f, p.data()).depth - (0.3 - nearest)));
  }
  expect_at_most(worst, 1e-6, "capsules: depth");
}

TEST(ContactGeometry, SpheresTouchCapsulesAndBoxesAtTheirNearestPoints) {
  Random random(4);
  double capsule = 0, box = 0;
  for (int sample = 0; sample < 200; ++sample) {
    const FramePair<double> f = random_pair(random);
    const Vec3 half = random.vector<3>(), edges = 0.3 * (random.vector<3>() + Vec3(1.2, 1.2, 1.2));
    const auto p = constants<SphereCapsule, 5>({0.3, half.x(), half.y(), half.z(), 0.2});
    const double to_segment = least<1>(
        [&](const Eigen::Matrix<double, 1, 1>& s) { return (f[0].p - point_of(f[1], s[0] * half)).norm(); },
        random);
    capsule = std::max(capsule, std::abs(SphereCapsule::approach(f, p.data()).depth - (0.5 - to_segment)));

    const Mat3 Q = random.rotation().R();
    std::array<double, 13> shapes = {0.3, edges.x(), edges.y(), edges.z()};
    std::copy_n(Q.data(), 9, shapes.begin() + 4);
    const auto n = constants<SphereBox, 13>(shapes);
    const Vec3 local = Q.transpose() * (f[1].R.transpose() * (f[0].p - f[1].p));
    double expected = (edges - local.cwiseAbs()).minCoeff();  // inside
    if (expected < 0)
      expected = -least<3>(
          [&](const Vec3& s) { return (f[0].p - point_of(f[1], Q * s.cwiseProduct(edges))).norm(); }, random);
    box = std::max(box, std::abs(SphereBox::approach(f, n.data()).depth - (0.3 + expected)));
  }
  expect_at_most(capsule, 1e-6, "sphere and capsule: depth");
  expect_at_most(box, 1e-6, "sphere and box: depth");
}

TEST(ContactGeometry, PlanesTouchTheDeepestPoint) {
  Random random(5);
  double capsule = 0, box = 0, wheel = 0;
  for (int sample = 0; sample < 200; ++sample) {
    const FramePair<double> f = random_pair(random);
    const Vec3 n = random.vector<3>().normalized(), half = random.vector<3>(),
               a = random.vector<3>().normalized();
    const auto height = [&](const Vec3& x) { return (f[0].R * n).dot(point_of(f[1], x) - f[0].p); };

    const auto p = constants<PlaneCapsule, 7>({n.x(), n.y(), n.z(), half.x(), half.y(), half.z(), 0.2});
    capsule = std::max(capsule, std::abs(PlaneCapsule::approach(f, p.data()).depth -
                                         (0.2 - std::min(height(half), height(-half)))));

    const Mat3 Q = random.rotation().R();
    const Vec3 edges = half.cwiseAbs();
    std::array<double, 15> shapes = {n.x(), n.y(), n.z(), edges.x(), edges.y(), edges.z()};
    std::copy_n(Q.data(), 9, shapes.begin() + 6);
    const auto b = constants<PlaneBox, 15>(shapes);
    const double lowest = least<3>([&](const Vec3& s) { return height(Q * s.cwiseProduct(edges)); }, random);
    box = std::max(box, std::abs(PlaneBox::approach(f, b.data()).depth + lowest));

    // Around the rim.
    const auto w = constants<Wheel, 8>({n.x(), n.y(), n.z(), a.x(), a.y(), a.z(), 0.7, 0.1});
    const Vec3 x = a.unitOrthogonal(), y = a.cross(x);
    double rim = 1e300;
    for (int i = 0; i < 20000; ++i) {
      const double angle = 2 * 3.14159265358979 * i / 20000;
      rim = std::min(rim, height(0.7 * (std::cos(angle) * x + std::sin(angle) * y)));
    }
    wheel = std::max(wheel, std::abs(Wheel::approach(f, w.data()).depth - (0.1 - rim)));
  }
  expect_at_most(capsule, 1e-14, "plane and capsule: depth");
  expect_at_most(box, 1e-7, "plane and box: depth");
  expect_at_most(wheel, 1e-7, "plane and wheel: depth");
}

// Depth of a point below the surface of a box with these half edges; outside the negative distance.
double depth_in_box(const Vec3& x, const Vec3& half) {
  const Vec3 beyond = x.cwiseAbs() - half;
  return beyond.maxCoeff() <= 0 ? -beyond.maxCoeff() : -beyond.cwiseMax(0.0).norm();
}
// Half edges and orientation, as BoxShape has them.
std::array<double, 12> box_numbers(const Vec3& half, const Mat3& Q) {
  std::array<double, 12> out = {half.x(), half.y(), half.z()};
  std::copy_n(Q.data(), 9, out.begin() + 3);
  return out;
}

TEST(ContactGeometry, BoxesTouchAtCornersAndPointsOfEdges) {
  Random random(8);
  double boxes = 0, capsule = 0;
  int deep = 0;
  constexpr int kSamples = 4;  // between the ends
  for (int sample = 0; sample < 200; ++sample) {
    const FramePair<double> f = random_pair(random);
    const Vec3 half[] = {0.4 * (random.vector<3>() + Vec3(1.2, 1.2, 1.2)),
                         0.4 * (random.vector<3>() + Vec3(1.2, 1.2, 1.2))};
    const Mat3 Q[] = {random.rotation().R(), random.rotation().R()};
    std::array<double, 25> shapes;
    for (std::size_t i = 0; i < 2; ++i) {
      const auto box = box_numbers(half[i], Q[i]);
      std::copy(box.begin(), box.end(), shapes.begin() + static_cast<std::ptrdiff_t>(12 * i));
    }
    shapes[24] = kSamples;
    const auto p = constants<BoxBox, 25>(shapes);
    // All points of a grid of which two coordinates are those of faces, so that corners occur several times.
    double expected = -1e300;
    for (std::size_t i = 0; i < 2; ++i)
      for (int axis = 0; axis < 3; ++axis)
        for (int signs = 0; signs < 4; ++signs)
          for (int k = 0; k <= kSamples + 1; ++k) {
            Vec3 x;
            x[axis] = 2.0 * k / (kSamples + 1) - 1;
            x[(axis + 1) % 3] = signs % 2 == 0 ? 1 : -1;
            x[(axis + 2) % 3] = signs / 2 == 0 ? 1 : -1;
            const Vec3 point = point_of(f[i], Q[i] * x.cwiseProduct(half[i]));
            const Motion<double>& other = f[1 - i];
            expected = std::max(
                expected,
                depth_in_box(Q[1 - i].transpose() * (other.R.transpose() * (point - other.p)), half[1 - i]));
          }
    boxes = std::max(boxes, std::abs(BoxBox::approach(f, p.data()).depth - expected));
    deep += expected > 0 ? 1 : 0;

    const Vec3 axis = random.vector<3>();
    std::array<double, 17> with_capsule = {axis.x(), axis.y(), axis.z(), 0.2};
    const auto box = box_numbers(half[1], Q[1]);
    std::copy(box.begin(), box.end(), with_capsule.begin() + 4);
    with_capsule[16] = kSamples;
    const auto c = constants<CapsuleBox, 17>(with_capsule);
    double of_capsule = -1e300;
    for (int k = 0; k <= kSamples + 1; ++k) {
      const Vec3 point = point_of(f[0], (2.0 * k / (kSamples + 1) - 1) * axis);
      of_capsule =
          std::max(of_capsule,
                   0.2 + depth_in_box(Q[1].transpose() * (f[1].R.transpose() * (point - f[1].p)), half[1]));
    }
    capsule = std::max(capsule, std::abs(CapsuleBox::approach(f, c.data()).depth - of_capsule));
  }
  EXPECT_GT(deep, 50);
  expect_at_most(boxes, 1e-14, "boxes: depth");
  expect_at_most(capsule, 1e-14, "capsule and box: depth");
}

// The rate that is reported and used by the law is that of the depth.
template <class E, int N>
double worst_rate(Random& random, const std::array<double, N>& shapes) {
  double worst = 0;
  const auto p = constants<E, N>(shapes);
  for (int sample = 0; sample < 100; ++sample) {
    const FramePair<double> f = random_pair(random);
    const auto depth = [&](double t) {
      FramePair<double> moved = f;
      for (Motion<double>& m : moved) {
        const Vec3 u = m.V.head<3>(), w = m.V.tail<3>();
        m.p += t * (m.R * u);
        m.R = m.R * SO3<double>::exp(t * w).R();
      }
      return E::approach(moved, p.data()).depth;
    };
    worst = std::max(worst, std::abs((depth(1e-6) - depth(-1e-6)) / 2e-6 - E::approach(f, p.data()).rate));
  }
  return worst;
}

TEST(ContactGeometry, RatesAreThoseOfTheDepths) {
  Random random(6);
  expect_at_most(worst_rate<PlaneSphere, 4>(random, {0, 0, 1, 0.3}), 1e-8, "plane and sphere");
  expect_at_most(worst_rate<PlaneCapsule, 7>(random, {0, 0, 1, 0.3, 0.2, 0.5, 0.1}), 1e-8,
                 "plane and capsule");
  expect_at_most(worst_rate<PlaneBox, 15>(random, {0, 0, 1, 0.3, 0.2, 0.5, 1, 0, 0, 0, 1, 0, 0, 0, 1}), 1e-8,
                 "plane and box");
  expect_at_most(worst_rate<SphereSphere, 2>(random, {0.3, 0.5}), 1e-8, "spheres");
  expect_at_most(worst_rate<SphereCapsule, 5>(random, {0.3, 0.2, 0.1, 0.5, 0.1}), 1e-8, "sphere and capsule");
  expect_at_most(worst_rate<CapsuleCapsule, 8>(random, {0.3, 0.1, 0.2, 0.1, 0.1, 0.5, 0.1, 0.2}), 1e-8,
                 "capsules");
  expect_at_most(worst_rate<SphereBox, 13>(random, {0.2, 0.3, 0.2, 0.5, 1, 0, 0, 0, 1, 0, 0, 0, 1}), 1e-8,
                 "sphere and box");
  expect_at_most(
      worst_rate<CapsuleBox, 17>(random, {0.3, 0.1, 0.2, 0.1, 0.3, 0.2, 0.5, 1, 0, 0, 0, 1, 0, 0, 0, 1, 3}),
      1e-8, "capsule and box");
  expect_at_most(worst_rate<BoxBox, 25>(random, {0.3, 0.4, 0.5, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0.3,
                                                 0.2, 0.5, 1,   0, 0, 0, 1, 0, 0, 0, 1, 3}),
                 1e-8, "boxes");
  expect_at_most(worst_rate<Wheel, 8>(random, {0, 0, 1, 0, 1, 0, 0.3, 0.05}), 1e-8, "wheel");
  expect_at_most(worst_rate<Clearance, 9>(random, {0, 0, 1, 0, 0, 0, 0.1, 0.2, 1}), 1e-8, "clearance");
}

// What acts on one body acts on the other the opposite way, along the same line.
template <class E, int N>
double worst_reaction(Random& random, const std::array<double, N>& shapes) {
  double worst = 0;
  int touching = 0;
  const auto p = constants<E, N>(shapes);
  for (int sample = 0; sample < 100; ++sample) {
    const FramePair<double> f = random_pair(random);
    std::array<Vec6, 2> W;
    E::wrench(World<double>(), f, p.data(), W);
    if (W[0].norm() > 0) ++touching;
    Vec6 sum = Vec6::Zero();
    for (std::size_t i = 0; i < 2; ++i) {
      const Vec3 force = f[i].R * W[i].head<3>();
      sum.head<3>() += force;
      sum.tail<3>() += f[i].R * W[i].tail<3>() + f[i].p.cross(force);
    }
    worst = std::max(worst, sum.norm() / (1 + W[0].norm()));
  }
  EXPECT_GT(touching, 10);
  return worst;
}

TEST(ContactGeometry, ActionIsReaction) {
  Random random(7);
  expect_at_most(worst_reaction<PlaneBox, 15>(random, {0, 0, 1, 0.3, 0.2, 0.5, 1, 0, 0, 0, 1, 0, 0, 0, 1}),
                 1e-13, "plane and box");
  expect_at_most(worst_reaction<CapsuleCapsule, 8>(random, {0.3, 0.1, 0.2, 0.3, 0.1, 0.5, 0.1, 0.4}), 1e-13,
                 "capsules");
  expect_at_most(worst_reaction<CapsuleBox, 17>(
                     random, {0.3, 0.1, 0.2, 0.3, 0.3, 0.2, 0.5, 1, 0, 0, 0, 1, 0, 0, 0, 1, 3}),
                 1e-13, "capsule and box");
  expect_at_most(worst_reaction<BoxBox, 25>(random, {0.5, 0.4, 0.5, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0.5,
                                                     0.6, 0.5, 1,   0, 0, 0, 1, 0, 0, 0, 1, 3}),
                 1e-13, "boxes");
  expect_at_most(worst_reaction<Clearance, 9>(random, {0, 0, 1, 0, 0, 0.4, 0.1, 0.2, 2}), 1e-13, "clearance");
}

}  // namespace
}  // namespace liedyn
