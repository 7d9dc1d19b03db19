#include "liedyn/model/forces/line_load.h"

#include "liedyn/model/beams/beam.h"
#include "liedyn/model/forces/signal_force.h"

namespace liedyn {
namespace {

enum Fields { kOn, kForce, kMoment, kAxes };

const Entry& beam_of(const Description& d, const Entry& load) {
  const std::string& name = d.words[static_cast<std::size_t>(load.fields[kOn].word)];
  const auto& beams = d.entries(Section::Beams);
  return *std::find_if(beams.begin(), beams.end(), [&](const Entry& beam) { return beam.name == name; });
}

// dc = c_h[0] dh_A + c_h[1] dh_B of the dual Gibbs vector, its rotational rows: see model/beams/two_node.h.
std::array<Mat3, 2> turning(const Vec3& cw) {
  const Mat3 G = 0.25 * (1 - cw.squaredNorm()) * Mat3::Identity() + 0.5 * cw * cw.transpose();
  const Mat3 C = 0.5 * skew(cw);
  return {C - G, C + G};
}

}  // namespace

template <int Nodes>
template <class S>
void LineLoad<Nodes>::derive(const Inputs<S>& in, S* p) {
  const Entry& beam = beam_of(in.description(), in.entry());
  const Inputs<S> of_beam(in.description(), beam, in.all_parameters(), nullptr);
  const S length = beam_curve(of_beam).length() / S(beam_mesh(in.description(), beam).elements);
  Eigen::Map<Vec3T<S>>{p} = length * in.vector(kForce);
  Eigen::Map<Vec3T<S>>{p + 3} = length * in.vector(kMoment);
  p[6] = S(in.choice(kAxes));
}

template <int Nodes>
void LineLoad<Nodes>::partials(const World<double>&, const std::array<Motion<double>, frames>& f,
                               const double* p, ForcePartials<frames>& d) {
  for (auto& row : d.K)
    for (Mat6& block : row) block.setZero();
  const bool inertial = p[6] == 0;
  std::array<Vec6, frames> load;
  for (std::size_t i = 0; i < frames; ++i) {
    load[i] = load_at(f[i].R, p);
    // d(R^T x) = (R^T x)~ d_r
    const double weight = Nodes == 3 ? kWeight[i] : kWeight[2 * i];
    if (inertial)
      for (int k = 0; k < 6; k += 3)
        d.K[i][i].template block<3, 3>(k, 3) = -weight * skew(load[i].template segment<3>(k));
  }
  if constexpr (Nodes == 2) {
    const Vec6 c = RelativePose<double>(f[0], f[1]).half;
    const Vec3 cu = c.head<3>(), cw = c.tail<3>();
    const Vec6 F = -kWeight[1] * middle(p, c, load);
    const Mat6 C = SE3<double>::ad(c);
    // All of dc: translations of the nodes move c_u.
    Mat6 c_h[2];
    const std::array<Mat3, 2> turn = turning(cw);
    const Mat3 dual = 0.5 * (cu * cw.transpose() + cw * cu.transpose()) - 0.5 * cu.dot(cw) * Mat3::Identity();
    for (std::size_t j = 0; j < 2; ++j)
      c_h[j] << turn[j], 0.5 * skew(cu) + (j == 0 ? -1 : 1) * dual, Mat3::Zero(), turn[j];
    Mat6 F_h[2] = {Mat6::Zero(), Mat6::Zero()};
    if (inertial) {
      Eigen::Matrix<double, 6, 3> F_cw;
      for (int k = 0; k < 6; k += 3)
        F_cw.middleRows<3>(k) =
            (0.5 * kWeight[1]) * skew(Vec3(load[1].template segment<3>(k) - load[0].template segment<3>(k)));
      for (std::size_t j = 0; j < 2; ++j) {
        F_h[j].rightCols<3>() = F_cw * turn[j];
        const Mat3 share = 0.5 * (Mat3::Identity() + (j == 0 ? -1 : 1) * skew(cw));
        for (int k = 0; k < 6; k += 3)
          F_h[j].block<3, 3>(k, 3) -= kWeight[1] * share * skew(load[j].template segment<3>(k));
      }
    }
    const Mat6 slope = coadjoint_slope(F);
    for (int i = 0; i < 2; ++i) {
      const double sign = i == 0 ? -0.5 : 0.5;
      const Mat6 Qt = 0.5 * Mat6::Identity() + sign * C.transpose();
      for (int j = 0; j < 2; ++j) d.K[i][j] += Qt * F_h[j] + sign * slope * c_h[j];
    }
  }
}

template struct LineLoad<2>;
template struct LineLoad<3>;
template void LineLoad<2>::derive<double>(const Inputs<double>&, double*);
template void LineLoad<3>::derive<double>(const Inputs<double>&, double*);
template void LineLoad<2>::derive<Varied>(const Inputs<Varied>&, Varied*);
template void LineLoad<3>::derive<Varied>(const Inputs<Varied>&, Varied*);

ListedKind line_load() {
  const auto per_length = [](std::string name, std::string unit, std::string summary, LoadKind load) {
    return Field{.name = std::move(name),
                 .type = FieldType::Vector,
                 .unit = std::move(unit),
                 .summary = std::move(summary),
                 .defaults = {0, 0, 0},
                 .may_depend_on_time = true,
                 .may_depend_on_signals = true,
                 .load = load};
  };
  return {{"line_load",
           "Force and moment per length on a beam, constant along it.",
           {{.name = "on",
             .type = FieldType::Beam,
             .unit = "",
             .summary = "The beam.",
             .required = true,
             .index = kOn},
            per_length("force", "N/m", "Force per length.", LoadKind::ForcePerLength).as(kForce),
            per_length("moment", "N", "Moment per length.", LoadKind::MomentPerLength).as(kMoment),
            {.name = "axes",
             .type = FieldType::Choice,
             .unit = "",
             .summary = "Axes of the components: inertial, or fixed to the sections of the beam.",
             .choices = {"inertial", "body"},
             .index = kAxes}}},
          // The order of the beam's elements in the last bit, then what signals ask for.
          [](unsigned shape) -> std::unique_ptr<Batch> {
            return shape % 2 == 1 ? make_force<LineLoad<3>>(shape / 2) : make_force<LineLoad<2>>(shape / 2);
          },
          [](const Description& d, const Entry& load) {
            return 2 * signal_shape(d, load) + (beam_mesh(d, beam_of(d, load)).order == 2 ? 1U : 0U);
          },
          &beam_of};
}

}  // namespace liedyn
