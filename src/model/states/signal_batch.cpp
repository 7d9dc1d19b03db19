#include "liedyn/model/states/signal_batch.h"

namespace liedyn {

Seeds SignalBatch::seeds(const Evaluation& at, const JacobianTarget& to, const FrameView& frame) const {
  const int first = at.nodes[frame.node()].tangent;
  const double* tangent = to.tangent != nullptr ? to.tangent + first : nullptr;
  const double* rate_tangent = to.tangent != nullptr ? to.rate_tangent + first : nullptr;
  Seeds out = node_seeds(frame.type(), frame.node_motion(), tangent, rate_tangent, to.force);
  frame.to_frame(out.X);
  frame.to_frame(out.V);
  frame.to_frame(out.A);
  return out;
}

}  // namespace liedyn
