// The matrices of whole systems against differences along the groups, for models that hold every listed kind of body, joint
// and force between all pairs of bodies, in every formulation, at random states far from equilibrium.
#include <gtest/gtest.h>

#include <limits>

#include "liedyn/model/joints/gear_mesh.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

constexpr double kDifferences = 1e-7;

// Besides the formulations: minimal coordinates on a model that is mostly a tree.
constexpr const char* kTree = "tree";
std::vector<std::string> cases() {
  std::vector<std::string> out = formulations();
  out.emplace_back(kTree);
  return out;
}

// Beyond the stroke of a hydraulic cylinder its chambers keep their dead volume: a kink. All random lengths are within this one.
std::shared_ptr<const Description> adapted(const std::shared_ptr<const Description>& all) {
  Description d = *all;
  for (const Entry& e : d.entries(Section::Forces)) {
    if (e.kind->type != "hydraulic_cylinder") continue;
    const auto number = [&](const char* name) -> double& {
      return d.parameters[static_cast<std::size_t>(
          e.fields[static_cast<std::size_t>(e.kind->field(name))].first)];
    };
    number("retracted") = 1e-3;
    number("stroke") = 100;
  }
  return std::make_shared<const Description>(std::move(d));
}

class Matrix : public testing::TestWithParam<std::string> {
 protected:
  explicit Matrix(Pairs pairs = Pairs::All)
      : random_(7),
        system_(GetParam() == kTree ? make_system(adapted(tree_of_everything(random_)), "minimal")
                                    : make_system(adapted(model_of_everything(random_, pairs)), GetParam())),
        work_(system_),
        state_(random_state(system_, random_)) {}

  int nv() const { return system_.model().nv; }
  int rows() const { return system_.model().rows; }

  Eigen::VectorXd residual(const State& at) {
    system_.residual(at, work_, {true, true, true});
    return as_vector(work_.r);
  }
  Eigen::MatrixXd matrix(const Seeding& force, const Seeding& row, RowLevel level = RowLevel::Position) {
    MatrixRequest request;
    request.force = force;
    request.row = row;
    request.level = level;
    request.velocity_row = {0, 1, 0};
    system_.jacobian(state_, work_, {true, true, true}, request);
    return dense_matrix(block_pattern(system_.model(), IndexForm::Index3), *work_.solver);
  }
  // A matrix or vector that begins with the rows of the constraints, those at velocity level set to zero.
  template <class M>
  M position_rows(M m) const {
    for (int i = 0; i < rows(); ++i)
      if (system_.model().is_velocity_row(i)) m.row(i).setZero();
    return m;
  }
  // How state_ follows an unknown.
  State with_q(const Eigen::VectorXd& d) const { return moved(system_, state_, d); }
  State with(std::vector<double> State::*part, const Eigen::VectorXd& d) const {
    State out = state_;
    for (std::size_t i = 0; i < (out.*part).size(); ++i) (out.*part)[i] += d[static_cast<Eigen::Index>(i)];
    return out;
  }

  Random random_;
  System system_;
  Work work_;
  State state_;
};

std::string name_of_parameter(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(InFormulation, Matrix, testing::ValuesIn(cases()), name_of_parameter);

TEST_P(Matrix, HoldsStiffnessDampingAndInertiaOnRequest) {
  const auto block = [&](const Seeding& force) {
    return Eigen::MatrixXd(matrix(force, {}).topLeftCorner(nv(), nv()));
  };
  const auto along = [&](std::vector<double> State::*part) {
    return differences([&](const Eigen::VectorXd& d) { return residual(with(part, d)); }, nv());
  };
  // With smaller steps where two points of a spring happen to lie close together.
  Eigen::MatrixXd K;
  double error = std::numeric_limits<double>::infinity();
  const Eigen::MatrixXd exact = block({1, 0, 0});
  for (const double h : {1e-3, 1e-5, 1e-6}) {
    if (error <= kDifferences) break;
    Eigen::MatrixXd now = differences([&](const Eigen::VectorXd& d) { return residual(with_q(d)); }, nv(), h);
    if (const double own = row_difference(exact, now); own < error) {
      error = own;
      K = std::move(now);
    }
  }
  const Eigen::MatrixXd C = along(&State::v), M = along(&State::vdot);
  expect_at_most(error, kDifferences, GetParam() + ": K = dr/dq");
  expect_at_most(row_difference(block({0, 1, 0}), C), kDifferences, GetParam() + ": C = dr/dv");
  expect_at_most(row_difference(block({0, 0, 1}), M), kDifferences, GetParam() + ": M = dr/dvdot");
  const Eigen::MatrixXd sum = 2 * K + 3 * C + 5 * M;
  expect_at_most(row_difference(block({2, 3, 5}), sum), kDifferences, GetParam() + ": 2 K + 3 C + 5 M");
  expect_at_most(relative_difference(M, Eigen::MatrixXd(M.transpose())), 1e-10, GetParam() + ": M - M^T");
}

TEST_P(Matrix, HoldsTheConstraintsOfEveryLevel) {
  const auto lower = [&](RowLevel level, const Seeding& row) {
    return Eigen::MatrixXd(matrix({}, row, level).bottomLeftCorner(rows(), nv()));
  };
  const auto rows_at = [&](const State& at, std::vector<double> Work::*part) -> Eigen::VectorXd {
    residual(at);
    return as_vector(work_.*part);
  };
  const auto along_q = [&](std::vector<double> Work::*part) {
    return differences([&](const Eigen::VectorXd& d) { return rows_at(with_q(d), part); }, nv());
  };
  const auto along = [&](std::vector<double> State::*unknown, std::vector<double> Work::*part) {
    return differences([&](const Eigen::VectorXd& d) { return rows_at(with(unknown, d), part); }, nv());
  };
  const std::string& name = GetParam();
  const Eigen::MatrixXd B = along(&State::v, &Work::rate);
  expect_at_most(row_difference(lower(RowLevel::Position, {1, 0, 0}), B), kDifferences,
                 name + ": d(rate)/dv = B");
  expect_at_most(row_difference(along_q(&Work::phi), position_rows(B)), kDifferences, name + ": dPhi/dq = B");
  expect_at_most(row_difference(lower(RowLevel::Velocity, {0, 1, 0}), B), kDifferences,
                 name + ": velocity rows, v alone");
  expect_at_most(row_difference(lower(RowLevel::Velocity, {2, 3, 0}), 2 * along_q(&Work::rate) + 3 * B),
                 kDifferences, name + ": velocity rows, 2 q + 3 v");
  expect_at_most(
      row_difference(lower(RowLevel::Acceleration, {0, 0, 1}), along(&State::vdot, &Work::acceleration)),
      kDifferences, name + ": acceleration rows");

  const Eigen::MatrixXd full = matrix({1, 0, 0}, {1, 0, 0});
  const Eigen::MatrixXd forces =
      differences([&](const Eigen::VectorXd& d) { return residual(with(&State::lambda, d)); }, rows());
  expect_at_most(row_difference(full.topRightCorner(nv(), rows()), forces), kDifferences,
                 name + ": dr/dlambda");
  Eigen::MatrixXd beside =
      full.topRightCorner(nv(), rows()).transpose() - full.bottomLeftCorner(rows(), nv());
  for (const auto& batch : system_.model().batches)
    for (const int first : batch->joint_rows)  // forces that depend on multipliers add to these columns
      beside.middleRows(first, batch->coupling().multipliers).setZero();
  for (const auto& batch : system_.model().batches)  // and so does the force of the other flanks
    if (dynamic_cast<const BothFlanks*>(batch.get()) != nullptr)
      beside.middleRows(batch->first_row, batch->size()).setZero();
  expect_at_most(beside.cwiseAbs().maxCoeff(), 1e-15, name + ": B^T beside the transpose of B");
  EXPECT_EQ(full.bottomRightCorner(rows(), rows()).cwiseAbs().maxCoeff(), 0);
}

// d(rate)/dt along the motion is the acceleration row.
TEST_P(Matrix, AccelerationRowsAreTheTimeDerivativeOfVelocityRows) {
  const auto later = [&](double dt, std::vector<double> Work::*part) -> Eigen::VectorXd {
    const Eigen::VectorXd v = as_vector(state_.v), vdot = as_vector(state_.vdot);
    State at = with(&State::v, dt * vdot);
    at = moved(system_, at, dt * v + 0.5 * dt * dt * vdot);
    at.t += dt;
    residual(at);
    return as_vector(work_.*part);
  };
  const auto rate_of = [&](std::vector<double> Work::*part) {
    return Eigen::VectorXd(differences([&](const Eigen::VectorXd& dt) { return later(dt[0], part); }, 1));
  };
  const Eigen::VectorXd rate = later(0, &Work::rate), acceleration = later(0, &Work::acceleration);
  expect_at_most(relative_difference(position_rows(rate), rate_of(&Work::phi)), 1e-9,
                 GetParam() + ": B v + Phi_t - d(Phi)/dt");
  expect_at_most(relative_difference(acceleration, rate_of(&Work::rate)), 1e-8,
                 GetParam() + ": B vdot + Z + Phi_tt - d(rate)/dt");
}

TEST_P(Matrix, ResidualIsTheSameWithAndWithoutIt) {
  residual(state_);
  const std::vector<double> r = work_.r, phi = work_.phi, rate = work_.rate,
                            acceleration = work_.acceleration;
  const double scale = work_.force_scale;
  matrix({1, 2, 3}, {1, 0, 0});
  // Up to the order in which a compiler adds.
  const auto compare = [&](const std::vector<double>& alone, const std::vector<double>& together,
                           const char* what) {
    expect_at_most(relative_difference(as_vector(together), as_vector(alone)), 1e-15,
                   fmt::format("{}: {}", GetParam(), what));
  };
  compare(r, work_.r, "r");
  compare(phi, work_.phi, "Phi");
  compare(rate, work_.rate, "rate");
  compare(acceleration, work_.acceleration, "acceleration");
  EXPECT_EQ(scale, work_.force_scale);
}

// Newton's matrix against differences of the residuals of a stage: along the stage, in the multipliers, in every index form.
class NewtonMatrix : public Matrix {
 protected:
  NewtonMatrix() : Matrix(Pairs::Neighbours) {}

  struct Predictor {
    std::vector<double> Theta, V, theta, covector;
    State reference, to;
  };
  // How Lie nodes advance: along the stage relation, or in local coordinates, with a force that is carried along.
  bool local_ = false;
  Chart chart_ = Chart::Exponential;

  Predictor random_predictor() {
    Predictor out;
    const auto size = static_cast<std::size_t>(system_.model().stage_size);
    for (auto* values : {&out.Theta, &out.V, &out.theta, &out.covector}) {
      values->resize(size);
      random_.fill(*values);
    }
    out.reference = out.to = random_state(system_, random_);
    for (State* state : {&out.reference, &out.to}) {
      state->y.resize(size);
      state->ydot.resize(size);
      state->yddot.resize(size);
    }
    random_.fill(out.to.eta);
    return out;
  }

  // The predictor moved by Newton's unknowns: increments of q, s d(lambda), h d(eta).
  Predictor moved_by(const Predictor& p, const Stage& stage, const Eigen::VectorXd& d) const {
    Predictor out = p;
    for (const Node& node : system_.model().nodes) {
      if (local_ || is_conventional(node.type))
        increment_parameters(node, chart_, d.data() + node.v, p.reference.y.data(), out.theta.data());
      else
        increment_theta(node.type, d.data() + node.v, out.theta.data() + node.v);
    }
    for (int i = 0; i < rows(); ++i) {
      out.to.lambda[static_cast<std::size_t>(i)] += stage.rate() * d[nv() + i];
      if (d.size() > nv() + rows()) out.to.eta[static_cast<std::size_t>(i)] += d[nv() + rows() + i] / kStep;
    }
    return out;
  }

  StageEquations equations(IndexForm form, bool simplified, Work& work) const {
    CorrectorOptions options;
    options.form = form;
    if (local_) options.local = LocalForm::Rates;
    options.chart = chart_;
    options.simplified = simplified;
    StageEquations out(system_, options);
    out.prepare_structure(work);
    return out;
  }
  // The state at the end of the predictor, which `of` then gives the matrix or the residuals of.
  template <class F>
  void evaluate(StageEquations& of, const Predictor& p, const Stage& stage, Work& work,
                const F& evaluation) const {
    of.Theta = p.Theta;
    of.V = p.V;
    of.theta = p.theta;
    if (local_) of.covector = p.covector;
    State to = p.to;
    const StageProblem problem{stage, kStep, p.reference, to, work};
    of.set_reference(problem);
    of.evaluate_nodes(problem);
    evaluation(problem);
  }
  Eigen::MatrixXd predicted_matrix(const Predictor& p, const Stage& stage, IndexForm form, bool simplified,
                                   Work& work) const {
    StageEquations of = equations(form, simplified, work);
    evaluate(of, p, stage, work, [&](const StageProblem& problem) { of.assemble(problem); });
    return dense_matrix(block_pattern(system_.model(), form), *work.solver);
  }
  // s r, Phi and (s/c_v) (B v + Phi_t), as far as the form has them.
  Eigen::VectorXd scaled_residual(StageEquations& of, const Predictor& p, const Stage& stage,
                                  Work& work) const {
    evaluate(of, p, stage, work, [&](const StageProblem& problem) { of.residual(stage, problem.to, work); });
    const IndexForm form = of.options().form;
    const double s = 1 / stage.rate();
    Eigen::VectorXd out(unknown_count(system_.model(), form));
    out.head(nv()) = s * as_vector(work.r);
    if (form != IndexForm::Index2) out.segment(nv(), rows()) = as_vector(work.phi);
    if (form != IndexForm::Index3) out.tail(rows()) = s / stage.c_v * as_vector(work.rate);
    return out;
  }

  // Against differences with three steps, of which the best counts: where two points of a spring happen to lie close
  // together, the larger ones are too large.
  double error_of_matrix(const Predictor& start, const Stage& stage, IndexForm form, Work& work) const {
    const Eigen::MatrixXd exact = predicted_matrix(start, stage, form, false, work);
    StageEquations of = equations(form, false, work);
    double best = std::numeric_limits<double>::infinity();
    for (const double h : {1e-3, 1e-5, 1e-6}) {
      Eigen::MatrixXd expected = differences(
          [&](const Eigen::VectorXd& d) {
            return scaled_residual(of, moved_by(start, stage, d), stage, work);
          },
          unknown_count(system_.model(), form), h);
      for (int i = 0; i < rows() && form == IndexForm::Stabilized; ++i) {
        if (!system_.model().is_velocity_row(i)) continue;
        const int held = nv() + rows() + i;  // eta of a row at velocity level
        expected.row(held).setZero();
        expected.col(held).setZero();
        expected(held, held) = 1;
      }
      best = std::min(best, row_difference(exact, expected));
      if (best <= kDifferences) break;  // the others could only be better
    }
    return best;
  }

  static constexpr double kStep = 0.8;
};

INSTANTIATE_TEST_SUITE_P(InFormulation, NewtonMatrix, testing::ValuesIn(cases()), name_of_parameter);

const Stage kStages[] = {{.c_1 = 0.4, .c_2 = 0, .c_v = 0.7},
                         {.c_1 = 0, .c_2 = 0.6, .c_v = 0.7},
                         {.c_1 = 0.3, .c_2 = 0.5, .c_v = 0.7}};

TEST_P(NewtonMatrix, IsTheDerivativeOfTheResidualsInEveryIndexForm) {
  const std::pair<IndexForm, const char*> forms[] = {
      {IndexForm::Index3, "index 3"}, {IndexForm::Index2, "index 2"}, {IndexForm::Stabilized, "stabilised"}};
  for (const auto& [form, form_name] : forms) {
    Work work(system_, "auto", form);
    for (const Stage& stage : kStages)
      expect_at_most(error_of_matrix(random_predictor(), stage, form, work), kDifferences,
                     fmt::format("{}, {}: c_1 = {}, c_2 = {}", GetParam(), form_name, stage.c_1, stage.c_2));
  }
}

TEST_P(NewtonMatrix, IsTheDerivativeInLocalCoordinates) {
  local_ = true;
  const std::pair<Chart, const char*> charts[] = {
      {Chart::Exponential, "exponential"}, {Chart::Conformal, "conformal"}, {Chart::Cayley, "Cayley"}};
  for (const IndexForm form : {IndexForm::Index3, IndexForm::Index2, IndexForm::Stabilized}) {
    Work work(system_, "auto", form);
    for (const auto& [chart, chart_name] : charts) {
      chart_ = chart;
      expect_at_most(error_of_matrix(random_predictor(), kStages[0], form, work), kDifferences,
                     fmt::format("{}, {}, form {}", GetParam(), chart_name, static_cast<int>(form)));
    }
  }
}

TEST_P(NewtonMatrix, SimplifiedLeavesOutTheTangentOperatorsOnly) {
  for (const Stage& stage : kStages) {
    const Predictor start = random_predictor();
    const Eigen::MatrixXd exact = predicted_matrix(start, stage, IndexForm::Index3, false, work_);
    const Eigen::MatrixXd simplified = predicted_matrix(start, stage, IndexForm::Index3, true, work_);
    // E = 1/(c_1 + c_2 c_v): the matrix of a vector space, at the state of the predictor.
    state_ = start.to;
    ParameterStage p;
    p.stage = stage;
    p.q_ref = start.reference.q.data(), p.y_ref = start.reference.y.data();
    p.Theta = start.Theta.data(), p.V = start.V.data(), p.theta = start.theta.data();
    p.q = state_.q.data(), p.v = state_.v.data(), p.vdot = state_.vdot.data();
    p.y = state_.y.data(), p.ydot = state_.ydot.data(), p.yddot = state_.yddot.data();
    std::vector<int> group_columns;  // vector spaces have no such operators
    for (const Node& node : system_.model().nodes) {
      if (is_conventional(node.type)) {
        evaluate_parameters(node, p);
        continue;
      }
      for (int i = 0; i < node_size(node.type).v; ++i) group_columns.push_back(node.v + i);
      NodeStage n{};
      n.q_ref = start.reference.q.data() + node.q;
      n.Theta = start.Theta.data() + node.v;
      n.V = start.V.data() + node.v;
      n.theta = start.theta.data() + node.v;
      n.q = state_.q.data() + node.q;
      n.v = state_.v.data() + node.v;
      n.vdot = state_.vdot.data() + node.v;
      evaluate_stage(node.type, stage, n);
    }
    const double s = 1 / stage.rate();
    const Eigen::MatrixXd of_vector_space = matrix({s, stage.c_v, 1}, {1, 0, 0});
    const std::string name = fmt::format("{}: c_1 = {}, c_2 = {}", GetParam(), stage.c_1, stage.c_2);
    // Rows at velocity level have the operators too.
    const auto positions = [&](Eigen::MatrixXd m) {
      m.bottomRows(rows()) = position_rows(Eigen::MatrixXd(m.bottomRows(rows())));
      return m;
    };
    const auto columns = [&](const Eigen::MatrixXd& m) {
      return Eigen::MatrixXd(positions(m)(Eigen::all, group_columns));
    };
    expect_at_most(relative_difference(columns(simplified), columns(of_vector_space)), 1e-14,
                   name + ": simplified - that without T");
    EXPECT_EQ(positions(exact).bottomRows(rows()), positions(simplified).bottomRows(rows()));
    EXPECT_EQ(exact.rightCols(rows()), simplified.rightCols(rows()));
    // Ten digits above what is compared: how much they are beside the forces of all kinds depends on the list of kinds.
    EXPECT_GT(relative_difference(columns(simplified), columns(exact)), 1e-4)
        << "the operators should matter at this size of theta";
  }
}

// Contacts and stops. Their forces have kinks: where a contact begins or a point of it, where the nearest points change, where N reaches 0 and where
// bristles yield. Differences across a kink say nothing, however good the matrix is: d^1.5 has no second derivative at d = 0, where they err by the root of
// their step. At a kink the differences of the two sides differ, so that these find it without looking at the matrix. Each column is compared with the
// largest step for which both sides agree.
struct ColumnsOfContacts {
  int all = 0, with_largest_step = 0, with_some_step = 0, touching = 0, samples = 0;
  double worst = 0;               // of the columns that are smooth
  double worst_across_kinks = 0;  // of all columns, with the largest step
};

void compare_columns(const System& system, const State& state, Work& work, std::vector<double> State::*part,
                     const Seeding& force, ColumnsOfContacts& out) {
  const int nv = system.model().nv;
  MatrixRequest request;
  request.force = force;
  request.velocity_row = {0, 1, 0};
  system.jacobian(state, work, {true, true, true}, request);
  const Eigen::MatrixXd matrix =
      dense_matrix(block_pattern(system.model(), IndexForm::Index3), *work.solver).topLeftCorner(nv, nv);
  const auto residual = [&](int column, double step) -> Eigen::VectorXd {
    const Eigen::VectorXd d = step * Eigen::VectorXd::Unit(nv, column);
    State at = part == nullptr ? moved(system, state, d) : state;
    if (part != nullptr) (at.*part)[static_cast<std::size_t>(column)] += step;
    system.residual(at, work, {true, true, true});
    return as_vector(work.r);
  };
  constexpr double kSteps[] = {1e-3, 1e-4, 1e-5}, kSmooth = 1e-6;
  for (int column = 0; column < nv; ++column) {
    ++out.all;
    const Eigen::VectorXd here = residual(column, 0), exact = matrix.col(column);
    for (const double h : kSteps) {
      const Eigen::VectorXd up = residual(column, h), half_up = residual(column, h / 2),
                            down = residual(column, -h), half_down = residual(column, -h / 2);
      const Eigen::VectorXd forward = (4 * half_up - up - 3 * here) / h,
                            backward = (3 * here - 4 * half_down + down) / h;
      const Eigen::VectorXd central = (4 * (half_up - half_down) / h - (up - down) / (2 * h)) / 3;
      const double scale = std::max(1.0, central.cwiseAbs().maxCoeff());
      const double error = (exact - central).cwiseAbs().maxCoeff() / scale;
      if (h == kSteps[0]) out.worst_across_kinks = std::max(out.worst_across_kinks, error);
      if ((forward - backward).cwiseAbs().maxCoeff() > kSmooth * scale) continue;
      out.worst = std::max(out.worst, error);
      ++out.with_some_step;
      if (h == kSteps[0]) ++out.with_largest_step;
      break;
    }
  }
}

class ContactMatrix : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(InFormulation, ContactMatrix, testing::ValuesIn(formulations()), name_of_parameter);

TEST_P(ContactMatrix, IsTheDerivativeOfTheResidualAwayFromKinks) {
  constexpr int kSamples = 30;
  for (const Kind& kind : kinds(Section::Forces)) {
    if (!has_kinks(kind)) continue;
    Random random(5);
    ColumnsOfContacts found;
    for (int sample = 0; sample < kSamples; ++sample) {
      ModelBuilder builder({0, 0, 0});
      for (const char* body : {"first", "second"}) {
        builder.body(body, "rigid");
        set_random_fields(builder, *find_kind(Section::Bodies, "rigid"), random);
        builder.set("formulation", std::string("model"));
      }
      add_between(builder, Section::Forces, kind, sample % 3 == 0 ? "ground" : "first", "second", random);
      builder.sensor("stored", "energy").set("part", std::string("potential"));
      const System system = make_system(builder.finish(), GetParam());
      Work work(system);
      const State state = random_state(system, random);
      ++found.samples;
      if (sensed(system, state, work)[0] > 0) ++found.touching;
      compare_columns(system, state, work, nullptr, {1, 0, 0}, found);
      compare_columns(system, state, work, &State::v, {0, 1, 0}, found);
    }
    fmt::print("  {:<24} touches in {} of {}; smooth columns {} and {} of {}; across kinks {:.1e}\n",
               kind.type, found.touching, found.samples, found.with_largest_step, found.with_some_step,
               found.all, found.worst_across_kinks);
    expect_at_most(found.worst, kDifferences, fmt::format("{}, {}: K and C", GetParam(), kind.type));
    EXPECT_GE(found.touching, kSamples / 6) << kind.type;
    EXPECT_GE(found.with_some_step, 0.95 * found.all) << kind.type;
  }
}

}  // namespace
}  // namespace liedyn
