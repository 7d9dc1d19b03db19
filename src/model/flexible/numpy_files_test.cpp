// Files of NumPy and SciPy, put together byte by byte; files that Python writes are read in python/tests/test_flexible.py.
#include "liedyn/model/flexible/numpy_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <random>
#include <stdexcept>

namespace liedyn {
namespace {

template <class T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}
template <class T>
std::string bytes_of(T value, int size) {
  std::string out;
  for (int i = 0; i < size; ++i)
    out += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xff);
  return out;
}

std::string npy(const std::string& type, const std::string& shape, const std::string& data,
                bool by_columns = false) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}), }}", type,
                                   by_columns ? "True" : "False", shape);
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  return "\x93NUMPY" + std::string("\x01\x00", 2) + bytes_of(header.size(), 2) + header + data;
}

struct Member {
  std::string name, content;
};

// As np.savez writes it: sizes before the members are unknown yet (64 bits), those of the directory are right.
std::string npz(const std::vector<Member>& members, bool compressed) {
  std::string out, directory;
  for (const Member& member : members) {
    const std::string name = member.name + ".npy";
    std::string packed = member.content;
    if (compressed) {
      packed.assign(compressBound(member.content.size()) + 64, '\0');
      z_stream stream{};
      EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(member.content.data()));
      stream.avail_in = static_cast<uInt>(member.content.size());
      stream.next_out = reinterpret_cast<Bytef*>(packed.data());
      stream.avail_out = static_cast<uInt>(packed.size());
      EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
      packed.resize(stream.total_out);
      deflateEnd(&stream);
    }
    const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(member.content.data()), member.content.size());
    const std::string sizes = bytes_of(packed.size(), 4) + bytes_of(member.content.size(), 4),
                      unknown = std::string(8, '\xff'),
                      extra = bytes_of(1, 2) + bytes_of(16, 2) + std::string(16, 0);
    const std::size_t local = out.size();
    const auto common = [&](const std::string& size, std::size_t extra_size) {
      return bytes_of(0, 2) + bytes_of(compressed ? 8 : 0, 2) + bytes_of(0, 4) + bytes_of(crc, 4) + size +
             bytes_of(name.size(), 2) + bytes_of(extra_size, 2);
    };
    out += "PK\x03\x04" + bytes_of(45, 2) + common(unknown, extra.size()) + name + extra + packed;
    directory += "PK\x01\x02" + bytes_of(45, 2) + bytes_of(45, 2) + common(sizes, 0) + bytes_of(0, 2) +
                 bytes_of(0, 2) + bytes_of(0, 2) + bytes_of(0, 4) + bytes_of(local, 4) + name;
  }
  const std::size_t start = out.size();
  return out + directory + "PK\x05\x06" + bytes_of(0, 4) + bytes_of(members.size(), 2) +
         bytes_of(members.size(), 2) + bytes_of(directory.size(), 4) + bytes_of(start, 4) + bytes_of(0, 2);
}

std::string message(const std::string& bytes, const std::string& given = "", const std::string& usual = "M") {
  try {
    parse_numpy(bytes, given, usual);
  } catch (const std::invalid_argument& mistake) {
    return mistake.what();
  }
  return "no mistake";
}

// [1 0 2; 0 3 0]
const Eigen::MatrixXd kMatrix = (Eigen::MatrixXd(2, 3) << 1, 0, 2, 0, 3, 0).finished();

std::vector<Member> csr() {
  return {{"indices", npy("<i4", "3,", raw<std::int32_t>({0, 2, 1}))},
          {"indptr", npy("<i4", "3,", raw<std::int32_t>({0, 2, 3}))},
          {"format", npy("|S3", "", "csr")},
          {"shape", npy("<i8", "2,", raw<std::int64_t>({2, 3}))},
          {"data", npy("<f8", "3,", raw<double>({1, 2, 3}))}};
}

TEST(NumpyFiles, DenseArraysOfAllTypesAndOrders) {
  const std::string plain = npy("<f8", "2, 3", raw<double>({1, 0, 2, 0, 3, 0}));
  EXPECT_TRUE(is_numpy(plain));
  EXPECT_FALSE(is_numpy("%%MatrixMarket"));
  EXPECT_EQ(Eigen::MatrixXd(parse_numpy(plain, "", "M")), kMatrix);
  EXPECT_EQ(Eigen::MatrixXd(parse_numpy(npy("<f8", "2, 3", raw<double>({1, 0, 0, 3, 2, 0}), true), "", "M")),
            kMatrix);
  EXPECT_EQ(Eigen::MatrixXd(parse_numpy(npy("<f4", "2, 3", raw<float>({1, 0, 2, 0, 3, 0})), "", "M")),
            kMatrix);
  EXPECT_EQ(Eigen::MatrixXd(parse_numpy(npy("<i2", "2, 3", raw<std::int16_t>({1, 0, 2, 0, 3, 0})), "", "M")),
            kMatrix);
  EXPECT_EQ(Eigen::MatrixXd(parse_numpy(npy("|i1", "2, 1", std::string("\xff\x05")), "", "M")),
            Eigen::Vector2d(-1, 5));
  EXPECT_EQ(Eigen::MatrixXd(parse_numpy(npy(">i2", "2, 1", std::string("\x01\x02\xff\xff", 4)), "", "M")),
            Eigen::Vector2d(258, -1));
  const std::string swapped("\x3f\xf8\0\0\0\0\0\0", 8);  // 1.5
  EXPECT_EQ(parse_numpy(npy(">f8", "1, 1", swapped), "", "M").coeff(0, 0), 1.5);
}

TEST(NumpyFiles, ArchivesGiveTheirArraysByName) {
  const std::vector<Member> members = {{"M", npy("<f8", "2, 3", raw<double>({1, 0, 2, 0, 3, 0}))},
                                       {"other", npy("<f8", "1, 1", raw<double>({7}))}};
  for (const bool compressed : {false, true}) {
    const std::string file = npz(members, compressed);
    EXPECT_EQ(Eigen::MatrixXd(parse_numpy(file, "", "M")), kMatrix);
    EXPECT_EQ(parse_numpy(file, "other", "M").coeff(0, 0), 7);
    EXPECT_EQ(parse_numpy(npz({members[1]}, compressed), "", "M").coeff(0, 0), 7) << "the only one";
    EXPECT_EQ(message(file, "third"), "there is no array 'third'; there are: M, other");
  }
}

TEST(NumpyFiles, SparseMatricesOfScipy) {
  const std::vector<Member> by_columns = {
      {"indices", npy("<i4", "3,", raw<std::int32_t>({0, 1, 0}))},
      {"indptr", npy("<i8", "4,", raw<std::int64_t>({0, 1, 2, 3}))},
      {"format", npy("<U3", "", std::string("c\0\0\0s\0\0\0c\0\0\0", 12))},
      {"shape", npy("<i8", "2,", raw<std::int64_t>({2, 3}))},
      {"data", npy("<f8", "3,", raw<double>({1, 3, 2}))}};
  // Entries of one place add up.
  const std::vector<Member> entries = {{"row", npy("<i4", "4,", raw<std::int32_t>({0, 0, 1, 0}))},
                                       {"col", npy("<i4", "4,", raw<std::int32_t>({0, 2, 1, 2}))},
                                       {"format", npy("|S3", "", "coo")},
                                       {"shape", npy("<i8", "2,", raw<std::int64_t>({2, 3}))},
                                       {"data", npy("<f8", "4,", raw<double>({1, 1.5, 3, 0.5}))}};
  for (const bool compressed : {false, true})
    for (const std::vector<Member>& members : {csr(), by_columns, entries})
      EXPECT_EQ(Eigen::MatrixXd(parse_numpy(npz(members, compressed), "", "M")), kMatrix);
}

TEST(NumpyFiles, MistakesAreExplained) {
  const auto changed = [](const std::string& name, const std::string& content) {
    std::vector<Member> members = csr();
    std::erase_if(members, [&](const Member& m) { return m.name == name; });
    if (!content.empty()) members.push_back({name, content});
    return npz(members, true);
  };
  EXPECT_EQ(message(changed("data", "")), "a sparse matrix needs the array 'data'");
  EXPECT_EQ(message(changed("format", npy("|S3", "", "bsr"))),
            "the sparse format 'bsr' is not supported, expected csr, csc or coo: convert it by .tocsr()");
  EXPECT_EQ(message(changed("indices", npy("<i4", "3,", raw<std::int32_t>({0, 3, 1})))),
            "there is no entry (0, 3) in a matrix of 2 x 3");
  EXPECT_EQ(message(changed("indices", npy("<f4", "3,", raw<float>({0, 2, 1})))),
            "the array 'indices': expected whole numbers");
  EXPECT_EQ(message(changed("indptr", npy("<i4", "3,", raw<std::int32_t>({0, 4, 3})))),
            "the array 'indptr': expected numbers in non-decreasing order");
  EXPECT_EQ(message(changed("indptr", npy("<i4", "2,", raw<std::int32_t>({0, 3})))),
            "the array 'indptr': expected 3 numbers from 0 on");
  EXPECT_EQ(message(changed("data", npy("<f8", "3,", raw<double>({1, NAN, 3})))),
            "the array 'data': has an entry that is infinite or not a number");
  EXPECT_EQ(message(npy("<c16", "1, 1", std::string(16, 0))), "has the type '<c16', expected numbers");
  EXPECT_EQ(message(npy("|O", "1, 1", "")), "has the type '|O', expected numbers");
  EXPECT_EQ(message(npy("<f8", "3,", raw<double>({1, 2, 3}))), "has 1 dimensions, expected 2");
  EXPECT_EQ(message(npy("<f8", "2, 2", raw<double>({1, 2, 3}))), "the file ends too early");
  EXPECT_EQ(message(npy("<f8", "99999999999999999999, 1", "")), "its header has no shape");
  EXPECT_EQ(message(npy("<f8", "1000000, 1000000", "")), "has 1e+12 entries, expected at most 1e+08");
  EXPECT_EQ(message("\x93NUMPY"), "the file ends too early");
  std::string damaged = npz(csr(), false);
  damaged[damaged.find("csr")] = 'x';
  EXPECT_EQ(message(damaged), "the archive is damaged: the check sum of 'format.npy' is wrong");
}

// Whatever is done to a file, it is read or refused.
TEST(NumpyFiles, DamagedFilesAreRefused) {
  std::mt19937 random(7);
  for (const bool compressed : {false, true}) {
    const std::string good = npz(csr(), compressed);
    for (std::size_t length = 0; length < good.size(); ++length)
      EXPECT_NE(message(good.substr(0, length)), "no mistake") << length << " of " << good.size() << " bytes";
    for (int i = 0; i < 20'000; ++i) {
      std::string bad = good;
      for (int k = 0; k < 1 + i % 3; ++k) bad[random() % bad.size()] = static_cast<char>(random());
      message(bad);
    }
  }
  // Behind the check sums.
  const std::string good = npy("<f8", "2, 3", raw<double>({1, 0, 2, 0, 3, 0}));
  for (int i = 0; i < 20'000; ++i) {
    std::string bad = good;
    for (int k = 0; k < 1 + i % 3; ++k) bad[random() % bad.size()] = static_cast<char>(random());
    message(bad);
  }
}

}  // namespace
}  // namespace liedyn
