// Results as HDF5 files, written while a run goes on and read as far as they are needed.
//
//   /time, /sensors/NAME     one row per output time; attribute "unit". More than 200 sensors share tables: the attribute "channels" of
//                            /sensors, a JSON list, says which columns of which table are those of a sensor
//   /statistics/NAME         the same rows: energy, constraint residuals, steps, Newton iterations (RunStatistics)
//   /states/q v vdot lambda  the same rows, if asked for: the whole state; attribute "names", a JSON list
//   /events/time sensor      zero crossings, one row each; the second is an index into the attribute "names" of /events
//   /summary                 the summary as JSON, in bytes; until the end of the run that of its start
//   /status                  running, completed, failed (numerics) or stopped (by the user, or by an error)
//   attributes of the root   "liedyn" (version), "date" (UTC), "model" (text of the model), "set" (as --set takes it)
//
// Rows of /time are complete: they are written after those of all other tables.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "liedyn/analyses/run_output.h"
#include "liedyn/io/hdf5_file.h"

namespace liedyn {

class ResultWriter : public RunSink {
 public:
  // The file appears when the run begins. Throws InputError, as do all functions, if it cannot be written.
  explicit ResultWriter(std::string file, bool states = false);
  // Without finish() the status is "stopped".
  ~ResultWriter() override;

  void begin(const System& system, const Result& result) override;
  void add(const double* row, const RunStatistics& statistics, const State& state) override;
  void happened(double t, int sensor) override;
  // The summary and the status, when the run has ended.
  void finish(const Result& result);

 private:
  std::string name_;
  bool states_;
  std::unique_ptr<Hdf5File> file_;
  int rows_ = -1, events_ = -1;
  std::size_t columns_ = 0;
};

// A result that is complete: sensors and summary.
void write_result_file(const Result& result, const std::string& file,
                       const std::vector<std::pair<double, std::string>>& events);

// A result in its file. Opening it reads the summary; tables are read when they are asked for. A file that is being written shows what was there when it was opened.
// Throws InputError if the file is no result, or damaged.
class ResultFile {
 public:
  explicit ResultFile(const std::string& file);

  const std::string& name() const { return in_.name(); }
  const Summary& summary() const { return summary_; }
  // running, completed, failed, stopped; or "killed" if it should be running, and no program writes it.
  const std::string& status() const { return status_; }
  std::size_t rows() const { return rows_; }
  const std::vector<Channel>& channels() const { return channels_; }
  const std::vector<std::string>& statistics() const { return statistics_; }
  bool has_states() const { return has_states_; }

  std::vector<double> time() const { return column("/time"); }
  // Of a sensor: rows x components.
  std::vector<double> values(const Channel& channel) const;
  std::vector<double> statistic(const std::string& name) const { return column("/statistics/" + name); }
  // "q", "v", "vdot" or "lambda".
  Hdf5Input::Table states(const std::string& what) const;
  std::vector<std::string> state_names(const std::string& what) const;
  std::vector<std::pair<double, std::string>> events() const;

  // All sensors and the summary; of long runs only about `most` rows, 0: all.
  Result load(std::size_t most = 0) const;
  // The summary and the last row alone.
  Result ending() const;
  // The model in the file, as it was simulated.
  System system() const;
  // All states in their order, or at most about `most` of them (0: all); the first and the last are among them.
  void for_each_state(const System& system, std::size_t most,
                      const std::function<void(const State&)>& visit) const;

 private:
  void summarize_rows();
  std::vector<double> column(const std::string& path) const;
  std::size_t stride_for(std::size_t most) const;
  std::size_t kept_rows(std::size_t stride) const;

  Hdf5Input in_;
  Summary summary_;
  std::string status_;
  std::size_t rows_ = 0;
  std::vector<Channel> channels_;
  std::vector<std::string> statistics_;
  bool has_states_ = false;
};

// The motion in the file, which must have states, as a scene (write_scene.h).
std::string result_scene(const ResultFile& file, long frames = 0);

}  // namespace liedyn
