// What a user wrote, checked against the kinds but not yet turned into equations: the common product of the JSON
// reader, of the generators of shipped models and of Python. `compile` (model/model.h) makes a Model of it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "liedyn/base/error.h"
#include "liedyn/base/expression.h"
#include "liedyn/model/field.h"

namespace liedyn {

enum class Section : std::uint8_t { Bodies, Beams, Flexible, Joints, Forces, States, Sensors };
inline constexpr Section kSections[] = {Section::Bodies, Section::Beams,  Section::Flexible, Section::Joints,
                                        Section::Forces, Section::States, Section::Sensors};
inline constexpr std::size_t kSectionCount = std::size(kSections);
std::string_view section_name(Section section);   // "bodies"
const std::vector<Kind>& kinds(Section section);  // every kind of the section, from the families' lists
const Kind* find_kind(Section section, std::string_view type);

// One field of one entry. Numbers live in Description::parameters, words in Description::words.
struct FieldValue {
  std::int32_t first = -1;  // index of the first number; -1: none stored
  std::int32_t word = -1;   // index of the (first) word, or the whole number itself (Integer); -1: none
  std::uint8_t count = 0;   // how many numbers, or how many words of Choices
  RotationForm form : 6 = RotationForm::RotationVector;
  bool in_bodies : 1 =
      false;  // given in the axes of bodies (Field::body_axes); the words are their names as typed
  bool swapped : 1 = false;  // and the second body of the entry comes first
  bool given = false;        // typed by the user (otherwise the default)
  bool consistent =
      false;  // marked "consistent": assembly finds the value; its numbers, if there are any, are a guess

  bool has_integer() const { return word >= 0; }
  int integer() const { return word; }
  void set_integer(double value) { word = static_cast<std::int32_t>(value); }
};

struct Entry {
  std::string name;
  const Kind* kind = nullptr;
  std::int32_t line = 0;             // where it stands in the file; 0 if unknown
  std::int32_t first_parameter = 0;  // its parameters follow from here
  std::vector<FieldValue> fields;    // parallel to kind->fields
  // Of a body that a beam or a flexible body consists of: the index of that entry and its section, and which of the nodes of a beam it is.
  std::int32_t owner = -1;
  Section owner_section = Section::Bodies;
  std::int32_t node = 0;
  bool rides =
      false;  // of a body: on `host`, without degrees of freedom of its own; of a joint: it stands for that
  std::int32_t host = -1;  // the body that carries it, -1: ground; of a joint: the body that rides

  bool is_part() const { return owner >= 0; }
  bool is_part_of(Section section) const { return owner >= 0 && owner_section == section; }
};

// A number given as an expression of `parameters` (and of t where the field allows it).
struct NumberExpression {
  std::int32_t number;
  std::int32_t line;
  std::string text;
};

struct SimulationSettings {
  double start = 0;
  double end = 1;
  double step = 1e-3;
  // Chosen by stability first, then by accuracy, then by cost (docs/howto/choose_an_integrator.md).
  std::string integrator = "generalized-alpha,rho=0.6,sigma=opt";
  std::string formulation = "r3so3";
  std::string initial = "check";  // check: inconsistent values are an error; project: they are projected
  long output_every = 1;          // record every n-th step; 0: only the start and the end
};

// What a body looks like, for viewers only.
struct Visual {
  std::string body;                                  // or "ground"
  std::string shape;                                 // "box", "sphere", "cylinder" (along z) or "mesh"
  std::string mesh;                                  // file of a mesh, as it was given
  std::array<double, 3> size = {1, 1, 1};            // edges; radius; radius and length; scale of a mesh
  std::array<double, 3> position = {0, 0, 0};        // relative to the body's reference point, body axes
  std::array<double, 4> orientation = {1, 0, 0, 0};  // quaternion, shape to body axes
  std::array<double, 4> color = {0.7, 0.7, 0.7, 1};
};

struct Description {
  std::string name;                          // of the model: its file's stem or the shipped model's name
  std::string file;                          // for messages; empty if built in code
  std::vector<std::string> parameter_names;  // their values come first
  std::array<std::vector<Entry>, kSectionCount> sections;
  std::vector<double>
      parameters;  // parameters, gravity (3), then the fields of the entries: the values of Params
  std::vector<std::string> words;
  std::vector<NumberExpression> expressions;
  // Numbers that follow states and sensors (Field::may_depend_on_signals). Their values here are 0.
  std::vector<NumberExpression> signals;
  SimulationSettings simulation;
  std::vector<Visual> visuals;
  // What results say about where they come from: the text that was read, and the values that were set from outside while it was.
  std::shared_ptr<const std::string> text;
  std::vector<std::pair<std::string, double>> assigned;

  std::vector<Entry>& entries(Section s) { return sections[static_cast<std::size_t>(s)]; }
  const std::vector<Entry>& entries(Section s) const { return sections[static_cast<std::size_t>(s)]; }
  int gravity() const { return static_cast<int>(parameter_names.size()); }  // index of its first number
};

// Names of bodies, joints, forces, states and sensors: a letter or underscore, then letters, digits, underscores and hyphens.
bool is_name(std::string_view text);

// Writes a Description, field by field. The reader and the generators use the same one, so that the same checks
// (unknown names, ranges, required fields, duplicate names, dangling references) are made in one place. Findings are
// collected, never thrown, until finish(). What they say about an entry that could not begin is left out.
class DescriptionBuilder {
 public:
  // Named parameters and gravity come before the fields, as in Description::parameters. A value may be an expression of earlier parameters.
  struct Parameter {
    std::string name;
    double value = 0;
    std::string expression = {};
    int line = 0;
  };
  DescriptionBuilder(std::string model_name, std::string file, const std::vector<Parameter>& parameters,
                     std::array<double, 3> gravity);
  DescriptionBuilder(const DescriptionBuilder&) = delete;
  DescriptionBuilder& operator=(const DescriptionBuilder&) = delete;
  ~DescriptionBuilder();

  // Component i of gravity is this expression of parameters. Before the first entry.
  void gravity_expression(int i, std::string text, int line = 0);

  void reserve(Section section, std::size_t entries);

  // Starts an entry; the following calls fill it. False (with a finding) if the type is unknown or the name taken.
  bool begin(Section section, std::string name, std::string_view type, int line = 0);
  // The field of the current entry with this name; null (with a finding) if its kind has none, or if it was set before.
  const Field* field(std::string_view name, int line = 0);
  void values(std::string_view field, std::span<const double> values, int line = 0,
              RotationForm form = RotationForm::RotationVector);
  // The i-th number of the field last set by values() is this expression. What it gives at the start is its value.
  void expression(std::string_view field, int i, std::string text, int line = 0);
  void word(std::string_view field, std::string text, int line = 0);
  void words(std::string_view field, std::string first, std::string second, int line = 0);
  void choices(std::string_view field, const std::vector<std::string>& chosen, int line = 0);
  // Points or directions in the axes of the bodies with these names, one after the other (Field::body_axes).
  void numbers_in_bodies(std::string_view field, const std::vector<std::string>& bodies,
                         std::span<const double> values, int line = 0);
  void consistent(std::string_view field, int line = 0);
  // The same with a guess to start from: the numbers of the field last set by values().
  void mark_consistent(std::string_view field, int line = 0);
  void end();  // defaults for what was not given, a finding for what was required

  void finding(std::string path, std::string message, std::string hint = {}, int line = 0);
  // A finding about a field of the current entry (or a part of it, "[2]"), which counts as given from then on.
  void reject(std::string_view field, std::string_view part, std::string message, std::string hint = {},
              int line = 0);
  const std::vector<Diagnostic>& findings() const { return findings_; }

  // The value of an expression of parameters that is no number of the model (the end of the simulation, say); NaN with
  // a finding if there is none.
  double evaluate(std::string_view text, const std::string& path, int line = 0);

  // Set these before the entries: expressions of t are evaluated at the start.
  SimulationSettings& simulation() { return description_.simulation; }
  Description& description() { return description_; }

  // Checks references between entries; throws InputError with all findings, by line, if there are any.
  Description finish();

 private:
  class Names;  // of the entries of one section

  struct Given {
    std::int32_t field;
    std::int32_t line;
  };

  double evaluate(std::string_view text, bool with_time, std::size_t parameters, const std::string& path,
                  int line);
  bool names_others(std::string_view text) const;
  std::string entry_path(Section section, std::string_view name) const;
  std::string field_path(std::string_view field) const;
  FieldValue* open_field(std::string_view name, int line, const Field** field);
  void field_finding(std::string_view field, std::string message, std::string hint, int line);
  void check_given(const Given& given);
  void check_bodies(const Given& given);
  void check_found_bodies();
  void resolve_references(Section section);
  void add_beam_nodes(std::size_t beam);
  void add_flexible_frame(std::size_t entry);
  void check_member(const Entry& member);
  void add_modes();
  void add_riders();
  void refuse_flexible(std::size_t entry, const Field& field, const std::string& word);
  void resolve(std::size_t entry, const Field& field, std::string& word);
  bool resolve_beam(std::size_t entry, const Field& field, std::string& word);

  Description description_;
  std::vector<Diagnostic> findings_;
  std::size_t suppressed_findings_ = 0;
  std::array<std::unique_ptr<Names>, kSectionCount> names_;
  std::vector<std::string>
      failed_names_;            // entries that could not begin: references to them are not dangling
  VariableNames variables_;     // parameters and t: what expressions may name
  std::vector<double> values_;  // of these so far; unknown ones are no numbers
  Section section_ = Section::Bodies;
  Entry* entry_ = nullptr;    // the one being filled; null between entries and in one that could not begin
  std::vector<Given> given_;  // its fields set so far
};

}  // namespace liedyn
