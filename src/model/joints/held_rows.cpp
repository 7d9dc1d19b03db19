#include "model/joints/held_rows.h"

#include "model/common_fields.h"

namespace liedyn {

std::string row_name(const HeldRow& row) {
  const char direction = "xyz"[row.k];
  switch (row.kind) {
    case HeldRow::Kind::Place: return std::string("place ") + direction;
    case HeldRow::Kind::Along: return std::string("place along joint ") + direction;
    case HeldRow::Kind::Turn: return std::string("turn about joint ") + direction;
  }
  return {};
}

// Rates of e_z,1.(p_2 - p_1) and of the angle from e_x,1 to e_x,2, all in the axes of the first body.
AxisMotion axis_motion_of(const std::array<Motion<double>, 2>& f, const double* p) {
  const JointAxes<double> axes(p);
  const Mat3 Q = f[0].R.transpose() * f[1].R;
  const Vec3 r = f[0].R.transpose() * (f[1].p - f[0].p), z = axes.first.col(2), x2 = Q * axes.second.col(0);
  const Vec3 u1 = f[0].V.head<3>(), w1 = f[0].V.tail<3>(), u2 = f[1].V.head<3>(), w2 = f[1].V.tail<3>();
  return {.angle = std::atan2(axes.first.col(1).dot(x2), axes.first.col(0).dot(x2)),
          .angle_rate = z.dot(Q * w2 - w1),
          .displacement = z.dot(r),
          .displacement_rate = z.dot(Q * u2 - u1 - w1.cross(r))};
}

std::vector<Attachment> held_attachments(Held held, int between, int at) {
  std::vector<Attachment> frames = frames_at_common_place(between, at);
  frames[0].oriented = couples_bodies(held);
  frames[1].oriented = (held & kTurns) != 0;
  return frames;
}

}  // namespace liedyn
