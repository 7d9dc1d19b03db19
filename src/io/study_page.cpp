#include "liedyn/io/study_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "liedyn/base/error.h"
#include "liedyn/base/paths.h"
#include "liedyn/io/json.h"
#include "liedyn/io/packed_array.h"
#include "liedyn/io/scene_page.h"
#include "liedyn/io/write_scene.h"

namespace liedyn {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kStudyMark = "<!--liedyn-study-->";
constexpr std::uint64_t kMostShownCases = 200000;

// It is installed beside the page of the 3D view.
std::string study_template() {
  const std::optional<std::filesystem::path> viewer = find_viewer();
  const std::filesystem::path file = viewer ? viewer->parent_path() / "study.html" : "study.html";
  std::error_code error;
  if (!viewer || !std::filesystem::exists(file, error))
    throw InputError(
        "", "the page of studies (share/liedyn/study.html) does not exist: it was not built or not installed",
        "build it: cmake --build BUILD --target liedyn_viewer (needs node and npm)");
  std::string text = read_text_file(file.string());
  if (text.find(kStudyMark) == std::string::npos)
    throw InputError(file.string(),
                     fmt::format("is not a template of a study: expected '{}' in it", kStudyMark));
  return text;
}

void check_count(std::uint64_t cases) {
  if (cases > kMostShownCases)
    throw InputError("--html",
                     fmt::format("expected a study of at most {} cases, got {}: a browser cannot show more",
                                 kMostShownCases, cases),
                     "read the store in Python: liedyn.load_study(STORE)");
}

// A word as shells of Unix take it.
std::string word(const std::string& text) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_.=+:/,@%-").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string assignment(const std::string& path, double value) {
  return " --set " + word(fmt::format("{}={}", path, value));
}

std::string run_command(const SweepVariant& v) {
  const Description& description = v.system.model().description();
  const SimulateOptions usual = default_options(description);
  std::string out = fmt::format("liedyn run {} --formulation {} --integrator {}",
                                word(description.file.empty() ? v.model : description.file),
                                word(v.formulation), word(v.integrator));
  if (v.options.start != usual.start) out += fmt::format(" --start {}", v.options.start);
  out += fmt::format(" --step {} --end {}", v.options.step, v.options.end);
  if (v.options.initial != usual.initial) out += " --initial " + word(v.options.initial);
  for (const auto& [path, value] : v.system.params().assigned()) out += assignment(path, value);
  return out;
}

// Ranges in equal ratios are drawn so.
bool is_logarithmic(const Json& study, const std::string& name) {
  const auto parameters = study.find("parameters");
  if (parameters == study.end() || !parameters->is_object()) return false;
  const auto given = parameters->find(name);
  if (given == parameters->end() || !given->is_object()) return false;
  return given->value("distribution", "") == "log-uniform" || given->value("spacing", "") == "log";
}

Json column(const std::string& name, const std::string& unit, const char* kind,
            const std::vector<double>& values) {
  return {{"name", name}, {"unit", unit}, {"kind", kind}, {"values", pack_array(values, {values.size()})}};
}

std::string script_element(const std::string& id, const std::string& json) {
  return fmt::format("<script type=\"application/json\" id=\"{}\">{}</script>\n", id, embedded(json));
}

}  // namespace

std::string run_command(const SweepPlan& plan, std::uint64_t index) {
  std::string out = run_command(plan.variant(index));
  const std::vector<double> values = plan.values(index);
  for (std::size_t i = 0; i < values.size(); ++i)
    for (const std::string& path : plan.variables[i].parameters) out += assignment(path, values[i]);
  return out;
}

std::vector<std::string> run_commands(const SweepPlan& plan) {
  std::vector<std::string> out;
  for (const SweepVariant& v : plan.variants) out.push_back(run_command(v));
  return out;
}

std::vector<std::string> run_commands(const std::string& layout) {
  const Json content = Json::parse(layout);
  const Json& study = content.at("study");
  std::string rest;
  if (const auto simulation = study.find("simulation"); simulation != study.end())
    for (const char* key : {"start", "step", "end", "initial"})
      if (const auto found = simulation->find(key); found != simulation->end())
        rest += fmt::format(
            " --{} {}", key,
            found->is_string() ? word(found->get<std::string>()) : fmt::format("{}", found->get<double>()));
  if (const auto set = study.find("set"); set != study.end())
    for (const auto& [path, value] : set->items()) rest += assignment(path, value.get<double>());
  std::vector<std::string> out;
  for (const Json& v : content.at("variants"))
    out.push_back(fmt::format(
        "liedyn run {} --formulation {} --integrator {}{}", word(v.at("model").get<std::string>()),
        word(v.at("formulation").get<std::string>()), word(v.at("integrator").get<std::string>()), rest));
  return out;
}

std::vector<std::uint64_t> cases_to_show(const SweepTable& table, const std::vector<std::uint64_t>& kept,
                                         std::uint64_t spread) {
  std::set<std::uint64_t> out;
  for (const std::uint64_t index : kept) {
    const CaseStatus status = table.status[static_cast<std::size_t>(index)];
    if (status == CaseStatus::Completed || status == CaseStatus::Failed) out.insert(index);
  }
  if (spread == 0 || table.outputs.empty()) return {out.begin(), out.end()};
  const std::vector<double>& values = table.outputs.front();
  std::vector<std::uint64_t> order;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (table.status[i] == CaseStatus::Completed && std::isfinite(values[i])) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::uint64_t a, std::uint64_t b) {
    return values[static_cast<std::size_t>(a)] < values[static_cast<std::size_t>(b)];
  });
  if (spread >= order.size()) {
    out.insert(order.begin(), order.end());
  } else {
    const double last = static_cast<double>(order.size() - 1);
    for (std::uint64_t k = 0; k < spread; ++k) {
      const double part = spread == 1 ? 0.5 : static_cast<double>(k) / static_cast<double>(spread - 1);
      out.insert(order[static_cast<std::size_t>(std::lround(part * last))]);
    }
  }
  return {out.begin(), out.end()};
}

std::string case_scene(const SweepPlan& plan, std::uint64_t index, const std::function<bool()>& goes_on) {
  try {
    auto [system, options] = case_system(plan, index);
    SceneWriter writer;
    options.recorded = [&](const System& simulated, const State& state) { writer.add(simulated, state); };
    options.progress = [&](double) { return goes_on(); };
    const Result result = simulate(system, options);
    return goes_on() ? writer.finish(result) : "";
  } catch (const NumericalError&) {
    return {};  // it fails before its first state
  }
}

void check_study_page(const std::string& file, std::uint64_t cases) {
  check_count(cases);
  study_template();
  check_page_output(file);
}

std::string study_page(const SweepTable& table, const std::string& name,
                       const std::vector<std::string>& commands, const std::vector<StudyScene>& scenes) {
  const std::size_t cases = table.status.size();
  check_count(cases);
  std::string text = study_template();
  const Json layout = Json::parse(table.layout);
  const Json& study = layout.at("study");

  Json variants = layout.at("variants");
  for (std::size_t i = 0; i < variants.size(); ++i) variants[i]["command"] = commands.at(i);

  Json columns = Json::array();
  for (std::size_t i = 0; i < table.variables.size(); ++i) {
    const Json& v = layout.at("parameters").at(i);
    const auto own = v.at("name").get<std::string>();
    Json c = column(own, v.at("unit").get<std::string>(), "parameter", table.variables[i]);
    c["paths"] = v.at("parameters");
    if (is_logarithmic(study, own)) c["scale"] = "log";
    columns.push_back(std::move(c));
  }
  std::size_t next = 0;
  for (const Json& o : layout.at("outputs")) {
    const auto width = o.at("width").get<std::size_t>();
    for (std::size_t k = 0; k < width; ++k) {
      const auto own = o.at("name").get<std::string>();
      columns.push_back(column(width == 1 ? own : fmt::format("{}[{}]", own, k),
                               o.at("unit").get<std::string>(), "output", table.outputs.at(next++)));
    }
  }
  for (std::size_t i = 0; i < std::size(kStatistics); ++i)
    columns.push_back(column(std::string(kStatistics[i]), kStatistics[i] == "end" ? "s" : "", "statistic",
                             table.statistics[i]));
  columns.push_back(column("computing_time", "s", "statistic", table.seconds));

  // Messages are often the same in many cases: each stands there once.
  std::vector<std::uint32_t> status, message;
  std::map<std::string, std::uint32_t> known;
  Json messages = Json::array();
  for (std::size_t i = 0; i < cases; ++i) {
    status.push_back(static_cast<std::uint32_t>(table.status[i]));
    if (table.messages[i].empty()) {
      message.push_back(0);
      continue;
    }
    const auto [at, is_new] =
        known.emplace(table.messages[i], static_cast<std::uint32_t>(messages.size() + 1));
    if (is_new) messages.push_back(table.messages[i]);
    message.push_back(at->second);
  }
  Json shown = Json::array();
  for (const StudyScene& one : scenes) shown.push_back(one.index);
  const Json data = {{"format", "liedyn study 1"},
                     {"liedyn", layout.at("liedyn")},
                     {"name", name},
                     {"description", study.value("description", "")},
                     {"sampling", layout.at("sampling")},
                     {"cases", cases},
                     {"points", layout.at("points")},
                     {"variants", variants},
                     {"columns", columns},
                     {"status", pack_array(status, {cases})},
                     {"message", pack_array(message, {cases})},
                     {"messages", messages},
                     {"scenes", shown}};
  const auto dumped = [](const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  std::string elements = script_element("liedyn-study", dumped(data));
  // The page of the 3D view stands there once, for all scenes.
  if (!scenes.empty()) elements += script_element("liedyn-viewer", dumped(Json(viewer_template())));
  for (const StudyScene& one : scenes)
    elements += script_element(fmt::format("liedyn-case-{}", one.index), one.scene);
  text.replace(text.find(kStudyMark), kStudyMark.size(), elements);
  return text;
}

}  // namespace liedyn
