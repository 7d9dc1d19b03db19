#include "liedyn/io/tables.h"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "liedyn/base/expression.h"

namespace liedyn {
namespace {

Tables tables_of(const std::string& text, const std::string& file = "") {
  const JsonDocument document = JsonDocument::parse(text, "");
  Tables out(file);
  for (JsonValue value : document.root()) out.add(value.key(), value);
  return out;
}

double value_of(const Tables& tables, const std::string& text, double x = 0, double y = 0) {
  return Expression::parse(tables.written_out(text), std::vector<std::string>{"x", "y"})
      .evaluate<double>(std::array{x, y});
}

std::string mistake_of(const std::string& text) {
  try {
    tables_of(text);
  } catch (const TableError& error) {
    return error.what();
  }
  return "";
}

class TemporaryFile {
 public:
  TemporaryFile(const std::string& name, const std::string& text)
      : path_(std::filesystem::temp_directory_path() / fmt::format("liedyn_{}_{}", ::getpid(), name)) {
    std::ofstream(path_) << text;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  std::string name() const { return path_.filename().string(); }
  std::string model() const { return (path_.parent_path() / "model.json").string(); }

 private:
  std::filesystem::path path_;
};

TEST(Tables, AreFunctionsOfExpressions) {
  Tables tables = tables_of(R"({"torque": {"points": [[0, 90], [200, 110], [600, 70]]},
      "smooth": {"points": [[0, 0], [1, 1], [2, 0]], "interpolation": "spline"},
      "map": {"x": [0, 1], "y": [0, 1, 2], "values": [[1, 2, 3], [2, 4, 6]]}})");
  EXPECT_EQ(value_of(tables, "torque(x)", 100), 100);
  EXPECT_EQ(value_of(tables, "2*torque ( x + y ) - 1", 300, 100), 179);
  EXPECT_EQ(value_of(tables, "torque(torque(x))", 0), 99);
  EXPECT_NEAR(value_of(tables, "smooth(x)", 0.5), (3 * 0.5 - 0.125) / 2, 1e-15);
  EXPECT_EQ(value_of(tables, "map(x, torque(y) - 89)", 0.5, 0), 3);
  EXPECT_EQ(value_of(tables, "max(map(1, 2), x)", 7), 7);
  // A table without its argument is a mistake, unless something else has the name.
  try {
    tables.written_out("2*torque + 1");
    FAIL();
  } catch (const TableError& error) {
    EXPECT_STREQ(error.what(), "the table 'torque' is a function: write torque(x)");
  }
  tables.add_variable("torque");
  // Names that only look alike.
  EXPECT_EQ(tables.written_out("torque + torques(x) + my_torque(x)"), "torque + torques(x) + my_torque(x)");
  EXPECT_THROW(tables.written_out("torque(x, y)"), TableError);
  EXPECT_THROW(tables.written_out("map(x)"), TableError);
  EXPECT_EQ(tables.written_out("torque(x"), "torque(x");  // the parser of expressions says what is missing
}

TEST(Tables, ComeFromFiles) {
  const TemporaryFile road("road.csv", "s,height\n0, 0\n1; 0.5\n\n2\t0.25\r\n");
  const Tables one = tables_of(R"({"road": {"file": ")" + road.name() + R"("}})", road.model());
  EXPECT_EQ(value_of(one, "road(x)", 1.5), 0.375);
  EXPECT_EQ(value_of(one, "road(x)", 9), 0.25);

  const TemporaryFile map("map.csv", "speed\\torque, 0, 1, 2\n0, 1, 2, 3\n1, 2, 4, 6\n");
  const Tables two = tables_of(R"({"map": {"file": ")" + map.name() + R"("}})", map.model());
  EXPECT_EQ(value_of(two, "map(x, y)", 0.5, 2), 4.5);
  const TemporaryFile corner("corner.csv", "0, 0, 1, 2\n0, 1, 2, 3\n1, 2, 4, 6\n");
  EXPECT_EQ(
      value_of(tables_of(R"({"map": {"file": ")" + corner.name() + R"("}})", corner.model()), "map(1, 1)"),
      4);

  for (const char* text : {"0, 0\n1\n", "0, 0\none, 2\n", "", "0, 0\n", "0, 0\n0, 1\n", "0, 0\n1, nan\n"}) {
    const TemporaryFile bad("bad.csv", text);
    EXPECT_THROW(tables_of(R"({"bad": {"file": ")" + bad.name() + R"("}})", bad.model()), TableError) << text;
  }
  try {
    tables_of(R"({"none": {"file": "no_such_file.csv"}})", "models/car.json");
    FAIL();
  } catch (const TableError& error) {
    EXPECT_STREQ(error.what(),
                 "the file 'no_such_file.csv': there is no such file; its path is relative to the model "
                 "file, so it was looked for at 'models/no_such_file.csv'");
  }
}

TEST(Tables, NameWhatIsWrong) {
  EXPECT_NE(mistake_of(R"({"sin": {"points": [[0, 1], [1, 2]]}})").find("'sin' is a function"),
            std::string::npos);
  EXPECT_NE(mistake_of(R"({"a": {"points": [[0, 1], [0, 2]]}})").find("must increase"), std::string::npos);
  EXPECT_NE(mistake_of(R"({"a": {"points": [[0, 1]]}})").find("at least two points"), std::string::npos);
  EXPECT_NE(mistake_of(R"({"a": {"points": [[0, 1], [1]]}})").find("expected points [x, y]"),
            std::string::npos);
  EXPECT_NE(mistake_of(R"({"a": {"points": [[0, 1], [1, 2]], "interpolation": "cubic"}})")
                .find("expected one of linear"),
            std::string::npos);
  EXPECT_NE(mistake_of(R"({"a": {"point": [[0, 1], [1, 2]]}})").find("unknown key 'point'"),
            std::string::npos);
  EXPECT_NE(mistake_of(R"({"a": {}})").find("expected \"points\""), std::string::npos);
  EXPECT_NE(mistake_of(R"({"a": {"x": [0, 1], "y": [0, 1], "values": [[1, 2]]}})").find("expected 2 rows"),
            std::string::npos);
  const Tables tables = tables_of(R"({"l": {"points": [[0, 0], [1, 1]]},
                                      "s": {"x": [0, 1], "y": [0, 1], "values": [[1, 2], [3, 4]]}})");
  const auto mistake_in = [&](const std::string& expression) -> std::string {
    try {
      tables.written_out(expression);
      return "";
    } catch (const TableError& error) {
      return error.what();
    }
  };
  EXPECT_EQ(mistake_in("l(0.5) + s(0, 1)"), "");
  EXPECT_NE(mistake_in("l()").find("the table 'l' takes 1 argument, got 0"), std::string::npos);
  EXPECT_NE(mistake_in("1 + s( )").find("the table 's' takes 2 arguments, got 0"), std::string::npos);
  EXPECT_NE(mistake_in("l(0, 1)").find("the table 'l' takes 1 argument, got 2"), std::string::npos);
  EXPECT_NE(mistake_of(R"({"2a": {"points": [[0, 1], [1, 2]]}})").find("expected a name"), std::string::npos);
}

}  // namespace
}  // namespace liedyn
