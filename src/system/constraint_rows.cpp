#include "liedyn/system/constraint_rows.h"

#include "liedyn/system/evaluation.h"

namespace liedyn {

void evaluate_constraint_rows(const Model& model, const State& at, Work& work) {
  Evaluation e = evaluation_at(model, *work.constants, at, {true, true, false}, work);
  for (const auto& batch : model.batches)
    if (batch->coupling().rows > 0) batch->residual(e);
}

}  // namespace liedyn
