#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "commands.h"
#include "describe_kind.h"
#include "liedyn/base/suggest.h"
#include "liedyn/io/expand/shapes.h"
#include "liedyn/io/model_format.h"
#include "pages.h"

namespace liedyn::cli {
namespace {

// What is known under one or several names.
struct Topic {
  std::vector<std::string> names;
  std::string text;
  bool of_types = false;  // a type, or a list of types
};
using Topics = std::vector<Topic>;

// "[..., ...]", as it is typed for a field that is required.
std::string placeholder(const Field& field) {
  switch (field.type) {
    case FieldType::Number:
    case FieldType::Integer: return field.range == Range::Positive ? "1" : "0";
    case FieldType::Vector: return field.unit.empty() ? "[0, 0, 1]" : "[0, 0, 0]";
    case FieldType::PlaneVector: return "[0, 0]";
    case FieldType::Points: return "[[0, 0, 0], [1, 0, 0]]";
    case FieldType::Path: return "[0, 0, 0]";
    case FieldType::Inertia: return "[0.1, 0.1, 0.1]";
    case FieldType::Rotation: return R"({"axis": [0, 0, 1], "angle": 0})";
    case FieldType::Choice: return fmt::format("\"{}\"", field.choices[0]);
    case FieldType::Choices: return fmt::format("[\"{}\"]", field.choices[0]);
    case FieldType::Text: return "\"...\"";
    case FieldType::Body: return "\"BODY\"";
    case FieldType::Bodies: return R"(["ground", "BODY"])";
    case FieldType::Joint: return "\"JOINT\"";
    case FieldType::Joints: return R"(["JOINT", "JOINT2"])";
    case FieldType::State: return "\"STATE\"";
    case FieldType::Beam: return "\"BEAM[0.5]\"";
    case FieldType::Flexible: return "\"FLEXIBLE\"";
    case FieldType::Force: return "\"FORCE\"";
    case FieldType::Matrix6: return "[1, 1, 1, 1, 1, 1]";
  }
  return {};
}

std::string example(const Kind& kind) {
  std::string out = fmt::format("{{ \"type\": \"{}\"", kind.type);
  for (const Field& field : kind.fields)
    if (field.required) out += fmt::format(", \"{}\": {}", field.name, placeholder(field));
  return out + " }";
}

// "  revolute               Leaves a rotation about one axis.", without the keys.
std::string line_of(const Kind& kind) { return fmt::format("  {:<22} {}\n", kind.type, kind.summary); }

std::string_view summary_of(std::string_view section) {
  for (const FormatKey& key : kModelKeys)
    if (key.name == section) return key.summary;
  return {};
}

// Parts of model files, with the types that may stand there.
void add_sections(Topics& topics) {
  const auto add = [&](const std::string& plural, const std::string& singular, std::string_view summary,
                       const auto& types) {
    std::string text = fmt::format("{}: {}\n\n", plural, summary);
    for (const Kind& kind : types) text += line_of(kind);
    text += "\n  liedyn explain TYPE shows the keys of one, with units and defaults.\n";
    topics.push_back({{plural, singular}, std::move(text), true});
  };
  for (const Section section : kSections) {
    const std::string name(section_name(section));
    const std::string singular =
        name == "bodies" ? "body" : name.substr(0, name.size() - name.ends_with('s'));
    add(name, singular, summary_of(name), kinds(section));
  }
  add("shapes", "shape", "Shapes of bodies: they are drawn, and give mass and inertia.", shape_kinds());
}

void add_kinds(Topics& topics) {
  for (const Section section : kSections)
    for (const Kind& kind : kinds(section)) {
      std::string text = fmt::format("{}: a type of {}\n\n{}", kind.type, section_name(section),
                                     describe(kind, unit_of_kind(section, kind)));
      text += fmt::format("\n  in a model file, with what is required:\n    \"{}\": {{ \"NAME\": {} }}\n",
                          section_name(section), example(kind));
      topics.push_back({{kind.type}, std::move(text), true});
    }
  for (const Kind& kind : shape_kinds())
    topics.push_back({{kind.type},
                      fmt::format("{}: a shape of bodies\n\n{}\n  in a body:\n    \"shape\": {}\n", kind.type,
                                  describe(kind, ""), example(kind))});
}

void add_integrators(Topics& topics) {
  // The same option of several methods, once.
  std::map<std::string, std::map<std::string, std::vector<std::string>>> options;
  for (const ListedIntegrator& listed : integrators()) {
    topics.push_back(
        {{listed.name},
         fmt::format("{}\n  liedyn run MODEL --integrator {}\n", describe(listed), listed.name)});
    for (const IntegratorOption& option : listed.options)
      options[option.name][fmt::format("{} ({})", option.summary, values_of(option))].push_back(listed.name);
  }
  for (const auto& [name, meanings] : options) {
    std::string text = fmt::format("{}: an option of integrators\n", name);
    for (const auto& [meaning, methods] : meanings)
      text += fmt::format("\n  {}\n    of {}\n", meaning, fmt::join(methods, ", "));
    text += fmt::format("\n  liedyn run MODEL --integrator {},{}=VALUE\n", meanings.begin()->second.front(),
                        name);
    topics.push_back({{name}, std::move(text)});
  }
}

// Kinds of beams are there twice, as beams and as members of frames.
void add_once(std::vector<std::string>& list, std::string word) {
  if (std::find(list.begin(), list.end(), word) == list.end()) list.push_back(std::move(word));
}

bool is_section(std::string_view name) {
  return std::any_of(std::begin(kSections), std::end(kSections),
                     [&](Section section) { return section_name(section) == name; });
}

void add_fields(Topics& topics) {
  std::map<std::string, std::map<std::string, std::vector<std::string>>> fields;
  std::map<std::string, std::vector<std::string>> units;
  const auto add = [&](const Kind& kind) {
    for (const Field& field : kind.fields) {
      add_once(fields[field.name][describe(field)], kind.type);
      if (!field.unit.empty()) add_once(units[field.unit], fmt::format("{} of {}", field.name, kind.type));
    }
  };
  for (const Section section : kSections)
    for (const Kind& kind : kinds(section)) add(kind);
  for (const Kind& kind : shape_kinds()) add(kind);
  for (const auto& [name, meanings] : fields) {
    std::string text = fmt::format("{}: a key of entries\n\n", name);
    for (const auto& [meaning, types] : meanings)
      text += fmt::format("{}      of {}\n", meaning, fmt::join(types, ", "));
    topics.push_back({{name}, std::move(text)});
  }
  for (const auto& [unit, users] : units)
    topics.push_back({{unit}, fmt::format("{}: the unit of\n  {}\n", unit, fmt::join(users, ", "))});
  for (const Field& field : simulation_fields())
    topics.push_back({{field.name},
                      fmt::format("{}: a key of \"simulation\", and an option of run\n\n{}", field.name,
                                  describe(field))});
  for (const FormatKey& key : kModelKeys)
    if (!is_section(key.name))
      topics.push_back(
          {{std::string(key.name)}, fmt::format("{}: a key of model files\n  {}\n", key.name, key.summary)});
}

void add_commands(const CLI::App& program, Topics& topics) {
  std::map<std::string, std::map<std::string, std::vector<std::string>>> options;
  const auto every = [](const CLI::App*) { return true; };
  for (const CLI::App* command : program.get_subcommands(every)) {
    topics.push_back({{command->get_name(), "liedyn " + command->get_name()},
                      fmt::format("{}: a command\n\n{}", command->get_name(), command->help())});
    for (const CLI::Option* option : command->get_options())
      for (const std::string& name : option->get_lnames())
        options["--" + name][option->get_description()].push_back(command->get_name());
  }
  for (const auto& [name, meanings] : options) {
    std::string text = fmt::format("{}: an option of commands\n", name);
    for (const auto& [meaning, commands] : meanings)
      text += fmt::format("\n  {}\n    of {}\n", meaning, fmt::join(commands, ", "));
    topics.push_back({{name}, std::move(text)});
  }
}

void add_exit_codes(Topics& topics) {
  const std::pair<int, const char*> codes[] = {
      {kDone, "success"},
      {kCheckFailed, "liedyn doctor found something that does not work; its line says what to do"},
      {kWrongInput, "the input is wrong: each message names file, line and path; nothing was computed"},
      {kFailedNumerics,
       "the numerics failed; the message states time and equation, and the output up to that time is "
       "complete"},
      {kInterrupted, "interrupted (Ctrl-C); the output up to that time is complete"}};
  for (const auto& [code, meaning] : codes)
    topics.push_back(
        {{fmt::format("{}", code), fmt::format("exit code {}", code), fmt::format("exit {}", code)},
         fmt::format("exit code {}\n  {}\n", code, meaning)});
}

void add_glossary(Topics& topics) {
  for (const Term& term : glossary())
    topics.push_back(
        {term.words, fmt::format("{}\n  {}\n{}", fmt::join(term.words, ", "), term.meaning,
                                 term.page.empty() ? "" : fmt::format("  See {}.\n", term.page))});
}

// Terms first: they say what the word means before where it may be typed.
Topics all_topics(const CLI::App& program) {
  Topics topics;
  add_glossary(topics);
  add_sections(topics);
  add_kinds(topics);
  add_integrators(topics);
  add_commands(program, topics);
  add_fields(topics);
  add_exit_codes(topics);
  return topics;
}

std::string text_of(const ErrorFamily& family) {
  return fmt::format("{}\n\nCause: {}\n\nRemedy: {}\n", family.title, family.cause, family.remedy);
}

// "pages: liedyn explain howto/drive_joints, ..."
void print_pages(const std::string& word) {
  constexpr std::size_t kMost = 4;
  const std::vector<std::string> pages = pages_about(word, kMost);
  if (pages.empty()) return;
  fmt::print("\nPages that contain the word:\n");
  for (const std::string& page : pages) fmt::print("  liedyn explain {}\n", page);
}

// Whether the words stand in the text, not as parts of longer words: "motor" in "dc_motor" and "A motor.".
bool has_words(std::string_view text, const std::string& wanted) {
  const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  const std::string all = normalised(text);
  for (std::size_t at = all.find(wanted); at != std::string::npos; at = all.find(wanted, at + 1)) {
    const std::size_t end = at + wanted.size();
    if ((at == 0 || !in_word(all[at - 1])) && (end == all.size() || !in_word(all[end]))) return true;
  }
  return false;
}

// Types whose name or summary has the words. Whether there are some.
bool print_types_about(const std::string& words, const char* before) {
  constexpr std::size_t kShortest = 3;
  const std::string wanted = normalised(words);
  if (wanted.size() < kShortest) return false;
  bool found = false;
  for (const Section section : kSections) {
    bool first = true;
    for (const Kind& kind : kinds(section)) {
      if (!has_words(kind.type, wanted) && !has_words(kind.summary, wanted)) continue;
      if (!std::exchange(found, true)) fmt::print("{}Types related to '{}':\n", before, words);
      if (std::exchange(first, false)) fmt::print("\n{}\n", section_name(section));
      fmt::print("{}", line_of(kind));
    }
  }
  return found;
}

void print_explanation(const CLI::App& program, const std::string& words) {
  const Topics topics = all_topics(program);
  const std::string wanted = normalised(words);
  bool found = false, has_types = false;
  for (const Topic& topic : topics) {
    const bool named = std::any_of(topic.names.begin(), topic.names.end(),
                                   [&](const std::string& name) { return normalised(name) == wanted; });
    if (!named) continue;
    has_types = has_types || topic.of_types;
    fmt::print("{}{}", std::exchange(found, true) ? "\n" : "", topic.text);
  }
  if (const std::string_view page = find_page(words); !found && !page.empty()) {
    fmt::print("{}", page);
    return;
  }
  if (!has_types) found = print_types_about(words, found ? "\n" : "") || found;
  if (found) return print_pages(words);
  std::vector<std::string> names;
  for (const Topic& topic : topics) names.insert(names.end(), topic.names.begin(), topic.names.end());
  std::string hint = did_you_mean(words, names);
  // A single word that is nearly a name is rather that name than a part of a message.
  const bool misspelt = !hint.empty() && words.find(' ') == std::string::npos;
  if (const ErrorFamily* family = misspelt ? nullptr : find_error(words)) {
    fmt::print("{}", text_of(*family));
    return;
  }
  // "joint" is part of many: the first few.
  if (hint.empty()) {
    constexpr std::size_t kFew = 6, kShortest = 3;
    std::vector<std::string> near;
    for (const std::string& name : names)
      if (wanted.size() >= kShortest && normalised(name).find(wanted) != std::string::npos &&
          near.size() < kFew && std::find(near.begin(), near.end(), name) == near.end())
        near.push_back(name);
    if (!near.empty()) hint = fmt::format("there are {}", fmt::join(near, ", "));
  }
  if (const std::vector<std::string> pages = pages_about(words, 1); hint.empty() && !pages.empty())
    hint = fmt::format("a page contains the word: liedyn explain {}", pages.front());
  throw InputError(
      "", fmt::format("'{}' is not documented", excerpt(words)),
      hint.empty() ? "liedyn list shows elements, integrators and models; liedyn explain glossary shows terms"
                   : hint);
}

}  // namespace

std::vector<std::string> explained_words(const CLI::App& program) {
  std::vector<std::string> words = page_names();
  for (const Topic& topic : all_topics(program))
    for (const std::string& name : topic.names)
      if (name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") ==
          std::string::npos)
        words.push_back(name);
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

void add_explain(CLI::App& program, int& exit_code) {
  CLI::App& command = *program.add_subcommand(
      "explain", "Explain a word of model files or of this program, an error message or an exit code");
  command.footer(
      "examples: liedyn explain revolute\n          liedyn explain sigma\n          liedyn explain --set\n"
      "          liedyn explain \"did not converge\"\n          liedyn explain howto/drive_joints");
  command.prefix_command();  // words may begin with hyphens
  command.callback([&command, &program, &exit_code] {
    const std::string words = fmt::format("{}", fmt::join(command.remaining(), " "));
    if (words.find_first_not_of(' ') == std::string::npos)
      throw InputError("", "liedyn explain needs a word or a message", "liedyn explain revolute");
    print_explanation(program, words);
    exit_code = kDone;
  });
}

}  // namespace liedyn::cli
