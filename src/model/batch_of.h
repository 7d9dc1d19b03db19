// From the plain functions of an element to its Batch: gathering of frames, scattering of wrenches, rows and blocks,
// written once for all kinds.
//
// An element E is a struct of static members:
//   static constexpr int frames, rows, numbers;
//   static std::vector<Attachment> attachments();
//   template <class S> static void derive(const Inputs<S>& in, S* p);            its numbers from what the user typed
//   static void check(const Inputs<double>&, std::string& message, std::string& hint);       optional
//
//   attachments and row_name take the shape as first argument if the kind has shapes (ListedKind).
//
//   an element with forces (rows = 0):
//     static constexpr bool stiffness, damping, inertia;                          which partials exist
//     template <class S> static void wrench(const World<S>&, const std::array<Motion<S>, frames>&, const S* p,
//                                           std::array<Vec6T<S>, frames>& W);     what it adds to r, an applied force with -
//     static void partials(const World<double>&, const Motions&, const double* p, ForcePartials<frames>&);
//     static Energy energy(const World<double>&, const Motions&, const double* p);             optional
//
//   a joint (rows > 0), Phi a function of the poses:
//     static constexpr bool across;                                               d(B^T lambda) couples the two frames
//     template <class S> static Eigen::Matrix<S, rows, 1> phi(const std::array<Pose<S>, frames>&, const S* p);
//     static void derivatives(const Motions&, const double* p, const double* lambda, JointDerivatives<frames, rows>&);
//     static std::string row_name(int row);
//     static constexpr AxisCoordinates coordinates;  static AxisMotion axis_motion(const Motions&, const double* p);  optional
#pragma once

#include <array>

#include "model/element.h"

namespace liedyn {

// dW_i/dX_j (body increments), dW_i/dV_j, dW_i/dA_j. Only what the element's flags name is read.
template <int F>
struct ForcePartials {
  Mat6 K[F][F], C[F][F], M[F][F];
};

template <int F, int R>
struct JointDerivatives {
  using Row = Eigen::Matrix<double, R, 6>;
  using Rows = Eigen::Matrix<double, R, 1>;
  Rows phi;
  Row B[F];      // dPhi/dX_i
  Mat6 G[F][F];  // d(B_i^T lambda)/dX_j
  Row Z[F];      // d(sum_j B_j V_j)/dX_i
  Rows bias;     // Z(V, V): second derivative of Phi along the motion of constant body twists
};

template <class E>
class BatchOf : public Batch {
 public:
  static constexpr int F = E::frames;
  static constexpr int R = E::rows;
  using Motions = std::array<Motion<double>, F>;

  explicit BatchOf(unsigned shape) : shape_(shape) {
    if constexpr (requires { E::attachments(shape); })
      attachments_ = E::attachments(shape);
    else
      attachments_ = E::attachments();
  }

  Coupling coupling() const override {
    if constexpr (R > 0)
      return {F, R, true, E::across};
    else
      return {F, R, has_partials(), has_partials() && F > 1};
  }
  int numbers_per_element() const override { return E::numbers; }
  const std::vector<Attachment>& attachments() const override { return attachments_; }
  void derive_numbers(const Inputs<double>& in, double* out) const override { E::derive(in, out); }
  void check(const Inputs<double>& in, std::string& message, std::string& hint) const override {
    if constexpr (requires { E::check(in, message, hint); }) E::check(in, message, hint);
  }
  std::string row_name(int row) const override {
    if constexpr (requires { E::row_name(shape_, row); })
      return E::row_name(shape_, row);
    else if constexpr (R > 0)
      return E::row_name(row);
    else
      return std::to_string(row);
  }

  void residual(const Evaluation& at) const override { loop<false>(at, {}); }
  void jacobian(const Evaluation& at, const JacobianTarget& to) const override { loop<true>(at, to); }

  void constraint_matrices(const Evaluation& at, double* out) const override {
    if constexpr (R > 0) {
      for (int e = 0; e < size(); ++e) {
        const auto frame = views(at, e, std::make_index_sequence<F>());
        Motions m;
        for (int i = 0; i < F; ++i) m[index(i)] = frame[index(i)].motion();
        JointDerivatives<F, R> d;
        E::derivatives(m, numbers_of(at, e), at.lambda + first_row + e * R, d);
        for (int i = 0; i < F; ++i, out += 6 * R)
          if (!frame[index(i)].on_ground())
            Eigen::Map<Eigen::Matrix<double, R, 6>>{out} =
                frame[index(i)].template to_node_columns<R>(d.B[i]);
      }
    }
  }

  Vec6 wrench_on(const Evaluation& at, int e, int i) const override {
    const auto frame = views(at, e, std::make_index_sequence<F>());
    Motions m;
    for (int k = 0; k < F; ++k) m[index(k)] = frame[index(k)].motion();
    if constexpr (R > 0) {
      const double* lambda = at.lambda + first_row + e * R;
      JointDerivatives<F, R> d;
      E::derivatives(m, numbers_of(at, e), lambda, d);
      return d.B[i].transpose() * Eigen::Map<const Eigen::Matrix<double, R, 1>>(lambda);
    } else {
      std::array<Vec6, F> W;
      E::wrench(at.world, m, numbers_of(at, e), W);
      return W[index(i)];
    }
  }

  AxisCoordinates axis_coordinates() const override {
    if constexpr (requires { E::coordinates; })
      return E::coordinates;
    else
      return {};
  }
  AxisMotion axis_motion(const Evaluation& at, int e) const override {
    if constexpr (requires { E::coordinates; }) {
      Motions m;
      for (int i = 0; i < F; ++i) m[index(i)] = view(at, e, i).motion();
      return E::axis_motion(m, numbers_of(at, e));
    } else {
      return {};
    }
  }

  Energy energy(const Evaluation& at) const override {
    Energy sum;
    if constexpr (requires(const Motions& m, const double* p) { E::energy(at.world, m, p); }) {
      for (int e = 0; e < size(); ++e) {
        Motions m;
        for (int i = 0; i < F; ++i) m[index(i)] = view(at, e, i).motion();
        sum += E::energy(at.world, m, numbers_of(at, e));
      }
    }
    return sum;
  }

 private:
  static constexpr bool has_partials() {
    if constexpr (R > 0)
      return true;
    else
      return E::stiffness || E::damping || E::inertia;
  }
  static constexpr std::size_t index(int i) { return static_cast<std::size_t>(i); }

  FrameView view(const Evaluation& at, int e, int i) const {
    return FrameView(at.frames[frames[index(e * F + i)]], at.numbers, at.nodes, at.motions);
  }
  const double* numbers_of(const Evaluation& at, int e) const {
    return at.numbers + first_number + e * E::numbers;
  }

  template <bool WithMatrix>
  void loop(const Evaluation& at, const JacobianTarget& to) const {
    for (int e = 0; e < size(); ++e) {
      if constexpr (R > 0)
        joint<WithMatrix>(at, to, e);
      else
        force<WithMatrix>(at, to, e);
    }
  }

  template <std::size_t... I>
  std::array<FrameView, sizeof...(I)> views(const Evaluation& at, int e, std::index_sequence<I...>) const {
    return {view(at, e, static_cast<int>(I))...};
  }

  static Seeds frame_seeds(const Evaluation& at, const JacobianTarget& to, const FrameView& frame,
                           const Seeding& s) {
    const int first = at.nodes[frame.node()].tangent;
    const double* tangent = to.tangent != nullptr ? to.tangent + first : nullptr;
    const double* rate_tangent = to.tangent != nullptr ? to.rate_tangent + first : nullptr;
    Seeds seeds = node_seeds(frame.type(), frame.node_motion(), tangent, rate_tangent, s);
    frame.to_frame(seeds.X);
    frame.to_frame(seeds.V);
    frame.to_frame(seeds.A);
    return seeds;
  }

  template <bool WithMatrix>
  void force(const Evaluation& at, const JacobianTarget& to, int e) const {
    const auto frame = views(at, e, std::make_index_sequence<F>());
    const double* p = numbers_of(at, e);
    Motions m;
    for (int i = 0; i < F; ++i) m[index(i)] = frame[index(i)].motion();
    std::array<Vec6, F> W;
    E::wrench(at.world, m, p, W);
    for (int i = 0; i < F; ++i)
      if (!frame[index(i)].on_ground())
        at.wrench[frame[index(i)].node()] += frame[index(i)].wrench_at_node(W[index(i)]);

    if constexpr (WithMatrix && has_partials()) {
      ForcePartials<F> d;
      E::partials(at.world, m, p, d);
      const BlockRef* refs = to.blocks + e * F * F;
      for (int j = 0; j < F; ++j) {
        if (frame[index(j)].on_ground()) continue;
        const Seeds seeds = frame_seeds(at, to, frame[index(j)], to.force);
        for (int i = 0; i < F; ++i) {
          if (frame[index(i)].on_ground()) continue;
          // H_i^T L_i^T (K X + C V + M A)
          Mat6 D = Mat6::Zero();
          if constexpr (E::stiffness) D.noalias() += d.K[i][j] * seeds.X;
          if constexpr (E::damping) D.noalias() += d.C[i][j] * seeds.V;
          if constexpr (E::inertia) D.noalias() += d.M[i][j] * seeds.A;
          frame[index(i)].to_node_rows(D);
          add_block(to.values, refs[i * F + j], D, frame[index(i)].type(), frame[index(j)].type());
        }
      }
    }
  }

  template <bool WithMatrix>
  void joint(const Evaluation& at, const JacobianTarget& to, int e) const {
    const auto frame = views(at, e, std::make_index_sequence<F>());
    const double* p = numbers_of(at, e);
    const int row = first_row + e * R;
    Motions m;
    for (int i = 0; i < F; ++i) m[index(i)] = frame[index(i)].motion();
    using Rows = Eigen::Matrix<double, R, 1>;
    using Row = Eigen::Matrix<double, R, 6>;
    const Eigen::Map<const Rows> lambda(at.lambda + row);
    JointDerivatives<F, R> d;
    E::derivatives(m, p, at.lambda + row, d);

    if (at.phi != nullptr) Eigen::Map<Rows>(at.phi + row) = d.phi;
    if (at.rate != nullptr) {
      Rows rate = Rows::Zero();
      for (int i = 0; i < F; ++i) rate += d.B[i] * m[index(i)].V;
      Eigen::Map<Rows>(at.rate + row) = rate;
    }
    if (at.acceleration != nullptr) {
      Rows acceleration = d.bias;
      for (int i = 0; i < F; ++i) acceleration += d.B[i] * m[index(i)].A;
      Eigen::Map<Rows>(at.acceleration + row) = acceleration;
    }
    for (int i = 0; i < F; ++i)
      if (!frame[index(i)].on_ground())
        at.wrench[frame[index(i)].node()] += frame[index(i)].wrench_at_node(d.B[i].transpose() * lambda);

    if constexpr (WithMatrix) {
      constexpr int kPairs = E::across ? F * F : F;
      const BlockRef* refs = to.blocks + e * (kPairs + 2 * F);
      for (int j = 0; j < F; ++j) {
        const FrameView& frame_j = frame[index(j)];
        if (frame_j.on_ground()) continue;
        const NodeType type = frame_j.type();
        const int n = node_size(type).v;
        const std::uint8_t* own = components(type);
        const Row B = frame_j.template to_node_columns<R>(d.B[j]);
        // Rows of the constraint: dPhi = B X, d(rate) = B V + Z X, d(acceleration) = B A at fixed q and v.
        Row columns;
        if (to.level == RowLevel::Position) {
          columns = to.row.q * B;
        } else {
          const Seeds seeds = frame_seeds(at, to, frame_j, to.row);
          if (to.level == RowLevel::Velocity)
            columns = d.B[j] * seeds.V + d.Z[j] * seeds.X;
          else
            columns = d.B[j] * seeds.A;
        }
        if (to.rate_blocks != nullptr) {
          const Seeds seeds = frame_seeds(at, to, frame_j, to.rate);
          const Row rate_columns = d.B[j] * seeds.V + d.Z[j] * seeds.X;
          const BlockRef& ref = to.rate_blocks[e * F + j];
          for (int c = 0; c < n; ++c)
            for (int r = 0; r < R; ++r) to.values[ref.offset + r + c * ref.stride] += rate_columns(r, own[c]);
        }
        const BlockRef& across_rows = refs[kPairs + j];
        const BlockRef& down_columns = refs[kPairs + F + j];
        for (int c = 0; c < n; ++c)
          for (int r = 0; r < R; ++r) {
            to.values[across_rows.offset + r + c * across_rows.stride] += columns(r, own[c]);
            to.values[down_columns.offset + c + r * down_columns.stride] += B(r, own[c]);
          }
        if (to.force.q == 0) continue;
        // Geometric stiffness d(B^T lambda)/dq.
        const Mat6 X = frame_columns(frame_j, to.force.q);
        for (int i = 0; i < F; ++i) {
          if (frame[index(i)].on_ground() || (!E::across && i != j)) continue;
          Mat6 D = d.G[i][j] * X;
          frame[index(i)].to_node_rows(D);
          add_block(to.values, refs[E::across ? i * F + j : j], D, frame[index(i)].type(), type);
        }
      }
    }
  }

  // Increment of the frame with the node's: L H q.
  static Mat6 frame_columns(const FrameView& frame, double q) {
    Mat6 H = q * Mat6::Identity();
    return frame.template to_node_columns<6>(H);
  }

  unsigned shape_;
  std::vector<Attachment> attachments_;  // kept, since loads that are functions of time ask in every step
};

template <class E>
std::unique_ptr<Batch> make_batch(unsigned shape) {
  return std::make_unique<BatchOf<E>>(shape);
}

}  // namespace liedyn
