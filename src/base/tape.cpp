#include "liedyn/base/tape.h"

#include <algorithm>
#include <type_traits>

namespace liedyn {

thread_local constinit Tape* Tape::current_ = nullptr;

namespace {

// work(std::integral_constant<std::size_t, W>) with the number W of directions that go together.
template <class Work>
auto with_width(std::size_t width, const Work& work) {
  switch (width) {
    case 1: return work(std::integral_constant<std::size_t, 1>());
    case 2: return work(std::integral_constant<std::size_t, 2>());
    case 4: return work(std::integral_constant<std::size_t, 4>());
    default: return work(std::integral_constant<std::size_t, 8>());
  }
}

}  // namespace

Tape::Tape(Sweep sweep, std::size_t directions)
    : sweep_(sweep),
      directions_(directions),
      width_(directions <= 1   ? 1
             : directions <= 2 ? 2
             : directions <= 4 ? 4
                               : kBlock),
      entries_(1024),
      next_(entries_.data() + 1),
      end_(entries_.data() + entries_.size()),
      slopes_((directions + kBlock - 1) / kBlock) {
  entries_[0] = {0, 0, 0, 0};
  for (auto& slopes : slopes_) slopes.assign(width_, 0.0);
}

void Tape::grow() {
  const std::size_t used = size();
  entries_.resize(2 * entries_.size());
  next_ = entries_.data() + used;
  end_ = entries_.data() + entries_.size();
}

Tape::Id Tape::independent(int direction) {
  const Id id = push(0, 0);
  if (direction >= 0 && sweep_ == Sweep::Forwards) {
    go_forwards();
    const auto k = static_cast<std::size_t>(direction);
    slopes_[k / kBlock][static_cast<std::size_t>(id) * width_ + k % kBlock] = 1;
  }
  return id;
}

Tape::Id Tape::call(std::span<const Id> inputs, std::size_t outputs, const ColumnsMap& forwards,
                    LinearMap backwards) {
  const Id first = static_cast<Id>(size());
  for (std::size_t i = 0; i < outputs; ++i) push(0, 0);
  if (sweep_ == Sweep::Backwards) {
    calls_.push_back(
        {static_cast<std::size_t>(first), {inputs.begin(), inputs.end()}, outputs, std::move(backwards)});
    return first;
  }
  go_forwards();
  in_.resize(inputs.size() * width_);
  for (auto& slopes : slopes_) {
    double* next = in_.data();
    for (const Id id : inputs)
      next = std::copy_n(slopes.data() + static_cast<std::size_t>(id) * width_, width_, next);
    forwards(in_.data(), slopes.data() + static_cast<std::size_t>(first) * width_, width_);
  }
  return first;
}

template <std::size_t Width>
void Tape::go_forwards(const Entry* entries, std::size_t begin, std::size_t end, double* slopes) {
  for (std::size_t i = begin; i < end; ++i) {
    const Entry& e = entries[i];
    const double *a = slopes + static_cast<std::size_t>(e.a) * Width,
                 *b = slopes + static_cast<std::size_t>(e.b) * Width;
    double* out = slopes + i * Width;
    for (std::size_t k = 0; k < Width; ++k) out[k] = e.da * a[k] + e.db * b[k];
  }
}

void Tape::go_forwards() {
  const std::size_t end = size();
  if (known_ == end) return;
  for (auto& slopes : slopes_) {
    if (slopes.size() < end * width_) slopes.resize(std::max(end, entries_.size()) * width_);
    with_width(width_,
               [&](auto width) { go_forwards<width()>(entries_.data(), known_, end, slopes.data()); });
  }
  known_ = end;
}

void Tape::derivatives(Id id, double* out) {
  go_forwards();
  for (std::size_t k = 0; k < directions_; ++k)
    out[k] = slopes_[k / kBlock][static_cast<std::size_t>(id) * width_ + k % kBlock];
}

void Tape::end_beginning() {
  if (sweep_ == Sweep::Forwards) go_forwards();
  beginning_ = size();
  calls_of_beginning_ = calls_.size();
}

void Tape::restart(std::span<Id* const> kept) {
  std::size_t bytes = size() * sizeof(Entry);
  for (const auto& slopes : slopes_) bytes += slopes.capacity() * sizeof(double);
  most_bytes_ = std::max(most_bytes_, bytes);
  const auto is_kept = [&](Id id) { return static_cast<std::size_t>(id) >= beginning_; };
  if (sweep_ == Sweep::Backwards) {
    next_ = entries_.data() + beginning_;
    calls_.resize(calls_of_beginning_);
    for (Id* id : kept) *id = push(0, 0);
    return;
  }
  go_forwards();
  out_.resize(kept.size() * slopes_.size() * width_);
  const std::size_t count = with_width(width_, [&](auto width) {
    // Out of the way first: new places may be old ones of others.
    constexpr std::size_t kWidth = width();
    std::size_t varying = 0;
    double* to = out_.data();
    for (Id* id : kept) {
      if (!is_kept(*id)) continue;  // of the beginning: it stays where it is
      const std::size_t place = static_cast<std::size_t>(*id) * kWidth;
      bool varies = false;
      double* next = to;
      for (const auto& slopes : slopes_)
        for (std::size_t k = 0; k < kWidth; ++k, ++next) {
          *next = slopes[place + k];
          varies |= *next != 0;
        }
      *id = varies ? static_cast<Id>(beginning_ + varying) : 0;
      if (!varies) continue;
      ++varying;
      to = next;
    }
    for (auto& slopes : slopes_)
      if (slopes.size() < (beginning_ + varying) * kWidth) slopes.resize((beginning_ + varying) * kWidth);
    const double* from = out_.data();
    for (std::size_t i = 0; i < varying; ++i)
      for (auto& slopes : slopes_)
        for (std::size_t k = 0; k < kWidth; ++k) slopes[(beginning_ + i) * kWidth + k] = *from++;
    return varying;
  });
  next_ = entries_.data() + beginning_;
  while (size() < beginning_ + count) push(0, 0);
  known_ = size();
}

double& Tape::Weights::operator[](Id id) {
  const auto i = static_cast<std::size_t>(id);
  if (i >= w_.size()) w_.resize(std::max(i + 1, w_.size() + w_.size() / 2), 0.0);
  return w_[i];
}

void Tape::backwards(Weights& weights, std::size_t from, std::size_t to) const {
  if (weights.w_.size() < from) weights.w_.resize(entries_.size(), 0.0);
  double* w = weights.w_.data();
  std::size_t call = calls_.size();
  while (call > 0 && calls_[call - 1].place >= from) --call;
  std::vector<double> in, out;
  std::size_t i = from;
  while (i > to) {
    const bool has_call = call > 0 && calls_[call - 1].place >= to;
    const std::size_t stop = has_call ? calls_[call - 1].place + calls_[call - 1].outputs : to;
    for (; i > stop; --i) {
      const double weight = w[i - 1];
      if (weight == 0) continue;
      const Entry& e = entries_[i - 1];
      if (e.a == 0 && e.b == 0) continue;  // independent: its weight is a result
      w[i - 1] = 0;
      w[e.a] += e.da * weight;
      w[e.b] += e.db * weight;
    }
    if (!has_call) break;
    const Call& c = calls_[--call];
    out.assign(w + c.place, w + c.place + c.outputs);
    std::fill_n(w + c.place, c.outputs, 0.0);
    i = c.place;
    if (std::all_of(out.begin(), out.end(), [](double x) { return x == 0; })) continue;
    in.assign(c.inputs.size(), 0.0);
    c.backwards(out.data(), in.data());
    for (std::size_t k = 0; k < in.size(); ++k) w[c.inputs[k]] += in[k];
  }
  w[0] = 0;
}

void Tape::backwards(Weights& weights, std::size_t state_numbers) const {
  backwards(weights, size(), beginning_ + state_numbers);
}

void Tape::backwards_through_beginning(Weights& weights) const { backwards(weights, beginning_, 1); }

}  // namespace liedyn
