#include "liedyn/analyses/adjoint.h"

#include <algorithm>

namespace liedyn {
namespace {

std::size_t bytes_of(const State& state) {
  std::size_t numbers = state.angles.size();
  for_each_vector(state, [&](const std::vector<double>& part) { numbers += part.size(); });
  return numbers * sizeof(double) + sizeof(State);
}

std::vector<Tape::Id*> places_of(VariedState& state) {
  std::vector<Tape::Id*> out;
  for_each_vector(state, [&](std::vector<Varied>& part) {
    for (Varied& x : part) out.push_back(&x.id);
  });
  return out;
}

}  // namespace

AdjointRun::AdjointRun(const System& system, const SimulateOptions& options, const std::vector<double>& ends,
                       const std::vector<Output>& outputs, std::size_t bytes_of_states)
    : system_(system),
      options_(options),
      ends_(ends),
      outputs_(outputs),
      sums_(outputs, times_of(options, ends)),
      steps_(system, options, ends) {
  State state = steps_.initial();
  if (sums_.wants_start()) sums_.add_start(steps_.sense(state));
  steps_.begin(state);
  // All states, or as many between two that are kept as there are of these. With what one solve finds; methods with several stages take more.
  const std::size_t count = ends.size(),
                    one = bytes_of(state) + sizeof(double) * (state.v.size() + state.lambda.size()),
                    fit = std::max<std::size_t>(1, bytes_of_states / one);
  if (count > fit) {
    distance_ = 1;
    while (distance_ * distance_ < count) ++distance_;
    distance_ = std::max(distance_, fit / 2);
  }
  State next = state, between = state;
  for (std::size_t n = 1; n <= count; ++n) {
    const bool kept = (n - 1) % distance_ == 0;
    if (kept) kept_.push_back({state, {}});
    steps_.step(n, state, next, distance_ == 1 ? &kept_.back().log : nullptr);
    sums_.add_step(
        n, [&](double s) -> const std::vector<double>& { return steps_.sense_at(state, next, s, between); });
    std::swap(state, next);
    if (options.progress && !options.progress(0.5 * static_cast<double>(n) / static_cast<double>(count)))
      throw NumericalError(state.t, fmt::format("t = {:.9g}: interrupted", state.t));
  }
  most_bytes_ = (kept_.size() + (distance_ > 1 ? distance_ : 0)) * one;
}

AdjointRun::Begin& AdjointRun::begin_of(std::size_t n) {
  if (distance_ == 1) return kept_[n - 1];
  const std::size_t first = (n - 1) / distance_ * distance_;
  if (segment_.empty() || first != first_) {
    first_ = first;
    segment_.assign(1, kept_[first / distance_]);
    const std::size_t last = std::min(first + distance_, ends_.size());
    for (std::size_t k = first + 1; k <= last; ++k) {
      State next = segment_.back().state;
      steps_.step(k, segment_.back().state, next, &segment_.back().log);
      if (k < last) segment_.push_back({std::move(next), {}});
    }
  }
  return segment_[n - 1 - first];
}

Eigen::MatrixXd AdjointRun::gradients(const std::vector<int>& parameters, const Eigen::MatrixXd& weights) {
  Tape tape(Tape::Sweep::Backwards);
  const Tape::Use use(tape);
  const VariedSystem varied(system_, parameters);
  tape.end_beginning();
  FixedSteps<Varied> steps(varied, options_, ends_);
  const auto sums = static_cast<std::size_t>(weights.rows());
  std::vector<Tape::Weights> of_numbers(sums);
  std::vector<std::vector<double>> of_state(sums);

  const auto add_terms = [&](const std::vector<OutputTerm>& terms, const std::vector<Varied>& sensors) {
    for (const OutputTerm& term : terms) {
      const Varied& shown = sensors[static_cast<std::size_t>(outputs_[term.output].column)];
      if (shown.id == 0) continue;
      for (std::size_t k = 0; k < sums; ++k)
        of_numbers[k][shown.id] +=
            term.weight * weights(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(term.output));
    }
  };
  const auto add_state = [&](VariedState& state) {
    const std::vector<Tape::Id*> places = places_of(state);
    for (std::size_t k = 0; k < sums; ++k)
      for (std::size_t i = 0; i < of_state[k].size(); ++i)
        if (*places[i] != 0) of_numbers[k][*places[i]] += of_state[k][i];
  };

  VariedState from = steps.initial(), to, between;
  steps.begin(from);  // the method's own arrays
  for (std::size_t n = ends_.size(); n > 0; --n) {
    Begin& begin = begin_of(n);
    set_constants(begin.state, from);
    const std::vector<Tape::Id*> places = places_of(from);
    tape.restart(places);
    steps.work().forget_time();
    to = from;
    steps.step(n, from, to, &begin.log);
    for (const OutputPlace& place : sums_.places(n))
      add_terms(place.terms, steps.sense_at(from, to, place.s, between));
    add_state(to);
    for (std::size_t k = 0; k < sums; ++k) {
      tape.backwards(of_numbers[k], places.size());
      of_state[k].assign(places.size(), 0.0);
      for (std::size_t i = 0; i < places.size(); ++i)
        std::swap(of_state[k][i], of_numbers[k][static_cast<Tape::Id>(tape.beginning() + i)]);
    }
    if (options_.progress &&
        !options_.progress(1 - 0.5 * static_cast<double>(n) / static_cast<double>(ends_.size())))
      throw NumericalError(from.t, fmt::format("t = {:.9g}: interrupted", from.t));
  }
  // The start.
  tape.restart({});
  from = steps.initial();
  if (const std::vector<OutputTerm> terms = sums_.terms_at_start(); !terms.empty())
    add_terms(terms, steps.sense(from));
  steps.begin(from);
  add_state(from);
  Eigen::MatrixXd out(weights.rows(), static_cast<Eigen::Index>(parameters.size()));
  for (std::size_t k = 0; k < sums; ++k) {
    tape.backwards(of_numbers[k], 0);
    tape.backwards_through_beginning(of_numbers[k]);
    for (std::size_t p = 0; p < parameters.size(); ++p)
      out(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(p)) =
          of_numbers[k].of(varied.seeds()[p].id);
  }
  most_bytes_ = std::max(most_bytes_, most_bytes_ + tape.most_bytes());
  return out;
}

}  // namespace liedyn
