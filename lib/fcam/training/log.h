// log.csv: what a training run has measured, one row an epoch.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "fcam/analysis/metrics.h"
#include "fcam/base/file.h"

namespace fcam {

/// One finished epoch.
struct Epoch {
  std::size_t number = 0;       ///< from 1
  Metrics train;                ///< of the training steps of the epoch
  std::optional<Metrics> test;  ///< where it was evaluated
  double seconds = 0;           ///< that it took
};

/// The names of the columns, with the final line feed.
std::string log_header();

/// One row, with the final line feed; a cell is empty where its value is NaN or the test was not run. Numbers read back
/// as the same doubles.
std::string log_row(const Epoch& epoch);

/// The file, open for rows to come. A run writes the row of an epoch before the checkpoint that holds that epoch: then
/// a checkpoint always finds its rows.
class Log {
 public:
  /// Starts a new log; replaces a file of that name. Throws WriteError.
  explicit Log(const std::string& path);

  /// Goes on after epoch `last_epoch`: keeps the header and the rows up to it, drops what follows (rows of epochs that
  /// will be trained again, a row that was cut short). Throws DataError if the file is missing, has another header, or
  /// does not have the rows 1 to last_epoch in order; then it is untouched. With `untested` the last row loses its test
  /// cells: of an epoch that was tested only because it was the last one. Throws WriteError.
  static Log resume(const std::string& path, std::size_t last_epoch, bool untested = false);

  /// Adds a row and syncs it. Throws WriteError; then nothing of the row is in the file.
  void append(const Epoch& epoch);

 private:
  Log(const std::string& path, const std::string& content);

  AppendFile file_;
};

}  // namespace fcam
