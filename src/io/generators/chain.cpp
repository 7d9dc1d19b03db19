#include "liedyn/io/generators/chain.h"

#include <array>
#include <string>

#include <fmt/format.h>

#include "liedyn/io/generators/link.h"

namespace liedyn {
namespace {

void generate_chain(std::span<const double> arguments, DescriptionBuilder& builder) {
  if (arguments[0] > kMostLinks)
    return builder.finding("arguments.links", fmt::format("expected at most {:.0f} links, got {:.0f}",
                                                          kMostLinks, arguments[0]));
  const int links = static_cast<int>(arguments[0]);
  builder.reserve(Section::Bodies, static_cast<std::size_t>(links));
  builder.reserve(Section::Joints, static_cast<std::size_t>(links));

  std::string before = "ground";
  for (int i = 1; i <= links; ++i) {
    std::string link = fmt::format("link{}", i);
    builder.begin(Section::Bodies, link, "rigid");
    builder.numbers("mass", std::array{1.0});
    builder.numbers("inertia", std::array{0.01, 0.1, 0.1});
    builder.numbers("position", std::array{i - 0.5, 0.0, 0.0});
    builder.end();

    builder.begin(Section::Joints, fmt::format("j{}", i), "spherical");
    builder.words("between", std::move(before), link);
    builder.numbers("at", std::array{i - 1.0, 0.0, 0.0});
    builder.end();
    before = std::move(link);
  }

  builder.begin(Section::Sensors, "tip", "position");
  builder.word("of", before);
  builder.numbers("at", std::array{static_cast<double>(links), 0.0, 0.0});
  builder.end();
  builder.begin(Section::Sensors, "last", "position");
  builder.word("of", before);
  builder.end();
}

}  // namespace

Generator chain() {
  return {
      .name = "chain",
      .summary =
          "Links of 1 m and 1 kg along x, joined by spherical joints, the first to the ground at the origin.",
      .arguments = {{.name = "links",
                     .type = FieldType::Integer,
                     .unit = "",
                     .summary = "Number of links.",
                     .defaults = {10},
                     .range = Range::Positive}},
      .gravity = {0, 0, -9.81},
      .generate = &generate_chain};
}

Description make_chain(int links) {
  DescriptionBuilder builder("chain", "", {}, chain().gravity);
  generate_chain(std::array{static_cast<double>(links)}, builder);
  return builder.finish();
}

}  // namespace liedyn
