// Pages of the documentation and templates of models that the program carries in itself (cmake/embed.cmake): an installed program needs no source tree.
#pragma once

#include <string_view>
#include <vector>

namespace liedyn::cli {

struct EmbeddedText {
  std::string_view name;  // "docs/howto/drive_joints.md", "cli/templates/pendulum.json"
  std::string_view text;
};

const std::vector<EmbeddedText>& embedded_texts();

}  // namespace liedyn::cli
