// Random numbers that are the same on every machine: own generator, own distributions, no libm.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace fcam {

/// A generator (xoshiro256++) whose whole sequence is a function of (seed, stream, index): any mosaic, weight or epoch
/// can be drawn by itself, in any order and on any thread. Streams are named so that changing one part of a program
/// never shifts the numbers of another. Requires a name that is not empty.
class Random {
 public:
  Random(std::uint64_t seed, std::string_view stream, std::uint64_t index = 0);

  /// 64 random bits.
  std::uint64_t bits();
  /// Uniform on {0, ..., bound - 1}, without bias. Requires bound > 0.
  std::uint64_t below(std::uint64_t bound);
  /// Uniform on [0, 1), a multiple of 2^-53.
  double uniform();
  /// Standard normal (polar method).
  double normal();
  /// i with probability softmax(log_weights)_i. Requires at least one weight, all finite.
  std::size_t categorical(std::span<const double> log_weights);

 private:
  std::array<std::uint64_t, 4> state_;
  double spare_ = 0;
  bool has_spare_ = false;
};

/// A random permutation of {0, ..., size - 1} that takes no memory: a keyed Feistel network with cycle walking.
/// Serves as the order of an epoch, whatever the number of mosaics.
class Permutation {
 public:
  /// Requires size > 0 and a stream as Random does.
  Permutation(std::uint64_t size, std::uint64_t seed, std::string_view stream, std::uint64_t index = 0);

  /// Where position `i` goes. Requires i < size.
  std::uint64_t operator()(std::uint64_t i) const;

 private:
  std::uint64_t size_;
  int half_bits_;
  std::array<std::uint64_t, 6> keys_;
};

}  // namespace fcam
