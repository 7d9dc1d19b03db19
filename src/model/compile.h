// From a description to a Model, in passes: nodes, batches of elements, their frames and rows, the joints that elements name, sensors, signals.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "liedyn/model/model.h"

namespace liedyn {

// The i-th word of a field.
inline const std::string& word(const Description& d, const Entry& entry, int field, int i = 0) {
  return d.words[static_cast<std::size_t>(entry.fields[static_cast<std::size_t>(field)].word + i)];
}

// Entries by name.
class EntryNames {
 public:
  explicit EntryNames(const Description& description);
  // Index of an entry in its section; -1: there is none, as for "ground" among the bodies.
  int find(Section section, std::string_view name) const;

 private:
  std::array<std::unordered_map<std::string_view, int>, kSectionCount> of_section_;
};

class ModelCompiler {
 public:
  ModelCompiler(std::shared_ptr<const Description> description, const std::string& formulation);

  // Throws InputError with every finding.
  std::shared_ptr<const Model> compile(Model::Riders riders);

  // For sensors, which connect themselves (model/sensors/connect.h).
  Model& model() { return *model_; }
  const EntryNames& names() const { return names_; }
  std::vector<Diagnostic>& findings() { return findings_; }
  // A frame on a body, and its index.
  int add_frame(const Entry& entry, const Attachment& attachment);

 private:
  void choose_node_types();
  Tree plan_tree(bool minimal) const;
  int add_node(NodeType type);
  void add_nodes();
  void add_tree(bool minimal);
  void add_states();
  template <class Listed>
  void add_batches(Section section, const std::vector<Listed>& list);
  void number_joints();
  void attach(std::size_t batch);
  void attach_along_beams(std::size_t batch);
  void number_links();
  void connect_joints(std::size_t batch);
  bool has_coordinate(std::size_t batch, int element, const Attachment& attachment);
  void use_multipliers(std::size_t batch, int element);
  void add_sensors();
  void number_flexible_bodies();
  void connect_signals();

  std::shared_ptr<Model> model_;
  const Description& d_;
  EntryNames names_;
  std::vector<NodeType> types_;   // of bodies and states, in absolute coordinates
  std::vector<bool> own_;         // whether no joint of a tree may move them
  std::vector<int> first_joint_;  // running number of the first joint of each batch
  std::vector<Diagnostic> findings_;
};

}  // namespace liedyn
