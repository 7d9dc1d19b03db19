#include "liedyn/integrators/contact_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace liedyn {
namespace {

constexpr long kLeastSteps = 5;       // from the first touch to the deepest point
constexpr long kGoodSteps = 10;       // what is advised
constexpr double kNegligible = 0.01;  // of the largest depth of the run: impacts that do not matter
constexpr double kNear = 0.1;         // of a step: a touch nearer than this is not worth a step of its own
constexpr double kSudden = 0.5;       // of the speed: changed in a step, something was hit

}  // namespace

ContactWatch::ContactWatch(const System& system, const State& start, Work& work, bool equal_steps)
    : system_(&system), equal_steps_(equal_steps) {
  const Model& model = system.model();
  for (std::size_t b = 0; b < model.batches.size(); ++b) {
    const auto* watched = dynamic_cast<const WatchedContacts*>(model.batches[b].get());
    if (watched == nullptr) continue;
    for (int e = 0; e < model.batches[b]->size(); ++e)
      contacts_.push_back({.batch = watched,
                           .element = e,
                           .name = fmt::format("{}.{}", section_name(model.sections[b]),
                                               model.entry_of(static_cast<int>(b), e).name)});
  }
  if (empty()) return;
  motions_.resize(work.motions.size());
  move(start, work);
  for (Contact& contact : contacts_) contact.last = approach(contact, start, work);
  // Springs that act on both sides have no gap.
  std::erase_if(contacts_, [](const Contact& contact) { return std::isinf(contact.last.depth); });
}

void ContactWatch::move(const State& state, Work& work) {
  if (work.tree) {
    work.tree->move(work.numbers->data.data(), state.q.data(), state.v.data(), state.vdot.data(),
                    motions_.data());
    return;
  }
  const std::vector<Node>& nodes = system_->model().nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    motions_[i] = node_motion(nodes[i].type, state.q.data() + nodes[i].q, state.v.data() + nodes[i].v,
                              state.vdot.data() + nodes[i].v);
}

Approach ContactWatch::approach(const Contact& contact, const State& state, const Work& work) const {
  Evaluation at;
  at.frames = system_->model().frames.data();
  at.nodes = system_->model().bodies().data();
  at.motions = motions_.data();
  at.numbers = work.numbers->data.data();
  at.angles = state.angles.data();
  return contact.batch->approach(at, contact.element);
}

void ContactWatch::end_of_approach(Contact& contact, double h) {
  contact.closing = false;
  if (contact.steps >= kLeastSteps || contact.deepest <= contact.coarse_depth) return;
  contact.coarse_depth = contact.deepest;
  contact.coarse_time = contact.touched;
  contact.coarse_step = h;
  contact.coarse_steps = contact.steps;
}

void ContactWatch::after_step(const State& state, double h, Work& work) {
  move(state, work);
  for (Contact& contact : contacts_) {
    const Approach before = contact.last, now = approach(contact, state, work);
    contact.last = now;
    contact.deepest_of_run = std::max(contact.deepest_of_run, now.depth);
    if (before.depth <= 0 && now.depth > 0) {
      contact.closing = true;
      contact.steps = 0;
      contact.touched = state.t;
      contact.deepest = 0;
    }
    if (contact.closing) {
      ++contact.steps;
      contact.deepest = std::max(contact.deepest, now.depth);
      if (now.rate <= 0 || now.depth <= 0) end_of_approach(contact, h);
    }
    // Towards each other fast enough to touch within the step, and suddenly no longer.
    if (contact.passed_time < 0 && before.depth <= 0 && now.depth <= 0 && before.rate * h > -before.depth &&
        std::abs(now.rate - before.rate) > kSudden * before.rate &&
        before.rate * h > contact.deepest_of_run) {
      contact.passed_time = state.t;
      contact.passed_step = h;
    }
  }
}

double ContactWatch::longest(double h) const {
  double out = h;
  for (const Contact& contact : contacts_) {
    const auto& [depth, rate] = contact.last;
    if (depth > 0 || !(rate > 0)) continue;
    const double touch = -depth / rate;
    if (touch > kNear * h) out = std::min(out, touch);
  }
  return out;
}

void ContactWatch::archive(Archive& a) {
  for (Contact& c : contacts_)
    a(c.last, c.closing, c.steps, c.touched, c.deepest, c.deepest_of_run, c.coarse_depth, c.coarse_time,
      c.coarse_step, c.coarse_steps, c.passed_time, c.passed_step);
}

std::vector<std::string> ContactWatch::warnings() const {
  std::vector<std::string> out;
  for (const Contact& c : contacts_) {
    if (equal_steps_ && c.coarse_depth > kNegligible * c.deepest_of_run)
      out.push_back(
          fmt::format("'{}' is not resolved: the impact at t = {:.6g} reaches its deepest point, {:.3g}, "
                      "within {} step{} of "
                      "{:.3g} s. Take steps of at most {:.2g} s, or adaptive=true, or a smaller stiffness",
                      c.name, c.coarse_time, c.coarse_depth, c.coarse_steps, c.coarse_steps == 1 ? "" : "s",
                      c.coarse_step, c.coarse_step * static_cast<double>(c.coarse_steps) / kGoodSteps));
    if (c.passed_time >= 0)
      out.push_back(
          fmt::format("'{}': a touch at t = {:.6g} may have been passed over within a step of {:.3g} s. Take "
                      "smaller steps, or "
                      "adaptive=true with a smaller max_step",
                      c.name, c.passed_time, c.passed_step));
  }
  return out;
}

}  // namespace liedyn
