// Reads seeds, the corpus (tests/fuzz/corpus/TARGET/*) and random changes of both with each of the readers.
//
//   fuzz_test                                            all readers, for a second each
//   fuzz_test --seconds 60 --seed 7 model mesh           these
//   fuzz_test --inputs 10000000 expression               a number of inputs
//   fuzz_test --file crash-mesh-1 mesh                   one input
//
// A crash, or an input that takes more than 20 s of computing time, leaves the input in crash-TARGET-PID in the current folder.

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "liedyn/base/sanitized.h"
#include "targets.h"

namespace liedyn::fuzz {
namespace {

constexpr int kPatience = 20;                // s of computing time
constexpr rlim_t kMemory = rlim_t{4} << 30;  // bytes; sanitizers need more
constexpr std::size_t kLongest = 20000;

// What the handler of signals writes: the input that is being read.
const char* current = nullptr;
std::size_t current_size = 0;
char crash_file[200];

void leave_input(int signal) {
  const int file = open(crash_file, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (file >= 0 && write(file, current, current_size) >= 0) close(file);
  constexpr char text[] = "\nfuzz_test: a reader crashed or takes too long; its input is in ";
  if (write(STDERR_FILENO, text, sizeof text - 1) >= 0 &&
      write(STDERR_FILENO, crash_file, std::strlen(crash_file)) >= 0 && write(STDERR_FILENO, "\n", 1) >= 0)
    std::signal(signal, SIG_DFL);
  raise(signal);
}

class Mutator {
 public:
  Mutator(std::vector<std::string> seeds, unsigned long seed) : seeds_(std::move(seeds)), random_(seed) {
    // Words of the seeds, which a reader knows.
    for (const std::string& text : seeds_)
      for (std::size_t i = 0; i < text.size() && words_.size() < 2000;) {
        std::size_t end = i;
        while (end < text.size() &&
               (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_'))
          ++end;
        if (end > i + 1) words_.push_back(text.substr(i, end - i));
        i = end + 1;
      }
  }
  std::string next() {
    std::string out = pick(seeds_);
    for (int left = 1 + below(std::size_t{1} << below(4)); left > 0; --left) change(out);
    if (out.size() > kLongest) out.resize(kLongest);
    return out;
  }

 private:
  static constexpr const char* kNumbers[] = {
      "0",   "-1",  "1e308", "-1e308", "1e-320", "4294967296", "-2147483649", "9223372036854775808",
      "0.1", "1e9", "65536", "nan",    "inf",    "3",          "255",         "1e400",
      "-0"};

  int below(std::size_t n) { return static_cast<int>(random_() % n); }
  const std::string& pick(const std::vector<std::string>& from) { return from[random_() % from.size()]; }
  std::size_t place(const std::string& text) { return text.empty() ? 0 : random_() % text.size(); }

  void change(std::string& text) {
    const std::size_t at = place(text), length = 1 + random_() % (1U << below(8));
    switch (below(11)) {
      case 0:
        if (!text.empty()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 1:
        if (!text.empty()) text[at] = static_cast<char>(random_());
        break;
      case 2: text.erase(at, length); break;
      case 3: text.insert(at, text.substr(place(text), length)); break;
      case 4: text.insert(at, 1, static_cast<char>(random_())); break;
      case 5: {  // a piece of another seed
        const std::string& other = pick(seeds_);
        text.insert(at, other.substr(place(other), 4 * length));
        break;
      }
      case 6:
        if (!words_.empty()) text.insert(at, pick(words_));
        break;
      case 7: text.insert(at, 1, "{}[]\"',:()<>/*+-^=%.\\ \n"[below(24)]); break;
      case 8: {  // another number where one stands
        const std::size_t begin = text.find_first_of("0123456789", at);
        if (begin == std::string::npos) break;
        const std::size_t end = std::min(text.find_first_not_of("0123456789.e+-", begin), text.size());
        text.replace(begin, end - begin, kNumbers[static_cast<std::size_t>(below(std::size(kNumbers)))]);
        break;
      }
      case 9: {  // 4 or 8 bytes as a number
        const std::uint64_t value = below(2) == 0 ? ~std::uint64_t{0} >> below(64) : random_();
        char bytes[8];
        std::memcpy(bytes, &value, 8);
        const std::size_t size = below(2) == 0 ? 4 : 8;
        if (text.size() >= size)
          text.replace(std::min(at, text.size() - size), size, std::string(bytes, size));
        break;
      }
      case 10: text.resize(at); break;
    }
  }

  std::vector<std::string> seeds_, words_;
  std::mt19937_64 random_;
};

std::vector<std::string> corpus_of(const char* target) {
  const std::filesystem::path folder = std::filesystem::path(LIEDYN_SOURCE) / "tests/fuzz/corpus" / target;
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::string> out;
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    out.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return out;
}

// Of computing time: a busy machine is no defect.
void set_timer(int seconds) {
  const itimerval timer = {{0, 0}, {seconds, 0}};
  setitimer(ITIMER_PROF, &timer, nullptr);
}

bool read_one(const Target& target, const std::string& input) {
  current = input.data();
  current_size = input.size();
  set_timer(kPatience);
  const bool accepted = target.read(input);
  set_timer(0);
  return accepted;
}

struct Arguments {
  double seconds = 1;
  long inputs = 0;
  unsigned long seed = 1;
  std::string file;
  std::vector<std::string> names;
};

void fuzz(const Target& target, const Arguments& arguments) {
  std::snprintf(crash_file, sizeof crash_file, "crash-%s-%d", target.name, static_cast<int>(getpid()));
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  std::vector<std::string> seeds = target.seeds();
  for (std::string& one : corpus_of(target.name)) seeds.push_back(std::move(one));
  long count = 0, accepted = 0;
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  const auto goes_on = [&] {
    return arguments.inputs > 0 ? count < arguments.inputs : seconds() < arguments.seconds;
  };
  for (const std::string& seed : seeds) {
    accepted += read_one(target, seed) ? 1 : 0;
    ++count;
  }
  const long accepted_seeds = accepted;
  Mutator mutator(seeds, arguments.seed);
  for (; goes_on(); ++count) accepted += read_one(target, mutator.next()) ? 1 : 0;
  fmt::print("{:<16} {:>9} inputs, {:>8} accepted, {} of {} seeds accepted, {:.1f} s\n", target.name, count,
             accepted, accepted_seeds, seeds.size(), seconds());
  std::fflush(stdout);
}

int main(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (word == "--seconds")
      arguments.seconds = std::atof(value), ++i;
    else if (word == "--inputs")
      arguments.inputs = std::atol(value), ++i;
    else if (word == "--seed")
      arguments.seed = std::strtoul(value, nullptr, 10), ++i;
    else if (word == "--file")
      arguments.file = value, ++i;
    else
      arguments.names.emplace_back(word);
  }
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, SIGPROF})
    std::signal(signal, &leave_input);
#ifndef LIEDYN_SANITIZED
  const rlimit limit = {kMemory, kMemory};
  setrlimit(RLIMIT_AS, &limit);
#endif
  std::size_t found = 0;
  for (const Target& target : targets()) {
    if (arguments.names.empty()
            ? target.by_name
            : std::find(arguments.names.begin(), arguments.names.end(), target.name) == arguments.names.end())
      continue;
    ++found;
    if (arguments.file.empty()) {
      fuzz(target, arguments);
      continue;
    }
    std::ifstream in(arguments.file, std::ios::binary);
    const std::string input{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    fmt::print("{}: {}\n", target.name, read_one(target, input) ? "accepted" : "refused");
  }
  if (found == 0 || (!arguments.names.empty() && found != arguments.names.size())) {
    fmt::print(stderr, "fuzz_test: no such reader; there are");
    for (const Target& target : targets()) fmt::print(stderr, " {}", target.name);
    fmt::print(stderr, "\n");
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace liedyn::fuzz

int main(int argc, char** argv) { return liedyn::fuzz::main(argc, argv); }
