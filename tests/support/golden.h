// Reference values computed by independent programs, kept in tests/golden.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

namespace fcam::test {

/// The content of tests/golden/NAME. The tests run from the top of the tree, or FCAM_TESTS names the folder tests.
inline nlohmann::json golden(const std::string& name) {
  const char* folder = std::getenv("FCAM_TESTS");
  const std::string path = std::string(folder != nullptr ? folder : "tests") + "/golden/" + name;
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path + " (the tests run from the top of the tree)");
  return nlohmann::json::parse(in);
}

}  // namespace fcam::test
