#include "liedyn/integrators/contact_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "liedyn/system/evaluation.h"

namespace liedyn {
namespace {

constexpr long kLeastSteps = 8;       // from the first touch to the deepest point
constexpr long kGoodSteps = 10;       // what is advised
constexpr double kMostSlip = 20;      // in an equal step, in lengths of bristles
constexpr double kGoodSlip = 5;       // what is advised
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
  for (Contact& contact : contacts_) contact.last = approach(contact, start, motions_, work);
  // Springs that act on both sides have no gap.
  std::erase_if(contacts_, [](const Contact& contact) { return std::isinf(contact.last.depth); });
  pulled_ = motions_;
  near_.reserve(contacts_.size());
}

void ContactWatch::move(const State& state, Work& work) {
  const Model& model = system_->model();
  if (work.links)
    move_links(model, *work.constants, state, *work.links, motions_);
  else
    for (std::size_t i = 0; i < model.nodes.size(); ++i) motions_[i] = motion_of(model.nodes[i], state);
}

Approach ContactWatch::approach(const Contact& contact, const State& state,
                                const std::vector<Motion<double>>& motions, const Work& work) const {
  Evaluation at;
  at.frames = system_->model().frames.data();
  at.nodes = system_->model().bodies().data();
  at.motions = motions.data();
  at.constants = work.constants->data.data();
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
    const Approach before = contact.last, now = approach(contact, state, motions_, work);
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
    if (equal_steps_ && now.presliding > 0 && before.depth > 0 && now.depth > 0)
      if (const double slipped = std::min(before.slip, now.slip) * h / now.presliding;
          slipped > contact.slipped) {
        contact.slipped = slipped;
        contact.slipped_time = state.t;
        contact.slipped_step = h;
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

bool ContactWatch::throws_apart(const State& from, const State& to, double h, Work& work) {
  constexpr double kThrown = 1.5, kDriven = 3, kPulled = 10;
  move(from, work);
  near_.clear();
  for (const Contact& contact : contacts_)
    if (const Approach now = approach(contact, from, motions_, work);
        now.rate > 0 && now.rate * h > -now.depth)
      near_.push_back({&contact, now.rate, 0});
  if (near_.empty()) return false;
  pulled_ = motions_;
  for (Motion<double>& motion : pulled_) motion.V += h * motion.A;
  for (Near& near : near_)
    near.change = std::abs(approach(*near.contact, from, pulled_, work).rate - near.rate);
  move(to, work);
  return std::any_of(near_.begin(), near_.end(), [&](const Near& near) {
    const Approach then = approach(*near.contact, to, motions_, work);
    const double pull = kPulled * near.change;
    return std::abs(then.rate) > (then.rate < 0 ? kThrown : kDriven) * near.rate + pull ||
           (then.depth <= 0 && std::abs(then.rate - near.rate) > kSudden * near.rate + pull);
  });
}

double ContactWatch::longest(double h) const {
  double out = h;
  for (const Contact& contact : contacts_) {
    const Approach& last = contact.last;
    if (last.depth > 0 || !(last.rate > 0)) continue;
    const double touch = -last.depth / last.rate;
    if (touch > kNear * h) out = std::min(out, touch);
  }
  return out;
}

void ContactWatch::archive(Archive& a) {
  for (Contact& c : contacts_)
    a(c.last, c.closing, c.steps, c.touched, c.deepest, c.deepest_of_run, c.coarse_depth, c.coarse_time,
      c.coarse_step, c.coarse_steps, c.passed_time, c.passed_step, c.slipped, c.slipped_time, c.slipped_step);
}

std::vector<std::string> ContactWatch::warnings() const {
  std::vector<std::string> out;
  for (const Contact& c : contacts_) {
    if (equal_steps_ && c.coarse_depth > kNegligible * c.deepest_of_run)
      out.push_back(
          fmt::format("'{}' is not resolved: the impact at t = {:.6g} reaches its deepest point, {:.3g}, "
                      "within {} step{} of {:.3g} s. Use steps of at most {:.2g} s, or adaptive=true, or a "
                      "smaller stiffness",
                      c.name, c.coarse_time, c.coarse_depth, c.coarse_steps, c.coarse_steps == 1 ? "" : "s",
                      c.coarse_step,
                      c.coarse_step * std::max(static_cast<double>(c.coarse_steps) - 1, 0.5) / kGoodSteps));
    if (c.slipped > kMostSlip)
      out.push_back(fmt::format(
          "'{}' is not resolved: at t = {:.6g} it slides by {:.3g} times its presliding distance in a step "
          "of "
          "{:.3g} s, so that its friction is unreliable. Use steps of at most {:.2g} s, or adaptive=true, "
          "or a "
          "larger presliding",
          c.name, c.slipped_time, c.slipped, c.slipped_step, c.slipped_step * kGoodSlip / c.slipped));
    if (c.passed_time >= 0)
      out.push_back(
          fmt::format("'{}': a contact at t = {:.6g} may have been missed within a step of {:.3g} s. Use "
                      "smaller steps, or "
                      "adaptive=true with a smaller max_step",
                      c.name, c.passed_time, c.passed_step));
  }
  return out;
}

}  // namespace liedyn
