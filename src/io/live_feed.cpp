#include "liedyn/io/live_feed.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "liedyn/io/packed_array.h"

namespace liedyn {
namespace {

constexpr std::size_t kMostNumbers = 16'000'000;    // of the history, 64 MB
constexpr std::size_t kMostRows = 4000;             // of the history
constexpr std::size_t kRecentRows = 256;            // at least, if they are small
constexpr std::size_t kRecentNumbers = 1'000'000;   // at least one row
constexpr std::size_t kNumbersAtOnce = 128 * 1024;  // per event: copied under the lock
constexpr std::size_t kWaitingRows = 64;

std::ptrdiff_t offset(std::size_t n) { return static_cast<std::ptrdiff_t>(n); }

}  // namespace

void LiveFeed::Rows::add(double t, std::span<const float> row) {
  times.push_back(t);
  data.insert(data.end(), row.begin(), row.end());
}

void LiveFeed::Rows::copy_after(double t, std::size_t width, std::size_t most, Rows& out) const {
  const auto first =
      static_cast<std::size_t>(std::upper_bound(times.begin(), times.end(), t) - times.begin());
  const std::size_t room = most / std::max<std::size_t>(1, width) + 1;
  const std::size_t count = std::min(times.size() - first, room - std::min(room, out.times.size()));
  out.times.insert(out.times.end(), times.begin() + offset(first), times.begin() + offset(first + count));
  out.data.insert(out.data.end(), data.begin() + offset(first * width),
                  data.begin() + offset((first + count) * width));
}

void LiveFeed::open(std::string scene, double t, std::size_t width) {
  const std::scoped_lock lock(mutex_);
  scene_ = std::make_shared<const std::string>(std::move(scene));
  ++scene_count_;
  width_ = width;
  limit_ = std::clamp(kMostNumbers / std::max<std::size_t>(1, width), std::size_t{2}, kMostRows);
  history_ = recent_ = waiting_ = {};
  count_ = 0;
  stride_ = 1;
  // The scene has the first state.
  history_.times.push_back(t);
  history_.data.resize(width);
}

void LiveFeed::add(double t, std::span<const float> row) {
  waiting_.add(t, row);
  if (try_hand_over() || waiting_.times.size() < kWaitingRows) return;
  // A reader that holds on for so long has to do with the last one.
  waiting_ = {};
  waiting_.add(t, row);
}

void LiveFeed::set_status(std::string status) {
  waiting_status_ = std::move(status);
  try_hand_over();
}

void LiveFeed::flush() {
  if (!waiting_.times.empty() || waiting_status_) try_hand_over();
}

bool LiveFeed::try_hand_over() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return false;
  for (std::size_t i = 0; i < waiting_.times.size(); ++i)
    keep(waiting_.times[i], {waiting_.data.data() + i * width_, width_});
  waiting_.times.clear();
  waiting_.data.clear();
  if (waiting_status_) {
    status_ = std::move(*waiting_status_);
    waiting_status_.reset();
    ++status_count_;
  }
  return true;
}

void LiveFeed::keep(double t, std::span<const float> row) {
  recent_.add(t, row);
  const std::size_t kept =
      std::clamp(kRecentNumbers / std::max<std::size_t>(1, width_), std::size_t{1}, kRecentRows);
  if (recent_.times.size() >= 2 * kept) {
    const std::size_t old = recent_.times.size() - kept;
    recent_.times.erase(recent_.times.begin(), recent_.times.begin() + offset(old));
    recent_.data.erase(recent_.data.begin(), recent_.data.begin() + offset(old * width_));
  }
  if (++count_ % stride_ != 0) return;
  history_.add(t, row);
  if (history_.times.size() <= limit_) return;
  // Every second one from now on. The rows of multiples of the stride stay, and the first.
  std::size_t rows = 1;
  for (std::size_t i = 2; i < history_.times.size(); i += 2, ++rows) {
    history_.times[rows] = history_.times[i];
    std::copy_n(history_.data.begin() + offset(i * width_), width_,
                history_.data.begin() + offset(rows * width_));
  }
  history_.times.resize(rows);
  history_.data.resize(rows * width_);
  stride_ *= 2;
}

void LiveFeed::end(std::string end) {
  const std::scoped_lock lock(mutex_);
  for (std::size_t i = 0; i < waiting_.times.size(); ++i)
    keep(waiting_.times[i], {waiting_.data.data() + i * width_, width_});
  waiting_ = {};
  end_ = std::move(end);
}

bool LiveFeed::end_was_read() const {
  const std::scoped_lock lock(mutex_);
  return end_.empty() || end_was_read_;
}

std::string LiveFeed::Reader::next() {
  std::shared_ptr<const std::string> scene;
  std::string status, end;
  Rows rows;
  {
    LiveFeed& feed = *feed_;
    const std::scoped_lock lock(feed.mutex_);
    if (scene_ != feed.scene_count_) {
      scene_ = feed.scene_count_;
      scene = feed.scene_;
      time_ = feed.history_.times.front();
    }
    if (scene_ > 0) {
      // What is no longer among the latest comes from the history.
      if (!feed.recent_.times.empty() && time_ < feed.recent_.times.front()) {
        feed.history_.copy_after(time_, feed.width_, kNumbersAtOnce, rows);
        while (!rows.times.empty() && rows.times.back() >= feed.recent_.times.front()) {
          rows.times.pop_back();
          rows.data.resize(rows.data.size() - feed.width_);
        }
      }
      if (rows.times.empty() || rows.times.size() * feed.width_ < kNumbersAtOnce)
        feed.recent_.copy_after(rows.times.empty() ? time_ : rows.times.back(), feed.width_, kNumbersAtOnce,
                                rows);
      if (!rows.times.empty()) time_ = rows.times.back();
    }
    if (status_ != feed.status_count_) {
      status_ = feed.status_count_;
      status = feed.status_;
    }
    const bool all = feed.recent_.times.empty() || time_ >= feed.recent_.times.back();
    if (!ended_ && all && !feed.end_.empty()) {
      ended_ = feed.end_was_read_ = true;
      end = feed.end_;
    }
  }
  std::string out;
  const auto add = [&](const char* name, const std::string& json) {
    out += fmt::format("event: {}\ndata: {}\n\n", name, json);
  };
  if (scene) add("scene", *scene);
  if (!rows.times.empty()) {
    static_assert(std::endian::native == std::endian::little, "numbers of scenes are little-endian");
    const std::string_view bytes(reinterpret_cast<const char*>(rows.data.data()),
                                 rows.data.size() * sizeof(float));
    add("rows", fmt::format(R"({{"times":[{}],"rows":"{}"}})", fmt::join(rows.times, ","), to_base64(bytes)));
  }
  if (!status.empty()) add("status", status);
  if (!end.empty()) add("end", end);
  return out;
}

}  // namespace liedyn
