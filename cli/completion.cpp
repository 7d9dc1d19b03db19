#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "commands.h"
#include "liedyn/integrators/integrator.h"
#include "liedyn/model/model.h"

namespace liedyn::cli {
namespace {

using Commands = std::vector<const CLI::App*>;

Commands commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> names_of(const Commands& commands) {
  std::vector<std::string> names;
  for (const CLI::App* one : commands) names.push_back(one->get_name());
  return names;
}

// What may follow an option, by how the help names it.
std::string completed_values(const CLI::Option& option) {
  const std::string name = option.get_name();
  if (name == "--integrator") {
    std::vector<std::string> names;
    for (const ListedIntegrator& listed : integrators()) names.push_back(listed.name);
    return fmt::format("_liedyn_words \"{}\"", fmt::join(names, " "));
  }
  if (name == "--formulation")
    return fmt::format("_liedyn_words \"{}\"", fmt::join(formulation_choices(), " "));
  const std::string type = option.get_type_name();
  if (const std::size_t begin = type.find(":{"); begin != std::string::npos) {
    std::string words = type.substr(begin + 2, type.find('}') - begin - 2);
    for (char& c : words)
      if (c == ',') c = ' ';
    return fmt::format("_liedyn_words \"{}\"", words);
  }
  // "check|project"
  const bool choice = type.find('|') != std::string::npos &&
                      std::all_of(type.begin(), type.end(),
                                  [](char c) { return (c >= 'a' && c <= 'z') || c == '|' || c == '-'; });
  if (choice) {
    std::string words = type;
    std::replace(words.begin(), words.end(), '|', ' ');
    return fmt::format("_liedyn_words \"{}\"", words);
  }
  if (type.find("FILE") != std::string::npos || type.find("DIRECTORY") != std::string::npos ||
      type.find("PREFIX") != std::string::npos)
    return "_liedyn_files";
  return "_liedyn_nothing";
}

// What stands without an option.
std::string positional_of(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    if (option->get_single_name() == "MODEL") return "_liedyn_models";
    if (command.get_name() == "analyze-integrator") {
      std::vector<std::string> names;
      for (const ListedIntegrator& listed : integrators()) names.push_back(listed.name);
      return fmt::format("_liedyn_words \"{}\"", fmt::join(names, " "));
    }
    if (const std::string values = completed_values(*option); values != "_liedyn_nothing") return values;
    return "_liedyn_files";
  }
  return "_liedyn_nothing";
}

// `explain` takes words instead of options: those of the program may begin with hyphens.
std::string branch_of_explain(const CLI::App& program) {
  return fmt::format("    'explain') _liedyn_words \"{}\" ;;\n", fmt::join(explained_words(program), " "));
}

// The branch of a command: after an option that takes a value, at an option, and elsewhere.
std::string branch(const std::string& words, const CLI::App& command) {
  std::string options, values;
  for (const CLI::Option* option : command.get_options()) {
    if (!option->nonpositional()) continue;
    std::vector<std::string> names;
    for (const std::string& one : option->get_lnames()) names.push_back("--" + one);
    for (const std::string& one : option->get_snames()) names.push_back("-" + one);
    options += fmt::format(" {}", fmt::join(names, " "));
    if (option->get_items_expected_max() > 0 && option->get_expected_max() > 0 &&
        option->get_type_size_max() > 0)
      values += fmt::format("        {}) {}; return ;;\n", fmt::join(names, "|"), completed_values(*option));
  }
  return fmt::format(
      "    '{}')\n"
      "      case \"$previous\" in\n{}        *) ;;\n      esac\n"
      "      case \"$current\" in\n"
      "        -*) _liedyn_words \"{}\" ;;\n"
      "        *) {} ;;\n"
      "      esac ;;\n",
      words, values, options.empty() ? options : options.substr(1), positional_of(command));
}

// Only what bash itself has is used; functions stay in the shell of the user, so their names are long. Models are looked up when they are needed: LIEDYN_MODELS may change.
std::string script(const CLI::App& program) {
  std::string branches, nested;
  for (const CLI::App* command : commands_of(program)) {
    const Commands below = commands_of(*command);
    if (command->get_name() == "explain") {
      branches += branch_of_explain(program);
      continue;
    }
    if (below.empty()) {
      branches += branch(command->get_name(), *command);
      continue;
    }
    nested += (nested.empty() ? "" : "|") + command->get_name();
    branches += fmt::format("    '{}') _liedyn_words \"{}\" ;;\n", command->get_name(),
                            fmt::join(names_of(below), " "));
    for (const CLI::App* one : below) branches += branch(command->get_name() + " " + one->get_name(), *one);
  }
  return fmt::format(R"bash(_liedyn() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} command= at
  _liedyn_words() {{ COMPREPLY=($(compgen -W "$1" -- "$current")); }}
  _liedyn_files() {{ COMPREPLY=($(compgen -f -- "$current")); }}
  _liedyn_models() {{ COMPREPLY=($(compgen -W "$("${{COMP_WORDS[0]}}" list models 2>/dev/null | cut -d ' ' -f 1)" -- "$current") $(compgen -f -- "$current")); }}
  _liedyn_nothing() {{ :; }}
  COMPREPLY=()
  # The command, and the command below it: the first words that are no options.
  for ((at = 1; at < COMP_CWORD; ++at)); do
    case "$command" in
      '') command=${{COMP_WORDS[at]}} ;;
      {}) [[ ${{COMP_WORDS[at]}} == -* ]] || {{ command+=" ${{COMP_WORDS[at]}}"; break; }} ;;
      *) break ;;
    esac
  done
  case "$command" in
    '') _liedyn_words "{} help --help --version" ;;
    help) _liedyn_words "{}" ;;
{}  esac
}}
complete -o filenames -F _liedyn liedyn
)bash",
                     nested, fmt::join(names_of(commands_of(program)), " "),
                     fmt::join(names_of(commands_of(program)), " "), branches);
}

}  // namespace

void add_completion(CLI::App& program, int& exit_code) {
  CLI::App& command = *program.add_subcommand("completion", "Print a completion script for a shell");
  command.footer(
      "bash: source <(liedyn completion bash)\nzsh:  source <(liedyn completion zsh)\n"
      "Packages install the script for bash.");
  const auto shell = std::make_shared<std::string>();
  command.add_option("SHELL", *shell, "bash or zsh")->required()->check(CLI::IsMember({"bash", "zsh"}));
  command.callback([shell, &program, &exit_code] {
    // zsh runs completions that were written for bash.
    if (*shell == "zsh")
      fmt::print("autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n");
    fmt::print("{}", script(program));
    exit_code = kDone;
  });
}

}  // namespace liedyn::cli
