#include "liedyn/io/generators/list.h"

#include "liedyn/io/generators/chain.h"
#include "liedyn/io/generators/net.h"
#include "liedyn/io/generators/ring.h"

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
