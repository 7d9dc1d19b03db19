#include "liedyn/base/random.h"

#include <algorithm>
#include <bit>

namespace liedyn {

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> c, std::array<std::uint32_t, 2> k) {
  constexpr std::uint64_t kFirst = 0xD2511F53, kSecond = 0xCD9E8D57;      // multipliers
  constexpr std::uint32_t kGolden = 0x9E3779B9, kRootThree = 0xBB67AE85;  // increments of the key
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t a = kFirst * c[0], b = kSecond * c[2];
    c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ k[0], static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ k[1], static_cast<std::uint32_t>(a)};
    k = {k[0] + kGolden, k[1] + kRootThree};
  }
  return c;
}

std::uint64_t random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
  const auto block = philox({low(index), high(index), low(stream), high(stream)}, {low(seed), high(seed)});
  return (static_cast<std::uint64_t>(block[1]) << 32) | block[0];
}

double random_unit(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return (static_cast<double>(random_bits(seed, stream, index) >> 12) + 0.5) * 0x1p-52;
}

std::uint64_t random_order(std::uint64_t seed, std::uint64_t stream, std::uint64_t count,
                           std::uint64_t index) {
  if (count < 2) return 0;
  constexpr std::uint64_t kRounds = 8;
  // Bits of each half. Halves of one bit would not reach all orders.
  const int half = std::max(4, (static_cast<int>(std::bit_width(count - 1)) + 1) / 2);
  const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
  do {
    std::uint64_t left = index >> half, right = index & mask;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      const std::uint64_t next = left ^ (random_bits(seed, stream, (round << 56) | right) & mask);
      left = right;
      right = next;
    }
    index = (left << half) | right;
  } while (index >= count);
  return index;
}

}  // namespace liedyn
