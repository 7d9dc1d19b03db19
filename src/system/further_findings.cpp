#include "liedyn/system/further_findings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "liedyn/model/flexible/kinds.h"
#include "liedyn/model/forces/signal_force.h"
#include "liedyn/system/initial.h"

namespace liedyn {
namespace {

// The part of a path up to the next key, which is taken off: "joints" of "joints.pivot.at[2]".
std::string_view take_key(std::string_view& path) {
  const std::size_t end = std::min(path.find_first_of(".[:"), path.size());
  const std::string_view out = path.substr(0, end);
  path.remove_prefix(std::min(end + 1, path.size()));
  return out;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// How many names a field refers to other entries by.
int references(FieldType type) {
  switch (type) {
    case FieldType::Body:
    case FieldType::Joint:
    case FieldType::State:
    case FieldType::Beam:
    case FieldType::Force:
    case FieldType::Flexible: return 1;
    case FieldType::Bodies:
    case FieldType::Joints: return 2;
    default: return 0;
  }
}

// What is left of a description without the entries that something was found about, and without those that depend on them.
class SoundPart {
 public:
  explicit SoundPart(Description description) : d_(std::move(description)) {
    note_names();
    for (std::size_t i = 0; i < d_.parameter_names.size(); ++i)
      if (!std::isfinite(d_.parameters[i])) bad_names_.insert(d_.parameter_names[i]);
    for (std::size_t i = 0; i < 3; ++i)
      if (double& g = d_.parameters[at(d_.gravity()) + i]; !std::isfinite(g)) g = 0, is_complete_ = false;
  }

  // Leaves out what the findings are about. False: they are about nothing that could be left out.
  bool leave_out(const std::vector<Diagnostic>& findings) {
    bool any = false;
    for (const Diagnostic& finding : findings) any = leave_out(finding.path) || any;
    for (const Section section : kSections)
      for (std::size_t i = 0; i < d_.entries(section).size(); ++i)
        if (!dropped(section)[i] && !has_values(section, d_.entries(section)[i])) any = drop(section, i);
    while (follow()) any = true;
    if (any) rebuild();
    return any;
  }

  // All bodies and joints are there, as they were typed: what is found about initial values is no consequence of what was left out.
  bool is_complete() const { return is_complete_; }
  const Description& description() const { return d_; }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  using Names = std::unordered_map<std::string_view, std::size_t>;
  std::vector<bool>& dropped(Section section) { return dropped_[static_cast<std::size_t>(section)]; }
  Names& names(Section section) { return names_[static_cast<std::size_t>(section)]; }
  void note_names() {
    for (const Section section : kSections) {
      const std::vector<Entry>& entries = d_.entries(section);
      dropped(section).assign(entries.size(), false);
      names(section).clear();
      for (std::size_t i = 0; i < entries.size(); ++i) names(section).emplace(entries[i].name, i);
    }
  }

  // "joints", "pivot" and "at" of "joints.pivot.at[2]". Names of parts of sub-models have dots, and events are among the sensors.
  struct Place {
    std::string_view section, entry, field;
  };
  Place place_of(std::string_view path) {
    constexpr std::string_view kEnds = ".[:";
    Place out;
    out.section = take_key(path);
    if (out.section == "events") out.section = section_name(Section::Sensors);
    for (const Section section : kSections)
      for (std::size_t end = 0; out.section == section_name(section) && end < path.size(); ++end) {
        end = std::min(path.find_first_of(kEnds, end), path.size());
        if (names(section).contains(path.substr(0, end))) out.entry = path.substr(0, end);
      }
    if (out.section == "parameters") out.entry = path.substr(0, path.find_first_of("[:"));
    if (out.entry.empty())
      out.entry = take_key(path);
    else
      path.remove_prefix(std::min(out.entry.size() + 1, path.size()));
    out.field = take_key(path);
    return out;
  }

  bool leave_out(const std::string& path) {
    const Place place = place_of(path);
    if (place.section == "simulation") {
      if (place.entry == "start" || place.entry == "initial") is_complete_ = false;
      return false;
    }
    if (place.section == "gravity" || place.section == "arguments" || place.section == "tables")
      is_complete_ = false;
    if (place.section == "parameters") {
      bad_names_.emplace(place.entry);
      any_name_may_be_bad_ = any_name_may_be_bad_ || place.entry.empty();
      return true;
    }
    for (const Section section : kSections) {
      if (place.section != section_name(section)) continue;
      if (section == Section::Sensors || section == Section::States) {
        bad_names_.emplace(place.entry);
        any_name_may_be_bad_ = any_name_may_be_bad_ || place.entry.empty();
      }
      const auto found = names(section).find(place.entry);
      if (found == names(section).end()) {  // it could not even begin
        if (section != Section::Sensors && section != Section::Forces) is_complete_ = false;
        return false;
      }
      Entry& entry = d_.entries(section)[found->second];
      const int field = place.field.empty() ? -1 : entry.kind->field(place.field);
      // A key that means nothing leaves the rest as it is.
      if (field < 0 && !place.field.empty() && place.field != "type") return false;
      if (section == Section::Bodies && field >= 0 && replace_inertia(entry, field)) return true;
      return !dropped(section)[found->second] && drop(section, found->second);
    }
    return false;
  }

  // Joints and sensors do not ask what a body weighs: one whose mass or inertia is wrong has others from here on.
  bool replace_inertia(Entry& body, int field) {
    const Field& kind_field = body.kind->fields[at(field)];
    if (!kind_field.weighs) return false;
    FieldValue& value = body.fields[at(field)];
    value.first = static_cast<std::int32_t>(d_.parameters.size());
    value.count = kind_field.type == FieldType::Inertia ? 6 : 1;
    value.word = -1;
    value.given = true;
    for (int i = 0; i < value.count; ++i) d_.parameters.push_back(i < 3 ? 1 : 0);
    return true;
  }

  bool drop(Section section, std::size_t i) {
    if (section == Section::Sensors || section == Section::States)
      bad_names_.insert(d_.entries(section)[i].name);
    if (section != Section::Sensors && section != Section::Forces) is_complete_ = false;
    // Interfaces and members shape the body that they belong to.
    if (section == Section::Flexible) dropped(section).assign(dropped(section).size(), true);
    dropped(section)[i] = true;
    return true;
  }

  bool has_values(Section section, Entry& entry) {
    for (std::size_t f = 0; f < entry.fields.size(); ++f) {
      const FieldValue& value = entry.fields[f];
      bool finite = true;
      for (int i = 0; i < value.count && value.first >= 0; ++i)
        finite = finite && std::isfinite(d_.parameters[at(value.first + i)]);
      if (!finite && !(section == Section::Bodies && replace_inertia(entry, static_cast<int>(f))))
        return false;
    }
    return true;
  }

  // Whether an expression names something that is not there.
  bool names_bad(std::string_view text) const {
    for (std::size_t i = 0; i < text.size();) {
      if (!is_letter(text[i])) {
        ++i;
        continue;
      }
      std::size_t end = i;
      // With the part behind a dot, motor.current.
      while (end < text.size() && (is_letter(text[end]) || is_digit(text[end]) || text[end] == '.')) ++end;
      if (bad_names_.contains(std::string(text.substr(i, end - i)))) return true;
      i = end;
    }
    return false;
  }

  bool is_there(Section referring, FieldType type, std::string_view name) {
    const auto among = [&](Section section, std::string_view wanted) {
      const auto found = names(section).find(wanted);
      return found != names(section).end() && !dropped(section)[found->second];
    };
    switch (type) {
      case FieldType::Joint:
      case FieldType::Joints: return among(Section::Joints, name);
      case FieldType::State: return among(Section::States, name);
      case FieldType::Force: return among(Section::Forces, name) || among(Section::Joints, name);
      case FieldType::Flexible: return among(Section::Flexible, name);
      case FieldType::Beam: {
        const std::string_view beam = name.substr(0, name.find('['));
        if (among(Section::Beams, beam)) return true;
        // Only sensors look at linear beams; another flexible body of this name is none.
        return referring == Section::Sensors && among(Section::Flexible, beam) &&
               is_linear_beam(d_.entries(Section::Flexible)[names(Section::Flexible)[beam]]);
      }
      default: return name == "ground" || among(Section::Bodies, name);
    }
  }

  // Drops what depends on something that was dropped. True: there was something.
  bool follow() {
    bool any = false;
    for (const Section section : kSections) {
      const std::vector<Entry>& entries = d_.entries(section);
      for (std::size_t i = 0; i < entries.size(); ++i) {
        if (dropped(section)[i]) continue;
        const Entry& entry = entries[i];
        bool depends = entry.is_part() && dropped(entry.owner_section)[at(entry.owner)];
        for (std::size_t f = 0; f < entry.fields.size() && !depends; ++f) {
          const Field& field = entry.kind->fields[f];
          const std::int32_t word = entry.fields[f].word;
          if (word < 0) continue;
          for (int k = 0; k < references(field.type); ++k)
            depends = depends || !is_there(section, field.type, d_.words[at(word + k)]);
          if (field.holds_expression) depends = any_name_may_be_bad_ || names_bad(d_.words[at(word)]);
        }
        for (const NumberExpression* signal : signals_of(d_, entry))
          depends = depends || any_name_may_be_bad_ || names_bad(signal->text);
        if (depends) any = drop(section, i);
      }
    }
    return any;
  }

  void rebuild() {
    std::array<std::vector<std::int32_t>, kSectionCount> moved;  // new indices; -1: dropped
    for (const Section section : kSections) {
      std::vector<Entry>& entries = d_.entries(section);
      std::vector<Entry> kept;
      auto& to = moved[static_cast<std::size_t>(section)];
      for (std::size_t i = 0; i < entries.size(); ++i) {
        to.push_back(dropped(section)[i] ? -1 : static_cast<std::int32_t>(kept.size()));
        if (!dropped(section)[i]) kept.push_back(std::move(entries[i]));
      }
      entries = std::move(kept);
    }
    note_names();
    const auto move = [&](std::int32_t& index, Section section) {
      if (index >= 0) index = moved[static_cast<std::size_t>(section)][at(index)];
    };
    for (const Section section : kSections)
      for (Entry& entry : d_.entries(section)) {
        move(entry.owner, entry.owner_section);
        move(entry.host, Section::Bodies);
      }
    // Expressions without a value were refused, or they name parameters that were.
    std::erase_if(d_.expressions, [&](const NumberExpression& e) {
      return !std::isfinite(d_.parameters[at(e.number)]) || names_bad(e.text);
    });
  }

  Description d_;
  std::array<Names, kSectionCount> names_;
  std::array<std::vector<bool>, kSectionCount> dropped_;
  std::unordered_set<std::string> bad_names_;  // that expressions may not use
  bool any_name_may_be_bad_ = false;
  bool is_complete_ = true;
};

constexpr int kMostRows = 2000;  // to find initial values of larger models takes long

// The findings of one phase about a sound description.
std::vector<Diagnostic> next_findings(const SoundPart& part) {
  try {
    const auto description = std::make_shared<const Description>(part.description());
    const std::shared_ptr<const Model> model = Model::compile(description);
    std::vector<Diagnostic> findings = check_parameters(*model, description->parameters.data());
    if (!findings.empty() || !part.is_complete() || model->rows > kMostRows) return findings;
    const System system(model, Params(description));
    const SimulationSettings& settings = description->simulation;
    Work work(system);
    consistent_state(system, settings.start,
                     settings.initial == "project" ? InitialPolicy::Project : InitialPolicy::Check, work);
  } catch (const InputError& error) {
    return error.diagnostics();
  }
  return {};
}

}  // namespace

std::vector<Diagnostic> with_further_findings(Description description, std::vector<Diagnostic> known) {
  constexpr std::size_t kMost = 100;
  // Too many to show, and so to know what they are about.
  if (known.size() >= kMost) return known;
  SoundPart part(std::move(description));
  part.leave_out(known);
  for (;;) {
    std::vector<Diagnostic> found = next_findings(part);
    // Rows that are violated stay so.
    std::erase_if(found, [&](const Diagnostic& f) {
      return std::any_of(known.begin(), known.end(),
                         [&](const Diagnostic& k) { return k.path == f.path && k.message == f.message; });
    });
    known.insert(known.end(), found.begin(), found.end());
    if (found.empty() || known.size() >= kMost || !part.leave_out(found)) break;
  }
  std::stable_sort(known.begin(), known.end(),
                   [](const Diagnostic& a, const Diagnostic& b) { return a.line < b.line; });
  return known;
}

std::vector<Diagnostic> with_later_findings(const Description& description, const Params& params,
                                            std::vector<Diagnostic> known) {
  // Expressions that gave the numbers are left out, those of t alone are still needed.
  Description set = description;
  set.parameters = params.values();
  std::erase_if(set.expressions, [&](const NumberExpression& e) {
    return std::none_of(params.timed().begin(), params.timed().end(),
                        [&](const Params::Bound& b) { return b.number == e.number; });
  });
  return with_further_findings(std::move(set), std::move(known));
}

std::shared_ptr<const Model> compile_model(const std::shared_ptr<const Description>& description,
                                           const Params& params, const std::string& formulation) {
  try {
    return Model::compile(description, formulation);
  } catch (const InputError& error) {
    throw InputError(with_later_findings(*description, params, error.diagnostics()));
  }
}

}  // namespace liedyn
