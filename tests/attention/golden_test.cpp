// Losses, gradients, attention and scores of small models against PyTorch in float64 (tests/golden/fcam_small.json).
#include <catch2/catch.hpp>

#include <map>

#include "fcam/attention/inference.h"
#include "fcam/attention/losses.h"
#include "support/golden.h"

using namespace fcam;
using nlohmann::json;

namespace {

struct Case {
  Case(const json& golden_case, const std::string& focus, const std::string& classify)
      : golden(golden_case),
        model(patch_shape(golden_case), golden_case["scores"]["sa"][0].size(), {.focus = focus, .classify = classify}) {
    const auto shape = golden["shape_x"].get<std::vector<std::size_t>>();
    batch.x.resize(TensorShape(shape.begin(), shape.end()));
    const auto x = golden["x"].get<std::vector<double>>();
    std::copy(x.begin(), x.end(), batch.x.data());
    batch.label = golden["y"].get<std::vector<int>>();
    batch.z.assign(batch.label.size(), -1);
    for (auto& weights : named_weights(model)) {
      const auto values = torch_parameter(weights.name)["data"].get<std::vector<double>>();
      REQUIRE(values.size() == element_count(weights.shape));
      std::copy(values.begin(), values.end(), weights.values);
    }
  }

  static Shape patch_shape(const json& golden_case) {
    const auto shape = golden_case["shape_x"].get<std::vector<std::size_t>>();
    return Shape(shape.begin() + 2, shape.end());
  }

  // The golden file names parameters by their place in torch's Sequential: "focus.0.weight". Ours are counted per kind;
  // both lists are in the order of the network.
  std::string torch_name(const std::string& name) {
    const auto dot = name.find('.');
    const std::string network = name.substr(0, dot), what = name.substr(name.rfind('.'));
    std::map<int, std::string> torch;  // by place
    for (const auto& [key, value] : golden["parameters"].items()) {
      if (key.starts_with(network + ".") && key.ends_with(what)) torch[std::stoi(key.substr(dot + 1))] = key;
    }
    int place = 0;
    for (const auto& weights : named_weights(model)) {
      if (weights.name == name) break;
      if (weights.name.starts_with(network + ".") && weights.name.ends_with(what)) ++place;
    }
    return std::next(torch.begin(), place)->second;
  }
  const json& torch_parameter(const std::string& name) { return golden["parameters"][torch_name(name)]; }

  json golden;
  Model<double> model;
  Batch<double> batch;
};

std::vector<Case*> cases() {
  static const json all = test::golden("fcam_small.json");
  static Case linear(all[0], "linear nobias", "linear");
  static Case mlp(all[1], "fc8 relu linear", "fc6 relu linear");
  static Case cnn(all[2], "conv3k3 nobias relu pool2 conv4k2 nobias relu fc5 nobias relu linear nobias",
                  "conv3k3 relu pool2 conv4k2 relu fc5 relu linear");
  return {&linear, &mlp, &cnn};
}

void check_close(double found, double expected) { CHECK(found == Approx(expected).epsilon(1e-10).margin(1e-13)); }

void check_rows(const Tensor<double>& found, const json& expected) {
  const std::size_t columns = found.shape()[1];
  for (std::size_t r = 0; r < found.shape()[0]; ++r) {
    for (std::size_t c = 0; c < columns; ++c) check_close(found.data()[r * columns + c], expected[r][c].get<double>());
  }
}

// Loss and all gradients of one named loss.
void check_loss(const std::string& name) {
  for (Case* c : cases()) {
    INFO(c->golden["name"]);
    const json& expected = c->golden["losses"][name];
    Graph<double> graph(c->model);
    ModelGradient<double> gradient(c->model);
    graph.clear(&gradient);
    const Var<double> loss = loss_function<double>(find_loss(name))(graph, c->batch);
    graph.backward(loss);
    check_close(loss.scalar(), expected["loss"].get<double>());
    for (const auto& weights : named_weights(c->model)) {
      INFO(weights.name);
      const auto torch = expected["grad"][c->torch_name(weights.name)].get<std::vector<double>>();
      const bool is_focus = weights.name.starts_with("focus.");
      const auto& network_weights = is_focus ? c->model.focus.weights() : c->model.classify.weights();
      const double* found =
          (is_focus ? gradient.focus : gradient.classify).data() + (weights.values - network_weights.data());
      for (std::size_t i = 0; i < torch.size(); ++i) check_close(found[i], torch[i]);
    }
  }
}

void check_scores(Inference rule) {
  for (Case* c : cases()) {
    INFO(c->golden["name"]);
    Graph<double> graph(c->model);
    graph.clear();
    Outcome<double> outcome;
    infer(graph, c->batch, rule, outcome);
    check_rows(outcome.a, c->golden["attention"]);
    check_rows(outcome.s, c->golden["scores"][to_string(rule)]);
  }
}

}  // namespace

TEST_CASE("soft attention: PyTorch's loss and gradients") { check_loss("sa"); }
TEST_CASE("hard attention: PyTorch's loss and gradients") { check_loss("ha"); }
TEST_CASE("marginal likelihood: PyTorch's loss and gradients") { check_loss("lv"); }
TEST_CASE("soft inference: PyTorch's attention and scores") { check_scores(Inference::soft); }
TEST_CASE("hard inference: PyTorch's attention and scores") { check_scores(Inference::hard); }
TEST_CASE("marginal inference: PyTorch's attention and scores") { check_scores(Inference::marginal); }
