#include <algorithm>
#include <cmath>
#include <concepts>
#include <string_view>
#include <utility>

#include "fcam/base/text.h"
#include "fcam/data/class_names.h"
#include "fcam/data/holdout.h"
#include "fcam/data/input.h"
#include "fcam/data/npy.h"

namespace fcam {
namespace {

constexpr std::size_t most_classes = 100000;  // each has a name in memory, so a wild label must not decide how many

constexpr const char* names_file = "class_names.txt";

// Names of arrays: those of one set, and those of two.
const std::vector<std::vector<std::string>> plain_names{{"x.npy"}, {"y.npy"}, {"z.npy"}},
    split_names{{"x_train.npy"}, {"y_train.npy"}, {"z_train.npy"}, {"x_test.npy"}, {"y_test.npy"}, {"z_test.npy"}};

// Where the files of a data set are.
class Source {
 public:
  explicit Source(std::string folder) : folder_(std::move(folder)), plain_(has("x.npy")) {
    const auto others = files_there(folder_, plain_ ? split_names : plain_names);
    if (!plain_) find_file(folder_, {"x_train.npy", "x.npy"});
    if (!others.empty()) {
      throw bad_input(folder_, "either x.npy or x_train.npy, and the same ending for the others",
                      "both endings: " + quote(others[0]) + " beside " + (plain_ ? "x.npy" : "x_train.npy"));
    }
    is_one_set_ = plain_ || !(has("x_test.npy") || has("y_test.npy") || has("z_test.npy"));
    if (!is_one_set_)
      require_no_shared_file(files_there(folder_, {{"x_train.npy"}}), files_there(folder_, {{"x_test.npy"}}));
  }

  const std::string& folder() const { return folder_; }
  bool is_one_set() const { return is_one_set_; }
  bool has(const std::string& name) const { return has_file(folder_, name); }

  // Name and path of the file of x, y or z that the split is in.
  std::string name(char letter, Split split) const {
    return std::string(1, letter) + (plain_ ? "" : "_" + to_string(is_one_set_ ? Split::train : split)) + ".npy";
  }
  std::string path(char letter, Split split) const { return find_file(folder_, {name(letter, split)}); }

 private:
  std::string folder_;
  bool plain_, is_one_set_;
};

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

Labels read_labels(const Source& source, Split split) {
  Labels result;
  if (source.has(names_file)) {
    result.class_names = read_class_names(find_file(source.folder(), {names_file}));
    result.labels = read_integers(source.path('y', split), result.class_names.size());
    return result;
  }
  result.labels = read_integers(source.path('y', Split::train), most_classes);
  const auto largest = static_cast<std::size_t>(*std::max_element(result.labels.begin(), result.labels.end()));
  result.class_names = numbers_as_names(largest + 1);
  if (split == Split::test) result.labels = read_integers(source.path('y', split), result.class_names.size());
  return result;
}

// Of all that the file holds, so that the index is that in the file.
void require_finite(const NpyArray& array, const std::string& path) {
  std::visit(
      [&](const auto& values) {
        using T = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (std::floating_point<T>) {
          const auto bad = std::find_if(values.begin(), values.end(),
                                        [](T value) { return !std::isfinite(static_cast<float>(value)); });
          if (bad == values.end()) return;
          throw bad_input(
              path, "finite numbers within the range of float",
              shortest(static_cast<double>(*bad)) + " at flat index " + std::to_string(bad - values.begin()));
        }
      },
      array.values);
}

// An array of items behind `leading` axes.
struct Items {
  std::string path;
  NpyArray array;
  Shape shape;  // of one item
};

Items read_items(const Source& source, Split split, std::size_t leading) {
  Items items{source.path('x', split), {}, {}};
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
  require_finite(items.array, items.path);
  if (shape.size() == leading + 2) items.shape.push_back(1);
  items.shape.insert(items.shape.end(), shape.begin() + static_cast<std::ptrdiff_t>(leading), shape.end());
  return items;
}

// Keeps the rows at these indices, which ascend.
template <class T>
void keep(std::vector<T>& values, const std::vector<std::size_t>& rows, std::size_t row_size) {
  auto to = values.begin();
  for (const std::size_t row : rows) {
    to = std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(row * row_size), row_size, to);
  }
  values.erase(to, values.end());
  values.shrink_to_fit();
}

// Of one set, keeps the part that serves the split.
void hold_out(const Source& source, Split split, double holdout, Items& items, Labels& y, std::vector<int>& z) {
  if (!source.is_one_set()) return;
  const auto part = part_of_one_set(y.labels, y.class_names, holdout, split, source.path('y', split));
  Shape& shape = items.array.shape;
  const std::size_t row_size = saturating_count(shape) / shape[0];
  std::visit([&](auto& values) { keep(values, part, row_size); }, items.array.values);
  shape[0] = part.size();
  keep(y.labels, part, 1);
  if (!z.empty()) keep(z, part, 1);
}

void require_count(const std::string& path, std::size_t expected, std::size_t found, const std::string& x_path) {
  if (found == expected) return;
  throw bad_input(path, std::to_string(expected) + " numbers, one for each item of " + quote(x_path),
                  std::to_string(found));
}

template <class T>
std::vector<float> to_floats(std::vector<T> values) {
  if constexpr (std::same_as<T, float>) return values;
  return {values.begin(), values.end()};
}

Images make_images(Items items, std::vector<int> labels, std::vector<std::string> class_names) {
  return std::visit(
      [&](auto& values) {
        using T = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (std::same_as<T, std::uint8_t>) {
          return Images(std::move(items.shape), std::move(values), std::move(labels), std::move(class_names));
        } else {
          return Images(std::move(items.shape), to_floats(std::move(values)), std::move(labels),
                        std::move(class_names));
        }
      },
      items.array.values);
}

}  // namespace

Images read_npy_images(const std::string& folder, Split split, double holdout) {
  const Source source(folder);
  Items items = read_items(source, split, 1);
  Labels y = read_labels(source, split);
  require_count(source.path('y', split), items.array.shape[0], y.labels.size(), items.path);
  std::vector<int> no_positions;
  hold_out(source, split, holdout, items, y, no_positions);
  return make_images(std::move(items), std::move(y.labels), std::move(y.class_names));
}

Mosaics read_npy_bags(const std::string& folder, Split split, double holdout) {
  const Source source(folder);
  Items items = read_items(source, split, 2);
  const std::size_t patches = items.array.shape[1];
  Labels y = read_labels(source, split);
  require_count(source.path('y', split), items.array.shape[0], y.labels.size(), items.path);
  std::vector<int> z;
  if (source.has(source.name('z', split))) {
    const std::string z_path = source.path('z', split);
    z = read_integers(z_path, patches);
    require_count(z_path, y.labels.size(), z.size(), items.path);
  }
  hold_out(source, split, holdout, items, y, z);
  std::vector<int> patch_labels;  // a patch goes by the label of its bag
  patch_labels.reserve(y.labels.size() * patches);
  for (const int label : y.labels) patch_labels.insert(patch_labels.end(), patches, label);
  Images images = make_images(std::move(items), std::move(patch_labels), y.class_names);
  return Mosaics::from_bags(std::move(images), patches, std::move(y.labels), std::move(z), std::move(y.class_names));
}

bool npy_holds_bags(const std::string& folder) {
  const Source source(folder);
  const Shape shape = read_npy_shape(source.path('x', Split::train));
  if (shape.size() == 5) return true;
  const std::string train = source.name('z', Split::train), test = source.name('z', Split::test);
  if (source.has(test) && !source.has(train)) {
    throw bad_input(folder,
                    train + " beside " + test + ", as x of " + std::to_string(shape.size()) +
                        " axes are bags only with positions of the training bags",
                    "no such file in this folder");
  }
  return source.has(train);
}

std::vector<std::string> npy_files(const std::string& folder) {
  std::vector<std::string> paths = files_there(folder, {{names_file}});
  for (const auto* names : {&plain_names, &split_names}) {
    for (std::string& path : files_there(folder, *names)) paths.push_back(std::move(path));
  }
  return paths;
}

bool npy_has_test_set(const std::string& folder) { return !Source(folder).is_one_set(); }

}  // namespace fcam
