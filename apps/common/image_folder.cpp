#include "common/image_folder.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "common/command_line.h"
#include "common/decode.h"
#include "fcam/base/file.h"
#include "fcam/base/text.h"
#include "fcam/data/holdout.h"
#include "fcam/data/input.h"

namespace fcam::apps {
namespace {

namespace fs = std::filesystem;

struct Entry {
  std::string name;
  bool is_folder;
};

// What a folder holds without dotfiles, by name byte for byte: the order of the file system and of the locale must not
// decide which image is which.
std::vector<Entry> entries_of(const std::string& folder) {
  std::error_code error;
  fs::directory_iterator next(folder, error);
  std::vector<Entry> entries;
  for (; !error && next != fs::directory_iterator(); next.increment(error)) {
    std::string name = next->path().filename().string();
    std::error_code broken_link;
    if (!name.starts_with('.')) entries.push_back({std::move(name), next->is_directory(broken_link)});
  }
  if (error) throw bad_input(folder, "a readable folder", error.message());
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}

std::string inside(const std::string& folder, const std::string& name) { return (fs::path(folder) / name).string(); }

std::string extension_of(const std::string& name) {
  const auto dot = name.rfind('.');
  std::string extension = dot == std::string::npos ? std::string() : name.substr(dot + 1);
  for (char& c : extension) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return extension;
}

bool is_image(const std::string& name) {
  const std::string extension = extension_of(name);
  return extension == "png" || extension == "jpg" || extension == "jpeg";
}

// Leaving these out would make another data set of what the user has.
bool is_other_picture(const std::string& name) {
  static constexpr std::array<std::string_view, 14> extensions{"avif", "bmp", "gif", "heic", "jfif", "jp2",  "jpe",
                                                               "pbm",  "pgm", "ppm", "tga",  "tif",  "tiff", "webp"};
  return std::find(extensions.begin(), extensions.end(), extension_of(name)) != extensions.end();
}

struct Listing {
  std::vector<std::string> class_names, paths;
  std::vector<int> labels;  // of the paths
};

Listing list_images(const std::string& folder) {
  Listing listing;
  for (const Entry& class_entry : entries_of(folder)) {
    if (!class_entry.is_folder) continue;
    const std::string class_folder = inside(folder, class_entry.name);
    const int label = static_cast<int>(listing.class_names.size());
    std::size_t images = 0, folders = 0, others = 0;
    for (const Entry& entry : entries_of(class_folder)) {
      const std::string path = inside(class_folder, entry.name);
      if (entry.is_folder) {
        ++folders;
      } else if (is_image(entry.name)) {
        listing.paths.push_back(path);
        listing.labels.push_back(label);
        ++images;
      } else if (is_other_picture(entry.name)) {
        throw bad_input(path, "PNG or JPEG images only", "a picture of another format");
      } else {
        ++others;
      }
    }
    if (images == 0) {
      const bool empty = folders == 0 && others == 0;
      throw bad_input(class_folder, "PNG or JPEG images of class " + quote(class_entry.name),
                      empty ? "an empty folder"
                            : std::to_string(folders) + " folders and " + std::to_string(others) + " other files");
    }
    listing.class_names.push_back(class_entry.name);
  }
  if (listing.class_names.empty()) throw bad_input(folder, "a folder for each class", "none");
  return listing;
}

// A folder of class folders, not a class that is called train.
bool holds_classes(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return false;
  const std::vector<Entry> entries = entries_of(folder);
  return std::any_of(entries.begin(), entries.end(), [](const Entry& entry) { return entry.is_folder; }) &&
         std::none_of(entries.begin(), entries.end(),
                      [](const Entry& entry) { return !entry.is_folder && is_image(entry.name); });
}

void require_same_classes(const std::string& folder, const std::vector<std::string>& here,
                          const std::string& other_folder, const std::vector<std::string>& there) {
  for (const std::string& name : there) {
    if (std::find(here.begin(), here.end(), name) != here.end()) continue;
    throw bad_input(folder, "the classes of " + quote(other_folder), "no folder " + quote(name));
  }
}

struct Splits {
  Listing train, test;
};

Splits list_splits(const std::string& folder, double holdout) {
  Splits splits;
  if (has_test_folder(folder)) {
    const std::string train = inside(folder, "train"), test = inside(folder, "test");
    for (const std::string& path : {train, test}) {
      std::error_code error;
      if (!fs::is_directory(path, error)) {
        throw bad_input(folder, "the folders train and test", "no folder " + quote(fs::path(path).filename().string()));
      }
    }
    splits = {list_images(train), list_images(test)};
    require_same_classes(test, splits.test.class_names, train, splits.train.class_names);
    require_same_classes(train, splits.train.class_names, test, splits.test.class_names);
    require_no_shared_file(splits.train.paths, splits.test.paths);
    return splits;
  }
  const Listing all = list_images(folder);
  for (const Split split : {Split::train, Split::test}) {
    Listing& part = split == Split::train ? splits.train : splits.test;
    part.class_names = all.class_names;
    for (const std::size_t i : part_of_one_set(all.labels, all.class_names, holdout, split, folder)) {
      part.paths.push_back(all.paths[i]);
      part.labels.push_back(all.labels[i]);
    }
  }
  require_no_shared_file(splits.train.paths, splits.test.paths);
  return splits;
}

struct Size {
  std::size_t height, width;
};

std::optional<Size> parse_size(const std::string& text) {
  if (text.empty()) return std::nullopt;
  constexpr std::uint64_t largest_side = 4096;
  const auto x = text.find_first_of("xX");
  std::uint64_t height = 0, width = 0;
  if (!parse_count(text.substr(0, x), height) ||
      !parse_count(x == std::string::npos ? text : text.substr(x + 1), width) || height < 1 || width < 1 ||
      height > largest_side || width > largest_side) {
    throw UsageError("resize: expected N or HxW with sides from 1 to " + std::to_string(largest_side) + ", found " +
                     quote(text));
  }
  return Size{height, width};
}

// Whether a file of either split has colours. One read is enough for most data sets of colours.
bool any_colors(const Splits& splits) {
  for (const Listing* listing : {&splits.train, &splits.test}) {
    for (const std::string& path : listing->paths) {
      if (describe_image(read_bytes(path), path).channels == 3) return true;
    }
  }
  return false;
}

// Appends plane after plane; grey serves for each of several planes.
void append_planes(const Raster& image, std::size_t planes, std::vector<std::uint8_t>& pixels) {
  const std::size_t count = image.height * image.width;
  for (std::size_t plane = 0; plane < planes; ++plane) {
    const std::size_t channel = image.channels == 1 ? 0 : plane;
    for (std::size_t k = 0; k < count; ++k) pixels.push_back(image.pixels[k * image.channels + channel]);
  }
}

std::string to_string(const Size& size) { return std::to_string(size.height) + "x" + std::to_string(size.width); }

}  // namespace

bool has_test_folder(const std::string& folder) {
  entries_of(folder);  // or it says why not
  return holds_classes(inside(folder, "train")) || holds_classes(inside(folder, "test"));
}

std::vector<std::string> image_files(const std::string& folder) {
  if (!has_test_folder(folder)) return list_images(folder).paths;
  std::vector<std::string> paths;
  for (const std::string split : {"train", "test"}) {
    for (std::string& path : list_images(inside(folder, split)).paths) paths.push_back(std::move(path));
  }
  return paths;
}

Images read_image_folder(const std::string& folder, Split split, const std::string& resize_to, double holdout) {
  const std::optional<Size> wanted = parse_size(resize_to);
  Splits splits = list_splits(folder, holdout);
  const std::size_t planes = any_colors(splits) ? 3 : 1;
  const std::string& first = splits.train.paths.front();
  const Raster first_image = describe_image(read_bytes(first), first);
  const Size size = wanted.value_or(Size{first_image.height, first_image.width});

  Listing& listing = split == Split::train ? splits.train : splits.test;
  std::vector<std::uint8_t> pixels;
  for (const std::string& path : listing.paths) {
    Raster image = decode_image(read_bytes(path), path);
    if (wanted) {
      image = resize(std::move(image), size.height, size.width);
    } else if (image.height != size.height || image.width != size.width) {
      throw bad_input(
          path, to_string(size) + " pixels (height x width) as " + quote(first) + " has",
          to_string(Size{image.height, image.width}) + "; --resize " + to_string(size) + " gives all images that size");
    }
    if (pixels.empty()) pixels.reserve(listing.paths.size() * planes * size.height * size.width);
    append_planes(image, planes, pixels);
  }
  return Images({planes, size.height, size.width}, std::move(pixels), std::move(listing.labels),
                std::move(listing.class_names));
}

}  // namespace fcam::apps
