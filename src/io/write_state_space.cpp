#include "liedyn/io/write_state_space.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "liedyn/base/suggest.h"
#include "liedyn/base/version.h"
#include "liedyn/io/npz_file.h"
#include "liedyn/io/text_output.h"

namespace liedyn {
namespace {

using Json = nlohmann::ordered_json;
using Eigen::MatrixXd;

std::string state_space_extension(const std::string& file) {
  const std::string extension = std::filesystem::path(file).extension().string();
  for (const char* known : {".mtx", ".csv", ".npz", ".json"})
    if (extension == known) return extension;
  throw InputError("--out", fmt::format("expected a file that ends with .mtx, .csv, .npz or .json, got '{}'",
                                        excerpt(file, 200)));
}

std::string file_of(const std::string& file, char matrix) {
  const std::filesystem::path path(file);
  return (path.parent_path() /
          fmt::format("{}.{}{}", path.stem().string(), matrix, path.extension().string()))
      .string();
}

Json rows_of(const MatrixXd& m) {
  Json out = Json::array();
  for (Eigen::Index r = 0; r < m.rows(); ++r) {
    Json row = Json::array();
    for (Eigen::Index c = 0; c < m.cols(); ++c) row.push_back(m(r, c));
    out.push_back(row);
  }
  return out;
}

// Dense, column by column, as the format wants it.
std::string matrix_market(const MatrixXd& m, std::string comment) {
  // A comment ends with its line, names perhaps not.
  std::ranges::replace_if(
      comment, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  std::string out =
      fmt::format("%%MatrixMarket matrix array real general\n% {}\n{} {}\n", comment, m.rows(), m.cols());
  for (Eigen::Index c = 0; c < m.cols(); ++c)
    for (Eigen::Index r = 0; r < m.rows(); ++r) out += fmt::format("{}\n", m(r, c));
  return out;
}

std::string csv(const MatrixXd& m, const std::vector<std::string>& rows,
                const std::vector<std::string>& columns) {
  std::string out;
  for (const std::string& column : columns) out += fmt::format(",{}", csv_cell(column));
  out += '\n';
  for (Eigen::Index r = 0; r < m.rows(); ++r) {
    out += csv_cell(rows[static_cast<std::size_t>(r)]);
    for (Eigen::Index c = 0; c < m.cols(); ++c) out += fmt::format(",{}", m(r, c));
    out += '\n';
  }
  return out;
}

Eigen::VectorXd vector_of(const std::vector<double>& values) {
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

}  // namespace

std::string state_space_json(const StateSpace& s) {
  const Json json = {{"liedyn", version()},
                     {"model", s.model},
                     {"formulation", s.formulation},
                     {"time", s.time},
                     {"axes_rate", {s.axes.rate.x(), s.axes.rate.y(), s.axes.rate.z()}},
                     {"steady", s.axes.change <= kSteady},
                     {"states", s.states},
                     {"inputs", s.inputs},
                     {"outputs", s.outputs},
                     {"input_values", s.input_values},
                     {"output_values", s.output_values},
                     {"A", rows_of(s.A)},
                     {"B", rows_of(s.B)},
                     {"C", rows_of(s.C)},
                     {"D", rows_of(s.D)},
                     {"warnings", s.warnings}};
  return json.dump(2);
}

void check_state_space_output(const std::string& file) {
  const std::string extension = state_space_extension(file);
  check_writable(extension == ".npz" || extension == ".json" ? file : file_of(file, 'A'));
}

std::vector<std::string> write_state_space(const StateSpace& s, const std::string& file) {
  const std::string extension = state_space_extension(file);
  if (extension == ".json") {
    write_text(file, state_space_json(s) + "\n");
    return {file};
  }
  if (extension == ".npz") {
    NpzFile npz;
    npz.add("A", s.A);
    npz.add("B", s.B);
    npz.add("C", s.C);
    npz.add("D", s.D);
    npz.add("states", s.states);
    npz.add("inputs", s.inputs);
    npz.add("outputs", s.outputs);
    npz.add("input_values", vector_of(s.input_values));
    npz.add("output_values", vector_of(s.output_values));
    write_text(file, npz.bytes());
    return {file};
  }
  struct Part {
    char name;
    const MatrixXd* matrix;
    const std::vector<std::string>*rows, *columns;
    std::string comment;
  };
  const Part parts[] = {{'A', &s.A, &s.states, &s.states, "x' = A x + B u"},
                        {'B', &s.B, &s.states, &s.inputs, "x' = A x + B u"},
                        {'C', &s.C, &s.outputs, &s.states, "y = C x + D u"},
                        {'D', &s.D, &s.outputs, &s.inputs, "y = C x + D u"}};
  std::vector<std::string> files;
  for (const Part& part : parts) {
    files.push_back(file_of(file, part.name));
    write_text(
        files.back(),
        extension == ".csv"
            ? csv(*part.matrix, *part.rows, *part.columns)
            : matrix_market(*part.matrix, fmt::format("{} of {}: {}; rows: {}; columns: {}", part.name,
                                                      s.model, part.comment, fmt::join(*part.rows, ", "),
                                                      fmt::join(*part.columns, ", "))));
  }
  return files;
}

}  // namespace liedyn
