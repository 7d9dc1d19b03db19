#include "liedyn/io/hdf5_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>

#include "liedyn/base/error.h"

namespace liedyn {
namespace {

using testing::HasSubstr;

class Hdf5Files : public testing::Test {
 protected:
  Hdf5Files() { std::filesystem::create_directories(directory_); }
  ~Hdf5Files() override { std::filesystem::remove_all(directory_); }
  std::string file(const std::string& name) const { return (directory_ / name).string(); }
  std::filesystem::path directory_ =
      std::filesystem::path(testing::TempDir()) / ("liedyn_hdf5_file_" + std::to_string(getpid()));
};

// Numbers whose lower bytes are noise, and zeros.
std::vector<double> row_of(long i) {
  return {0.01 * static_cast<double>(i), std::sin(0.3 * static_cast<double>(i)), 0,
          std::exp(-1e-3 * static_cast<double>(i)), static_cast<double>(i % 7)};
}

int lay_out(Hdf5File& out, std::size_t chunk) {
  out.group("/sensors");
  const int rows = out.rows({{"/time", {}}, {"/sensors/x", {2, 1}}, {"/sensors/y", {2}}}, chunk);
  out.attribute("/sensors/y", "unit", "m");
  out.text("/summary", "begun");
  out.word("/status", "running");
  return rows;
}

// Rows that a reader sees; each of them must be complete.
std::size_t checked_rows(const Hdf5Input& in) {
  const Hdf5Input::Table time = in.table("/time"), x = in.table("/sensors/x", 0, time.rows),
                         y = in.table("/sensors/y", 0, time.rows);
  EXPECT_EQ(x.rows, time.rows);
  EXPECT_EQ(y.rows, time.rows);
  for (std::size_t i = 0; i < time.rows; ++i) {
    const std::vector<double> expected = row_of(static_cast<long>(i));
    const std::vector<double> got = {time.data[i], x.data[2 * i], x.data[2 * i + 1], y.data[2 * i],
                                     y.data[2 * i + 1]};
    if (got != expected) {
      ADD_FAILURE() << "row " << i << " of " << time.rows;
      return 0;
    }
  }
  return time.rows;
}

TEST_F(Hdf5Files, RowsAreReadBackBitByBit) {
  constexpr long kRows = 1234;
  for (const std::size_t chunk : {1u, 100u, 1234u, 5000u}) {
    Hdf5File out(file("a.h5"));
    const int rows = lay_out(out, chunk);
    for (long i = 0; i < kRows; ++i) out.append(rows, row_of(i));
    out.text("/summary", "a longer one");
    out.text("/summary", "done");
    out.word("/status", "completed");
    EXPECT_FALSE(std::filesystem::exists(file("a.h5")))
        << "not shared, so that it appears when it is complete";
    out.close();
    const Hdf5Input in(file("a.h5"));
    EXPECT_EQ(checked_rows(in), static_cast<std::size_t>(kRows));
    EXPECT_EQ(in.text("/summary"), "done");
    EXPECT_EQ(in.word("/status"), "completed");
    EXPECT_EQ(in.attribute("/sensors/y", "unit"), "m");
    EXPECT_EQ(in.shape("/sensors/x"), (std::vector<std::size_t>{1234, 2, 1}));
    EXPECT_EQ(in.entries("/sensors"), (std::vector<std::string>{"x", "y"}));
    EXPECT_TRUE(in.has("/sensors/x"));
    EXPECT_FALSE(in.has("/states/x"));
    const Hdf5Input::Table part = in.table("/sensors/y", 99, 3);
    EXPECT_EQ(part.rows, 3u);
    EXPECT_EQ(part.data[0], row_of(99)[3]);
    EXPECT_EQ(in.table("/sensors/y", 2000).rows, 0u);
    std::filesystem::remove(file("a.h5"));
  }
}

TEST_F(Hdf5Files, OthersReadWhileItIsWritten) {
  Hdf5File out(file("a.h5"));
  const int rows = lay_out(out, 64);
  out.share();
  EXPECT_TRUE(is_being_written(file("a.h5")));
  long written = 0;
  for (const long count : {0, 1, 63, 64, 65, 200, 640}) {
    for (; written < count; ++written) out.append(rows, row_of(written));
    out.flush();
    const Hdf5Input in(file("a.h5"));
    EXPECT_EQ(checked_rows(in), static_cast<std::size_t>(count));
    EXPECT_EQ(in.text("/summary"), "begun");
    EXPECT_EQ(in.word("/status"), "running");
  }
  out.text("/summary", "ended");
  out.word("/status", "completed");
  {
    const Hdf5Input in(file("a.h5"));
    EXPECT_EQ(in.text("/summary"), "ended");
    EXPECT_EQ(in.word("/status"), "completed");
  }
  out.close();
  EXPECT_FALSE(is_being_written(file("a.h5")));
  EXPECT_EQ(checked_rows(Hdf5Input(file("a.h5"))), 640u);
}

// What a program that is killed at any moment leaves behind is complete rows, and all that it had flushed. The program
// reports each flush, so that slow machines do not kill it earlier than fast ones.
TEST_F(Hdf5Files, AKilledProgramLeavesCompleteRows) {
  constexpr std::size_t kRowsPerFlush = 40;
  std::mt19937 random(7);
  for (int attempt = 0; attempt < 30; ++attempt) {
    const std::string name = file("killed.h5");
    std::filesystem::remove(name);
    int reports[2];
    ASSERT_EQ(::pipe(reports), 0);
    const pid_t child = fork();
    if (child == 0) {
      Hdf5File out(name);
      const int rows = lay_out(out, 16);
      out.share();
      for (std::size_t i = 1; i <= 1'000'000; ++i) {
        out.append(rows, row_of(static_cast<long>(i - 1)));
        if (i % kRowsPerFlush != 0) continue;
        out.flush();
        if (::write(reports[1], "f", 1) != 1) _exit(1);
      }
      _exit(0);
    }
    ASSERT_GT(child, 0);
    ::close(reports[1]);
    const int flushes = std::uniform_int_distribution<>(0, 20)(random);
    char report = 0;
    for (int i = 0; i < flushes; ++i) ASSERT_EQ(::read(reports[0], &report, 1), 1) << "the program ended";
    while (!std::filesystem::exists(name)) std::this_thread::sleep_for(std::chrono::microseconds(200));
    std::this_thread::sleep_for(std::chrono::microseconds(std::uniform_int_distribution<>(0, 2000)(random)));
    std::size_t seen = 0;
    if (attempt % 3 == 0) seen = checked_rows(Hdf5Input(name));  // while it is written
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ::close(reports[0]);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_FALSE(is_being_written(name));
    const Hdf5Input in(name);
    const std::size_t left = checked_rows(in);
    EXPECT_GE(left, seen);
    EXPECT_GE(left, kRowsPerFlush * static_cast<std::size_t>(flushes));
    EXPECT_EQ(in.word("/status"), "running");
  }
}

TEST_F(Hdf5Files, DamageIsAnErrorAndNeverAWrongNumber) {
  {
    Hdf5File out(file("whole.h5"));
    const int rows = lay_out(out, 64);
    for (long i = 0; i < 200; ++i) out.append(rows, row_of(i));
    out.close();
  }
  std::ifstream whole(file("whole.h5"), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(whole), std::istreambuf_iterator<char>()};
  std::mt19937 random(3);
  const auto position = [&] {
    return std::uniform_int_distribution<std::size_t>(0, bytes.size() - 1)(random);
  };
  int refused = 0;
  constexpr int kDamaged = 300;
  for (int i = 0; i < kDamaged; ++i) {
    std::string damaged = bytes;
    if (i % 3 == 0)
      damaged.resize(position());
    else
      for (int k = 0; k < (i % 3 == 1 ? 1 : 20); ++k)
        damaged[position()] ^= static_cast<char>(1 + random() % 255);
    std::ofstream(file("damaged.h5"), std::ios::binary) << damaged;
    try {
      const Hdf5Input in(file("damaged.h5"));
      checked_rows(in);  // what can be read is right
      in.text("/summary");
      in.word("/status");
      in.attribute("/sensors/y", "unit");
    } catch (const InputError& error) {
      ++refused;
      EXPECT_THAT(error.what(), HasSubstr("damaged.h5: "));
    }
  }
  EXPECT_GT(refused, kDamaged / 3);
}

// Texts of every length, also those that exceed the head of an object (64 kB).
TEST_F(Hdf5Files, TextAttributesComeBack) {
  const std::vector<std::string> texts = {"", "m", "\u00b5m/s", std::string(70'000, 'x'),
                                          std::string(1 << 20, 'y')};
  {
    Hdf5File out(file("texts.h5"));
    for (std::size_t i = 0; i < texts.size(); ++i) out.attribute("/", fmt::format("t{}", i), texts[i]);
    out.share();
    out.close();
  }
  const Hdf5Input in(file("texts.h5"));
  for (std::size_t i = 0; i < texts.size(); ++i)
    EXPECT_EQ(in.attribute("/", fmt::format("t{}", i)), texts[i]) << i;
}

// h5py writes texts of variable length, which lie in a heap. HDF5 1.10 never finds the end of a heap whose free space has no size.
TEST_F(Hdf5Files, ADamagedHeapOfTextsIsRefused) {
  const std::string name = file("heap.h5");
  const hid_t out = H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
  H5Tset_size(type, H5T_VARIABLE);
  const hid_t attribute = H5Acreate2(out, "unit", type, space, H5P_DEFAULT, H5P_DEFAULT);
  const char* const text = "metre";
  ASSERT_GE(H5Awrite(attribute, type, &text), 0);
  H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
  H5Fclose(out);
  EXPECT_EQ(Hdf5Input(name).attribute("/", "unit"), "metre");

  std::fstream bytes(name, std::ios::binary | std::ios::in | std::ios::out);
  const std::string whole{std::istreambuf_iterator<char>(bytes), std::istreambuf_iterator<char>()};
  const std::size_t heap = whole.find("GCOL");
  ASSERT_NE(heap, std::string::npos);
  // Heads of 16 bytes: of the heap and of the text with its 8 bytes; then the one of the free space, its size at the end.
  const std::size_t free_size = heap + 16 + 16 + 8 + 8;
  ASSERT_NE(whole[free_size], 0);
  bytes.clear();
  bytes.seekp(static_cast<std::streamoff>(free_size));
  bytes.write("\0\0\0\0\0\0\0\0", 8);
  bytes.close();
  EXPECT_THROW(Hdf5Input(name).attribute("/", "unit"), InputError);
}

TEST_F(Hdf5Files, AFileThatCannotBeWrittenIsAnError) {
  EXPECT_THROW(Hdf5File(file("missing/a.h5")), InputError);
  {
    const Hdf5File unfinished(file("b.h5"));
    EXPECT_TRUE(std::filesystem::exists(file("b.h5.part")));
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory_)) << "what never appeared is removed";
}

}  // namespace
}  // namespace liedyn
