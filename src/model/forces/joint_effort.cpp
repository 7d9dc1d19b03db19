#include "liedyn/model/forces/joint_effort.h"

#include <fmt/format.h>

#include <algorithm>

#include "liedyn/model/common_fields.h"
#include "liedyn/model/joint_coordinate.h"
#include "liedyn/model/model.h"
#include "liedyn/model/states/signal_batch.h"

namespace liedyn {
namespace {

enum Fields { kJoint, kCoordinate, kEffort };

// frames[0] and frames[1] are those of the joint.
class JointEffort : public SignalBatch {
 public:
  void connect(const Model& model, const std::vector<SignalName>& names,
               std::vector<Diagnostic>& findings) override {
    const Description& d = model.description();
    const Entry& entry = d.entries(Section::Forces)[static_cast<std::size_t>(entries.front())];
    const auto text = [&](int field) {
      return d.words[static_cast<std::size_t>(entry.fields[static_cast<std::size_t>(field)].word)];
    };
    const auto& candidates = d.entries(Section::Joints);
    const auto joint = std::find_if(candidates.begin(), candidates.end(),
                                    [&](const Entry& candidate) { return candidate.name == text(kJoint); });
    const auto [batch, element] = model.element_of_joint(static_cast<int>(joint - candidates.begin()));
    joint_ = model.batches[static_cast<std::size_t>(batch)].get();
    element_ = element;
    const std::string path = "forces." + entry.name + ".";
    const AxisCoordinates has = joint->kind->coordinates;
    const int choice = Inputs<double>(d, entry, nullptr, nullptr).choice(kCoordinate);
    about_ = choice == 0 ? has.angle : choice == 1;
    if (about_ ? !has.angle : !has.displacement)
      findings.push_back({d.file, entry.line, path + entry.kind->fields[kJoint].name,
                          fmt::format("expected a joint with {}, got '{}' of type {}",
                                      choice == 0   ? "a coordinate"
                                      : choice == 1 ? "an angle about its axis"
                                                    : "a displacement along its axis",
                                      joint->name, joint->kind->type),
                          ""});
    frames = {joint_->frames[static_cast<std::size_t>(2 * element)],
              joint_->frames[static_cast<std::size_t>(2 * element + 1)]};
    expressions_.front().connect(model, names, text(kEffort), path + entry.kind->fields[kEffort].name,
                                 entry.line, frames, findings);
  }

  int acting_frames() const override { return 2; }
  void residual(const Evaluation& at) const override { add_residual(at); }
  void residual(const VariedEvaluation& at) const override { add_residual(at); }

  void jacobian(const Evaluation& at, const JacobianTarget& to) const override {
    const int count = static_cast<int>(frames.size());
    const FrameView frame[2] = {view(at, 0), view(at, 1)};
    const auto p = coordinate(at);
    CoordinateDerivatives c;
    coordinate_derivatives(frame[0].motion(), frame[1].motion(), p.data(), 0, c);
    SignalExpression::Derivatives u;
    signal().derivatives(at, numbers(at), count, u);
    for (int i = 0; i < 2; ++i) push<double>(at, frame[i], -u.value * c.B[i].transpose());

    for (int j = 0; j < count; ++j) {
      const FrameView frame_j = view(at, j);
      if (frame_j.on_ground()) continue;
      const Seeds s = seeds(at, to, frame_j);
      const SignalExpression::Row row = u.X[j] * s.X + u.V[j] * s.V;
      for (int i = 0; i < 2; ++i) {
        if (frame[i].on_ground()) continue;
        Mat6 D = -(c.B[i].transpose() * row);
        if (j < 2) D -= u.value * (c.G[i][j] * s.X);
        frame[i].to_node_rows(D);
        add_block(to.values, to.blocks[i * count + j], D, frame[i].type(), frame_j.type());
      }
    }
  }

  Vec6 wrench_on(const Evaluation& at, int, int i) const override { return wrench_of(at, i); }
  Vec6T<Varied> wrench_on(const VariedEvaluation& at, int, int i) const override { return wrench_of(at, i); }

 private:
  template <class S>
  Vec6T<S> wrench_of(const EvaluationOf<S>& at, int i) const {
    if (i >= 2) return Vec6T<S>::Zero();
    const auto p = coordinate(at);
    const auto B = coordinate_gradient<S>(view(at, 0).motion(), view(at, 1).motion(), p.data());
    return -signal().value(at, numbers(at)) * B[static_cast<std::size_t>(i)];
  }
  template <class S>
  void add_residual(const EvaluationOf<S>& at) const {
    const FrameViewOf<S> frame[2] = {view(at, 0), view(at, 1)};
    const auto p = coordinate(at);
    const auto B = coordinate_gradient<S>(frame[0].motion(), frame[1].motion(), p.data());
    const S effort = signal().value(at, numbers(at));
    for (std::size_t i = 0; i < 2; ++i) push<S>(at, frame[i], -effort * B[i]);
  }

  // The numbers of every joint with coordinates begin with its axes.
  template <class S>
  std::array<S, kCoordinateNumbers> coordinate(const EvaluationOf<S>& at) const {
    std::array<S, kCoordinateNumbers> p;
    std::copy_n(at.numbers + joint_->first_number + element_ * joint_->numbers_per_element(), kAxesNumbers,
                p.begin());
    p[kAxesNumbers] = S(about_ ? 0 : 1);
    return p;
  }
  template <class S>
  static void push(const EvaluationOf<S>& at, const FrameViewOf<S>& frame, const Vec6T<S>& W) {
    if (!frame.on_ground()) at.wrench[frame.node()] += frame.wrench_at_node(W);
  }

  const Batch* joint_ = nullptr;
  int element_ = 0;
  bool about_ = true;  // the angle; otherwise the displacement
};

}  // namespace

ListedKind joint_effort() {
  return {{"joint_effort",
           "Torque or force in a joint by an expression of states and sensors: controllers and motors.",
           {named_joint("The joint it acts in.").as(kJoint),
            joint_coordinate_choice().as(kCoordinate),
            {.name = "effort",
             .type = FieldType::Text,
             .unit = "N m or N",
             .summary = "The torque or force on the second body, in the direction of the coordinate: an "
                        "expression of the time "
                        "t, parameters, states and those sensors that are coordinates or velocities.",
             .required = true,
             .holds_expression = true,
             .index = kEffort}}},
          [](unsigned) -> std::unique_ptr<Batch> { return std::make_unique<JointEffort>(); },
          // Each is a batch of its own.
          [](const Description& d, const Entry& entry) {
            return static_cast<unsigned>(&entry - d.entries(Section::Forces).data());
          }};
}

}  // namespace liedyn
