// The parameters of a model, by name path: masses, stiffnesses, positions, initial values and the named
// `parameters`. They live outside Model, so that a sweep, a sensitivity or an optimiser never rebuilds one.
//
// A path is the chain of keys as typed: "bodies.top.mass", "bodies.top.inertia[1]", "joints.pivot.at[2]", "gravity[2]",
// "parameters.spin" or shorter "spin". Paths are computed from the description's layout, not stored per number.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "liedyn/base/expression.h"
#include "liedyn/model/description.h"

namespace liedyn {

class Params {
 public:
  explicit Params(std::shared_ptr<const Description> description);

  // Index of a number by its path; throws InputError (with a suggestion) if there is none.
  int find(std::string_view path) const;
  std::string path(int index) const;  // the inverse of find
  int size() const { return static_cast<int>(values().size()); }

  // Sets a number; one given as an expression becomes this constant. Expressions that depend on it follow. Throws
  // InputError, and changes nothing, if the number or one that follows from it leaves its range.
  void set(std::string_view path, double value);
  void set(int index, double value);
  double get(int index) const { return values()[static_cast<std::size_t>(index)]; }

  // What is not as the model's text says: the values that were set from outside, by path; parameters by their bare name.
  std::vector<std::pair<std::string, double>> assigned() const;

  // All values, expressions evaluated (those of t at t = start).
  const std::vector<double>& values() const { return is_changed_ ? own_ : description_->parameters; }

  // A number that is an expression of (parameters..., t).
  struct Bound {
    int number;
    Expression expression;
  };
  // Those of parameters only, in an order in which each only needs earlier ones.
  const std::vector<Bound>& bound() const { return bound_; }
  // Those of t: evaluated anew whenever the time changes.
  const std::vector<Bound>& timed() const { return timed_; }
  int parameter_count() const { return static_cast<int>(description_->parameter_names.size()); }
  const Description& description() const { return *description_; }

 private:
  void follow(const std::string& changed_path);

  std::shared_ptr<const Description> description_;
  // Numbers of the description until the first change.
  std::vector<double>& own_values();
  bool is_changed_ = false;
  std::vector<double> own_;
  std::vector<Bound> bound_;
  std::vector<Bound> timed_;
};

}  // namespace liedyn
