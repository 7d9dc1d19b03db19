#include "liedyn/io/generators/net.h"

#include <fmt/format.h>

#include "liedyn/io/generators/link.h"

namespace liedyn {
namespace {

// Knot k of chain c. A link goes 0.8 m along x and 0.6 m to one side, the next one to the other side; neighbours are mirror
// images, so that they touch at every other knot:
//
//      c = 1   c = 2   c = 3        x
//        \      /        \          |      1 and 2 touch at odd knots, 2 and 3 at even ones
//         \    /          \         v
//          knot 1        knot 1
Place knot(int c, int k) { return {0.8 * k, 0.6 * c + ((c + k) % 2 == 0 ? 0.3 : -0.3)}; }
bool touches_next(int c, int k) { return (c + k) % 2 == 0; }

void generate_net(std::span<const double> arguments, DescriptionBuilder& builder) {
  if (arguments[0] * arguments[1] > kMostLinks)
    return builder.finding("arguments.rows",
                           fmt::format("expected at most {:.0f} links, got {:.0f} rows of {:.0f}", kMostLinks,
                                       arguments[0], arguments[1]));
  const int rows = static_cast<int>(arguments[0]);
  const int columns = static_cast<int>(arguments[1]);
  const auto links = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  builder.reserve(Section::Bodies, links);
  builder.reserve(Section::Joints, links + links / 2);

  const auto link = [](int c, int k) { return fmt::format("link{}_{}", c, k); };
  for (int c = 1; c <= columns; ++c)
    for (int k = 1; k <= rows; ++k) {
      add_link(builder, link(c, k), knot(c, k - 1), knot(c, k));
      add_spherical(builder, fmt::format("j{}_{}", c, k), k == 1 ? "ground" : link(c, k - 1), link(c, k),
                    knot(c, k - 1));
    }
  for (int c = 1; c < columns; ++c)
    for (int k = 1; k <= rows; ++k)
      if (touches_next(c, k))
        add_spherical(builder, fmt::format("knot{}_{}", c, k), link(c, k), link(c + 1, k), knot(c, k));

  add_position(builder, "corner", link(columns, rows), knot(columns, rows));
  const int middle = (columns + 1) / 2;
  add_position(builder, "middle", link(middle, rows), knot(middle, rows));
}

}  // namespace

Generator net() {
  const auto count = [](const char* name, const char* summary) {
    return Field{.name = name,
                 .type = FieldType::Integer,
                 .unit = "",
                 .summary = summary,
                 .defaults = {10},
                 .range = Range::Positive};
  };
  return {.name = "net",
          .summary =
              "Zigzag chains of links of 1 m and 1 kg in the plane z = 0, side by side and joined where they "
              "touch, "
              "all by spherical joints, the first links to the ground.",
          .arguments = {count("rows", "Links of a chain."), count("columns", "Number of chains.")},
          .gravity = {0, 0, -9.81},
          .generate = &generate_net};
}

}  // namespace liedyn
