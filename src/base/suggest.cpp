#include "liedyn/base/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>

namespace liedyn {
namespace {

// Longer words are not mistyped names; the bound also keeps the table of edit_distance on the stack.
constexpr std::size_t kLongestWord = 64;

std::string lower_case(std::string_view word) {
  std::string lower(word);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

// No typing error in a single letter (only its case may differ), one in a short word, more in a long one.
int tolerated_distance(std::size_t length) {
  if (length < 2) return 0;
  return length < 4 ? 1 : static_cast<int>(std::min<std::size_t>(length / 3 + 1, 4));
}

// Bytes of the UTF-8 character that the text begins with; 1 for a byte that begins none.
std::size_t character_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 1;
  if (first > 0xF4 || length > text.size()) return 1;
  for (std::size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0u) != 0x80u) return 1;
  return length;
}

}  // namespace

int edit_distance(std::string_view a, std::string_view b, int limit) {
  const auto difference = static_cast<long>(a.size()) - static_cast<long>(b.size());
  if (std::abs(difference) > limit || std::max(a.size(), b.size()) > kLongestWord) return limit + 1;

  // Three rows of the table d(i, j) = distance of the first i characters of a to the first j of b.
  std::array<std::array<int, kLongestWord + 1>, 3> rows;
  auto* before_last = &rows[0];
  auto* last = &rows[1];
  auto* row = &rows[2];
  std::iota(last->begin(), last->end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    (*row)[0] = static_cast<int>(i);
    int smallest = (*row)[0];
    for (std::size_t j = 1; j <= b.size(); ++j) {
      int best =
          std::min({(*last)[j] + 1, (*row)[j - 1] + 1, (*last)[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) best = std::min(best, (*before_last)[j - 2] + 1);
      (*row)[j] = best;
      smallest = std::min(smallest, best);
    }
    if (smallest > limit) return limit + 1;
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return (*last)[b.size()];
}

Suggestion::Suggestion(std::string_view word)
    : word_(lower_case(word)), best_distance_(tolerated_distance(word.size()) + 1) {}

void Suggestion::consider(std::string_view candidate) {
  if (candidate.size() > kLongestWord) return;
  const std::string lower = lower_case(candidate);
  int distance = edit_distance(word_, lower, best_distance_ - 1);
  // A shared beginning ("angular" for "angular_velocity") counts as the farthest suggestion still made.
  const bool beginning =
      word_.size() >= 3 && (lower.starts_with(word_) || word_.starts_with(lower)) && lower.size() >= 3;
  if (distance >= best_distance_ && beginning && best_.empty()) distance = best_distance_ - 1;
  if (distance >= best_distance_) return;
  best_distance_ = distance;
  best_ = candidate;
}

std::string did_you_mean(std::string_view suggestion) {
  return suggestion.empty() ? std::string{} : "did you mean '" + std::string(suggestion) + "'?";
}

std::string excerpt(std::string_view text, std::size_t length) {
  std::string shown;
  std::size_t i = 0;
  while (i < text.size()) {
    const std::size_t bytes = character_length(text.substr(i));
    if (i + bytes > length) return shown + "...";
    const auto c = static_cast<unsigned char>(text[i]);
    if (bytes > 1 || (c >= 0x20 && c < 0x7f))
      shown += text.substr(i, bytes);
    else
      shown += c < 0x80 ? ' ' : '?';
    i += bytes;
  }
  return shown;
}

std::string number_text(double number) { return std::isnan(number) ? "nan" : fmt::format("{}", number); }

}  // namespace liedyn
