// Runs that are killed (SIGKILL) at random times and resumed from their checkpoints give the files and the summary of a run that nobody disturbs.
//
// LIEDYN_KILLS=100 build/dev/end_to_end_test --gtest_filter=Checkpoint.*Killed*   kills every case that often, and counts.

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "support/program.h"

namespace liedyn::testing {
namespace {

using ::testing::HasSubstr;

// Starts the program, and kills it after a time unless it ended before. True: it was killed.
bool killed_after(double seconds, std::vector<std::string> arguments, const std::string& out) {
  arguments.insert(arguments.begin(), LIEDYN_PROGRAM);
  std::vector<char*> words;
  for (std::string& word : arguments) words.push_back(word.data());
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error = posix_spawn(&child, LIEDYN_PROGRAM, &files, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) {
    ADD_FAILURE() << "cannot start the program";
    return false;
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) {
    EXPECT_EQ(WEXITSTATUS(status), 0) << fmt::format("{}", fmt::join(arguments, " "));
  }
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

// Without what a clock or a count of allocations says.
nlohmann::json comparable(const std::string& summary) {
  nlohmann::json out = nlohmann::json::parse(summary);
  for (const char* key : {"date", "wall_seconds", "allocations_in_loop"}) out.erase(key);
  return out;
}

struct Killed {
  std::string model, end, step, every, integrator, more = "";
};

// Multistep history, kept matrices, adaptive steps, redundant rows, joint coordinates, contacts, states, flexible bodies.
const Killed kCases[] = {
    {"heavy_top", "1", "1e-4", "200", "lms3"},
    {"heavy_top", "1", "1e-4", "200", "generalized-alpha,sigma=opt,newton=modified"},
    {"heavy_top", "0.3", "1e-3", "50", "generalized-alpha,sigma=opt,adaptive=true,rtol=1e-6"},
    {"heavy_top_free", "2", "1e-3", "40", "dopri5,adaptive=true,rtol=1e-10"},
    {"four_bar", "0.4", "1e-4", "200", "generalized-alpha"},
    {"puma560", "0.02", "1e-4", "20", "esdirk4-6", "--formulation=minimal"},
    {"bouncing_ball", "2", "1e-4", "200", "generalized-alpha"},
    {"controlled_arm", "0.2", "1e-4", "200", "rk44"},
    {"slider_crank_flexible", "0.01", "1e-5", "100", "generalized-alpha"},
};

// A run to its end with so many kills on the way, each after a time between the start of the program and its end, and a summary equal to that of `whole`.
int kill_and_resume(const Killed& c, int kills, std::mt19937& random) {
  const TemporaryDirectory directory;
  const std::string name = c.model + ", " + c.integrator;
  std::vector<std::string> arguments = {"run",  c.model,  "--end",        c.end,       "--step",
                                        c.step, "--json", "--integrator", c.integrator};
  if (!c.more.empty()) arguments.push_back(c.more);
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> out = arguments;
    out.insert(out.end(), more.begin(), more.end());
    return out;
  };
  const Outcome whole = run_program(with({"--out", directory.file("whole.csv")}));
  if (whole.exit_code != 0) {
    ADD_FAILURE() << name << ": " << whole.err;
    return 0;
  }
  const std::string checkpoint = directory.file("run.checkpoint"), out = directory.file("out");
  const auto next = [&] {
    std::vector<std::string> more = {"--checkpoint", checkpoint, "--every",
                                     c.every,        "--out",    directory.file("killed.csv")};
    if (std::filesystem::exists(checkpoint)) more.insert(more.end(), {"--resume", checkpoint});
    return with(more);
  };
  int count = 0;
  std::uniform_real_distribution<double> delay(0.01, 0.2);
  for (int i = 0; i < kills; ++i) {
    if (!killed_after(delay(random), next(), out)) {  // it was faster: another one from the start
      std::filesystem::remove(directory.file("killed.csv"));
      std::filesystem::remove(checkpoint);
      continue;
    }
    ++count;
    // It may have been killed after its file was complete, but never leaves half of one.
    if (std::filesystem::exists(directory.file("killed.csv"))) {
      EXPECT_EQ(content_of(directory.file("killed.csv")), content_of(directory.file("whole.csv")))
          << name << ": half of a file";
    }
  }
  const Outcome last = run_program(next());
  EXPECT_EQ(last.exit_code, 0) << name << ": " << last.err;
  if (last.exit_code != 0) return count;
  EXPECT_EQ(comparable(last.out), comparable(whole.out)) << name;
  EXPECT_EQ(content_of(directory.file("killed.csv")), content_of(directory.file("whole.csv"))) << name;
  return count;
}

TEST(Checkpoint, RunsThatAreKilledGiveTheSameBits) {
  const char* const wanted = std::getenv("LIEDYN_KILLS");
  const int kills = wanted != nullptr ? std::atoi(wanted) : 2;
  std::mt19937 random(27);
  int count = 0;
  for (const Killed& c : kCases) count += kill_and_resume(c, kills, random);
  fmt::print("  {} kills\n", count);
  EXPECT_GT(count, 0);
}

TEST(Checkpoint, WhatDoesNotFitIsRefused) {
  const TemporaryDirectory directory;
  const std::string checkpoint = directory.file("run.checkpoint");
  const std::vector<std::string> run = {"run", "heavy_top", "--end", "0.05"};
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> out = run;
    out.insert(out.end(), more.begin(), more.end());
    return run_program(out);
  };
  ASSERT_EQ(with({"--checkpoint", checkpoint, "--every", "20"}).exit_code, 0);
  ASSERT_EQ(with({"--resume", checkpoint}).exit_code, 0);
  const std::string good = content_of(checkpoint), rows = content_of(checkpoint + ".csv");
  EXPECT_THAT(rows, HasSubstr("t,position[0]"));

  const auto message = [&](std::vector<std::string> more) {
    const Outcome outcome = with(more);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    return outcome.err;
  };
  EXPECT_THAT(message({"--resume", directory.file("none")}), HasSubstr("none: cannot be read: No such file"));
  EXPECT_THAT(message({"--resume", directory.file("")}), HasSubstr("cannot be read: Is a directory"));
  EXPECT_THAT(message({"--resume", checkpoint, "--set", "spin=151"}), HasSubstr("other parameters"));
  EXPECT_THAT(message({"--resume", checkpoint, "--step", "2e-3"}), HasSubstr("other settings"));
  EXPECT_THAT(message({"--resume", checkpoint, "--output-every", "2"}), HasSubstr("another output"));
  EXPECT_THAT(message({"--checkpoint", directory.file("no/folder")}), HasSubstr("cannot be written"));
  EXPECT_THAT(message({"--every", "20"}), HasSubstr("no effect without --checkpoint"));
  for (const char* every : {"0", "-1", "1.5", "s", "0s", "1m", "nan", "1e300", ""})
    EXPECT_THAT(message({"--checkpoint", checkpoint, fmt::format("--every={}", every)}), HasSubstr("--every"))
        << every;

  // Damage of any byte, and any length.
  for (std::size_t i = 0; i < good.size(); i += 1 + good.size() / 12) {
    std::string damaged = good;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    directory.write("run.checkpoint", damaged);
    EXPECT_EQ(with({"--resume", checkpoint}).exit_code, 2) << i;
    directory.write("run.checkpoint", good.substr(0, i));
    EXPECT_EQ(with({"--resume", checkpoint}).exit_code, 2) << i;
  }
  directory.write("run.checkpoint", good);
  directory.write("run.checkpoint.csv", rows + "0.0205,1,");
  EXPECT_EQ(with({"--resume", checkpoint}).exit_code, 0) << "a row that a kill left behind";
  std::string other = rows;
  other[rows.size() / 2] ^= 1;
  directory.write("run.checkpoint.csv", other);
  EXPECT_THAT(message({"--resume", checkpoint}), HasSubstr("got others"));
  directory.write("run.checkpoint.csv", rows.substr(0, rows.size() / 2));
  EXPECT_THAT(message({"--resume", checkpoint}), HasSubstr("got fewer"));
}

// SIGTERM, as batch queues send it, leaves a checkpoint of the step where it stopped. `timeout` sends it twice, to the program and to its group: the second one
// comes before the checkpoint is written, or after.
TEST(Checkpoint, IsKeptWhereARunIsTerminated) {
  const std::string program = LIEDYN_PROGRAM;
  for (const std::string second : {"", "sleep 0.02; kill -TERM $pid;", "sleep 0.2; kill -TERM $pid;"}) {
    const TemporaryDirectory directory;
    const std::string checkpoint = directory.file("c");
    const std::string run = program +
                            " run heavy_top --end 2000 --step 1e-4 --output-every 100 --checkpoint " +
                            checkpoint + " --every 1000s >/dev/null 2>" + directory.file("err");
    const std::string command = second.empty()
                                    ? "timeout -s TERM 3 " + run
                                    : run + " & pid=$!; sleep 2; kill -TERM $pid; " + second + " wait $pid";
    const int status = std::system(command.c_str());
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_THAT(content_of(directory.file("err")), HasSubstr("--resume " + checkpoint + " continues the run"))
        << second;
    EXPECT_TRUE(std::filesystem::exists(checkpoint)) << second;
  }
}

}  // namespace
}  // namespace liedyn::testing
