// Random numbers without a state: number k of stream s is a function of (seed, s, k) alone. Whoever needs one computes it, in any order, on any thread or machine.
//
// The generator is Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; SC11, 2011).
#pragma once

#include <array>
#include <cstdint>

namespace liedyn {

// One block of the generator: 128 random bits for a counter of 128 bits and a key of 64 bits.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

// 64 random bits.
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t index);
// Uniform in the open interval (0, 1): the middle of one of 2^52 equal parts.
double random_unit(std::uint64_t seed, std::uint64_t stream, std::uint64_t index);

// The element `index` of a random order of 0 ... count - 1, without a table. A Feistel network permutes the numbers below a power of four; where it leads out of the
// range it is followed further, which stays a permutation.
std::uint64_t random_order(std::uint64_t seed, std::uint64_t stream, std::uint64_t count,
                           std::uint64_t index);

}  // namespace liedyn
