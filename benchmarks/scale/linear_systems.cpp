// The linear system of an implicit step, to a file for other solvers, and what the program's own solvers take for it. solvers.py compares them.
//
//   linear_systems MODEL SOLVER THREADS FILE.npz [NAME=VALUE...]
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "liedyn/base/error.h"
#include "liedyn/base/peak_memory.h"
#include "liedyn/base/thread_pool.h"
#include "liedyn/io/load.h"
#include "liedyn/io/npz_file.h"
#include "liedyn/system/initial.h"
#include "liedyn/system/matrix_parts.h"

namespace {

using namespace liedyn;
using Clock = std::chrono::steady_clock;

constexpr double kStep = 1e-3, kBeta = 0.2770083102493075, kGamma = 0.5526315789473684;  // rho = 0.9

// With accelerations and forces as unknowns, so that numbers of all rows have comparable sizes:
//   | M + gamma h C + beta h^2 K   B^T |
//   |             B                 0  |
void assemble(const System& system, const State& state, Work& work) {
  MatrixRequest request;
  request.force = {kBeta * kStep * kStep, kGamma * kStep, 1};
  request.row = {1, 0, 0};
  request.level = RowLevel::Position;
  system.jacobian(state, work, {true, false, false}, request);
}

void write(const System& system, const Work& work, const std::string& file) {
  std::vector<double> rows, columns, values;
  const auto add = [&](const SparseMatrix& part, int row, int column) {
    for (int c = 0; c < part.outerSize(); ++c)
      for (SparseMatrix::InnerIterator it(part, c); it; ++it) {
        rows.push_back(static_cast<double>(row + it.row()));
        columns.push_back(static_cast<double>(column + it.col()));
        values.push_back(it.value());
      }
  };
  const int nv = system.model().nv;
  add(force_part(system, work), 0, 0);
  add(row_part(system, work), nv, 0);
  add(multiplier_part(system, work), 0, nv);
  const auto vector = [](const std::vector<double>& of) {
    return Eigen::VectorXd(Eigen::VectorXd::Map(of.data(), static_cast<Eigen::Index>(of.size())));
  };
  NpzFile out;
  out.add("rows", vector(rows));
  out.add("columns", vector(columns));
  out.add("values", vector(values));
  std::vector<double> right(static_cast<std::size_t>(system.unknowns()), 0.0);
  std::copy(work.r.begin(), work.r.end(), right.begin());
  out.add("right", vector(right));
  out.add("sizes", vector({static_cast<double>(nv), static_cast<double>(system.model().rows)}));
  std::ofstream stream(file, std::ios::binary);
  const std::string bytes = out.bytes();
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!stream) throw InputError("file", fmt::format("'{}' cannot be written", file));
}

int measure(const std::string& model, const std::string& choice, int threads, const std::string& file,
            const std::vector<Assignment>& set) {
  const System system = load(model, set);
  Work work(system, choice);
  const State state = consistent_state(system, 0, InitialPolicy::Check, work);
  if (threads > 1) work.use_threads(std::make_shared<ThreadPool>(threads));
  assemble(system, state, work);
  if (file != "-") write(system, work, file);
  constexpr int kRuns = 5;
  double factorize = INFINITY, solve = INFINITY;
  for (int i = 0; i < kRuns; ++i) {
    assemble(system, state, work);
    std::vector<double> right(static_cast<std::size_t>(system.unknowns()), 1.0);
    const auto start = Clock::now();
    if (!work.solver->factorize()) {
      std::cout << "{\"failed\": true}\n";
      return 1;
    }
    const auto middle = Clock::now();
    work.solver->solve(right.data());
    const auto end = Clock::now();
    factorize = std::min(factorize, std::chrono::duration<double>(middle - start).count());
    solve = std::min(solve, std::chrono::duration<double>(end - middle).count());
  }
  fmt::print(
      "{{\"solver\": \"{}\", \"unknowns\": {}, \"factorize\": {:.6g}, \"solve\": {:.6g}, \"peak\": {}}}\n",
      work.solver->name(), system.unknowns(), factorize, solve, peak_memory());
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count < 5) {
    std::cerr << "linear_systems MODEL SOLVER THREADS FILE.npz|- [NAME=VALUE...]\n";
    return 2;
  }
  try {
    std::vector<Assignment> set;
    for (int i = 5; i < count; ++i) set.push_back(parse_assignment(words[i], "NAME=VALUE"));
    return measure(words[1], words[2], std::stoi(words[3]), words[4], set);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
}
