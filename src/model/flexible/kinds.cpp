#include "liedyn/model/flexible/kinds.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "liedyn/model/beams/list.h"
#include "liedyn/model/flexible/body.h"
#include "liedyn/model/flexible/files.h"
#include "liedyn/model/flexible/linear_beam.h"
#include "liedyn/model/flexible/list.h"
#include "liedyn/model/flexible/numpy_files.h"
#include "liedyn/model/formulation_field.h"

namespace liedyn {
namespace {

Field number(std::string name, std::string unit, std::string summary, Range range = Range::Positive) {
  return {.name = std::move(name),
          .type = FieldType::Number,
          .unit = std::move(unit),
          .summary = std::move(summary),
          .required = true,
          .range = range};
}

std::vector<Field> reduction_fields() {
  return {{.name = "method",
           .type = FieldType::Choice,
           .unit = "",
           .summary = "Method of model reduction: static interface modes and fixed-interface normal modes "
                      "(Hurty, Craig, Bampton), or free-free normal modes.",
           .choices = {"craig_bampton", "free"}},
          {.name = "modes",
           .type = FieldType::Integer,
           .unit = "",
           .summary = "Number of fixed-interface or free-free normal modes, rounded up to a multiple of "
                      "three. Static interface modes are added to the former.",
           .defaults = {kDefaultModes},
           .range = Range::NonNegative},
          {.name = "damping_ratio",
           .type = FieldType::Number,
           .unit = "",
           .summary = "Damping ratio of all free-free modes: damping as a fraction of critical damping.",
           .defaults = {0},
           .range = Range::NonNegative},
          {.name = "geometric_stiffness",
           .type = FieldType::Choice,
           .unit = "",
           .summary = "on: displacements are quadratic in the modal coordinates, which includes the "
                      "foreshortening by bending. Centrifugal forces then stiffen the body, and axial forces "
                      "at its interfaces stiffen or buckle it.",
           .choices = {"off", "on"}}};
}

Field damping_time() {
  return {.name = "damping",
          .type = FieldType::Number,
          .unit = "s",
          .summary = "Kelvin-Voigt damping time tau: sigma = C (eps + tau d(eps)/dt).",
          .defaults = {0},
          .range = Range::NonNegative};
}

ListedKind body_kind(std::string type, std::string summary, const std::vector<Field>& own) {
  const auto start = [](std::string name, FieldType kind, PoseRole pose, std::string unit, std::string text) {
    return Field{.name = std::move(name),
                 .type = kind,
                 .unit = std::move(unit),
                 .summary = std::move(text),
                 .defaults = {0, 0, 0},
                 .is_initial = true,
                 .may_be_consistent = true,
                 .pose = pose};
  };
  std::vector<Field> fields = {
      start("position", FieldType::Vector, PoseRole::Point, "m",
            "Initial position of the origin of the body's axes, inertial axes.")
          .as(kSolidPosition),
      start("orientation", FieldType::Rotation, PoseRole::Orientation, "rad",
            "Initial orientation, body to inertial axes.")
          .as(kSolidOrientation),
      start("velocity", FieldType::Vector, PoseRole::Direction, "m/s",
            "Initial velocity of the origin, inertial axes; initially the body moves as a rigid body.")
          .as(kSolidVelocity),
      start("angular_velocity_inertial", FieldType::Vector, PoseRole::Direction, "rad/s",
            "Initial angular velocity, inertial axes.")
          .as(kSolidAngularVelocity),
      formulation_field("Coordinates of the floating frame").as(kSolidFormulation),
      damping_time()};
  fields.insert(fields.end(), own.begin(), own.end());
  for (Field& field : reduction_fields()) fields.push_back(std::move(field));
  return {{std::move(type), std::move(summary), std::move(fields)}, &make_flexible_body, nullptr};
}

std::vector<Field> material_fields() {
  return {number("young", "N/m^2", "Young's modulus."),
          {.name = "poisson",
           .type = FieldType::Number,
           .unit = "",
           .summary = "Poisson's ratio.",
           .defaults = {0.3}},
          number("density", "kg/m^3", "Density.")};
}

ListedKind brick() {
  std::vector<Field> own = {
      {.name = "size",
       .type = FieldType::Vector,
       .unit = "m",
       .summary = "Lengths along the body's x, y and z axes; their origin is the centre of the brick.",
       .required = true,
       .range = Range::Positive,
       .pose = PoseRole::Fixed},
      {.name = "divisions",
       .type = FieldType::Vector,
       .unit = "",
       .summary = "Number of elements along x, y and z.",
       .required = true,
       .range = Range::Positive,
       .pose = PoseRole::Fixed}};
  for (Field& field : material_fields()) own.push_back(std::move(field));
  return body_kind(
      "brick",
      "Box of solid elements with eight nodes and incompatible modes. Groups of nodes: its faces x-, x+, "
      "y-, y+, z- and z+.",
      own);
}

Field file(std::string name, std::string summary) {
  return {.name = std::move(name),
          .type = FieldType::Text,
          .unit = "",
          .summary = std::move(summary) + " Its path is relative to the model's file.",
          .required = true};
}

ListedKind mesh() {
  std::vector<Field> own = {
      file("file",
           "Mesh of hexahedra with 8 nodes or tetrahedra with 4 or 10, as Gmsh writes it in the "
           "ASCII formats 2.2 and 4.1."),
      {.name = "scale",
       .type = FieldType::Number,
       .unit = "",
       .summary = "Metres per unit of the mesh.",
       .defaults = {1},
       .range = Range::Positive}};
  for (Field& field : material_fields()) own.push_back(std::move(field));
  return body_kind(
      "mesh", "Body of solid elements from a mesh. Groups of nodes: the physical groups of the mesh.", own);
}

ListedKind matrices() {
  return body_kind(
      "matrices",
      "Body given by the mass and stiffness matrices of a linear finite element model, three displacements "
      "or "
      "three displacements and three rotations for each node.",
      {file("mass_matrix",
            "Mass matrix: MatrixMarket, or .npz of scipy.sparse.save_npz (csr, csc, coo) or of np.savez. Of "
            "the latter the array M, or the one named after a colon: body.npz:mass."),
       file("stiffness_matrix", "Stiffness matrix in a file of the same kinds; of np.savez the array K."),
       file("nodes",
            "Positions of the nodes, one per row of a matrix in a file of the same kinds, body axes; of "
            "np.savez the array nodes.")});
}

ListedKind beam_frame() {
  return body_kind("frame",
                   "Frame of linear beams, its members. They are rigidly connected where an end coincides "
                   "with an end or a node of another member. Members are entries with the keys of a beam and "
                   "`of`, in the axes of the frame. Groups of nodes: MEMBER.start and MEMBER.end.",
                   {});
}

ListedKind interface() {
  return {{"interface",
           "Attachment point of a flexible body for joints and forces: a massless body that moves with the "
           "material.",
           {{.name = "of",
             .type = FieldType::Flexible,
             .unit = "",
             .summary = "The flexible body.",
             .required = true,
             .index = kInterfaceOf},
            {.name = "at",
             .type = FieldType::Vector,
             .unit = "m",
             .summary = "Its position in the initial configuration, inertial axes.",
             .required = true,
             .pose = PoseRole::Point,
             .index = kInterfaceAt},
            {.name = "radius",
             .type = FieldType::Number,
             .unit = "m",
             .summary = "All nodes of the body within this distance move rigidly with the interface. If "
                        "neither this nor a group is given, only the node at its position does.",
             .range = Range::Positive,
             .index = kInterfaceRadius},
            {.name = "group",
             .type = FieldType::Text,
             .unit = "",
             .summary = "All nodes of this group move rigidly with the interface: a face of a brick, start "
                        "or end of a beam.",
             .index = kInterfaceGroup},
            formulation_field("Coordinates of the interface").as(kInterfaceFormulation)}},
          &make_flexible_interface,
          nullptr};
}

Material material_of(const Inputs<double>& in) {
  const Kind& kind = in.kind();
  const Material out{in.number(kind.field("young")), in.number(kind.field("poisson")),
                     in.number(kind.field("density"))};
  if (!(out.poisson > -1 && out.poisson < 0.5))
    throw std::invalid_argument(fmt::format("poisson must be above -1 and below 0.5, got {}", out.poisson));
  return out;
}

Meshed of_solids(SolidMesh mesh, const Material& material) {
  Meshed out;
  out.elements = solid_elements(mesh, material);
  out.solid = std::move(mesh);
  out.material = material;
  return out;
}

Meshed meshed_brick(const Inputs<double>& in) {
  constexpr double kMostNodes = 50'000;
  const Vec3 wanted = in.vector(in.kind().field("divisions"));
  std::array<int, 3> divisions;
  for (int i = 0; i < 3; ++i) {
    if (!(wanted[i] >= 1) || wanted[i] != std::floor(wanted[i]))
      throw std::invalid_argument(fmt::format("divisions must be whole numbers, got {}", wanted[i]));
    if ((wanted.array() + 1).prod() > kMostNodes)
      throw std::invalid_argument(fmt::format("divisions result in more than {} nodes", kMostNodes));
    divisions[static_cast<std::size_t>(i)] = static_cast<int>(wanted[i]);
  }
  return of_solids(brick_mesh(in.vector(in.kind().field("size")), divisions), material_of(in));
}

// The file that a field names.
const std::string& path_of(const Inputs<double>& in, std::string_view field) {
  const FieldValue& value = in.entry().fields[static_cast<std::size_t>(in.kind().field(field))];
  return in.description().words[static_cast<std::size_t>(value.word)];
}
template <class Parse>
auto parsed(const Inputs<double>& in, std::string_view field, const std::string& path, const Parse& parse) {
  const std::string text = read_text(path, in.description().file);
  try {
    return parse(text);
  } catch (const std::invalid_argument& mistake) {
    throw std::invalid_argument(fmt::format("{}: {}", field, mistake.what()));
  }
}

// A matrix in any of the formats. `usual` is the name of its array in a file with several; FILE.npz:NAME names another.
SparseMatrix matrix_of(const Inputs<double>& in, std::string_view field, std::string_view usual) {
  std::string path = path_of(in, field);
  std::string name;
  if (const std::size_t colon = path.rfind(".npz:"); colon != std::string::npos) {
    name = path.substr(colon + 5);
    path.resize(colon + 4);
  }
  return parsed(in, field, path, [&](const std::string& bytes) {
    return is_numpy(bytes) ? parse_numpy(bytes, name, usual) : parse_matrix_market(bytes);
  });
}

Meshed meshed_file(const Inputs<double>& in) {
  SolidMesh mesh = parsed(in, "file", path_of(in, "file"), parse_gmsh);
  mesh.places *= in.number(in.kind().field("scale"));
  return of_solids(std::move(mesh), material_of(in));
}

Meshed meshed_matrices(const Inputs<double>& in) {
  Meshed out;
  FiniteElements& full = out.elements;
  full.K = matrix_of(in, "stiffness_matrix", "K");
  full.M = matrix_of(in, "mass_matrix", "M");
  const SparseMatrix places = matrix_of(in, "nodes", "nodes");
  if (places.cols() != 3)
    throw std::invalid_argument(fmt::format("nodes: expected 3 columns, got {}", places.cols()));
  full.places = Eigen::MatrixXd(places).transpose();
  const auto size = full.K.rows();
  if (full.K.cols() != size || full.M.rows() != size || full.M.cols() != size)
    throw std::invalid_argument(fmt::format(
        "mass_matrix and stiffness_matrix must be square and of one size, got {} x {} and {} x {}",
        full.M.rows(), full.M.cols(), full.K.rows(), full.K.cols()));
  full.freedoms = size == 6 * full.nodes() ? 6 : 3;
  if (size != full.size())
    throw std::invalid_argument(fmt::format(
        "{} nodes have 3 or 6 degrees of freedom each, but the matrices have {} rows", full.nodes(), size));
  for (const SparseMatrix* matrix : {&full.K, &full.M}) {
    if (matrix->nonZeros() == 0)
      throw std::invalid_argument(fmt::format("has no {}: all entries of {} are zero",
                                              matrix == &full.K ? "stiffness" : "mass",
                                              matrix == &full.K ? "stiffness_matrix" : "mass_matrix"));
    const double largest = matrix->coeffs().cwiseAbs().maxCoeff();
    if (!(SparseMatrix(*matrix - SparseMatrix(matrix->transpose())).coeffs().cwiseAbs().maxCoeff() <=
          1e-8 * largest))
      throw std::invalid_argument(
          fmt::format("{} is not symmetric", matrix == &full.K ? "stiffness_matrix" : "mass_matrix"));
  }
  return out;
}

}  // namespace

bool is_linear_beam(const Kind& kind) { return kind.field("from") >= 0; }
bool is_linear_beam(const Entry& entry) { return is_linear_beam(*entry.kind); }
bool is_member(const Entry& entry) {
  return is_linear_beam(entry) && entry.fields[static_cast<std::size_t>(entry.kind->field("of"))].word >= 0;
}
bool is_beam_frame(const Entry& entry) { return entry.kind->type == "frame"; }
bool concerns_whole_frame(std::string_view field) {
  constexpr std::string_view fields[] = {
      "damping", "velocity",      "angular_velocity_inertial", "formulation", "method",
      "modes",   "damping_ratio", "geometric_stiffness"};
  return std::find(std::begin(fields), std::end(fields), field) != std::end(fields);
}
const std::string& member_owner(const Description& d, const Entry& member) {
  const FieldValue& value = member.fields[static_cast<std::size_t>(member.kind->field("of"))];
  return d.words[static_cast<std::size_t>(value.word)];
}

Meshed meshed(const Inputs<double>& in) {
  const std::string& type = in.kind().type;
  if (type == "brick") return meshed_brick(in);
  if (type == "mesh") return meshed_file(in);
  if (type == "matrices") return meshed_matrices(in);
  Meshed out;
  const std::vector<LinearBeam> beams = linear_beams(in);
  out.elements = linear_beam_elements(beams);
  for (const LinearBeam& beam : beams) {
    const int order = beam_mesh(beam.in.description(), beam.in.entry()).order;
    for (auto node = beam.nodes.begin(); node + 1 < beam.nodes.end(); node += order)
      out.lines.emplace_back(node, node + order + 1);
  }
  return out;
}

InterfaceNodes interface_nodes(const Inputs<double>& in, const Pose<double>& body,
                               const FiniteElements& elements) {
  InterfaceNodes out;
  const std::string& name = in.entry().name;
  out.place = body.R.transpose() * (in.vector(kInterfaceAt) - body.p);
  if (in.given(kInterfaceGroup) && in.given(kInterfaceRadius))
    throw std::invalid_argument(
        fmt::format("has the interface '{}' with a radius and a group: expected one of the two", name));
  if (in.given(kInterfaceGroup)) {
    const std::string& group =
        in.description().words[static_cast<std::size_t>(in.entry().fields[kInterfaceGroup].word)];
    const auto found = elements.groups.find(group);
    if (found == elements.groups.end()) {
      std::string known;
      for (const auto& [other, nodes] : elements.groups) known += (known.empty() ? "" : ", ") + other;
      throw std::invalid_argument(fmt::format("has no group '{}' for the interface '{}'; it has {}", group,
                                              name, known.empty() ? "none" : known));
    }
    out.nodes = found->second;
  }
  if (out.nodes.empty()) {
    const double least = in.given(kInterfaceRadius) ? in.number(kInterfaceRadius) : 1e-6 * elements.extent();
    double nearest = INFINITY;
    for (int i = 0; i < elements.nodes(); ++i) {
      const double distance = (elements.places.col(i) - out.place).norm();
      nearest = std::min(nearest, distance);
      if (distance <= least) out.nodes.push_back(i);
    }
    if (out.nodes.empty())
      throw std::invalid_argument(
          fmt::format("has no node at the interface '{}': the nearest is {:.6g} m away", name, nearest));
  }
  if (elements.freedoms == 6) return out;
  // Nodes without rotations hold an interface only if they are not on a line.
  Mat3 spread = Mat3::Zero();
  Vec3 middle = Vec3::Zero();
  for (const int i : out.nodes) middle += elements.places.col(i) / static_cast<double>(out.nodes.size());
  for (const int i : out.nodes) {
    const Vec3 arm = elements.places.col(i) - middle;
    spread += arm * arm.transpose();
  }
  const Vec3 axes = Eigen::SelfAdjointEigenSolver<Mat3>(spread, Eigen::EigenvaluesOnly).eigenvalues();
  if (!(axes[1] > 1e-9 * axes[2]) || axes[2] == 0)
    throw std::invalid_argument(
        fmt::format("has {} node{} at the interface '{}', expected at least three that are not on a line: "
                    "give a radius or a group",
                    out.nodes.size(), out.nodes.size() == 1 ? "" : "s", name));
  return out;
}

const std::vector<ListedKind>& flexible_kinds() {
  static const std::vector<ListedKind> list = [] {
    std::vector<ListedKind> out;
    for (const ListedKind& beam : beam_kinds()) {
      Kind kind = beam.kind;
      kind.is_smooth = false;  // the prediction has not been measured with modes
      kind.summary = "Linear " + std::string(1, static_cast<char>(std::tolower(kind.summary[0]))) +
                     kind.summary.substr(1) + " Groups of nodes: start and end.";
      for (Field& field : reduction_fields()) kind.fields.push_back(std::move(field));
      kind.fields.push_back({.name = "of",
                             .type = FieldType::Flexible,
                             .unit = "",
                             .summary = "Frame that the beam is a member of. Positions and directions are "
                                        "then in the axes of the frame, and modes and damping are those of "
                                        "the frame. If not given, the beam is a flexible body of its own."});
      out.push_back({std::move(kind), &make_flexible_body, nullptr});
    }
    out.push_back(beam_frame());
    out.push_back(brick());
    out.push_back(mesh());
    out.push_back(matrices());
    out.push_back(interface());
    // Every body and interface is a batch of its own.
    for (ListedKind& listed : out)
      listed.shape = [](const Description& d, const Entry& entry) {
        return static_cast<unsigned>(&entry - d.entries(Section::Flexible).data());
      };
    return out;
  }();
  return list;
}

}  // namespace liedyn
