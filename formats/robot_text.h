// What readers of robots share: JSON of vectors and orientations, names that model files allow, and the frame around a reader.
#pragma once

#include <Eigen/Dense>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>

#include "liedyn/io/robot_format.h"

namespace robots {

using json = nlohmann::ordered_json;
using Eigen::Matrix3d, Eigen::Vector3d, Eigen::Quaterniond;

// What cannot be expressed here.
struct Refused : std::runtime_error {
  Refused(const std::string& message, std::string what_to_do = {})
      : std::runtime_error(message), hint(std::move(what_to_do)) {}
  std::string hint;
};

inline json list(const Vector3d& v) { return {v[0], v[1], v[2]}; }
inline json orientation(const Matrix3d& R) {
  const Quaterniond q(R);
  return {{"quaternion", {q.w(), q.x(), q.y(), q.z()}}};
}
// In the order of model files.
inline json inertia(const Matrix3d& J) { return {J(0, 0), J(1, 1), J(2, 2), J(1, 2), J(0, 2), J(0, 1)}; }

// The names of one section: letters, digits and underscores, each once.
class Names {
 public:
  static std::string clean(const std::string& name, const std::string& otherwise) {
    std::string out;
    for (const char c : name) out += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    if (out.empty()) return otherwise;
    return std::isdigit(static_cast<unsigned char>(out.front())) != 0 ? "_" + out : out;
  }
  std::string add(const std::string& name, const std::string& otherwise) {
    static const std::set<std::string> kTaken = {"ground", "t", "pi", "deg"};
    std::string out = clean(name, otherwise);
    while (kTaken.count(out) > 0 || !used_.insert(out).second) out += "_";
    return out;
  }

 private:
  std::set<std::string> used_;
};

// read(file) as RobotFormat wants it.
template <auto read>
char* text_of(const char* file) {
  json out;
  try {
    out = read(file);
  } catch (const Refused& refused) {
    out = {{"error", refused.what()}, {"hint", refused.hint}};
  } catch (const std::exception& error) {
    out = {{"error", error.what()}, {"hint", ""}};
  }
  return strdup(out.dump(1, ' ', false, json::error_handler_t::replace).c_str());
}
inline void release(char* text) { std::free(text); }

}  // namespace robots

#define LIEDYN_ROBOT_FORMAT(read)                                                                          \
  extern "C" __attribute__((visibility("default"))) const liedyn::RobotFormat* liedyn_robot_format() {     \
    static constexpr liedyn::RobotFormat kFormat = {liedyn::RobotFormat::kVersion, &robots::text_of<read>, \
                                                    &robots::release};                                     \
    return &kFormat;                                                                                       \
  }
