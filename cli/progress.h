// A progress bar on standard error, for long runs that a person watches, and the wish to stop (Ctrl-C).
#pragma once

#include <chrono>
#include <string_view>

namespace liedyn::cli {

class Progress {
 public:
  Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();  // removes the bar

  // Shows how far the run is, now and then. False: the user wants to stop.
  bool operator()(double fraction, std::string_view text = {});  // what is said beside the bar
  // False: the user wants to stop.
  bool goes_on() const;

 private:
  using Clock = std::chrono::steady_clock;
  void draw(double fraction, std::string_view text, Clock::time_point now);

  Clock::time_point start_;
  Clock::time_point next_draw_;
  bool on_terminal_;
  bool drawn_ = false;
};

}  // namespace liedyn::cli
