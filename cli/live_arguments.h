// Arguments of runs that are shown while they go on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "liedyn/io/live_view.h"

namespace liedyn::cli {

// --view, --pace, --slider, --paused and --no-open: a page that shows the run while it goes on.
struct LiveArguments {
  bool view = false, paused = false, no_open = false;
  double pace = 0;
  std::vector<std::string> sliders;

  void add_to(CLI::App& command);
  // The page, its address on standard error and in a browser; null if none is wanted. Throws InputError.
  std::unique_ptr<LiveView> open() const;
  // After all output: until the last page is closed, or Ctrl-C. Without a terminal it waits only for pages that are open.
  void wait(const LiveView& view) const;

 private:
  mutable bool has_browser_ = false;
};

}  // namespace liedyn::cli
