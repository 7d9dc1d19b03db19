#include "liedyn/io/checkpoint_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <fmt/format.h>

#include "liedyn/base/archive.h"
#include "liedyn/base/error.h"
#include "liedyn/io/read_results.h"
#include "liedyn/io/text_output.h"
#include "liedyn/io/write_results.h"

namespace liedyn {
namespace {

constexpr std::string_view kCheckpointMagic = "liedyn checkpoint file 1\n",
                           kAnyCheckpointMagic = "liedyn checkpoint file ";

[[noreturn]] void cannot(const char* what, const std::string& file) {
  throw InputError({{file, 0, "", fmt::format("cannot be {}: {}", what, std::strerror(errno)), ""}});
}

[[noreturn]] void refuse_checkpoint(const std::string& file, const std::string& message,
                                    const std::string& hint) {
  throw InputError({{file, 0, "", message, hint}});
}

unsigned long crc_of(std::string_view bytes, unsigned long before = 0) {
  return crc32_z(before, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

// What is written through to the disk; messages name the file that the user knows.
class CheckpointOutput {
 public:
  CheckpointOutput(const std::string& path, const std::string& file, int flags)
      : file_(file), descriptor_(open(path.c_str(), flags, 0666)) {
    if (descriptor_ < 0) cannot("written", file);
  }
  CheckpointOutput(const CheckpointOutput&) = delete;
  CheckpointOutput& operator=(const CheckpointOutput&) = delete;
  ~CheckpointOutput() { close(descriptor_); }
  void write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) cannot("written", file_);
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  void synchronise() const {
    // Pipes and some file systems cannot, and need not.
    if (fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) cannot("written", file_);
  }

 private:
  const std::string& file_;
  int descriptor_;
};

std::string rows_file(const std::string& file) { return file + ".csv"; }

std::string read_whole(const std::string& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) {
    errno = EISDIR;
    cannot("read", file);
  }
  std::ifstream in(file, std::ios::binary);
  if (!in) cannot("read", file);
  std::string out{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (in.bad()) cannot("read", file);
  return out;
}

}  // namespace

void replace_file(const std::string& file, const std::string& bytes) {
  const std::string part = file + ".part";
  try {
    const CheckpointOutput out(part, file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC);
    out.write(bytes);
    out.synchronise();
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(part, ignored);
    throw;
  }
  if (std::rename(part.c_str(), file.c_str()) != 0) cannot("written", file);
  // The new name is on the disk when its folder is.
  std::filesystem::path folder = std::filesystem::path(file).parent_path();
  if (folder.empty()) folder = ".";
  CheckpointOutput(folder.string(), file, O_RDONLY | O_DIRECTORY | O_CLOEXEC).synchronise();
}

void check_replaceable(const std::string& file) {
  check_place(file);
  const std::string part = file + ".part";
  { const CheckpointOutput trial(part, file, O_WRONLY | O_CREAT | O_CLOEXEC); }
  std::error_code ignored;
  std::filesystem::remove(part, ignored);
}

CheckpointFile::CheckpointFile(std::string file) : file_(std::move(file)) {
  check_replaceable(file_);
  check_replaceable(rows_file(file_));
}

void CheckpointFile::keep(const std::string& run, const Trajectory& recorded) {
  const std::string rows = csv_rows(recorded, rows_);
  if (bytes_ == 0) {
    replace_file(rows_file(file_), rows);
  } else {
    const std::string name = rows_file(file_);
    const CheckpointOutput out(name, name, O_WRONLY | O_APPEND | O_CLOEXEC);
    out.write(rows);
    out.synchronise();
  }
  rows_ = recorded.rows();
  bytes_ += rows.size();
  crc_ = crc_of(rows, crc_);

  Archive a;
  std::uint64_t row_count = rows_, row_bytes = bytes_;
  auto row_crc = static_cast<std::uint32_t>(crc_);
  std::string bytes = run;
  a(row_count, row_bytes, row_crc, bytes);
  Archive head;
  auto crc = static_cast<std::uint32_t>(crc_of(a.bytes()));
  head(crc);
  replace_file(file_, std::string(kCheckpointMagic) + head.bytes() + a.bytes());
}

SavedRun read_checkpoint(const std::string& file) {
  const std::string whole = read_whole(file);
  SavedRun out;
  if (!whole.starts_with(kAnyCheckpointMagic)) {
    out.simulation = whole;
    return out;
  }
  if (!whole.starts_with(kCheckpointMagic))
    refuse_checkpoint(file, "another version of Liedyn wrote this checkpoint", "start the run again");
  const std::string_view content = std::string_view(whole).substr(kCheckpointMagic.size());
  Archive a(content);
  std::uint64_t row_count = 0, row_bytes = 0;
  std::uint32_t crc = 0, row_crc = 0;
  if (content.size() >= sizeof crc) a(crc);
  if (content.size() < sizeof crc || crc_of(a.rest()) != crc)
    refuse_checkpoint(file, "this checkpoint is damaged: its checksum does not match", "start the run again");
  a(row_count, row_bytes, row_crc, out.run);

  const std::string name = rows_file(file);
  std::string rows = read_whole(name);
  if (rows.size() < row_bytes)
    refuse_checkpoint(name,
                      fmt::format("expected the {} rows that belong to the checkpoint, got fewer", row_count),
                      "start the run again");
  rows.resize(row_bytes);
  if (crc_of(rows) != row_crc)
    refuse_checkpoint(name, "expected the rows that belong to the checkpoint, got others",
                      "start the run again");
  std::istringstream in(rows);
  out.recorded = read_csv(in, name).data;
  return out;
}

}  // namespace liedyn
