// A progress bar on standard error, for long runs that a person watches, and the wish to stop (Ctrl-C).
#pragma once

#include <chrono>

namespace liedyn::cli {

class Progress {
 public:
  Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();  // removes the bar

  // Shows how far the run is, now and then. False: the user wants to stop.
  bool operator()(double fraction);
  // The same without a bar, while the run waits.
  bool go_on() const;

 private:
  using Clock = std::chrono::steady_clock;
  void draw(double fraction, Clock::time_point now);

  Clock::time_point start_;
  Clock::time_point next_draw_;
  bool on_terminal_;
  bool drawn_ = false;
};

}  // namespace liedyn::cli
