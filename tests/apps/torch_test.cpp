// The programs on weights and bags from PyTorch: its scores, and its gradients by one step of training
// (tests/golden/torch_step.json, written by make_torch_step.py).
#include <catch2/catch.hpp>

#include <cmath>
#include <map>
#include <sstream>

#include "fcam/data/npy.h"
#include "fcam/training/safetensors.h"
#include "support/golden.h"
#include "support/process.h"
#include "support/temporary_folder.h"

using namespace fcam;
using namespace fcam::test;
using nlohmann::json;

namespace {

// The golden model and bags as files, in a folder of their own.
class TorchFiles {
 public:
  TorchFiles() : golden_(golden("torch_step.json")) {
    for (const std::string split : {"train", "test"}) {
      write_npy(folder_.file("x_" + split + ".npy"), golden_["x_shape"].get<Shape>(),
                golden_["x"].get<std::vector<float>>());
      for (const std::string what : {"y", "z"}) {
        const auto values = golden_[what].get<std::vector<std::int64_t>>();
        write_npy(folder_.file(what + "_" + split + ".npy"), {values.size()}, values);
      }
    }
    SafeTensors weights;
    for (const auto& [name, shape] : golden_["shapes"].items()) {
      weights.tensors.push_back({name, shape.get<Shape>(), golden_["weights"][name].get<std::vector<float>>()});
    }
    write_safetensors(folder_.file("weights.safetensors"), weights);
  }

  const json& expected() const { return golden_; }
  std::string file(const std::string& name) const { return folder_.file(name); }
  std::vector<std::string> options(const std::string& program, const std::string& loss) const {
    return {program,          "--data",     "npy:" + folder_.path().string(),
            "--loss",         loss,         "--focus",
            golden_["focus"], "--classify", golden_["classify"]};
  }

 private:
  TemporaryFolder folder_;
  json golden_;
};

Result run_with(std::vector<std::string> arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return Process({.arguments = arguments}).wait();
}

// Cells of a CSV row by the names of its header.
std::map<std::string, double> csv_row(const std::string& header, const std::string& row) {
  std::map<std::string, double> cells;
  std::istringstream names(header), values(row);
  for (std::string name, value; std::getline(names, name, ',') && std::getline(values, value, ',');) {
    cells[name] = std::stod(value);
  }
  return cells;
}

}  // namespace

TEST_CASE("fcam-evaluate --model gives PyTorch's attention, scores and loss", "[apps]") {
  const TorchFiles files;
  for (const std::string loss : {"sa", "ha", "lv"}) {
    INFO(loss);
    const Result result = run_with(files.options("fcam-evaluate", loss),
                                   {"--model", files.file("weights.safetensors"), "--dump", files.file("dump.csv"),
                                    "--json", files.file("result.json"), "--quiet"});
    CHECK(result.err == "");
    REQUIRE(result.code == 0);
    const json& expected = files.expected()["losses"][loss];
    CHECK(json::parse(read_file(files.file("result.json")))["loss_value"].get<double>() ==
          Approx(expected["loss"].get<double>()).epsilon(1e-6));
    std::istringstream dump(read_file(files.file("dump.csv")));
    std::string header, row;
    std::getline(dump, header);
    for (std::size_t i = 0; i < files.expected()["y"].size(); ++i) {
      REQUIRE(std::getline(dump, row));
      auto cells = csv_row(header, row);
      const auto label = files.expected()["y"][i].get<std::size_t>();
      CHECK(cells["s_y"] == Approx(expected["scores"][i][label].get<double>()).margin(1e-6));
      for (std::size_t j = 0; j < files.expected()["attention"][i].size(); ++j) {
        CHECK(cells["a_" + std::to_string(j)] ==
              Approx(files.expected()["attention"][i][j].get<double>()).margin(1e-6));
      }
    }
  }
}

TEST_CASE("one step of fcam-train from PyTorch's weights is PyTorch's gradient", "[apps]") {
  const TorchFiles files;
  for (const std::string loss : {"sa", "ha", "lv"}) {
    const Result result =
        run_with(files.options("fcam-train", loss),
                 {"--init", files.file("weights.safetensors"), "--momentum", "0", "--lr", "1", "--batch", "6",
                  "--epochs", "1", "--eval-every", "0", "--out", files.file("run-" + loss), "--quiet"});
    CHECK(result.err == "");
    REQUIRE(result.code == 0);
    const SafeTensors before = read_safetensors(files.file("weights.safetensors"));
    const SafeTensors after = read_safetensors(files.file("run-" + loss + "/model.safetensors"));
    double error = 0, square = 0;
    for (const NamedTensor& tensor : before.tensors) {
      const auto gradient = files.expected()["losses"][loss]["grad"][tensor.name].get<std::vector<double>>();
      const NamedTensor* moved = after.find(tensor.name);
      REQUIRE(moved != nullptr);
      REQUIRE(moved->shape == tensor.shape);
      for (std::size_t k = 0; k < gradient.size(); ++k) {
        const double step = static_cast<double>(tensor.values[k]) - moved->values[k];
        error += std::pow(step - gradient[k], 2);
        square += std::pow(gradient[k], 2);
      }
    }
    INFO(loss);
    CHECK(std::sqrt(error / square) < 1e-5);
    CHECK(square > 1e-4);
  }
}
