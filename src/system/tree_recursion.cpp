#include "liedyn/system/tree_recursion.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>

#include "liedyn/base/index.h"

namespace liedyn {
namespace {

// A joint whose inertia is less than round-off of what it carries has none. What is not a number goes on, to be found in the accelerations.
constexpr double kNoInertia = 1e-14;

Mat3 times_transposed(const Mat3& a, const Mat3& b) { return a * b.transpose(); }

// m (|d|^2 1 - d d^T): what a mass adds to an inertia at the distance d.
Mat3 steiner(double m, const Vec3& d) { return m * (d.squaredNorm() * Mat3::Identity() - d * d.transpose()); }

// A -= x y^T
void subtract(Mat3& A, const Vec3& x, const Vec3& y) {
  for (int c = 0; c < 3; ++c)
    for (int r = 0; r < 3; ++r) A(r, c) -= x[r] * y[c];
}

// A += r~ X: r x each column.
void add_cross(Mat3& A, const Vec3& r, const Mat3& X) {
  for (int c = 0; c < 3; ++c) {
    A(0, c) += r[1] * X(2, c) - r[2] * X(1, c);
    A(1, c) += r[2] * X(0, c) - r[0] * X(2, c);
    A(2, c) += r[0] * X(1, c) - r[1] * X(0, c);
  }
}

}  // namespace

TreeRecursion::TreeRecursion(const Model& model) : model_(&model) {
  for (const liedyn::Link& link : model.tree->links) {
    const int before = link.parent < 0 ? -1 : carried_[at(link.parent)].link;
    carried_.emplace_back();
    carried_.back().link = before;
    if (link.node < 0) continue;
    const Node& node = model.nodes[at(link.node)];
    if (node.type == NodeType::State) continue;
    Link own;
    own.kind = link.kind;
    own.type = node.type;
    own.parent = before;
    own.q = node.q;
    own.v = node.v;
    own.size = node_size(node.type).v;
    if (link.kind == LinkKind::Root) {
      own.root = static_cast<int>(roots_.size());
      roots_.emplace_back();
    }
    nv_ = std::max(nv_, own.v + own.size);
    carried_.back().link = static_cast<int>(links_.size());
    links_.push_back(own);
  }
}

void TreeRecursion::set_geometry(const double* constants) {
  const std::vector<liedyn::Link>& links = model_->tree->links;
  for (Link& link : links_) link.own = {};
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (links[i].kind == LinkKind::Root) continue;
    // Joint frame in the parent's axes, then the link's frame in those of the joint (model/tree.h).
    const double* own = constants + links[i].constants;
    const Eigen::Map<const Mat3> R_joint(own), R_link(own + 12);
    const Eigen::Map<const Vec3> p_joint(own + 9), p_link(own + 21);
    Carried parent;
    if (links[i].parent >= 0) parent = carried_[at(links[i].parent)];
    const Mat3 R = parent.R * R_joint;
    const Vec3 p = parent.p + parent.R * p_joint;
    Carried& carried = carried_[i];
    if (links[i].kind == LinkKind::Weld) {
      carried.R = R * R_link;
      carried.p = p + R * p_link;
      continue;
    }
    links_[at(carried.link)].R_joint = R;
    links_[at(carried.link)].p_joint = p;
    carried.R = R_link;
    carried.p = p_link;
  }
}

void TreeRecursion::add_inertia(int body, const RigidMass& inertia) {
  const Carried& carried = carried_[at(model_->tree->of_body[at(body)])];
  if (carried.link < 0) return;
  RigidMass& own = links_[at(carried.link)].own;
  const Vec3 moment = carried.R * inertia.moment;
  // J about the origin of the link, which is at -p from the reference point: J + m (p^2 1 - p p^T) + 2 (p.mc) 1 - p mc^T - mc p^T
  own.mass += inertia.mass;
  own.moment += moment + inertia.mass * carried.p;
  own.inertia += carried.R * times_transposed(inertia.inertia, carried.R) + steiner(inertia.mass, carried.p) +
                 2 * carried.p.dot(moment) * Mat3::Identity() - carried.p * moment.transpose() -
                 moment * carried.p.transpose();
}

void TreeRecursion::move_root(Link& link, const double* q, const double* v) {
  static constexpr double kZeros[6] = {};
  const Motion<double> m = node_motion(link.type, q + link.q, v + link.v, kZeros);
  Root& root = roots_[at(link.root)];
  link.R = m.R;
  link.o = link.r = m.p;
  link.u = m.velocity();
  link.w = m.R * m.V.tail<3>();
  link.z.setZero();
  root.bias << m.acceleration(), m.R * m.A.tail<3>();
  root.S.setZero();
  for (int k = 0; k < link.size; ++k) {
    // Columns of H in inertial axes.
    const int component = components(link.type)[k];
    const bool inertial = component < 3 ? turns_translation(link.type) : turns_rotation(link.type);
    const int first = component < 3 ? 0 : 3;
    root.S.block<3, 1>(first, k) =
        inertial ? Vec3(Vec3::Unit(component - first)) : Vec3(m.R.col(component - first));
  }
}

void TreeRecursion::start_inertia(Link& link) {
  const RigidMass& own = link.own;
  const Mat3 RJ = link.R * own.inertia;
  link.h.noalias() = link.R * own.moment;
  Mat3& C = link.C;
  for (int c = 0; c < 3; ++c)
    for (int r = c; r < 3; ++r)
      C(r, c) = C(c, r) = RJ(r, 0) * link.R(c, 0) + RJ(r, 1) * link.R(c, 1) + RJ(r, 2) * link.R(c, 2);
  const Vec3 wh = link.w.cross(link.h);
  link.p_t = link.w.cross(wh);
  const Vec3 L = C * link.w;
  link.p_r = link.w.cross(L);
  // f = m a + alpha x h
  link.A.setZero();
  link.A(0, 0) = link.A(1, 1) = link.A(2, 2) = own.mass;
  const Vec3& h = link.h;
  link.B << 0, h[2], -h[1], -h[2], 0, h[0], h[1], -h[0], 0;
}

void TreeRecursion::move(const double* q, const double* v) {
  static const Mat3 kOne = Mat3::Identity();
  static const Vec3 kZero = Vec3::Zero();
  for (Link& link : links_) {
    if (link.kind == LinkKind::Root) {
      move_root(link, q, v);
      start_inertia(link);
      continue;
    }
    const Link* parent = link.parent < 0 ? nullptr : &links_[at(link.parent)];
    const Mat3& R_p = parent != nullptr ? parent->R : kOne;
    const Vec3& w_p = parent != nullptr ? parent->w : kZero;
    link.r.noalias() = R_p * link.p_joint;
    if (link.kind == LinkKind::Turn) {
      const Mat3 F = R_p * link.R_joint;
      const double c = std::cos(q[link.q]), s = std::sin(q[link.q]), rate = v[link.v];
      link.R.col(0) = c * F.col(0) + s * F.col(1);
      link.R.col(1) = c * F.col(1) - s * F.col(0);
      link.R.col(2) = link.z = F.col(2);
      const Vec3 turn = rate * link.z;
      link.w = w_p + turn;
      const Vec3 shift = w_p.cross(link.r);
      link.u = shift;
      link.c_t = w_p.cross(shift);
      link.c_r = w_p.cross(turn);
    } else if (link.kind == LinkKind::Slide) {
      link.R.noalias() = R_p * link.R_joint;
      link.z = link.R.col(2);
      link.r += q[link.q] * link.z;
      const Vec3 slide = v[link.v] * link.z, shift = w_p.cross(link.r);
      link.w = w_p;
      link.u = shift + slide;
      link.c_t = w_p.cross(Vec3(shift + 2 * slide));
      link.c_r.setZero();
    } else {
      link.R.noalias() = (R_p * link.R_joint) * rotation_of(q + link.q).R();
      const Vec3 turn = link.R * Eigen::Map<const Vec3>(v + link.v), shift = w_p.cross(link.r);
      link.w = w_p + turn;
      link.u = shift;
      link.c_t = w_p.cross(shift);
      link.c_r = w_p.cross(turn);
    }
    link.o = link.r;
    if (parent != nullptr) {
      link.o += parent->o;
      link.u += parent->u;
    }
    start_inertia(link);
  }
}

void TreeRecursion::body_motion(int body, Motion<double>& out) const {
  const Carried& carried = carried_[at(model_->tree->of_body[at(body)])];
  out.A.setZero();
  if (carried.link < 0) {
    out.R = carried.R;
    out.p = carried.p;
    out.V.setZero();
    return;
  }
  const Link& link = links_[at(carried.link)];
  const Vec3 d = link.R * carried.p;
  out.R.noalias() = link.R * carried.R;
  out.p = link.o + d;
  out.V.head<3>().noalias() = out.R.transpose() * (link.u + link.w.cross(d));
  out.V.tail<3>().noalias() = out.R.transpose() * link.w;
}

void TreeRecursion::add_wrench(int body, const Vec6& W) {
  const Carried& carried = carried_[at(model_->tree->of_body[at(body)])];
  if (carried.link < 0) return;
  Link& link = links_[at(carried.link)];
  const Vec3 force = link.R * (carried.R * W.head<3>());
  link.p_t += force;
  link.p_r += link.R * (carried.R * W.tail<3>()) + (link.R * carried.p).cross(force);
}

// With U = I S and D = S^T U the joint leaves I - U D^-1 U^T to the parent, and the force p + I' c + U D^-1 (tau - S^T p).
bool TreeRecursion::eliminate(Link& link, const double* tau) {
  double D, scale;
  if (link.kind == LinkKind::Turn) {
    link.U_t.noalias() = link.B * link.z;
    link.U_r.noalias() = link.C * link.z;
    D = link.z.dot(link.U_r);
    scale = link.C.trace();
    link.force = -link.z.dot(link.p_r);
  } else {
    link.U_t.noalias() = link.A * link.z;
    link.U_r.noalias() = link.B.transpose() * link.z;
    D = link.z.dot(link.U_t);
    scale = link.A.trace();
    link.force = -link.z.dot(link.p_t);
  }
  if (tau != nullptr) link.force += tau[link.v];
  if (D <= kNoInertia * scale) return false;
  link.inverse = 1 / D;
  if (link.parent < 0) return true;
  const Vec3 t = link.inverse * link.U_t, r = link.inverse * link.U_r;
  subtract(link.A, t, link.U_t);
  subtract(link.B, t, link.U_r);
  subtract(link.C, r, link.U_r);
  link.p_t += link.A * link.c_t + link.B * link.c_r + link.force * t;
  link.p_r += link.B.transpose() * link.c_t + link.C * link.c_r + link.force * r;
  return true;
}

// The same for the three directions (0, 1): I' = [A - B C^-1 B^T, 0; 0, 0].
bool TreeRecursion::eliminate_rotation(Link& link, const double* tau) {
  const Eigen::LLT<Mat3> factors(link.C);
  if (factors.info() != Eigen::Success) return false;
  const Vec3 pivots = factors.matrixLLT().diagonal();
  if (pivots.minCoeff() * pivots.minCoeff() <= kNoInertia * link.C.trace()) return false;
  const Vec3 torque =
      tau != nullptr ? Vec3(link.R * Eigen::Map<const Vec3>(tau + link.v)) : Vec3(Vec3::Zero());
  // C^-1 and C^-1 (tau - p_r) are kept for the accelerations.
  link.U_r = factors.solve(torque - link.p_r);
  link.C = factors.solve(Mat3::Identity());
  if (link.parent < 0) return true;
  link.A -= link.B * (link.C * link.B.transpose());
  link.p_t += link.A * link.c_t + link.B * link.U_r;
  link.p_r = torque;
  return true;
}

// (a, alpha) = (a_p + alpha_p x r, alpha_p): the parent's inertia gains T^T I T with T = [1, -r~; 0, 1].
void TreeRecursion::pass_inertia(const Link& link, Link& parent) {
  const Vec3& r = link.r;
  const Mat3 &A = link.A, &B = link.B, &C = link.C;
  // B - A r~, whose i-th row is that of B and r x the i-th row of A
  Mat3 shifted;
  for (int i = 0; i < 3; ++i) {
    shifted(i, 0) = B(i, 0) + (r[1] * A(2, i) - r[2] * A(1, i));
    shifted(i, 1) = B(i, 1) + (r[2] * A(0, i) - r[0] * A(2, i));
    shifted(i, 2) = B(i, 2) + (r[0] * A(1, i) - r[1] * A(0, i));
  }
  parent.A += A;
  parent.B += shifted;
  // C + r~ (B - A r~) - B^T r~, symmetric; the last term is that of (r~ B)^T
  Mat3 moved = C;
  add_cross(moved, r, shifted);
  Mat3 turned = Mat3::Zero();
  add_cross(turned, r, B);
  parent.C += moved + turned.transpose();
}

void TreeRecursion::pass_force(const Link& link, Link& parent) {
  parent.p_t += link.p_t;
  parent.p_r += link.p_r + link.r.cross(link.p_t);
}

// What is left of a rotation about a point resists no rotation of the parent but by its distance: I' = [A, -A r~; r~ A, -r~ A r~].
void TreeRecursion::pass_point_inertia(const Link& link, Link& parent) {
  Mat3 moment = Mat3::Zero();  // r~ A
  add_cross(moment, link.r, link.A);
  Mat3 inertia = Mat3::Zero();  // r~ (r~ A)^T = -r~ A r~
  add_cross(inertia, link.r, moment.transpose());
  parent.A += link.A;
  parent.B += moment.transpose();
  parent.C += inertia;
}

bool TreeRecursion::accelerate_root(Link& link, const Vec3& gravity, const double* tau, double* vdot) const {
  const Root& root = roots_[at(link.root)];
  Mat6 I;
  I << link.A, link.B, link.B.transpose(), link.C;
  Vec6 p, acceleration = root.bias;
  p << link.p_t, link.p_r;
  acceleration.head<3>() -= gravity;
  const auto S = root.S.leftCols(link.size);
  const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 6, 6> D = S.transpose() * I * S;
  Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 6, 1> right = -(S.transpose() * (p + I * acceleration));
  if (tau != nullptr)
    for (int k = 0; k < link.size; ++k) right[k] += tau[link.v + k];
  const Eigen::LLT<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 6, 6>> factors(D);
  if (factors.info() != Eigen::Success) return false;
  const auto pivots = factors.matrixLLT().diagonal();
  for (int k = 0; k < link.size; ++k)
    if (pivots[k] * pivots[k] <= kNoInertia * D(k, k)) return false;
  const Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 6, 1> found = factors.solve(right);
  for (int k = 0; k < link.size; ++k) vdot[link.v + k] = found[k];
  acceleration += S * found;
  link.a = acceleration.head<3>();
  link.alpha = acceleration.tail<3>();
  return true;
}

void TreeRecursion::carry_acceleration(Link& link, const Vec3& gravity) const {
  if (link.kind == LinkKind::Root) {
    const Vec6& bias = roots_[at(link.root)].bias;
    link.a = bias.head<3>() - gravity;
    link.alpha = bias.tail<3>();
  } else if (link.parent < 0) {
    link.a = link.c_t - gravity;
    link.alpha = link.c_r;
  } else {
    const Link& parent = links_[at(link.parent)];
    link.a = parent.a + parent.alpha.cross(link.r) + link.c_t;
    link.alpha = parent.alpha + link.c_r;
  }
}

int TreeRecursion::accelerate(const Vec3& gravity, const double* tau, double* vdot) {
  for (std::size_t i = links_.size(); i-- > 0;) {
    Link& link = links_[i];
    if (link.kind == LinkKind::Root) continue;
    if (!(link.kind == LinkKind::Rotation ? eliminate_rotation(link, tau) : eliminate(link, tau)))
      return link.v;
    if (link.parent < 0) continue;
    Link& parent = links_[at(link.parent)];
    link.kind == LinkKind::Rotation ? pass_point_inertia(link, parent) : pass_inertia(link, parent);
    pass_force(link, parent);
  }
  for (Link& link : links_) {
    if (link.kind == LinkKind::Root) {
      if (!accelerate_root(link, gravity, tau, vdot)) return link.v;
      continue;
    }
    carry_acceleration(link, gravity);
    if (link.kind == LinkKind::Rotation) {
      // C alpha = tau - p_r - B^T a
      const Vec3 turned = link.U_r - link.C * (link.B.transpose() * link.a);
      Eigen::Map<Vec3>{vdot + link.v} = link.R.transpose() * (turned - link.alpha);
      link.alpha = turned;
      continue;
    }
    const double found = link.inverse * (link.force - link.U_t.dot(link.a) - link.U_r.dot(link.alpha));
    vdot[link.v] = found;
    if (link.kind == LinkKind::Turn)
      link.alpha += found * link.z;
    else
      link.a += found * link.z;
  }
  return -1;
}

Vec6 TreeRecursion::direction(const Link& link, int k) const {
  Vec6 out = Vec6::Zero();
  if (link.kind == LinkKind::Root)
    out = roots_[at(link.root)].S.col(k);
  else if (link.kind == LinkKind::Turn)
    out.tail<3>() = link.z;
  else if (link.kind == LinkKind::Slide)
    out.head<3>() = link.z;
  else
    out.tail<3>() = link.R.col(k);
  return out;
}

void TreeRecursion::forces(const Vec3& gravity, const double* vdot, double* tau) {
  for (Link& link : links_) {
    carry_acceleration(link, gravity);
    if (vdot != nullptr)
      for (int k = 0; k < link.size; ++k) {
        const Vec6 S = direction(link, k);
        link.a += vdot[link.v + k] * S.head<3>();
        link.alpha += vdot[link.v + k] * S.tail<3>();
      }
    link.p_t += link.own.mass * link.a + link.alpha.cross(link.h);
    link.p_r += link.h.cross(link.a) + link.C * link.alpha;
  }
  for (std::size_t i = links_.size(); i-- > 0;) {
    const Link& link = links_[i];
    for (int k = 0; k < link.size; ++k) {
      const Vec6 S = direction(link, k);
      tau[link.v + k] = S.head<3>().dot(link.p_t) + S.tail<3>().dot(link.p_r);
    }
    if (link.parent >= 0) pass_force(link, links_[at(link.parent)]);
  }
}

// Composite bodies: (f, n) = I S of all that a joint carries, seen by the joints before it.
void TreeRecursion::mass_matrix(double* M, int stride) {
  const auto entry = [&](int row, int column) -> double& { return M[row + column * stride]; };
  for (int c = 0; c < nv_; ++c)
    for (int r = 0; r < nv_; ++r) entry(r, c) = 0;
  for (std::size_t i = links_.size(); i-- > 0;) {
    const Link& link = links_[i];
    for (int k = 0; k < link.size; ++k) {
      const Vec6 S = direction(link, k);
      Vec3 f = link.A * S.head<3>() + link.B * S.tail<3>(),
           n = link.B.transpose() * S.head<3>() + link.C * S.tail<3>();
      const Link* inner = &link;
      for (;;) {
        for (int j = 0; j < inner->size; ++j) {
          const Vec6 T = direction(*inner, j);
          entry(inner->v + j, link.v + k) = entry(link.v + k, inner->v + j) =
              T.head<3>().dot(f) + T.tail<3>().dot(n);
        }
        if (inner->parent < 0) break;
        n += inner->r.cross(f);
        inner = &links_[at(inner->parent)];
      }
    }
    if (link.parent >= 0) pass_inertia(link, links_[at(link.parent)]);
  }
}

void TreeRecursion::jacobian(int body, const Vec3& point, double* J) const {
  std::fill_n(J, 6 * nv_, 0.0);
  const int first = carried_[at(model_->tree->of_body[at(body)])].link;
  for (int i = first; i >= 0; i = links_[at(i)].parent) {
    const Link& link = links_[at(i)];
    for (int k = 0; k < link.size; ++k) {
      const Vec6 S = direction(link, k);
      Eigen::Map<Vec6> column(J + 6 * (link.v + k));
      column.head<3>() = S.head<3>() + S.tail<3>().cross(point - link.o);
      column.tail<3>() = S.tail<3>();
    }
  }
}

TreeRecursion::Whole TreeRecursion::whole() const {
  Whole out;
  for (const Link& link : links_) {
    const Vec3 p = link.own.mass * link.u + link.w.cross(link.h);
    out.mass += link.own.mass;
    out.center += link.own.mass * link.o + link.h;
    out.linear += p;
    out.angular +=
        link.o.cross(p) + link.h.cross(link.u) + link.R * (link.own.inertia * (link.R.transpose() * link.w));
  }
  if (out.mass > 0) out.center /= out.mass;
  return out;
}

}  // namespace liedyn
