#include "progress.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

namespace liedyn::cli {
namespace {

constexpr auto kPatience = std::chrono::seconds(1);  // shorter runs show no bar
constexpr auto kPause = std::chrono::milliseconds(100);
constexpr int kWidth = 40;

constexpr int kSignals[] = {SIGINT, SIGTERM};  // Ctrl-C, and what batch queues send

volatile std::sig_atomic_t stop_requested = 0;
timespec first_request;

// The first one lets the step finish and the output be written; a later one ends the program. `timeout` and shells send one to the program and
// one to its group: what comes at once is the same request.
void request_stop(int signal) {
  constexpr double kAtOnce = 0.5;  // s
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (stop_requested == 0) {
    first_request = now;
    stop_requested = 1;
    return;
  }
  const double since = static_cast<double>(now.tv_sec - first_request.tv_sec) +
                       1e-9 * static_cast<double>(now.tv_nsec - first_request.tv_nsec);
  if (since < kAtOnce) return;
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

Progress::Progress()
    : start_(Clock::now()), next_draw_(start_ + kPatience), on_terminal_(isatty(STDERR_FILENO) != 0) {
  for (const int signal : kSignals) std::signal(signal, &request_stop);
}

Progress::~Progress() {
  // What a run leaves that was stopped is still to be written.
  if (stop_requested == 0)
    for (const int signal : kSignals) std::signal(signal, SIG_DFL);
  if (drawn_) std::fputs("\r\x1b[K", stderr);
}

bool Progress::goes_on() const { return stop_requested == 0; }

bool Progress::operator()(double fraction, std::string_view text) {
  if (stop_requested != 0) return false;
  if (!on_terminal_) return true;
  const auto now = Clock::now();
  if (now >= next_draw_) draw(fraction, text, now);
  return true;
}

void Progress::draw(double fraction, std::string_view text, Clock::time_point now) {
  next_draw_ = now + kPause;
  drawn_ = true;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double left = fraction > 0 ? elapsed * (1 - fraction) / fraction : 0;
  const auto filled = static_cast<std::size_t>(std::clamp(fraction, 0.0, 1.0) * kWidth);
  const std::string bar = std::string(filled, '#') + std::string(kWidth - filled, '.');
  fmt::print(stderr, "\r[{}] {:3.0f} %{}{}, {:.0f} s left\x1b[K", bar, 100 * fraction,
             text.empty() ? "" : ", ", text, left);
  std::fflush(stderr);
}

}  // namespace liedyn::cli
