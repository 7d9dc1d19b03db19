#include "liedyn/io/sweep_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <hdf5.h>
#include <zlib.h>
#include <nlohmann/json.hpp>

#include "liedyn/base/error.h"
#include "liedyn/io/hdf5_handle.h"
#include "liedyn/io/hdf5_text.h"
#include "liedyn/io/text_output.h"
#include "liedyn/io/write_results.h"

namespace liedyn {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kJournalMagic = "liedyn study journal 1\n";
constexpr const char* kSuffix = ".journal";
constexpr std::size_t kRecordHead = 2 * sizeof(std::uint32_t);  // length and checksum, before each record
constexpr std::uint32_t kLongest = 1U << 30;
constexpr std::uint64_t kInFile = ~std::uint64_t{0};  // instead of an offset in the journal
constexpr std::size_t kStatisticsCount = std::size(kStatistics);
constexpr const char* kDamaged =
    "it is damaged, or was written by another program: move it away, and run the study again";

[[noreturn]] void refuse_store(const std::string& file, const std::string& what, const std::string& hint) {
  throw InputError({{file, 0, "", what, hint}});
}
[[noreturn]] void refuse_system(const std::string& file, const char* doing) {
  const int error = errno;
  refuse_store(file, fmt::format("{}: {}", doing, std::strerror(error)),
               "stored cases are safe; fix this, and the same command continues the study");
}

std::uint32_t checksum(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

template <class T>
void put(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

class Taker {
 public:
  explicit Taker(std::string_view bytes) : rest_(bytes) {}
  template <class T>
  T take() {
    T out;
    std::memcpy(&out, bytes(sizeof(T)).data(), sizeof(T));
    return out;
  }
  std::string_view bytes(std::size_t count) {
    if (count > rest_.size()) throw std::runtime_error("a record of a case is too short");
    const std::string_view out = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return out;
  }
  std::vector<double> numbers(std::size_t count) {
    const std::string_view raw = bytes(count * sizeof(double));
    std::vector<double> out(count);
    if (count > 0) std::memcpy(out.data(), raw.data(), raw.size());
    return out;
  }
  bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Reads as much as there is.
std::string read_at(int file, std::uint64_t offset, std::size_t count) {
  std::string out(count, '\0');
  std::size_t done = 0;
  while (done < count) {
    const ssize_t n = pread(file, out.data() + done, count - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<std::size_t>(n);
  }
  out.resize(done);
  return out;
}

// Whole records of a journal, one after the other, through a buffer.
class JournalReader {
 public:
  JournalReader(int file, std::uint64_t offset) : file_(file), offset_(offset) {}

  // The next record; false: there is none that is whole and sound.
  bool next(std::string_view& record) {
    if (!have(kRecordHead)) return false;
    std::uint32_t length = 0, sum = 0;
    std::memcpy(&length, buffer_.data() + at_, sizeof(length));
    std::memcpy(&sum, buffer_.data() + at_ + sizeof(length), sizeof(sum));
    if (length > kLongest || !have(kRecordHead + length)) return false;
    record = std::string_view(buffer_).substr(at_ + kRecordHead, length);
    if (checksum(record) != sum) return false;
    at_ += kRecordHead + length;
    begin_ = offset_;
    offset_ += kRecordHead + length;
    return true;
  }
  std::uint64_t begin() const { return begin_; }    // of the record last read
  std::uint64_t offset() const { return offset_; }  // behind it

 private:
  bool have(std::size_t count) {
    constexpr std::size_t kBlock = 1 << 20;
    if (buffer_.size() - at_ >= count) return true;
    buffer_.erase(0, at_);
    at_ = 0;
    buffer_ += read_at(file_, offset_ + buffer_.size(), std::max(kBlock, count));
    return buffer_.size() >= count;
  }

  int file_;
  std::uint64_t offset_, begin_ = 0;
  std::string buffer_;
  std::size_t at_ = 0;
};

class Descriptor {
 public:
  explicit Descriptor(int file) : file_(file) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (file_ >= 0) close(file_);
  }
  operator int() const { return file_; }

 private:
  int file_;
};

// The layout at the beginning of a journal, and where its records begin. Empty: the program was killed before it was written.
std::pair<std::string, std::uint64_t> journal_head(int file, const std::string& name) {
  const std::string magic = read_at(file, 0, kJournalMagic.size());
  if (magic != kJournalMagic.substr(0, magic.size()))
    refuse_store(name, "is not the journal of a study", "move it away, or choose another store with --out");
  if (magic.size() < kJournalMagic.size()) return {"", 0};
  JournalReader reader(file, kJournalMagic.size());
  std::string_view layout;
  if (!reader.next(layout)) return {"", 0};
  return {std::string(layout), reader.offset()};
}

// ---- HDF5

// After a write that failed the library would crash when it tidies up at the end of the program; and it would print its own stack of errors.
void prepare_library() {
  static const herr_t no_tidying = H5dont_atexit();
  static_cast<void>(no_tidying);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

hid_t new_text_type() {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

class TableFile {
 public:
  TableFile(std::string name, bool writes) : name_(std::move(name)), writes_(writes) {
    prepare_library();
    const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), &H5Pclose);
    H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST);  // attributes of more than 64 kB
    file_ = writes ? H5Fcreate(name_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access)
                   : H5Fopen(name_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    check(file_);
    if (!writes && !has_sound_heaps(file_)) {  // the messages of cases are texts of variable length
      H5Fclose(std::exchange(file_, -1));
      check(-1);
    }
  }
  TableFile(const TableFile&) = delete;
  TableFile& operator=(const TableFile&) = delete;
  ~TableFile() {
    if (file_ >= 0) H5Fclose(file_);
  }
  void close() { check(H5Fclose(std::exchange(file_, -1))); }

  void group(const std::string& path) {
    const Hdf5Handle group(check(H5Gcreate2(file_, path.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)),
                           &H5Gclose);
  }
  void attribute(const std::string& name, const std::string& text) {
    check(write_text_attribute(file_, "/", name, text) ? 0 : -1);
  }
  std::string attribute(const std::string& name) {
    std::optional<std::string> text = read_text_attribute(file_, "/", name);
    if (!text) check(-1);
    return std::move(*text);
  }
  enum class Type { Number, Status, Text };
  static hid_t memory_type(Type type) { return type == Type::Number ? H5T_NATIVE_DOUBLE : H5T_NATIVE_UINT8; }
  void make(const std::string& path, Type type, std::uint64_t rows, std::size_t columns) {
    const std::array<hsize_t, 2> size = {rows, columns};
    const std::array<hsize_t, 2> chunk = {std::min<hsize_t>(rows, kBlock), columns};
    const int dimensions = columns == 1 ? 1 : 2;
    const Hdf5Handle space(check(H5Screate_simple(dimensions, size.data(), nullptr)), &H5Sclose);
    const Hdf5Handle properties(check(H5Pcreate(H5P_DATASET_CREATE)), &H5Pclose);
    // Numbers stay where readers can map them; status and messages, nearly all alike, shrink to nothing.
    if (type != Type::Number) {
      check(H5Pset_chunk(properties, dimensions, chunk.data()));
      check(H5Pset_deflate(properties, 1));
    }
    const Hdf5Handle text(new_text_type(), &H5Tclose);
    const Hdf5Handle dataset(
        check(H5Dcreate2(file_, path.c_str(), type == Type::Text ? hid_t(text) : memory_type(type), space,
                         H5P_DEFAULT, properties, H5P_DEFAULT)),
        &H5Dclose);
  }
  // Rows of a table that make() made, or that is read. The caller's memory is as wide as the table.
  void rows(const std::string& path, Type type, std::uint64_t first, std::uint64_t count, std::size_t columns,
            void* data) {
    if (count == 0 || columns == 0) return;
    const Hdf5Handle dataset(check(H5Dopen2(file_, path.c_str(), H5P_DEFAULT)), &H5Dclose);
    const Hdf5Handle disk(check(H5Dget_space(dataset)), &H5Sclose);
    const std::array<hsize_t, 2> start = {first, 0}, size = {count, columns};
    const int dimensions = H5Sget_simple_extent_ndims(disk);
    std::array<hsize_t, 2> whole = {0, 1};
    if (dimensions != (columns == 1 ? 1 : 2)) check(-1);
    check(H5Sget_simple_extent_dims(disk, whole.data(), nullptr));
    if (whole[0] < first + count || whole[1] != columns) check(-1);
    check(H5Sselect_hyperslab(disk, H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr));
    const Hdf5Handle memory(check(H5Screate_simple(dimensions, size.data(), nullptr)), &H5Sclose);
    const Hdf5Handle text(new_text_type(), &H5Tclose);
    const hid_t memory_as = type == Type::Text ? hid_t(text) : memory_type(type);
    check(writes_ ? H5Dwrite(dataset, memory_as, memory, disk, H5P_DEFAULT, data)
                  : H5Dread(dataset, memory_as, memory, disk, H5P_DEFAULT, data));
  }
  static constexpr std::uint64_t kBlock = 1 << 14;  // rows

 private:
  std::int64_t check(std::int64_t result) const {
    if (result < 0 && writes_)
      refuse_store(name_, "cannot be written as HDF5",
                   "is the disk full, or the directory missing? All cases are safe in the journal beside it");
    if (result < 0)
      refuse_store(name_, "cannot be read as the store of a study",
                   "expected an HDF5 file that liedyn sweep wrote");
    return result;
  }

  std::string name_;
  bool writes_;
  std::int64_t file_ = -1;
};

struct Column {
  std::string path;
  std::size_t width;
};
// Tables of numbers in the order of a record: variables, outputs, statistics, seconds.
std::vector<Column> number_columns(const std::string& layout) {
  const Json json = Json::parse(layout);
  std::vector<Column> out;
  for (const Json& v : json.at("parameters"))
    out.push_back({"/parameters/" + v.at("name").get<std::string>(), 1});
  for (const Json& o : json.at("outputs"))
    out.push_back({"/outputs/" + o.at("name").get<std::string>(), o.at("width").get<std::size_t>()});
  for (const std::string_view name : kStatistics) out.push_back({fmt::format("/statistics/{}", name), 1});
  out.push_back({"/timing/seconds", 1});
  return out;
}

// All numbers of a record, as number_columns() has them.
std::vector<double> numbers_of(const CaseRecord& r) {
  std::vector<double> out = r.variables;
  out.insert(out.end(), r.outputs.begin(), r.outputs.end());
  const auto& s = r.statistics;
  for (const double x : {s.steps, s.newton_iterations, s.jacobian_updates, s.rejected, s.end, r.seconds})
    out.push_back(x);
  return out;
}

// Writes a whole table, block by block; `record` gives case i, or none.
template <class Record>
void write_table(const std::string& file, const std::string& layout, std::uint64_t cases,
                 const Record& record) {
  using Type = TableFile::Type;
  const std::vector<Column> columns = number_columns(layout);
  std::size_t width = 0;
  for (const Column& c : columns) width += c.width;
  TableFile out(file, true);
  out.attribute("layout", layout);
  for (const char* group : {"/parameters", "/outputs", "/statistics", "/timing"}) out.group(group);
  for (const Column& c : columns) out.make(c.path, Type::Number, cases, c.width);
  out.make("/status", Type::Status, cases, 1);
  out.make("/message", Type::Text, cases, 1);
  std::vector<double> table, part;
  std::vector<std::uint8_t> status;
  std::vector<std::string> messages;
  std::vector<const char*> pointers;
  for (std::uint64_t first = 0; first < cases; first += TableFile::kBlock) {
    const std::uint64_t count = std::min(TableFile::kBlock, cases - first);
    table.assign(static_cast<std::size_t>(count) * width, std::numeric_limits<double>::quiet_NaN());
    status.assign(static_cast<std::size_t>(count), 0);
    messages.assign(static_cast<std::size_t>(count), "");
    for (std::size_t i = 0; i < count; ++i) {
      CaseRecord r;
      if (!record(first + i, r)) continue;
      const std::vector<double> numbers = numbers_of(r);
      if (numbers.size() != width)
        throw std::runtime_error("a record of a case has another size than the study");
      std::copy(numbers.begin(), numbers.end(), table.begin() + static_cast<std::ptrdiff_t>(i * width));
      status[i] = static_cast<std::uint8_t>(r.status);
      messages[i] = std::move(r.message);
    }
    std::size_t at = 0;
    for (const Column& c : columns) {
      part.resize(static_cast<std::size_t>(count) * c.width);
      for (std::size_t i = 0; i < count; ++i)
        std::copy_n(table.begin() + static_cast<std::ptrdiff_t>(i * width + at), c.width,
                    part.begin() + static_cast<std::ptrdiff_t>(i * c.width));
      out.rows(c.path, Type::Number, first, count, c.width, part.data());
      at += c.width;
    }
    out.rows("/status", Type::Status, first, count, 1, status.data());
    pointers.clear();
    for (const std::string& m : messages) pointers.push_back(m.empty() ? nullptr : m.c_str());
    out.rows("/message", Type::Text, first, count, 1, pointers.data());
  }
  out.close();
}

// A folded store, as records one after the other.
template <class Use>
void read_table(const std::string& file, std::string& layout, const Use& use) {
  using Type = TableFile::Type;
  TableFile in(file, false);
  layout = in.attribute("layout");
  SweepColumns sizes;
  std::vector<Column> columns;
  try {
    sizes = columns_of(layout);
    columns = number_columns(layout);
  } catch (const Json::exception&) {
    refuse_store(file, "is not the store of a study: its layout cannot be read", "");
  }
  for (std::uint64_t first = 0; first < sizes.cases; first += TableFile::kBlock) {
    const auto count = static_cast<std::size_t>(std::min(TableFile::kBlock, sizes.cases - first));
    std::vector<std::vector<double>> parts;
    for (const Column& c : columns) {
      parts.emplace_back(count * c.width);
      in.rows(c.path, Type::Number, first, count, c.width, parts.back().data());
    }
    std::vector<std::uint8_t> status(count);
    in.rows("/status", Type::Status, first, count, 1, status.data());
    std::vector<char*> messages(count, nullptr);
    in.rows("/message", Type::Text, first, count, 1, messages.data());
    for (std::size_t i = 0; i < count; ++i) {
      CaseRecord r;
      r.index = first + i;
      if (status[i] >= std::size(kCaseStatuses))
        refuse_store(file, fmt::format("case {} has an unknown status", r.index), "");
      r.status = static_cast<CaseStatus>(status[i]);
      std::vector<double> row;
      for (std::size_t c = 0; c < columns.size(); ++c)
        row.insert(row.end(), parts[c].begin() + static_cast<std::ptrdiff_t>(i * columns[c].width),
                   parts[c].begin() + static_cast<std::ptrdiff_t>((i + 1) * columns[c].width));
      const auto begin = row.begin();
      const auto v = static_cast<std::ptrdiff_t>(sizes.variables),
                 o = static_cast<std::ptrdiff_t>(sizes.outputs);
      r.variables.assign(begin, begin + v);
      r.outputs.assign(begin + v, begin + v + o);
      const double* s = row.data() + v + o;
      r.statistics = {s[0], s[1], s[2], s[3], s[4]};
      r.seconds = s[5];
      if (messages[i] != nullptr) r.message = messages[i];
      use(r);
    }
    for (char* message : messages) H5free_memory(message);
  }
}

}  // namespace

SweepColumns columns_of(const std::string& layout) {
  const Json json = Json::parse(layout);
  SweepColumns out;
  out.cases = json.at("cases").get<std::uint64_t>();
  out.variables = json.at("parameters").size();
  for (const Json& o : json.at("outputs")) out.outputs += o.at("width").get<std::size_t>();
  out.fingerprint = json.at("fingerprint").get<std::string>();
  return out;
}

std::string encode(const CaseRecord& r) {
  std::string out;
  out.reserve(32 + (r.variables.size() + r.outputs.size() + kStatisticsCount + 1) * sizeof(double) +
              r.message.size());
  put(out, r.index);
  put(out, static_cast<std::uint32_t>(r.status));
  put(out, static_cast<std::uint32_t>(r.variables.size()));
  put(out, static_cast<std::uint32_t>(r.outputs.size()));
  put(out, static_cast<std::uint32_t>(r.message.size()));
  for (const double x : numbers_of(r)) put(out, x);
  return out + r.message;
}

CaseRecord decode(std::string_view bytes) {
  Taker in(bytes);
  CaseRecord r;
  r.index = in.take<std::uint64_t>();
  const auto status = in.take<std::uint32_t>();
  if (status >= std::size(kCaseStatuses))
    throw std::runtime_error("a record of a case has an unknown status");
  r.status = static_cast<CaseStatus>(status);
  const auto variables = in.take<std::uint32_t>(), outputs = in.take<std::uint32_t>(),
             message = in.take<std::uint32_t>();
  r.variables = in.numbers(variables);
  r.outputs = in.numbers(outputs);
  const std::vector<double> s = in.numbers(kStatisticsCount + 1);
  r.statistics = {s[0], s[1], s[2], s[3], s[4]};
  r.seconds = s[5];
  r.message = std::string(in.bytes(message));
  return r;
}

namespace {

// A record of a journal, whose checksum fits.
CaseRecord decode(std::string_view bytes, const std::string& journal) {
  try {
    return liedyn::decode(bytes);
  } catch (const std::runtime_error& error) {
    refuse_store(journal, error.what(), kDamaged);
  }
}

}  // namespace

SweepStore::SweepStore(std::string file, std::string layout)
    : file_(std::move(file)), layout_(std::move(layout)), columns_(columns_of(layout_)) {
  status_.assign(static_cast<std::size_t>(columns_.cases), CaseStatus::Missing);
  offsets_.assign(status_.size(), 0);
  counts_[0] = columns_.cases;
  check_place(file_);
  open_journal();
  try {
    read_journal();
  } catch (...) {
    ::close(std::exchange(journal_, -1));
    throw;
  }
}

SweepStore::~SweepStore() { close(); }

// Forked processes have the same lock, and it would last as long as they do.
void SweepStore::close() {
  if (journal_ < 0) return;
  flock(journal_, LOCK_UN);
  ::close(std::exchange(journal_, -1));
}

// The lock is that of the journal. Whoever had it before may have removed the file in between: then there is a new one.
void SweepStore::open_journal() {
  const std::string name = file_ + kSuffix;
  for (int attempt = 0; attempt < 100; ++attempt) {
    journal_ = open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (journal_ < 0) refuse_system(name, "cannot be opened");
    if (flock(journal_, LOCK_EX | LOCK_NB) != 0) {
      const bool used = errno == EWOULDBLOCK;
      ::close(std::exchange(journal_, -1));
      if (used)
        refuse_store(file_, "is in use by another process",
                     "wait for it to end, or choose another store with --out");
      refuse_system(name, "cannot be locked");
    }
    struct stat mine {
    }, there{};
    if (fstat(journal_, &mine) == 0 && stat(name.c_str(), &there) == 0 && mine.st_ino == there.st_ino &&
        mine.st_dev == there.st_dev)
      return;
    ::close(std::exchange(journal_, -1));
  }
  refuse_store(file_, "is in use by other processes", "");
}

void SweepStore::read_journal() {
  const std::string name = file_ + kSuffix;
  auto [layout, offset] = journal_head(journal_, name);
  const auto check_study = [&](const std::string& found, const std::string& where) {
    std::string fingerprint;
    try {
      fingerprint = columns_of(found).fingerprint;
    } catch (const Json::exception&) {
      refuse_store(where, "is not the store of a study: its layout cannot be read",
                   "choose another store with --out");
    }
    if (fingerprint != columns_.fingerprint)
      refuse_store(
          where,
          "is the store of another study, or of this one with another model, other settings or another "
          "version of the program",
          "choose another store with --out, or move it away");
  };
  if (offset == 0) {
    begin_journal();
  } else {
    check_study(layout, name);
    JournalReader reader(journal_, offset);
    std::string_view bytes;
    end_ = offset;
    while (reader.next(bytes)) {
      const CaseRecord record = decode(bytes, name);
      if (record.index >= columns_.cases)
        refuse_store(name, fmt::format("has a case {}, but the study has {}", record.index, columns_.cases),
                     "");
      if (record.variables.size() != columns_.variables || record.outputs.size() != columns_.outputs)
        refuse_store(name, "a record of a case has another size than the study", kDamaged);
      note(record.index, record.status, reader.begin());
      end_ = reader.offset();
      changed_ = true;
    }
    // What the end of a program has left of a record.
    if (ftruncate(journal_, static_cast<off_t>(end_)) != 0) refuse_system(name, "cannot be shortened");
  }
  if (!std::filesystem::exists(file_)) return;
  // Cases that only the file has stay there until the first new one.
  std::string found;
  try {
    read_table(file_, found, [&](const CaseRecord& record) {
      if (record.index == 0) check_study(found, file_);
      if (record.status == CaseStatus::Missing ||
          status_[static_cast<std::size_t>(record.index)] != CaseStatus::Missing)
        return;
      note(record.index, record.status, kInFile);
      in_file_ = true;
    });
  } catch (...) {
    if (offset == 0) unlink(name.c_str());
    throw;
  }
}

void SweepStore::import_rows() {
  in_file_ = false;
  std::string layout;
  read_table(file_, layout, [&](const CaseRecord& record) {
    if (offsets_[static_cast<std::size_t>(record.index)] == kInFile) add(record);
  });
}

void SweepStore::begin_journal() {
  const std::string name = file_ + kSuffix;
  std::string head(kJournalMagic);
  put(head, static_cast<std::uint32_t>(layout_.size()));
  put(head, checksum(layout_));
  head += layout_;
  if (ftruncate(journal_, 0) != 0) refuse_system(name, "cannot be emptied");
  end_ = 0;
  const ssize_t n = pwrite(journal_, head.data(), head.size(), 0);
  if (n != static_cast<ssize_t>(head.size())) {
    if (n >= 0) errno = ENOSPC;
    const int error = errno;
    unlink(name.c_str());
    errno = error;
    refuse_system(name, "cannot be written");
  }
  end_ = head.size();
}

void SweepStore::note(std::uint64_t index, CaseStatus status, std::uint64_t offset) {
  CaseStatus& known = status_[static_cast<std::size_t>(index)];
  --counts_[static_cast<std::size_t>(known)];
  known = status;
  ++counts_[static_cast<std::size_t>(known)];
  offsets_[static_cast<std::size_t>(index)] = offset;
}

std::vector<std::uint64_t> SweepStore::missing(bool failed) const {
  std::vector<std::uint64_t> out;
  for (std::size_t i = 0; i < status_.size(); ++i)
    if (status_[i] == CaseStatus::Missing || (failed && status_[i] != CaseStatus::Completed))
      out.push_back(i);
  return out;
}

void SweepStore::add(const CaseRecord& record) { add(encode(record)); }

void SweepStore::add(std::string_view encoded) {
  Taker in(encoded);
  const auto index = in.take<std::uint64_t>();
  const auto status = static_cast<CaseStatus>(in.take<std::uint32_t>());
  if (index >= columns_.cases) throw std::runtime_error("a record of a case does not belong to this study");
  if (in_file_) import_rows();
  std::string bytes;
  bytes.reserve(kRecordHead + encoded.size());
  put(bytes, static_cast<std::uint32_t>(encoded.size()));
  put(bytes, checksum(encoded));
  bytes += encoded;
  // One call: a program that is killed leaves all of it or a part at the end, which the checksum shows.
  ssize_t n = 0;
  do n = pwrite(journal_, bytes.data(), bytes.size(), static_cast<off_t>(end_));
  while (n < 0 && errno == EINTR);
  if (n != static_cast<ssize_t>(bytes.size())) {
    const int error = n < 0 ? errno : ENOSPC;
    if (ftruncate(journal_, static_cast<off_t>(end_)) != 0) {  // the next one that opens it cuts it off
    }
    errno = error;
    refuse_system(file_ + kSuffix, "cannot be written");
  }
  note(index, status, end_);
  end_ += bytes.size();
  changed_ = true;
  constexpr double kPause = 1;
  if (const double time = now(); time - synced_ > kPause) {
    fdatasync(journal_);
    synced_ = time;
  }
}

void SweepStore::fold() {
  const std::string name = file_ + kSuffix, fresh = file_ + ".new";
  if (changed_ && in_file_) import_rows();
  if (changed_ || !std::filesystem::exists(file_)) {
    const auto record = [&](std::uint64_t index, CaseRecord& out) {
      const auto i = static_cast<std::size_t>(index);
      if (status_[i] == CaseStatus::Missing) return false;
      const std::string head = read_at(journal_, offsets_[i], kRecordHead);
      std::uint32_t length = 0;
      std::memcpy(&length, head.data(), sizeof(length));
      out = decode(read_at(journal_, offsets_[i] + kRecordHead, length));
      return true;
    };
    try {
      write_table(fresh, layout_, columns_.cases, record);
    } catch (...) {
      unlink(fresh.c_str());
      throw;
    }
    // The new file is on the disk before it takes the name, and the name is before the journal goes.
    const auto sync = [](const std::string& path) {
      const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
      return file >= 0 && fsync(file) == 0;
    };
    if (!sync(fresh) || rename(fresh.c_str(), file_.c_str()) != 0) {
      const int error = errno;
      unlink(fresh.c_str());
      errno = error;
      refuse_system(file_, "cannot be written");
    }
    const std::string directory = std::filesystem::path(file_).parent_path().string();
    sync(directory.empty() ? "." : directory);
    changed_ = false;
  }
  if (counts_[0] == 0) unlink(name.c_str());  // still locked until the store is closed
}

namespace {

std::string kept_file(const std::string& folder, std::uint64_t index) {
  return (std::filesystem::path(folder) / fmt::format("{}.h5", index)).string();
}

}  // namespace

void keep_results(SweepPlan& plan, const std::string& folder) {
  if (plan.kept.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw InputError(folder, "cannot be made a directory: " + error.message());
  plan.keep = [folder](std::uint64_t index, const Result& result) {
    write_results(result, kept_file(folder, index));
  };
}

std::vector<std::uint64_t> cases_to_run(const SweepPlan& plan, const SweepStore& store,
                                        const std::string& folder, bool failed) {
  std::vector<std::uint64_t> out = store.missing(failed);
  for (const std::uint64_t index : plan.kept)
    if (store.status()[static_cast<std::size_t>(index)] == CaseStatus::Completed &&
        !std::filesystem::exists(kept_file(folder, index)))
      out.push_back(index);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

SweepTable read_sweep_store(const std::string& file) {
  SweepTable out;
  SweepColumns sizes;
  const auto prepare = [&] {
    try {
      sizes = columns_of(out.layout);
    } catch (const Json::exception&) {
      refuse_store(file, "is not the store of a study: its layout cannot be read", "");
    }
    const auto n = static_cast<std::size_t>(sizes.cases);
    const double none = std::numeric_limits<double>::quiet_NaN();
    out.status.assign(n, CaseStatus::Missing);
    out.variables.assign(sizes.variables, std::vector<double>(n, none));
    out.outputs.assign(sizes.outputs, std::vector<double>(n, none));
    out.statistics.assign(kStatisticsCount, std::vector<double>(n, none));
    out.seconds.assign(n, none);
    out.messages.assign(n, "");
  };
  const auto use = [&](const CaseRecord& r) {
    if (out.status.empty()) prepare();
    if (r.index >= sizes.cases || r.variables.size() != sizes.variables || r.outputs.size() != sizes.outputs)
      refuse_store(file, "has a case that does not belong to its study", "");
    const auto i = static_cast<std::size_t>(r.index);
    out.status[i] = r.status;
    if (r.status == CaseStatus::Missing) return;
    for (std::size_t k = 0; k < r.variables.size(); ++k) out.variables[k][i] = r.variables[k];
    for (std::size_t k = 0; k < r.outputs.size(); ++k) out.outputs[k][i] = r.outputs[k];
    const auto& s = r.statistics;
    const double statistics[] = {s.steps, s.newton_iterations, s.jacobian_updates, s.rejected, s.end};
    for (std::size_t k = 0; k < kStatisticsCount; ++k) out.statistics[k][i] = statistics[k];
    out.seconds[i] = r.seconds;
    out.messages[i] = r.message;
  };
  // The journal has what is newer.
  const std::string name = file + kSuffix;
  const Descriptor journal(open(name.c_str(), O_RDONLY | O_CLOEXEC));
  const auto [layout, offset] =
      journal >= 0 ? journal_head(journal, name) : std::pair<std::string, std::uint64_t>{"", 0};
  const bool is_folded = std::filesystem::exists(file);
  if (journal < 0 && !is_folded)
    refuse_store(file, "does not exist", "liedyn sweep STUDY --out FILE writes the store of a study");
  if (offset == 0 || is_folded) read_table(file, out.layout, use);
  if (offset > 0) {
    if (out.status.empty()) {
      out.layout = layout;
      prepare();
    }
    JournalReader reader(journal, offset);
    std::string_view bytes;
    while (reader.next(bytes)) use(decode(bytes, name));
  }
  return out;
}

SweepState sweep_state(const std::string& file) {
  constexpr std::size_t kShown = 5;
  SweepState out;
  const std::string name = file + kSuffix;
  if (const int journal = open(name.c_str(), O_RDONLY | O_CLOEXEC); journal >= 0) {
    const Descriptor closes(journal);
    out.in_use = flock(journal, LOCK_SH | LOCK_NB) != 0;
    if (!out.in_use) flock(journal, LOCK_UN);
  }
  const SweepTable table = read_sweep_store(file);
  out.layout = table.layout;
  for (std::size_t i = 0; i < table.status.size(); ++i) {
    const CaseStatus status = table.status[i];
    ++out.counts[static_cast<std::size_t>(status)];
    if (status == CaseStatus::Missing) continue;
    out.seconds += table.seconds[i];
    if (status != CaseStatus::Completed && out.failures.size() < kShown)
      out.failures.emplace_back(i, table.messages[i]);
  }
  return out;
}

}  // namespace liedyn
