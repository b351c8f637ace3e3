// What fcam-fixed-focus has measured, and its two files: loss.csv and incentive.csv.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fcam/analysis/fixed_focus.h"

namespace fcam::apps {

/// A training with a loss (its place in paper_losses()) and a fixed alpha.
using SeriesKey = std::pair<std::size_t, double>;
/// The epochs of each, from 0, which is before the training; in the paper's order of losses, alpha ascending.
using SeriesMap = std::map<SeriesKey, std::vector<FixedFocus>>;

/// "sa, alpha 0.4"
std::string to_string(const SeriesKey& key);

/// The file with the columns loss, alpha, epoch, value.
std::string loss_csv(const SeriesMap& all);
/// The file with the columns loss, alpha, epoch, difference, derivative.
std::string incentive_csv(const SeriesMap& all);

/// The series that both files hold; a file that is not there holds none. The files are written one after the other, so
/// one series may be in the first alone. Throws DataError if more are, or if a file has another header, a row that is
/// none, or a series that has not `epochs` epochs after epoch 0.
SeriesMap read_series(const std::string& loss_path, const std::string& incentive_path, std::size_t epochs);

}  // namespace fcam::apps
