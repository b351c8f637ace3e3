// The options that say which data a model sees and which networks it has, shared by the programs that train or
// evaluate.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/command_line.h"
#include "fcam/attention/model.h"
#include "fcam/data/mosaic.h"
#include "fcam/data/teacher.h"

namespace fcam::apps {

inline constexpr double one_set_test = 0.2;

struct DataOptions {
  std::string data = "fashion-mnist";  ///< KIND[:PATH]
  std::string labels = "fine";         ///< of cifar100
  std::vector<std::string> foreground, background;
  std::size_t patches = 5, train = 10000, test = 10000;
  std::size_t classes = 20, dimension = 10;  ///< of data that are made to order
  std::string draws = "keyed";
  std::string resize;             ///< of folder: N, HxW or empty
  double holdout = one_set_test;  ///< of data that come as one set: the fraction for the test

  std::string kind() const;  ///< what stands before the colon
};
/// `tested`: whether the program looks at test mosaics.
void declare(CommandLine& line, DataOptions& options, bool tested = true);

/// The images that mosaics of one split are drawn from, or the bags themselves where the data set brings them.
struct DataSet {
  std::optional<Images> images = {};
  std::optional<Mosaics> bags = {};
  bool held_out = false;  ///< whether training and test are parts of one set
};
/// Throws UsageError where there are no such data, DataError where a folder cannot be read.
std::vector<std::string> data_files(const DataOptions& options);  ///< that are there and would be read
DataSet load_data(const DataOptions& options, std::uint64_t seed, Split split);

/// The teacher of data of that kind.
Teacher make_teacher(const DataOptions& options, std::uint64_t seed);

/// Mosaics of one split of such a data set. Where the data are ready-made bags, sets what the options say of their
/// number and size, and throws UsageError if the user has asked for something else.
Mosaics make_mosaics(DataSet data, DataOptions& options, const CommandLine& line, std::uint64_t seed, Split split);

/// Throws DataError unless one model can see both: data of one's own may differ in patches, shape, or bytes and
/// numbers.
void require_alike(const DataOptions& data, const Mosaics& train, const Mosaics& test);

/// The two at once.
Mosaics load_mosaics(DataOptions& options, const CommandLine& line, std::uint64_t seed, Split split);

struct NetworkOptions {
  std::string focus, classify;  ///< empty: a preset that suits the patches
};
void declare(CommandLine& line, NetworkOptions& options);
/// --classify alone.
void declare_classify(CommandLine& line, NetworkOptions& options);

/// Fills in what is empty: paper, or small for images under 18 pixels, mlp under 10 and for vectors; linear networks
/// without biases for linear data and the teacher's.
void choose_networks(NetworkOptions& options, const Shape& patch, const std::string& data_kind = {});

}  // namespace fcam::apps
