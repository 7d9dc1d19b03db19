#include "liedyn/base/expression.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <string>

#include <fmt/format.h>

#include "liedyn/base/expression_evaluation.h"
#include "liedyn/base/suggest.h"

namespace liedyn {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// An expression is evaluated many times in every step. Chains of sensors that are expressions of one another double their length with every name that stands twice.
constexpr std::size_t kMostInstructions = 100000;

std::string too_long() {
  return fmt::format("the expression, with all expressions that it refers to, has more than {} operations",
                     kMostInstructions);
}

}  // namespace

// Recursive descent; emits postfix code as it goes and calculates constant parts at once.
class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, const VariableNames& variables)
      : text_(text), variables_(variables) {}

  static bool is_function(std::string_view name) { return find_function(name) != nullptr; }

  Expression parse() {
    comparison();
    if (!at_end()) fail_after("an operator or the end");
    if (code_.size() > kMostInstructions) fail(too_long());
    Expression expression;
    code_.shrink_to_fit();
    expression.instructions_ = std::move(code_);
    expression.tables_ = std::move(tables_);
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
      {"sin", Op::Sin, 1},           {"cos", Op::Cos, 1},      {"tan", Op::Tan, 1},
      {"asin", Op::Asin, 1},         {"acos", Op::Acos, 1},    {"atan", Op::Atan, 1},
      {"atan2", Op::Atan2, 2},       {"sinh", Op::Sinh, 1},    {"cosh", Op::Cosh, 1},
      {"tanh", Op::Tanh, 1},         {"exp", Op::Exp, 1},      {"log", Op::Log, 1},
      {"sqrt", Op::Sqrt, 1},         {"abs", Op::Abs, 1},      {"sign", Op::Sign, 1},
      {"min", Op::Min, 2},           {"max", Op::Max, 2},      {"step", Op::Step, 3},
      {"harmonic", Op::Harmonic, 4}, {"poly", Op::Poly, -2},   {"floor", Op::Floor, 1},
      {"mod", Op::Mod, 2},           {"where", Op::Where, 3},  {"spline", Op::Curve, -5},
      {"linear", Op::Curve, -5},     {"pchip", Op::Curve, -5}, {"bilinear", Op::Surface, -12},
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
  // Something stands directly behind a value: a unit, a factor or decimals, as other programs and languages write them.
  [[noreturn]] void fail_after(std::string_view expected) {
    const char c = peek();
    std::size_t end = position_;
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
    const std::string word(text_.substr(position_, end - position_));
    const bool digit_before = position_ > 0 && is_digit(text_[position_ - 1]);
    constexpr const char* kConditions =
        "conditions are 0 or 1: both is min(a < b, c < d), one of them is max(a < b, c < d)";
    std::string hint;
    if (word == "and" || word == "or")
      hint = kConditions;
    else if (is_letter(c) && (word == "deg" || variables_.find(word) >= 0 || is_function(word)))
      hint = fmt::format("a product is written with *: ...*{}", excerpt(word, 20));
    else if (is_letter(c))
      hint =
          "numbers are in SI units (m, kg, s, rad) and written without a unit; a product is written with *";
    else if (c == ',' && digit_before && position_ + 1 < text_.size() && is_digit(text_[position_ + 1]))
      hint = "decimals are written with a point: 1.5";
    else if (c == '(')
      hint = "a product is written with *: ...*(...)";
    else if (c == '&' || c == '|')
      hint = kConditions;
    fail_at(position_, fmt::format("expected {}, found {}", expected, found()), hint);
  }

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

  // comparison = sum [ (<|<=|>|>=|==|!=) sum ]
  void comparison() {
    sum();
    const std::size_t begin = position_;
    const auto taken = [&](std::string_view symbol) {
      if (at_end() || !text_.substr(position_).starts_with(symbol)) return false;
      position_ += symbol.size();
      return true;
    };
    for (const auto& [symbol, op] : {std::pair{"<=", Op::LessOrEqual},
                                     {">=", Op::GreaterOrEqual},
                                     {"==", Op::Equal},
                                     {"!=", Op::NotEqual},
                                     {"<", Op::Less},
                                     {">", Op::Greater}}) {
      if (!taken(symbol)) continue;
      sum();
      emit(op, 2);
      if (peek() == '<' || peek() == '>')
        fail_at(begin, "only two values can be compared, write min(a < b, b < c) for a < b < c");
      return;
    }
    if (peek() == '=') fail("expected '==' to compare, found '='");
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
      comparison();
      if (!take(')')) fail_after("')'");
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

  // A letter or underscore, letters and digits; perhaps a part of it behind a dot, motor.current, and a component in brackets.
  std::string_view identifier() {
    const std::size_t begin = position_;
    const auto continues = [&](std::size_t i) {
      return i < text_.size() && (is_letter(text_[i]) || is_digit(text_[i]));
    };
    while (continues(position_) ||
           (position_ + 1 < text_.size() && text_[position_] == '.' && is_letter(text_[position_ + 1])))
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
    if (word == "deg") return push({Op::Constant, 0, std::numbers::pi / 180});
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
    if (known == nullptr) {
      const std::shared_ptr<const CodeFunction> code = find_code_function(word);
      if (code == nullptr) unknown(word, begin);
      take('(');
      return code_function(code, begin);
    }
    take('(');
    if (known->op == Op::Curve) return curve(word, begin);
    if (known->op == Op::Surface) return surface(begin);
    const int given = arguments();
    if (known->arguments >= 0 ? given != known->arguments : given < -known->arguments)
      fail_at(begin,
              fmt::format("{} takes {}{} argument{}, got {}", word, known->arguments < 0 ? "at least " : "",
                          std::abs(known->arguments), known->arguments == 1 ? "" : "s", given));
    emit(known->op, given);
  }

  // Its value is never calculated here, even for constants: the program may not be ready to be called.
  void code_function(const std::shared_ptr<const CodeFunction>& code, std::size_t begin) {
    const int given = arguments();
    if (given != code->arguments)
      fail_at(begin, fmt::format("{} takes {} argument{}, got {}", code->name, code->arguments,
                                 code->arguments == 1 ? "" : "s", given));
    depth_ -= given - 1;
    tables_.functions.push_back(code);
    code_.push_back({Op::Call, static_cast<std::int32_t>(tables_.functions.size()) - 1, 0});
  }

  // Up to the closing parenthesis: how many there are.
  int arguments() {
    const Nesting nesting(*this);
    int given = 0;
    if (peek() != ')') {
      do {
        comparison();
        ++given;
      } while (take(','));
    }
    if (!take(')')) fail_after("',' or ')'");
    return given;
  }

  // The constants that follow, up to the closing parenthesis: any number, so they are read one by one instead of piling up as operands.
  std::vector<double> constants(std::string_view function) {
    std::vector<double> out;
    while (take(',')) {
      const std::size_t start = position_;
      sum();
      if (code_.back().op != Op::Constant)
        fail_at(start, fmt::format("the points of {} must be constants", function));
      out.push_back(code_.back().constant);
      code_.pop_back();
      --depth_;
    }
    if (!take(')')) fail(fmt::format("expected ',' or ')', found {}", found()));
    return out;
  }
  void check_increasing(std::string_view function, const std::vector<double>& points,
                        std::size_t begin) const {
    for (std::size_t i = 1; i < points.size(); ++i)
      if (!(points[i] > points[i - 1]))
        fail_at(begin, fmt::format("the points of {} must increase: {} after {}", function, points[i],
                                   points[i - 1]));
  }

  // spline(x, t0, y0, t1, y1, ...), linear and pchip.
  void curve(std::string_view word, std::size_t begin) {
    const Nesting nesting(*this);
    sum();
    const std::vector<double> numbers = constants(word);
    if (numbers.size() < 4 || numbers.size() % 2 != 0)
      fail_at(begin,
              fmt::format("{} takes a variable and at least two points, t0, y0, t1, y1; got {} numbers", word,
                          numbers.size()));
    std::vector<double> t, y;
    for (std::size_t i = 0; i < numbers.size(); i += 2) t.push_back(numbers[i]), y.push_back(numbers[i + 1]);
    check_increasing(word, t, begin);
    using Interpolation = Expression::Interpolation;
    tables_.curves.emplace_back(word == "linear"  ? Interpolation::Linear
                                : word == "pchip" ? Interpolation::Pchip
                                                  : Interpolation::Spline,
                                std::move(t), y);
    // Kept as an instruction even of a constant: there is no table while constants are calculated.
    code_.push_back({Op::Curve, static_cast<std::int32_t>(tables_.curves.size()) - 1, 0});
  }

  // bilinear(x, y, n, x_1 ... x_n, m, y_1 ... y_m, z_11, z_12, ...)
  void surface(std::size_t begin) {
    const Nesting nesting(*this);
    sum();
    if (!take(',')) fail(fmt::format("expected ',', found {}", found()));
    sum();
    const std::vector<double> numbers = constants("bilinear");
    const auto wrong = [&] {
      fail_at(begin, "bilinear takes two variables, n >= 2, n points, m >= 2, m points and n m values");
    };
    std::size_t next = 0;
    const auto take_points = [&](std::vector<double>& points) {
      if (next >= numbers.size()) wrong();
      const double count = numbers[next++];
      if (!(count >= 2) || count != std::floor(count) || count > static_cast<double>(numbers.size() - next))
        wrong();
      points.assign(numbers.begin() + static_cast<std::ptrdiff_t>(next),
                    numbers.begin() + static_cast<std::ptrdiff_t>(next) + static_cast<std::ptrdiff_t>(count));
      next += points.size();
      check_increasing("bilinear", points, begin);
    };
    Expression::Surface table;
    take_points(table.x);
    take_points(table.y);
    if (numbers.size() - next != table.x.size() * table.y.size()) wrong();
    table.z.assign(numbers.begin() + static_cast<std::ptrdiff_t>(next), numbers.end());
    tables_.surfaces.push_back(std::move(table));
    --depth_;
    code_.push_back({Op::Surface, static_cast<std::int32_t>(tables_.surfaces.size()) - 1, 0});
  }

  [[noreturn]] void unknown(std::string_view word, std::size_t begin) {
    Suggestion suggestion(word);
    for (const std::string& variable : variables_) suggestion.consider(variable);
    for (const Function& f : kFunctions) suggestion.consider(f.name);
    for (const char* constant : {"pi", "deg"}) suggestion.consider(constant);
    const bool time = word == "time" && variables_.find("t") >= 0;
    std::string hint = component_hint(std::string(word.substr(0, word.find('['))));
    if (hint.empty()) hint = did_you_mean(time ? "t" : suggestion.name());
    throw UnknownName(begin, fmt::format("unknown name '{}'", excerpt(word)), hint);
  }

  // A vector has a name for each component, "p[0]", and none for all.
  std::string component_hint(const std::string& name) const {
    if (variables_.find(name) >= 0) return fmt::format("'{0}' is one number: write {0}", name);
    int count = 0;
    while (variables_.find(fmt::format("{}[{}]", name, count)) >= 0) ++count;
    if (count == 0) return {};
    return fmt::format("'{0}' has {1} components: write one of {0}[0] to {0}[{2}]", name, count, count - 1);
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
  Expression::Tables tables_;
};

bool is_built_in_function(std::string_view name) { return ExpressionParser::is_function(name); }
bool is_expression_function(std::string_view name) {
  return is_built_in_function(name) || find_code_function(name) != nullptr;
}

template double Expression::evaluate<double>(std::span<const double>) const;

Expression Expression::parse(std::string_view text, const VariableNames& variables) {
  return ExpressionParser(text, variables).parse();
}

namespace {

// Second derivatives of the natural cubic spline: continuous slopes at the inner points, no curvature at the ends. A tridiagonal system,
// solved from both sides.
std::vector<double> spline_curvatures(const std::vector<double>& t, const std::vector<double>& y) {
  const std::size_t count = t.size();
  std::vector<double> curvature(count, 0.0), upper(count, 0.0);
  for (std::size_t i = 1; i + 1 < count; ++i) {
    const double before = t[i] - t[i - 1], after = t[i + 1] - t[i];
    const double right = 6 * ((y[i + 1] - y[i]) / after - (y[i] - y[i - 1]) / before);
    const double pivot = 2 * (before + after) - before * upper[i - 1];
    upper[i] = after / pivot;
    curvature[i] = (right - before * curvature[i - 1]) / pivot;
  }
  for (std::size_t i = count - 1; i-- > 1;) curvature[i] -= upper[i] * curvature[i + 1];
  return curvature;
}

// Slopes that keep monotone data monotone (Fritsch and Butland 1984): zero at extrema of the data, otherwise the weighted harmonic mean
// of the slopes d_i of the pieces. At the ends a parabola through three points, limited so that it stays monotone (Moler 2004, section 3.4).
std::vector<double> pchip_slopes(const std::vector<double>& t, const std::vector<double>& y) {
  const std::size_t count = t.size();
  std::vector<double> h, d, slope(count, 0.0);
  for (std::size_t i = 0; i + 1 < count; ++i) {
    h.push_back(t[i + 1] - t[i]);
    d.push_back((y[i + 1] - y[i]) / h[i]);
  }
  if (count == 2) return {d[0], d[0]};
  for (std::size_t i = 1; i + 1 < count; ++i) {
    if (!(d[i - 1] * d[i] > 0)) continue;
    const double w1 = 2 * h[i] + h[i - 1], w2 = h[i] + 2 * h[i - 1];
    slope[i] = (w1 + w2) / (w1 / d[i - 1] + w2 / d[i]);
  }
  const auto end_slope = [](double h0, double h1, double d0, double d1) {
    const double s = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1);
    if (!(s * d0 > 0)) return 0.0;
    return d0 * d1 <= 0 && std::abs(s) > 3 * std::abs(d0) ? 3 * d0 : s;
  };
  slope.front() = end_slope(h[0], h[1], d[0], d[1]);
  slope.back() = end_slope(h[count - 2], h[count - 3], d[count - 2], d[count - 3]);
  return slope;
}

}  // namespace

Expression::Curve::Curve(Interpolation interpolation, std::vector<double> points,
                         const std::vector<double>& y)
    : t(std::move(points)), last(y.back()) {
  std::vector<double> at_points;  // slopes or curvatures
  if (interpolation == Interpolation::Spline) at_points = spline_curvatures(t, y);
  if (interpolation == Interpolation::Pchip) at_points = pchip_slopes(t, y);
  for (std::size_t i = 0; i + 1 < t.size(); ++i) {
    const double h = t[i + 1] - t[i], d = (y[i + 1] - y[i]) / h;
    switch (interpolation) {
      case Interpolation::Linear: pieces.push_back({y[i], d, 0, 0}); break;
      case Interpolation::Spline: {
        const double c = at_points[i], next = at_points[i + 1];
        pieces.push_back({y[i], d - h / 6 * (2 * c + next), c / 2, (next - c) / (6 * h)});
        break;
      }
      case Interpolation::Pchip: {
        const double s = at_points[i], next = at_points[i + 1];
        pieces.push_back({y[i], s, (3 * d - 2 * s - next) / h, (s + next - 2 * d) / (h * h)});
        break;
      }
    }
  }
  if (interpolation == Interpolation::Spline) {
    const std::array<double, 4>& c = pieces.back();
    const double h = t.back() - t[t.size() - 2];
    slope_before = pieces.front()[1];
    slope_after = c[1] + h * (2 * c[2] + 3 * h * c[3]);
  }
}

void Expression::substitute(int variable, const Expression& by) {
  const auto curves = static_cast<std::int32_t>(tables_.curves.size()),
             surfaces = static_cast<std::int32_t>(tables_.surfaces.size()),
             functions = static_cast<std::int32_t>(tables_.functions.size());
  std::vector<Instruction> code;
  for (const Instruction& i : instructions_) {
    if (i.op != Op::Variable || i.variable != variable) {
      code.push_back(i);
      continue;
    }
    if (code.size() + by.instructions_.size() > kMostInstructions) throw ExpressionError(0, too_long());
    for (Instruction inner : by.instructions_) {
      if (inner.op == Op::Curve) inner.variable += curves;
      if (inner.op == Op::Surface) inner.variable += surfaces;
      if (inner.op == Op::Call) inner.variable += functions;
      code.push_back(inner);
    }
  }
  instructions_ = std::move(code);
  tables_.curves.insert(tables_.curves.end(), by.tables_.curves.begin(), by.tables_.curves.end());
  tables_.surfaces.insert(tables_.surfaces.end(), by.tables_.surfaces.begin(), by.tables_.surfaces.end());
  tables_.functions.insert(tables_.functions.end(), by.tables_.functions.begin(), by.tables_.functions.end());

  int depth = 0;
  for (const Instruction& i : instructions_) {
    depth += 1 - operands(i);
    if (depth > kMaxDepth)
      throw ExpressionError(0, fmt::format("too many intermediate values, at most {}", kMaxDepth));
  }
}

int Expression::operands(const Instruction& i) const {
  switch (i.op) {
    case Op::Constant:
    case Op::Variable: return 0;
    case Op::Curve: return 1;
    case Op::Surface: return 2;
    case Op::Call: return tables_.functions[static_cast<std::size_t>(i.variable)]->arguments;
    default: return i.variable;
  }
}

bool Expression::is_condition() const {
  // What is known of the value of a part, by what it is where it holds and where it does not.
  enum class Part {
    Other,
    Zero,      // 0
    One,       // 1
    Large,     // a constant above 1
    Small,     // a constant between 0 and 1
    Flag,      // 1, 0
    Count,     // at least 1, 0
    Positive,  // above 0, 0
    Signed     // above 0, at most 0
  };
  const auto holds = [](Part p) { return p >= Part::Flag; };
  const auto is_flag = [](Part p) { return p == Part::Zero || p == Part::One || p == Part::Flag; };
  std::vector<Part> parts;
  for (const Instruction& i : instructions_) {
    const auto count = static_cast<std::size_t>(operands(i));
    const std::span<const Part> of = std::span(parts).last(count);
    const bool both = count == 2 && holds(of[0]) && holds(of[1]);
    const Part larger = both ? std::max(of[0], of[1]) : Part::Other;
    Part part = Part::Other;
    switch (i.op) {
      case Op::Constant:
        if (i.constant == 0) part = Part::Zero;
        if (i.constant == 1) part = Part::One;
        if (i.constant > 1) part = Part::Large;
        if (i.constant > 0 && i.constant < 1) part = Part::Small;
        break;
      case Op::Less:
      case Op::LessOrEqual:
      case Op::Greater:
      case Op::GreaterOrEqual:
      case Op::Equal:
      case Op::NotEqual: part = Part::Flag; break;
      case Op::Min:
      case Op::Max: part = larger; break;
      case Op::Add:  // one of them holds
        if (both && larger != Part::Signed) part = std::max(larger, Part::Count);
        break;
      case Op::Multiply: {  // both hold; or 2 c
        if (both && larger != Part::Signed) part = larger;
        const Part factor = std::min(of[0], of[1]), other = std::max(of[0], of[1]);
        if (!holds(other)) break;
        if (factor == Part::One) part = other;
        if (factor == Part::Large) part = std::max(other, Part::Count);
        if (factor == Part::Small) part = std::max(other, Part::Positive);
        break;
      }
      case Op::Subtract:  // 1 - c
        if (of[0] == Part::One && of[1] == Part::Flag) part = Part::Flag;
        if (of[0] == Part::One && of[1] == Part::Count) part = Part::Signed;
        break;
      case Op::Where:  // where(c, 1, 0)
        if (holds(of[0]) && of[0] != Part::Signed && is_flag(of[1]) && is_flag(of[2])) part = Part::Flag;
        break;
      default: break;
    }
    parts.resize(parts.size() - count);
    parts.push_back(part);
  }
  return parts.size() == 1 && holds(parts.front());
}

std::vector<Expression::Comparison> Expression::comparisons() const {
  std::vector<Comparison> out;
  std::vector<std::size_t> begins;  // of what is on the stack
  for (std::size_t k = 0; k < instructions_.size(); ++k) {
    const Instruction& i = instructions_[k];
    std::size_t begin = k;
    for (int n = operands(i); n > 0; --n, begins.pop_back()) begin = begins.back();
    begins.push_back(begin);
    if (i.op < Op::Less || i.op > Op::NotEqual) continue;
    Comparison& found = out.emplace_back();
    found.is_equality = i.op == Op::Equal || i.op == Op::NotEqual;
    found.difference.tables_ = tables_;
    const auto first = instructions_.begin();
    found.difference.instructions_.assign(first + static_cast<std::ptrdiff_t>(begin),
                                          first + static_cast<std::ptrdiff_t>(k + 1));
    found.difference.instructions_.back().op = Op::Subtract;
  }
  return out;
}

void Expression::renumber(const std::vector<int>& new_index) {
  for (Instruction& i : instructions_)
    if (i.op == Op::Variable) i.variable = new_index[static_cast<std::size_t>(i.variable)];
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
