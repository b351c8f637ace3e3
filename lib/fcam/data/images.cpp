#include "fcam/data/images.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <string_view>
#include <utility>

#include "fcam/base/error.h"
#include "fcam/base/fnv.h"
#include "fcam/base/text.h"
#include "fcam/data/input.h"

namespace fcam {
namespace {

void require(bool holds, const std::string& expected, const std::string& found) {
  if (!holds) throw DataError("images: expected " + expected + ", found " + found);
}

void check(const Shape& shape, std::size_t numbers, const std::vector<int>& labels, std::size_t classes) {
  require(!labels.empty(), "at least one item", "no samples");
  require(!shape.empty() && saturating_count(shape) > 0, "items of a shape without zeros", to_string(shape));
  Shape whole{labels.size()};
  whole.insert(whole.end(), shape.begin(), shape.end());
  require(saturating_count(whole) == numbers, std::to_string(labels.size()) + " items of shape " + to_string(shape),
          std::to_string(numbers) + " numbers");
  const auto bad =
      std::find_if(labels.begin(), labels.end(), [&](int y) { return y < 0 || std::cmp_greater_equal(y, classes); });
  if (bad == labels.end()) return;
  require(false, "labels from 0 to below " + std::to_string(classes),
          std::to_string(*bad) + " at index " + std::to_string(bad - labels.begin()));
}

// What a model sees of each byte.
template <class T>
constexpr std::array<T, 256> make_byte_table() {
  std::array<T, 256> table{};
  for (std::size_t v = 0; v < table.size(); ++v) table[v] = (static_cast<T>(v) / T{255} - T{0.5}) / T{0.5};
  return table;
}
template <class T>
constexpr std::array<T, 256> byte_table = make_byte_table<T>();

}  // namespace

std::string to_string(Split split) { return split == Split::train ? "train" : "test"; }

struct Images::Content {
  Shape shape;
  std::size_t numbers = 0;           // in one item
  std::vector<std::uint8_t> pixels;  // of all items, or
  std::vector<float> values;         // of all items
  std::vector<int> labels;
  std::vector<std::string> class_names;
};

Images::Images() : content_(std::make_shared<Content>()) {}

Images::Images(Shape shape, std::vector<std::uint8_t> pixels, std::vector<float> values, std::vector<int> labels,
               std::vector<std::string> class_names) {
  check(shape, pixels.size() + values.size(), labels, class_names.size());
  const std::size_t numbers = element_count(shape);
  content_ = std::make_shared<Content>(Content{std::move(shape), numbers, std::move(pixels), std::move(values),
                                               std::move(labels), std::move(class_names)});
}

Images::Images(Shape shape, std::vector<std::uint8_t> pixels, std::vector<int> labels,
               std::vector<std::string> class_names)
    : Images(std::move(shape), std::move(pixels), std::vector<float>(), std::move(labels), std::move(class_names)) {}

Images::Images(Shape shape, std::vector<float> values, std::vector<int> labels, std::vector<std::string> class_names)
    : Images(std::move(shape), std::vector<std::uint8_t>(), std::move(values), std::move(labels),
             std::move(class_names)) {}

std::size_t Images::count() const { return content_->labels.size(); }
const Shape& Images::shape() const { return content_->shape; }
const std::vector<int>& Images::labels() const { return content_->labels; }
const std::vector<std::string>& Images::class_names() const { return content_->class_names; }
bool Images::has_bytes() const { return !content_->pixels.empty(); }

const std::uint8_t* Images::bytes(std::size_t index) const {
  assert(has_bytes() && index < count());
  return content_->pixels.data() + index * content_->numbers;
}

const float* Images::values(std::size_t index) const {
  assert(!has_bytes() && index < count());
  return content_->values.data() + index * content_->numbers;
}

template <class T>
void Images::copy(std::size_t index, T* out) const {
  const std::size_t numbers = content_->numbers;
  if (has_bytes()) {
    const std::uint8_t* in = bytes(index);
    for (std::size_t k = 0; k < numbers; ++k) out[k] = byte_table<T>[in[k]];
  } else {
    std::copy_n(values(index), numbers, out);
  }
}

template void Images::copy(std::size_t, float*) const;
template void Images::copy(std::size_t, double*) const;

std::uint64_t content_hash(const Images& images) {
  Fnv hash;
  hash.add(images.shape().size());
  for (const std::size_t size : images.shape()) hash.add(size);
  hash.add(images.count());
  for (const int label : images.labels()) hash.add(static_cast<std::uint64_t>(label));
  hash.add(images.class_names().size());
  for (const std::string& name : images.class_names()) hash.add(std::string_view(name));
  hash.add_byte(images.has_bytes() ? 1 : 0);
  const std::size_t numbers = images.count() * element_count(images.shape());
  if (images.count() > 0 && images.has_bytes()) {
    const std::uint8_t* bytes = images.bytes(0);
    for (std::size_t k = 0; k < numbers; ++k) hash.add_byte(bytes[k]);
  } else if (images.count() > 0) {
    const float* values = images.values(0);
    for (std::size_t k = 0; k < numbers; ++k) hash.add(std::bit_cast<std::uint32_t>(values[k]), 4);
  }
  return hash.value();
}

int find_class(const std::vector<std::string>& class_names, const std::string& name_or_number) {
  const auto found = std::find(class_names.begin(), class_names.end(), name_or_number);
  if (found != class_names.end()) return static_cast<int>(found - class_names.begin());
  std::uint64_t number = 0, name = 0;
  if (!parse_count(name_or_number, number) || number >= class_names.size())
    throw UsageError("class: " + unknown_name(name_or_number, class_names));
  for (std::size_t c = 0; c < class_names.size(); ++c) {
    if (!parse_count(class_names[c], name) || name == c) continue;
    throw UsageError("class: expected one of the names, as some are numbers of other classes (class " +
                     std::to_string(c) + " is called " + quote(class_names[c]) + "), found " + quote(name_or_number));
  }
  return static_cast<int>(number);
}

}  // namespace fcam
