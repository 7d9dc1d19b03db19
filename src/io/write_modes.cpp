#include "liedyn/io/write_modes.h"

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

Json pair(std::complex<double> z) { return Json::array({z.real(), z.imag()}); }

std::string modes_extension(const std::string& file) {
  const std::string extension = std::filesystem::path(file).extension().string();
  if (extension != ".csv" && extension != ".json" && extension != ".npz")
    throw InputError("--out", fmt::format("expected a file that ends with .csv, .json or .npz, got '{}'",
                                          excerpt(file, 200)));
  return extension;
}

}  // namespace

std::string modes_json(const Modes& m, const Model& model) {
  const auto& bodies = model.description().entries(Section::Bodies);
  Json list = Json::array();
  for (const Mode& mode : m.modes) {
    Json energy = Json::object(), shape = Json::object();
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      energy[bodies[i].name] = mode.share[i];
      const Node& node = model.nodes[i];
      Json numbers = Json::array();
      for (int k = 0; k < node_size(node.type).v; ++k)
        numbers.push_back(pair(mode.shape[static_cast<std::size_t>(node.v + k)]));
      shape[bodies[i].name] = numbers;
    }
    Json states = Json::object();
    for (int i = model.first_state(); i < model.nv; ++i)
      states[model.body_of(i).name] = pair(mode.shape[static_cast<std::size_t>(i)]);
    list.push_back({{"eigenvalue", pair(mode.eigenvalue)},
                    {"frequency", mode.frequency()},
                    {"damping_ratio", mode.damping_ratio()},
                    {"rigid", mode.rigid},
                    {"energy", energy},
                    {"shape", shape}});
    if (!states.empty()) list.back()["states"] = states;
  }
  const Json json = {{"liedyn", version()},
                     {"model", m.model},
                     {"formulation", m.formulation},
                     {"time", m.time},
                     {"degrees_of_freedom", m.degrees_of_freedom},
                     {"states", m.states},
                     {"zero_eigenvalues", m.zeros},
                     {"undamped", m.undamped},
                     {"solver", m.solver},
                     {"axes_rate", {m.axes.rate.x(), m.axes.rate.y(), m.axes.rate.z()}},
                     {"steady", m.axes.change <= kSteady},
                     {"shape_names", shape_names(model)},
                     {"modes", list},
                     {"warnings", m.warnings}};
  return json.dump(2);
}

std::string modes_csv(const Modes& m, const Model& model) {
  std::string out = "mode,real,imaginary,frequency,damping_ratio";
  for (const std::string& name : shape_names(model))
    out += fmt::format(",{} (real),{} (imaginary)", name, name);
  out += '\n';
  for (std::size_t i = 0; i < m.modes.size(); ++i) {
    const Mode& mode = m.modes[i];
    out += fmt::format("{},{},{},{},{}", i + 1, mode.eigenvalue.real(), mode.eigenvalue.imag(),
                       mode.frequency(), mode.damping_ratio());
    for (const std::complex<double>& z : mode.shape) out += fmt::format(",{},{}", z.real(), z.imag());
    out += '\n';
  }
  return out;
}

void check_modes_output(const std::string& file) {
  modes_extension(file);
  check_writable(file);
}

void write_modes(const Modes& m, const Model& model, const std::string& file) {
  const std::string extension = modes_extension(file);
  if (extension == ".csv") return write_text(file, modes_csv(m, model));
  if (extension == ".json") return write_text(file, modes_json(m, model) + "\n");
  const auto count = static_cast<Eigen::Index>(m.modes.size());
  Eigen::VectorXcd eigenvalues(count);
  Eigen::MatrixXcd shapes(count, model.nv);
  Eigen::MatrixXd energy(count, static_cast<Eigen::Index>(model.body_types.size()));
  for (Eigen::Index i = 0; i < count; ++i) {
    const Mode& mode = m.modes[static_cast<std::size_t>(i)];
    eigenvalues[i] = mode.eigenvalue;
    for (int k = 0; k < model.nv; ++k) shapes(i, k) = mode.shape[static_cast<std::size_t>(k)];
    for (Eigen::Index k = 0; k < energy.cols(); ++k) energy(i, k) = mode.share[static_cast<std::size_t>(k)];
  }
  std::vector<std::string> bodies;
  for (const Entry& body : model.description().entries(Section::Bodies)) bodies.push_back(body.name);
  NpzFile npz;
  npz.add("eigenvalues", eigenvalues);
  npz.add("shapes", shapes);
  npz.add("energy", energy);
  npz.add("shape_names", shape_names(model));
  npz.add("bodies", bodies);
  write_text(file, npz.bytes());
}

}  // namespace liedyn
