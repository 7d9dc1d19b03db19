#include "liedyn/io/hdf5_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <hdf5.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <filesystem>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>

#include "liedyn/base/error.h"
#include "liedyn/io/hdf5_handle.h"
#include "liedyn/io/hdf5_text.h"

namespace liedyn {
namespace {

constexpr int kWordSize = 32;  // with the zero at its end

// Not every build of the library may be called from several threads. Before the first file: after a write that failed (a full disk, a limit of the file size) the
// library would crash when it tidies up at the end of the program; files are closed here anyway. And it would print its own stack of errors.
std::unique_lock<std::recursive_mutex> library() {
  static std::recursive_mutex mutex;
  std::unique_lock<std::recursive_mutex> lock(mutex);
  static const herr_t no_tidying = H5dont_atexit();
  static_cast<void>(no_tidying);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // of this thread
  return lock;
}

std::size_t product(const std::vector<std::size_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

// Chunks as the filters "shuffle" and "deflate" of HDF5 write them, at a fraction of their cost. Shuffled, the k-th bytes of all numbers stand together. The lower bytes of
// most numbers are noise that does not become shorter: these are only copied. Which ones is tried now and then.
class Compressor {
 public:
  Compressor() {
    if (deflateInit(&stream_, kLevel) != Z_OK) throw std::bad_alloc();
  }
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;
  ~Compressor() { deflateEnd(&stream_); }

  static constexpr int kLevel = 1;
  static constexpr int kPlanes = sizeof(double);
  struct Choice {
    std::array<bool, kPlanes> worthwhile = {};
    long chunks = 0;  // so far
  };

  // The compressed bytes, until the next call.
  std::span<const Bytef> compressed(std::span<const double> numbers, Choice& choice) {
    const std::size_t count = numbers.size();
    shuffled_.resize(count * kPlanes);
    const auto* bytes = reinterpret_cast<const Bytef*>(numbers.data());
    // In pieces that stay in the cache while they are read eight times.
    constexpr std::size_t kPiece = 1024;
    for (std::size_t begin = 0; begin < count; begin += kPiece)
      for (std::size_t plane = 0; plane < kPlanes; ++plane) {
        Bytef* const to = shuffled_.data() + plane * count;
        for (std::size_t i = begin; i < std::min(begin + kPiece, count); ++i)
          to[i] = bytes[kPlanes * i + plane];
      }
    constexpr long kTriedAgain = 32;
    if (choice.chunks++ % kTriedAgain == 0)
      for (int plane = 0; plane < kPlanes; ++plane) {
        constexpr double kWorthwhile = 0.5;
        constexpr std::size_t kSample = 8192;
        const std::size_t sample = std::min(count, kSample);
        std::array<bool, kPlanes> only = {};
        only[static_cast<std::size_t>(plane)] = true;
        choice.worthwhile[static_cast<std::size_t>(plane)] =
            static_cast<double>(deflated(count, sample, plane, plane + 1, only)) <
            kWorthwhile * static_cast<double>(sample);
      }
    const std::size_t size = deflated(count, count, 0, kPlanes, choice.worthwhile);
    return {out_.data(), size};
  }

 private:
  // Planes from `begin` to `end` as one stream, or the first `length` bytes of each.
  std::size_t deflated(std::size_t count, std::size_t length, int begin, int end,
                       const std::array<bool, kPlanes>& worthwhile) {
    const std::size_t size = length * static_cast<std::size_t>(end - begin);
    out_.resize(size + size / 8 + 4096);  // deflate stores what does not become shorter
    deflateReset(&stream_);
    stream_.next_out = out_.data();
    stream_.avail_out = static_cast<uInt>(out_.size());
    for (int plane = begin; plane < end; ++plane) {
      stream_.avail_in = 0;
      deflateParams(&stream_, worthwhile[static_cast<std::size_t>(plane)] ? kLevel : 0, Z_DEFAULT_STRATEGY);
      stream_.next_in = shuffled_.data() + static_cast<std::size_t>(plane) * count;
      stream_.avail_in = static_cast<uInt>(length);
      deflate(&stream_, plane + 1 == end ? Z_FINISH : Z_NO_FLUSH);
    }
    return stream_.total_out;
  }

  z_stream stream_ = {};
  std::vector<Bytef> shuffled_, out_;
};

// A lock that ends with the program, whatever ends it. It belongs to the open file and not to the process, so that reading the file in the same program does not end it.
int open_locked(const std::string& file) {
#ifdef F_OFD_SETLK
  const int out = open(file.c_str(), O_RDWR | O_CLOEXEC);
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (out >= 0) fcntl(out, F_OFD_SETLK, &lock);
  return out;
#else
  static_cast<void>(file);
  return -1;
#endif
}

}  // namespace

bool is_being_written(const std::string& file) {
#ifdef F_OFD_GETLK
  const int in = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (in < 0) return false;
  struct flock lock = {};
  lock.l_type = F_RDLCK;
  lock.l_whence = SEEK_SET;
  const bool held = fcntl(in, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  close(in);
  return held;
#else
  static_cast<void>(file);
  return false;
#endif
}

struct Hdf5File::Content {
  using Clock = std::chrono::steady_clock;

  struct Table {
    Hdf5Handle dataset;
    std::size_t first, width;  // in a row
    std::vector<hsize_t> size;
    Compressor::Choice choice = {};
  };
  // Tables that grow together.
  struct Rows {
    std::vector<Table> tables;
    std::size_t width = 0, chunk_rows = 1;
    std::size_t begin = 0;  // of the chunk that is being filled
    std::vector<double> filled;
    std::size_t shown = 0;  // rows of it that readers can see
    Clock::time_point shown_at = Clock::now();
    std::size_t count() const { return filled.size() / width; }
  };
  struct Job {
    Rows* rows;
    std::size_t begin;
    std::vector<double> values;
  };

  explicit Content(std::string file) : name(std::move(file)), part(name + ".part") {
    const auto lock = library();
    const Hdf5Handle access(check(H5Pcreate(H5P_FILE_ACCESS)), &H5Pclose);
    check(H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST));
    file_id = check(H5Fcreate(part.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access));
  }
  ~Content() {
    try {
      if (file_id >= 0) finish();
    } catch (...) {  // what could not be written is lost: the disk is full
    }
    stop_thread();
    {
      const auto lock = library();
      groups.clear();
      if (file_id >= 0) H5Fclose(file_id);
    }
    if (lock_file >= 0) ::close(lock_file);
    std::error_code ignored;
    if (!visible) std::filesystem::remove(part, ignored);
  }
  Content(const Content&) = delete;
  Content& operator=(const Content&) = delete;

  hid_t check(hid_t result) const {
    if (result < 0)
      throw InputError(
          {{name, 0, "", "cannot be written as HDF5", "is the disk full, or the directory missing?"}});
    return result;
  }

  void appear() {
    if (visible) return;
    std::error_code error;
    std::filesystem::rename(part, name, error);
    if (error) throw InputError({{name, 0, "", fmt::format("cannot be written: {}", error.message()), ""}});
    visible = true;
  }

  Hdf5Handle make_table(const Hdf5Table& table, std::size_t chunk_rows) {
    std::vector<hsize_t> size = {0}, most = {H5S_UNLIMITED}, chunk = {chunk_rows};
    for (const std::size_t n : table.shape)
      for (std::vector<hsize_t>* list : {&size, &most, &chunk}) list->push_back(n);
    const Hdf5Handle space(check(H5Screate_simple(static_cast<int>(size.size()), size.data(), most.data())),
                           &H5Sclose);
    const Hdf5Handle creation(check(H5Pcreate(H5P_DATASET_CREATE)), &H5Pclose);
    check(H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data()));
    check(H5Pset_shuffle(creation));
    check(H5Pset_deflate(creation, Compressor::kLevel));
    const Hdf5Handle access(check(H5Pcreate(H5P_DATASET_ACCESS)), &H5Pclose);
    check(H5Pset_chunk_cache(access, 0, 0, 0));  // chunks are written whole
    return {
        check(H5Dcreate2(file_id, table.path.c_str(), H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, access)),
        &H5Dclose};
  }

  // Compresses a chunk and writes it, table by table. The first table comes when all others can be seen, since readers trust its number of rows; while it changes nothing of
  // it is written by chance.
  void write(const Job& piece) {
    Rows& rows = *piece.rows;
    for (std::size_t i = rows.tables.size(); i-- > 1;) write_chunk(rows, rows.tables[i], piece);
    if (!shared) return write_chunk(rows, rows.tables.front(), piece);
    const hid_t first = rows.tables.front().dataset;
    {
      const auto lock = library();
      if (rows.tables.size() > 1) check(H5Fflush(file_id, H5F_SCOPE_LOCAL));
      check(H5Odisable_mdc_flushes(first));
    }
    write_chunk(rows, rows.tables.front(), piece);
    const auto lock = library();
    check(H5Oenable_mdc_flushes(first));
    check(H5Dflush(first));
  }
  void write_chunk(const Rows& rows, Table& table, const Job& piece) {
    const std::size_t count = piece.values.size() / rows.width;
    picked.assign(rows.chunk_rows * table.width, 0);
    for (std::size_t row = 0; row < count; ++row)
      std::copy_n(piece.values.begin() + static_cast<std::ptrdiff_t>(row * rows.width + table.first),
                  table.width, picked.begin() + static_cast<std::ptrdiff_t>(row * table.width));
    const std::span<const Bytef> bytes = compressor.compressed(picked, table.choice);
    const auto lock = library();
    table.size.front() = piece.begin + count;
    std::vector<hsize_t> offset(table.size.size(), 0);
    offset.front() = piece.begin;
    check(H5Dset_extent(table.dataset, table.size.data()));
    check(H5Dwrite_chunk(table.dataset, H5P_DEFAULT, 0, offset.data(), bytes.size(), bytes.data()));
  }

  // Of the thread that writes.
  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return job || stopping; });
      if (!job) return;
      Job now = std::move(*job);
      job.reset();
      busy = true;
      lock.unlock();
      changed.notify_all();
      try {
        write(now);
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      busy = false;
      now.values.clear();
      if (now.values.capacity() > spare.capacity()) spare.swap(now.values);
      changed.notify_all();
      if (failure) return;
    }
  }
  void stop_thread() {
    if (!thread.joinable()) return;
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    changed.notify_all();
    thread.join();
  }
  void hand_over(Job&& next) {
    if (!thread.joinable()) thread = std::thread([this] { work(); });
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return !job || failure; });
    if (failure) std::rethrow_exception(failure);
    job.emplace(std::move(next));
    changed.notify_all();
  }
  // Memory of a chunk that was written: new memory would cost the run more than the numbers, since the system hands it out page by page.
  std::vector<double> used_room() {
    const std::lock_guard lock(mutex);
    return std::exchange(spare, {});
  }
  void wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return (!job && !busy) || failure; });
    if (failure) std::rethrow_exception(failure);
  }

  // Rows of the chunk that is not yet full. A chunk that is written again takes new space, so that this may not happen too often.
  void show(Rows& rows) {
    if (rows.count() == rows.shown) return;
    rows.shown = rows.count();
    rows.shown_at = Clock::now();
    hand_over({&rows, rows.begin, rows.filled});
  }
  void append(Rows& rows, std::span<const std::span<const double>> pieces) {
    for (const std::span<const double> piece : pieces)
      rows.filled.insert(rows.filled.end(), piece.begin(), piece.end());
    if (rows.count() == rows.chunk_rows) {
      Job full{&rows, rows.begin, std::move(rows.filled)};
      rows.filled = used_room();
      rows.filled.reserve(rows.chunk_rows * rows.width);
      rows.begin += rows.chunk_rows;
      rows.shown = 0;
      rows.shown_at = Clock::now();
      return hand_over(std::move(full));
    }
    constexpr auto kSoon = std::chrono::seconds(1), kLate = std::chrono::seconds(10);
    constexpr std::size_t kSmall = 1 << 14;  // numbers of a chunk that may be written again sooner
    const auto since = Clock::now() - rows.shown_at;
    const bool small = rows.chunk_rows * rows.width < kSmall && rows.count() >= 2 * rows.shown;
    if (since > kLate || (small && since > kSoon)) show(rows);
  }
  void finish() {
    for (const auto& rows : groups) show(*rows);
    if (thread.joinable()) wait();
  }

  void write_text(hid_t dataset, const std::string& content, std::size_t before) {
    std::string padded = content;  // with blanks, since a table that others read must not shrink
    padded.resize(std::max(before, content.size()), ' ');
    const std::array<hsize_t, 1> size = {padded.size()};
    check(H5Dset_extent(dataset, size.data()));
    check(H5Dwrite(dataset, H5T_NATIVE_UCHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT, padded.data()));
    check(H5Dflush(dataset));
  }

  std::string name, part;
  bool visible = false, shared = false;
  hid_t file_id = -1;
  int lock_file = -1;
  std::vector<std::unique_ptr<Rows>> groups;
  std::vector<std::pair<std::string, std::size_t>> texts;  // by path, with their sizes

  Compressor compressor;  // of the thread that writes
  std::vector<double> picked;

  std::thread thread;
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Job> job;
  std::vector<double> spare;
  bool busy = false, stopping = false;
  std::exception_ptr failure;
};

Hdf5File::Hdf5File(std::string file) : content_(std::make_unique<Content>(std::move(file))) {}
Hdf5File::~Hdf5File() = default;

void Hdf5File::group(const std::string& path) {
  const auto lock = library();
  Content& c = *content_;
  const Hdf5Handle group(c.check(H5Gcreate2(c.file_id, path.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)),
                         &H5Gclose);
}

void Hdf5File::attribute(const std::string& path, const std::string& name, const std::string& text) {
  const auto lock = library();
  Content& c = *content_;
  c.check(write_text_attribute(c.file_id, path, name, text) ? 0 : -1);
}

int Hdf5File::rows(const std::vector<Hdf5Table>& tables, std::size_t chunk_rows) {
  const auto lock = library();
  Content& c = *content_;
  auto rows = std::make_unique<Content::Rows>();
  rows->chunk_rows = chunk_rows;
  for (const Hdf5Table& table : tables) {
    const std::size_t width = product(table.shape);
    std::vector<hsize_t> size = {0};
    size.insert(size.end(), table.shape.begin(), table.shape.end());
    rows->tables.push_back({c.make_table(table, chunk_rows), rows->width, width, std::move(size)});
    rows->width += width;
  }
  c.groups.push_back(std::move(rows));
  return static_cast<int>(c.groups.size()) - 1;
}

void Hdf5File::text(const std::string& path, const std::string& content) {
  const auto lock = library();
  Content& c = *content_;
  const auto known = std::ranges::find(c.texts, path, &std::pair<std::string, std::size_t>::first);
  if (known != c.texts.end()) {
    const Hdf5Handle dataset(c.check(H5Dopen2(c.file_id, path.c_str(), H5P_DEFAULT)), &H5Dclose);
    c.write_text(dataset, content, known->second);
    known->second = std::max(known->second, content.size());
    return;
  }
  constexpr hsize_t kChunk = 1 << 16;
  const std::array<hsize_t, 1> size = {0}, most = {H5S_UNLIMITED}, chunk = {kChunk};
  const Hdf5Handle space(c.check(H5Screate_simple(1, size.data(), most.data())), &H5Sclose);
  const Hdf5Handle creation(c.check(H5Pcreate(H5P_DATASET_CREATE)), &H5Pclose);
  c.check(H5Pset_chunk(creation, 1, chunk.data()));
  c.check(H5Pset_deflate(creation, Compressor::kLevel));
  const Hdf5Handle dataset(
      c.check(H5Dcreate2(c.file_id, path.c_str(), H5T_STD_U8LE, space, H5P_DEFAULT, creation, H5P_DEFAULT)),
      &H5Dclose);
  c.write_text(dataset, content, 0);
  c.texts.emplace_back(path, content.size());
}

void Hdf5File::word(const std::string& path, const std::string& content) {
  const auto lock = library();
  Content& c = *content_;
  const Hdf5Handle type(c.check(H5Tcopy(H5T_C_S1)), &H5Tclose);
  c.check(H5Tset_size(type, kWordSize));
  if (H5Lexists(c.file_id, path.c_str(), H5P_DEFAULT) <= 0) {
    const Hdf5Handle space(c.check(H5Screate(H5S_SCALAR)), &H5Sclose);
    const Hdf5Handle creation(c.check(H5Pcreate(H5P_DATASET_CREATE)), &H5Pclose);
    c.check(H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY));
    const Hdf5Handle made(
        c.check(H5Dcreate2(c.file_id, path.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT)),
        &H5Dclose);
  }
  const Hdf5Handle dataset(c.check(H5Dopen2(c.file_id, path.c_str(), H5P_DEFAULT)), &H5Dclose);
  std::array<char, kWordSize> bytes = {};
  std::copy_n(content.begin(), std::min<std::size_t>(content.size(), kWordSize - 1), bytes.begin());
  c.check(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()));
  c.check(H5Dflush(dataset));
}

void Hdf5File::share() {
  const auto lock = library();
  Content& c = *content_;
  c.check(H5Fflush(c.file_id, H5F_SCOPE_LOCAL));
  c.check(H5Fstart_swmr_write(c.file_id));
  c.shared = true;
  c.lock_file = open_locked(c.part);
  c.appear();
}

void Hdf5File::append(int rows, std::span<const double> row) { append(rows, std::span(&row, 1)); }

void Hdf5File::append(int rows, std::span<const std::span<const double>> pieces) {
  content_->append(*content_->groups.at(static_cast<std::size_t>(rows)), pieces);
}

void Hdf5File::flush() { content_->finish(); }

void Hdf5File::close() {
  Content& c = *content_;
  c.finish();
  c.stop_thread();
  const auto lock = library();
  c.groups.clear();
  c.check(H5Fclose(std::exchange(c.file_id, -1)));
  if (c.lock_file >= 0) ::close(std::exchange(c.lock_file, -1));
  c.appear();
}

std::int64_t Hdf5Input::check(std::int64_t result, const std::string& what) const {
  if (result < 0)
    throw InputError({{name_, 0, "", what, "expected an HDF5 file that liedyn run --out FILE.h5 wrote"}});
  return result;
}

Hdf5Input::Hdf5Input(std::string file) : name_(std::move(file)) {
  const auto lock = library();
  if (std::error_code unknown; !std::filesystem::exists(name_, unknown) && !unknown)
    throw InputError({{name_, 0, "", "cannot be read: No such file or directory", ""}});
  // A file that is being written, or whose program was killed, opens only in the second way. What does not look right is then read again, since the program may just
  // be writing it: after pauses that double from a nanosecond on, so that the number of attempts is the logarithm of what a damaged file costs.
  constexpr unsigned kAttempts = 24;
  file_ = H5Fopen(name_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file_ >= 0) {
    // If this program has it open already, what is known of it is as old as that.
    unsigned how = 0;
    grows_ = H5Fget_intent(file_, &how) >= 0 && (how & H5F_ACC_SWMR_READ) != 0;
    return;
  }
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), &H5Pclose);
  H5Pset_metadata_read_attempts(access, kAttempts);
  file_ = check(H5Fopen(name_.c_str(), H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access), "cannot be read as HDF5");
  grows_ = true;
}

Hdf5Input::~Hdf5Input() {
  const auto lock = library();
  H5Fclose(file_);
}

bool Hdf5Input::has(const std::string& path) const {
  const auto lock = library();
  // Of "/a/b" first "/a": the library takes a missing group for an error.
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    if (H5Lexists(file_, path.substr(0, end).c_str(), H5P_DEFAULT) <= 0) return false;
    if (end == std::string::npos) return true;
  }
}

bool Hdf5Input::has_attribute(const std::string& path, const std::string& name) const {
  const auto lock = library();
  return H5Aexists_by_name(file_, path.c_str(), name.c_str(), H5P_DEFAULT) > 0;
}

std::string Hdf5Input::attribute(const std::string& path, const std::string& name) const {
  const auto lock = library();
  std::optional<std::string> text = read_text_attribute(file_, path, name);
  if (!text) check(-1, fmt::format("has no string attribute '{}' of '{}'", name, path));
  return std::move(*text);
}

namespace {

// What was never written takes no space in a file, and would be read as zeros, as many as it claims.
// Of a table in chunks: as far as the first `rows`.
bool is_stored(hid_t dataset, hid_t space, std::size_t element,
               hsize_t rows = std::numeric_limits<hsize_t>::max()) {
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  if (count < 0) return false;
  const Hdf5Handle creation(H5Dget_create_plist(dataset), &H5Pclose);
  if (creation < 0) return false;
  if (H5Pget_layout(creation) != H5D_CHUNKED)
    return H5Dget_storage_size(dataset) / element >= static_cast<hsize_t>(count);
  std::array<hsize_t, H5S_MAX_RANK> chunk = {}, size = {};
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank < 1 || H5Pget_chunk(creation, rank, chunk.data()) != rank ||
      H5Sget_simple_extent_dims(space, size.data(), nullptr) != rank)
    return false;
  size[0] = std::min(size[0], rows);
  hsize_t chunks = 0, expected = 1;
  if (H5Dget_num_chunks(dataset, space, &chunks) < 0) return false;
  for (std::size_t i = 0; i < static_cast<std::size_t>(rank); ++i) {
    if (chunk[i] == 0) return false;
    const hsize_t along = size[i] / chunk[i] + (size[i] % chunk[i] != 0 ? 1 : 0);
    if (along != 0 && expected > chunks / along) return false;  // also where the product would be too large
    expected *= along;
  }
  return chunks >= expected;
}

}  // namespace

std::string Hdf5Input::text(const std::string& path) const {
  const auto lock = library();
  const std::string missing = fmt::format("has no string '{}'", path);
  const Hdf5Handle dataset(check(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), missing), &H5Dclose);
  const Hdf5Handle space(check(H5Dget_space(dataset), missing), &H5Sclose);
  const Hdf5Handle type(check(H5Dget_type(dataset), missing), &H5Tclose);
  std::array<hsize_t, 1> size = {0};
  if (H5Sget_simple_extent_ndims(space) != 1 || H5Tget_class(type) != H5T_INTEGER || H5Tget_size(type) != 1 ||
      !is_stored(dataset, space, 1))
    check(-1, missing);
  check(H5Sget_simple_extent_dims(space, size.data(), nullptr), missing);
  std::string out(size[0], ' ');
  check(H5Dread(dataset, H5T_NATIVE_UCHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.data()), missing);
  out.resize(out.find_last_not_of(' ') + 1);
  return out;
}

std::string Hdf5Input::word(const std::string& path) const {
  const auto lock = library();
  const std::string missing = fmt::format("has no string '{}'", path);
  const Hdf5Handle dataset(check(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), missing), &H5Dclose);
  const Hdf5Handle space(check(H5Dget_space(dataset), missing), &H5Sclose);
  const Hdf5Handle stored(check(H5Dget_type(dataset), missing), &H5Tclose);
  if (H5Sget_simple_extent_npoints(space) != 1 || H5Tget_class(stored) != H5T_STRING ||
      H5Tis_variable_str(stored) != 0)
    check(-1, missing);
  const Hdf5Handle type(check(H5Tcopy(H5T_C_S1), missing), &H5Tclose);
  check(H5Tset_size(type, kWordSize), missing);
  std::array<char, kWordSize> bytes = {};
  check(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()), missing);
  bytes.back() = '\0';
  return bytes.data();
}

std::vector<std::string> Hdf5Input::entries(const std::string& path) const {
  const auto lock = library();
  const Hdf5Handle group(
      check(H5Gopen2(file_, path.c_str(), H5P_DEFAULT), fmt::format("has no group '{}'", path)), &H5Gclose);
  std::vector<std::string> out;
  hsize_t index = 0;
  const auto add = [](hid_t, const char* name, const H5L_info_t*, void* list) -> herr_t {
    static_cast<std::vector<std::string>*>(list)->emplace_back(name);
    return 0;
  };
  check(H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, &index, add, &out),
        fmt::format("has no readable group '{}'", path));
  return out;
}

std::vector<std::size_t> Hdf5Input::shape(const std::string& path) const {
  const auto lock = library();
  const std::string missing = fmt::format("has no table of numbers '{}'", path);
  const Hdf5Handle dataset(check(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), missing), &H5Dclose);
  if (grows_) check(H5Drefresh(dataset), missing);
  const Hdf5Handle space(check(H5Dget_space(dataset), missing), &H5Sclose);
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank < 1) check(-1, missing);
  std::array<hsize_t, H5S_MAX_RANK> size = {};
  check(H5Sget_simple_extent_dims(space, size.data(), nullptr), missing);
  return {size.begin(), size.begin() + rank};
}

Hdf5Input::Table Hdf5Input::table(const std::string& path, std::size_t first, std::size_t rows) const {
  const auto lock = library();
  const std::string missing = fmt::format("has no table of numbers '{}'", path);
  const Hdf5Handle dataset(check(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), missing), &H5Dclose);
  const Hdf5Handle type(check(H5Dget_type(dataset), missing), &H5Tclose);
  // While a file grows, the size of a table may be known before its last chunks are.
  constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  const auto is_complete = [&] {
    const Hdf5Handle now(check(H5Dget_space(dataset), missing), &H5Sclose);
    return is_stored(dataset, now, sizeof(double), first > kAll - rows ? kAll : first + rows);
  };
  constexpr int kAttempts = 12;
  if (grows_) check(H5Drefresh(dataset), missing);
  bool complete = is_complete();
  for (int attempt = 0; grows_ && !complete && attempt < kAttempts; ++attempt) {
    std::this_thread::sleep_for(std::chrono::microseconds(100 << std::min(attempt, 8)));
    check(H5Drefresh(dataset), missing);
    complete = is_complete();
  }
  if (H5Tget_class(type) != H5T_FLOAT || !complete) check(-1, missing);
  const Hdf5Handle space(check(H5Dget_space(dataset), missing), &H5Sclose);
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank < 1) check(-1, missing);
  std::vector<hsize_t> shape(static_cast<std::size_t>(rank));
  check(H5Sget_simple_extent_dims(space, shape.data(), nullptr), missing);
  Table out;
  out.rows = first < shape[0] ? std::min<std::size_t>(rows, shape[0] - first) : 0;
  out.columns = product(std::vector<std::size_t>(shape.begin() + 1, shape.end()));
  out.data.resize(out.rows * out.columns);
  if (out.data.empty()) return out;
  std::vector<hsize_t> start(shape.size(), 0), size(shape.begin(), shape.end());
  start[0] = first;
  size[0] = out.rows;
  check(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr), missing);
  const Hdf5Handle memory(
      check(H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr), missing), &H5Sclose);
  check(H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, out.data.data()),
        fmt::format("is damaged: the table '{}' cannot be read", path));
  return out;
}

}  // namespace liedyn
