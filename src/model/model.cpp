#include "liedyn/model/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "liedyn/model/compile.h"
#include "liedyn/model/forces/machine_output.h"
#include "liedyn/model/is_given.h"
#include "liedyn/model/nodes/formulations.h"
#include "liedyn/model/sensors/connect.h"

namespace liedyn {

const std::vector<std::string>& formulations() {
  static const std::vector<std::string> list = [] {
    std::vector<std::string> out;
    for (const Formulation& formulation : kFormulations) out.emplace_back(formulation.name);
    out.emplace_back(kMinimalCoordinates);
    return out;
  }();
  return list;
}

const std::vector<std::string>& formulation_choices() {
  static const std::vector<std::string> list = [] {
    std::vector<std::string> out = formulations();
    out.emplace_back(kOpenFormulation);
    return out;
  }();
  return list;
}

std::shared_ptr<const Model> Model::compile(std::shared_ptr<const Description> description,
                                            const std::string& formulation, Riders riders) {
  return ModelCompiler(std::move(description), formulation).compile(riders);
}

bool Model::is_minimal() const { return formulation_ == kMinimalCoordinates; }
bool Model::is_formulation_open() const { return formulation_ == kOpenFormulation; }

const std::string& Model::unit_of(const Sensor& sensor) const {
  // What acts along the coordinate of a joint has the unit of power by that of its rate.
  static const std::string torque = "N m", force = "N";
  if (sensor.listed->traits.of_effort) return sensor.driven != nullptr && sensor.about ? torque : force;
  const Entry& entry =
      description_->entries(Section::Sensors)[static_cast<std::size_t>(&sensor - sensors.data())];
  const int field = entry.kind->field("unit");
  if (sensor.listed->traits.connect == &connect_to_quantity)
    return dynamic_cast<const MachineOutput&>(*batches[static_cast<std::size_t>(sensor.batch)])
        .quantities()[static_cast<std::size_t>(sensor.choice)]
        .unit;
  return is_given(entry, field) ? word(*description_, entry, field) : sensor.listed->unit;
}

bool Model::has_conventional_nodes() const {
  return std::any_of(nodes.begin(), nodes.end(), [](const Node& node) { return is_conventional(node.type); });
}

const Entry& Model::entry_of(int batch, int element) const {
  const auto b = static_cast<std::size_t>(batch);
  return description_->entries(
      sections[b])[static_cast<std::size_t>(batches[b]->entries[static_cast<std::size_t>(element)])];
}

std::pair<int, int> Model::element_of_joint(int entry) const {
  return joint_elements_[static_cast<std::size_t>(entry)];
}

std::pair<int, int> Model::named_joint(int batch, int element, int i) const {
  const std::vector<std::int32_t>& named = batches[static_cast<std::size_t>(batch)]->named_joints;
  const std::size_t each = named.size() / batches[static_cast<std::size_t>(batch)]->entries.size();
  return element_of_joint(named[static_cast<std::size_t>(element) * each + static_cast<std::size_t>(i)]);
}

std::pair<int, int> Model::element_of_row(int row) const {
  for (std::size_t b = 0; b < batches.size(); ++b) {
    const int per_element = batches[b]->coupling().rows;
    const int local = row - batches[b]->first_row;
    if (local >= 0 && local < per_element * batches[b]->size())
      return {static_cast<int>(b), local / per_element};
  }
  throw std::out_of_range(fmt::format("no constraint row {}", row));
}

bool Model::is_velocity_row(int row) const {
  const Batch& batch = *batches[static_cast<std::size_t>(element_of_row(row).first)];
  const Coupling c = batch.coupling();
  return (row - batch.first_row) % c.rows >= c.rows - c.velocity_rows;
}

const Entry& Model::joint_of(int row) const {
  const auto [batch, element] = element_of_row(row);
  return entry_of(batch, element);
}

std::string Model::row_name(int row) const {
  const auto [b, e] = element_of_row(row);
  const Batch& batch = *batches[static_cast<std::size_t>(b)];
  const int local = (row - batch.first_row) % batch.coupling().rows;
  return fmt::format("{}.{}: {}", section_name(sections[static_cast<std::size_t>(b)]), entry_of(b, e).name,
                     batch.row_name(local));
}

int Model::node_of_body(int body) const {
  if (!tree) return body;
  const Link& link = tree->links[static_cast<std::size_t>(tree->of_body[static_cast<std::size_t>(body)])];
  return link.kind == Link::Kind::Root ? link.node : -1;
}

int Model::node_of_velocity(int dof) const {
  const auto next =
      std::upper_bound(nodes.begin(), nodes.end(), dof, [](int i, const Node& node) { return i < node.v; });
  return static_cast<int>(next - nodes.begin()) - 1;
}

const Entry& Model::body_of(int dof) const {
  int body = node_of_velocity(dof);
  if (tree) {
    const Link& link = tree->links[static_cast<std::size_t>(tree->of_node[static_cast<std::size_t>(body)])];
    body = link.joint < 0
               ? link.body
               : tree->links[static_cast<std::size_t>(tree->of_joint[static_cast<std::size_t>(link.joint)])]
                     .body;
  }
  const int bodies = static_cast<int>(body_types.size());
  return body < bodies ? description_->entries(Section::Bodies)[static_cast<std::size_t>(body)]
                       : description_->entries(Section::States)[static_cast<std::size_t>(body - bodies)];
}

std::string Model::equation_name(int dof) const {
  if (dof >= first_state()) return fmt::format("states.{}: rate", body_of(dof).name);
  const int index = node_of_velocity(dof);
  const Node& node = nodes[static_cast<std::size_t>(index)];
  const Link* link =
      tree ? &tree->links[static_cast<std::size_t>(tree->of_node[static_cast<std::size_t>(index)])] : nullptr;
  const int component = components(node.type)[dof - node.v];
  if (link == nullptr || link->kind == Link::Kind::Root)
    return fmt::format("bodies.{}: {} {}", body_of(dof).name, component < 3 ? "force" : "torque",
                       "xyz"[component % 3]);
  const Entry& joint = description_->entries(Section::Joints)[static_cast<std::size_t>(link->joint)];
  if (link->kind == Link::Kind::Rotation)
    return fmt::format("joints.{}: free torque {}", joint.name, "xyz"[dof - node.v]);
  const std::string_view what = link->kind == Link::Kind::Turn ? "torque" : "force";
  return joint.kind->tree->motions.size() == 1
             ? fmt::format("joints.{}: free {}", joint.name, what)
             : fmt::format("joints.{}: free {} of motion {}", joint.name, what, link->step + 1);
}

}  // namespace liedyn
