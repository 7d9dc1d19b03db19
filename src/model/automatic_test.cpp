#include "liedyn/model/automatic.h"

#include <gtest/gtest.h>

#include "liedyn/model/forces/spring_damper.h"
#include "liedyn/model/testing.h"

namespace liedyn {
namespace {

// Partials by dual numbers are those by hand.
template <class E>
void compare(const char* name, const double* numbers) {
  constexpr int F = E::frames;
  Random random(7);
  const World<double> world;
  double worst = 0;
  for (int sample = 0; sample < 20; ++sample) {
    std::array<Motion<double>, F> motions;
    for (auto& m : motions) m = random.motion();
    ForcePartials<F> hand, dual;
    E::partials(world, motions, numbers, hand);
    Automatic<E>::partials(world, motions, numbers, dual);
    for (int i = 0; i < F; ++i)
      for (int j = 0; j < F; ++j) {
        worst = std::max(worst, relative_difference(dual.K[i][j], hand.K[i][j]));
        worst = std::max(worst, relative_difference(dual.C[i][j], hand.C[i][j]));
      }
  }
  expect_at_most(worst, 1e-12, std::string(name) + ": dual numbers and hand");
}

TEST(Automatic, PartialsAreThoseByHand) {
  const double spring[] = {3, 0.7, 0.4, 0};
  compare<SpringDamper>("spring_damper", spring);
}

// A force that reads accelerations would have a wrong mass matrix: it gets no numbers.
struct ReadsAccelerations {
  static constexpr int frames = 1, constants = 0;
  static constexpr Optional optional = {};
  static std::vector<Attachment> attachments() { return {{.body_field = 0}}; }
  template <class S>
  static void derive(const Inputs<S>&, S*) {}
  template <class S>
  static void wrench(const World<S>&, const std::array<Motion<S>, 1>& f, const S*,
                     std::array<Vec6T<S>, 1>& W) {
    W[0] = f[0].A;
  }
};

TEST(Automatic, AccelerationsAreNotShown) {
  Random random(1);
  const std::array<Motion<double>, 1> motions = {random.motion()};
  std::array<Vec6, 1> W;
  Automatic<ReadsAccelerations>::wrench<double>(World<double>(), motions, nullptr, W);
  EXPECT_TRUE(W[0].array().isNaN().all());
}

}  // namespace
}  // namespace liedyn
