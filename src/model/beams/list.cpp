#include "liedyn/model/beams/list.h"

#include "liedyn/model/beams/beam.h"
#include "liedyn/model/beams/section.h"
#include "liedyn/model/beams/three_node.h"
#include "liedyn/model/beams/two_node.h"
#include "liedyn/model/formulation_field.h"

namespace liedyn {
namespace {

// Elements that tell sensors about their sections.
template <class E>
class BeamBatch : public BatchOf<E>, public BeamSections {
 public:
  using BatchOf<E>::BatchOf;
  int points() const override { return E::points; }
  Layout layout(int point) const override {
    return {E::kDelay, E::kRelaxed + 6 * point, E::kStiffness + 36 * point};
  }
  void section(const Evaluation& at, int element, int point, Vec6& strain, Vec6& force) const override {
    section_of(at, element, point, strain, force);
  }
  void section(const VariedEvaluation& at, int element, int point, Vec6T<Varied>& strain,
               Vec6T<Varied>& force) const override {
    section_of(at, element, point, strain, force);
  }

 private:
  template <class S>
  void section_of(const EvaluationOf<S>& at, int element, int point, Vec6T<S>& strain,
                  Vec6T<S>& force) const {
    std::array<Motion<S>, E::frames> m;
    for (int i = 0; i < E::frames; ++i) {
      const auto frame =
          static_cast<std::size_t>(this->frames[static_cast<std::size_t>(element * E::frames + i)]);
      m[static_cast<std::size_t>(i)] = at.motions[at.frames[frame].node];
    }
    E::section(m, at.constants + this->first_constant + element * E::constants, point, strain, force);
  }
};

std::vector<Field> common_fields() {
  return {
      {.name = "from",
       .type = FieldType::Vector,
       .unit = "m",
       .summary = "Start of the beam, inertial axes.",
       .required = true,
       .pose = PoseRole::Point,
       .index = kBeamFrom},
      {.name = "to",
       .type = FieldType::Vector,
       .unit = "m",
       .summary = "End of the beam.",
       .required = true,
       .pose = PoseRole::Point,
       .index = kBeamTo},
      {.name = "through",
       .type = FieldType::Path,
       .unit = "m",
       .summary = "Shape of the relaxed beam: an intermediate point of a circular arc, or a list of at least "
                  "two points of a cubic spline. Straight if not given.",
       .pose = PoseRole::Point,
       .index = kBeamThrough},
      {.name = "y_axis",
       .type = FieldType::Vector,
       .unit = "",
       .summary = "Direction of the section's y axis at the start, inertial axes; its component along the "
                  "beam is ignored. If not given, the section's z axis is as close as possible to the "
                  "inertial z axis. For a beam along z, the section's y axis is the inertial y axis.",
       .pose = PoseRole::Direction,
       .index = kBeamYAxis},
      {.name = "twist",
       .type = FieldType::Number,
       .unit = "rad",
       .summary = "Twist of the section of the relaxed beam about its axis, from start to end.",
       .defaults = {0},
       .index = kBeamTwist},
      {.name = "elements",
       .type = FieldType::Integer,
       .unit = "",
       .summary = "Number of elements.",
       .required = true,
       .range = Range::Positive,
       .index = kBeamElements},
      {.name = "element",
       .type = FieldType::Choice,
       .unit = "",
       .summary = "Type of the elements: their error is of second or of fourth order in the element length.",
       .choices = {"two_node", "three_node"},
       .index = kBeamElement},
      {.name = "damping",
       .type = FieldType::Number,
       .unit = "s",
       .summary = "Kelvin-Voigt damping time tau: sigma = C (eps + tau d(eps)/dt).",
       .defaults = {0},
       .range = Range::NonNegative,
       .index = kBeamDamping},
      {.name = "velocity",
       .type = FieldType::Vector,
       .unit = "m/s",
       .summary = "Initial velocity of the start, inertial axes; initially the beam moves as a rigid body.",
       .defaults = {0, 0, 0},
       .is_initial = true,
       .may_be_consistent = true,
       .pose = PoseRole::Direction,
       .index = kBeamVelocity},
      {.name = "angular_velocity_inertial",
       .type = FieldType::Vector,
       .unit = "rad/s",
       .summary = "Initial angular velocity of the beam, inertial axes.",
       .defaults = {0, 0, 0},
       .is_initial = true,
       .may_be_consistent = true,
       .pose = PoseRole::Direction,
       .index = kBeamAngularVelocity},
      formulation_field("Coordinates of the nodes").as(kBeamFormulation)};
}

std::unique_ptr<Batch> make(unsigned order) {
  if (order == 2) return std::make_unique<BeamBatch<ThreeNodeBeam>>(order);
  return std::make_unique<BeamBatch<TwoNodeBeam>>(order);
}

template <class S>
void put(const Mat6T<S>& matrix, S* p) {
  Eigen::Map<Mat6T<S>>{p} = matrix;
}

// Relative pose of two points of the relaxed beam.
template <class S>
Vec6T<S> relaxed(const BeamCurve<S>& curve, double a, double b) {
  return ThreeNodeBeam::relative(curve.at(a), curve.at(b));
}

// Weights of Simpson's and of Lobatto's rule; the places are the start, the middle and the end of the element.
constexpr double kWeight[3] = {1.0 / 6, 4.0 / 6, 1.0 / 6};

void check_beam(const Inputs<double>& in, std::string& message, std::string& hint) {
  if (in.part() > 0) return;  // said once
  message = beam_curve_mistake(in, hint);
  if (message.empty()) message = section_mistake(in, hint);
}

// Members of frames have none of their own.
template <class S>
S delay(const Inputs<S>& in) {
  return in.stored(kBeamDamping) ? in.number(kBeamDamping) : S(0);
}

}  // namespace

template <class S>
void TwoNodeBeam::derive(const Inputs<S>& in, S* p) {
  const BeamCurve<S> curve = beam_curve(in);
  const int elements = beam_mesh(in.description(), in.entry()).elements;
  const double size = 1.0 / elements, a = in.part() * size, b = a + size;
  const S length = S(size) * curve.length();
  p[kLength] = length;
  p[kDelay] = delay(in);
  Eigen::Map<Vec6T<S>>{p + kRelaxed} = relaxed(curve, a, b);
  Mat6T<S> K = Mat6T<S>::Zero();
  for (int k = 0; k < 3; ++k) {
    const SectionMatrices<S> section = section_matrices(in, a + 0.5 * k * size);
    K += S(kWeight[k]) * section.stiffness;  // the strain is constant
    put<S>((S(kWeight[k]) * length) * section.inertia, p + kInertia + 36 * k);
  }
  put<S>(K / length, p + kStiffness);
}
template void TwoNodeBeam::derive<double>(const Inputs<double>&, double*);
template void TwoNodeBeam::derive<Varied>(const Inputs<Varied>&, Varied*);

template <class S>
void ThreeNodeBeam::derive(const Inputs<S>& in, S* p) {
  const BeamCurve<S> curve = beam_curve(in);
  const int elements = beam_mesh(in.description(), in.entry()).elements;
  const double size = 1.0 / elements, a = in.part() * size, middle = a + 0.5 * size, b = a + size;
  const S length = S(size) * curve.length();
  p[kLength] = length;
  p[kDelay] = delay(in);
  const std::array<Vec6T<S>, 2> ends = {relaxed(curve, middle, a), relaxed(curve, middle, b)};
  for (int k = 0; k < points; ++k) {
    Eigen::Map<Vec6T<S>>{p + kRelaxed + 6 * k} = Strain<S>(kShape[k], ends, length).value;
    const double x = middle + (k == 0 ? -0.5 : 0.5) * size / std::sqrt(3.0);
    put<S>(section_matrices(in, x).stiffness, p + kStiffness + 36 * k);
  }
  for (int k = 0; k < 3; ++k)
    put<S>((S(kWeight[k]) * length) * section_matrices(in, a + 0.5 * k * size).inertia,
           p + kInertia + 36 * k);
}
template void ThreeNodeBeam::derive<double>(const Inputs<double>&, double*);
template void ThreeNodeBeam::derive<Varied>(const Inputs<Varied>&, Varied*);

void TwoNodeBeam::check(const Inputs<double>& in, std::string& message, std::string& hint) {
  check_beam(in, message, hint);
}
void ThreeNodeBeam::check(const Inputs<double>& in, std::string& message, std::string& hint) {
  check_beam(in, message, hint);
}

const std::vector<ListedKind>& beam_kinds() {
  static const std::vector<ListedKind> list = [] {
    std::vector<ListedKind> out;
    for (const SectionKind& section : section_kinds()) {
      std::vector<Field> fields = common_fields();
      fields.insert(fields.end(), section.fields.begin(), section.fields.end());
      out.push_back(
          {{.type = section.type, .summary = section.summary, .fields = std::move(fields), .is_smooth = true},
           &make,
           [](const Description& d, const Entry& beam) {
             return static_cast<unsigned>(beam_mesh(d, beam).order);
           },
           [](const Description&, const Entry& beam) -> const Entry& { return beam; }});
    }
    return out;
  }();
  return list;
}

}  // namespace liedyn
