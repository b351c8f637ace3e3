// Trains with a loss of its own: marginal likelihood, attention with a temperature, a penalty on its entropy.
#include <cstdio>

#include <fcam/fcam.h>

using namespace fcam;

auto focused(double temperature, double weight) {
  return [=](auto& graph, const auto& batch) {
    const auto log_a = log_softmax(graph.focus(batch) / temperature);        // (B,m)
    const auto log_p = log_probability(graph.classify(batch), batch.label);  // (B,m)
    const auto entropy = -sum(exp(log_a) * log_a);                           // (B)
    return mean(weight * entropy - logsumexp(log_a + log_p));
  };
}

int main() {
  const auto loss = focused(2, 0.01);
  const Mosaics train(make_shapes(1, Split::train), {.patches = 3, .count = 2000});
  const Mosaics test(make_shapes(1, Split::test), {.patches = 3, .count = 500, .split = Split::test});

  // Is the gradient right? In double, on small networks and four mosaics.
  Model<double> tiny(train.shape(), train.classes(), {.focus = "conv2k3 pool4", .classify = "conv2k3 pool4"});
  const auto batch = make_batch<double>(train, std::vector<std::size_t>{0, 1, 2, 3});
  const std::string fault = check_loss_gradient("focused", loss, tiny, batch);
  std::printf("gradient: %s\n", fault.empty() ? "right" : fault.c_str());

  Model model(train.shape(), train.classes(), {.focus = "small", .classify = "small"});
  Trainer trainer(model, loss, {.epochs = 12, .batch = 64, .learning_rate = 0.1, .eval_every = 4});
  trainer.run(train, &test, [](const Epoch& epoch) {
    const Metrics* m = epoch.test ? &*epoch.test : nullptr;
    if (m) std::printf("epoch %zu: loss %.3f, accuracy %.3f, saif %.3f\n", epoch.number, m->loss, m->accuracy, m->saif);
    return true;  // false would stop the training
  });
}
