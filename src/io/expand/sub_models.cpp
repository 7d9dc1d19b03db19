#include "liedyn/io/expand/sub_models.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "liedyn/base/paths.h"
#include "liedyn/base/suggest.h"
#include "liedyn/io/expand/move.h"
#include "liedyn/io/expand/prefix.h"
#include "liedyn/io/expand/repeat.h"
#include "liedyn/io/model_format.h"

namespace liedyn {
namespace {

constexpr int kDeepestPart = 20;
constexpr std::size_t kMostPartValues = 100'000'000;

class Expander {
 public:
  Expander(Origins& origins, Findings& findings) : origins_(origins), findings_(findings) {}

  void expand(Item& root, const std::string& file, std::vector<Assignment>& assignments,
              const std::string& prefix, const std::vector<std::filesystem::path>& around) {
    expand_repeat(root, assignments, findings_);
    check_names(root);
    const Item* models = root.find("models");
    if (models == nullptr) return;
    const Item list = *models;
    root.erase("models");
    if (!list.is(JsonType::Object)) return findings_.expected(prefix + "models", "sub-models by name", list);
    std::vector<Assignment> none;
    Scope scope(root, none, findings_);
    for (const Item& entry : list.items) include(root, entry, file, scope, prefix, around);
    order_sensors(root);
  }

 private:
  // Dots belong to the program: left.knee.
  void check_names(const Item& root) {
    for (const Item& part : root.items) {
      const bool section = part.key == "parameters" || part.key == "tables" ||
                           std::any_of(std::begin(kSections), std::end(kSections),
                                       [&](Section s) { return part.key == section_name(s); });
      if (!section || !part.is(JsonType::Object)) continue;
      for (const Item& entry : part.items)
        if (entry.key.find('.') != std::string::npos)
          findings_.add(fmt::format("{}.{}", part.key, excerpt(entry.key)), "expected a name without dots",
                        "names with dots are those of sub-models and of parts of beams", entry.origin);
    }
  }

  // Expressions use sensors that stand before them, and those of sub-models come last: sensors that use these move behind them.
  static void order_sensors(Item& root) {
    Item* sensors = root.find(section_name(Section::Sensors));
    if (sensors == nullptr || !sensors->is(JsonType::Object)) return;
    std::set<std::string, std::less<>> waiting;
    for (const Item& sensor : sensors->items) waiting.insert(sensor.key);
    std::vector<Item> left = std::move(sensors->items), ordered;
    const auto waits = [&](const Item& sensor) {
      bool out = false;
      const Kind* kind = kind_of(Section::Sensors, sensor);
      for (const Item& value : sensor.items) {
        const int field = kind != nullptr ? kind->field(value.key) : -1;
        if (field >= 0 && kind->fields[static_cast<std::size_t>(field)].holds_expression &&
            value.is(JsonType::String))
          renamed(value.text, [&](std::string_view name, bool) {
            out = out || (name != sensor.key && waiting.contains(name));
            return std::string(name);
          });
      }
      return out;
    };
    while (!left.empty()) {
      std::vector<Item> later;
      const std::size_t before = ordered.size();
      for (Item& sensor : left)
        if (waits(sensor)) {
          later.push_back(std::move(sensor));
        } else {
          waiting.erase(sensor.key);
          ordered.push_back(std::move(sensor));
        }
      // Sensors that wait for each other: the reader reports them.
      if (ordered.size() == before)
        std::move(later.begin(), later.end(), std::back_inserter(ordered)), later.clear();
      left = std::move(later);
    }
    sensors->items = std::move(ordered);
  }

  void include(Item& root, const Item& entry, const std::string& file, Scope& scope,
               const std::string& prefix, const std::vector<std::filesystem::path>& around) {
    const std::string path = fmt::format("{}models.{}", prefix, excerpt(entry.key));
    if (!is_name(entry.key) || entry.key.find('-') != std::string::npos || entry.key == "ground")
      return findings_.add(
          path, "expected a name of letters, digits and underscores that does not begin with a digit", {},
          entry.origin);
    for (const Item& part : root.items)
      if (part.key != "name" && part.find(entry.key) != nullptr)
        return findings_.add(path, fmt::format("'{}' is also one of the {}", entry.key, part.key),
                             "choose another name", entry.origin);
    if (!entry.is(JsonType::Object))
      return findings_.expected(path, "an object with \"file\" or \"model\"", entry);
    constexpr std::string_view kKeys[] = {"file", "model", "at", "rotation", "set"};
    for (const Item& value : entry.items)
      if (std::find(std::begin(kKeys), std::end(kKeys), value.key) == std::end(kKeys))
        return findings_.add(fmt::format("{}.{}", path, excerpt(value.key)), "unknown key",
                             did_you_mean(value.key, kKeys), value.origin);
    const Item* name = entry.find("file");
    const Item* inside = entry.find("model");
    if ((name == nullptr) == (inside == nullptr))
      return findings_.add(path,
                           name == nullptr ? "missing: \"file\", the model file"
                                           : "\"file\" and \"model\" cannot both be given",
                           {}, entry.origin);
    if (around.size() > kDeepestPart)
      return findings_.add(path, fmt::format("sub-models are nested more than {} levels deep", kDeepestPart),
                           {}, entry.origin);

    Item sub;
    std::string sub_file = file;
    std::filesystem::path directory;
    std::vector<std::filesystem::path> files = around;
    if (inside != nullptr) {
      if (!inside->is(JsonType::Object)) return findings_.expected(path + ".model", "a model", *inside);
      sub = *inside;
      files.emplace_back();
    } else {
      if (!name->is(JsonType::String))
        return findings_.expected(path + ".file", "the name of a model file", *name);
      if (!read(*name, path, file, around, sub, sub_file, files)) return;
      const std::filesystem::path given = name->text;
      const bool beside =
          given.is_relative() && std::filesystem::path(file).parent_path() / given == sub_file;
      directory = beside ? given.parent_path() : std::filesystem::absolute(sub_file).parent_path();
    }
    if (const Item* version = sub.find("liedyn");
        name != nullptr &&
        (version == nullptr || !version->is(JsonType::Number) || version->number != kFormatVersion))
      return findings_.add(
          path + ".file", fmt::format("'{}' is not a model of version {}", excerpt(sub_file), kFormatVersion),
          "a model file begins with { \"liedyn\": 1,", name->origin);
    for (const Item& part : sub.items) {
      const auto known = std::find_if(std::begin(kModelKeys), std::end(kModelKeys),
                                      [&](const FormatKey& key) { return key.name == part.key; });
      if (known == std::end(kModelKeys))
        findings_.add(fmt::format("{}: {}", path, excerpt(part.key)), "unknown key", {}, part.origin);
    }
    // Settings of runs are those of the outermost model, but to leave out this one would be another mechanism.
    if (const Item* simulation = sub.find("simulation");
        simulation != nullptr && simulation->is(JsonType::Object) && simulation->find("until") != nullptr)
      return findings_.add(path, "the sub-model has \"until\", which only the outermost model can have",
                           "give the outermost model an event with the action \"stop\"", entry.origin);
    if (sub.find("gravity") != nullptr && root.find("gravity") == nullptr)
      return findings_.add(path, "the sub-model has gravity, but the model that contains it has none",
                           "give \"gravity\" there: it applies to all sub-models", entry.origin);
    if (const Item* values = entry.find("set"); values != nullptr && !set_values(*values, path, sub)) return;

    const std::size_t before = findings_.list().size();
    std::vector<Assignment> none;
    expand(sub, sub_file, none, path + ".", files);
    if (findings_.list().size() > before) return;
    values_ += sub.count();
    if (values_ > kMostPartValues)
      return findings_.add(path, "the sub-models have too many values in total", {}, entry.origin);
    PartPose pose;
    if (!read_pose(entry, path, scope, pose)) return;
    put_prefix(sub, entry.key, directory, pose, findings_);
    if (pose.moves()) move_places(sub, entry.key, pose, findings_);
    merge(root, sub);
  }

  bool read(const Item& name, const std::string& path, const std::string& file,
            const std::vector<std::filesystem::path>& around, Item& sub, std::string& sub_file,
            std::vector<std::filesystem::path>& files) {
    const auto refuse = [&](std::string message, std::string hint = {}) {
      findings_.add(path + ".file", std::move(message), std::move(hint), name.origin);
      return false;
    };
    std::filesystem::path wanted = name.text;
    if (wanted.is_relative()) wanted = std::filesystem::path(file).parent_path() / wanted;
    std::error_code error;
    if (!std::filesystem::is_regular_file(wanted, error)) {
      // The name of a shipped model.
      const auto shipped = is_name(name.text) ? find_model(name.text) : std::nullopt;
      if (!shipped)
        return refuse(fmt::format("there is no file '{}'", excerpt(wanted.string(), 200)),
                      "paths are relative to the file that names them");
      wanted = *shipped;
    }
    if (const std::string outside = outside_of_model(wanted, around.front().string()); !outside.empty())
      return refuse(fmt::format("'{}': {}", excerpt(name.text, 200), outside), kAllowOutside);
    if (wanted.extension() == ".urdf")
      return refuse("a URDF file cannot be a sub-model", "expected a model file, .json");
    const std::filesystem::path canonical = std::filesystem::weakly_canonical(wanted, error);
    for (const std::filesystem::path& outer : around)
      if (outer == canonical)
        return refuse(fmt::format("'{}' contains itself", excerpt(wanted.string(), 200)),
                      "sub-models cannot contain themselves");
    sub_file = wanted.string();
    files.push_back(canonical);
    try {
      const JsonDocument document = JsonDocument::parse(read_text_file(sub_file), sub_file);
      sub = Item::of(document.root(), sub_file, origins_.top_line(name.origin), origins_);
      for (const Diagnostic& d : document.duplicates())
        findings_.add(d.path, d.message, d.hint,
                      origins_.add(d.file, d.line, origins_.top_line(name.origin)));
    } catch (const InputError& unreadable) {
      for (const Diagnostic& d : unreadable.diagnostics())
        findings_.add(d.path.empty() ? path : d.path, d.message, d.hint,
                      origins_.add(d.file, d.line, origins_.top_line(name.origin)));
      return false;
    }
    if (!sub.is(JsonType::Object))
      return refuse(fmt::format("'{}' is not a model: expected an object, got {}", excerpt(sub_file, 200),
                                sub.describe()));
    return true;
  }

  // Parameters, arguments and any other number by its path. The values belong to the model around.
  bool set_values(const Item& values, const std::string& path, Item& sub) {
    if (!values.is(JsonType::Object))
      return findings_.expected(path + ".set", "values by name", values), false;
    bool good = true;
    for (const Item& value : values.items) {
      const std::string own = fmt::format("{}.set.{}", path, excerpt(value.key));
      if (!value.is(JsonType::Number) && !value.is(JsonType::String)) {
        findings_.expected(own, "a number or an expression", value);
        good = false;
        continue;
      }
      Item* target = nullptr;
      std::vector<std::string> names;
      for (const char* group : {"parameters", "arguments"})
        if (Item* list = sub.find(group)) {
          for (const Item& known : list->items) names.push_back(known.key);
          if (target == nullptr) target = list->find(value.key);
        }
      // An argument with its range.
      if (target != nullptr && target->is(JsonType::Object)) target = target->find("value");
      if (target == nullptr) target = find_item(sub, value.key);
      if (target == nullptr || (!target->is(JsonType::Number) && !target->is(JsonType::String))) {
        std::string hint = did_you_mean(value.key, names);
        if (hint.empty() && !names.empty())
          hint = fmt::format("it has {}", excerpt(fmt::format("{}", fmt::join(names, ", ")), 200));
        findings_.add(own, "the sub-model has no parameter of this name", std::move(hint), value.origin);
        good = false;
        continue;
      }
      Item given = value;
      given.key = target->key;
      given.outer = true;
      *target = std::move(given);
    }
    return good;
  }

  bool read_pose(const Item& entry, const std::string& path, Scope& scope, PartPose& pose) {
    if (const Item* at = entry.find("at")) {
      const auto p = scope.vector(*at, path + ".at");
      if (!p) return false;
      pose.p = *p;
    }
    if (const Item* rotation = entry.find("rotation")) {
      const auto R = scope.rotation(*rotation, path + ".rotation");
      if (!R) return false;
      pose.R = *R;
      pose.turns = !is_identity(*R);
      if ((*R)[2] == Term3{0, 0, 1}) {
        const Item* angle = rotation->find("angle");
        const bool numbers = (*R)[0][0].is_number() && (*R)[1][0].is_number();
        if (numbers)
          pose.angle = std::atan2((*R)[1][0].number(), (*R)[0][0].number());
        else if (const auto a = angle != nullptr ? scope.term(*angle, path) : std::nullopt)
          pose.angle = rotation->find("axis")->items[2].number > 0 ? *a : -*a;
      }
    }
    return true;
  }

  static void merge(Item& root, Item& sub) {
    for (Item& part : sub.items) {
      const bool section = std::any_of(std::begin(kSections), std::end(kSections),
                                       [&](Section s) { return part.key == section_name(s); });
      if ((!section && !is_one_of(part.key, {"parameters", "tables", "events"})) ||
          !part.is(JsonType::Object))
        continue;
      Item* target = root.find(part.key);
      if (target == nullptr) target = &root.set(part.key, Item::object(part.origin));
      if (!target->is(JsonType::Object)) continue;  // which the reader reports
      for (Item& entry : part.items) {
        Item* ground = part.key == "bodies" && entry.key == "ground" ? target->find("ground") : nullptr;
        if (ground != nullptr)
          merge_ground(*ground, entry);
        else
          target->items.push_back(std::move(entry));
      }
    }
  }
  static void merge_ground(Item& ground, const Item& other) {
    if (const Item* shape = ground.find("shape")) {
      Item list = Item::array(shape->origin);
      list.items.push_back(*shape);
      ground.erase("shape");
      ground.set("shapes", std::move(list));
    }
    for (const Item& part : other.items) {
      const bool single = part.key == "shape";
      const std::string key = single ? "shapes" : part.key;
      Item* target = ground.find(key);
      if (target == nullptr)
        target = &ground.set(key, key == "shapes" ? Item::array(part.origin) : Item::object(part.origin));
      if (single)
        target->items.push_back(part);
      else
        target->items.insert(target->items.end(), part.items.begin(), part.items.end());
    }
  }

  Origins& origins_;
  Findings& findings_;
  std::size_t values_ = 0;
};

}  // namespace

void expand_models(Item& root, const std::string& file, std::vector<Assignment>& assignments,
                   Origins& origins, Findings& findings) {
  std::error_code error;
  std::vector<std::filesystem::path> around;
  around.push_back(file.empty() ? std::filesystem::path() : std::filesystem::weakly_canonical(file, error));
  Expander(origins, findings).expand(root, file, assignments, "", around);
}

}  // namespace liedyn
