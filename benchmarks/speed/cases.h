// What is measured: models, methods and steps by name, and the loop over steps that all measurements share.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "liedyn/integrators/integrator.h"
#include "liedyn/io/read_model.h"

namespace liedyn::speed {

struct Case {
  std::string name;  // "chain/block/1000"
  std::string model;
  std::string formulation;
  std::string integrator;
  double step = 1e-3;
  double end = 1;  // the run starts over here
  std::vector<Assignment> assignments = {};
  std::string solver = "auto";
  int threads = 1;
};

const std::vector<Case>& cases();
const Case* find_case(std::string_view name);

// What steps: an integrator on a model, or the solver written by hand.
class Stepper {
 public:
  virtual ~Stepper() = default;
  // One step; the number of linear solves, or -1 if Newton's method failed.
  virtual int advance() = 0;
  // Whether the run is over; the caller starts it over, outside of what it measures.
  virtual bool at_end() const = 0;
  virtual void restart() = 0;
  virtual double bodies() const = 0;
  virtual std::string_view solver() const = 0;
};

// A case by name, or "chain/by_hand/LINKS". After its first steps, whose cost is not typical. Null: there is no such name.
std::unique_ptr<Stepper> make_stepper(const std::string& name);

// Names that make_stepper knows.
std::vector<std::string> stepper_names();

}  // namespace liedyn::speed
