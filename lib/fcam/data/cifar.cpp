#include "fcam/data/cifar.h"

#include <cstdint>
#include <filesystem>
#include <utility>

#include "fcam/data/class_names.h"
#include "fcam/data/gzip.h"
#include "fcam/data/input.h"

namespace fcam {
namespace {

const Shape image_shape{3, 32, 32};

using Names = std::vector<std::vector<std::string>>;

Names packed_or_not(const std::vector<std::string>& files) {
  Names names;
  for (const std::string& file : files) names.push_back({file, file + ".gz"});
  return names;
}

// The files of records of a split.
Names cifar10_records(Split split) {
  if (split == Split::test) return packed_or_not({"test_batch.bin"});
  return packed_or_not(
      {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"});
}
Names cifar100_records(Split split) { return packed_or_not({to_string(split) + ".bin"}); }

constexpr const char* cifar10_names = "batches.meta.txt";
constexpr const char* fine_names = "fine_label_names.txt";
constexpr const char* coarse_names = "coarse_label_names.txt";

// All of them, and others.
std::vector<std::string> all_files(const std::string& folder, Names (&records)(Split), const Names& others) {
  std::vector<std::string> paths = files_there(folder, others);
  for (const Split split : {Split::train, Split::test}) {
    for (std::string& path : files_there(folder, records(split))) paths.push_back(std::move(path));
  }
  return paths;
}

// A record: label bytes, each below its bound, of which one counts; then the red, green and blue plane.
struct RecordFormat {
  std::vector<std::size_t> label_bounds;
  std::size_t label_at;
};

Images read_records(const std::string& folder, Names (&records_of)(Split), Split split, const RecordFormat& format,
                    std::vector<std::string> class_names) {
  const Names files = records_of(split);
  const std::size_t pixels_size = element_count(image_shape);
  const std::size_t label_bytes = format.label_bounds.size(), record_size = label_bytes + pixels_size;
  std::vector<std::uint8_t> pixels;
  std::vector<int> labels;
  for (const std::vector<std::string>& names : files) {
    const std::string path = find_file(folder, names);
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
      for (std::size_t k = 0; k < label_bytes; ++k) {
        const std::uint8_t label = record[static_cast<std::ptrdiff_t>(k)];
        if (label >= format.label_bounds[k]) {
          throw bad_input(path, "labels below " + std::to_string(format.label_bounds[k]),
                          std::to_string(label) + " in record " + std::to_string(i) + " (counted from 0)");
        }
      }
      labels.push_back(record[static_cast<std::ptrdiff_t>(format.label_at)]);
      pixels.insert(pixels.end(), record + static_cast<std::ptrdiff_t>(label_bytes),
                    record + static_cast<std::ptrdiff_t>(record_size));
    }
  }
  require_no_shared_file(files_there(folder, records_of(Split::train)), files_there(folder, records_of(Split::test)));
  return Images(image_shape, std::move(pixels), std::move(labels), std::move(class_names));
}

std::vector<std::string> names_in(const std::string& folder, const std::string& file,
                                  std::vector<std::string> otherwise) {
  if (!has_file(folder, file)) return otherwise;
  return read_class_names((std::filesystem::path(folder) / file).string(), otherwise.size());
}

}  // namespace

Images read_cifar10(const std::string& folder, Split split) {
  const std::vector<std::string> official{"airplane", "automobile", "bird",  "cat",  "deer",
                                          "dog",      "frog",       "horse", "ship", "truck"};
  return read_records(folder, cifar10_records, split, {.label_bounds = {10}, .label_at = 0},
                      names_in(folder, cifar10_names, official));
}

Images read_cifar100(const std::string& folder, Split split, Cifar100Labels labels) {
  const bool fine = labels == Cifar100Labels::fine;
  return read_records(folder, cifar100_records, split,
                      {.label_bounds = {20, 100}, .label_at = fine ? std::size_t{1} : std::size_t{0}},
                      names_in(folder, fine ? fine_names : coarse_names, numbers_as_names(fine ? 100 : 20)));
}

std::vector<std::string> cifar10_files(const std::string& folder) {
  return all_files(folder, cifar10_records, {{cifar10_names}});
}

std::vector<std::string> cifar100_files(const std::string& folder) {
  return all_files(folder, cifar100_records, {{fine_names}, {coarse_names}});
}

}  // namespace fcam
