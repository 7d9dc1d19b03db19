#include <cmath>
#include <cstdio>
#include <memory>

#include "liedyn/analyses/simulate.h"
#include "liedyn/base/allocation_counter.h"
#include "liedyn/io/read_model.h"

// Simulates the model named on the command line (the heavy top, whose centre of mass is 1 m from its pivot).
int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto description = std::make_shared<const liedyn::Description>(liedyn::read_model(argv[1]));
  const liedyn::System system(liedyn::Model::compile(description, ""), liedyn::Params(description));
  liedyn::SimulateOptions options = liedyn::default_options(*description);
  options.end = 0.1;
  const liedyn::Result result = liedyn::simulate(system, options);
  const liedyn::Trajectory& t = result.trajectory;
  double square = 0;
  for (const liedyn::Channel& channel : t.channels)
    for (int i = 0; channel.name == "position" && i < channel.components; ++i)
      square += std::pow(t.at(t.rows() - 1, channel.first + i), 2);
  std::printf("%d steps, centre of mass %.9f m from the pivot\n", static_cast<int>(result.summary.steps),
              std::sqrt(square));
  // A library must not count the allocations of somebody else's program.
  return result.summary.completed && std::abs(square - 1) < 1e-6 && liedyn::allocation_count() == -1 ? 0 : 1;
}
