// A page that shows a simulation while it runs, and steers it: pause, single steps, stop, pace, sliders for parameters.
//
// Three sides: the thread of the simulation gives rows of numbers and takes commands, the feed keeps what pages need, and the thread of the server reads it for each
// page. The simulation waits for nobody unless a user wants it to (pause, pace): rows go into memory of limited size, and a page that is slow gets fewer of them.
// Without commands the results are the same bits as without a view.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "liedyn/analyses/companion.h"
#include "liedyn/analyses/result.h"

namespace liedyn {

// A slider of the page for a parameter.
struct LiveSlider {
  std::string name;  // what the page shows; empty: the path
  std::string path;
  std::optional<double> low, high;  // not given: from zero to twice the value
};

struct LiveOptions {
  double pace = 0;  // simulated seconds per second; 0: as fast as the machine allows
  bool paused = false;
  // Empty: the parameters of the model that may change during a run, and the loads and coefficients of its forces.
  std::vector<LiveSlider> sliders = {};
};

// "u" or "u=-1,1". Throws InputError.
LiveSlider live_slider(const std::string& text);

class LiveView final : public Companion {
 public:
  // Starts the server. Throws InputError if there is no page, or no port.
  explicit LiveView(LiveOptions options = {});
  ~LiveView() override;
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;

  const std::string& address() const;
  int pages() const;  // that are open now
  bool was_opened() const;
  bool was_stopped() const;  // by a page

  // Shows the state as it is, before any step. Throws InputError if a slider is for something that cannot change during the run.
  void open(Simulation& simulation);
  // Asked now and then while the simulation waits: false ends the wait and the run. Empty: always true.
  void set_go_on(std::function<bool()> go_on);
  // Tells the pages that nothing follows, and why.
  void finish(const std::string& message);
  void finish(const Result& result);

  Wish look(Simulation& simulation) override;
  void act(Simulation& simulation) override;
  void end(Simulation& simulation) override;
  std::vector<std::string> warnings() const override;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace liedyn
