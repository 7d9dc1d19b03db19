// Runs the program `liedyn` as a user would, and files for it to read.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <sys/wait.h>

namespace liedyn::testing {

inline std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// A directory of its own, removed at the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "liedyn_test_XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
    return file(name);
  }

 private:
  std::filesystem::path path_;
};

struct Outcome {
  int exit_code = -1;  // negative: it crashed or ran too long
  std::string out;     // on standard output
  std::string err;     // on standard error
};

inline Outcome run_program(const std::vector<std::string>& arguments) {
  const TemporaryDirectory directory;
  std::string command = "timeout 60 " LIEDYN_PROGRAM;
  for (const std::string& argument : arguments) {
    command += " '";
    for (const char c : argument) command += c == '\'' ? std::string("'\\''") : std::string(1, c);
    command += "'";
  }
  command += " >" + directory.file("out") + " 2>" + directory.file("err") + " </dev/null";
  const int status = std::system(command.c_str());
  Outcome outcome;
  // The shell reports a crash, and `timeout` the end of its patience, by codes above 100.
  if (WIFEXITED(status) && WEXITSTATUS(status) < 100) outcome.exit_code = WEXITSTATUS(status);
  outcome.out = content_of(directory.file("out"));
  outcome.err = content_of(directory.file("err"));
  return outcome;
}

}  // namespace liedyn::testing
