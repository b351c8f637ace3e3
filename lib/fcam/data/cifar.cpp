#include "fcam/data/cifar.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <utility>

#include "fcam/base/file.h"
#include "fcam/data/gzip.h"
#include "fcam/data/input.h"

namespace fcam {
namespace {

const Shape image_shape{3, 32, 32};

// A record: some label bytes, of which one counts, then the red, green and blue plane.
struct RecordFormat {
  std::size_t label_bytes;
  std::size_t label_at;
};

Images read_records(const std::string& folder, const std::vector<std::string>& files, RecordFormat format,
                    std::vector<std::string> class_names) {
  const std::size_t pixels_size = element_count(image_shape);
  const std::size_t record_size = format.label_bytes + pixels_size;
  std::vector<std::uint8_t> pixels;
  std::vector<int> labels;
  for (const std::string& file : files) {
    const std::string path = find_file(folder, {file, file + ".gz"});
    const std::vector<std::uint8_t> bytes = read_unpacked(path);
    const std::size_t records = bytes.size() / record_size, remainder = bytes.size() % record_size;
    if (records == 0 || remainder != 0) {
      throw bad_input(path, "whole records of " + std::to_string(record_size) + " bytes, at least one",
                      std::to_string(bytes.size()) + " bytes (" + std::to_string(records) + " records, remainder " +
                          std::to_string(remainder) + ")");
    }
    if (pixels.empty()) pixels.reserve(files.size() * records * pixels_size);  // the files are equally long
    for (std::size_t i = 0; i < records; ++i) {
      const auto record = bytes.begin() + static_cast<std::ptrdiff_t>(i * record_size);
      const std::uint8_t label = record[static_cast<std::ptrdiff_t>(format.label_at)];
      if (label >= class_names.size()) {
        throw bad_input(path, "labels below " + std::to_string(class_names.size()),
                        std::to_string(label) + " in record " + std::to_string(i) + " (counted from 0)");
      }
      labels.push_back(label);
      pixels.insert(pixels.end(), record + static_cast<std::ptrdiff_t>(format.label_bytes),
                    record + static_cast<std::ptrdiff_t>(record_size));
    }
  }
  return Images(image_shape, std::move(pixels), std::move(labels), std::move(class_names));
}

std::vector<std::string> names_in(const std::string& folder, const std::string& file,
                                  std::vector<std::string> otherwise) {
  if (!has_file(folder, file)) return otherwise;
  return read_class_names((std::filesystem::path(folder) / file).string(), otherwise.size());
}

std::vector<std::string> numbers_as_names(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t c = 0; c < count; ++c) names.push_back(std::to_string(c));
  return names;
}

}  // namespace

std::vector<std::string> read_class_names(const std::string& path, std::size_t count) {
  const std::string text = read_bytes(path);
  std::string_view rest = text;
  if (rest.starts_with("\xef\xbb\xbf")) rest.remove_prefix(3);
  rest = rest.substr(0, rest.find_last_not_of(" \t\r\n") + 1);
  std::vector<std::string> names;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const auto where = [&] { return " in line " + std::to_string(names.size() + 1); };
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) throw bad_input(path, "a class name" + where(), "a blank line");
    std::string name(line.substr(first, line.find_last_not_of(" \t\r") + 1 - first));
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      throw bad_input(path, "every class name once", quote(name) + " again" + where());
    }
    names.push_back(std::move(name));
  }
  if (names.size() != count)
    throw bad_input(path, std::to_string(count) + " class names", std::to_string(names.size()));
  return names;
}

Images read_cifar10(const std::string& folder, Split split) {
  const std::vector<std::string> official{"airplane", "automobile", "bird",  "cat",  "deer",
                                          "dog",      "frog",       "horse", "ship", "truck"};
  std::vector<std::string> files{"test_batch.bin"};
  if (split == Split::train) {
    files = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"};
  }
  return read_records(folder, files, {.label_bytes = 1, .label_at = 0}, names_in(folder, "batches.meta.txt", official));
}

Images read_cifar100(const std::string& folder, Split split, Cifar100Labels labels) {
  const bool fine = labels == Cifar100Labels::fine;
  return read_records(
      folder, {to_string(split) + ".bin"}, {.label_bytes = 2, .label_at = fine ? std::size_t{1} : std::size_t{0}},
      names_in(folder, fine ? "fine_label_names.txt" : "coarse_label_names.txt", numbers_as_names(fine ? 100 : 20)));
}

}  // namespace fcam
