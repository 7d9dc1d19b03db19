#include "liedyn/io/write_vtk.h"

#include <fmt/format.h>

#include <bit>
#include <cerrno>
#include <cmath>
#include <complex>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "liedyn/base/error.h"

namespace liedyn {
namespace {

// Numbers follow the text in one piece, each array behind its size in bytes.
class Appended {
 public:
  template <class T>
  std::string add(const char* type, const char* name, int components, const std::vector<T>& values) {
    std::string out = fmt::format(
        "<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"appended\" "
        "offset=\"{}\"/>\n",
        type, name, components, bytes_.size());
    const std::uint64_t size = values.size() * sizeof(T);
    bytes_.append(reinterpret_cast<const char*>(&size), sizeof size);
    bytes_.append(reinterpret_cast<const char*>(values.data()), size);
    return out;
  }
  template <class Matrix>
  std::string add_columns(const char* name, const Matrix& columns) {
    return add("Float64", name, static_cast<int>(columns.rows()),
               std::vector<double>(columns.data(), columns.data() + columns.size()));
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Types of cells, by the number of nodes.
std::uint8_t cell_type(std::size_t nodes) {
  switch (nodes) {
    case 1: return 1;
    case 2: return 3;
    case 3: return 21;
    case 4: return 10;
    case 8: return 12;
    default: return 24;
  }
}

using Vectors = std::vector<std::pair<const char*, const Eigen::Matrix3Xd*>>;

// With these vectors at the points besides.
std::string grid(const Shapes& shapes, const Shapes::Values& values, const Vectors& vectors) {
  Appended data;
  std::vector<std::int64_t> connectivity, offsets;
  std::vector<std::uint8_t> types;
  std::vector<std::int32_t> bodies;
  std::vector<double> mises;
  for (std::size_t i = 0; i < shapes.cells().size(); ++i) {
    const Shapes::Cell& cell = shapes.cells()[i];
    std::vector<int> points = cell.points;
    // The last two edges of a tetrahedron with ten nodes are the other way round than in Gmsh.
    if (points.size() == 10) std::swap(points[8], points[9]);
    connectivity.insert(connectivity.end(), points.begin(), points.end());
    offsets.push_back(static_cast<std::int64_t>(connectivity.size()));
    types.push_back(cell_type(points.size()));
    bodies.push_back(cell.body);
    mises.push_back(equivalent_stress(values.stresses.col(static_cast<Eigen::Index>(i))));
  }
  std::string text = fmt::format(
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"{}\" "
      "header_type=\"UInt64\">\n<UnstructuredGrid>\n<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n",
      std::endian::native == std::endian::little ? "LittleEndian" : "BigEndian", shapes.points(),
      shapes.cells().size());
  text += "<Points>\n" + data.add_columns("Points", values.places) + "</Points>\n<Cells>\n";
  text += data.add("Int64", "connectivity", 1, connectivity) + data.add("Int64", "offsets", 1, offsets) +
          data.add("UInt8", "types", 1, types) + "</Cells>\n<PointData>\n";
  for (const auto& [name, of_points] : vectors) text += data.add_columns(name, *of_points);
  text += "</PointData>\n<CellData>\n";
  text += data.add("Int32", "body", 1, bodies) + data.add_columns("stress", values.stresses) +
          data.add("Float64", "von_mises_stress", 1, mises);
  text += "</CellData>\n</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_";
  return text + data.bytes() + "\n</AppendedData>\n</VTKFile>\n";
}

void write(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file)
    throw InputError(path.string(), fmt::format("cannot be written: {}", std::strerror(errno)),
                     "is there space, and write permission?");
}

}  // namespace

VtkWriter::VtkWriter(const std::string& folder, std::string name) : folder_(folder), name_(std::move(name)) {
  // A part of names of files, which stand in XML.
  for (char& c : name_)
    if (std::string_view("/\\&<>\"'").find(c) != std::string_view::npos ||
        static_cast<unsigned char>(c) < ' ')
      c = '_';
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw InputError(
        folder, fmt::format("expected a folder, or a path where one can be created: {}", error.message()));
}
VtkWriter::~VtkWriter() = default;

Shapes& VtkWriter::shapes_of(const System& system) {
  if (system_ != &system) {
    shapes_ = std::make_unique<Shapes>(system);
    system_ = &system;
  }
  return *shapes_;
}

void VtkWriter::add(const System& system, const State& state) {
  Shapes& shapes = shapes_of(system);
  const Shapes::Values values = shapes.at(state);
  const std::string file = fmt::format("{}_{:04}.vtu", name_, files_.size());
  write(std::filesystem::path(folder_) / file,
        grid(shapes, values,
             {{"velocity", &values.velocities}, {"elastic_displacement", &values.displacements}}));
  files_.emplace_back(state.t, file);
}

void VtkWriter::add_modes(const System& system, const State& state, const Modes& modes) {
  constexpr double kShare = 0.1;
  Shapes& shapes = shapes_of(system);
  const Shapes::Values values = shapes.at(state);
  const Vec3 box = shapes.points() > 0
                       ? Vec3(values.places.rowwise().maxCoeff() - values.places.rowwise().minCoeff())
                       : Vec3(Vec3::Zero());
  const double size = box.norm() > 0 ? box.norm() : 1;
  for (std::size_t i = 0; i < modes.modes.size(); ++i) {
    const std::vector<std::complex<double>>& shape = modes.modes[i].shape;
    const Eigen::Map<const Eigen::VectorXcd> y(shape.data(), static_cast<Eigen::Index>(shape.size()));
    Eigen::Matrix3Xd real = shapes.displaced(state, y.real()), imaginary = shapes.displaced(state, y.imag());
    const double most =
        shapes.points() > 0
            ? std::sqrt((real.colwise().squaredNorm() + imaginary.colwise().squaredNorm()).maxCoeff())
            : 0;
    if (most > 0) real *= kShare * size / most, imaginary *= kShare * size / most;
    const std::string file = fmt::format("{}_mode{:04}.vtu", name_, i + 1);
    write(std::filesystem::path(folder_) / file,
          grid(shapes, values, {{"shape", &real}, {"shape_imaginary", &imaginary}}));
    files_.emplace_back(static_cast<double>(i + 1), file);
  }
}

std::string VtkWriter::finish() {
  std::string text = "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n";
  for (const auto& [t, file] : files_)
    text += fmt::format("<DataSet timestep=\"{}\" file=\"{}\"/>\n", t, file);
  text += "</Collection>\n</VTKFile>\n";
  const std::filesystem::path path = std::filesystem::path(folder_) / (name_ + ".pvd");
  write(path, text);
  return path.string();
}

}  // namespace liedyn
