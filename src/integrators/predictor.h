// Where Newton's method begins: accelerations and multipliers of the next step, extrapolated from those of the last ones by a constant, a line or a
// parabola, whichever would have been best in the last step. They never change the result: a run that starts from a state in between does
// without.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "liedyn/base/archive.h"
#include "liedyn/base/thread_pool.h"
#include "liedyn/lie/so3.h"
#include "liedyn/model/nodes/stage.h"
#include "liedyn/system/state.h"
#include "liedyn/system/varied_corrector.h"

namespace liedyn {

// What a step leaves counts only once another one goes on from where it ended, so that a step that is tried again starts from the same. Changes are
// small beside what changes, so that half the digits are enough.
template <class S>
class Past {
 public:
  void start(std::size_t numbers, std::size_t rows) {
    count_ = 0;
    is_pending_ = false;
    for (Changes* changes : {&first_, &second_, &pending_}) {
      changes->vdot.assign(numbers, 0);
      changes->lambda.assign(rows, 0);
    }
  }
  // Whether there is a past of a step of h from this time.
  bool reaches(double t, double h) {
    const auto same = [&](double a, double b) { return std::abs(a - b) <= 1e-6 * h; };
    if (is_pending_ && same(t, pending_t_)) {
      if (!same(h, h_) || !same(t_, pending_t_ - h_)) count_ = 0;
      order_ = best_order();
      shift(pending_.vdot, first_.vdot, second_.vdot);
      shift(pending_.lambda, first_.lambda, second_.lambda);
      count_ = std::min(count_ + 1, 2);
      t_ = pending_t_;
      h_ = pending_h_;
      is_pending_ = false;
    }
    return count_ > 0 && same(t, t_) && same(h, h_);
  }
  // The step of h to t was good: accelerations and multipliers before and after it.
  template <class T>
  void keep(const std::vector<T>& vdot, const std::vector<S>& lambda, const std::vector<T>& new_vdot,
            const std::vector<S>& new_lambda, double h, double t) {
    const auto change = [](const auto& before, const auto& after, std::vector<float>& out) {
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = static_cast<float>(value(after[i]) - value(before[i]));
    };
    change(vdot, new_vdot, pending_.vdot);
    change(lambda, new_lambda, pending_.lambda);
    is_pending_ = true;
    pending_t_ = t;
    pending_h_ = h;
  }
  double next_acceleration(double now, std::size_t i) const {
    return next(now, first_.vdot[i], second_.vdot[i]);
  }
  void extrapolate(const std::vector<S>& lambda, std::vector<S>& out) const {
    for (std::size_t i = 0; i < lambda.size(); ++i)
      out[i] = S(next(value(lambda[i]), first_.lambda[i], second_.lambda[i]));
  }

  void archive(Archive& a) {
    a(count_, order_, t_, h_, is_pending_, pending_t_, pending_h_);
    for (Changes* changes : {&first_, &second_, &pending_}) a(changes->vdot, changes->lambda);
  }

 private:
  struct Changes {
    std::vector<float> vdot, lambda;
  };
  double next(double now, double first, double second) const {
    return now + (order_ > 0 ? first : 0) + (order_ > 1 ? second : 0);
  }
  static void shift(const std::vector<float>& last, std::vector<float>& first, std::vector<float>& second) {
    for (std::size_t i = 0; i < last.size(); ++i) {
      second[i] = last[i] - first[i];
      first[i] = last[i];
    }
  }
  // The order with which the accelerations after the pending change would have been foreseen best.
  int best_order() const {
    if (count_ == 0) return 1;
    double error[3] = {0, 0, 0};
    for (std::size_t i = 0; i < pending_.vdot.size(); ++i) {
      const double change = pending_.vdot[i], of_line = change - first_.vdot[i],
                   of_parabola = of_line - second_.vdot[i];
      error[0] += change * change;
      error[1] += of_line * of_line;
      error[2] += of_parabola * of_parabola;
    }
    const int line = error[1] < error[0] ? 1 : 0;
    return count_ == 2 && error[2] < error[line] ? 2 : line;
  }
  int count_ = 0, order_ = 0;
  double t_ = 0, h_ = 0;  // where the past ends, and its steps
  bool is_pending_ = false;
  double pending_t_ = 0, pending_h_ = 0;
  Changes first_, second_,
      pending_;  // differences over one step, their differences; those of a step that may not count
};

template <class S>
class Predictor {
 public:
  explicit Predictor(const std::vector<Node>& nodes) : nodes_(&nodes) {
    has_body_places_ = std::any_of(nodes.begin(), nodes.end(), has_body_place);
  }
  void start(std::size_t numbers, std::size_t rows) {
    past_.start(numbers, rows);
    if (has_body_places_)
      for (std::vector<double>* of : {&steady_, &next_steady_, &foreseen_}) of->resize(numbers);
  }
  bool reaches(double t, double h) { return past_.reaches(t, h); }

  // theta = Theta + c_1 vdot + T^-1(theta) c_2 v with vdot extrapolated, and theta on the right from T = 1. Parameters have T = 1. `vdot` are the
  // accelerations of what the stage advances.
  void predict(CorrectorOf<S>& corrector, const Stage& stage, const StateOf<S>& from,
               const std::vector<S>& vdot, std::vector<S>& next_lambda, const WorkOf<S>& work) {
    past_.extrapolate(from.lambda, next_lambda);
    if (has_body_places_) foresee_places(corrector, stage, from, vdot);
    const auto extrapolated = [&](std::size_t i) {
      return has_body_places_ ? foreseen_[i] : past_.next_acceleration(value(vdot[i]), i);
    };
    if (stage.c_2 == 0) {
      for (std::size_t i = 0; i < vdot.size(); ++i)
        corrector.theta[i] = value(corrector.Theta[i]) + stage.c_1 * extrapolated(i);
      return;
    }
    parallel_for(work.threads.get(), nodes_->size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) {
        const Node& node = (*nodes_)[k];
        const int count = node_size(node.type).v;
        double first[6], rate[6], both[6];
        const auto predict_one = [&](int i, int number) {
          const double next = extrapolated(at(number));
          rate[i] = stage.c_2 * (value(corrector.V[at(number)]) + stage.c_v * next);
          first[i] = value(corrector.Theta[at(number)]) + stage.c_1 * next;
          both[i] = first[i] + rate[i];
        };
        for (int i = 0; i < count; ++i) predict_one(i, node.v + i);
        if (!is_conventional(node.type)) {
          increment_rates(node.type, Chart::Exponential, both, rate, rate);
          for (int i = 0; i < count; ++i) both[i] = first[i] + rate[i];
        }
        std::copy_n(both, count, corrector.theta.begin() + node.v);
        if (node.extra < 0) continue;
        predict_one(0, node.extra);
        corrector.theta[at(node.extra)] = both[0];
      }
    });
  }

  // The step of h between these states was good; `lambda` are the multipliers that it began with.
  void keep(const StateOf<S>& from, const std::vector<S>& vdot, const std::vector<S>& lambda,
            const StateOf<S>& to, const std::vector<S>& new_vdot, double h) {
    if (!has_body_places_) return past_.keep(vdot, lambda, new_vdot, to.lambda, h, to.t);
    find_steady(from, vdot, steady_);
    find_steady(to, new_vdot, next_steady_);
    past_.keep(steady_, lambda, next_steady_, to.lambda, h, to.t);
  }

  void archive(Archive& a) { past_.archive(a); }

 private:
  // The axes of a fast body turn much in a step, and with them the accelerations of its place on SE(3) or SE(2). What is extrapolated is therefore
  // R (Udot + Omega x U), in inertial axes.
  static bool has_body_place(const Node& node) { return moves_in_body_axes(node.type); }
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  static Mat3 axes_of(const Node& node, const StateOf<S>& state) {
    const S* q = state.q.data() + node.q;
    if (is_planar(node.type)) return turn_in_plane(value(q[2]));
    double numbers[7];
    for (int i = 0; i < 7; ++i) numbers[i] = value(q[i]);
    return rotation_of(numbers).R();
  }
  static Vec3 place_part(const Node& node, const auto& x) {
    return {value(x[at(node.v)]), value(x[at(node.v + 1)]),
            is_planar(node.type) ? 0 : value(x[at(node.v + 2)])};
  }
  static Vec3 turn_part(const Node& node, const auto& x) {
    if (is_planar(node.type)) return {0, 0, value(x[at(node.v + 2)])};
    return {value(x[at(node.v + 3)]), value(x[at(node.v + 4)]), value(x[at(node.v + 5)])};
  }
  void find_steady(const StateOf<S>& state, const std::vector<S>& vdot, std::vector<double>& out) const {
    std::transform(vdot.begin(), vdot.end(), out.begin(), [](const S& x) { return value(x); });
    for (const Node& node : *nodes_) {
      if (!has_body_place(node)) continue;
      const Vec3 a = axes_of(node, state) *
                     (place_part(node, vdot) + turn_part(node, state.v).cross(place_part(node, state.v)));
      std::copy_n(a.data(), place_count(node.type), out.data() + node.v);
    }
  }
  // R and Omega of the end of the step are foreseen first. Then U = V + c_v Udot, so that (1 + c_v Omega~) Udot = R^T a - Omega x V.
  void foresee_places(const CorrectorOf<S>& corrector, const Stage& stage, const StateOf<S>& from,
                      const std::vector<S>& vdot) {
    find_steady(from, vdot, steady_);
    for (std::size_t i = 0; i < steady_.size(); ++i) foreseen_[i] = past_.next_acceleration(steady_[i], i);
    for (const Node& node : *nodes_) {
      if (!has_body_place(node)) continue;
      const Vec3 turning = turn_part(node, foreseen_),
                 Omega = turn_part(node, corrector.V) + stage.c_v * turning,
                 turn = turn_part(node, corrector.Theta) + stage.c_1 * turning + stage.c_2 * Omega;
      const Vec3 b = SO3<double>::exp(turn).R().transpose() *
                         (axes_of(node, from).transpose() * place_part(node, foreseen_)) -
                     Omega.cross(place_part(node, corrector.V));
      const Vec3 w = stage.c_v * Omega,
                 Udot = (b - w.cross(b) + w * w.dot(b)) / (1 + w.squaredNorm());  // (1 + w~)^-1 b
      std::copy_n(Udot.data(), place_count(node.type), foreseen_.data() + node.v);
    }
  }

  const std::vector<Node>* nodes_;
  bool has_body_places_;
  Past<S> past_;
  std::vector<double> steady_, next_steady_, foreseen_;  // accelerations, see has_body_place()
};

}  // namespace liedyn
