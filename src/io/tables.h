// Functions through points, for expressions. A model file gives them names,
//
//   "tables": { "torque": { "points": [[0, 90], [200, 110], [600, 70]], "interpolation": "pchip" },
//               "road": { "file": "road.csv" },
//               "map": { "x": [0, 1], "y": [0, 1, 2], "values": [[1, 2, 3], [2, 4, 6]] } }
//
// and expressions call them: "torque(speed)", "map(throttle, speed)". A trajectory (io/trajectory.h) is a table whose times are found:
//
//   "tables": { "move": { "waypoints": { "shoulder": [0, 1.2, 0.4], "elbow": [0, -0.7, 0.3] }, "speed": 2, "acceleration": { "shoulder": 8, "elbow": 5 } } }
//
// gives move.shoulder(t), move.elbow(t) and the constant move.end. A call is short for one of the functions of base/expression.h with
// the points written out, so that nothing behind the reader knows of tables.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "liedyn/io/json.h"

namespace liedyn {

// What is wrong with a table or a call of one.
class TableError : public std::runtime_error {
 public:
  explicit TableError(const std::string& message, std::string hint = {})
      : std::runtime_error(message), hint_(std::move(hint)) {}
  const std::string& hint() const { return hint_; }

 private:
  std::string hint_;
};

class Tables {
 public:
  // Files are looked for beside this one.
  explicit Tables(std::string model_file) : model_file_(std::move(model_file)) {}

  // A name that expressions may use without arguments, even if a table has the same.
  void add_variable(std::string_view name) { variables_.emplace(name); }
  // Throws TableError. Expressions that use the table are then written out with a number in its place: they are no errors of their own.
  void add(std::string_view name, JsonValue table);
  // The text with calls of tables written out. Throws TableError.
  std::string written_out(std::string_view text) const;

  // {"table": [[t, y], ...]} or {"table": "FILE"}, with "interpolation" perhaps, or {"trajectory": {...}}: the expression of t. Throws TableError.
  std::string function_of_time(JsonValue object) const;

 private:
  struct Table {
    std::string function;  // "linear"
    std::string points;    // ", 0, 90, 200, 110": what follows its arguments
    int arguments = 1;
  };
  Table through_points(JsonValue points, std::string_view interpolation) const;
  Table from_file(std::string_view file, std::string_view interpolation) const;
  static Table surface(JsonValue table);
  // One table per coordinate, "" for the only one of a list of waypoints, and the time at the end.
  struct Motion {
    std::vector<std::pair<std::string, Table>> coordinates;
    double end = 0;
  };
  static Motion motion(JsonValue trajectory);

  void read(std::string_view name, JsonValue table);

  std::string model_file_;
  std::map<std::string, Table, std::less<>> tables_;
  std::map<std::string, std::string, std::less<>> constants_;  // "move.end"
  std::map<std::string, std::string, std::less<>>
      motions_;  // trajectories of several coordinates: their names
  std::set<std::string, std::less<>> variables_;
  std::set<std::string, std::less<>> failed_;
};

}  // namespace liedyn
