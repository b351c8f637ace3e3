// What every reader of a data set returns: equally shaped items (images, or plain vectors), their labels and class
// names.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fcam/base/tensor.h"

namespace fcam {

enum class Split { train, test };

/// "train" or "test".
std::string to_string(Split split);

/// A set of labelled items, immutable and cheap to copy: copies share the pixels. An item is an image of shape
/// (channels, height, width) or a vector of shape (dimension). Bytes stay bytes until a batch asks for numbers.
class Images {
 public:
  /// An empty set, to be assigned to.
  Images();

  /// Pixels as bytes, item after item, each in the order of `shape`. Throws DataError unless the sizes agree, there is
  /// at least one item, and every label is in [0, class_names.size()).
  Images(Shape shape, std::vector<std::uint8_t> pixels, std::vector<int> labels, std::vector<std::string> class_names);
  /// The same with numbers, which models see as they are.
  Images(Shape shape, std::vector<float> values, std::vector<int> labels, std::vector<std::string> class_names);

  std::size_t count() const;
  const Shape& shape() const;              ///< of one item
  const std::vector<int>& labels() const;  ///< one an item
  const std::vector<std::string>& class_names() const;
  bool has_bytes() const;  ///< whether items are stored as bytes

  /// Bytes of item `index`. Requires has_bytes().
  const std::uint8_t* bytes(std::size_t index) const;
  /// Numbers of item `index`. Requires !has_bytes().
  const float* values(std::size_t index) const;

  /// Writes item `index` as a model sees it: bytes v as (v/255 - 0.5)/0.5, numbers unchanged. Requires room for
  /// element_count(shape()) numbers at `out`. Instantiated for float and double.
  template <class T>
  void copy(std::size_t index, T* out) const;

 private:
  struct Content;
  Images(Shape shape, std::vector<std::uint8_t> pixels, std::vector<float> values, std::vector<int> labels,
         std::vector<std::string> class_names);
  std::shared_ptr<const Content> content_;
};

/// A hash of shape, labels, class names and content (FNV-1a, 64 bits), the same on every machine.
std::uint64_t content_hash(const Images& images);

/// Number of a class given by its name, or by its number unless a class has the number of another for its name. Throws
/// UsageError with the names that exist.
int find_class(const std::vector<std::string>& class_names, const std::string& name_or_number);

}  // namespace fcam
