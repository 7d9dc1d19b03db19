#include "liedyn/model/params.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "liedyn/model/parameter_paths.h"
#include "liedyn/model/signal_parameters.h"

namespace liedyn {

Params::Params(std::shared_ptr<const Description> description) : description_(std::move(description)) {
  if (description_->expressions.empty()) return;
  VariableNames variables(description_->parameter_names);
  variables.add("t");
  for (const NumberExpression& written : description_->expressions) {
    Expression expression = Expression::parse(written.text, variables);
    std::vector<Bound>& list = expression.uses(parameter_count()) ? timed_ : bound_;
    list.push_back({written.number, std::move(expression)});
  }
  // Parameters have the first numbers and use only those before them; the rest use only parameters.
  std::sort(bound_.begin(), bound_.end(), [](const Bound& a, const Bound& b) { return a.number < b.number; });
}

std::vector<double>& Params::own_values() {
  if (!is_changed_) own_ = description_->parameters;
  is_changed_ = true;
  return own_;
}

int Params::find(std::string_view path) const { return find_parameter(*description_, path); }

std::string Params::path(int index) const { return parameter_path(*description_, index); }

void Params::set(std::string_view path, double value) { set(find(path), value); }

void Params::set(int index, double value) {
  const std::string mistake = value_mistake(locate_parameter(*description_, index).kind_field(), value);
  if (!mistake.empty()) throw InputError(path(index), mistake);

  refuse_signal(*description_, index);
  const auto is_this = [index](const Bound& b) { return b.number == index; };
  const bool was_expression = std::any_of(bound_.begin(), bound_.end(), is_this) ||
                              std::any_of(timed_.begin(), timed_.end(), is_this);
  const bool others_follow = index < parameter_count() && !(bound_.empty() && timed_.empty());
  if (!was_expression && !others_follow) {
    own_values()[static_cast<std::size_t>(index)] = value;
    return;
  }

  Params changed = *this;
  std::erase_if(changed.bound_, is_this);
  std::erase_if(changed.timed_, is_this);
  changed.own_values()[static_cast<std::size_t>(index)] = value;
  changed.follow(path(index));
  *this = std::move(changed);
}

std::vector<std::pair<std::string, double>> Params::assigned() const {
  std::vector<std::pair<std::string, double>> out;
  const auto add = [&](std::string path, double value) {
    constexpr std::string_view prefix = "parameters.";
    if (path.starts_with(prefix)) path.erase(0, prefix.size());
    const auto same =
        std::find_if(out.begin(), out.end(), [&](const auto& one) { return one.first == path; });
    if (same == out.end())
      out.emplace_back(std::move(path), value);
    else
      same->second = value;
  };
  for (const auto& [path, value] : description_->assigned) add(path, value);
  if (!is_changed_) return out;
  // Numbers that differ from the text, but not because they follow others; and expressions that have become constants.
  std::vector<bool> follows(own_.size(), false), was_expression(own_.size(), false);
  for (const std::vector<Bound>* list : {&bound_, &timed_})
    for (const Bound& bound : *list) follows[static_cast<std::size_t>(bound.number)] = true;
  for (const NumberExpression& written : description_->expressions)
    was_expression[static_cast<std::size_t>(written.number)] = true;
  for (std::size_t i = 0; i < own_.size(); ++i)
    if (!follows[i] && (was_expression[i] || own_[i] != description_->parameters[i]))
      add(path(static_cast<int>(i)), own_[i]);
  return out;
}

// Evaluates the expressions anew; `changed_path` is what they follow.
void Params::follow(const std::string& changed_path) {
  const auto parameters = static_cast<std::size_t>(parameter_count());
  std::vector<double>& own = own_values();
  std::vector<double> variables(own.begin(), own.begin() + parameter_count());
  variables.push_back(description_->simulation.start);
  for (const std::vector<Bound>* list : {&bound_, &timed_}) {
    for (const Bound& bound : *list) {
      const auto number = static_cast<std::size_t>(bound.number);
      own[number] = bound.expression.evaluate<double>(variables);
      if (number < parameters) variables[number] = own[number];
      const std::string mistake =
          value_mistake(locate_parameter(*description_, bound.number).kind_field(), own[number]);
      if (!mistake.empty())
        throw InputError(path(bound.number),
                         fmt::format("{}, since it depends on {}", mistake, changed_path));
    }
  }
}

}  // namespace liedyn
