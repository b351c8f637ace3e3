#include "fcam/data/idx.h"

#include <cstdint>
#include <span>
#include <utility>

#include "fcam/data/gzip.h"
#include "fcam/data/input.h"

namespace fcam {
namespace {

constexpr std::uint32_t labels_magic = 2049, images_magic = 2051;

std::uint32_t big_endian(const std::uint8_t* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 | bytes[3];
}

std::string describe(std::uint32_t magic) {
  if (magic == labels_magic) return "magic 2049 (these are labels)";
  if (magic == images_magic) return "magic 2051 (these are images)";
  std::string text = "magic " + std::to_string(magic);
  const std::uint32_t type = magic >> 8, axes = magic & 0xff;
  const auto named = [&](std::uint32_t code, const char* numbers) {
    if (type == code) text += std::string(" (an IDX file of ") + numbers + ", " + std::to_string(axes) + " axes)";
  };
  named(0x08, "bytes");
  named(0x09, "signed bytes");
  named(0x0b, "16-bit integers");
  named(0x0c, "32-bit integers");
  named(0x0d, "floats");
  named(0x0e, "doubles");
  return text;
}

// The magic (whose last byte is the number of axes), then the axes' sizes.
std::size_t header_size(std::uint32_t magic) { return 4 + 4 * (magic & 0xff); }

Shape shape_in_header(std::span<const std::uint8_t> bytes, std::uint32_t magic) {
  Shape shape;
  for (std::size_t at = 4; at < header_size(magic); at += 4) shape.push_back(big_endian(&bytes[at]));
  return shape;
}

struct IdxFile {
  Shape shape;
  std::vector<std::uint8_t> data;
};

IdxFile read_idx_file(const std::string& path, std::uint32_t magic) {
  const std::size_t header = header_size(magic);
  IdxFile file;
  file.data = read_unpacked(path, [&](std::span<const std::uint8_t> start) {
    return start.size() < header ? header : header + saturating_count(shape_in_header(start, magic));
  });
  const std::size_t size = file.data.size();
  if (size >= 4 && big_endian(file.data.data()) != magic) {
    throw bad_input(path, describe(magic), describe(big_endian(file.data.data())));
  }
  if (size < header) {
    throw bad_input(path, "an IDX header of " + std::to_string(header) + " bytes",
                    "a file of " + std::to_string(size) + " bytes");
  }
  file.shape = shape_in_header(file.data, magic);
  const std::size_t count = file.shape[0];
  const std::size_t item = saturating_count(Shape(file.shape.begin() + 1, file.shape.end()));
  if (count == 0 || item == 0)
    throw bad_input(path, "at least one item of at least one byte", "no samples: " + to_string(file.shape));
  if (saturating_count(file.shape) != size - header) {
    throw bad_input(path, to_string(file.shape) + " bytes after the header of " + std::to_string(header),
                    std::to_string(size - header) + " bytes (" + std::to_string((size - header) / item) +
                        " whole items, remainder " + std::to_string((size - header) % item) + ")");
  }
  file.data.erase(file.data.begin(), file.data.begin() + static_cast<std::ptrdiff_t>(header));
  return file;
}

// Names of the file of "images" or "labels", in the order in which they are looked for.
std::vector<std::string> names_of(const std::string& what, Split split) {
  std::vector<std::string> names;
  for (const std::string separator : {"-", "."}) {
    for (const std::string ending : {"", ".gz"}) {
      names.push_back((split == Split::train ? "train-" : "t10k-") + what + separator +
                      (what == "images" ? "idx3" : "idx1") + "-ubyte" + ending);
    }
  }
  return names;
}

Images read_split(const std::string& folder, Split split, std::vector<std::string> class_names) {
  const std::string images = find_file(folder, names_of("images", split)),
                    labels = find_file(folder, names_of("labels", split));
  require_no_shared_file(files_there(folder, {names_of("images", Split::train)}),
                         files_there(folder, {names_of("images", Split::test)}));
  return read_idx(images, labels, std::move(class_names));
}

}  // namespace

Images read_idx(const std::string& images_path, const std::string& labels_path, std::vector<std::string> class_names) {
  IdxFile images = read_idx_file(images_path, images_magic);
  const IdxFile labels = read_idx_file(labels_path, labels_magic);
  if (labels.shape[0] != images.shape[0]) {
    throw bad_input(labels_path, std::to_string(images.shape[0]) + " labels for the images of " + quote(images_path),
                    std::to_string(labels.shape[0]));
  }
  for (std::size_t i = 0; i < labels.data.size(); ++i) {
    if (labels.data[i] >= class_names.size()) {
      throw bad_input(labels_path, "labels below " + std::to_string(class_names.size()),
                      std::to_string(labels.data[i]) + " at index " + std::to_string(i));
    }
  }
  return Images({1, images.shape[1], images.shape[2]}, std::move(images.data),
                std::vector<int>(labels.data.begin(), labels.data.end()), std::move(class_names));
}

Images read_fashion_mnist(const std::string& folder, Split split) {
  return read_split(
      folder, split,
      {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"});
}

Images read_mnist(const std::string& folder, Split split) {
  return read_split(folder, split, {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"});
}

std::vector<std::string> mnist_files(const std::string& folder) {
  return files_there(folder, {names_of("images", Split::train), names_of("labels", Split::train),
                              names_of("images", Split::test), names_of("labels", Split::test)});
}

}  // namespace fcam
