// Compiled with -ffp-contract=off: a fused multiply-add would change the last bit from machine to machine.
#include "fcam/base/random.h"

#include <bit>
#include <cassert>
#include <cmath>

namespace fcam {
namespace {

// The output function of splitmix64 (Steele, Lea, Flood 2014): a bijection that mixes all 64 bits.
std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

constexpr std::uint64_t golden_gamma = 0x9e3779b97f4a7c15u;

// One 64-bit key of (seed, stream, index).
std::uint64_t key_of(std::uint64_t seed, std::string_view stream, std::uint64_t index) {
  assert(!stream.empty());  // without the name between them, seed and index could be exchanged
  std::uint64_t key = mix(seed + golden_gamma);
  for (const char c : stream) key = mix(key ^ static_cast<unsigned char>(c)) + golden_gamma;
  return mix(key ^ mix(index + golden_gamma));
}

// Natural logarithm of x > 0 by the series of atanh, with additions, products and one division only: within 2 units in
// the last place, and the same bits everywhere, which std::log does not promise.
double portable_log(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);  // [0.5, 1)
  if (mantissa < 0.70710678118654752) {
    mantissa *= 2;
    --exponent;
  }
  const double s = (mantissa - 1) / (mantissa + 1);
  const double s2 = s * s;
  double sum = 0;
  for (int k = 23; k >= 1; k -= 2) sum = sum * s2 + 1.0 / k;
  return exponent * 0.69314718055994531 + 2 * s * sum;
}

}  // namespace

Random::Random(std::uint64_t seed, std::string_view stream, std::uint64_t index) {
  std::uint64_t key = key_of(seed, stream, index);
  for (auto& word : state_) word = mix(key += golden_gamma);
}

std::uint64_t Random::bits() {
  auto& s = state_;
  const std::uint64_t result = std::rotl(s[0] + s[3], 23) + s[0];
  const std::uint64_t shifted = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= shifted;
  s[3] = std::rotl(s[3], 45);
  return result;
}

std::uint64_t Random::below(std::uint64_t bound) {
  assert(bound > 0);
  // Numbers below 2^64 mod bound are rejected, so that every residue is equally likely.
  const std::uint64_t threshold = -bound % bound;
  for (;;) {
    const std::uint64_t draw = bits();
    if (draw >= threshold) return draw % bound;
  }
}

double Random::uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

double Random::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  double u, v, square;
  do {
    u = 2 * uniform() - 1;
    v = 2 * uniform() - 1;
    square = u * u + v * v;
  } while (square >= 1 || square == 0);
  const double factor = std::sqrt(-2 * portable_log(square) / square);
  spare_ = v * factor;
  has_spare_ = true;
  return u * factor;
}

// The largest of log_weights[i] less log of an exponential variable (Gumbel's trick): logarithms alone.
std::size_t Random::categorical(std::span<const double> log_weights) {
  assert(!log_weights.empty());
  std::size_t winner = 0;
  double largest = 0;
  for (std::size_t i = 0; i < log_weights.size(); ++i) {
    double exponential;
    do exponential = -portable_log(1 - uniform());
    while (exponential == 0);
    const double value = log_weights[i] - portable_log(exponential);
    if (i > 0 && value <= largest) continue;
    winner = i;
    largest = value;
  }
  return winner;
}

Permutation::Permutation(std::uint64_t size, std::uint64_t seed, std::string_view stream, std::uint64_t index)
    : size_(size), half_bits_((std::bit_width(size > 1 ? size - 1 : 1) + 1) / 2) {
  assert(size > 0);
  std::uint64_t key = key_of(seed, stream, index);
  for (auto& round_key : keys_) round_key = mix(key += golden_gamma);
}

std::uint64_t Permutation::operator()(std::uint64_t i) const {
  assert(i < size_);
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  do {  // the network permutes a square of 2^(2 half_bits) >= size numbers; walk on until back inside
    std::uint64_t left = i >> half_bits_, right = i & mask;
    for (const std::uint64_t key : keys_) {
      const std::uint64_t next = left ^ (mix(right ^ key) & mask);
      left = right;
      right = next;
    }
    i = left << half_bits_ | right;
  } while (i >= size_);
  return i;
}

}  // namespace fcam
