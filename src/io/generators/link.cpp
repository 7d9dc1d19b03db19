#include "liedyn/io/generators/link.h"

#include <cmath>

namespace liedyn {

void add_link(DescriptionBuilder& builder, std::string name, Place from, Place to) {
  builder.begin(Section::Bodies, std::move(name), "rigid");
  builder.numbers("mass", std::array{1.0});
  builder.numbers("inertia", std::array{0.01, 0.1, 0.1});
  builder.numbers("position", std::array{(from[0] + to[0]) / 2, (from[1] + to[1]) / 2, 0.0});
  builder.numbers("orientation", std::array{0.0, 0.0, std::atan2(to[1] - from[1], to[0] - from[0])});
  builder.end();
}

void add_spherical(DescriptionBuilder& builder, std::string name, std::string first, std::string second,
                   Place at) {
  builder.begin(Section::Joints, std::move(name), "spherical");
  builder.words("between", std::move(first), std::move(second));
  builder.numbers("at", std::array{at[0], at[1], 0.0});
  builder.end();
}

void add_position(DescriptionBuilder& builder, std::string name, std::string body, Place at) {
  builder.begin(Section::Sensors, std::move(name), "position");
  builder.word("of", std::move(body));
  builder.numbers("at", std::array{at[0], at[1], 0.0});
  builder.end();
}

}  // namespace liedyn
