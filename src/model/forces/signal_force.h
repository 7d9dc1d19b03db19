// Forces whose numbers follow states and sensors (Field::may_depend_on_signals). With the element E as in model/batch_of.h, its numbers n are
//
//   n = n_0 + sum_k s_k n_k,     s_k = f_k(t, parameters, states, sensors)
//
// where n_0 and n_k come from E::derive(), which is affine in these fields, and
//
//   dW_i = K_ij dX_j + C_ij dV_j + sum_k (dW_i/dn n_k) (s_k,Xj dX_j + s_k,Vj dV_j)
//
// The slopes dW_i/dn n_k are those of dual numbers through E::wrench().
#pragma once

#include "liedyn/base/dual.h"
#include "liedyn/model/batch_of.h"
#include "liedyn/model/model.h"
#include "liedyn/model/parameter_paths.h"
#include "liedyn/model/states/signal_batch.h"

namespace liedyn {

// The numbers of an entry that follow signals.
std::vector<const NumberExpression*> signals_of(const Description& d, const Entry& entry);
// 0 if there are none; otherwise the entry has a batch of its own, of this shape.
unsigned signal_shape(const Description& d, const Entry& entry);

template <class E>
class SignalForce : public ForBothScalars<SignalForce<E>, SignalBatch> {
 public:
  using Base = ForBothScalars<SignalForce<E>, SignalBatch>;
  using Base::entries, Base::first_angle, Base::first_constant, Base::frames, Base::size;
  static constexpr int F = E::frames, N = E::constants;

  SignalForce() {
    facts_.acting_frames = F;
    facts_.angles = kAngles;
    facts_.attachments = E::attachments();
    lay_out();
  }

  void connect(const Model& model, const std::vector<SignalName>& names,
               std::vector<Diagnostic>& findings) override {
    const Description& d = model.description();
    const Entry& entry = d.entries(Section::Forces)[index(entries.front())];
    std::vector<std::int32_t> seen;  // the frames that the signals depend on
    for (const NumberExpression* signal : signals_of(d, entry)) {
      fields_.push_back(signal->number - entry.first_parameter);
      expressions_.emplace_back().connect(model, names, signal->text, parameter_path(d, signal->number),
                                          signal->line, seen, findings);
    }
    seen_ = static_cast<int>(seen.size());
    lay_out();
    std::vector<std::int32_t> all;
    for (int e = 0; e < size(); ++e) {
      all.insert(all.end(), frames.begin() + e * F, frames.begin() + (e + 1) * F);
      all.insert(all.end(), seen.begin(), seen.end());
    }
    frames = std::move(all);
  }

  void check(const Inputs<double>& in, std::string& message, std::string& hint) const override {
    if constexpr (kOptional.check) E::check(in, message, hint);
  }

  void jacobian(const Evaluation& at, const JacobianTarget& to) const override {
    for (int e = 0; e < size(); ++e) add_jacobian(at, to, e);
  }
  void wound_angles(const Evaluation& at, int e, double* out) const override {
    if constexpr (kAngles > 0) E::wound_angles(motions(at, e), constants_of(at, e).data(), out);
  }

  template <class S>
  void derive(const Inputs<S>& in, S* out) const {
    E::derive(in, out);
    const Entry& entry = in.entry();
    int count = 0;
    for (const FieldValue& value : entry.fields)
      count = std::max(count, value.first + value.count - entry.first_parameter);
    std::array<S, kMostOwnParameters> own;
    std::copy_n(in.all_parameters() + entry.first_parameter, std::min(count, kMostOwnParameters),
                own.begin());
    Inputs<S> one = in;
    one.set_own_parameters(own.data());
    for (std::size_t k = 0; k < fields_.size(); ++k) {
      S* slope = out + N * static_cast<int>(k + 1);
      own[index(fields_[k])] = S(1);
      E::derive(one, slope);
      own[index(fields_[k])] = S(0);
      for (int i = 0; i < N; ++i) slope[i] -= out[i];
    }
    out += N * static_cast<int>(1 + fields_.size());
    for (const SignalExpression& signal : expressions_)
      for (const int parameter : signal.parameters()) *out++ = in.parameter(parameter);
  }
  template <class S>
  void add_residual(const EvaluationOf<S>& at) const {
    for (int e = 0; e < size(); ++e) push(at, e, wrenches(at, e));
  }
  template <class S>
  EnergyOf<S> energy_of(const EvaluationOf<S>& at) const {
    EnergyOf<S> sum;
    if constexpr (kOptional.energy)
      for (int e = 0; e < size(); ++e) sum += E::energy(at.world, motions(at, e), constants_of(at, e).data());
    return sum;
  }
  template <class S>
  Vec6T<S> wrench_of(const EvaluationOf<S>& at, int e, int i) const {
    return wrenches(at, e)[index(i)];
  }

 private:
  using Base::expressions_, Base::facts_, Base::seeds, Base::view;
  static constexpr Optional kOptional = E::optional;
  static constexpr int kAngles = element::angles_of<E>();
  static constexpr int kMostOwnParameters = 64;  // of one entry
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  void lay_out() {
    facts_.coupling = {.frames = F + seen_, .rows = 0, .diagonal = true, .across = F + seen_ > 1};
    facts_.constants = N * (1 + static_cast<int>(expressions_.size()));
    for (const SignalExpression& signal : expressions_)
      facts_.constants += static_cast<int>(signal.parameters().size());
  }
  template <class S>
  const S* first_of(const EvaluationOf<S>& at, int e) const {
    return at.constants + first_constant + e * facts_.constants;
  }
  // Where the parameters of the k-th signal stand.
  template <class S>
  const S* parameters_of(const EvaluationOf<S>& at, int e, std::size_t k) const {
    const S* p = first_of(at, e) + N * static_cast<int>(1 + expressions_.size());
    for (std::size_t i = 0; i < k; ++i) p += expressions_[i].parameters().size();
    return p;
  }
  // n_0 + sum_k s_k n_k, with the angles of the last step at the end.
  template <class S>
  std::array<S, N> constants_of(const EvaluationOf<S>& at, int e) const {
    std::array<S, N> n;
    const S* first = first_of(at, e);
    std::copy_n(first, N, n.begin());
    for (std::size_t k = 0; k < expressions_.size(); ++k) {
      const S signal = expressions_[k].value(at, parameters_of(at, e, k));
      const S* slope = first + N * static_cast<int>(k + 1);
      for (int i = 0; i < N; ++i) n[index(i)] += signal * slope[i];
    }
    set_angles(at, e, n);
    return n;
  }
  template <class S>
  void set_angles(const EvaluationOf<S>& at, int e, std::array<S, N>& n) const {
    for (int i = 0; i < kAngles; ++i) n[index(N - kAngles + i)] = S(at.angles[first_angle + e * kAngles + i]);
  }
  FrameView frame(const Evaluation& at, int e, int i) const { return view(at, e * (F + seen_) + i); }
  template <class S>
  std::array<Motion<S>, F> motions(const EvaluationOf<S>& at, int e) const {
    std::array<Motion<S>, F> m;
    for (int i = 0; i < F; ++i) m[index(i)] = view(at, e * (F + seen_) + i).motion();
    return m;
  }
  template <class S>
  std::array<Vec6T<S>, F> wrenches(const EvaluationOf<S>& at, int e) const {
    std::array<Vec6T<S>, F> W;
    E::wrench(at.world, motions(at, e), constants_of(at, e).data(), W);
    return W;
  }
  template <class S>
  void push(const EvaluationOf<S>& at, int e, const std::array<Vec6T<S>, F>& W) const {
    for (int i = 0; i < F; ++i) {
      const FrameViewOf<S> f = view(at, e * (F + seen_) + i);
      if (!f.on_ground()) at.wrench[f.node()] += f.wrench_at_node(W[index(i)]);
    }
  }

  void add_jacobian(const Evaluation& at, const JacobianTarget& to, int e) const {
    const int count = F + seen_;
    const std::array<Motion<double>, F> m = motions(at, e);
    const double* first = first_of(at, e);
    std::array<double, N> n;
    std::copy_n(first, N, n.begin());
    std::vector<SignalExpression::Derivatives>& s = scratch(expressions_.size());
    for (std::size_t k = 0; k < expressions_.size(); ++k) {
      expressions_[k].derivatives(at, parameters_of(at, e, k), seen_, s[k]);
      const double* slope = first + N * static_cast<int>(k + 1);
      for (int i = 0; i < N; ++i) n[index(i)] += s[k].value * slope[i];
    }
    set_angles(at, e, n);
    std::array<Vec6, F> W;
    E::wrench(at.world, m, n.data(), W);
    push(at, e, W);

    ForcePartials<F> d;
    if constexpr (E::stiffness || E::damping || E::inertia) E::partials(at.world, m, n.data(), d);
    // Those of expressions that see no frame are not needed.
    std::vector<std::array<Vec6, F>>& slopes = slope_scratch(expressions_.size());
    for (std::size_t k = 0; k < expressions_.size(); ++k)
      for (int j = 0; j < seen_; ++j) {
        if (s[k].X[j].isZero(0) && s[k].V[j].isZero(0)) continue;
        slopes[k] = wrench_slope(at, m, n, first + N * static_cast<int>(k + 1));
        break;
      }
    const BlockRef* refs = to.blocks + e * count * count;
    for (int j = 0; j < count; ++j) {
      const FrameView frame_j = frame(at, e, j);
      if (frame_j.on_ground()) continue;
      const Seeds seed = seeds(at, to, frame_j);
      std::array<Mat6, F> D;
      for (Mat6& block : D) block.setZero();
      if (j < F) {
        for (int i = 0; i < F; ++i) {
          if constexpr (E::stiffness) D[index(i)] += d.K[i][j] * seed.X;
          if constexpr (E::damping) D[index(i)] += d.C[i][j] * seed.V;
          if constexpr (E::inertia) D[index(i)] += d.M[i][j] * seed.A;
        }
      } else {
        for (std::size_t k = 0; k < expressions_.size(); ++k) {
          const SignalExpression::Row row = s[k].X[j - F] * seed.X + s[k].V[j - F] * seed.V;
          if (row.isZero(0)) continue;
          for (int i = 0; i < F; ++i) D[index(i)] += slopes[k][index(i)] * row;
        }
      }
      for (int i = 0; i < F; ++i) {
        const FrameView frame_i = frame(at, e, i);
        if (frame_i.on_ground()) continue;
        frame_i.to_node_rows(D[index(i)]);
        add_block(to.values, refs[i * count + j], D[index(i)], frame_i.type(), frame_j.type());
      }
    }
  }

  // dW/dn along a direction of the numbers.
  static std::array<Vec6, F> wrench_slope(const Evaluation& at, const std::array<Motion<double>, F>& m,
                                          const std::array<double, N>& n, const double* direction) {
    using S = Dual<double, 1>;
    std::array<Motion<S>, F> moved;
    for (std::size_t i = 0; i < F; ++i) {
      moved[i].R = m[i].R.template cast<S>();
      moved[i].p = m[i].p.template cast<S>();
      moved[i].V = m[i].V.template cast<S>();
      moved[i].A = m[i].A.template cast<S>();
    }
    std::array<S, N> constants;
    for (int i = 0; i < N; ++i) {
      constants[index(i)] = S(n[index(i)]);
      constants[index(i)].d[0] = direction[i];
    }
    std::array<Vec6T<S>, F> W;
    E::wrench(World<S>{at.world.gravity.template cast<S>(), S(at.world.time)}, moved, constants.data(), W);
    std::array<Vec6, F> out;
    for (std::size_t i = 0; i < F; ++i)
      for (int c = 0; c < 6; ++c) out[i][c] = W[i][c].d[0];
    return out;
  }
  // Threads evaluate a model at the same time.
  static std::vector<SignalExpression::Derivatives>& scratch(std::size_t count) {
    static thread_local std::vector<SignalExpression::Derivatives> out;
    if (out.size() < count) out.resize(count);
    return out;
  }

  static std::vector<std::array<Vec6, F>>& slope_scratch(std::size_t count) {
    static thread_local std::vector<std::array<Vec6, F>> out;
    if (out.size() < count) out.resize(count);
    return out;
  }

  std::vector<int> fields_;  // the numbers that follow signals, counted from the entry's first
  int seen_ = 0;             // frames that the signals depend on, behind those of the element
};

// For ListedKind, with signal_shape().
template <class E>
std::unique_ptr<Batch> make_force(unsigned shape) {
  if (shape == 0) return make_batch<E>(0);
  return std::make_unique<SignalForce<E>>();
}

}  // namespace liedyn
