#include "liedyn/io/generators/ring.h"

#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "liedyn/io/generators/link.h"

namespace liedyn {
namespace {

constexpr int kFewestLinks = 3;

void generate_ring(std::span<const double> arguments, DescriptionBuilder& builder) {
  if (arguments[0] < kFewestLinks || arguments[0] > kMostLinks)
    return builder.finding("arguments.links", fmt::format("expected from {} to {:.0f} links, got {:.0f}",
                                                          kFewestLinks, kMostLinks, arguments[0]));
  const int links = static_cast<int>(arguments[0]);
  builder.reserve(Section::Bodies, static_cast<std::size_t>(links));
  builder.reserve(Section::Joints, static_cast<std::size_t>(links) + 1);

  // Knot i of the polygon, knot 0 = knot `links` at the origin, the centre on the x axis.
  const double angle = 2 * std::numbers::pi / links;
  const double radius = 0.5 / std::sin(angle / 2);
  const auto knot = [&](int i) {
    const double phi = angle * (i % links);
    return Place{radius * (1 - std::cos(phi)), radius * std::sin(phi)};
  };
  const auto link = [](int i) { return fmt::format("link{}", i); };
  for (int i = 1; i <= links; ++i) add_link(builder, link(i), knot(i - 1), knot(i));
  add_spherical(builder, "hold", "ground", link(1), knot(0));
  for (int i = 1; i <= links; ++i)
    add_spherical(builder, fmt::format("j{}", i), link(i), link(i % links + 1), knot(i));

  add_position(builder, "far", link((links + 1) / 2), knot((links + 1) / 2));
  add_position(builder, "side", link((links + 3) / 4), knot((links + 3) / 4));
}

}  // namespace

Generator ring() {
  return {
      .name = "ring",
      .summary =
          "Links of 1 m and 1 kg that form a regular polygon, joined by spherical joints, one of its knots "
          "held at the origin.",
      .arguments = {{.name = "links",
                     .type = FieldType::Integer,
                     .unit = "",
                     .summary = "Number of links, three or more.",
                     .defaults = {10},
                     .range = Range::Positive}},
      .gravity = {0, 0, -9.81},
      .generate = &generate_ring};
}

}  // namespace liedyn
