// The live view without a browser: what a run gives to pages, what pages do to the run, and that the run waits for none of them.
#include "liedyn/io/live_view.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <thread>

#include "liedyn/analyses/run_output.h"
#include "liedyn/analyses/simulation.h"
#include "liedyn/io/live_feed.h"
#include "liedyn/io/load.h"
#include "liedyn/io/packed_array.h"
#include "liedyn/io/testing.h"

namespace liedyn {
namespace {

using LiveJson = nlohmann::json;
using test::Client;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// A wheel with the moment of inertia 1: the rate is initial + torque*t, as long as the torque is constant.
constexpr const char* kWheel = R"({ "liedyn": 1, "parameters": {"torque": 2, "initial": 1},
  "bodies": {"wheel": {"type": "rigid", "mass": 1, "inertia": [1, 1, 1], "angular_velocity": [0, 0, "initial"]}},
  "joints": {"axle": {"type": "revolute", "between": ["ground", "wheel"], "at": [0, 0, 0], "axis": [0, 0, 1]}},
  "forces": {"motor": {"type": "joint_effort", "joint": "axle", "effort": "torque"}},
  "sensors": {"rate": {"type": "joint_angle_rate", "of": "axle"}},
  "simulation": {"end": 2, "step": 1e-2} })";

class Live : public testing::Test {
 protected:
  Live() : folder_(std::filesystem::temp_directory_path() / fmt::format("liedyn_live_{}", getpid())) {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "template.html") << "<html><!--liedyn-scene--></html>";
    setenv("LIEDYN_VIEWER", (folder_ / "template.html").c_str(), 1);
  }
  ~Live() override {
    unsetenv("LIEDYN_VIEWER");
    std::filesystem::remove_all(folder_);
  }

 private:
  std::filesystem::path folder_;
};

// A page: reads the events of a view and sends commands.
class Page {
 public:
  explicit Page(const LiveView& view)
      : port_(std::stoi(view.address().substr(view.address().rfind(':') + 1))),
        token_(view.address().substr(view.address().find("token=") + 6)),
        client_(port_) {
    client_.send(fmt::format("GET /run?token={} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", token_, port_));
  }
  int post(const std::string& action, const std::string& body = "") const {
    const Client client(port_);
    client.send(
        fmt::format("POST /run/{} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer "
                    "{}\r\nContent-Length: {}\r\n\r\n{}",
                    action, port_, token_, body.size(), body));
    return std::stoi(client.read().substr(9, 3));
  }
  // The next event of this name; those before it are passed over.
  LiveJson next(const std::string& name) {
    for (;;) {
      const std::size_t end = text_.find("\n\n");
      if (end == std::string::npos) {
        const std::string more = client_.read("\n\n");
        if (more.find("(nothing more came)") != std::string::npos || more.empty()) return {};
        text_ += more;
        continue;
      }
      std::string event = text_.substr(0, end);
      text_.erase(0, end + 2);
      event.erase(0, event.find("event: "));
      const std::string head = fmt::format("event: {}\ndata: ", name);
      if (event.starts_with(head)) return LiveJson::parse(event.substr(head.size()));
    }
  }
  LiveJson next_state(const std::string& state) {
    for (;;)
      if (LiveJson status = next("status"); status.is_null() || status["state"] == state) return status;
  }

 private:
  int port_;
  std::string token_;
  Client client_;
  std::string text_;
};

std::vector<float> decoded(const std::string& base64) {
  std::vector<float> out;
  std::string bytes;
  unsigned bits = 0, count = 0;
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (const char c : base64) {
    if (c == '=') break;
    bits = bits << 6U | static_cast<unsigned>(digits.find(c));
    if (++count % 4 != 1) bytes += static_cast<char>(bits >> (6U - 2 * ((count - 1) % 4)) & 255U);
  }
  out.resize(bytes.size() / sizeof(float));
  std::memcpy(out.data(), bytes.data(), out.size() * sizeof(float));
  return out;
}

TEST_F(Live, ResultsAreTheSameBits) {
  struct Case {
    const char *model, *integrator;
    double end;
  };
  for (const auto& [model, integrator, end] : {Case{"heavy_top", "generalized-alpha", 0.1},
                                               {"slider_crank", "dopri5,adaptive=true,rtol=1e-6", 0.3},
                                               {"controlled_arm", "lms2", 0.2},
                                               {"slider_crank_flexible", "generalized-alpha", 0.002}}) {
    const System system = load(model);
    SimulateOptions options = default_options(system);
    options.integrator = integrator;
    options.end = end;
    const Result alone = simulate(system, options);
    LiveView view;
    const Client never_reads(
        [&] { return std::stoi(view.address().substr(view.address().rfind(':') + 1)); }());
    never_reads.send(fmt::format("GET /run?{} HTTP/1.1\r\nHost: {}\r\n\r\n",
                                 view.address().substr(view.address().find("token=")),
                                 view.address().substr(7, view.address().find("/?") - 7)));
    const Result watched = simulate(system, options, {.companion = &view});
    ASSERT_EQ(alone.trajectory.data.size(), watched.trajectory.data.size()) << model;
    EXPECT_EQ(std::memcmp(alone.trajectory.data.data(), watched.trajectory.data.data(),
                          alone.trajectory.data.size() * sizeof(double)),
              0)
        << model;
    EXPECT_EQ(alone.summary.steps, watched.summary.steps) << model;
    EXPECT_EQ(alone.summary.warnings, watched.summary.warnings) << model;
  }
}

TEST_F(Live, APageSeesTheMotionWheneverItIsOpened) {
  const System system = load_text(kWheel);
  LiveView view;
  const Result result = simulate(system, default_options(system), {.companion = &view});
  view.finish(result);
  for (int visit = 0; visit < 2; ++visit) {
    Page page(view);
    const LiveJson scene = page.next("scene");
    EXPECT_EQ(scene["format"], "liedyn scene 1");
    EXPECT_THAT(scene["frames"], ElementsAre("wheel"));
    std::vector<double> times;
    std::vector<float> last;
    while (times.empty() || times.back() < 2) {
      const LiveJson rows = page.next("rows");
      ASSERT_FALSE(rows.is_null());
      for (const double t : rows["times"]) {
        EXPECT_GT(t, times.empty() ? 0 : times.back());
        times.push_back(t);
      }
      last = decoded(rows["rows"]);
    }
    // Position, quaternion, and the sensor: 1 + 2 t. Then the angle, t + t^2, the reaction, and what the motor exerts.
    constexpr std::size_t kWidth = 8 + 1 + 6 + 6;
    ASSERT_GE(last.size(), kWidth);
    EXPECT_EQ(last.size() % kWidth, 0U);
    const float* row = last.data() + last.size() - kWidth;
    EXPECT_NEAR(std::abs(row[3]), std::abs(std::cos(3.0)), 1e-5);
    EXPECT_NEAR(std::abs(row[6]), std::abs(std::sin(3.0)), 1e-5);
    EXPECT_NEAR(row[7], 5, 1e-5);
    EXPECT_NEAR(row[8], 6, 1e-5);
    for (std::size_t i = 9; i < 20; ++i) EXPECT_NEAR(row[i], 0, 1e-9);
    EXPECT_NEAR(row[20], 2, 1e-6);
    const LiveJson end = page.next("end");
    EXPECT_THAT(end["message"].get<std::string>(), HasSubstr("finished at 2 s"));
    EXPECT_EQ(end["summary"]["completed"], true);
    EXPECT_NEAR(end["largest"]["applied_torque"], 2, 1e-6);
  }
}

// Rows have what beams are coloured by.
TEST_F(Live, RowsHaveTheForcesInBeams) {
  const System system = load_text(R"({ "liedyn": 1, "gravity": [0, 0, 0],
    "beams": {"beam": {"type": "stiffness", "from": [0, 0, 0], "to": [1, 0, 0], "elements": 2, "axial_stiffness": 1e4, "shear_stiffness_y": 1e4, "shear_stiffness_z": 1e4,
      "torsional_stiffness": 10, "bending_stiffness_y": 10, "bending_stiffness_z": 10, "mass_per_length": 1, "inertia_per_length": [0.02, 0.01, 0.01], "angular_velocity_inertial": [0, 0, 3]}},
    "joints": {"axle": {"type": "revolute", "between": ["ground", "beam.start"], "at": [0, 0, 0], "axis": [0, 0, 1]}},
    "simulation": {"end": 0.1, "step": 1e-3} })");
  LiveView view;
  view.finish(simulate(system, default_options(system), {.companion = &view}));
  Page page(view);
  const LiveJson scene = page.next("scene");
  std::vector<float> rows;
  std::vector<double> times;
  while (times.empty() || times.back() < 0.1 - 1e-9) {
    const LiveJson event = page.next("rows");
    ASSERT_FALSE(event.is_null());
    for (const double t : event["times"]) times.push_back(t);
    rows = decoded(event["rows"]);
  }
  // Three nodes with positions and quaternions, then N, Q, Q, T, M, M, |Gamma|, |kappa| of the nodes, then axle: angle, rate, force, torque.
  constexpr std::size_t kWidth = 3 * 7 + 8 * 3 + 8;
  ASSERT_EQ(rows.size() % kWidth, 0U);
  const float* forces = rows.data() + rows.size() - kWidth + 21;
  for (std::size_t node = 0; node < 3; ++node) {
    EXPECT_GT(forces[node], 0) << "it is stretched";
    EXPECT_NEAR(forces[18 + node], std::hypot(forces[node], forces[3 + node], forces[6 + node]) / 1e4, 1e-6);
  }
}

TEST_F(Live, SlidersAreForWhatMayChange) {
  LiveView view;
  const System system = load_text(kWheel);
  const std::future<Result> run = std::async(
      std::launch::async, [&] { return simulate(system, default_options(system), {.companion = &view}); });
  Page page(view);
  const LiveJson inputs = page.next("scene")["live"]["inputs"];
  std::vector<std::string> names;
  for (const LiveJson& input : inputs) names.push_back(input["name"]);
  EXPECT_THAT(names, ElementsAre("torque")) << "no initial value";
  EXPECT_EQ(inputs[0]["min"], 0);
  EXPECT_EQ(inputs[0]["max"], 4);
}

TEST_F(Live, PauseStepSetAndStopActOnTheRun) {
  LiveOptions live{.pace = 1, .paused = true};
  LiveView view(live);
  const System system = load_text(kWheel);
  SimulateOptions options = default_options(system);
  options.end = 1e5;  // seconds of computing, so that it is not over before it is stopped
  std::future<Result> run =
      std::async(std::launch::async, [&] { return simulate(system, options, {.companion = &view}); });
  Page page(view);
  LiveJson status = page.next_state("paused");
  EXPECT_EQ(status["t"], 0);
  EXPECT_EQ(page.post("step"), 204);
  EXPECT_NEAR(page.next("rows")["times"][0].get<double>(), 0.01, 1e-12) << "one step";
  // It stays there, whatever happens meanwhile.
  EXPECT_EQ(page.post("set", R"({"name": "torque", "value": 50})"), 204);
  do status = page.next("status");
  while (!status.is_null() && status["values"]["torque"] != 50);
  EXPECT_NEAR(status["t"].get<double>(), 0.01, 1e-12);
  EXPECT_EQ(status["refused"], "");
  EXPECT_EQ(page.post("set", R"({"name": "bodies.wheel.position[0]", "value": 2})"), 204);
  do status = page.next("status");
  while (!status.is_null() && status["refused"] == "");
  EXPECT_THAT(status["refused"].get<std::string>(), HasSubstr("initial value"));
  EXPECT_EQ(page.post("set", R"({"name": "torque", "value": 7})"), 204);
  EXPECT_EQ(page.post("pace", R"({"value": 0})"), 204);
  EXPECT_EQ(page.post("resume"), 204);
  const auto is_over = [&] { return run.wait_for(std::chrono::seconds(0)) == std::future_status::ready; };
  while (!status.is_null() && !is_over() && (status["state"] != "running" || status["t"] < 1))
    status = page.next("status");
  EXPECT_EQ(page.post("stop"), 204);
  const Result result = run.get();
  EXPECT_TRUE(result.summary.interrupted);
  EXPECT_LT(result.summary.end, 1e5);
  // rate(t) = 1 + 2*0.01 + 7 (t - 0.01)
  const Trajectory& t = result.trajectory;
  ASSERT_GT(t.rows(), 100U);
  for (const std::size_t row : {std::size_t{1}, std::size_t{50}, t.rows() - 1})
    EXPECT_NEAR(t.at(row, 1), 1.02 + 7 * (t.time(row) - 0.01), 1e-9 * t.at(row, 1)) << t.time(row);
  EXPECT_THAT(result.summary.warnings, testing::Contains(HasSubstr("torque = 7 at t = 0.01")));
}

TEST_F(Live, RefusesCommandsThatAreNone) {
  const LiveView view;
  const Page page(view);
  for (const auto& [action, body, code] : {std::tuple{"dance", "", 404},
                                           {"set", "", 400},
                                           {"set", "{", 400},
                                           {"set", "[]", 400},
                                           {"set", R"({"name": "a"})", 400},
                                           {"set", R"({"name": 1, "value": 1})", 400},
                                           {"set", R"({"name": "a", "value": 1e999})", 400},
                                           {"pace", R"({"value": -1})", 400},
                                           {"pace", R"({"value": "fast"})", 400}})
    EXPECT_EQ(page.post(action, body), code) << action << body;
}

TEST_F(Live, PaceIsThatOfTheClock) {
  LiveView view(LiveOptions{.pace = 4});
  const System system = load_text(kWheel);
  const auto start = std::chrono::steady_clock::now();
  simulate(system, default_options(system), {.companion = &view});
  EXPECT_GE(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 0.45);
}

TEST_F(Live, FollowsASimulationThatIsSetBack) {
  Simulation simulation(load_text(kWheel));
  LiveView view;
  simulation.set_companion(&view);
  simulation.advance(0.1);
  const std::string checkpoint = simulation.save();
  simulation.step();
  Page page(view);
  EXPECT_EQ(page.next("scene")["title"], "");
  simulation.restore(checkpoint);
  simulation.advance(0.05);
  const LiveJson scene = page.next("scene");
  ASSERT_FALSE(scene.is_null());
  simulation.step(3);
  EXPECT_NEAR(simulation.time(), 0.18, 1e-12);
  simulation.set_companion(nullptr);
}

// Also between two rows: with a pace, rows follow the clock, and these few steps take much less than a picture lasts.
TEST_F(Live, NoticesThatASimulationIsSetBackToATimeAfterTheLastRow) {
  Simulation simulation(load_text(kWheel));
  LiveView view(LiveOptions{.pace = 1e6});
  simulation.set_companion(&view);
  simulation.step(2);
  const std::string checkpoint = simulation.save();
  simulation.step(2);
  simulation.restore(checkpoint);
  simulation.step();
  simulation.set_companion(nullptr);
  Page page(view);
  const nlohmann::ordered_json times = page.next("scene")["times"];
  EXPECT_EQ(unpack_array(times, "times"), std::vector<double>{0.02});
}

TEST_F(Live, WrongOptionsAreErrors) {
  EXPECT_THROW(LiveView(LiveOptions{.pace = -1}), InputError);
  EXPECT_EQ(live_slider("a.b[0]").path, "a.b[0]");
  EXPECT_EQ(live_slider("a=-1,2.5").low, -1);
  EXPECT_EQ(live_slider("a=-1,2.5").high, 2.5);
  for (const char* text : {"a=", "a=1", "a=1,", "a=2,1", "a=1,2,3", "a=x,y", "a=nan,1"})
    EXPECT_THROW(live_slider(text), InputError) << text;
  const System system = load_text(kWheel);
  for (const char* path : {"nothing", "bodies.wheel.position[0]"}) {
    LiveView view(LiveOptions{.sliders = {{"", path, {}, {}}}});
    EXPECT_THROW(simulate(system, default_options(system), {.companion = &view}), InputError) << path;
  }
}

TEST(LiveFeed, KeepsTheWholeMotionInLimitedMemory) {
  const auto feed = std::make_shared<LiveFeed>();
  LiveFeed::Reader early(feed), late(feed);
  EXPECT_EQ(early.next(), "");
  feed->open("{}", 0, 1);
  EXPECT_EQ(early.next(), "event: scene\ndata: {}\n\n");
  constexpr int kRows = 100000;
  std::vector<double> seen;
  const auto collect = [](LiveFeed::Reader& reader, std::vector<double>& times) {
    for (std::string text = reader.next(); !text.empty(); text = reader.next()) {
      const std::size_t rows = text.find("event: rows\ndata: ");
      if (rows == std::string::npos) continue;
      const std::string data = text.substr(rows + 18);
      const LiveJson json = LiveJson::parse(data.substr(0, data.find("\n\n")));
      std::vector<float> values = decoded(json["rows"]);
      ASSERT_EQ(values.size(), json["times"].size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        EXPECT_EQ(values[i], static_cast<float>(json["times"][i].get<double>()));
        times.push_back(json["times"][i]);
      }
    }
  };
  for (int i = 1; i <= kRows; ++i) {
    const auto value = static_cast<float>(i);
    feed->add(i, {&value, 1});
    if (i % 50 == 0) collect(early, seen);
  }
  feed->flush();
  collect(early, seen);
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(kRows)) << "who keeps up misses nothing";
  std::vector<double> thinned;
  collect(late, thinned);
  EXPECT_LT(thinned.size(), 5000U);
  EXPECT_GT(thinned.size(), 1000U);
  EXPECT_TRUE(std::is_sorted(thinned.begin(), thinned.end()));
  EXPECT_EQ(thinned.back(), kRows);
  double largest_gap = thinned.front();
  for (std::size_t i = 1; i < thinned.size(); ++i)
    largest_gap = std::max(largest_gap, thinned[i] - thinned[i - 1]);
  EXPECT_LE(largest_gap, 64) << "evenly over all times";
}

TEST(LiveFeed, TheWriterNeverWaits) {
  // A reader that copies all the time, and rows of a large model: whatever the lock does, adding rows ends.
  const auto feed = std::make_shared<LiveFeed>();
  constexpr std::size_t kWidth = 7000;
  feed->open("{}", 0, kWidth);
  std::atomic<bool> over = false;
  std::thread reader([&] {
    while (!over) {
      LiveFeed::Reader one(feed);
      for (int i = 0; i < 20 && !over; ++i) one.next();
    }
  });
  const std::vector<float> row(kWidth, 1);
  for (int i = 1; i <= 2000; ++i) feed->add(i, row);
  feed->end("{}");
  over = true;
  reader.join();
  LiveFeed::Reader last(feed);
  std::string all;
  for (std::string text = last.next(); !text.empty(); text = last.next()) all = text;
  EXPECT_THAT(all, HasSubstr("2000]"));
  EXPECT_THAT(all, HasSubstr("event: end"));
}

}  // namespace
}  // namespace liedyn
