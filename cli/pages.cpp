#include "pages.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "embedded.h"

namespace liedyn::cli {
namespace {

constexpr std::string_view kDocs = "docs/";
constexpr std::string_view kPage = ".md";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string_view embedded(std::string_view name) {
  for (const EmbeddedText& one : embedded_texts())
    if (one.name == name) return one.text;
  return {};
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// In lower case, with single blanks.
std::string flat(std::string_view text) {
  std::string out;
  for (const char c : lower_case(text)) {
    const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!blank || (!out.empty() && out.back() != ' ')) out += blank ? ' ' : c;
  }
  return std::string(trimmed(out));
}

// "[the page](howto/x.md)" to "docs/howto/x.md"
std::string target_of_link(std::string_view cell) {
  const std::size_t begin = cell.find("](");
  if (begin == std::string_view::npos) return {};
  return std::string(kDocs) + std::string(cell.substr(begin + 2, cell.find(')', begin) - begin - 2));
}

// What a template says between the values that vary.
std::vector<std::string> fragments(std::string_view message) {
  std::vector<std::string> out;
  std::string fragment;
  const auto finish = [&] {
    if (std::string text = flat(fragment); !text.empty()) out.push_back(std::move(text));
    fragment.clear();
  };
  for (std::size_t i = 0; i < message.size(); ++i) {
    const std::size_t end = message[i] == '{' ? message.find('}', i) : std::string_view::npos;
    if (end == std::string_view::npos) {
      fragment += message[i];
      continue;
    }
    finish();
    i = end;
  }
  finish();
  return out;
}

// Characters of the template that stand in the text, in their order; 0 if one of its fragments does not.
std::size_t agreement(const std::string& text, std::string_view message) {
  std::size_t at = 0, count = 0;
  for (const std::string& fragment : fragments(message)) {
    at = text.find(fragment, at);
    if (at == std::string::npos) return 0;
    at += fragment.size();
    count += fragment.size();
  }
  return count;
}

// Characters of the longest end of a fragment that the text begins with, whole words: "nothing holds" of "...: nothing holds {}" in "nothing holds body 'x'". What varies, and what the
// text has behind, is a few words.
std::size_t agreement_before_a_value(const std::string& text, std::string_view message) {
  constexpr std::ptrdiff_t kMostWords = 8;
  std::size_t most = 0;
  for (const std::string& fragment : fragments(message))
    for (std::size_t at = 0; at != std::string::npos; at = fragment.find(' ', at + 1)) {
      const std::string end = fragment.substr(at == 0 ? 0 : at + 1);
      if (!text.starts_with(end + ' ')) continue;
      if (std::count(text.begin() + static_cast<std::ptrdiff_t>(end.size()), text.end(), ' ') <= kMostWords)
        most = std::max(most, end.size());
      break;
    }
  return most;
}

// "converged" and "converges" are about the same thing.
std::string stem(std::string word) {
  for (const std::string_view ending : {"ing", "ed", "es", "s", "e"})
    if (word.size() > ending.size() + 3 && word.ends_with(ending)) {
      word.resize(word.size() - ending.size());
      break;
    }
  return word;
}

}  // namespace

std::string normalised(std::string_view word) {
  std::string out = lower_case(trimmed(word));
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c == ' ' || c == '_'; }, '-');
  return out;
}

const std::vector<Term>& glossary() {
  static const std::vector<Term> terms = [] {
    std::vector<Term> out;
    bool in_table = false;
    for (const std::string_view line : split(embedded("docs/glossary.md"), '\n')) {
      const std::vector<std::string_view> cells = split(line, '|');
      if (cells.size() != 5) {
        in_table = false;
        continue;
      }
      // The first row is the header, the second one the rule below it.
      if (!std::exchange(in_table, true) || cells[1].starts_with("---") || cells[1].starts_with(" ---"))
        continue;
      Term term{{}, std::string(trimmed(cells[2])), target_of_link(cells[3])};
      for (const std::string_view word : split(cells[1], ',')) {
        std::string plain(trimmed(word));
        std::erase(plain, '`');
        term.words.push_back(plain);
      }
      out.push_back(std::move(term));
    }
    return out;
  }();
  return terms;
}

const std::vector<ErrorFamily>& error_families() {
  static const std::vector<ErrorFamily> families = [] {
    constexpr std::string_view kTitle = "## ", kCause = "Cause: ", kRemedy = "Remedy: ", kMessage = "    ",
                               kHint = "      -> ";
    std::vector<ErrorFamily> out;
    std::string* paragraph = nullptr;
    for (const std::string_view line : split(embedded("docs/errors.md"), '\n')) {
      if (line.starts_with(kTitle)) {
        out.push_back({std::string(line.substr(kTitle.size())), "", "", {}});
        paragraph = nullptr;
      } else if (out.empty()) {
        continue;
      } else if (line.starts_with(kHint)) {
        if (!out.back().messages.empty()) out.back().messages.back().hint = line.substr(kHint.size());
      } else if (line.starts_with(kMessage)) {
        out.back().messages.push_back({std::string(line.substr(kMessage.size())), ""});
      } else if (line.starts_with(kCause)) {
        out.back().cause = line.substr(kCause.size());
        paragraph = &out.back().cause;
      } else if (line.starts_with(kRemedy)) {
        out.back().remedy = line.substr(kRemedy.size());
        paragraph = &out.back().remedy;
      } else if (trimmed(line).empty()) {
        paragraph = nullptr;
      } else if (paragraph != nullptr) {
        *paragraph += "\n" + std::string(line);
      }
    }
    return out;
  }();
  return families;
}

const ErrorFamily* find_error(std::string_view given) {
  const std::string text = flat(given);
  if (text.empty()) return nullptr;
  // A whole message. Templates that are hardly more than their values prove nothing.
  constexpr std::size_t kTelling = 8;
  const ErrorFamily* best = nullptr;
  std::size_t most = kTelling;
  for (const ErrorFamily& family : error_families())
    for (const ErrorMessage& message : family.messages)
      if (const std::size_t found = agreement(text, message.text); found >= most) {
        best = &family;
        most = found + 1;
      }
  if (best != nullptr) return best;
  if (constexpr std::size_t kPart = 4; text.size() < kPart) return nullptr;
  // Whether all words of the text stand in another one.
  const auto all_words_in = [&](const std::string& other) {
    const std::vector<std::string_view> words = split(text, ' ');
    return std::all_of(words.begin(), words.end(), [&](std::string_view word) {
      return other.find(stem(std::string(word))) != std::string::npos;
    });
  };
  // Words of a title, a part of a message, words about the cause.
  for (const ErrorFamily& family : error_families())
    if (all_words_in(flat(family.title))) return &family;
  for (const ErrorFamily& family : error_families())
    for (const ErrorMessage& message : family.messages)
      if (flat(message.text).find(text) != std::string::npos) return &family;
  // A part of a message with a value in it.
  most = kTelling;
  for (const ErrorFamily& family : error_families())
    for (const ErrorMessage& message : family.messages)
      if (const std::size_t found = agreement_before_a_value(text, message.text); found > most) {
        best = &family;
        most = found;
      }
  if (best != nullptr) return best;
  for (const ErrorFamily& family : error_families()) {
    std::string all = family.title + " " + family.cause + " ";
    for (const ErrorMessage& message : family.messages) all += message.text + " ";
    if (all_words_in(flat(all))) return &family;
  }
  return nullptr;
}

std::string_view find_page(std::string_view name) {
  const std::string wanted = normalised(name);
  for (const EmbeddedText& one : embedded_texts()) {
    if (!one.name.ends_with(kPage)) continue;
    const std::string whole = normalised(one.name);
    const std::string path = whole.substr(kDocs.size(), whole.size() - kDocs.size() - kPage.size());
    const std::string stem_of_file = path.substr(path.rfind('/') + 1);
    for (const std::string& known :
         {whole, path, path + std::string(kPage), stem_of_file, stem_of_file + std::string(kPage)})
      if (wanted == known) return one.text;
  }
  return {};
}

std::vector<std::string> page_names() {
  std::vector<std::string> names;
  for (const EmbeddedText& one : embedded_texts())
    if (one.name.ends_with(kPage))
      names.emplace_back(one.name.substr(kDocs.size(), one.name.size() - kDocs.size() - kPage.size()));
  return names;
}

std::vector<std::string> pages_about(std::string_view given, std::size_t most) {
  const std::string word = lower_case(trimmed(given));
  if (word.size() < 2) return {};
  const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  std::vector<std::pair<double, std::string>> found;  // how often, for the length of the page
  for (const EmbeddedText& one : embedded_texts()) {
    // Neither lists of words nor pages about other programs.
    if (!one.name.ends_with(kPage) || one.name == "docs/glossary.md" || one.name == "docs/errors.md" ||
        one.name.starts_with("docs/coming_from/"))
      continue;
    const std::string text = lower_case(one.text);
    std::size_t count = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
      const std::size_t end = at + word.size();
      const bool whole = (at == 0 || !in_word(text[at - 1])) && (end == text.size() || !in_word(text[end]));
      count += whole ? 1 : 0;
    }
    if (count > 0)
      found.emplace_back(static_cast<double>(count) / static_cast<double>(text.size()),
                         one.name.substr(kDocs.size(), one.name.size() - kDocs.size() - kPage.size()));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> names;
  for (const auto& [share, name] : found)
    if (names.size() < most) names.push_back(name);
  return names;
}

}  // namespace liedyn::cli
