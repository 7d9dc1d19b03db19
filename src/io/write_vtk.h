// Deformed shapes at recorded times as files for ParaView and the like: one unstructured grid (.vtu) for each time, and their list (.pvd).
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "liedyn/analyses/modes.h"
#include "liedyn/analyses/shapes.h"

namespace liedyn {

class VtkWriter {
 public:
  // FOLDER/NAME.pvd with FOLDER/NAME_0000.vtu, ...; the folder is made if it is not there. Throws InputError if that cannot be.
  VtkWriter(const std::string& folder, std::string name);
  ~VtkWriter();
  VtkWriter(const VtkWriter&) = delete;
  VtkWriter& operator=(const VtkWriter&) = delete;

  void add(const System& system, const State& state);
  // A file for each mode about a state: the list has their numbers for times. Points have the real and the imaginary part of the shape, a tenth of the model's size.
  void add_modes(const System& system, const State& state, const Modes& modes);
  // Writes the list. Returns its path.
  std::string finish();

 private:
  Shapes& shapes_of(const System& system);

  std::string folder_, name_;
  const System* system_ = nullptr;
  std::unique_ptr<Shapes> shapes_;
  std::vector<std::pair<double, std::string>> files_;  // time, file
};

}  // namespace liedyn
