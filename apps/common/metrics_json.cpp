#include "common/metrics_json.h"

#include <cmath>

namespace fcam::apps {

nlohmann::ordered_json to_json(const Metrics& metrics) {
  nlohmann::ordered_json json;
  const auto add = [&](const char* name, double value) {
    if (std::isfinite(value)) {
      json[name] = value;
    } else {
      json[name] = nullptr;
    }
  };
  json["n"] = metrics.n;
  add("accuracy", metrics.accuracy);
  add("ftpt", metrics.ftpt);
  add("ffpt", metrics.ffpt);
  add("ftpf", metrics.ftpf);
  add("ffpf", metrics.ffpf);
  add("saif", metrics.saif);
  add("focus_mean", metrics.focus_mean);
  add("focus_entropy", metrics.focus_entropy);
  add("loss_value", metrics.loss);
  if (metrics.heat_map.total() == 0) {
    json["heat_map"] = nullptr;
    return json;
  }
  auto& rows = json["heat_map"] = nlohmann::ordered_json::array();
  for (std::size_t r = 0; r < metrics.heat_map.bins(); ++r) {
    auto& row = rows.emplace_back(nlohmann::ordered_json::array());
    for (std::size_t c = 0; c < metrics.heat_map.bins(); ++c) row.push_back(metrics.heat_map.at(r, c));
  }
  return json;
}

std::string json_text(const nlohmann::ordered_json& value) {
  return value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace fcam::apps
