#include "command_line.h"

#include <malloc.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "build_information.h"
#include "commands.h"
#include "liedyn/base/error.h"
#include "liedyn/base/suggest.h"
#include "liedyn/io/plugin.h"

namespace liedyn::cli {

void print_findings(const std::vector<Diagnostic>& findings) {
  for (const Diagnostic& finding : findings) fmt::print(stderr, "error: {}\n", to_string(finding));
}

void print_sensors(const Model& model, const double* values) {
  for (const Sensor& sensor : model.sensors)
    fmt::print("    {:<18} {:.12g} {}\n", sensor.name,
               fmt::join(values + sensor.first, values + sensor.first + sensor.components, "  "),
               model.unit_of(sensor));
}

namespace {

// CLI11 does not say which word it did not understand. `argument` is where a command must stand.
void check_command(const CLI::App& parent, int argc, char** argv, int argument) {
  if (argument >= argc || argv[argument][0] == '-') return;
  std::vector<std::string> names;
  for (const CLI::App* command : parent.get_subcommands({})) names.push_back(command->get_name());
  const std::string word = argv[argument];
  if (std::find(names.begin(), names.end(), word) != names.end()) return;
  // What other programs call it, and what is typed by those who forget the command.
  constexpr std::pair<std::string_view, std::string_view> kElsewhere[] = {
      {"simulate", "run"},      {"sim", "run"},
      {"solve", "run"},         {"validate", "check"},
      {"eig", "modes"},         {"eigen", "modes"},
      {"frequencies", "modes"}, {"equilibrium", "static"},
      {"statics", "static"},    {"init", "new"},
      {"create", "new"},        {"man", "explain"},
      {"fit", "optimize"},      {"gradient", "sensitivity"}};
  std::string hint = did_you_mean(word, names);
  for (const auto& [other, ours] : kElsewhere)
    if (word == other && std::find(names.begin(), names.end(), ours) != names.end())
      hint = did_you_mean(ours);
  if (hint.empty() && word.ends_with(".json"))
    hint = fmt::format("to simulate it: liedyn run {}", excerpt(word));
  // "liedyn list joints"
  if (hint.empty() && parent.get_name() == "list") hint = fmt::format("liedyn explain {}", excerpt(word));
  throw InputError(
      "", fmt::format("expected {} {}, got '{}'", parent.get_name(), fmt::join(names, "|"), excerpt(word)),
      hint);
}

// CLI11 lists the words that it did not expect, but not what they might have been.
void check_options(const CLI::App& program, int argc, char** argv) {
  const CLI::App* command = &program;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--") return;
    if (word == "-o" && command->get_option_no_throw("--out") != nullptr)
      throw InputError("", fmt::format("{} has no option '-o'", command->get_name()), did_you_mean("--out"));
    if (!word.starts_with("--")) {
      // A command, or a command of the last one.
      const auto commands =
          command->get_subcommands([&](const CLI::App* one) { return one->get_name() == word; });
      if (!commands.empty()) command = commands.front();
      if (command->get_prefix_command()) return;  // what follows is not ours
      continue;
    }
    const std::string name = word.substr(0, word.find('='));
    if (command->get_option_no_throw(name) != nullptr) continue;
    std::vector<std::string> names;
    for (const CLI::Option* option : command->get_options())
      for (const std::string& known : option->get_lnames()) names.push_back("--" + known);
    // What other programs call it.
    constexpr std::pair<std::string_view, std::string_view> kElsewhere[] = {
        {"--dt", "--step"},           {"--h", "--step"},
        {"--timestep", "--step"},     {"--time-step", "--step"},
        {"--stepsize", "--step"},     {"--t-end", "--end"},
        {"--tend", "--end"},          {"--duration", "--end"},
        {"--time", "--end"},          {"--output", "--out"},
        {"--save", "--out"},          {"--method", "--integrator"},
        {"--solver", "--integrator"}, {"--param", "--set"},
        {"--parameter", "--set"},     {"--parameter", "--parameters"}};
    std::string meant = nearest(name, names);
    for (const auto& [other, ours] : kElsewhere)
      if (name == other && std::find(names.begin(), names.end(), ours) != names.end()) meant = ours;
    throw InputError("", fmt::format("{} has no option '{}'", command->get_name(), excerpt(name)),
                     did_you_mean(meant));
  }
}

// "H" and "T" are numbers of seconds, "N" is a whole number; others say themselves what they are.
std::string expected_by(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (type == "N") return "a whole number";
  if (type == "H" || type == "T") return "a number of seconds";
  if (type == "X" || type == "TOL") return "a number";
  return type.substr(0, type.find(":{"));
}

// "liedyn help run" is "liedyn run --help".
std::vector<char*> with_help_last(int argc, char** argv) {
  static std::string option = "--help";
  std::vector<char*> words(argv, argv + argc);
  if (argc > 1 && std::string_view(argv[1]) == "help") {
    words.erase(words.begin() + 1);
    words.push_back(option.data());
  }
  return words;
}

// Plugins bring kinds that the help, the lists and the schema name: they come before everything else.
void load_plugins(int argc, char** argv) {
  constexpr std::string_view kOption = "--plugin";
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    const std::string_view word = argv[i];
    if (word == kOption && i + 1 < argc)
      load_plugin(argv[++i]);
    else if (word.starts_with(kOption) && word.substr(kOption.size()).starts_with('='))
      load_plugin(std::string(word.substr(kOption.size() + 1)));
  }
}

// Options of every command that is ours, for the help and the check of options.
void add_common_options(CLI::App& command, std::vector<std::string>& files) {
  if (command.get_prefix_command()) return;
  const std::vector<CLI::App*> commands = command.get_subcommands([](const CLI::App*) { return true; });
  for (CLI::App* one : commands) add_common_options(*one, files);
  if (!commands.empty()) return;
  command.add_flag_callback(
      "--allow-outside", [] { setenv("LIEDYN_ALLOW_OUTSIDE", "1", 1); },
      "Models and studies may refer to files outside their folder");
  // load_plugins() has read it.
  command
      .add_option("--plugin", files,
                  "Load joints, forces, sensors and integrators from a shared object; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
}

}  // namespace

std::unique_ptr<CLI::App> make_program(int& exit_code, std::vector<std::string>& plugins) {
  auto made = std::make_unique<CLI::App>("Liedyn: multibody dynamics on Lie groups", "liedyn");
  CLI::App& program = *made;
  program.set_version_flag("--version", build_information,
                           "Print version, commit, compiler and libraries, and exit");
  program.require_subcommand(1);
  add_run(program, exit_code);
  add_check(program, exit_code);
  add_list(program, exit_code);
  add_schema(program, exit_code);
  add_converge(program, exit_code);
  add_analyze_integrator(program, exit_code);
  add_reproduce(program, exit_code);
  add_static(program, exit_code);
  add_modes(program, exit_code);
  add_linearize(program, exit_code);
  add_assemble(program, exit_code);
  add_kinematics(program, exit_code);
  add_sensitivity(program, exit_code);
  add_optimize(program, exit_code);
  add_sweep(program, exit_code);
  add_view(program, exit_code);
  add_new(program, exit_code);
  add_explain(program, exit_code);
  add_doctor(program, exit_code);
  add_completion(program, exit_code);
  add_report(program, exit_code);
  add_info(program, exit_code);
  add_convert(program, exit_code);
  add_common_options(program, plugins);
  return made;
}

Diagnostic explain(const CLI::ParseError& error, const CLI::App& program, int argc, char** argv) {
  const auto used = program.get_subcommands();
  std::string command = "liedyn";
  for (const CLI::App* one = used.empty() ? nullptr : used.front(); one != nullptr;
       one = one->get_subcommands().empty() ? nullptr : one->get_subcommands().front())
    command += " " + one->get_name();
  std::string message = error.what();
  message = message.substr(0, message.find('\n'));
  std::string hint = fmt::format("{} --help shows its arguments", command);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::vector<std::string> words = program.remaining(true);
    const std::string word = words.empty() ? "" : words.front();
    message = fmt::format("{} has no argument '{}'", command, excerpt(word));
    for (int i = 1; i + 2 < argc; ++i)
      if (std::string_view(argv[i]) == "--set" && word == argv[i + 2])
        hint = std::string_view(argv[i + 1]).find('=') == std::string_view::npos
                   ? fmt::format("write --set {}={}", excerpt(argv[i + 1]), excerpt(word))
                   : fmt::format("write --set {} --set {}", excerpt(argv[i + 1]), excerpt(word));
  }
  // "Could not convert: --end = 1s" and "--record: angle not in {all}"
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr ||
      dynamic_cast<const CLI::ValidationError*>(&error) != nullptr)
    for (int i = 1; i < argc; ++i) {
      const std::string_view word = argv[i];
      const std::string name(word.substr(0, word.find('=')));
      if (!word.starts_with("--") || message.find(name) == std::string::npos) continue;
      const std::string value(word.size() > name.size() ? word.substr(name.size() + 1)
                              : i + 1 < argc            ? argv[i + 1]
                                                        : "");
      const CLI::App* of = &program;
      while (!of->get_subcommands().empty()) of = of->get_subcommands().front();
      const CLI::Option* option = of->get_option_no_throw(name);
      if (option == nullptr) continue;
      message = fmt::format("{}: expected {}, got '{}'", name, expected_by(*option), excerpt(value));
      // Numbers such as 1,5 or 2mm; one that can be read is only out of range.
      char* rest = nullptr;
      std::strtod(value.c_str(), &rest);
      if (rest != value.c_str() && *rest != '\0') hint = "without a unit, and with a decimal point";
      break;
    }
  return {"", 0, "", message, hint};
}

void call_command(CLI::App& program, int argc, char** argv) {
  check_command(program, argc, argv, 1);
  if (std::string_view(argv[1]) == "list") check_command(*program.get_subcommand("list"), argc, argv, 2);
  check_options(program, argc, argv);
  program.parse(argc, argv);
}

int run_program(int given, char** words) {
  std::vector<char*> arguments = with_help_last(given, words);
  const int argc = static_cast<int>(arguments.size());
  char** argv = arguments.data();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows too large is an error like a full disk, not the end
#ifdef M_MMAP_THRESHOLD
  // What is as large as this goes back to the system when it is freed; otherwise the scratch of reading a large model would leave holes.
  constexpr int kLarge = 1 << 21;
  mallopt(M_MMAP_THRESHOLD, kLarge);
  mallopt(M_TRIM_THRESHOLD, 2 * kLarge);
#endif
  try {
    load_plugins(argc, argv);
  } catch (const InputError& error) {
    print_findings(error.diagnostics());
    return kWrongInput;
  }
  int exit_code = kDone;
  std::vector<std::string> plugins;
  const std::unique_ptr<CLI::App> made = make_program(exit_code, plugins);
  CLI::App& program = *made;
  if (argc == 1) {
    fmt::print("{}", program.help());
    return kWrongInput;
  }
  try {
    call_command(program, argc, argv);
  } catch (const CLI::ParseError& error) {
    // Also thrown for --help and --version, with the code 0.
    if (error.get_exit_code() == 0) return program.exit(error) == 0 ? kDone : kWrongInput;
    print_findings({explain(error, program, argc, argv)});
    return kWrongInput;
  } catch (const InputError& error) {
    print_findings(error.diagnostics());
    return kWrongInput;
  } catch (const NumericalError& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return kFailedNumerics;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "error: out of memory\n");
    return kFailedNumerics;
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return kWrongInput;
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    fmt::print(stderr, "error: standard output cannot be written\n");
    return kWrongInput;
  }
  return exit_code;
}

}  // namespace liedyn::cli
