// The linear system of an implicit step, to a file for other solvers, and what the program's own solvers take for it. solvers.py compares them.
//
//   linear_systems MODEL SOLVER THREADS STEP FILE.npz [NAME=VALUE...]
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "liedyn/base/error.h"
#include "liedyn/base/thread_pool.h"
#include "liedyn/io/load.h"
#include "liedyn/io/npz_file.h"
#include "liedyn/system/initial.h"
#include "liedyn/system/matrix_parts.h"

namespace {

using namespace liedyn;
using Clock = std::chrono::steady_clock;

constexpr double kBeta = 0.2770083102493075, kGamma = 0.5526315789473684;  // rho = 0.9

// With accelerations and forces as unknowns, so that numbers of all rows have comparable sizes:
//   | M + gamma h C + beta h^2 K   B^T |
//   |             B                 0  |
void assemble(const System& system, const State& state, double step, Work& work) {
  MatrixRequest request;
  request.force = {kBeta * step * step, kGamma * step, 1};
  request.row = {1, 0, 0};
  request.level = RowLevel::Position;
  system.jacobian(state, work, {true, false, false}, request);
}

struct Entries {
  std::vector<double> rows, columns, values;
};

Entries entries(const System& system, const Work& work) {
  Entries out;
  const auto add = [&](const SparseMatrix& part, int row, int column) {
    for (int c = 0; c < part.outerSize(); ++c)
      for (SparseMatrix::InnerIterator it(part, c); it; ++it) {
        out.rows.push_back(static_cast<double>(row + it.row()));
        out.columns.push_back(static_cast<double>(column + it.col()));
        out.values.push_back(it.value());
      }
  };
  const int nv = system.model().nv;
  add(force_part(system, work), 0, 0);
  add(row_part(system, work), nv, 0);
  add(multiplier_part(system, work), 0, nv);
  return out;
}

// |1 - A x| / |1|
double residual(const Entries& a, const std::vector<double>& x) {
  std::vector<double> rest(x.size(), 1.0);
  for (std::size_t k = 0; k < a.values.size(); ++k)
    rest[static_cast<std::size_t>(a.rows[k])] -= a.values[k] * x[static_cast<std::size_t>(a.columns[k])];
  return std::sqrt(std::inner_product(rest.begin(), rest.end(), rest.begin(), 0.0) /
                   static_cast<double>(rest.size()));
}

void write(const System& system, const Entries& a, const std::string& file) {
  const auto vector = [](const std::vector<double>& of) {
    return Eigen::VectorXd(Eigen::VectorXd::Map(of.data(), static_cast<Eigen::Index>(of.size())));
  };
  NpzFile out;
  out.add("rows", vector(a.rows));
  out.add("columns", vector(a.columns));
  out.add("values", vector(a.values));
  out.add("sizes",
          vector({static_cast<double>(system.model().nv), static_cast<double>(system.model().rows)}));
  std::ofstream stream(file, std::ios::binary);
  const std::string bytes = out.bytes();
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!stream) throw InputError("file", fmt::format("'{}' cannot be written", file));
}

// Memory of this process now, in bytes.
double resident() {
  std::ifstream statm("/proc/self/statm");
  double all = 0, pages = 0;
  statm >> all >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

int measure(const std::string& model, const std::string& choice, int threads, double step,
            const std::string& file, const std::vector<Assignment>& set) {
  const System system = load(model, set);
  const double before = resident();
  Work work(system, choice);
  const State state = consistent_state(system, 0, InitialPolicy::Check, work);
  if (threads > 1) work.use_threads(std::make_shared<ThreadPool>(threads));
  constexpr int kRuns = 5;
  double factorize = INFINITY, solve = INFINITY;
  std::vector<double> right(static_cast<std::size_t>(system.unknowns()));
  for (int i = 0; i < kRuns; ++i) {
    assemble(system, state, step, work);
    std::fill(right.begin(), right.end(), 1.0);
    const auto start = Clock::now();
    if (!work.solver->factorize()) {
      fmt::print("{{\"solver\": \"{}\", \"failed\": true}}\n", work.solver->name());
      return 1;
    }
    const auto middle = Clock::now();
    work.solver->solve(right.data());
    const auto end = Clock::now();
    factorize = std::min(factorize, std::chrono::duration<double>(middle - start).count());
    solve = std::min(solve, std::chrono::duration<double>(end - middle).count());
  }
  const double memory = resident() - before;
  assemble(system, state, step, work);  // factors stand where the matrix was
  const Entries a = entries(system, work);
  if (file != "-") write(system, a, file);
  fmt::print(
      "{{\"solver\": \"{}\", \"unknowns\": {}, \"entries\": {}, \"factorize\": {:.6g}, \"solve\": {:.6g}, "
      "\"residual\": {:.2g}, \"memory\": {:.0f}}}\n",
      work.solver->name(), system.unknowns(), a.values.size(), factorize, solve, residual(a, right), memory);
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count < 6) {
    std::cerr << "linear_systems MODEL SOLVER THREADS STEP FILE.npz|- [NAME=VALUE...]\n";
    return 2;
  }
  try {
    std::vector<Assignment> set;
    for (int i = 6; i < count; ++i) set.push_back(parse_assignment(words[i], "NAME=VALUE"));
    return measure(words[1], words[2], std::stoi(words[3]), std::stod(words[4]), words[5], set);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
}
