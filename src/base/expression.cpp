#include "base/expression.h"

#include <algorithm>
#include <charconv>
#include <numbers>
#include <string>

#include <fmt/format.h>

#include "base/suggest.h"

namespace liedyn {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

// Recursive descent; emits postfix code as it goes and calculates constant parts at once.
class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, const VariableNames& variables)
      : text_(text), variables_(variables) {}

  Expression parse() {
    sum();
    if (!at_end()) fail(fmt::format("expected an operator or the end, found {}", found()));
    Expression expression;
    code_.shrink_to_fit();
    expression.instructions_ = std::move(code_);
    expression.splines_ = std::move(splines_);
    return expression;
  }

 private:
  using Op = Expression::Op;
  using Instruction = Expression::Instruction;

  struct Function {
    std::string_view name;
    Op op;
    int arguments;  // at least as many, if negative
  };
  static constexpr Function kFunctions[] = {
      {"sin", Op::Sin, 1},           {"cos", Op::Cos, 1},    {"tan", Op::Tan, 1},
      {"asin", Op::Asin, 1},         {"acos", Op::Acos, 1},  {"atan", Op::Atan, 1},
      {"atan2", Op::Atan2, 2},       {"sinh", Op::Sinh, 1},  {"cosh", Op::Cosh, 1},
      {"tanh", Op::Tanh, 1},         {"exp", Op::Exp, 1},    {"log", Op::Log, 1},
      {"sqrt", Op::Sqrt, 1},         {"abs", Op::Abs, 1},    {"sign", Op::Sign, 1},
      {"min", Op::Min, 2},           {"max", Op::Max, 2},    {"step", Op::Step, 3},
      {"harmonic", Op::Harmonic, 4}, {"poly", Op::Poly, -2}, {"spline", Op::Spline, -5},
  };

  // Levels of parentheses and powers. Bounds the recursion, so that hostile input cannot exhaust the call stack.
  static constexpr int kMaxNesting = 200;
  struct Nesting {
    explicit Nesting(ExpressionParser& p) : parser(p) {
      if (++parser.nesting_ > kMaxNesting)
        parser.fail(fmt::format("nested more than {} levels deep", kMaxNesting));
    }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    ~Nesting() { --parser.nesting_; }
    ExpressionParser& parser;
  };

  [[noreturn]] void fail_at(std::size_t position, const std::string& message,
                            const std::string& hint = {}) const {
    throw ExpressionError(position, message, hint);
  }
  [[noreturn]] void fail(const std::string& message) const { fail_at(position_, message); }

  void skip_spaces() {
    while (position_ < text_.size() && is_space(text_[position_])) ++position_;
  }
  bool at_end() {
    skip_spaces();
    return position_ == text_.size();
  }
  char peek() { return at_end() ? '\0' : text_[position_]; }
  bool take(char c) {
    if (peek() != c) return false;
    ++position_;
    return true;
  }
  std::string found() {
    return at_end() ? std::string("the end") : fmt::format("'{}'", excerpt(text_.substr(position_), 20));
  }

  // sum = product { (+|-) product }
  void sum() {
    product();
    while (true) {
      if (take('+')) {
        product();
        emit(Op::Add, 2);
      } else if (take('-')) {
        product();
        emit(Op::Subtract, 2);
      } else {
        return;
      }
    }
  }

  // product = signed { (*|/) signed }
  void product() {
    signed_power();
    while (true) {
      if (take('*')) {
        if (peek() == '*') fail("expected a number, a name or '(', found '*'; powers are written with ^");
        signed_power();
        emit(Op::Multiply, 2);
      } else if (take('/')) {
        signed_power();
        emit(Op::Divide, 2);
      } else {
        return;
      }
    }
  }

  // signed = { +|- } power
  void signed_power() {
    bool negative = false;
    while (true) {
      if (take('-'))
        negative = !negative;
      else if (!take('+'))
        break;
    }
    power();
    if (negative) emit(Op::Negate, 1);
  }

  // power = operand [ ^ signed ]
  void power() {
    operand();
    if (!take('^')) return;
    const Nesting nesting(*this);
    signed_power();
    if (code_.back().op == Op::Constant) {
      const double exponent = code_.back().constant;
      code_.pop_back();
      --depth_;
      emit(Op::PowerConstant, 1, exponent);
    } else {
      emit(Op::Power, 2);
    }
  }

  void operand() {
    const char c = peek();
    if (is_digit(c) || c == '.') return number();
    if (is_letter(c)) return name();
    if (take('(')) {
      const Nesting nesting(*this);
      sum();
      if (!take(')')) fail(fmt::format("expected ')', found {}", found()));
      return;
    }
    fail(fmt::format("expected a number, a name or '(', found {}", found()));
  }

  void number() {
    double value = 0;
    const char* first = text_.data() + position_;
    const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range)
      fail(fmt::format("number '{}' is out of range",
                       excerpt({first, static_cast<std::size_t>(end - first)}, 20)));
    if (error != std::errc{}) fail(fmt::format("expected a number, found {}", found()));
    position_ += static_cast<std::size_t>(end - first);
    push({Op::Constant, 0, value});
  }

  // A letter or underscore, letters and digits, and perhaps a component in brackets.
  std::string_view identifier() {
    const std::size_t begin = position_;
    while (position_ < text_.size() && (is_letter(text_[position_]) || is_digit(text_[position_])))
      ++position_;
    if (position_ < text_.size() && text_[position_] == '[') {
      const std::size_t digits = ++position_;
      while (position_ < text_.size() && is_digit(text_[position_])) ++position_;
      if (position_ == digits || position_ == text_.size() || text_[position_] != ']')
        fail("expected a whole number and ']' after '['");
      ++position_;
    }
    return text_.substr(begin, position_ - begin);
  }

  void name() {
    const std::size_t begin = position_;
    const std::string_view word = identifier();
    if (peek() == '(') return function(word, begin);
    if (const int variable = variables_.find(std::string(word)); variable >= 0)
      return push({Op::Variable, variable});
    if (word == "pi") return push({Op::Constant, 0, std::numbers::pi});
    if (find_function(word) != nullptr)
      fail(fmt::format("{} is a function: expected '(', found {}", word, found()));
    unknown(word, begin);
  }

  static const Function* find_function(std::string_view word) {
    for (const Function& f : kFunctions)
      if (f.name == word) return &f;
    return nullptr;
  }

  void function(std::string_view word, std::size_t begin) {
    const Function* known = find_function(word);
    if (known == nullptr) unknown(word, begin);
    take('(');
    if (known->op == Op::Spline) return spline(begin);
    const Nesting nesting(*this);
    int given = 0;
    if (peek() != ')') {
      do {
        sum();
        ++given;
      } while (take(','));
    }
    if (!take(')')) fail(fmt::format("expected ',' or ')', found {}", found()));
    if (known->arguments >= 0 ? given != known->arguments : given < -known->arguments)
      fail_at(begin,
              fmt::format("{} takes {}{} argument{}, got {}", word, known->arguments < 0 ? "at least " : "",
                          std::abs(known->arguments), known->arguments == 1 ? "" : "s", given));
    emit(known->op, given);
  }

  // spline(x, t0, y0, t1, y1, ...): any number of points, so they are read one by one instead of piling up as operands.
  void spline(std::size_t begin) {
    const Nesting nesting(*this);
    sum();
    std::vector<double> numbers;
    while (take(',')) {
      const std::size_t start = position_;
      sum();
      if (code_.back().op != Op::Constant) fail_at(start, "the points of a spline must be constants");
      numbers.push_back(code_.back().constant);
      code_.pop_back();
      --depth_;
    }
    if (!take(')')) fail(fmt::format("expected ',' or ')', found {}", found()));
    if (numbers.size() < 4 || numbers.size() % 2 != 0)
      fail_at(begin,
              fmt::format("spline takes a variable and at least two points, t0, y0, t1, y1; got {} numbers",
                          numbers.size()));
    std::vector<double> t, y;
    for (std::size_t i = 0; i < numbers.size(); i += 2) t.push_back(numbers[i]), y.push_back(numbers[i + 1]);
    for (std::size_t i = 1; i < t.size(); ++i)
      if (!(t[i] > t[i - 1]))
        fail_at(begin,
                fmt::format("the points of a spline must follow each other: {} after {}", t[i], t[i - 1]));
    splines_.emplace_back(std::move(t), std::move(y));
    // Kept as an instruction even of a constant: there is no table while constants are calculated.
    code_.push_back({Op::Spline, static_cast<std::int32_t>(splines_.size()) - 1, 0});
  }

  [[noreturn]] void unknown(std::string_view word, std::size_t begin) {
    Suggestion suggestion(word);
    for (const std::string& variable : variables_) suggestion.consider(variable);
    for (const Function& f : kFunctions) suggestion.consider(f.name);
    suggestion.consider("pi");
    const bool time = word == "time" && variables_.find("t") >= 0;
    fail_at(begin, fmt::format("unknown name '{}'", excerpt(word)),
            did_you_mean(time ? "t" : suggestion.name()));
  }

  void push(const Instruction& instruction) {
    if (++depth_ > Expression::kMaxDepth)
      fail(fmt::format("too many intermediate values, at most {}", Expression::kMaxDepth));
    code_.push_back(instruction);
  }

  void emit(Op op, int operands, double constant = 0) {
    depth_ -= operands - 1;
    const auto first = code_.end() - operands;
    const Instruction instruction{op, operands, constant};
    if (std::all_of(first, code_.end(), [](const Instruction& i) { return i.op == Op::Constant; })) {
      std::array<double, Expression::kMaxDepth + 1> stack{};
      for (int i = 0; i < operands; ++i) stack[static_cast<std::size_t>(i) + 1] = first[i].constant;
      const double value = *Expression::execute<double>(instruction, {}, {}, stack.data() + operands);
      code_.erase(first, code_.end());
      code_.push_back({Op::Constant, 0, value});
    } else {
      code_.push_back(instruction);
    }
  }

  std::string_view text_;
  const VariableNames& variables_;
  std::size_t position_ = 0;
  int nesting_ = 0;
  int depth_ = 0;  // of the stack of intermediate values
  std::vector<Instruction> code_;
  std::vector<Expression::Spline> splines_;
};

Expression Expression::parse(std::string_view text, const VariableNames& variables) {
  return ExpressionParser(text, variables).parse();
}

// Continuous slopes at the inner knots, no curvature at the ends: a tridiagonal system, solved from both sides.
Expression::Spline::Spline(std::vector<double> knots, std::vector<double> values)
    : t(std::move(knots)), y(std::move(values)), curvature(t.size(), 0.0) {
  const std::size_t count = t.size();
  std::vector<double> upper(count, 0.0);
  for (std::size_t i = 1; i + 1 < count; ++i) {
    const double before = t[i] - t[i - 1], after = t[i + 1] - t[i];
    const double right = 6 * ((y[i + 1] - y[i]) / after - (y[i] - y[i - 1]) / before);
    const double pivot = 2 * (before + after) - before * upper[i - 1];
    upper[i] = after / pivot;
    curvature[i] = (right - before * curvature[i - 1]) / pivot;
  }
  for (std::size_t i = count - 1; i-- > 1;) curvature[i] -= upper[i] * curvature[i + 1];
}

std::vector<int> Expression::variables() const {
  std::vector<int> out;
  for (const Instruction& i : instructions_)
    if (i.op == Op::Variable) out.push_back(i.variable);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

bool Expression::uses(int variable) const {
  return std::any_of(instructions_.begin(), instructions_.end(),
                     [=](const Instruction& i) { return i.op == Op::Variable && i.variable == variable; });
}

}  // namespace liedyn
