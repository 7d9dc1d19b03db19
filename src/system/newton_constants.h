// Every constant of Newton's method in the corrector. docs/theory/04_corrector.md has them in one table, with the derivation or measurement of each.
#pragma once

#include <cstdint>
#include <limits>

namespace liedyn::newton {

// ---- stopping rule

// Each iteration should at least halve the residual: otherwise it stagnates, or a kept matrix is too old.
inline constexpr double kWorstContraction = 0.5;
// The residual of a predictor counts this many times: a predictor that is accepted leaves an error of the same sign in every step.
inline constexpr double kPredictorFactor = 1e3;
// With a kept matrix residuals shrink by a factor instead of being squared. While they shrink they count this many times, to leave as little;
// more where only bodies and joints move, since nothing damps what is left.
inline constexpr double kKeptMatrixFactor = 3;
inline constexpr double kKeptMatrixFactorIfSmooth = 10;
// Increments below this part of the tolerance are negligible.
inline constexpr double kNegligible = 1e-3;
// Solves of a smooth motion with the same scales, and solves in a row that may end by prediction, before the next one looks again.
inline constexpr int kMostScalesAge = 7;
inline constexpr int kMostUnchecked = 7;
// A predicted residual counts this many times.
inline constexpr double kPredictionMargin = 4;

// ---- round-off

inline constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
// Relative change of unknowns by which round-off is probed: sqrt(epsilon), where truncation and rounding of a difference are equal.
inline constexpr double kProbe = 0x1p-26;
// Random changes of all unknowns, and where their sequence begins.
inline constexpr int kProbes = 2;
inline constexpr std::uint32_t kFirstRandom = 12345;
// Round-off of a sum of many terms, in epsilon times its largest term; and of two terms, each rounded once.
inline constexpr double kSumRounding = 16;
inline constexpr double kPairRounding = 2;
// Of a constraint between two points p + R a, and of the angle that four Euler parameters give, in epsilon times their size.
inline constexpr double kRowRounding = 4;
inline constexpr double kEulerRounding = 8;
// Round-off that was estimated too low is enlarged by kMarginGrowth, up to kLargestMargin; the next solve keeps kMarginKept of it.
inline constexpr double kMarginGrowth = 2;
inline constexpr double kLargestMargin = 64;
inline constexpr double kMarginKept = 0.9;
// Scales of equations in which nothing acts: any residual is too large, and its quotient is still finite.
inline constexpr double kLeastScale = 1e-290;

// ---- matrix policy

// Modified Newton takes a new matrix if with the present contraction the solve would need more than this part of the allowed iterations.
inline constexpr double kMostOfIterations = 0.75;
// Iterations that a solve with a new matrix still needs.
inline constexpr double kIterationsWithNew = 1;
// Least cost, in iterations, of a matrix that is kept. Where the last residual is predicted, a kept matrix costs the residual that prediction
// saves; in a tree this is little beside the matrix.
inline constexpr double kWorthKeeping = 1;
inline constexpr double kWorthKeepingIfPredicted = 2.5;
// Solves that begin with a new matrix after a kept one failed at once: doubled from failure to failure.
inline constexpr int kShortestPause = 2;
inline constexpr int kLongestPause = 64;
// Iterations of a solve before there has been one.
inline constexpr int kFirstExpectation = 2;

// Times in nanoseconds, of an element: its residual, and its part of the matrix in addition.
struct ElementTimes {
  double residual, matrix;
};
inline constexpr ElementTimes kBeamTimes{500, 2500}, kElementTimes{100, 200};
// Of a contact or stop: derivatives by dual numbers.
inline constexpr ElementTimes kContactTimes{300, 3000};
inline constexpr double kNodeTime = 150;
// In a tree elements have full blocks, which each link passes on to all before it.
inline constexpr ElementTimes kLinkTimes{300, 1400}, kBeamTimesInTree{300, 8500},
    kJointTimesInTree{300, 2000}, kForceTimesInTree{300, 8000};
inline constexpr double kPairOfLinksTime = 300;

// ---- line search

// Armijo: the residual falls by at least this part of what a full step promises, or the step is halved, down to kShortestStep.
inline constexpr double kArmijo = 1e-4;
inline constexpr double kShortestStep = 1e-3;

// ---- messages

// |cos phi_2| of Cardan angles below which a failure mentions them.
inline constexpr double kNearlySingular = 0.5;

}  // namespace liedyn::newton
