// Mosaics (bags): m patches of which one, at hidden position z, is from a foreground class, the label; or ready-made
// bags.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fcam/data/images.h"

namespace fcam {

/// How mosaics are drawn from images.
enum class Draws {
  keyed,  ///< y and z uniform, an image of class y uniform, backgrounds uniform over all background images
  numpy,  ///< the draws of the paper's public script: mt19937 seeded with the mosaic's index (docs/file-formats.md)
};

struct MosaicOptions {
  std::size_t patches = 5;                   ///< m
  std::size_t count = 10000;                 ///< N
  std::vector<std::string> foreground = {};  ///< class names or numbers; empty: the first three
  std::vector<std::string> background = {};  ///< class names or numbers; empty: all classes that are not foreground
  std::uint64_t seed = 1;                    ///< of the keyed draws
  Split split = Split::train;                ///< keeps the keyed draws of train and test apart
  Draws draws = Draws::keyed;
};

/// One mosaic: which base image stands at each position.
struct Mosaic {
  std::vector<std::size_t> images = {};  ///< m indices into the base images
  int label = 0;                         ///< y in [0, C)
  int z = 0;                             ///< position of the foreground in [0, m), or -1 where it is not known
};

/// N mosaics over shared base images. Mosaic i is made when asked for, so memory does not grow with N.
class Mosaics {
 public:
  /// Throws UsageError if a class does not exist, is foreground and background at once, is named twice or has no image,
  /// or if a number is out of range (patches >= 1, count >= 1, at least one foreground class, and a background class
  /// where patches > 1).
  Mosaics(Images images, const MosaicOptions& options);

  /// Ready-made bags: bag i is items i m ... i m + m - 1 of `patches` (whose own labels are not used), with label
  /// labels[i] and position z[i]; `z` empty: not known. Throws DataError if counts or ranges do not fit.
  static Mosaics from_bags(Images patches, std::size_t patches_per_bag, std::vector<int> labels, std::vector<int> z,
                           std::vector<std::string> class_names);

  std::size_t count() const { return count_; }                                  ///< N
  std::size_t patches() const { return patches_; }                              ///< m
  const Shape& shape() const { return images_.shape(); }                        ///< of one patch
  std::size_t classes() const { return class_names_.size(); }                   ///< C
  const std::vector<std::string>& class_names() const { return class_names_; }  ///< of the labels
  const Images& images() const { return images_; }                              ///< the base images
  bool knows_positions() const { return knows_positions_; }                     ///< whether z is known
  bool ready_made() const { return ready_made_; }                               ///< whether they come of from_bags
  /// Base images that a foreground, and those that a background may be drawn from; none of ready-made bags.
  std::size_t foreground_images() const { return all_foreground_.size(); }
  std::size_t background_images() const { return background_.size(); }

  /// Draws mosaic i into `mosaic`, whose memory is reused. Requires i < count().
  void draw(std::size_t i, Mosaic& mosaic) const;

  /// Writes the patches of a mosaic as a model sees them, (m, shape()...). Instantiated for float and double.
  template <class T>
  void copy(const Mosaic& mosaic, T* x) const;

 private:
  Mosaics() = default;
  void draw_keyed(std::size_t i, Mosaic& mosaic) const;
  void draw_numpy(std::size_t i, Mosaic& mosaic) const;

  Images images_;
  std::size_t patches_ = 0, count_ = 0;
  std::vector<std::string> class_names_;
  bool knows_positions_ = true;
  bool ready_made_ = false;
  std::vector<int> bag_labels_, bag_positions_;  // of ready-made bags
  std::uint64_t seed_ = 0;
  Split split_ = Split::train;
  Draws draws_ = Draws::keyed;
  std::vector<std::vector<std::size_t>> foreground_;      // images of each foreground class, in the order of the set
  std::vector<std::size_t> all_foreground_, background_;  // the pools, in the order of the set
};

/// A hash of all that makes ready-made bags: patches, their number in a bag, labels, positions and class names; the
/// same on every machine.
std::uint64_t content_hash(const Mosaics& bags);

}  // namespace fcam
