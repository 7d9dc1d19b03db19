#include "liedyn/model/joints/held_rows.h"

#include "liedyn/model/common_fields.h"

namespace liedyn {

template class RowDerivatives<1, Varied>;

std::string row_name(const HeldRow& row) {
  const char direction = "xyz"[row.k];
  switch (row.kind) {
    case HeldRow::Kind::Place: return std::string("position ") + direction;
    case HeldRow::Kind::Along: return std::string("position along joint ") + direction;
    case HeldRow::Kind::Turn: return std::string("rotation about joint ") + direction;
  }
  return {};
}

std::vector<Attachment> held_attachments(Held held, int between, int at) {
  std::vector<Attachment> frames = frames_at_common_place(between, at);
  frames[0].oriented = couples_bodies(held);
  frames[1].oriented = (held & kTurns) != 0;
  return frames;
}

}  // namespace liedyn
