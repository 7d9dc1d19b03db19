#include "liedyn/system/tree_assembly.h"

#include <algorithm>

#include "liedyn/base/index.h"
#include "liedyn/model/joints/gear_mesh.h"
#include "liedyn/system/evaluation.h"
#include "liedyn/system/layout.h"

namespace liedyn {
namespace {

using CMat6 = Eigen::Map<const Mat6>;

// The matrix of Offset::twist: Ad(g^-1) of a link relative to its parent.
Mat6 adjoint(const Offset<double>& offset) {
  Mat6 out;
  out.topLeftCorner<3, 3>() = offset.Q.transpose();
  out.topRightCorner<3, 3>().noalias() = -offset.Q.transpose() * skew(offset.rho);
  out.bottomLeftCorner<3, 3>().setZero();
  out.bottomRightCorner<3, 3>() = offset.Q.transpose();
  return out;
}

// M ad(X): columns of a matrix that is applied to [X, .].
Mat6 times_bracket(const Mat6& M, const Vec6& X) {
  const Mat3 u = skew(X.head<3>()), w = skew(X.tail<3>());
  Mat6 out;
  out.leftCols<3>().noalias() = M.leftCols<3>() * w;
  out.rightCols<3>().noalias() = M.leftCols<3>() * u + M.rightCols<3>() * w;
  return out;
}

// ad(X)^T f
Vec6 bracket_transposed(const Vec6& X, const Vec6& f) {
  const Vec3 force = f.head<3>(), u = X.head<3>(), w = X.tail<3>();
  Vec6 out;
  out << force.cross(w), force.cross(u) + f.tail<3>().cross(w);
  return out;
}

// B of the elements, behind the columns of their multipliers: the transpose of these, unless forces add to them (the other flanks of teeth).
void keep_rows(const Batch& batch, const Evaluation& e, const std::vector<BlockRef>& refs, double* values,
               double* scratch) {
  const Coupling c = batch.coupling();
  const bool apart = dynamic_cast<const BothFlanks*>(&batch) != nullptr;
  if (apart) batch.constraint_matrices(e, scratch);
  const int per_element = Batch::blocks_per_element(c);
  for (int k = 0; k < batch.size(); ++k)
    for (int i = 0; i < c.frames; ++i, scratch += 6 * c.rows) {
      const BlockRef& ref = refs[at((k + 1) * per_element - c.frames + i)];
      if (ref.offset < 0) continue;
      using Columns = Eigen::Matrix<double, 6, Eigen::Dynamic>;
      Eigen::Map<const Columns> columns(values + ref.offset, 6, c.rows);
      Eigen::Map<Columns> kept(values + ref.offset + 6 * c.rows, 6, c.rows);
      if (apart)
        kept = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, 6>>(scratch, c.rows, 6).transpose();
      else
        kept = columns;
    }
}

}  // namespace

TreeAssembly::TreeAssembly(const Model& model, const TreeMotion& links) : model_(&model), at_(links) {
  const Tree& tree = *model.tree;
  first_column_.push_back(0);
  for (const std::vector<int>& path : tree.path) {
    int count = 0;
    for (const int link : path) count += node_size(node_of(link).type).v;
    first_column_.push_back(first_column_.back() + count);
  }
  columns_.resize(at(first_column_.back()));
  composite_.resize(tree.links.size());

  // Where the elements put their partial derivatives: one block per body, one per coupled pair, then those of the rows.
  const int bodies = static_cast<int>(tree.bodies.size());
  const std::vector<std::pair<int, int>> coupled = coupled_bodies(model);
  int size = 36 * bodies;
  for (const auto& [row, column] : coupled) {
    pairs_.push_back({tree.of_body[at(row)], tree.of_body[at(column)], size});
    size += 36;
  }
  const auto place_of = [&](int row, int column) -> BlockRef {
    if (row < 0 || column < 0) return {};
    if (row == column) return {36 * row, 6};
    const auto found = std::lower_bound(coupled.begin(), coupled.end(), std::pair(row, column));
    return {pairs_[static_cast<std::size_t>(found - coupled.begin())].partials, 6};
  };
  blocks_.resize(model.batches.size());
  std::size_t matrices = 0;
  for_each_element(model, [&](int b, int e, int) {
    const Batch& batch = *model.batches[at(b)];
    const Coupling c = batch.coupling();
    for_each_force_block(model, batch, e,
                         [&](int row, int column) { blocks_[at(b)].push_back(place_of(row, column)); });
    if (c.multipliers > 0)
      for (int i = 0; i < c.frames; ++i) {
        const int body = node_of_frame(model, batch, e, i);
        blocks_[at(b)].push_back(body < 0 ? BlockRef{} : BlockRef{size, 6});
        if (body < 0) continue;
        loads_.push_back({tree.of_body[at(body)], c.multipliers, size});
        size += 6 * c.multipliers;
      }
    if (c.rows == 0) return;
    const std::size_t first = sides_.size();
    for (int i = 0; i < c.frames; ++i) {
      const int body = node_of_frame(model, batch, e, i);
      blocks_[at(b)].push_back(body < 0 ? BlockRef{} : BlockRef{size, c.rows});
      if (body < 0) continue;
      sides_.push_back({tree.of_body[at(body)], c.rows, c.velocity_rows, size, -1});
      size += 6 * c.rows;
    }
    for (std::size_t side = first; side < sides_.size(); ++side) {
      sides_[side].transpose = size;
      size += 2 * 6 * c.rows;  // as the forces have it, and that of the rows: keep_rows
    }
    std::size_t side = first;
    for (int i = 0; i < c.frames; ++i)
      blocks_[at(b)].push_back(node_of_frame(model, batch, e, i) < 0 ? BlockRef{}
                                                                     : BlockRef{sides_[side++].transpose, 6});
    matrices += static_cast<std::size_t>(6 * c.rows * c.frames);
  });
  partials_.K.assign(at(size), 0);
  partials_.C = partials_.M = partials_.K;
  scratch_.assign(tree.bodies.size(), Vec6::Zero());
  body_matrices_.assign(matrices, 0);
}

const Node& TreeAssembly::node_of(int link) const {
  return model_->nodes[at(model_->tree->links[at(link)].node)];
}

void TreeAssembly::begin(const Seeding& s) {
  std::fill(partials_.K.begin(), partials_.K.end(), 0.0);
  std::fill(partials_.C.begin(), partials_.C.end(), 0.0);
  std::fill(partials_.M.begin(), partials_.M.end(), 0.0);
  with_rows_ = s.q != 0 ? partials_.K.data() : partials_.M.data();
}

// K, C and M apart: up to three calls, of which the first adds the wrenches and has the rows.
void TreeAssembly::evaluate_batch(const Evaluation& e, int b, const Seeding& s, bool rows) {
  const Batch& batch = *model_->batches[at(b)];
  const bool joints = batch.coupling().rows > 0;
  if (joints && !rows) return;
  JacobianTarget to;
  to.blocks = blocks_[at(b)].data();
  to.level = RowLevel::Velocity;
  to.row = {1, 0, 0};  // the derivative of the rate at constant twists; B comes with B^T
  Evaluation again = e;
  again.wrench = scratch_.data();
  again.phi = again.rate = again.acceleration = nullptr;
  if (s.q != 0) {
    to.values = partials_.K.data();
    to.force = {1, 0, 0};
    batch.jacobian(e, to);
  }
  if (!joints || s.q == 0) {
    to.values = partials_.M.data();
    to.force = {0, 0, 1};
    batch.jacobian(s.q != 0 ? again : e, to);
  }
  if (joints) return keep_rows(batch, e, blocks_[at(b)], to.values, body_matrices_.data());
  if (s.q == 0 && s.v == 0) return;
  to.values = partials_.C.data();
  to.force = {0, 1, 0};
  batch.jacobian(again, to);
}

void TreeAssembly::fill_own_columns(int i, const Seeding& s, const double* tangent,
                                    const double* rate_tangent, Column* own) {
  const Link& link = model_->tree->links[at(i)];
  const Node& node = node_of(i);
  const int count = node_size(node.type).v;
  const double* E = tangent != nullptr ? tangent + node.tangent : nullptr;
  const double* E_rate = tangent != nullptr ? rate_tangent + node.tangent : nullptr;
  if (link.kind == Link::Kind::Root) {
    const Seeds seeds = node_seeds(node.type, at_.motion[at(i)], E, E_rate, s);
    const std::uint8_t* component = components(node.type);
    for (int k = 0; k < count; ++k)
      own[k] = {at_.S[at(node.v + k)], seeds.V.col(component[k]), seeds.A.col(component[k])};
    return;
  }
  const auto moved = [&](const double* map, int k) -> Vec6 {
    if (map == nullptr) return at_.S[at(node.v + k)];
    if (count == 1) return map[0] * at_.S[at(node.v)];
    Vec6 sum = Vec6::Zero();
    for (int j = 0; j < count; ++j) sum += map[j + count * k] * at_.S[at(node.v + j)];
    return sum;
  };
  for (int k = 0; k < count; ++k) {
    Column& c = own[k];
    c.J = at_.S[at(node.v + k)];
    c.V.setZero();
    c.A.setZero();
    if (s.a != 0) c.A = s.a * moved(E, k);
    if (s.v != 0) {
      const Vec6 dV = s.v * moved(E_rate, k);
      c.V += dV;
      c.A += bracket(at_.motion[at(i)].V, dV);
    }
    if (s.q != 0) {
      c.V += s.q * bracket(at_.carried_V[at(i)], c.J);
      c.A += s.q * bracket(at_.carried_A[at(i)], c.J);
    }
    if (s.q != 0 || s.v != 0) c.A -= bracket(at_.rate[at(i)], c.V);
  }
}

void TreeAssembly::fill_columns(const Seeding& s, const double* tangent, const double* rate_tangent) {
  const Tree& tree = *model_->tree;
  const bool moving = s.q != 0 || s.v != 0;
  for (int i = 0; i < static_cast<int>(tree.links.size()); ++i) {
    const Link& link = tree.links[at(i)];
    Column* next = columns_.data() + first_column_[at(i)];
    if (link.parent >= 0) {
      const Offset<double>& offset = at_.offset[at(i)];
      const Column* from = columns_.data() + first_column_[at(link.parent)];
      for (int k = columns_of(link.parent); k > 0; --k, ++from, ++next) {
        next->J = offset.twist(from->J);
        next->V = moving ? offset.twist(from->V) : Vec6(Vec6::Zero());
        next->A = offset.twist(from->A);
        if (moving) next->A -= bracket(at_.rate[at(i)], next->V);
      }
    }
    if (link.node >= 0) fill_own_columns(i, s, tangent, rate_tangent, next);
  }
}

void TreeAssembly::add_forces(const Seeding& s, const double* tangent, const double* rate_tangent,
                              double* values, const BlockRef* refs) {
  const Tree& tree = *model_->tree;
  const int links = static_cast<int>(tree.links.size());
  const bool moving = s.q != 0 || s.v != 0;
  fill_columns(s, tangent, rate_tangent);

  // Composite bodies. Twists carry over to accelerations: dA = Ad dA_parent - [S v, Ad dV_parent].
  for (int i = 0; i < links; ++i) {
    const int body = tree.links[at(i)].body;
    Composite& c = composite_[at(i)];
    if (body < 0) {
      c.K.setZero(), c.C.setZero(), c.M.setZero();
      continue;
    }
    if (s.q != 0) c.K = CMat6(&partials_.K[at(36 * body)]);
    if (moving) c.C = CMat6(&partials_.C[at(36 * body)]);
    c.M = CMat6(&partials_.M[at(36 * body)]);
  }
  for (int i = links - 1; i >= 0; --i) {
    const int parent = tree.links[at(i)].parent;
    if (parent < 0) continue;
    const Composite& c = composite_[at(i)];
    Composite& sum = composite_[at(parent)];
    const Mat6 P = adjoint(at_.offset[at(i)]);
    if (s.q != 0) sum.K.noalias() += P.transpose() * (c.K * P);
    if (moving) sum.C.noalias() += P.transpose() * ((c.C - times_bracket(c.M, at_.rate[at(i)])) * P);
    sum.M.noalias() += P.transpose() * (c.M * P);
  }

  // df for a column: what the composite body behind the link needs.
  const auto force = [&](const Composite& c, const Column& column) {
    Vec6 out = c.M * column.A;
    if (moving) out.noalias() += c.C * column.V;
    if (s.q != 0) out.noalias() += s.q * (c.K * column.J);
    return out;
  };
  const auto add = [&](const BlockRef& ref, int r, int c, double value) {
    values[ref.offset + r + c * ref.stride] += value;
  };
  for (int i = 0; i < links; ++i) {
    const Link& link = tree.links[at(i)];
    if (link.node < 0) continue;
    const Node& node = node_of(i);
    const int size = node_size(node.type).v;
    const std::vector<int>& path = tree.path[at(i)];
    const int length = static_cast<int>(path.size());
    const Composite& composite = composite_[at(i)];
    const Column* all = columns_.data() + first_column_[at(i)];
    const Column* own = all + (columns_of(i) - size);

    // Rows of the link, columns of the path: everything behind the link moves as one body.
    for (int r = 0; r < size; ++r) {
      const Vec6& S = at_.S[at(node.v + r)];
      const Vec6 by_A = composite.M.transpose() * S;
      Vec6 by_V = Vec6::Zero(), by_J = Vec6::Zero();
      if (moving) by_V.noalias() = composite.C.transpose() * S;
      if (s.q != 0) by_J.noalias() = s.q * (composite.K.transpose() * S);
      const Column* column = all;
      for (int p = 0; p < length; ++p) {
        const BlockRef& ref = refs[p + 1 < length ? 2 * p + 1 : 2 * p];
        for (int c = 0; c < node_size(node_of(path[at(p)]).type).v; ++c, ++column)
          add(ref, r, c, by_A.dot(column->A) + by_V.dot(column->V) + by_J.dot(column->J));
      }
    }
    // Columns of the link, rows of the path before it: the wrenches behind the link turn with it.
    for (int c = 0; c < size; ++c) {
      Vec6 df = force(composite, own[c]);
      if (s.q != 0) df -= s.q * bracket_transposed(own[c].J, at_.wrench[at(i)]);
      int inner = i;
      for (int p = length - 2; p >= 0; --p) {
        while (inner != path[at(p)]) {
          df = at_.offset[at(inner)].wrench(df);
          inner = tree.links[at(inner)].parent;
        }
        const Node& row_node = node_of(inner);
        for (int r = 0; r < node_size(row_node.type).v; ++r)
          add(refs[2 * p], r, c, at_.S[at(row_node.v + r)].dot(df));
      }
    }
    const BlockRef& diagonal = refs[2 * (length - 1)];
    refs += 2 * length - 1;
    if (link.kind != Link::Kind::Root || s.q == 0) continue;
    Mat6 D = Mat6::Zero();
    if (add_map_derivative(node.type, at_.motion[at(i)], at_.wrench[at(i)], s.q, D))
      add_block(values, diagonal, D, node.type, node.type);
  }

  // Forces that couple two bodies: J_i^T dW_i/d(body j).
  for (const Pair& pair : pairs_) {
    const CMat6 K(&partials_.K[at(pair.partials)]), C(&partials_.C[at(pair.partials)]),
        M(&partials_.M[at(pair.partials)]);
    const std::vector<int>&rows = tree.path[at(pair.row)], &columns = tree.path[at(pair.column)];
    const Column* column = columns_.data() + first_column_[at(pair.column)];
    for (std::size_t k = 0; k < columns.size(); ++k)
      for (int c = 0; c < node_size(node_of(columns[k]).type).v; ++c, ++column) {
        Vec6 dW = M * column->A;
        if (moving) dW.noalias() += C * column->V;
        if (s.q != 0) dW.noalias() += s.q * (K * column->J);
        const Column* row = columns_.data() + first_column_[at(pair.row)];
        for (std::size_t l = 0; l < rows.size(); ++l)
          for (int r = 0; r < node_size(node_of(rows[l]).type).v; ++r, ++row)
            add(refs[l * columns.size() + k], r, c, row->J.dot(dW));
      }
    refs += rows.size() * columns.size();
  }
}

void TreeAssembly::add_side(const Side& side, int first, int last, RowLevel level, double q, double* values,
                            const BlockRef* refs, int step) const {
  const double* Bt = with_rows_ + side.transpose + 6 * side.rows;
  const double* Z = with_rows_ + side.Z;
  const Column* column = columns_.data() + first_column_[at(side.link)];
  for (const int link : model_->tree->path[at(side.link)]) {
    for (int c = 0; c < node_size(node_of(link).type).v; ++c, ++column)
      for (int r = first; r < last; ++r) {
        const Eigen::Map<const Vec6> B(Bt + 6 * r);
        const Eigen::Map<const Vec6, 0, Eigen::InnerStride<>> Z_row(Z + r, Eigen::InnerStride<>(side.rows));
        values[refs->offset + r + c * refs->stride] += level == RowLevel::Position ? q * B.dot(column->J)
                                                       : level == RowLevel::Velocity
                                                           ? B.dot(column->V) + q * Z_row.dot(column->J)
                                                           : B.dot(column->A);
      }
    refs += step;
  }
}

void TreeAssembly::add_rows(RowLevel level, const Seeding& s, const Seeding& velocity_row,
                            const double* tangent, const double* rate_tangent, double* values,
                            const BlockRef* refs) {
  if (sides_.empty()) return;
  const auto length = [&](int link) { return static_cast<int>(model_->tree->path[at(link)].size()); };
  const auto each_side = [&](const auto& visit) {
    const BlockRef* next = refs;
    for (const Side& side : sides_) {
      visit(side, next);
      next += 2 * length(side.link);
    }
    return next;
  };
  const bool apart = level == RowLevel::Position && model_->velocity_rows > 0;
  fill_columns(s, tangent, rate_tangent);
  const BlockRef* of_loads = each_side([&](const Side& side, const BlockRef* blocks) {
    add_side(side, 0, apart ? side.rows - side.velocity_rows : side.rows, level, s.q, values, blocks, 2);
    const Column* column = columns_.data() + first_column_[at(side.link)];
    for (const int link : model_->tree->path[at(side.link)]) {
      for (int c = 0; c < node_size(node_of(link).type).v; ++c, ++column)
        for (int r = 0; r < side.rows; ++r)
          values[blocks[1].offset + c + r * blocks[1].stride] +=
              column->J.dot(Eigen::Map<const Vec6>(with_rows_ + side.transpose + 6 * r));
      blocks += 2;
    }
  });
  for (const Load& load : loads_) {
    const Column* column = columns_.data() + first_column_[at(load.link)];
    for (const int link : model_->tree->path[at(load.link)]) {
      for (int c = 0; c < node_size(node_of(link).type).v; ++c, ++column)
        for (int r = 0; r < load.multipliers; ++r)
          values[of_loads->offset + c + r * of_loads->stride] +=
              column->J.dot(Eigen::Map<const Vec6>(with_rows_ + load.partials + 6 * r));
      ++of_loads;
    }
  }
  if (!apart) return;
  fill_columns(velocity_row, tangent, rate_tangent);
  each_side([&](const Side& side, const BlockRef* blocks) {
    add_side(side, side.rows - side.velocity_rows, side.rows, RowLevel::Velocity, velocity_row.q, values,
             blocks, 2);
  });
}

void TreeAssembly::add_rate_rows(const Seeding& s, const double* tangent, const double* rate_tangent,
                                 double* values, const BlockRef* refs) {
  fill_columns(s, tangent, rate_tangent);
  for (const Side& side : sides_) {
    add_side(side, 0, side.rows, RowLevel::Velocity, s.q, values, refs, 1);
    refs += model_->tree->path[at(side.link)].size();
  }
}

void TreeAssembly::constraint_matrices(const Evaluation& e, double* out) {
  fill_columns({1, 0, 0}, nullptr, nullptr);
  double* next = body_matrices_.data();
  for (const auto& batch : model_->batches) {
    const Coupling c = batch->coupling();
    if (c.rows == 0) continue;
    batch->constraint_matrices(e, next);
    for (int k = 0; k < batch->size(); ++k)
      for (int i = 0; i < c.frames; ++i, next += 6 * c.rows) {
        const int body = node_of_frame(*model_, *batch, k, i);
        if (body < 0) continue;
        const int link = model_->tree->of_body[at(body)];
        const Column* column = columns_.data() + first_column_[at(link)];
        for (const int inner : model_->tree->path[at(link)]) {
          const Node& node = node_of(inner);
          // B J, row by row: with a variable number of rows Eigen's sums depend on the address of the result in their last digit.
          for (int d = 0; d < node_size(node.type).v; ++d, ++column)
            for (int r = 0; r < c.rows; ++r) {
              double sum = 0;
              for (int j = 0; j < 6; ++j) sum += next[r + j * c.rows] * column->J[j];
              out[components(node.type)[d] * c.rows + r] = sum;
            }
          out += 6 * c.rows;
        }
      }
  }
}

}  // namespace liedyn
