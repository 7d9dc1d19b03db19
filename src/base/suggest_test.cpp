#include "liedyn/base/suggest.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace liedyn {
namespace {

TEST(EditDistance, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("mass", "mass", 3), 0);
  EXPECT_EQ(edit_distance("mas", "mass", 3), 1);
  EXPECT_EQ(edit_distance("maass", "mass", 3), 1);
  EXPECT_EQ(edit_distance("mess", "mass", 3), 1);
  EXPECT_EQ(edit_distance("msas", "mass", 3), 1);
  EXPECT_EQ(edit_distance("", "abc", 3), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting", 5), 3);
}

TEST(EditDistance, StopsAtTheLimit) {
  EXPECT_EQ(edit_distance("abcdef", "uvwxyz", 2), 3);
  EXPECT_EQ(edit_distance(std::string(1000000, 'a'), std::string(1000000, 'b'), 4), 5);
}

TEST(Nearest, FindsTheMistypedName) {
  const std::vector<std::string> names = {"mass", "inertia", "position", "angular_velocity", "velocity"};
  EXPECT_EQ(nearest("mas", names), "mass");
  EXPECT_EQ(nearest("Mass", names), "mass");
  EXPECT_EQ(nearest("intertia", names), "inertia");
  EXPECT_EQ(nearest("postion", names), "position");
  EXPECT_EQ(nearest("velocty", names), "velocity");
  EXPECT_EQ(nearest("angular", names), "angular_velocity");
}

TEST(Nearest, SuggestsNothingForUnrelatedWords) {
  const std::vector<std::string> names = {"mass", "inertia", "position"};
  EXPECT_EQ(nearest("colour", names), "");
  EXPECT_EQ(nearest("x", names), "");
  EXPECT_EQ(nearest("", names), "");
  EXPECT_EQ(nearest("mass", std::vector<std::string>{}), "");
}

TEST(DidYouMean, IsEmptyWithoutASuggestion) {
  EXPECT_EQ(did_you_mean("mas", std::vector<std::string>{"mass"}), "did you mean 'mass'?");
  EXPECT_EQ(did_you_mean("qqqq", std::vector<std::string>{"mass"}), "");
}

TEST(Excerpt, KeepsMessagesShortAndPrintable) {
  EXPECT_EQ(excerpt("short"), "short");
  EXPECT_EQ(excerpt(std::string(100, 'a'), 5), "aaaaa...");
  EXPECT_EQ(excerpt("a\nb\x01"), "a b ");
  EXPECT_EQ(excerpt("gr\xc3\xb6\xc3\x9f", 3), "gr...") << "a multi-byte character is cut in two";
  EXPECT_EQ(excerpt("gr\xc3\xb6\xc3\x9f"), "gr\xc3\xb6\xc3\x9f");
  EXPECT_EQ(excerpt("\xff\xc3 \xe2\x82"), "?? ??") << "bytes that are not UTF-8 get into a message";
}

}  // namespace
}  // namespace liedyn
