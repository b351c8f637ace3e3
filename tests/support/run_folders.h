// Folders of runs, compared byte by byte.
#pragma once

#include <catch2/catch.hpp>

#include <filesystem>
#include <map>
#include <string>

#include "support/runs.h"

namespace fcam::test {

using Contents = std::map<std::string, std::string>;

inline Contents contents_of(const std::string& folder) {
  Contents contents;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    contents[entry.path().filename().string()] = read_file(entry.path().string());
  }
  return contents;
}

// Whether two runs ended alike: weights, optimiser, log and options, the time they took aside.
inline void check_same_run(const std::string& a, const std::string& b) {
  for (const std::string name : {"/model.safetensors", "/checkpoint.safetensors", "/config.toml"}) {
    INFO(name);
    CHECK(read_file(a + name) == read_file(b + name));
  }
  CHECK(log_without_seconds(a + "/log.csv") == log_without_seconds(b + "/log.csv"));
  nlohmann::json first = read_json(a + "/summary.json"), second = read_json(b + "/summary.json");
  for (auto* summary : {&first, &second}) {
    summary->erase("seconds");
    summary->erase("run");
  }
  CHECK(first == second);
}

}  // namespace fcam::test
