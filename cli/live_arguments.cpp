#include "live_arguments.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "liedyn/base/error.h"
#include "progress.h"
#include "python_program.h"

namespace liedyn::cli {

void LiveArguments::add_to(CLI::App& command) {
  command.add_flag("--view", view,
                   "Show the run live in a browser of this machine, with buttons to pause, step and stop it, "
                   "and sliders for parameters");
  command
      .add_option(
          "--pace", pace,
          "With --view: simulated seconds per second. 1 is real time, 0 (the default) as fast as possible")
      ->type_name("FACTOR");
  command
      .add_option(
          "--slider", sliders,
          "With --view: a slider for this parameter, from LOW to HIGH (0 to twice its value if not given). "
          "May be repeated; without it the page has sliders for parameters and forces of the model")
      ->type_name("PATH[=LOW,HIGH]");
  command.add_flag("--paused", paused,
                   "With --view: wait before the first step until the page starts the run");
  command.add_flag("--no-open", no_open,
                   "With --view: print the address of the page, and do not open a browser");
}

std::unique_ptr<LiveView> LiveArguments::open() const {
  if (!view) {
    for (const auto& [given, name] : {std::pair{pace != 0, "--pace"},
                                      {!sliders.empty(), "--slider"},
                                      {paused, "--paused"},
                                      {no_open, "--no-open"}})
      if (given) throw InputError(name, "needs --view");
    return nullptr;
  }
  LiveOptions options{.pace = pace, .paused = paused};
  for (const std::string& text : sliders) options.sliders.push_back(live_slider(text));
  auto out = std::make_unique<LiveView>(std::move(options));
  // Standard output may be read by a program (--json).
  fmt::print(stderr, "The run is shown at {}\n", out->address());
  if (!no_open && has_display()) has_browser_ = open_in_browser(out->address());
  return out;
}

void LiveArguments::wait(const LiveView& page) const {
  using Clock = std::chrono::steady_clock;
  using std::chrono::milliseconds, std::chrono::seconds;
  const bool is_watched = isatty(STDIN_FILENO) != 0 && isatty(STDERR_FILENO) != 0;
  // For a browser that is starting, and for a page that is loaded again.
  const auto start = Clock::now() + (has_browser_ ? seconds(15) : seconds(0));
  auto last_seen = Clock::now() - seconds(10);
  Progress signals;
  if (is_watched || page.pages() > 0)
    fmt::print(stderr, "The page stays until it is closed, or until Ctrl-C.\n");
  while (signals.goes_on()) {
    const auto now = Clock::now();
    if (page.pages() > 0) last_seen = now;
    const bool is_open = now - last_seen < seconds(2);
    const bool is_expected = !page.was_opened() && (is_watched || now < start);
    if (!is_open && !is_expected) break;
    std::this_thread::sleep_for(milliseconds(50));
  }
}

}  // namespace liedyn::cli
