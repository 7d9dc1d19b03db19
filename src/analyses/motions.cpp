#include "liedyn/analyses/motions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "liedyn/system/node_components.h"

namespace liedyn {
namespace {

std::string direction_text(Vec3 v) {
  v /= v.norm();
  // The largest component decides on the sign.
  Eigen::Index largest = 0;
  v.cwiseAbs().maxCoeff(&largest);
  if (v[largest] < 0) v = -v;
  const auto rounded = [](double x) { return std::abs(x) < 5e-4 ? 0.0 : x; };
  return fmt::format("({:.3g}, {:.3g}, {:.3g})", rounded(v.x()), rounded(v.y()), rounded(v.z()));
}

}  // namespace

std::string describe_motion(const Model& model, const Eigen::VectorXd& y) {
  struct Part {
    double size;
    std::string text;
  };
  std::vector<Part> parts;
  const int first_state = model.first_state();
  const double largest = first_state > 0 ? y.head(first_state).cwiseAbs().maxCoeff() : 0;
  const auto& bodies = model.description().entries(Section::Bodies);
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const Node& node = model.nodes[i];
    Vec3 displacement = Vec3::Zero(), rotation = Vec3::Zero();
    for (int k = 0; k < node_size(node.type).v; ++k) {
      Vec3& part = is_displacement(node.type, k) ? displacement : rotation;
      part[component(node.type, k) % 3] = y[node.v + k];
    }
    std::vector<std::string> words;
    if (rotation.norm() > 1e-3 * largest) words.push_back("turns about " + direction_text(rotation));
    if (displacement.norm() > 1e-3 * largest) words.push_back("moves along " + direction_text(displacement));
    if (words.empty()) continue;
    parts.push_back({std::max(rotation.norm(), displacement.norm()),
                     fmt::format("{} {}", bodies[i].name, fmt::join(words, " and "))});
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.size > 1.001 * b.size; });
  const auto states = y.tail(model.nv - first_state);
  for (Eigen::Index i = 0; i < states.size(); ++i)
    if (std::abs(states[i]) > 1e-3 * states.cwiseAbs().maxCoeff())
      parts.push_back(
          {std::abs(states[i]), "state " + model.body_of(first_state + static_cast<int>(i)).name});
  constexpr std::size_t kMost = 3;
  const std::size_t more = parts.size() > kMost ? parts.size() - kMost : 0;
  parts.resize(parts.size() - more);
  std::vector<std::string> texts;
  for (const Part& part : parts) texts.push_back(part.text);
  return fmt::format("{}{}", fmt::join(texts, "; "), more > 0 ? fmt::format("; {} more", more) : "");
}

Eigen::MatrixXd separated(Eigen::MatrixXd basis) {
  const Eigen::Index columns = basis.cols();
  for (Eigen::Index k = 0; k < columns; ++k) {
    Eigen::Index row = 0, column = 0;
    basis.rightCols(columns - k).cwiseAbs().maxCoeff(&row, &column);
    basis.col(k).swap(basis.col(k + column));
    basis.col(k) /= basis(row, k);
    for (Eigen::Index other = 0; other < columns; ++other)
      if (other != k) basis.col(other) -= basis(row, other) * Eigen::VectorXd(basis.col(k));
  }
  return basis;
}

}  // namespace liedyn
