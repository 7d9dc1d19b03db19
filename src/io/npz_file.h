// Arrays in a NumPy .npz file: an archive (zip, nothing compressed) of .npy files.
#pragma once

#include <complex>
#include <string>
#include <vector>

#include <Eigen/Core>

namespace liedyn {

class NpzFile {
 public:
  void add(const std::string& name, const Eigen::MatrixXd& matrix);
  void add(const std::string& name, const Eigen::MatrixXcd& matrix);
  void add(const std::string& name, const Eigen::VectorXd& vector);
  void add(const std::string& name, const Eigen::VectorXcd& vector);
  void add(const std::string& name, const std::vector<std::string>& texts);
  // The content of the file.
  std::string bytes() const;

 private:
  struct Member {
    std::string name, content;
  };
  void add(const std::string& name, const std::string& type, const std::string& shape, bool by_columns,
           const void* data, std::size_t size);
  std::vector<Member> members_;
};

// CRC-32 (zip, PNG) of the bytes.
unsigned crc32_of(const std::string& bytes);

}  // namespace liedyn
