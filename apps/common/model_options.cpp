#include "common/model_options.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "common/image_folder.h"
#include "fcam/base/error.h"
#include "fcam/base/text.h"
#include "fcam/data/cifar.h"
#include "fcam/data/idx.h"
#include "fcam/data/linear_orthogonal.h"
#include "fcam/data/npy.h"
#include "fcam/data/shapes.h"

namespace fcam::apps {
namespace {

struct Kind {
  std::string name;
  std::string default_path;  // empty: there is none
  bool takes_path;
  std::function<DataSet(const DataOptions&, const std::string& path, std::uint64_t seed, Split)> load;
  std::vector<std::string> (*files)(const std::string& path);  // that are read; none: it takes no path
};

DataSet of_images(Images images) { return {.images = std::move(images)}; }

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      {"fashion-mnist", "/usr/share/datasets/fashion-mnist", true,
       [](const DataOptions&, const std::string& path, std::uint64_t, Split split) {
         return of_images(read_fashion_mnist(path, split));
       },
       mnist_files},
      {"mnist", "", true,
       [](const DataOptions&, const std::string& path, std::uint64_t, Split split) {
         return of_images(read_mnist(path, split));
       },
       mnist_files},
      {"cifar10", "data/cifar-10-batches-bin", true,
       [](const DataOptions&, const std::string& path, std::uint64_t, Split split) {
         return of_images(read_cifar10(path, split));
       },
       cifar10_files},
      {"cifar100", "data/cifar-100-binary", true,
       [](const DataOptions& options, const std::string& path, std::uint64_t, Split split) {
         return of_images(
             read_cifar100(path, split, options.labels == "fine" ? Cifar100Labels::fine : Cifar100Labels::coarse));
       },
       cifar100_files},
      {"npy", "", true,
       [](const DataOptions& options, const std::string& path, std::uint64_t, Split split) {
         DataSet data{.held_out = !npy_has_test_set(path)};
         if (npy_holds_bags(path)) {
           data.bags = read_npy_bags(path, split, options.holdout);
         } else {
           data.images = read_npy_images(path, split, options.holdout);
         }
         return data;
       },
       npy_files},
      {"folder", "", true,
       [](const DataOptions& options, const std::string& path, std::uint64_t, Split split) {
         return DataSet{.images = read_image_folder(path, split, options.resize, options.holdout),
                        .held_out = !has_test_folder(path)};
       },
       image_files},
      {"shapes", "", false,
       [](const DataOptions&, const std::string&, std::uint64_t seed, Split split) {
         return of_images(make_shapes(seed, split));
       },
       nullptr},
      {"linear", "", false,
       [](const DataOptions& options, const std::string&, std::uint64_t seed, Split split) {
         return DataSet{.images = {},
                        .bags = make_linear_orthogonal({.classes = options.classes,
                                                        .patches = options.patches,
                                                        .count = split == Split::train ? options.train : options.test,
                                                        .seed = seed,
                                                        .split = split})};
       },
       nullptr},
      {"teacher", "", false,
       [](const DataOptions& options, const std::string&, std::uint64_t seed, Split split) {
         const std::size_t count = split == Split::train ? options.train : options.test;
         return DataSet{.images = {},
                        .bags = make_teacher_mosaics(make_teacher(options, seed), options.patches, count, split)};
       },
       nullptr},
  };
  return all;
}

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const Kind& kind : kinds()) names.push_back(kind.name);
  return names;
}

const std::string network_help =
    "a preset (paper, lenet, small, mlp, linear) or a list such as 'conv32k3 relu pool2 fc64 relu' "
    "(default: paper; small for images under 18 pixels, mlp under 10 and for vectors; 'linear nobias' for linear "
    "and teacher)";

// Takes over a number that ready-made bags have, and refuses another one that the user has asked for.
void settle(const CommandLine& line, const std::string& name, std::size_t& option, std::size_t found) {
  if (line.given(name) && option != found) {
    throw UsageError(name + ": expected " + std::to_string(found) +
                     ", as the ready-made bags have, or nothing, found " + std::to_string(option));
  }
  option = found;
}

}  // namespace

std::string DataOptions::kind() const { return data.substr(0, data.find(':')); }

void declare(CommandLine& line, DataOptions& options, bool tested) {
  std::string names;
  for (const auto& name : kind_names()) names += (names.empty() ? "" : ", ") + name;
  line.group("Data");
  line.text("data", options.data, "data set: " + names + "; after a colon the folder that holds it", "KIND[:PATH]");
  line.choice("labels", options.labels, {"fine", "coarse"}, "which labels of cifar100");
  line.text("resize", options.resize, "size of the images of folder: N or HxW (default: all must have the same)",
            "SIZE");
  line.number("holdout", options.holdout, 0, 1, "fraction for the test of folder or npy data that come as one set");
  line.list("foreground", options.foreground, "classes to tell apart, by name or number (default: the first three)");
  line.list("background", options.background, "classes of the other patches (default: all that are not foreground)");
  line.count("classes", options.classes, 1, 1'000'000, "classes C of linear and teacher");
  line.count("dimension", options.dimension, 1, 1'000'000, "numbers of a patch of teacher");
  line.count("patches", options.patches, 1, 1'000'000, "patches m of a mosaic");
  line.count("train", options.train, 1, std::numeric_limits<std::size_t>::max(), "mosaics to train on");
  if (tested)
    line.count("test", options.test, 1, std::numeric_limits<std::size_t>::max(),
               "mosaics to test on, from test images");
  line.choice("draws", options.draws, {"keyed", "numpy"}, "how mosaics are drawn; numpy: as the paper's public script");
}

Teacher make_teacher(const DataOptions& options, std::uint64_t seed) {
  return fcam::make_teacher({.classes = options.classes, .dimension = options.dimension, .seed = seed});
}

namespace {

struct Place {
  const Kind& kind;
  std::string path;
};

// What --data says.
Place find_data(const DataOptions& options) {
  const std::string name = options.kind();
  const auto found = std::find_if(kinds().begin(), kinds().end(), [&](const Kind& kind) { return kind.name == name; });
  if (found == kinds().end()) throw UsageError("data: " + unknown_name(name, kind_names()));
  std::string path = found->default_path;
  if (const auto colon = options.data.find(':'); colon != std::string::npos) {
    path = options.data.substr(colon + 1);
    if (!found->takes_path) throw UsageError("data: " + name + ": expected no path, found " + quote(path));
    if (path.empty()) throw UsageError("data: " + name + ": expected a folder after the colon, found nothing");
  } else if (found->takes_path && path.empty()) {
    throw UsageError("data: expected " + name + ":FOLDER, found no folder");
  }
  return {*found, path};
}

}  // namespace

std::vector<std::string> data_files(const DataOptions& options) {
  const auto [kind, path] = find_data(options);
  return kind.files != nullptr ? kind.files(path) : std::vector<std::string>();
}

DataSet load_data(const DataOptions& options, std::uint64_t seed, Split split) {
  const auto [kind, path] = find_data(options);
  const std::string& name = kind.name;
  if (!options.resize.empty() && name != "folder") {
    throw UsageError("resize: expected none with data " + quote(name) + ", found " + quote(options.resize));
  }
  if (options.labels != "fine" && name != "cifar100") {
    throw UsageError("labels: expected none with data " + quote(name) + ", found " + quote(options.labels));
  }
  DataSet data = kind.load(options, path, seed, split);
  if (options.holdout != one_set_test && !data.held_out) {
    throw UsageError("holdout: expected none, as the data have a test set of their own, found " +
                     shortest(options.holdout));
  }
  return data;
}

Mosaics load_mosaics(DataOptions& options, const CommandLine& line, std::uint64_t seed, Split split) {
  return make_mosaics(load_data(options, seed, split), options, line, seed, split);
}

void require_alike(const DataOptions& data, const Mosaics& train, const Mosaics& test) {
  const auto describe = [](const Mosaics& mosaics) {
    return std::to_string(mosaics.patches()) + " patches " + to_string(mosaics.shape()) + " of " +
           (mosaics.images().has_bytes() ? "bytes" : "numbers");
  };
  if (describe(train) == describe(test)) return;
  throw DataError(quote(data.data) + ": expected test mosaics of " + describe(train) +
                  ", as the training mosaics are, found " + describe(test));
}

Mosaics make_mosaics(DataSet data, DataOptions& options, const CommandLine& line, std::uint64_t seed, Split split) {
  const std::string kind = options.kind();
  const bool made_to_order = kind == "linear" || kind == "teacher";
  for (const auto& [name, used] : {std::pair("classes", made_to_order), std::pair("dimension", kind == "teacher"),
                                   std::pair("draws", !data.bags)}) {
    if (line.typed(name) && !used) throw UsageError(std::string(name) + ": expected none with data " + quote(kind));
  }
  if (data.bags) {
    for (const char* name : {"foreground", "background"}) {
      if (line.given(name)) throw UsageError(std::string(name) + ": expected none with ready-made bags");
    }
    settle(line, "patches", options.patches, data.bags->patches());
    settle(line, to_string(split), split == Split::train ? options.train : options.test, data.bags->count());
    return *std::move(data.bags);
  }
  return Mosaics(*std::move(data.images), {.patches = options.patches,
                                           .count = split == Split::train ? options.train : options.test,
                                           .foreground = options.foreground,
                                           .background = options.background,
                                           .seed = seed,
                                           .split = split,
                                           .draws = options.draws == "numpy" ? Draws::numpy : Draws::keyed});
}

void declare(CommandLine& line, NetworkOptions& options) {
  line.group("Networks");
  line.text("focus", options.focus, "focus network f: " + network_help, "NET");
  line.text("classify", options.classify, "classification network g, likewise", "NET");
}

void declare_classify(CommandLine& line, NetworkOptions& options) {
  line.group("Network");
  line.text("classify", options.classify, "classification network g: " + network_help, "NET");
}

void choose_networks(NetworkOptions& options, const Shape& patch, const std::string& data_kind) {
  const std::size_t pixels = patch.size() == 3 ? std::min(patch[1], patch[2]) : 0;
  const std::string preset = data_kind == "linear" || data_kind == "teacher" ? "linear nobias"
                             : pixels < 10                                   ? "mlp"
                             : pixels < 18                                   ? "small"
                                                                             : "paper";
  if (options.focus.empty()) options.focus = preset;
  if (options.classify.empty()) options.classify = preset;
}

}  // namespace fcam::apps
