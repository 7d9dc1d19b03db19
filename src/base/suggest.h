// "Did you mean ...?": the candidate closest to a mistyped word.
#pragma once

#include <string>
#include <string_view>

namespace liedyn {

// Keeps the best of the candidates offered to it. Words too far off are no suggestion at all.
class Suggestion {
 public:
  explicit Suggestion(std::string_view word);
  void consider(std::string_view candidate);
  const std::string& name() const { return best_; }  // empty if nothing was close

 private:
  std::string word_;  // in lower case: "Mass" is a near miss of "mass"
  std::string best_;
  int best_distance_;
};

// Number of insertions, deletions, replacements and swaps of neighbours that turn a into b; any number above `limit`
// may be returned as limit + 1.
int edit_distance(std::string_view a, std::string_view b, int limit);

// The closest candidate, or empty. Takes any range of things that convert to string_view.
template <class Range>
std::string nearest(std::string_view word, const Range& candidates) {
  Suggestion suggestion(word);
  for (std::string_view candidate : candidates) suggestion.consider(candidate);
  return suggestion.name();
}

// "did you mean 'mass'?", or empty.
std::string did_you_mean(std::string_view suggestion);
template <class Range>
std::string did_you_mean(std::string_view word, const Range& candidates) {
  return did_you_mean(nearest(word, candidates));
}

// At most `length` bytes of a text, for messages: what does not print (or is not UTF-8) is replaced, the rest is cut off
// with "...".
std::string excerpt(std::string_view text, std::size_t length = 40);

// A number in a message: one that is not a number has no sign, which would depend on the machine.
std::string number_text(double number);

}  // namespace liedyn
