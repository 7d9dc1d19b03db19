#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "commands.h"
#include "embedded.h"
#include "liedyn/base/suggest.h"
#include "liedyn/io/study_reader.h"
#include "liedyn/io/text_output.h"

namespace liedyn::cli {
namespace {

constexpr std::string_view kDirectory = "cli/templates/", kExtension = ".json", kComment = "// ";

struct Template {
  std::string name;
  std::string_view text;
  std::string summary;  // its first line
};

const std::vector<Template>& templates() {
  static const std::vector<Template> list = [] {
    std::vector<Template> out;
    for (const EmbeddedText& one : embedded_texts()) {
      if (!one.name.starts_with(kDirectory)) continue;
      const std::string_view stem = one.name.substr(kDirectory.size());
      out.push_back({std::string(stem.substr(0, stem.size() - kExtension.size())), one.text,
                     std::string(one.text.substr(kComment.size(), one.text.find('\n') - kComment.size()))});
    }
    return out;
  }();
  return list;
}

const Template& find_template(const std::string& name) {
  std::vector<std::string> names;
  for (const Template& one : templates()) {
    if (one.name == name) return one;
    names.push_back(one.name);
  }
  const std::string meant = did_you_mean(name, names);
  throw InputError(
      "--template",
      fmt::format("there is no template '{}', expected one of {}", excerpt(name), fmt::join(names, ", ")),
      meant.empty() ? "liedyn new --list shows what they are" : meant);
}

void write_template(const std::string& given, const std::string& name) {
  const Template& chosen = find_template(name);
  const std::string file = given.ends_with(kExtension) ? given : given + std::string(kExtension);
  std::error_code ignored;
  if (std::filesystem::path(file).stem().empty() || given.ends_with('/') ||
      std::filesystem::is_directory(given, ignored))
    throw InputError("NAME", fmt::format("expected the name of a file, got '{}'", excerpt(given)),
                     "liedyn new arm writes arm.json");
  if (std::filesystem::exists(file, ignored))
    throw InputError(
        {{file, 0, "", "exists, and is not overwritten", "choose another name, or remove the file"}});
  const std::filesystem::path directory = std::filesystem::path(file).parent_path();
  if (!directory.empty() && !std::filesystem::is_directory(directory, ignored))
    throw InputError({{file, 0, "", fmt::format("there is no directory '{}'", excerpt(directory.string())),
                       "create it first"}});
  write_text(file, std::string(chosen.text));
  fmt::print("{}: {}\n\n", file, chosen.summary);
  using Next = std::pair<std::string, const char*>;
  const Next model[] = {
      {fmt::format("liedyn check {}", file), "its contents, and whether it can be simulated"},
      {fmt::format("liedyn run {} --html motion.html", file), "simulate it; the page shows the motion in 3D"},
      {"liedyn explain revolute", "the meaning of a word of the file"}};
  const Next study[] = {
      {fmt::format("liedyn check {}", file), "the parameters that it varies, and the number of runs"},
      {fmt::format("liedyn sweep {} --html cases.html", file), "run them; the page shows all cases"},
      {"liedyn explain howto/studies", "other features of studies"}};
  const std::span<const Next> next =
      study_command(chosen.text) == "sweep" ? study : std::span<const Next>(model);
  for (const auto& [command, meaning] : next)
    fmt::print("  {:<{}}   {}\n", command, next[1].first.size(), meaning);
}

}  // namespace

void add_new(CLI::App& program, int& exit_code) {
  CLI::App& command =
      *program.add_subcommand("new", "Write a commented model, or a study of many runs, to start from");
  struct Arguments {
    std::string name, which = "pendulum";
    bool list = false;
  };
  const auto arguments = std::make_shared<Arguments>();
  command.add_option("NAME", arguments->name, "The file is NAME.json; a file that exists is not overwritten");
  command.add_option("--template", arguments->which, "Template to start from: see --list")
      ->type_name([] {
        std::string names;
        for (const Template& one : templates()) names += (names.empty() ? "" : "|") + one.name;
        return names;
      }())
      ->capture_default_str();
  command.add_flag("--list", arguments->list, "List the templates");
  command.callback([arguments, &exit_code] {
    if (arguments->list) {
      for (const Template& one : templates()) fmt::print("{:<10} {}\n", one.name, one.summary);
    } else if (arguments->name.empty()) {
      throw InputError("", "liedyn new needs the name of the file to write",
                       "liedyn new arm writes arm.json");
    } else {
      write_template(arguments->name, arguments->which);
    }
    exit_code = kDone;
  });
}

}  // namespace liedyn::cli
