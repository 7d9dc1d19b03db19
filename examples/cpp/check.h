// Twelve digits of the closed form, or the program fails.
#pragma once

#include <cmath>
#include <cstdio>

inline bool agrees(const char* what, double found, double expected) {
  const double error = std::abs(found - expected) / std::abs(expected);
  std::printf("%-44s %.15g  closed form %.15g  difference %.1e\n", what, found, expected, error);
  return error < 1e-12;
}
