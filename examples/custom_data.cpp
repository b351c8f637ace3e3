// Trains on bags of your own: here each bag has four patches of eight numbers, and one patch that stands out in one of
// the first three numbers, which is the label.
#include <cstdio>
#include <random>

#include <fcam/fcam.h>

using namespace fcam;

Mosaics make_bags(std::size_t count, unsigned seed) {
  constexpr std::size_t m = 4, dimension = 8;
  const std::vector<std::string> names{"first", "second", "third"};
  std::mt19937 random(seed);
  std::normal_distribution<float> noise(0, 0.5f);
  std::vector<float> numbers(count * m * dimension);
  std::vector<int> labels(count), positions(count);
  for (float& x : numbers) x = noise(random);
  for (std::size_t i = 0; i < count; ++i) {
    labels[i] = static_cast<int>(random() % 3);
    positions[i] = static_cast<int>(random() % m);
    const std::size_t patch = i * m + static_cast<std::size_t>(positions[i]);
    numbers[patch * dimension + static_cast<std::size_t>(labels[i])] += 3;
  }
  // Patches have no labels of their own; leave `positions` empty where they are not known.
  Images patches({dimension}, std::move(numbers), std::vector<int>(count * m, 0), names);
  return Mosaics::from_bags(std::move(patches), m, std::move(labels), std::move(positions), names);
}

int main() {
  const Mosaics train = make_bags(4000, 1), test = make_bags(1000, 2);
  Model model(train.shape(), train.classes(), {.focus = "fc16 relu", .classify = "fc16 relu"});
  Trainer trainer(model, losses::marginal, {.epochs = 10, .batch = 64, .eval_every = 10});
  trainer.run(train, &test, [](const Epoch& epoch) {
    if (epoch.test) std::printf("accuracy %.3f, focus %.3f\n", epoch.test->accuracy, epoch.test->focus_mean);
    return true;
  });
  save(model, "bags.safetensors");
}
