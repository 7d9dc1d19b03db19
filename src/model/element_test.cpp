// The requirements on elements: what is missing, misspelt or not declared does not compile.
#include <gtest/gtest.h>

#include "liedyn/model/batch_of.h"
#include "liedyn/model/forces/coordinate_forces.h"
#include "liedyn/model/forces/spring_damper.h"
#include "liedyn/model/joints/coordinate_joints.h"
#include "liedyn/model/joints/distance.h"
#include "liedyn/model/joints/rolling_disc.h"
#include "liedyn/model/joints/spherical.h"

namespace liedyn {
namespace {

// Elements with one mistake each. A member that is hidden by one of another form is as good as misspelt.
struct WithoutNumbers : SpringDamper {
  static void derive();
};
struct WithoutAttachments : SpringDamper {
  static int attachments();
};
struct WithoutWrench : SpringDamper {
  static void wrench();
};
struct MisspeltCheck : SpringDamper {
  static void check();
};
struct MisspeltEnergy : SpringDamper {
  static void energy();
};
struct EnergyNotDeclared : SpringDamper {
  static constexpr Optional optional = {.check = true};
};
struct DeclaredWithoutAxis : SpringDamper {
  static constexpr Optional optional = {.check = true, .energy = true, .axis_motion = true};
};
struct NothingDeclared : SpringDamper {
  static constexpr int optional = 0;
};
struct WithoutPartials : SpringDamper {
  static void partials();
};
struct WithoutDerivativesByParameters : SpringDamper {
  static void wrench(const World<double>&, const std::array<Motion<double>, 2>&, const double*,
                     std::array<Vec6, 2>&);
};
struct AnglesWithoutName : SpringDamper {
  template <class S>
  static void wound_angles(const std::array<Motion<S>, 2>&, const S*, S*);
};
struct FlagThatIsNoFlag : SpringDamper {
  static constexpr int damping = 1;
};
struct MisspeltWoundAngles : JointSpring {
  static void wound_angles();
};
struct MultipliersNotTaken : SpringDamper {
  static constexpr int multipliers = 3;
};
struct WithoutDerivatives : Spherical {
  static void derivatives();
};
struct WithoutPhi : Spherical {
  static void phi();
};
struct WithoutRowNames : Spherical {
  static int row_name(int);
};
struct MisspeltTurns : Spherical {
  static void turns(double);
  static constexpr std::nullptr_t places = nullptr;
};
struct JointWithEnergy : Distance {
  static constexpr Optional optional = {.check = true, .energy = true, .rheonomic = true};
};
struct MisspeltRate : RollingDisc {
  static void rate();
};

static_assert(element::Force<SpringDamper> && element::Force<JointSpring>);
static_assert(element::Joint<Spherical> && element::Joint<Distance> && element::Joint<RollingDisc>);
static_assert(!element::Force<WithoutNumbers> && !element::Force<WithoutAttachments> &&
              !element::Force<WithoutWrench> && !element::Force<MisspeltCheck> &&
              !element::Force<MisspeltEnergy> && !element::Force<EnergyNotDeclared> &&
              !element::Force<DeclaredWithoutAxis> && !element::Force<NothingDeclared> &&
              !element::Force<WithoutPartials> && !element::Force<WithoutDerivativesByParameters> &&
              !element::Force<AnglesWithoutName> && !element::Force<FlagThatIsNoFlag> &&
              !element::Force<MisspeltWoundAngles> && !element::Force<MultipliersNotTaken>);
static_assert(!element::Joint<WithoutDerivatives> && !element::Joint<WithoutRowNames> &&
              !element::Joint<WithoutPhi> && !element::Joint<MisspeltTurns> &&
              !element::Joint<JointWithEnergy> && !element::Joint<MisspeltRate>);

// What a batch says of its elements comes from them.
TEST(BatchFacts, AreThoseOfTheElement) {
  const std::unique_ptr<Batch> disc = rolling_disc().make(0), spring = joint_spring().make(0);
  EXPECT_EQ(disc->coupling().rows, RollingDisc::rows);
  EXPECT_EQ(disc->coupling().velocity_rows, RollingDisc::velocity_rows);
  EXPECT_EQ(disc->constants_per_element(), RollingDisc::constants);
  EXPECT_EQ(disc->acting_frames(), 2);
  EXPECT_EQ(disc->attachments().size(), 2U);
  for (int row = 0; row < RollingDisc::rows; ++row)
    EXPECT_EQ(disc->row_name(row), RollingDisc::row_name(row));
  EXPECT_EQ(spring->angles_per_element(), JointSpring::angles);
  EXPECT_EQ(spring->coupling().rows, 0);
  EXPECT_TRUE(spring->divisible() && spring->coupling().across);
}

}  // namespace
}  // namespace liedyn
