#include <algorithm>
#include <cmath>
#include <concepts>
#include <string_view>
#include <utility>

#include "fcam/data/input.h"
#include "fcam/data/npy.h"

namespace fcam {
namespace {

constexpr std::size_t most_classes = 100000;  // each has a name in memory, so a wild label must not decide how many

std::string path_of(const std::string& folder, char letter, Split split) {
  return find_file(folder, {std::string(1, letter) + "_" + to_string(split) + ".npy"});
}

// A file of N integers in [0, bound).
std::vector<int> read_integers(const std::string& path, std::size_t bound) {
  const NpyArray array = read_npy(path);
  if (array.shape.size() != 1) throw bad_input(path, "an array of one axis", to_string(array.shape));
  if (array.shape[0] == 0) throw bad_input(path, "at least one number", "no samples");
  std::vector<int> integers(array.shape[0]);
  std::visit(
      [&](const auto& values) {
        using T = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (std::floating_point<T>) {
          throw bad_input(path, "integers (u1, i4 or i8)", "floating-point numbers (f4 or f8)");
        } else {
          for (std::size_t i = 0; i < values.size(); ++i) {
            if (std::cmp_less(values[i], 0) || std::cmp_greater_equal(values[i], bound)) {
              throw bad_input(path, "integers from 0 to " + std::to_string(bound - 1),
                              std::to_string(values[i]) + " at index " + std::to_string(i));
            }
            integers[i] = static_cast<int>(values[i]);
          }
        }
      },
      array.values);
  return integers;
}

struct Labels {
  std::vector<int> labels;
  std::vector<std::string> class_names;
};

Labels read_labels(const std::string& folder, Split split) {
  Labels result{read_integers(path_of(folder, 'y', Split::train), most_classes), {}};
  const int largest = *std::max_element(result.labels.begin(), result.labels.end());
  for (int c = 0; c <= largest; ++c) result.class_names.push_back(std::to_string(c));
  if (split == Split::test) result.labels = read_integers(path_of(folder, 'y', split), result.class_names.size());
  return result;
}

// An array of items behind `leading` axes.
struct Items {
  std::string path;
  NpyArray array;
  Shape shape;  // of one item
};

Items read_items(const std::string& folder, Split split, std::size_t leading) {
  Items items{path_of(folder, 'x', split), {}, {}};
  items.array = read_npy(items.path);
  const Shape& shape = items.array.shape;
  if (shape.size() <= leading || shape.size() > leading + 3) {
    throw bad_input(
        items.path,
        leading == 1 ? "shape (N,P), (N,H,W) or (N,C,H,W)" : "bags of shape (N,m,P), (N,m,H,W) or (N,m,C,H,W)",
        to_string(shape));
  }
  if (saturating_count(shape) == 0)
    throw bad_input(items.path, "at least one number", "no samples: shape " + to_string(shape));
  if (shape.size() == leading + 2) items.shape.push_back(1);
  items.shape.insert(items.shape.end(), shape.begin() + static_cast<std::ptrdiff_t>(leading), shape.end());
  return items;
}

void require_count(const std::string& path, std::size_t expected, std::size_t found, const std::string& x_path) {
  if (found == expected) return;
  throw bad_input(path, std::to_string(expected) + " numbers, one for each item of " + quote(x_path),
                  std::to_string(found));
}

template <class T>
std::vector<float> to_finite_floats(const std::string& path, std::vector<T> values) {
  std::vector<float> floats;
  if constexpr (std::same_as<T, float>) {
    floats = std::move(values);
  } else {
    floats.assign(values.begin(), values.end());
  }
  const auto bad = std::find_if(floats.begin(), floats.end(), [](float value) { return !std::isfinite(value); });
  if (bad != floats.end()) {
    throw bad_input(path, "finite numbers within the range of float",
                    std::to_string(*bad) + " at flat index " + std::to_string(bad - floats.begin()));
  }
  return floats;
}

Images make_images(Items items, std::vector<int> labels, std::vector<std::string> class_names) {
  return std::visit(
      [&](auto& values) {
        using T = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (std::same_as<T, std::uint8_t>) {
          return Images(std::move(items.shape), std::move(values), std::move(labels), std::move(class_names));
        } else {
          return Images(std::move(items.shape), to_finite_floats(items.path, std::move(values)), std::move(labels),
                        std::move(class_names));
        }
      },
      items.array.values);
}

}  // namespace

Images read_npy_images(const std::string& folder, Split split) {
  Items items = read_items(folder, split, 1);
  Labels y = read_labels(folder, split);
  require_count(path_of(folder, 'y', split), items.array.shape[0], y.labels.size(), items.path);
  return make_images(std::move(items), std::move(y.labels), std::move(y.class_names));
}

Mosaics read_npy_bags(const std::string& folder, Split split) {
  Items items = read_items(folder, split, 2);
  const std::size_t count = items.array.shape[0], patches = items.array.shape[1];
  Labels y = read_labels(folder, split);
  require_count(path_of(folder, 'y', split), count, y.labels.size(), items.path);
  std::vector<int> z;
  if (has_file(folder, "z_" + to_string(split) + ".npy")) {
    const std::string z_path = path_of(folder, 'z', split);
    z = read_integers(z_path, patches);
    require_count(z_path, count, z.size(), items.path);
  }
  std::vector<int> patch_labels;  // a patch goes by the label of its bag
  patch_labels.reserve(count * patches);
  for (const int label : y.labels) patch_labels.insert(patch_labels.end(), patches, label);
  Images images = make_images(std::move(items), std::move(patch_labels), y.class_names);
  return Mosaics::from_bags(std::move(images), patches, std::move(y.labels), std::move(z), std::move(y.class_names));
}

bool npy_holds_bags(const std::string& folder) {
  const Shape shape = read_npy_shape(path_of(folder, 'x', Split::train));
  return shape.size() == 5 || has_file(folder, "z_train.npy");
}

}  // namespace fcam
