#include "targets.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include "command_line.h"
#include "liedyn/analyses/checkpoints.h"
#include "liedyn/analyses/modes.h"
#include "liedyn/analyses/run_output.h"
#include "liedyn/analyses/run_start.h"
#include "liedyn/analyses/simulation.h"
#include "liedyn/base/error.h"
#include "liedyn/base/expression.h"
#include "liedyn/io/checkpoint_file.h"
#include "liedyn/io/configuration_file.h"
#include "liedyn/io/json.h"
#include "liedyn/io/load.h"
#include "liedyn/io/mesh_file.h"
#include "liedyn/io/npz_file.h"
#include "liedyn/io/read_model.h"
#include "liedyn/io/read_results.h"
#include "liedyn/io/read_urdf.h"
#include "liedyn/io/scene_page.h"
#include "liedyn/io/study_file.h"
#include "liedyn/io/sweep_file.h"
#include "liedyn/io/sweep_store.h"
#include "liedyn/io/write_gltf.h"
#include "liedyn/io/write_results.h"
#include "liedyn/io/write_scene.h"
#include "liedyn/model/flexible/files.h"
#include "liedyn/model/flexible/numpy_files.h"

namespace liedyn::fuzz {
namespace {

namespace fs = std::filesystem;

template <class Read>
bool accepts(const Read& read) {
  try {
    read();
    return true;
  } catch (const InputError&) {
  } catch (const NumericalError&) {
  } catch (const std::bad_alloc&) {  // the programs report it as such
  }
  return false;
}

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Small files of this name below a folder of the sources.
std::vector<std::string> files_below(const char* folder, std::string_view ending) {
  constexpr std::uintmax_t kSmall = 6000;
  std::vector<std::string> out;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(fs::path(LIEDYN_SOURCE) / folder))
    if (entry.is_regular_file() && entry.path().string().ends_with(ending) && entry.file_size() < kSmall)
      out.push_back(content_of(entry.path()));
  return out;
}

// A file of its own for readers that take no bytes, in memory where the machine has a place for that.
class Scratch {
 public:
  explicit Scratch(const char* ending) {
    const fs::path shared = "/dev/shm";
    std::error_code error;
    const fs::path folder = fs::is_directory(shared, error) ? shared : fs::temp_directory_path();
    file_ = (folder / fmt::format("liedyn_fuzz_{}{}", getpid(), ending)).string();
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code error;
    fs::remove(file_, error);
  }
  const std::string& write(std::string_view bytes) const {
    std::ofstream(file_, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return file_;
  }
  const std::string& file() const { return file_; }

 private:
  std::string file_;
};

constexpr const char* kSmallModel =
    R"({ "liedyn": 1, "parameters": {"spin": 150, "k": "2*spin"}, "gravity": [0, 0, -9.81],
 "bodies": {"top": {"type": "rigid", "mass": 15, "inertia": [0.23, 0.46, 0.23], "position": [0, 1, 0], "velocity": "consistent",
   "angular_velocity": [0, "spin", -4.6]}},
 "joints": {"pivot": {"type": "spherical", "between": ["ground", "top"], "at": [0, 0, 0]}},
 "sensors": {"place": {"type": "position", "of": "top"}},
 "simulation": {"end": 1, "step": 1e-3, "integrator": "generalized-alpha,rho=0.9", "formulation": "r3so3"}})";

const System& small_system() {
  static const System system = load_text(kSmallModel);
  return system;
}

bool read_expression(std::string_view text) {
  static const VariableNames names({"t", "x", "spin", "place[2]", "a"});
  try {
    const Expression expression = Expression::parse(text, names);
    const std::array<double, 5> values = {0.5, -1, 150, 0, 1e300};
    expression.evaluate<double>(values);
    return true;
  } catch (const ExpressionError&) {
    return false;
  }
}
std::vector<std::string> expressions() {
  return {"2*spin + sin(x*t)",
          "-x^2^3/4 - .5e-3*deg",
          "where(t < 1, step(t, 0, 1), max(a, mod(x, 3)))",
          "spline(t, 0, 1, 2, 3, 4, 5)",
          "bilinear(x, t, 2, 0, 1, 2, 0, 1, 1, 2, 3, 4)",
          "poly(place[2], 1, 2, 3)",
          "((((x))))",
          "harmonic(t, 1, 2, pi)",
          "atan2(x, a) >= floor(t) != 3"};
}

bool read_json(std::string_view text) {
  return accepts([&] { JsonDocument::parse(text, "f.json"); });
}
std::vector<std::string> json_texts() {
  return {kSmallModel, R"([1, -2.5e-3, "a\u00e9\n", {"a": [], "a": null}, true, false, 1e400])"};
}

// Repetitions make as many bodies as they are told to: that takes time, not an error.
bool is_large(std::string_view text) {
  for (const char* word : {"repeat", "elements", "modes", "links", "count", "rows"})
    for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
      int digits = 0;
      for (const char c : text.substr(at, 60)) digits += (c >= '0' && c <= '9') || c == 'e' ? 1 : 0;
      if (digits > 4) return true;
    }
  return false;
}

bool read_model_json(std::string_view text) {
  return accepts([&] {
    if (is_large(text)) return;
    std::vector<Assignment> none;
    make_system(std::make_shared<const Description>(read_model_text(text, "model", none)));
  });
}
std::vector<std::string> models() {
  std::vector<std::string> out = files_below("models", "model.json");
  for (std::string& text : files_below("examples", ".json")) out.push_back(std::move(text));
  out.emplace_back(kSmallModel);
  return out;
}

bool run_model(std::string_view text) {
  return accepts([&] {
    if (is_large(text)) return;
    const System system = load_text(text);
    SimulateOptions options = default_options(system);
    options.step = std::min(options.step, 1e-3);
    Simulation simulation(system, options);
    simulation.step(3);
  });
}

bool read_study_json(std::string_view text) {
  return accepts(
      [&] { read_study_text(text, std::string(LIEDYN_SOURCE) + "/examples/identify_pendulum/study.json"); });
}
std::vector<std::string> studies() { return files_below("examples", "study.json"); }

bool read_configuration_json(std::string_view text) {
  return accepts([&] { read_configuration_text(std::string(text), "c.json", small_system()); });
}
std::vector<std::string> configurations() {
  const System& system = small_system();
  const Simulation simulation(system, default_options(system));
  return {
      configuration_json(system, simulation.state()), R"({"joints": {}})",
      R"({"bodies": {"top": {"position": [0, 1, 0], "orientation": {"axis": [0, 0, 1], "angle": 0.5}}}})"};
}

bool read_robot(std::string_view text) {
  return accepts([&] {
    std::vector<Assignment> none;
    std::vector<std::string> warnings;
    make_system(std::make_shared<const Description>(read_urdf(std::string(text), "r.urdf", none, warnings)));
  });
}
std::vector<std::string> robots() {
  std::vector<std::string> out = files_below("examples", ".urdf");
  out.emplace_back(
      R"(<robot name="r"><link name="base"/><link name="arm"><inertial><origin xyz="0 0 0.5" rpy="0 0 1"/><mass value="1"/>
 <inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
 <joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="3" velocity="2"/>
 <dynamics damping="0.1" friction="0.2"/></joint></robot>)");
  return out;
}

template <class Read>
bool accepts_or_invalid(const Read& read) {
  try {
    return accepts(read);
  } catch (const std::invalid_argument&) {
    return false;
  }
}

bool read_gmsh(std::string_view text) {
  return accepts_or_invalid([&] { parse_gmsh(text); });
}
std::vector<std::string> gmsh_texts() {
  return {
      "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"all\"\n$EndPhysicalNames\n$Nodes\n4\n1 "
      "0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"
      "$EndNodes\n$Elements\n1\n1 4 2 1 1 1 2 3 4\n$EndElements\n",
      "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 0 1\n1 0 0 0 1 1 1 0 0\n$EndEntities\n$Nodes\n1 "
      "4 1 4\n3 1 0 4\n1\n2\n3\n4\n0 0 0\n"
      "1 0 0\n0 1 0\n0 0 1\n$EndNodes\n$Elements\n1 1 1 1\n3 1 4 1\n1 1 2 3 4\n$EndElements\n"};
}

bool read_matrix_market(std::string_view text) {
  return accepts_or_invalid([&] { parse_matrix_market(text); });
}
std::vector<std::string> matrix_texts() {
  return {"%%MatrixMarket matrix coordinate real symmetric\n% c\n3 3 4\n1 1 2.0\n2 2 1e-3\n3 3 4\n3 1 -0.5\n",
          "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n"};
}

bool read_numpy(std::string_view bytes) {
  return accepts_or_invalid([&] { parse_numpy(bytes, "", "M"); });
}
std::vector<std::string> numpy_files() {
  NpzFile file;
  file.add("M", Eigen::MatrixXd(Eigen::MatrixXd::Identity(3, 3)));
  std::string npy("\x93NUMPY\x01\x00\x46\x00", 10);
  npy += "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }           \n";
  npy += std::string(32, '\0');
  return {file.bytes(), npy};
}

// The first byte decides about the format, as the name of the file does otherwise.
bool read_mesh_bytes(std::string_view bytes) {
  if (bytes.empty()) return false;
  constexpr const char* names[] = {"m.stl", "m.obj", "m.gltf", "m.glb"};
  const char* name = names[static_cast<unsigned char>(bytes[0]) % 4];
  return accepts([&] {
    const TriangleMesh mesh = mesh_of_text(bytes.substr(1), name);
    solid_of(mesh, name);
  });
}
std::vector<std::string> meshes() {
  std::string binary(80, ' ');
  binary += std::string("\x01\x00\x00\x00", 4) + std::string(50, '\1');
  return {
      "\4solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 "
      "0\nendloop\nendfacet\nendsolid s\n",
      "\4" + binary,
      "\5v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n",
      "\5v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3/1/1 -2//2 -1\n",
      "\6{\"asset\": {\"version\": \"2.0\"}, \"buffers\": [{\"byteLength\": 36, \"uri\": "
      "\"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA\"}], "
      "\"bufferViews\": [{\"buffer\": 0, "
      "\"byteLength\": 36}], \"accessors\": [{\"bufferView\": 0, \"componentType\": 5126, \"count\": 3, "
      "\"type\": \"VEC3\"}], \"meshes\": "
      "[{\"primitives\": [{\"attributes\": {\"POSITION\": 0}}]}], \"nodes\": [{\"mesh\": 0}], \"scenes\": "
      "[{\"nodes\": [0]}], \"scene\": 0}",
      std::string(
          "\7glTF\x02\x00\x00\x00\x30\x00\x00\x00\x1c\x00\x00\x00JSON{\"asset\":{\"version\":\"2.0\"}}", 49)};
}

bool read_csv_bytes(std::string_view text) {
  return accepts([&] {
    std::istringstream in{std::string(text)};
    check_trajectory(read_csv(in, "r.csv"), "r.csv");
  });
}
bool read_measured_bytes(std::string_view text) {
  static const Scratch scratch(".csv");
  return accepts([&] { read_measured(scratch.write(text)); });
}
std::vector<std::string> csv_texts() {
  return {"t,place[0],place[1],energy\n0,1,2,3\n0.5,-1e-3,nan,inf\n", "# c\ntime;\"a;b\";c\n0;1;\n1;2;nan\n"};
}

Result small_result() {
  SimulateOptions options = default_options(small_system());
  options.end = 0.005;
  return simulate(small_system(), options);
}

bool read_hdf5_bytes(std::string_view bytes) {
  static const Scratch scratch(".h5");
  return accepts([&] { read_result(scratch.write(bytes)); });
}
std::vector<std::string> hdf5_files() {
  const Scratch scratch("_seed.h5");
  write_results(small_result(), scratch.file());
  return {content_of(scratch.file())};
}

bool read_scene_bytes(std::string_view bytes) {
  static const Scratch scratch(".scene");
  return accepts([&] {
    for (const std::string& scene : read_scenes(scratch.write(bytes))) gltf_of(scene);
  });
}
std::vector<std::string> scenes() {
  constexpr const char* kBarAndArm = R"({"liedyn": 1,
 "beams": {"bar": {"type": "rectangle", "from": [0, 1, 0], "to": [1, 1, 0], "elements": 2, "width": 0.02, "height": 0.03, "young": 2e11,
   "poisson": 0.3, "density": 7800}},
 "flexible": {"arm": {"type": "brick", "size": [1, 0.05, 0.02], "divisions": [1, 1, 1], "position": [0.5, 0, 0], "young": 7e10,
   "poisson": 0.3, "density": 2700, "modes": 2}, "root": {"type": "interface", "of": "arm", "at": [0, 0, 0], "group": "x-"}}})";
  std::vector<std::string> out;
  for (const char* text : {kSmallModel, kBarAndArm}) {
    std::vector<Diagnostic> findings;
    const System system = load_text(text);
    const SimulateOptions options = default_options(system);
    out.push_back(model_scene(system, options, findings));
    Work work(system);
    const State state = initial_state(system, options, work);
    out.push_back(SceneWriter().finish(modes(system, state, ModesOptions()), system, state));
  }
  return out;
}

bool restore_checkpoint(std::string_view bytes) {
  static Simulation simulation(small_system(), default_options(small_system()));
  return accepts([&] { simulation.restore(bytes); });
}
std::vector<std::string> checkpoints() {
  Simulation simulation(small_system(), default_options(small_system()));
  std::vector<std::string> out = {simulation.save()};
  simulation.step(5);
  out.push_back(simulation.save());
  return out;
}

bool read_checkpoint_bytes(std::string_view bytes) {
  static const Scratch file(".checkpoint"), rows(".checkpoint.csv");
  rows.write("t\n0\n");
  return accepts([&] {
    SavedRun saved = read_checkpoint(file.write(bytes));
    const Checkpoints from{.resume = saved.run, .recorded = saved.recorded};
    SimulateOptions options = default_options(small_system());
    options.end = 0.005;
    if (saved.run.empty()) options.resume = std::make_shared<const std::string>(saved.simulation);
    simulate(small_system(), options, {.checkpoints = &from});
  });
}
std::vector<std::string> checkpoint_files() {
  const Scratch file("_seed"), rows("_seed.csv");
  CheckpointFile out(file.file());
  Trajectory trajectory;
  trajectory.data = {0};
  out.keep("liedyn run 3\nsomething", trajectory);
  return {content_of(file.file())};
}

bool read_assignment(std::string_view text) {
  return accepts([&] { parse_assignment(text); });
}
std::vector<std::string> assignments() {
  return {"links=1000", "spin=2*pi*25", "bodies.top.inertia[2] = 1e-3"};
}

bool make_method(std::string_view text) {
  return accepts([&] { make_integrator(small_system(), std::string(text)); });
}
std::vector<std::string> methods() {
  std::vector<std::string> out = {"generalized-alpha,sigma=opt,rho=0.9,adaptive=true,rtol=1e-6",
                                  "dopri5,adaptive=true,max_step=0.1", "generalized-alpha,beta=1e-320"};
  for (const ListedIntegrator& listed : integrators()) {
    out.push_back(listed.name);
    for (const IntegratorOption& option : listed.options)
      out.push_back(fmt::format("{},{}=1", listed.name, option.name));
  }
  return out;
}

bool read_sweep_json(std::string_view text) {
  return accepts([&] { read_sweep_text(text, std::string(LIEDYN_SOURCE) + "/examples/studies/s.json"); });
}
std::vector<std::string> sweeps() { return files_below("examples/studies", ".json"); }

// Two of the cases of a study, one of which failed.
std::vector<CaseRecord> records(const SweepColumns& columns) {
  CaseRecord good;
  good.status = CaseStatus::Completed;
  good.variables.assign(columns.variables, 0.5);
  good.outputs.assign(columns.outputs, -1e-3);
  CaseRecord bad = good;
  bad.index = 1;
  bad.status = CaseStatus::Failed;
  bad.message = "t = 0.1, step 0.001: Newton's method does not converge";
  return {good, bad};
}
std::string small_sweep() {
  return read_sweep_text(
             R"({"liedyn_study": 1, "model": "heavy_top", "parameters": {"spin": {"values": [100, 150, 200]}},
 "outputs": {"position": "position"}})",
             std::string(LIEDYN_SOURCE) + "/examples/studies/s.json")
      .layout;
}

bool read_record(std::string_view bytes) {
  try {
    decode(bytes);
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}
std::vector<std::string> record_bytes() {
  std::vector<std::string> out;
  for (const CaseRecord& record : records(columns_of(small_sweep()))) out.push_back(encode(record));
  return out;
}

bool read_store(std::string_view bytes) {
  static const Scratch scratch(".store.h5");
  return accepts([&] { read_sweep_store(scratch.write(bytes)); });
}
std::vector<std::string> stores() {
  const Scratch file("_seed.store.h5"), journal("_seed.store.h5.journal");
  const std::string layout = small_sweep();
  SweepStore store(file.file(), layout);
  for (const CaseRecord& record : records(columns_of(layout))) store.add(record);
  store.fold();
  return {content_of(file.file())};
}
bool read_journal(std::string_view bytes) {
  static const Scratch none(".journal.h5"), journal(".journal.h5.journal");
  journal.write(bytes);
  return accepts([&] { read_sweep_store(none.file()); });
}
std::vector<std::string> journals() {
  const Scratch file("_seed.journal.h5"), journal("_seed.journal.h5.journal");
  const std::string layout = small_sweep();
  SweepStore store(file.file(), layout);
  for (const CaseRecord& record : records(columns_of(layout))) store.add(record);
  return {content_of(journal.file())};
}

// Words as a shell gives them. Commands are not called: they would write files of any name.
bool read_command_line(std::string_view text) {
  std::vector<std::string> words = {"liedyn"};
  std::istringstream in{std::string(text)};
  for (std::string word; in >> word;) words.push_back(word.substr(0, word.find('\0')));
  if (words.size() == 1) return false;
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  int exit_code = 0;
  std::vector<std::string> plugins;
  const std::unique_ptr<CLI::App> program = cli::make_program(exit_code, plugins);
  // Called when all words are read, and before the command.
  struct Read {};
  program->parse_complete_callback([] { throw Read(); });
  const auto argc = static_cast<int>(argv.size());
  try {
    return accepts([&] { cli::call_command(*program, argc, argv.data()); });
  } catch (const Read&) {
    unsetenv("LIEDYN_ALLOW_OUTSIDE");  // what --allow-outside sets
    return true;
  } catch (const CLI::ParseError& error) {
    cli::explain(error, *program, argc, argv.data());
    return false;
  }
}
std::vector<std::string> command_lines() {
  return {"run heavy_top --end 0.5 --out top.csv --checkpoint top.checkpoint --every 100",
          "run chain --set links=5 --integrator generalized-alpha,rho=0.9 --step 1e-3 --json --record all",
          "modes slider_crank --at static --number 5 --html m.html",
          "converge heavy_top --formulations r3so3,se3 --jobs 2",
          "sensitivity heavy_top --of energy --with spin --check",
          "sweep study.json --out s.h5 --engine threads --jobs=4 --allow-outside",
          "list elements revolute",
          "explain -- --end",
          "help run",
          "--version",
          "static --set=a=-1 --at -1e400 -o x m.json"};
}

}  // namespace

const std::vector<Target>& targets() {
  static const std::vector<Target> list = {
      {"expression", &read_expression, &expressions},
      {"json", &read_json, &json_texts},
      {"model", &read_model_json, &models},
      {"run", &run_model, &models},
      {"study", &read_study_json, &studies},
      {"configuration", &read_configuration_json, &configurations},
      {"urdf", &read_robot, &robots},
      {"gmsh", &read_gmsh, &gmsh_texts},
      {"matrix_market", &read_matrix_market, &matrix_texts},
      {"numpy", &read_numpy, &numpy_files},
      {"mesh", &read_mesh_bytes, &meshes},
      {"csv", &read_csv_bytes, &csv_texts},
      {"measured", &read_measured_bytes, &csv_texts},
      {"hdf5", &read_hdf5_bytes, &hdf5_files},
      {"scene", &read_scene_bytes, &scenes},
      {"checkpoint", &restore_checkpoint, &checkpoints},
      {"checkpoint_file", &read_checkpoint_bytes, &checkpoint_files},
      {"assignment", &read_assignment, &assignments},
      {"integrator", &make_method, &methods},
      {"sweep", &read_sweep_json, &sweeps},
      {"record", &read_record, &record_bytes},
      {"store", &read_store, &stores},
      {"journal", &read_journal, &journals},
      {"command", &read_command_line, &command_lines},
  };
  return list;
}

}  // namespace liedyn::fuzz
