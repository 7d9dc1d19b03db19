// Preloaded into test programs by tests/messages.py: appends the patterns of all formatted texts, and what exceptions say, to the file LIEDYN_SAID, each once per process.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <mutex>
#include <string>
#include <string_view>
#include <typeinfo>
#include <unordered_set>

#include <fmt/format.h>

namespace {

void note(std::string_view text) {
  static std::mutex mutex;
  static auto& known = *new std::unordered_set<std::string>;
  static const char* const file = std::getenv("LIEDYN_SAID");
  const std::lock_guard lock(mutex);
  if (file == nullptr || text.size() > 20000 || !known.emplace(text).second) return;
  std::string line(text);
  for (char& c : line)
    if (c == '\n') c = ' ';
  line += '\n';
  if (std::FILE* const out = std::fopen(file, "a")) {
    std::fwrite(line.data(), 1, line.size(), out);
    std::fclose(out);
  }
}

}  // namespace

// The functions of the shared library that all of fmt::format, fmt::print and fmt::format_to end in.
namespace fmt {
inline namespace v9 {
std::string vformat(string_view pattern, format_args arguments) {
  note({pattern.data(), pattern.size()});
  std::string out;
  vformat_to(std::back_inserter(out), pattern, arguments);
  return out;
}
void vprint(std::FILE* file, string_view pattern, format_args arguments) {
  const std::string text = vformat(pattern, arguments);
  std::fwrite(text.data(), 1, text.size(), file);
}
}  // namespace v9
}  // namespace fmt

extern "C" void __cxa_throw(void* object, void* type, void (*destroy)(void*)) {
  using Throw = void (*)(void*, void*, void (*)(void*));
  static const auto real = reinterpret_cast<Throw>(dlsym(RTLD_NEXT, "__cxa_throw"));
  void* as_exception = object;
  if (typeid(std::exception).__do_catch(static_cast<const std::type_info*>(type), &as_exception, 1))
    note(static_cast<const std::exception*>(as_exception)->what());
  real(object, type, destroy);
  std::abort();
}
