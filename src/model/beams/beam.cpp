#include "liedyn/model/beams/beam.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace liedyn {

BeamMesh beam_mesh(const Description& d, const Entry& beam) {
  const FieldValue& elements = beam.fields[kBeamElements];
  return {elements.has_integer() ? elements.integer() : 0,
          1 + Inputs<double>(d, beam, nullptr, nullptr).choice(kBeamElement)};
}

std::string beam_node_name(std::string_view beam, int node, const BeamMesh& mesh) {
  if (node == 0) return fmt::format("{}.start", beam);
  if (node + 1 == mesh.nodes()) return fmt::format("{}.end", beam);
  return fmt::format("{}.node{}", beam, node);
}

const Kind& beam_node_kind() {
  static const Kind kind{"beam_node", "Node of a beam.", {}};
  return kind;
}

BeamPlace parse_beam_place(std::string_view text) {
  BeamPlace out;
  const std::size_t open = text.find('[');
  out.beam = text.substr(0, open);
  if (open == std::string_view::npos) return out;
  out.given = true;
  const std::string_view inside = text.substr(open + 1);
  const char* last = inside.data() + inside.size() - 1;
  const auto [end, error] =
      std::from_chars(inside.data(), inside.empty() ? inside.data() : last, out.fraction);
  out.valid = !inside.empty() && inside.back() == ']' && error == std::errc() && end == last &&
              out.fraction >= 0 && out.fraction <= 1;
  return out;
}

int beam_node_at(const BeamMesh& mesh, double fraction) {
  const double wanted = fraction * (mesh.nodes() - 1), nearest = std::round(wanted);
  return std::abs(wanted - nearest) < 1e-6 * mesh.nodes() ? static_cast<int>(nearest) : -1;
}

template <class S>
void beam_section(const BeamSections& sections, const EvaluationOf<S>& at, int first_element, int elements,
                  double x, Vec6T<S>& strain, Vec6T<S>& force) {
  // Places of the points in units of elements: 0.5, or 0.5 -+ 1/sqrt(12).
  const int points = sections.points(), count = points * elements;
  const auto place = [&](int i) {
    const double inside = points == 1 ? 0.5 : (i % 2 == 0 ? 0.21132486540518713 : 0.78867513459481287);
    return i / points + inside;
  };
  const double wanted = x * elements;
  int i = 0;
  while (i + 2 < count && place(i + 1) < wanted) ++i;
  const auto evaluate = [&](int k, Vec6T<S>& e, Vec6T<S>& f) {
    sections.section(at, first_element + k / points, k % points, e, f);
  };
  evaluate(i, strain, force);
  if (count == 1) return;
  Vec6T<S> next_strain, next_force;
  evaluate(i + 1, next_strain, next_force);
  const double share = (wanted - place(i)) / (place(i + 1) - place(i));
  strain += S(share) * (next_strain - strain);
  force += S(share) * (next_force - force);
}
template void beam_section(const BeamSections&, const Evaluation&, int, int, double, Vec6&, Vec6&);
template void beam_section(const BeamSections&, const VariedEvaluation&, int, int, double, Vec6T<Varied>&,
                           Vec6T<Varied>&);

}  // namespace liedyn
