// What the shared objects liedyn_mjcf.so and liedyn_sdf.so give to the program that loads them: readers of robot descriptions by the libraries of
// MuJoCo and SDFormat. Plain C types: the objects need nothing of this library, and this library needs none of those.
#pragma once

namespace liedyn {

struct RobotFormat {
  static constexpr int kVersion = 1;
  int version;
  // A text in JSON: {"model": {...}, "warnings": [...]} with the model as a model file, or {"error": "...", "hint": "..."}.
  char* (*read)(const char* file);
  void (*release)(char* text);
};

// extern "C" const RobotFormat* liedyn_robot_format();
using RobotFormatEntry = const RobotFormat* (*)();
inline constexpr const char* kRobotFormatEntry = "liedyn_robot_format";

}  // namespace liedyn
