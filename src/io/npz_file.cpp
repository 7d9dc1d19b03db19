#include "liedyn/io/npz_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace liedyn {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they stand in memory");

template <class Integer>
void put(Integer value, std::string& out) {
  for (std::size_t i = 0; i < sizeof value; ++i) out += static_cast<char>((value >> (8 * i)) & 0xff);
}

std::string shape_of(Eigen::Index rows, Eigen::Index columns) {
  return fmt::format("({}, {})", rows, columns);
}
std::string shape_of(Eigen::Index size) { return fmt::format("({},)", size); }

// Code points of a UTF-8 text; what is none is read as Latin-1.
std::vector<std::uint32_t> code_points(const std::string& text) {
  std::vector<std::uint32_t> out;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
    if (more == 0 || i + more >= text.size()) {
      out.push_back(lead);
      ++i;
      continue;
    }
    std::uint32_t code = lead & (0x3fU >> more);
    for (std::size_t k = 1; k <= more; ++k)
      code = (code << 6) | (static_cast<unsigned char>(text[i + k]) & 0x3fU);
    out.push_back(code);
    i += more + 1;
  }
  return out;
}

}  // namespace

unsigned crc32_of(const std::string& bytes) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> out{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t c = i;
      for (int k = 0; k < 8; ++k) c = (c & 1) != 0 ? 0xedb88320U ^ (c >> 1) : c >> 1;
      out[i] = c;
    }
    return out;
  }();
  std::uint32_t crc = 0xffffffffU;
  for (const char byte : bytes) crc = table[(crc ^ static_cast<unsigned char>(byte)) & 0xff] ^ (crc >> 8);
  return crc ^ 0xffffffffU;
}

void NpzFile::add(const std::string& name, const std::string& type, const std::string& shape, bool by_columns,
                  const void* data, std::size_t size) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", type,
                                   by_columns ? "True" : "False", shape);
  // Magic text, version and length take 10 bytes; all of it a multiple of 64, with a line break at the end.
  header.append(63 - (header.size() + 10) % 64, ' ');
  header += '\n';
  std::string content = "\x93NUMPY";
  content += '\1';
  content += '\0';
  put(static_cast<std::uint16_t>(header.size()), content);
  content += header;
  content.append(static_cast<const char*>(data), size);
  members_.push_back({name + ".npy", std::move(content)});
}

void NpzFile::add(const std::string& name, const Eigen::MatrixXd& m) {
  add(name, "<f8", shape_of(m.rows(), m.cols()), true, m.data(),
      static_cast<std::size_t>(m.size()) * sizeof(double));
}
void NpzFile::add(const std::string& name, const Eigen::MatrixXcd& m) {
  add(name, "<c16", shape_of(m.rows(), m.cols()), true, m.data(),
      static_cast<std::size_t>(m.size()) * sizeof(std::complex<double>));
}
void NpzFile::add(const std::string& name, const Eigen::VectorXd& v) {
  add(name, "<f8", shape_of(v.size()), false, v.data(), static_cast<std::size_t>(v.size()) * sizeof(double));
}
void NpzFile::add(const std::string& name, const Eigen::VectorXcd& v) {
  add(name, "<c16", shape_of(v.size()), false, v.data(),
      static_cast<std::size_t>(v.size()) * sizeof(std::complex<double>));
}
void NpzFile::add(const std::string& name, const std::vector<std::string>& texts) {
  std::vector<std::vector<std::uint32_t>> all;
  std::size_t width = 1;
  for (const std::string& text : texts) {
    all.push_back(code_points(text));
    width = std::max(width, all.back().size());
  }
  std::vector<std::uint32_t> data;
  for (std::vector<std::uint32_t>& text : all) {
    text.resize(width, 0);
    data.insert(data.end(), text.begin(), text.end());
  }
  add(name, fmt::format("<U{}", width), shape_of(static_cast<Eigen::Index>(texts.size())), false, data.data(),
      data.size() * sizeof(std::uint32_t));
}

// Local headers with the content, then the directory, then its place.
std::string NpzFile::bytes() const {
  std::string out, directory;
  constexpr std::uint16_t kVersion = 20, kStored = 0;
  constexpr std::uint32_t kDate = 0x00210000;  // 1 January 1980: files do not differ by their time
  for (const Member& member : members_) {
    const auto offset = static_cast<std::uint32_t>(out.size());
    std::string common;
    put(kVersion, common);
    put(std::uint16_t{0}, common);
    put(kStored, common);
    put(kDate, common);
    put(static_cast<std::uint32_t>(crc32_of(member.content)), common);
    put(static_cast<std::uint32_t>(member.content.size()), common);
    put(static_cast<std::uint32_t>(member.content.size()), common);
    put(static_cast<std::uint16_t>(member.name.size()), common);
    put(std::uint16_t{0}, common);  // extra
    put(std::uint32_t{0x04034b50}, out);
    out += common + member.name + member.content;
    put(std::uint32_t{0x02014b50}, directory);
    put(kVersion, directory);  // made by
    directory += common;
    put(std::uint16_t{0}, directory);  // comment
    put(std::uint16_t{0}, directory);  // disk
    put(std::uint16_t{0}, directory);  // internal attributes
    put(std::uint32_t{0}, directory);  // external attributes
    put(offset, directory);
    directory += member.name;
  }
  const auto start = static_cast<std::uint32_t>(out.size());
  out += directory;
  put(std::uint32_t{0x06054b50}, out);
  put(std::uint16_t{0}, out);
  put(std::uint16_t{0}, out);
  put(static_cast<std::uint16_t>(members_.size()), out);
  put(static_cast<std::uint16_t>(members_.size()), out);
  put(static_cast<std::uint32_t>(directory.size()), out);
  put(start, out);
  put(std::uint16_t{0}, out);
  return out;
}

}  // namespace liedyn
