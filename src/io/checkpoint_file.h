// Checkpoints of a run on disk (liedyn run --checkpoint FILE), in two files:
//
//   FILE       "liedyn checkpoint file 1\n", the CRC-32 of all that follows, how much of the rows belongs to it (rows, bytes and their CRC-32), and the bytes of the run
//              (analyses/checkpoints.h). It is written beside its place, synchronised and renamed: at any time it is the last whole one.
//   FILE.csv   what the sensors have recorded, readable at any time. Rows are added before FILE is replaced; what a kill leaves behind the rows of FILE is cut off
//              when a run goes on from it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "liedyn/analyses/result.h"

namespace liedyn {

// Replaces the content of a file as a whole: after a kill or a loss of power it has its old content or this. Throws InputError.
void replace_file(const std::string& file, const std::string& bytes);
// Throws InputError if that is not possible: asked before a run, so that none is lost.
void check_replaceable(const std::string& file);

class CheckpointFile {
 public:
  // Throws InputError if it cannot be written.
  explicit CheckpointFile(std::string file);
  // Throws InputError if it cannot be written; the one before is then still whole.
  void keep(const std::string& run, const Trajectory& recorded);

 private:
  std::string file_;
  std::size_t rows_ = 0, bytes_ = 0;  // of FILE.csv
  unsigned long crc_ = 0;
};

struct SavedRun {
  std::string
      simulation;   // of a file that `--save-state` or Simulation::save wrote; then the others are empty
  std::string run;  // Checkpoints::resume
  std::vector<double> recorded;  // its rows
};
// Throws InputError if there is none, or if one of the two files is damaged.
SavedRun read_checkpoint(const std::string& file);

}  // namespace liedyn
