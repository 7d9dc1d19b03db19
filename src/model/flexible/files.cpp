#include "liedyn/model/flexible/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "liedyn/base/paths.h"

namespace liedyn {
namespace {

// Words and lines of a text, with the number of the line for messages.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  [[noreturn]] void fail(const std::string& message) const {
    throw std::invalid_argument(fmt::format("line {}: {}", line_, message));
  }
  bool at_end() {
    skip_space();
    return rest_.empty();
  }
  std::string_view word() {
    skip_space();
    if (rest_.empty()) fail("the file ends too early");
    const std::size_t end = std::min(rest_.find_first_of(" \t\r\n"), rest_.size());
    const std::string_view out = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return out;
  }
  std::string_view line() {
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    std::string_view out = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++line_;
    if (out.ends_with('\r')) out.remove_suffix(1);
    return out;
  }
  double number() {
    const std::string_view text = word();
    double out = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(out))
      fail(fmt::format("expected a number, got '{}'", text.substr(0, 40)));
    return out;
  }
  long integer() {
    const std::string_view text = word();
    long out = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc() || end != text.data() + text.size())
      fail(fmt::format("expected a whole number, got '{}'", text.substr(0, 40)));
    return out;
  }
  // How many things follow: each of them takes at least one character.
  long count() {
    const long out = integer();
    if (out < 0 || static_cast<std::size_t>(out) > rest_.size() + 1)
      fail(fmt::format("expected the number of entries that follow, got {}", out));
    return out;
  }
  // A text between quotation marks.
  std::string quoted() {
    const std::size_t first = rest_.find('"'),
                      last = first == std::string_view::npos ? first : rest_.find('"', first + 1);
    if (last == std::string_view::npos || rest_.substr(0, last).find('\n') != std::string_view::npos)
      fail("expected a name between quotation marks");
    std::string out(rest_.substr(first + 1, last - first - 1));
    rest_.remove_prefix(last + 1);
    return out;
  }
  void expect(std::string_view wanted) {
    const std::string_view found = word();
    if (found != wanted) fail(fmt::format("expected {}, got '{}'", wanted, found.substr(0, 40)));
  }

 private:
  void skip_space() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t' || rest_[0] == '\r' || rest_[0] == '\n')) {
      if (rest_[0] == '\n') ++line_;
      rest_.remove_prefix(1);
    }
  }
  std::string_view rest_;
  int line_ = 1;
};

// Numbers of nodes of Gmsh's element types.
int nodes_of_type(long type) {
  switch (type) {
    case 15: return 1;
    case 1: return 2;
    case 2:
    case 8: return 3;
    case 3:
    case 4: return 4;
    case 7: return 5;
    case 6:
    case 9: return 6;
    case 5:
    case 16: return 8;
    case 10: return 9;
    case 11: return 10;
    case 13: return 18;
    case 14: return 14;
    case 12: return 27;
    case 17: return 20;
    case 18: return 15;
    case 19: return 13;
    default: return 0;
  }
}
bool is_supported_solid(long type) { return type == 4 || type == 5 || type == 11; }
bool is_solid(long type) {
  return is_supported_solid(type) || type == 6 || type == 7 || type == 12 || type == 13 || type == 14 ||
         type == 17 || type == 18 || type == 19;
}

class GmshReader {
 public:
  explicit GmshReader(std::string_view text) : in_(text) {}

  SolidMesh read() {
    in_.expect("$MeshFormat");
    const std::string_view version = in_.word();
    newer_ = version == "4.1";
    if (!newer_ && version != "2.2")
      in_.fail(
          fmt::format("expected the format 2.2 or 4.1, got {}: save the mesh with -format msh41", version));
    if (in_.integer() != 0) in_.fail("the file is binary, expected text: save the mesh without -bin");
    in_.integer();
    in_.expect("$EndMeshFormat");
    while (!in_.at_end()) {
      const std::string section(in_.word());
      if (section == "$PhysicalNames")
        read_names();
      else if (section == "$Entities" && newer_)
        read_entities();
      else if (section == "$Nodes")
        read_nodes();
      else if (section == "$Elements")
        read_elements();
      else if (section.starts_with("$")) {
        while (in_.word() != "$End" + section.substr(1)) {
        }
        continue;
      } else
        in_.fail(fmt::format("expected a section, got '{}'", section.substr(0, 40)));
      in_.expect("$End" + section.substr(1));
    }
    return finish();
  }

 private:
  using Tag = std::pair<long, long>;  // dimension and number

  void read_names() {
    for (long i = in_.count(); i > 0; --i) {
      const long dimension = in_.integer(), tag = in_.integer();
      names_[{dimension, tag}] = in_.quoted();
    }
  }

  void read_entities() {
    long counts[4];
    for (long& count : counts) count = in_.count();
    for (long dimension = 0; dimension < 4; ++dimension)
      for (long i = 0; i < counts[dimension]; ++i) {
        const long tag = in_.integer();
        for (int k = 0; k < (dimension == 0 ? 3 : 6); ++k) in_.number();
        for (long k = in_.count(); k > 0; --k) groups_of_entity_[{dimension, tag}].push_back(in_.integer());
        if (dimension > 0)
          for (long k = in_.count(); k > 0; --k) in_.integer();
      }
  }

  void add_node(long tag, const Vec3& place) {
    if (!index_.emplace(tag, static_cast<int>(places_.size())).second)
      in_.fail(fmt::format("node {} is defined twice", tag));
    places_.push_back(place);
  }
  Vec3 place() {
    Vec3 out;
    for (int k = 0; k < 3; ++k) out[k] = in_.number();
    return out;
  }
  void read_nodes() {
    if (!newer_) {
      for (long i = in_.count(); i > 0; --i) {
        const long tag = in_.integer();
        add_node(tag, place());
      }
      return;
    }
    const long blocks = in_.count();
    for (int i = 0; i < 3; ++i) in_.integer();
    for (long b = 0; b < blocks; ++b) {
      in_.integer(), in_.integer();
      const bool parametric = in_.integer() != 0;
      if (parametric) in_.fail("nodes with parametric coordinates are not supported");
      std::vector<long> tags(static_cast<std::size_t>(in_.count()));
      for (long& tag : tags) tag = in_.integer();
      for (const long tag : tags) add_node(tag, place());
    }
  }

  void read_elements() {
    if (!newer_) {
      for (long i = in_.count(); i > 0; --i) {
        const long number = in_.integer(), type = in_.integer(), tags = in_.count();
        std::vector<long> groups;
        for (long k = 0; k < tags; ++k) {
          const long tag = in_.integer();
          if (k == 0 && tag != 0) groups.push_back(tag);
        }
        read_element(number, type, dimension_of(type), groups);
      }
      return;
    }
    const long blocks = in_.count();
    for (int i = 0; i < 3; ++i) in_.integer();
    for (long b = 0; b < blocks; ++b) {
      const long dimension = in_.integer(), entity = in_.integer(), type = in_.integer();
      for (long i = in_.count(); i > 0; --i) {
        const long number = in_.integer();
        read_element(number, type, dimension, groups_of_entity_[{dimension, entity}]);
      }
    }
  }
  static long dimension_of(long type) {
    if (type == 15) return 0;
    if (type == 1 || type == 8) return 1;
    return is_solid(type) ? 3 : 2;
  }
  void read_element(long number, long type, long dimension, const std::vector<long>& groups) {
    const int count = nodes_of_type(type);
    if (count == 0 || (is_solid(type) && !is_supported_solid(type)))
      in_.fail(
          fmt::format("elements of Gmsh's type {} are not supported, expected hexahedra with 8 nodes or "
                      "tetrahedra with 4 or 10",
                      type));
    std::vector<int> nodes;
    for (int i = 0; i < count; ++i) {
      const long tag = in_.integer();
      const auto found = index_.find(tag);
      if (found == index_.end()) in_.fail(fmt::format("there is no node {}", tag));
      nodes.push_back(found->second);
    }
    for (const long group : groups) {
      std::vector<int>& members = members_[{dimension, group}];
      members.insert(members.end(), nodes.begin(), nodes.end());
    }
    if (!is_solid(type)) return;
    // Format 2.2 has an element of several physical groups once for each of them.
    std::vector<int> same = nodes;
    std::sort(same.begin(), same.end());
    const auto [first, fresh] = first_with_nodes_.try_emplace(std::move(same), number, groups);
    if (!fresh) {
      if (groups == first->second.second)
        in_.fail(fmt::format("elements {} and {} have the same nodes", first->second.first, number));
      return;
    }
    elements_.push_back(std::move(nodes));
    numbers_.push_back(number);
  }

  // Nodes that no solid has (those of construction points, say) are left out.
  SolidMesh finish() {
    if (elements_.empty()) in_.fail("there are no solid elements");
    SolidMesh out;
    std::vector<int> number(places_.size(), -1);
    int count = 0;
    for (std::vector<int>& element : elements_)
      for (int& node : element) {
        int& own = number[static_cast<std::size_t>(node)];
        if (own < 0) own = count++;
        node = own;
      }
    out.places.resize(3, count);
    for (std::size_t i = 0; i < places_.size(); ++i)
      if (number[i] >= 0) out.places.col(number[i]) = places_[i];
    out.elements = std::move(elements_);
    out.numbers = std::move(numbers_);
    for (auto& [tag, members] : members_) {
      const auto name = names_.find(tag);
      std::vector<int>& nodes =
          out.groups[name != names_.end() ? name->second : fmt::format("{}", tag.second)];
      for (const int node : members)
        if (number[static_cast<std::size_t>(node)] >= 0)
          nodes.push_back(number[static_cast<std::size_t>(node)]);
      std::sort(nodes.begin(), nodes.end());
      nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    }
    return out;
  }

  Scanner in_;
  bool newer_ = false;
  std::map<Tag, std::string> names_;
  std::map<Tag, std::vector<long>> groups_of_entity_;
  std::map<Tag, std::vector<int>> members_;
  std::unordered_map<long, int> index_;
  std::vector<Vec3> places_;
  std::vector<std::vector<int>> elements_;
  std::vector<long> numbers_;
  std::map<std::vector<int>, std::pair<long, std::vector<long>>>
      first_with_nodes_;  // number and groups of solids by their nodes
};

}  // namespace

std::string read_text(const std::string& path, const std::string& model_file) {
  std::filesystem::path file = path;
  if (file.is_relative()) file = std::filesystem::path(model_file).parent_path() / file;
  if (const std::string outside = outside_of_model(file, model_file); !outside.empty())
    throw std::invalid_argument(fmt::format("'{}': {}; {}", path, outside, kAllowOutside));
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error))
    throw std::invalid_argument(fmt::format("there is no file '{}'", file.string()));
  std::ifstream in(file, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  if (!in || out.bad()) throw std::invalid_argument(fmt::format("cannot read '{}'", file.string()));
  return out.str();
}

SolidMesh parse_gmsh(std::string_view text) { return GmshReader(text).read(); }

SparseMatrix parse_matrix_market(std::string_view text) {
  Scanner in(text);
  in.expect("%%MatrixMarket");
  in.expect("matrix");
  const std::string form(in.word()), field(in.word()), symmetry(in.word());
  const bool sparse = form == "coordinate", symmetric = symmetry == "symmetric";
  if (!sparse && form != "array") in.fail(fmt::format("expected coordinate or array, got '{}'", form));
  if (field != "real" && field != "integer")
    in.fail(fmt::format("expected real or integer, got '{}'", field));
  if (!symmetric && symmetry != "general")
    in.fail(fmt::format("expected general or symmetric, got '{}'", symmetry));
  in.line();
  // Comments.
  std::string_view sizes = in.line();
  while (sizes.starts_with('%')) sizes = in.line();
  Scanner size(sizes);
  const long rows = size.integer(), columns = size.integer();
  constexpr long kMost = 10'000'000;
  if (rows < 1 || columns < 1 || rows > kMost || columns > kMost || (symmetric && rows != columns))
    in.fail(fmt::format("expected the size of a matrix, got {} x {}", rows, columns));
  std::vector<Eigen::Triplet<double>> entries;
  bool below = false, above = false;
  const auto add = [&](long r, long c, double value) {
    (r > c ? below : above) |= r != c;
    if (symmetric && below && above)
      in.fail("expected the entries of one triangle of a symmetric matrix, got both");
    entries.emplace_back(static_cast<int>(r), static_cast<int>(c), value);
    if (symmetric && r != c) entries.emplace_back(static_cast<int>(c), static_cast<int>(r), value);
  };
  if (sparse) {
    const long count = size.integer();
    for (long i = 0; i < count; ++i) {
      const long r = in.integer(), c = in.integer();
      if (r < 1 || r > rows || c < 1 || c > columns) in.fail(fmt::format("there is no entry ({}, {})", r, c));
      add(r - 1, c - 1, in.number());
    }
  } else {
    for (long c = 0; c < columns; ++c)
      for (long r = symmetric ? c : 0; r < rows; ++r) add(r, c, in.number());
  }
  if (!in.at_end()) in.fail("expected the end of the file, got more entries than its header declares");
  SparseMatrix out(rows, columns);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

}  // namespace liedyn
