#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "liedyn/base/suggest.h"
#include "liedyn/io/hdf5_file.h"
#include "liedyn/io/read_model.h"
#include "liedyn/io/read_results.h"
#include "liedyn/io/read_with_warnings.h"
#include "liedyn/io/result_file.h"
#include "liedyn/io/scene_page.h"
#include "liedyn/io/sweep_store.h"

namespace liedyn::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string first_bytes(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::string out(256, '\0');
  in.read(out.data(), static_cast<std::streamsize>(out.size()));
  out.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, in.gcount())));
  return out;
}

Json channel_columns(const std::vector<Channel>& channels) {
  Json out = Json::array();
  for (const Channel& channel : channels)
    out.push_back({{"name", channel.name}, {"unit", channel.unit}, {"components", channel.components}});
  return out;
}

Json about_run(const Summary& s) {
  Json set = Json::object();
  for (const auto& [path, value] : s.set) set[path] = value;
  return {{"model", s.model},
          {"model_file", s.model_file},
          {"set", set},
          {"date", s.date},
          {"integrator", s.integrator},
          {"formulation", s.formulation},
          {"degrees_of_freedom", s.degrees_of_freedom},
          {"unknowns", s.unknowns},
          {"step", s.step},
          {"steps", s.steps}};
}

Json about_result(const std::string& name) {
  const ResultFile file(name);
  const Summary& s = file.summary();
  Json out = {{"kind", "result"}, {"status", file.status()}};
  if (!s.failure.empty()) out["failure"] = s.failure;
  out.update(about_run(s));
  if (s.steps == 0) out.erase("steps");  // known at the end only
  out["start"] = s.start;
  out["end"] = s.end;
  out["rows"] = file.rows();
  out["columns"] = channel_columns(file.channels());
  if (const auto events = file.events(); !events.empty()) out["events"] = events.size();
  if (file.has_states())
    out["states"] = fmt::format("{} coordinates, {} velocities, {} multipliers", file.state_names("q").size(),
                                file.state_names("v").size(), file.state_names("lambda").size());
  out["warnings"] = s.warnings;
  return out;
}

// What `liedyn sweep` stores.
Json about_study(const std::string& name) {
  const SweepState state = sweep_state(name);
  const Json layout = Json::parse(state.layout);
  Json out = {{"kind", "results of a study"}, {"cases", layout.at("cases")}};
  for (std::size_t i = 0; i < std::size(kCaseStatuses); ++i)
    if (state.counts[i] > 0) out[std::string(kCaseStatuses[i])] = state.counts[i];
  Json columns = Json::array();
  for (const char* part : {"parameters", "outputs"})
    for (const Json& one : layout.at(part))
      columns.push_back({{"name", one.at("name")},
                         {"unit", one.value("unit", "")},
                         {"components", one.value("width", std::size_t{1})}});
  out["columns"] = columns;
  out["use"] = fmt::format("liedyn sweep STUDY --out {} --html FILE draws all cases", name);
  return out;
}

Json about_table(const std::string& name) {
  const Result result = read_result(name);
  const Trajectory& t = result.trajectory;
  return {{"kind", "result"},
          {"start", t.time(0)},
          {"end", t.time(t.rows() - 1)},
          {"rows", t.rows()},
          {"columns", channel_columns(t.channels)}};
}

Json about_scene(const std::string& name) {
  const Json scene = Json::parse(read_scene(name));
  Json out = {{"kind", fmt::format("scene ({})", scene.value("kind", "motion"))},
              {"model", scene.value("title", "")},
              {"bodies", scene.value("frames", Json::array()).size()}};
  if (const Json times = scene.value("times", Json::object()); times.contains("shape"))
    out["frames"] = times["shape"].at(0);
  Json columns = Json::array();
  for (const Json& channel : scene.value("channels", Json::array())) {
    const std::size_t names = channel.value("components", Json::array()).size();  // none: a number
    columns.push_back({{"name", channel.value("name", "")},
                       {"unit", channel.value("unit", "")},
                       {"components", std::max<std::size_t>(1, names)}});
  }
  out["columns"] = columns;
  out["warnings"] = scene.value("warnings", Json::array());
  return out;
}

// "liedyn checkpoint 2", then the version of the program and the settings, each behind its length.
Json about_checkpoint(const std::string& start) {
  Json out = {{"kind", "checkpoint"}, {"layout", start.substr(18, start.find('\n') - 18)}};
  const std::size_t settings = start.find("integrator ");
  if (settings != std::string::npos) {
    std::string text = start.substr(settings);
    const auto end =
        std::ranges::find_if(text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
    text.erase(end, text.end());
    out["settings"] = text;
  }
  out["use"] = "liedyn run MODEL --resume FILE continues it";
  return out;
}

Json about_configuration(const Json& json) {
  Json out = {{"kind", "configuration"}};
  if (json.contains("model")) out["model"] = json["model"];
  out["bodies"] = json.value("bodies", Json::object()).size();
  out["use"] = "liedyn run MODEL --from FILE starts from it";
  return out;
}

Json about_model(const std::string& name) {
  std::vector<Assignment> none;
  std::vector<std::string> warnings;
  const Description d = read_model(name, none, warnings);
  Json out = {{"kind", "model"}, {"model", d.name}};
  for (const Section section : kSections)
    if (!d.entries(section).empty()) out[std::string(section_name(section))] = d.entries(section).size();
  Json parameters = Json::array();
  for (const std::string& one : d.parameter_names) parameters.push_back(one);
  out["parameters"] = parameters;
  out["integrator"] = d.simulation.integrator;
  out["formulation"] = d.simulation.formulation;
  out["start"] = d.simulation.start;
  out["end"] = d.simulation.end;
  out["step"] = d.simulation.step;
  out["warnings"] = warnings;
  return out;
}

Json about(const std::string& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return about_model(file);  // the name of a shipped model, or an error
  if (fs::is_directory(file, ignored))
    throw InputError({{file, 0, "", "expected a file, got a directory", ""}});
  const std::string start = first_bytes(file), extension = fs::path(file).extension().string();
  if (start.starts_with("\x89HDF\r\n\x1a\n") || extension == ".h5")
    return Hdf5Input(file).has_attribute("/", "layout") ? about_study(file) : about_result(file);
  if (start.starts_with("liedyn checkpoint ")) return about_checkpoint(start);
  if (extension == ".csv") return about_table(file);
  if (start.starts_with("glTF"))
    return {{"kind", "glTF 2.0, binary"}, {"use", "Blender and other programs open it"}};
  if (start.starts_with("PK"))
    return {{"kind", "NumPy archive"},
            {"use", "numpy.load(FILE) reads it; liedyn.load_result(FILE), if it is a result"}};
  if (extension == ".html" || start.find("\"liedyn scene ") != std::string::npos) return about_scene(file);
  if (extension == ".json") {
    std::ifstream in(file, std::ios::binary);
    const Json json = Json::parse(in, nullptr, false, true);
    if (json.is_object() && !json.contains("liedyn") && json.contains("bodies"))
      return about_configuration(json);
  }
  return about_model(file);
}

std::string size_of(std::uintmax_t bytes) {
  double number = static_cast<double>(bytes);
  const char* unit = "bytes";
  for (const char* larger : {"kB", "MB", "GB", "TB"}) {
    if (number < 1000) break;
    number /= 1000;
    unit = larger;
  }
  return fmt::format("{:.4g} {}", number, unit);
}

void print_text(const std::string& file, const Json& about) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(file, error);
  fmt::print("{}: {}{}\n", file, about["kind"].get<std::string>(), error ? "" : ", " + size_of(bytes));
  for (const auto& [key, value] : about.items()) {
    std::string name = key;
    std::ranges::replace(name, '_', ' ');
    if (key == "kind" || key == "end" || key == "warnings" || key == "columns") continue;
    if (value.is_null() || ((value.is_string() || value.is_structured()) && value.empty())) continue;
    if (value.is_string() && value.get<std::string>().empty()) continue;
    if (key == "start")
      fmt::print("  {:<20} {:.6g} ... {:.6g} s\n", "time", value.get<double>(), about["end"].get<double>());
    else if (key == "step")
      fmt::print("  {:<20} {:.6g} s\n", name, value.get<double>());
    else if (value.is_string())
      fmt::print("  {:<20} {}\n", name, value.get<std::string>());
    else if (value.is_array())
      fmt::print("  {:<20} {}\n", name, fmt::join(value.get<std::vector<std::string>>(), ", "));
    else if (value.is_object()) {
      std::vector<std::string> parts;
      for (const auto& [path, number] : value.items())
        parts.push_back(fmt::format("{}={}", path, number.get<double>()));
      fmt::print("  {:<20} {}\n", name, fmt::join(parts, " "));
    } else
      fmt::print("  {:<20} {}\n", name, value.dump());
  }
  if (about.contains("columns") && !about["columns"].empty()) {
    constexpr std::size_t kMost = 40;
    const Json& columns = about["columns"];
    fmt::print("  columns\n");
    for (std::size_t i = 0; i < std::min(kMost, columns.size()); ++i) {
      const auto components = columns[i]["components"].get<std::size_t>();
      fmt::print("    {:<28} {}{}\n", columns[i]["name"].get<std::string>(),
                 columns[i]["unit"].get<std::string>(),
                 components == 1 ? "" : fmt::format(" x {}", components));
    }
    if (columns.size() > kMost) fmt::print("    and {} more\n", columns.size() - kMost);
  }
  for (const Json& warning : about.value("warnings", Json::array()))
    fmt::print("  warning: {}\n", warning.get<std::string>());
}

}  // namespace

void add_info(CLI::App& program, int& exit_code) {
  CLI::App& command = *program.add_subcommand(
      "info", "Describe a file: a result, study, model, scene, page, checkpoint or configuration");
  struct Arguments {
    std::string file;
    bool json = false;
  };
  const auto a = std::make_shared<Arguments>();
  command.add_option("FILE", a->file, "A file that Liedyn reads or writes, or the name of a shipped model")
      ->required();
  command.add_flag("--json", a->json, "Print one JSON object");
  command.footer("A result that is being written can be read: status, rows and times are the current ones.");
  command.callback([a, &exit_code] {
    const Json json = about(a->file);
    if (a->json)
      fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
    else
      print_text(a->file, json);
    exit_code = kDone;
  });
}

}  // namespace liedyn::cli
