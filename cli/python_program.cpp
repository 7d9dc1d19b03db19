#include "python_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

#include "liedyn/base/error.h"

namespace liedyn::cli {
namespace {

namespace fs = std::filesystem;

// With its compiled module: the sources alone do not run.
bool is_package(const fs::path& directory) {
  std::error_code error;
  auto entries = fs::directory_iterator(directory / "liedyn", error);
  return !error && std::any_of(fs::begin(entries), fs::end(entries), [](const fs::directory_entry& entry) {
    return entry.path().filename().string().starts_with("_liedyn.");
  });
}

// The directory that holds the package, in the nearest directory above this program that has one.
std::optional<fs::path> package_directory() {
  std::error_code error;
  fs::path above = fs::read_symlink("/proc/self/exe", error);
  while (above.has_relative_path()) {
    above = above.parent_path();
    if (is_package(above / "python")) return above / "python";
    // lib/python3.X/site-packages, or lib/<architecture>/python3.X/site-packages; Debian calls them dist-packages.
    for (const char* name : {"lib", "lib64"}) {
      auto entry = fs::recursive_directory_iterator(above / name, error);
      for (; !error && entry != fs::end(entry); entry.increment(error)) {
        const bool python = entry->path().filename().string().starts_with("python3");
        for (const char* packages : {"site-packages", "dist-packages"})
          if (python && is_package(entry->path() / packages)) return entry->path() / packages;
        if (python || entry.depth() >= 1) entry.disable_recursion_pending();
      }
    }
  }
  return std::nullopt;
}

// Starts a program found on the PATH and waits for it; nothing if it could not be started, with the reason in errno. With
// `log` both of its outputs go there.
std::optional<int> run(const std::vector<std::string>& words, int log = -1) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (log >= 0) {
    posix_spawn_file_actions_adddup2(&actions, log, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, log, STDERR_FILENO);
  }
  pid_t child = 0;
  const int failed = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    errno = failed;
    return std::nullopt;
  }
  // Ctrl-C is for the child, which ends in its own way; then so does this program.
  const auto before = std::signal(SIGINT, SIG_IGN);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  std::signal(SIGINT, before);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// The last line of what an attempt printed: of a Python error it says what was wrong.
std::string last_line(int log) {
  std::array<char, 4096> buffer{};
  const off_t size = lseek(log, 0, SEEK_END);
  const off_t begin = std::max<off_t>(0, size - static_cast<off_t>(buffer.size()));
  const ssize_t count = pread(log, buffer.data(), buffer.size(), begin);
  std::string text(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(0, count)));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

PythonPackage find_interpreter() {
  constexpr std::string_view kMark = "liedyn ";  // so that what is no Python is not taken for one
  std::vector<std::string> candidates = {"python3", "/usr/bin/python3"};
  if (const char* const chosen = std::getenv("LIEDYN_PYTHON"); chosen != nullptr && *chosen != '\0')
    candidates = {chosen};
  std::vector<std::string> reasons;
  for (const std::string& candidate : candidates) {
    std::string name = (fs::temp_directory_path() / "liedyn_python_XXXXXX").string();
    const int log = mkstemp(name.data());
    unlink(name.c_str());
    const std::optional<int> code =
        run({candidate, "-c", "import liedyn, numpy, matplotlib; print('liedyn', liedyn.__version__)"}, log);
    const std::string said = last_line(log);
    close(log);
    if (code == 0 && said.starts_with(kMark)) return {candidate, said.substr(kMark.size())};
    reasons.push_back(fmt::format("{}: {}", candidate,
                                  !code ? "no such program"
                                  : said.empty()
                                      ? fmt::format("it prints nothing, and its exit code is {}", *code)
                                      : said));
  }
  throw InputError(
      "",
      fmt::format("this command needs Python with numpy and matplotlib, which was not found ({})",
                  fmt::join(reasons, "; ")),
      "on Debian: apt install python3-numpy python3-matplotlib; LIEDYN_PYTHON names another interpreter");
}

}  // namespace

PythonPackage find_python_package() {
  if (const auto package = package_directory()) {
    const char* const old = std::getenv("PYTHONPATH");
    const std::string path =
        old == nullptr || *old == '\0' ? package->string() : package->string() + ":" + old;
    setenv("PYTHONPATH", path.c_str(), 1);
  }
  return find_interpreter();
}

int run_python_module(const std::string& module, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {find_python_package().interpreter, "-m", module};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const std::optional<int> code = run(words);
  if (!code) throw InputError("", fmt::format("{} could not be started: {}", words[0], std::strerror(errno)));
  return *code;
}

bool has_display() {
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY"})
    if (const char* const value = std::getenv(name); value != nullptr && *value != '\0') return true;
  return false;
}

bool open_in_browser(const std::string& file) {
  const int silence = open("/dev/null", O_WRONLY | O_CLOEXEC);
  bool opened = false;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"xdg-open", file}, {"python3", "-m", "webbrowser", "-t", file}})
    opened = opened || run(words, silence) == 0;
  if (silence >= 0) close(silence);
  return opened;
}

bool plot_study(const std::string& prefix, const std::vector<std::string>& options) {
  std::vector<std::string> words = {prefix + ".json", prefix + ".png"};
  words.insert(words.end(), options.begin(), options.end());
  try {
    if (run_python_module("liedyn.plots", words) == 0) return true;
    fmt::print(stderr, "no plot: the Python program failed\n");
  } catch (const InputError& error) {
    for (const Diagnostic& finding : error.diagnostics())
      fmt::print(stderr, "no plot: {}\n", to_string(finding));
  }
  return false;
}

}  // namespace liedyn::cli
