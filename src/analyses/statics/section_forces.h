// Section forces of beams as the linearised equations predict them. Where a slender beam has rotated by an angle a it is
// stretched by a^2/2 until the next step, by forces far larger than those that rotated it, and the stiffness K(q, sigma) must
// not contain them. With the strains e(q), e' = E y and the stiffness D of the sections, Newton's method for displacements
// and section forces sigma together,
//
//   K(q, sigma) y = -r(q),    sigma_next = D (e(q) + E y),
//
// takes steps that do not depend on the ratio of axial and bending stiffness (Magisano, Leonetti, Garcea 2017). Only K
// differs from that of displacements alone.
#pragma once

#include <functional>
#include <vector>

#include <Eigen/Core>

#include "liedyn/model/beams/beam.h"
#include "liedyn/system/system.h"

namespace liedyn {

class SectionForces {
 public:
  // Models with states have none: their steps are those of displacements alone.
  explicit SectionForces(const System& system);
  void forget() { forces_.clear(); }

  // After the increment d of the positions.
  void predict(const State& from, const Eigen::VectorXd& d, Work& work);
  // Calls `visit` with relaxed shapes such that the forces at the state are those predicted.
  void impose(const State& state, Work& work, const std::function<void()>& visit) const;

 private:
  struct Beams {
    const Batch* batch;
    const BeamSections* sections;
    std::size_t first_constant(int element) const;
  };
  template <class Visit>
  void for_each_point(Visit&& visit) const;
  std::vector<Vec6> evaluate(const State& state, const Constants& constants, Work& work) const;

  const System* system_;
  std::vector<Beams> beams_;
  std::vector<Vec6> forces_;  // empty: those of the positions
};

}  // namespace liedyn
