// Metrics as JSON, for summary.json and fcam-evaluate --json.
#pragma once

#include <nlohmann/json.hpp>

#include "fcam/analysis/metrics.h"

namespace fcam::apps {

/// n, accuracy, ftpt, ffpt, ftpf, ffpf, saif, focus_mean, loss_value, heat_map; null where a value is not known.
nlohmann::ordered_json to_json(const Metrics& metrics);

/// The text of a JSON value, bytes that are not UTF-8 replaced, with a final line feed.
std::string json_text(const nlohmann::ordered_json& value);

}  // namespace fcam::apps
