#include "liedyn/model/builder.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "liedyn/base/suggest.h"

namespace liedyn {
namespace {

bool takes_word(FieldType type) {
  switch (type) {
    case FieldType::Choice:
    case FieldType::Text:
    case FieldType::Body:
    case FieldType::Joint:
    case FieldType::State:
    case FieldType::Beam:
    case FieldType::Force:
    case FieldType::Flexible: return true;
    default: return false;
  }
}

bool takes_two_names(FieldType type) { return type == FieldType::Bodies || type == FieldType::Joints; }

std::string written(const FieldItem& item) {
  return item.text ? fmt::format("'{}'", excerpt(*item.text)) : fmt::format("{}", item.number);
}

}  // namespace

RotationItems rotation_vector(FieldItem x, FieldItem y, FieldItem z) {
  return {RotationForm::RotationVector, {std::move(x), std::move(y), std::move(z)}};
}
RotationItems cardan(FieldItem first, FieldItem second, FieldItem third) {
  return {RotationForm::Cardan, {std::move(first), std::move(second), std::move(third)}};
}
RotationItems quaternion(FieldItem w, FieldItem x, FieldItem y, FieldItem z) {
  return {RotationForm::Quaternion, {std::move(w), std::move(x), std::move(y), std::move(z)}};
}
RotationItems axis_angle(FieldItem x, FieldItem y, FieldItem z, FieldItem angle) {
  return {RotationForm::AxisAngle, {std::move(x), std::move(y), std::move(z), std::move(angle)}};
}
RotationItems rotation_matrix(const Mat3& R) {
  FieldItems items;
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) items.emplace_back(R(r, c));
  return {RotationForm::Matrix, std::move(items)};
}

ModelBuilder::ModelBuilder(std::array<double, 3> gravity, std::string name)
    : name_(std::move(name)), gravity_{gravity[0], gravity[1], gravity[2]} {}

ModelBuilder::~ModelBuilder() = default;

DescriptionBuilder& ModelBuilder::builder() {
  if (finished_) throw InputError("model", "finish() was called before", "make another ModelBuilder");
  if (builder_ != nullptr) return *builder_;
  builder_ = std::make_unique<DescriptionBuilder>(
      name_, "", parameters_, std::array{gravity_[0].number, gravity_[1].number, gravity_[2].number});
  for (int i = 0; i < 3; ++i)
    if (const auto& text = gravity_[static_cast<std::size_t>(i)].text) builder_->gravity_expression(i, *text);
  if (settings_) builder_->simulation() = *settings_;
  return *builder_;
}

// What comes before the first entry cannot follow it.
bool ModelBuilder::too_late(std::string_view what) {
  if (builder_ == nullptr) return false;
  builder_->finding(std::string(what), "given after the first entry",
                    "parameters, gravity and simulation come before bodies, joints and the like");
  return true;
}

ModelBuilder& ModelBuilder::parameter(const std::string& name, FieldItem value) {
  if (too_late("parameters." + excerpt(name, 80))) return *this;
  parameters_.push_back({.name = name, .value = value.number, .expression = value.text.value_or("")});
  if (value.text && value.text->empty()) parameters_.back().expression = " ";  // refused as an expression
  return *this;
}

ModelBuilder& ModelBuilder::gravity(FieldItem x, FieldItem y, FieldItem z) {
  if (!too_late("gravity")) gravity_ = {std::move(x), std::move(y), std::move(z)};
  return *this;
}

ModelBuilder& ModelBuilder::simulation(SimulationSettings settings) {
  if (!too_late("simulation")) settings_ = std::move(settings);
  return *this;
}

ModelBuilder& ModelBuilder::begin(Section section, const std::string& name, std::string_view type) {
  close();
  section_ = section;
  kind_ = find_kind(section, type);
  begun_ = true;
  open_ = builder().begin(section, name, type);
  if (name.find('.') != std::string::npos)
    builder().finding(fmt::format("{}.{}", section_name(section), excerpt(name)),
                      "expected a name without dots", "names with dots are those of sub-models");
  return *this;
}

void ModelBuilder::close() {
  if (open_) builder_->end();
  open_ = false;
}

// A field without an entry would be lost.
bool ModelBuilder::has_entry(std::string_view field) {
  if (!begun_)
    builder().finding(excerpt(field, 80), "this field belongs to no entry", "call body(), joint() ... first");
  return open_;
}

const Field* ModelBuilder::field(std::string_view name) const {
  const int index = open_ ? kind_->field(name) : -1;
  return index < 0 ? nullptr : &kind_->fields[static_cast<std::size_t>(index)];
}

ModelBuilder& ModelBuilder::set(std::string_view name, const std::string& text) {
  if (!has_entry(name)) return *this;
  const Field* known = field(name);
  if (known == nullptr || takes_word(known->type) || takes_two_names(known->type) ||
      known->type == FieldType::Choices)
    builder().word(name, text);
  else if (known->type == FieldType::Integer)
    builder().reject(name, "", fmt::format("expected a whole number, got '{}'", excerpt(text)),
                     "it determines the structure of the model and cannot be an expression");
  else if (text == "consistent")
    builder().consistent(name);
  else
    set_numbers(name, {FieldItem(text)}, RotationForm::RotationVector);
  return *this;
}

ModelBuilder& ModelBuilder::set(std::string_view name, std::initializer_list<FieldItem> items) {
  return set(name, FieldItems(items));
}

ModelBuilder& ModelBuilder::set(std::string_view name, const FieldItems& items) {
  if (!has_entry(name)) return *this;
  const Field* known = field(name);
  if (known == nullptr) {
    builder().word(name, "");  // says what is wrong
    return *this;
  }
  if (takes_two_names(known->type) || known->type == FieldType::Choices) {
    std::vector<std::string> words;
    for (const FieldItem& item : items)
      if (item.text) words.push_back(*item.text);
    const bool pair = takes_two_names(known->type);
    if (words.size() != items.size() || (pair && words.size() != 2))
      builder().reject(name, "",
                       pair
                           ? fmt::format("expected the names of two {}, got {} items",
                                         known->type == FieldType::Bodies ? "bodies" : "joints", items.size())
                           : "expected strings, got numbers");
    else if (pair)
      builder().words(name, words[0], words[1]);
    else
      builder().choices(name, words);
    return *this;
  }
  if (takes_word(known->type)) {
    // A number is an expression too.
    if (items.size() == 1 && (items[0].text || known->holds_expression))
      builder().word(name, items[0].text ? *items[0].text : fmt::format("{}", items[0].number));
    else
      builder().reject(name, "",
                       items.size() == 1 ? fmt::format("expected a string, got {}", written(items[0]))
                                         : fmt::format("expected one string, got {} items", items.size()));
    return *this;
  }
  if (known->type == FieldType::Integer && items.size() == 1 && items[0].text)
    return set(name, *items[0].text);
  return set_numbers(name, items, RotationForm::RotationVector);
}

// Numbers with their expressions, in the order in which the field stores them.
ModelBuilder& ModelBuilder::set_numbers(std::string_view name, const FieldItems& items, RotationForm form) {
  const Field* known = field(name);
  // A matrix may be given by its diagonal.
  const bool diagonal = known != nullptr && known->type == FieldType::Matrix6 && items.size() == 6;
  const std::size_t distance = diagonal ? 7 : 1;
  std::vector<double> numbers(diagonal ? 36 : items.size(), 0.0);
  for (std::size_t i = 0; i < items.size(); ++i) numbers[distance * i] = items[i].number;
  builder().values(name, numbers, 0, form);
  for (std::size_t i = 0; i < items.size(); ++i)
    if (items[i].text) builder().expression(name, static_cast<int>(distance * i), *items[i].text);
  return *this;
}

ModelBuilder& ModelBuilder::set(std::string_view name, std::span<const double> numbers) {
  return set(name, FieldItems(numbers.begin(), numbers.end()));
}

ModelBuilder& ModelBuilder::set(std::string_view name, const Vec3& v) {
  return set(name, {v.x(), v.y(), v.z()});
}

ModelBuilder& ModelBuilder::set_matrix(std::string_view name, const Eigen::MatrixXd& matrix) {
  if (!has_entry(name)) return *this;
  const Field* known = field(name);
  const int size = static_cast<int>(matrix.rows());
  if (known != nullptr && known->type == FieldType::Rotation && size == 3)
    return set(name, rotation_matrix(matrix));
  // As in files: symmetric up to round-off, mirrored entries become their mean.
  constexpr double kRounded = 1e-6;
  for (int r = 0; known != nullptr && r < size; ++r)
    for (int c = 0; c < r; ++c)
      if (!(std::abs(matrix(r, c) - matrix(c, r)) <=
            kRounded * std::sqrt(std::abs(matrix(r, r) * matrix(c, c))))) {
        builder().reject(
            name, "",
            fmt::format("expected a symmetric matrix, but [{}][{}] and [{}][{}] differ", c, r, r, c));
        return *this;
      }
  const Eigen::MatrixXd A = 0.5 * (matrix + matrix.transpose());
  if (known != nullptr && known->type == FieldType::Inertia && size == 3)
    return set(name, {A(0, 0), A(1, 1), A(2, 2), A(1, 2), A(0, 2), A(0, 1)});
  return set(name, std::span(A.data(), static_cast<std::size_t>(A.size())));
}

ModelBuilder& ModelBuilder::set(std::string_view name, const RotationItems& rotation) {
  if (!has_entry(name)) return *this;
  const Field* known = field(name);
  if (known == nullptr || known->type == FieldType::Rotation)
    return set_numbers(name, rotation.items, rotation.form);
  builder().reject(name, "", "is not an orientation");
  return *this;
}

ModelBuilder& ModelBuilder::set(std::string_view name, const std::string& first, const std::string& second) {
  if (has_entry(name)) builder().words(name, first, second);
  return *this;
}

ModelBuilder& ModelBuilder::choose(std::string_view name, const std::vector<std::string>& words) {
  if (has_entry(name)) builder().choices(name, words);
  return *this;
}

ModelBuilder& ModelBuilder::expression(std::string_view name, int i, const std::string& text) {
  if (!has_entry(name)) return *this;
  const int index = kind_->field(name);
  const std::vector<Entry>& entries = builder().description().entries(section_);
  const int count = index < 0 ? 0 : entries.back().fields[static_cast<std::size_t>(index)].count;
  if (index < 0)
    builder().word(name, "");  // says what is wrong
  else if (i >= 0 && i < count)
    builder().expression(name, i, text);
  else
    builder().finding(fmt::format("{}.{}.{}[{}]", section_name(section_), entries.back().name, name, i),
                      fmt::format("the field has {} numbers so far", count), "set() them first");
  return *this;
}

ModelBuilder& ModelBuilder::consistent(std::string_view name) {
  if (has_entry(name)) builder().consistent(name);
  return *this;
}

ModelBuilder& ModelBuilder::mark_consistent(std::string_view name) {
  if (has_entry(name)) builder().mark_consistent(name);
  return *this;
}

ModelBuilder& ModelBuilder::guess(std::string_view name, std::initializer_list<FieldItem> items) {
  set(name, items);
  return mark_consistent(name);
}

ModelBuilder& ModelBuilder::in_bodies(std::string_view name,
                                      const std::vector<std::pair<std::string, Vec3>>& vectors) {
  if (!has_entry(name)) return *this;
  const Field* known = field(name);
  const int components = known != nullptr && known->type == FieldType::PlaneVector ? 2 : 3;
  std::vector<std::string> names;
  std::vector<double> numbers;
  for (const auto& [body, v] : vectors) {
    names.push_back(body);
    numbers.insert(numbers.end(), v.data(), v.data() + components);
  }
  builder().numbers_in_bodies(name, names, numbers);
  return *this;
}

ModelBuilder& ModelBuilder::visual(Visual visual) {
  close();
  begun_ = false;
  builder().description().visuals.push_back(std::move(visual));
  return *this;
}

std::shared_ptr<const Description> ModelBuilder::finish() {
  close();
  DescriptionBuilder& made = builder();
  finished_ = true;
  return std::make_shared<const Description>(made.finish());
}

}  // namespace liedyn
