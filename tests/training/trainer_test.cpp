#include "fcam/training/trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <set>
#include <thread>

#include "fcam/training/checkpoint.h"
#include "support/errors.h"
#include "support/temporary_folder.h"
#include "support/training.h"

using namespace fcam;
using namespace fcam::test;

namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

// A model trained on shapes.
Model<float> trained(const LossFunction<float>& loss, const TrainerOptions& options, const Mosaics& mosaics) {
  Run run(loss, options);
  CHECK(run.train(mosaics));
  return run.model;
}

double mean_loss_of_epoch(const std::string& loss, std::size_t batch, const Mosaics& mosaics) {
  Run run(loss, {.epochs = 1, .batch = batch, .learning_rate = 0, .threads = 2});
  double mean = nan_value;
  run.trainer.run(mosaics, [&](const Epoch& epoch) {
    mean = epoch.train.loss;
    CHECK(epoch.train.n == mosaics.count());
  });
  return mean;
}

// The bags that a training sees in each epoch, in the order of the steps.
std::vector<std::vector<std::size_t>> orders(std::uint64_t seed, std::size_t epochs, std::size_t batch,
                                             const Mosaics& bags, int threads = 1) {
  std::vector<std::size_t> seen;
  std::mutex mutex;
  const LossFunction<float> loss = [&](Graph<float>& graph, const Batch<float>& data) {
    {
      const std::lock_guard lock(mutex);
      const std::size_t m = data.x.shape()[1];
      for (std::size_t b = 0; b < data.size(); ++b) seen.push_back(static_cast<std::size_t>(data.x.data()[b * m]) / m);
    }
    return losses::marginal(graph, data);
  };
  Model<float> model = numbered_model();
  Trainer<float> trainer(model, loss,
                         {.epochs = epochs, .batch = batch, .learning_rate = 0, .seed = seed, .threads = threads});
  std::vector<std::vector<std::size_t>> all;
  trainer.run(bags, [&](const Epoch&) {
    all.push_back(std::move(seen));
    seen.clear();
  });
  return all;
}

// Numbers of the epochs after which the test mosaics were evaluated.
std::vector<std::size_t> evaluated_epochs(std::size_t epochs, std::size_t eval_every) {
  Model<float> model = numbered_model();
  Trainer<float> trainer(model, named_loss("lv"), {.epochs = epochs, .eval_every = eval_every, .threads = 1});
  const Mosaics train = numbered_bags(8, 2), test = numbered_bags(6, 2);
  std::vector<std::size_t> numbers;
  std::size_t expected = 0;
  trainer.run(train, &test, [&](const Epoch& epoch) {
    CHECK(epoch.number == ++expected);
    if (epoch.test) numbers.push_back(epoch.number);
    if (epoch.test) CHECK(epoch.test->n == 6);
    return true;
  });
  return numbers;
}

void check_refused(const TrainerOptions& options, std::initializer_list<std::string> parts) {
  check_error<UsageError>([&] { Run run("lv", options); }, parts);
}

// Attention at another temperature: a loss as a user would write it.
LossFunction<float> tempered(float temperature) {
  return [temperature](Graph<float>& graph, const Batch<float>& batch) {
    const auto log_a = log_softmax(graph.focus(batch) / temperature);
    return -mean(logsumexp(log_a + log_probability(graph.classify(batch), batch.label)));
  };
}

}  // namespace

TEST_CASE("training gives the same bits for every number of threads", "[training]") {
  const Mosaics mosaics = shapes_mosaics(75);
  for (const std::string& loss : loss_names) {
    for (const auto optimizer : {OptimizerOptions::Kind::sgd, OptimizerOptions::Kind::adam}) {
      TrainerOptions options{.epochs = 2, .batch = 32, .learning_rate = 0.01, .optimizer = optimizer, .threads = 1};
      const Model<float> one = trained(named_loss(loss), options, mosaics);
      CHECK_FALSE(same_bits(one, shapes_model()));
      for (const int threads : {2, 3}) {
        CAPTURE(loss, threads);
        options.threads = threads;
        CHECK(same_bits(trained(named_loss(loss), options, mosaics), one));
      }
    }
  }
}

TEST_CASE("training gives the same bits for every number of threads where a batch has few mosaics", "[training]") {
  const Mosaics mosaics = shapes_mosaics(8);
  for (const std::size_t batch : {1, 3}) {
    const Model<float> one = trained(named_loss("lv"), {.epochs = 2, .batch = batch, .threads = 1}, mosaics);
    CHECK(same_bits(trained(named_loss("lv"), {.epochs = 2, .batch = batch, .threads = 3}, mosaics), one));
  }
}

TEST_CASE("two trainings in two threads of a program give the bits of each alone", "[training]") {
  const Mosaics mosaics = shapes_mosaics(60);
  const TrainerOptions options{.epochs = 2, .batch = 32, .threads = 2};
  const Model<float> soft_alone = trained(named_loss("sa"), options, mosaics);
  const Model<float> marginal_alone = trained(named_loss("lv"), options, mosaics);
  Run soft("sa", options), marginal("lv", options);
  std::thread other([&] { soft.train(mosaics); });
  marginal.train(mosaics);
  other.join();
  CHECK(same_bits(soft.model, soft_alone));
  CHECK(same_bits(marginal.model, marginal_alone));
}

TEST_CASE("a short last batch has the weight of its mosaics in the mean loss of the epoch", "[training]") {
  const Mosaics mosaics = shapes_mosaics(257);
  for (const std::string& loss : loss_names) {
    const double whole = mean_loss_of_epoch(loss, 257, mosaics);
    CHECK(mean_loss_of_epoch(loss, 256, mosaics) == Approx(whole).epsilon(1e-6));
  }
}

TEST_CASE("batches of one mosaic and batches larger than the data have the same mean loss", "[training]") {
  const Mosaics mosaics = shapes_mosaics(20);
  const double whole = mean_loss_of_epoch("lv", 20, mosaics);
  CHECK(mean_loss_of_epoch("lv", 1, mosaics) == Approx(whole).epsilon(1e-6));
  CHECK(mean_loss_of_epoch("lv", 1000, mosaics) == Approx(whole).epsilon(1e-6));
}

TEST_CASE("a batch larger than the data trains as one of their size", "[training]") {
  const Mosaics mosaics = shapes_mosaics(20);
  const auto with_batch = [&](std::size_t batch) {
    return trained(named_loss("sa"), {.epochs = 2, .batch = batch, .threads = 2}, mosaics);
  };
  CHECK(same_bits(with_batch(1000), with_batch(20)));
}

TEST_CASE("metrics of an epoch are those of its mosaics before each step", "[training]") {
  const Mosaics mosaics = shapes_mosaics(50);
  Run run("lv", {.epochs = 1, .batch = 16, .learning_rate = 0, .threads = 2});
  const Metrics expected = evaluate<float>(run.model, mosaics, named_loss("lv"), {}, run.trainer.workers());
  run.trainer.run(mosaics, &mosaics, [&](const Epoch& epoch) {
    for (const Metrics* found : {&epoch.train, &*epoch.test}) {
      CHECK(found->loss == Approx(expected.loss).epsilon(1e-6));
      CHECK(found->accuracy == Approx(expected.accuracy).epsilon(1e-12));
      CHECK(found->ftpt == Approx(expected.ftpt).epsilon(1e-12));
      CHECK(found->focus_entropy == Approx(expected.focus_entropy).epsilon(1e-6));
    }
    CHECK(epoch.seconds > 0);
    return true;
  });
}

TEST_CASE("a diverging training names epoch and step and leaves the weights before that step", "[training]") {
  const Mosaics mosaics = shapes_mosaics(64);
  for (const std::string& loss : loss_names) {
    CAPTURE(loss);
    Run run(loss, {.epochs = 3, .batch = 16, .learning_rate = 1e15, .threads = 2});
    Model<float> before = run.model;
    std::size_t steps = 0;
    run.trainer.on_step([&](std::size_t, double value) {
      CHECK(std::isfinite(value));
      before = run.model;
      ++steps;
      return true;
    });
    check_error<DivergedError>([&] { run.train(mosaics); },
                               {"epoch 1, step 2:", "expected a finite loss", "found loss"});
    CHECK(steps == 1);
    CHECK(same_bits(run.model, before));
    for (const float weight : run.model.focus.weights()) REQUIRE(std::isfinite(weight));
    CHECK(run.trainer.epochs_done() == 0);
  }
}

TEST_CASE("a loss that is not a number in one mosaic stops the training", "[training]") {
  const LossFunction<float> loss = [](Graph<float>& graph, const Batch<float>& batch) {
    const bool bad = std::any_of(batch.z.begin(), batch.z.end(), [](int z) { return z == 6; });
    return scale(losses::marginal(graph, batch), bad ? std::nanf("") : 1.0F);
  };
  Model<float> model = numbered_model();
  Trainer<float> trainer(model, loss, {.epochs = 2, .batch = 7, .learning_rate = 0, .threads = 2});
  check_error<DivergedError>([&] { trainer.run(numbered_bags(7, 7), nullptr, nullptr); }, {"epoch 1, step 1", "nan"});
}

TEST_CASE("weights that are not finite after an epoch stop the training; the epoch is not reported", "[training]") {
  Model<float> model = numbered_model();
  Trainer<float> trainer(model, named_loss("lv"), {.epochs = 2, .learning_rate = 1e300, .threads = 1});
  const auto report = [](const Epoch&) { FAIL_CHECK("reported"); };
  check_error<DivergedError>([&] { trainer.run(numbered_bags(7, 7), report); }, {"epoch 1, step 1", "finite weights"});
  CHECK(trainer.epochs_done() == 0);
}

TEST_CASE("a loss that is one number a mosaic is refused with its shape", "[training]") {
  const LossFunction<float> loss = [](Graph<float>& graph, const Batch<float>& batch) {
    return sum(graph.focus(batch));
  };
  Model<float> model = numbered_model();
  Trainer<float> trainer(model, loss, {.threads = 1});
  check_error<UsageError>([&] { trainer.step(numbered_bags(32, 7), first_indices(32)); }, {"one number", "shape 2"});
}

TEST_CASE("the gradient added over shards is that of the whole batch in one graph", "[training]") {
  const Mosaics mosaics = shapes_mosaics(40);
  for (const std::string& loss : loss_names) {
    for (const std::size_t count : {1, 5, 37}) {
      CAPTURE(loss, count);
      const auto indices = first_indices(count);
      Model<double> model = shapes_model<double>("conv4k3 relu pool2 fc8 relu");
      Trainer<double> trainer(model, named_loss<double>(loss), {.threads = 2});
      const ModelGradient<double> found = trainer.gradient(mosaics, indices);

      const Batch<double> batch = make_batch<double>(mosaics, indices);
      Graph<double> graph(model);
      ModelGradient<double> expected(model);
      graph.clear(&expected);
      graph.backward(named_loss<double>(loss)(graph, batch));
      for (const auto part : {&ModelGradient<double>::focus, &ModelGradient<double>::classify}) {
        double difference = 0, largest = 0;
        for (std::size_t i = 0; i < (expected.*part).size(); ++i) {
          difference = std::max(difference, std::abs((found.*part)[i] - (expected.*part)[i]));
          largest = std::max(largest, std::abs((expected.*part)[i]));
        }
        CHECK(largest > 0);
        CHECK(difference <= 1e-12 * largest);
      }
    }
  }
}

TEST_CASE("asking for a gradient changes no weight", "[training]") {
  Run run("lv", {.threads = 2});
  run.trainer.gradient(shapes_mosaics(5), first_indices(5));
  CHECK(same_bits(run.model, shapes_model()));
  CHECK(run.trainer.focus_optimizer().steps() == 0);
}

TEST_CASE("without momentum a step moves the weights by the learning rate against the gradient", "[training]") {
  const Mosaics mosaics = shapes_mosaics(20);
  Model<double> model = shapes_model<double>("mlp");
  const Model<double> before = model;
  Trainer<double> trainer(model, named_loss<double>("ha"), {.learning_rate = 0.25, .momentum = 0, .threads = 2});
  for (int pass = 0; pass < 2; ++pass) {
    const Model<double> start = model;
    const ModelGradient<double> gradient = trainer.gradient(mosaics, first_indices(20));
    trainer.step(mosaics, first_indices(20));
    double worst = 0;
    for (std::size_t i = 0; i < gradient.focus.size(); ++i) {
      worst =
          std::max(worst, std::abs(model.focus.weights()[i] - (start.focus.weights()[i] - 0.25 * gradient.focus[i])));
    }
    for (std::size_t i = 0; i < gradient.classify.size(); ++i) {
      const double expected = start.classify.weights()[i] - 0.25 * gradient.classify[i];
      worst = std::max(worst, std::abs(model.classify.weights()[i] - expected));
    }
    CHECK(worst < 1e-15);
  }
  CHECK_FALSE(same_bits(model, before));
}

TEST_CASE("a step returns the loss before it and shows what the model saw", "[training]") {
  const Mosaics bags = numbered_bags(30, 3);
  Model<float> model = numbered_model();
  Trainer<float> trainer(model, named_loss("lv"), {.learning_rate = 1e-4, .threads = 2});
  const std::vector<std::size_t> indices{4, 29, 0};
  const double first = trainer.step(bags, indices);
  CHECK(trainer.outcome().mean_loss() == first);
  CHECK(trainer.outcome().size() == 3);
  CHECK(trainer.outcome().label(1) == 2);
  CHECK(trainer.outcome().z(0) == 1);
  CHECK(trainer.step(bags, indices) < first);
}

TEST_CASE("every mosaic is seen once an epoch, in another order each time", "[training]") {
  const Mosaics bags = numbered_bags(101, 2);
  for (const int threads : {1, 2}) {
    const auto epochs = orders(1, 3, 16, bags, threads);
    REQUIRE(epochs.size() == 3);
    for (const auto& epoch : epochs) {
      CHECK(epoch.size() == 101);
      CHECK(std::set<std::size_t>(epoch.begin(), epoch.end()).size() == 101);
    }
    CHECK(epochs[0] != epochs[1]);
    CHECK(epochs[1] != epochs[2]);
  }
}

TEST_CASE("the order of the mosaics is a function of the seed, not of the batch size", "[training]") {
  const Mosaics bags = numbered_bags(50, 2);
  CHECK(orders(1, 2, 16, bags) == orders(1, 2, 16, bags));
  CHECK(orders(1, 2, 16, bags) == orders(1, 2, 7, bags));
  CHECK(orders(1, 2, 16, bags) != orders(2, 2, 16, bags));
}

TEST_CASE("test mosaics are evaluated as often as asked for, after the last epoch always", "[training]") {
  CHECK(evaluated_epochs(5, 2) == std::vector<std::size_t>{2, 4, 5});
  CHECK(evaluated_epochs(4, 1) == std::vector<std::size_t>{1, 2, 3, 4});
  CHECK(evaluated_epochs(2, 10) == std::vector<std::size_t>{2});
  CHECK(evaluated_epochs(3, 0).empty());
}

TEST_CASE("without test mosaics an epoch has no test metrics", "[training]") {
  Model<float> model = numbered_model();
  Trainer<float> trainer(model, named_loss("lv"), {.epochs = 2, .threads = 1});
  trainer.run(numbered_bags(8, 2), [](const Epoch& epoch) { CHECK_FALSE(epoch.test.has_value()); });
}

TEST_CASE("evaluating changes nothing about the training", "[training]") {
  const Mosaics mosaics = shapes_mosaics(40), test = shapes_mosaics(10, 3, Split::test);
  const TrainerOptions options{.epochs = 2, .batch = 16, .threads = 2};
  Run evaluated("sa", options);
  evaluated.trainer.run(mosaics, &test, nullptr);
  CHECK(same_bits(evaluated.model, trained(named_loss("sa"), options, mosaics)));
}

TEST_CASE("a callback that returns false stops the training after its epoch; another run goes on", "[training]") {
  const Mosaics mosaics = shapes_mosaics(40);
  const TrainerOptions options{.epochs = 3, .batch = 16, .threads = 2};
  Run run("lv", options);
  CHECK_FALSE(run.trainer.run(mosaics, [](const Epoch& epoch) { return epoch.number < 2; }));
  CHECK(run.trainer.epochs_done() == 2);
  CHECK(run.train(mosaics));
  CHECK(run.trainer.epochs_done() == 3);
  CHECK(same_bits(run.model, trained(named_loss("lv"), options, mosaics)));
}

TEST_CASE("a training that has reached its last epoch does nothing more", "[training]") {
  Run run("lv", {.epochs = 1, .threads = 2});
  const Mosaics mosaics = shapes_mosaics(10);
  run.train(mosaics);
  const Model<float> after = run.model;
  bool called = false;
  CHECK(run.trainer.run(mosaics, [&](const Epoch&) { called = true; }));
  CHECK_FALSE(called);
  CHECK(same_bits(run.model, after));
}

TEST_CASE("steps report the mosaics done and stop the epoch unfinished where told to", "[training]") {
  Run run("lv", {.epochs = 3, .batch = 16, .threads = 2});
  std::vector<std::size_t> done;
  run.trainer.on_step([&](std::size_t mosaics, double loss) {
    CHECK(std::isfinite(loss));
    done.push_back(mosaics);
    return done.size() < 5;
  });
  CHECK_FALSE(run.train(shapes_mosaics(40)));
  CHECK(done == std::vector<std::size_t>{16, 32, 40, 16, 32});
  CHECK(run.trainer.epochs_done() == 1);
}

TEST_CASE("a training stopped within an epoch goes on from its last checkpoint to the same bits", "[training]") {
  const Mosaics mosaics = shapes_mosaics(40);
  const TemporaryFolder folder;
  const std::string checkpoint = folder.file("checkpoint.safetensors");
  const TrainerOptions options{.epochs = 3, .batch = 16, .threads = 2};
  Run run("lv", options);
  const auto save = [&](const Epoch&) { save_checkpoint(checkpoint, run.trainer); };
  std::size_t steps = 0;
  run.trainer.on_step([&](std::size_t, double) { return ++steps < 5; });
  CHECK_FALSE(run.trainer.run(mosaics, save));
  load_checkpoint(checkpoint, run.trainer);
  run.trainer.on_step(nullptr);
  CHECK(run.trainer.run(mosaics, save));
  CHECK(same_bits(run.model, trained(named_loss("lv"), options, mosaics)));
}

TEST_CASE("trainer options out of range are refused by name", "[training]") {
  check_refused({.epochs = 0}, {"epochs", "at least 1", "found 0"});
  check_refused({.batch = 0}, {"batch", "at least 1", "found 0"});
  check_refused({.learning_rate = -0.1}, {"learning rate", "found -0.1"});
  check_refused({.learning_rate = nan_value}, {"learning rate", "found nan"});
  check_refused({.learning_rate = HUGE_VAL}, {"learning rate", "found inf"});
  check_refused({.momentum = 1}, {"momentum", "[0, 1)", "found 1"});
  check_refused({.momentum = -0.5}, {"momentum", "found -0.5"});
  check_refused({.momentum = nan_value}, {"momentum", "found nan"});
  check_refused({.threads = -1}, {"threads", "found -1"});
}

TEST_CASE("by default a trainer uses the cores that there are", "[training]") {
  Run run("lv");
  CHECK(run.trainer.options().threads == available_threads());
  CHECK(run.trainer.workers().count() == available_threads());
}

TEST_CASE("a model that fits the training or the test mosaics not is refused before the first step", "[training]") {
  Run run("lv", {.threads = 1});
  const Mosaics right = shapes_mosaics(10), wrong = numbered_bags(4, 2);
  check_error<UsageError>([&] { run.train(wrong); }, {"3x16x16"});
  check_error<UsageError>([&] { run.trainer.run(right, &wrong, nullptr); }, {"3x16x16"});
  check_error<UsageError>([&] { run.trainer.gradient(wrong, first_indices(2)); }, {"3x16x16"});
  check_error<UsageError>([&] { run.trainer.step(wrong, first_indices(2)); }, {"3x16x16"});
  CHECK(same_bits(run.model, shapes_model()));
}

TEST_CASE("a loss of one's own trains: attention at another temperature", "[training]") {
  const Mosaics mosaics = shapes_mosaics(100);
  const TrainerOptions options{.epochs = 3, .batch = 32, .threads = 2};
  Run run(tempered(2), options);
  std::vector<double> loss;
  run.trainer.run(mosaics, [&](const Epoch& epoch) { loss.push_back(epoch.train.loss); });
  CHECK(loss.back() < loss.front());
  CHECK(same_bits(trained(tempered(1), options, mosaics), trained(named_loss("lv"), options, mosaics)));
}

TEST_CASE("marginal likelihood learns to find and to classify shapes", "[training]") {
  const Mosaics train = shapes_mosaics(4000, 3, Split::train, 4000), test = shapes_mosaics(500, 3, Split::test, 1000);
  Run run("lv", {.epochs = 5, .batch = 32, .eval_every = 0, .threads = 2});
  run.train(train);
  const Metrics metrics = evaluate<float>(run.model, test, named_loss("lv"), {}, run.trainer.workers());
  CAPTURE(metrics.accuracy, metrics.ftpt, metrics.ffpt);
  CHECK(metrics.accuracy > 0.75);
  CHECK(metrics.ftpt > 0.7);
  CHECK(metrics.loss < 0.6);
}
