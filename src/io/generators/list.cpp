#include "io/generators/list.h"

#include "io/generators/chain.h"
#include "io/generators/net.h"
#include "io/generators/ring.h"

namespace liedyn {

const std::vector<Generator>& generators() {
  static const std::vector<Generator> list = {chain(), ring(), net()};
  return list;
}

const Generator* find_generator(std::string_view name) {
  for (const Generator& generator : generators())
    if (generator.name == name) return &generator;
  return nullptr;
}

}  // namespace liedyn
