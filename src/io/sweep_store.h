// The store of a study: a row per case, safe against the end of the program at any moment.
//
// While a study goes on, every finished case is one record at the end of the journal, FILE.journal: its length, a checksum, the case. A record that is not whole, since the program was killed while
// writing it, is cut off by the next one that opens the journal. When all cases are there (and whenever the program ends in good order) the journal is folded into FILE, an HDF5 file whose
// row i is case i. It appears under its name only when it is complete, and only then a complete journal is removed. What is in the store does not depend on the order in which cases finish.
//
//   /parameters/NAME, /outputs/NAME   values; an output of several components is a matrix
//   /status                           0 missing, 1 completed, 2 failed, 3 refused, 4 timed out
//   /message                          why a case failed, or what it warns of
//   /statistics/NAME                  steps, newton_iterations, jacobian_updates, rejected, end
//   /timing/seconds                   elapsed; all else is the same however often, wherever and in whatever order cases are run
//   attribute "layout"                names, units and the study, as JSON
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "liedyn/analyses/sweep.h"

namespace liedyn {

// Sizes that the layout of a study (SweepFile::layout) gives.
struct SweepColumns {
  std::uint64_t cases = 0;
  std::size_t variables = 0, outputs = 0;  // numbers per case
  std::string fingerprint;
};
SweepColumns columns_of(const std::string& layout);

// A record as bytes, for the journal and for messages between processes; and back. The second throws std::runtime_error if they are none.
std::string encode(const CaseRecord& record);
CaseRecord decode(std::string_view bytes);

class SweepStore {
 public:
  // Opens or makes the store of a study, for this process alone. Throws InputError if another one uses it, if it belongs to another study, or if it cannot be written.
  SweepStore(std::string file, std::string layout);
  SweepStore(const SweepStore&) = delete;
  SweepStore& operator=(const SweepStore&) = delete;
  ~SweepStore();

  const std::vector<CaseStatus>& status() const { return status_; }
  std::uint64_t count(CaseStatus status) const { return counts_[static_cast<std::size_t>(status)]; }
  // Cases to be run, in their order; with `failed` also those that did not complete.
  std::vector<std::uint64_t> missing(bool failed = false) const;

  // The case is in the file when this returns, and survives the end of the program; within a second also that of the machine. Throws InputError if it cannot be written: all records before it are
  // safe, and the store can be opened again.
  void add(const CaseRecord& record);
  void add(std::string_view encoded);
  // Writes FILE from the journal, and removes the journal if no case is missing.
  void fold();
  // Others may open the store from now on, and nothing is added any more; also where this process has been forked meanwhile.
  void close();

 private:
  void open_journal();
  void begin_journal();
  void import_rows();
  void read_journal();
  void note(std::uint64_t index, CaseStatus status, std::uint64_t offset);

  std::string file_, layout_;
  SweepColumns columns_;
  int journal_ = -1;
  std::uint64_t end_ = 0;  // of the journal
  double synced_ = 0;      // when [s]
  bool changed_ = false;   // since the last fold
  bool in_file_ = false;   // cases that the journal does not have
  std::vector<CaseStatus> status_;
  std::vector<std::uint64_t> offsets_;  // of the records
  std::uint64_t counts_[5] = {};
};

// Beside a store: FOLDER/CASE.h5 for each of the kept cases. Makes the folder where there are any.
void keep_results(SweepPlan& plan, const std::string& folder);
// What is to be run, ascending: what the store misses (see SweepStore::missing), and kept cases that have completed without a file in the folder.
std::vector<std::uint64_t> cases_to_run(const SweepPlan& plan, const SweepStore& store,
                                        const std::string& folder, bool failed);

// A store as it is now, also while a study goes on. Throws InputError.
struct SweepTable {
  std::string layout;
  std::vector<CaseStatus> status;
  std::vector<std::vector<double>> variables;   // per variable
  std::vector<std::vector<double>> outputs;     // per number of the outputs, one after the other
  std::vector<std::vector<double>> statistics;  // steps, newton_iterations, jacobian_updates, rejected, end
  std::vector<double> seconds;
  std::vector<std::string> messages;
};
SweepTable read_sweep_store(const std::string& file);
inline constexpr std::string_view kStatistics[] = {"steps", "newton_iterations", "jacobian_updates",
                                                   "rejected", "end"};

// How far a study is, without its numbers.
struct SweepState {
  std::string layout;
  std::uint64_t counts[5] = {};                                 // by status
  double seconds = 0;                                           // of all cases
  bool in_use = false;                                          // by a process
  std::vector<std::pair<std::uint64_t, std::string>> failures;  // the first ones
};
SweepState sweep_state(const std::string& file);

}  // namespace liedyn
