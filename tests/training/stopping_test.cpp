// Trainings that are stopped in the middle and go on, and those that end before their last epoch.
#include <catch2/catch.hpp>

#include <cmath>

#include "fcam/training/checkpoint.h"
#include "fcam/training/safetensors.h"
#include "support/errors.h"
#include "support/temporary_folder.h"
#include "support/training.h"

using namespace fcam;
using namespace fcam::test;

namespace {

using Kind = OptimizerOptions::Kind;

// Rows of a log without the seconds, and the checkpoint at the end.
struct Trace {
  std::vector<std::string> rows;
  std::string checkpoint;

  bool operator==(const Trace&) const = default;
};

std::string row_of(Epoch epoch) {
  epoch.seconds = 0;
  return log_row(epoch);
}

// Trains on 40 mosaics and tests on 30, stopping after each number of calls of on_step and on_test together; each part
// by a new trainer from the checkpoint of the one before.
Trace trained_in_parts(const TrainerOptions& options, const std::vector<std::size_t>& parts) {
  const Mosaics train = shapes_mosaics(40), test = shapes_mosaics(30, 3, Split::test);
  const TemporaryFolder folder;
  const std::string path = folder.file("checkpoint.safetensors");
  Trace trace;
  for (std::size_t part = 0; part <= parts.size(); ++part) {
    Run run("lv", options);
    if (part > 0) load_checkpoint(path, run.trainer);
    std::size_t calls = 0;
    const auto goes_on = [&] { return part == parts.size() || ++calls < parts[part]; };
    run.trainer.on_step([&](std::size_t, double) { return goes_on(); });
    run.trainer.on_test([&](std::size_t) { return goes_on(); });
    const bool finished = run.trainer.run(train, &test, [&](const Epoch& epoch) {
      trace.rows.push_back(row_of(epoch));
      return true;
    });
    CHECK(finished == (part == parts.size()));
    save_checkpoint(path, run.trainer);
  }
  trace.checkpoint = read_file(path);
  return trace;
}

// Trains on bags with scripted losses: the loss of epoch e is losses[e - 1], its gradient that of the model.
struct Scripted {
  Scripted(std::vector<double> script, const TrainerOptions& options)
      : losses(std::move(script)),
        model(numbered_model()),
        trainer(
            model, [this](Graph<float>& graph, const Batch<float>& batch) { return loss(graph, batch); }, options) {}

  Var<float> loss(Graph<float>& graph, const Batch<float>& batch) {
    const Var<float> real = losses::marginal(graph, batch);
    const auto target = static_cast<float>(losses.at(trainer.epochs_done()));
    shift.resize(real.value().shape());
    shift.data()[0] = target - real.scalar();
    return real + graph.tape().constant(shift);
  }
  // Numbers of the epochs that were trained.
  std::size_t train(const Mosaics* test = nullptr) {
    const Mosaics mosaics = numbered_bags(8, 2);
    weights.clear();
    trainer.run(mosaics, test, [&](const Epoch&) {
      weights.push_back(model);
      return true;
    });
    return trainer.epochs_done();
  }

  std::vector<double> losses;
  Tensor<float> shift;  // outlives the record; one thread works here
  Model<float> model;
  Trainer<float> trainer;
  std::vector<Model<float>> weights;  // after each epoch
};

TrainerOptions scripted(std::size_t epochs, std::size_t patience) {
  return {.epochs = epochs, .batch = 4, .learning_rate = 0.01, .patience = patience, .threads = 1};
}

}  // namespace

TEST_CASE("a training stopped at any step or batch of the test goes on to the same rows and bytes", "[training]") {
  // An epoch is 3 steps and 2 batches of the test.
  for (const Kind kind : {Kind::sgd, Kind::adam}) {
    const TrainerOptions options{
        .epochs = 3, .batch = 16, .learning_rate = 0.01, .optimizer = kind, .patience = 2, .threads = 2};
    const Trace whole = trained_in_parts(options, {});
    REQUIRE(whole.rows.size() == 3);
    for (std::size_t calls = 1; calls < 12; ++calls) {
      CAPTURE(calls);
      CHECK(trained_in_parts(options, {calls}) == whole);
    }
    CHECK(trained_in_parts(options, {1, 1, 1, 1, 1, 1, 2, 2}) == whole);
  }
}

TEST_CASE("a trainer that was stopped within an epoch goes on by itself, too", "[training]") {
  const Mosaics mosaics = shapes_mosaics(40);
  const TrainerOptions options{.epochs = 2, .batch = 16, .threads = 2};
  Run whole("lv", options), parts("lv", options);
  CHECK(whole.train(mosaics));
  parts.trainer.on_step([](std::size_t, double) { return false; });
  std::size_t stops = 0;
  while (!parts.train(mosaics)) ++stops;
  CHECK(stops == 6);
  CHECK(same_bits(whole.model, parts.model));
}

TEST_CASE("the time of an epoch in two parts is that of both", "[training]") {
  Run run("lv", {.epochs = 1, .batch = 16, .threads = 1});
  TrainerState<float> state;
  state.seconds = 1000;
  run.trainer.set_state(state);
  double seconds = 0;
  run.trainer.run(shapes_mosaics(16), [&](const Epoch& epoch) { seconds = epoch.seconds; });
  CHECK(seconds > 1000);
  CHECK(seconds < 1100);
}

TEST_CASE("fewer mosaics than were done in the epoch are refused", "[training]") {
  Run run("lv", {.epochs = 1, .batch = 16, .threads = 1});
  run.trainer.on_step([](std::size_t done, double) { return done < 32; });
  CHECK_FALSE(run.train(shapes_mosaics(40)));
  check_error<UsageError>([&] { run.train(shapes_mosaics(20)); }, {"32", "found 20"});
}

TEST_CASE("a checkpoint with sums that are none is refused", "[training]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("checkpoint.safetensors");
  Run run("lv", {.epochs = 1, .batch = 16, .threads = 1});
  run.trainer.on_step([](std::size_t, double) { return false; });
  run.train(shapes_mosaics(40));
  save_checkpoint(path, run.trainer);
  const SafeTensors content = read_safetensors(path);
  const std::string right = content.metadata.at("epoch.sums");
  for (const std::string& wrong :
       {std::string(), std::string("1 2 3"), right + " 1", "-" + right, right + " ", "x" + right, " " + right}) {
    SafeTensors changed = content;
    changed.metadata["epoch.sums"] = wrong;
    write_safetensors(path, changed);
    Run other("lv", {.epochs = 1, .batch = 16, .threads = 1});
    const Model<float> before = other.model;
    check_error([&] { load_checkpoint(path, other.trainer); }, {path, "'epoch.sums'", "3 classes"});
    CHECK(same_bits(other.model, before));
  }
}

TEST_CASE("patience ends a training after so many epochs without a lower loss, and keeps the best", "[training]") {
  const std::vector<double> losses{3, 2, 2.5, 1, 1, 4, 1.5, 0.5, 9};
  const auto check = [&](std::size_t patience, std::size_t epochs, std::size_t best, Ending ending) {
    CAPTURE(patience);
    Scripted run(losses, scripted(9, patience));
    CHECK(run.train() == epochs);
    CHECK(run.trainer.ending() == ending);
    CHECK(run.trainer.state().best.epoch == best);
    CHECK(run.trainer.state().best.loss == Approx(losses[best - 1]));
    CHECK(same_bits(run.model, run.weights.at(epochs - 1)));
    run.trainer.use_best();
    CHECK(same_bits(run.model, run.weights.at(best - 1)));
  };
  check(1, 3, 2, Ending::patience);
  check(2, 6, 4, Ending::patience);
  check(3, 7, 4, Ending::patience);
  check(4, 9, 8, Ending::epochs);
}

TEST_CASE("an equal loss is no better one", "[training]") {
  Scripted run({1, 1, 1, 1}, scripted(4, 2));
  CHECK(run.train() == 3);
  CHECK(run.trainer.state().best.epoch == 1);
}

TEST_CASE("without patience no epoch is judged, and the last weights are kept", "[training]") {
  Scripted run({1, 2, 3}, scripted(3, 0));
  CHECK(run.train() == 3);
  CHECK(run.trainer.state().best.epoch == 0);
  run.trainer.use_best();
  CHECK(same_bits(run.model, run.weights.at(2)));
}

TEST_CASE("with test mosaics only the epochs that are tested are judged", "[training]") {
  TrainerOptions options = scripted(9, 2);
  options.eval_every = 2;
  const Mosaics test = numbered_bags(6, 2);
  Scripted run({1, 5, 2, 6, 3, 7, 4, 8, 9}, options);
  CHECK(run.train(&test) == 6);  // epochs 2, 4 and 6 were judged
  CHECK(run.trainer.state().best.epoch == 2);
  options.eval_every = 0;
  Scripted never({1, 5, 2, 6}, options);
  CHECK(never.train(&test) == 3);  // by the train loss
  CHECK(never.trainer.state().best.epoch == 1);
}

TEST_CASE("a last epoch that is tested because it is the last is not judged, so that going on changes nothing",
          "[training]") {
  const TemporaryFolder folder;
  const Mosaics test = numbered_bags(6, 2);
  const std::vector<double> losses{5, 4, 3, 6, 2, 6, 7, 8};
  const auto options = [](std::size_t epochs) {
    TrainerOptions all = scripted(epochs, 1);
    all.eval_every = 4;
    return all;
  };
  Scripted whole(losses, options(8)), first(losses, options(5)), second(losses, options(8));
  CHECK(whole.train(&test) == 8);  // epochs 4 and 8 were judged
  CHECK(first.train(&test) == 5);
  CHECK(first.trainer.state().best.epoch == 4);
  save_checkpoint(folder.file("c"), first.trainer);
  load_checkpoint(folder.file("c"), second.trainer);
  CHECK(second.train(&test) == 8);
  CHECK(second.trainer.state().best.epoch == whole.trainer.state().best.epoch);
  whole.trainer.use_best();
  second.trainer.use_best();
  CHECK(same_bits(whole.model, second.model));
}

TEST_CASE("patience that is raised lets a training go on", "[training]") {
  const TemporaryFolder folder;
  const std::vector<double> losses{1, 2, 3, 4, 5};
  Scripted run(losses, scripted(5, 1));
  CHECK(run.train() == 2);
  save_checkpoint(folder.file("c"), run.trainer);
  Scripted more(losses, scripted(5, 3));
  load_checkpoint(folder.file("c"), more.trainer);
  CHECK(more.trainer.ending() == Ending::none);
  CHECK(more.train() == 4);
}

TEST_CASE("a loss at the stop loss ends the training; that epoch is tested whatever the others are", "[training]") {
  TrainerOptions options = scripted(5, 0);
  options.stop_loss = 2;
  options.eval_every = 4;
  Scripted run({4, 3, 2, 1, 1}, options);
  const Mosaics train = numbered_bags(8, 2), test = numbered_bags(6, 2);
  std::vector<std::size_t> tested;
  CHECK(run.trainer.run(train, &test, [&](const Epoch& epoch) {
    if (epoch.test) tested.push_back(epoch.number);
    return true;
  }));
  CHECK(run.trainer.epochs_done() == 3);
  CHECK(run.trainer.ending() == Ending::stop_loss);
  CHECK(tested == std::vector<std::size_t>{3});
  CHECK(run.trainer.run(train, &test, nullptr));
  CHECK(run.trainer.epochs_done() == 3);  // over is over
}

TEST_CASE("a stop loss that is no number is refused", "[training]") {
  check_error<UsageError>([] { Run run("lv", {.stop_loss = std::nan("")}); }, {"stop loss", "found nan"});
}

TEST_CASE("a loss that is not a number is never the best", "[training]") {
  Scripted run({2, std::nan("")}, scripted(3, 3));
  CHECK_THROWS_AS(run.train(), DivergedError);
  CHECK(run.trainer.state().best.epoch == 1);
  CHECK(run.trainer.state().best.loss == Approx(2));
}

TEST_CASE("what no checkpoint could hold is found where a training is stopped", "[training]") {
  Model<float> model = numbered_model();
  Trainer<float> trainer(model, named_loss("lv"), {.epochs = 2, .batch = 4, .learning_rate = 1e300, .threads = 1});
  trainer.on_step([](std::size_t, double) { return false; });
  check_error<DivergedError>([&] { trainer.run(numbered_bags(12, 7), nullptr, nullptr); },
                             {"epoch 1, batch 1", "finite weights"});

  // Weights that stay finite beside an average of squares that does not.
  const LossFunction<float> steep = [](Graph<float>& graph, const Batch<float>& batch) {
    return losses::marginal(graph, batch) * 1e25F;
  };
  Model<float> other = numbered_model();
  Trainer<float> adam(other, steep, {.epochs = 1, .optimizer = Kind::adam, .threads = 1});
  check_error<DivergedError>([&] { adam.run(numbered_bags(12, 7), nullptr, nullptr); }, {"finite weights"});
  CHECK(std::all_of(other.focus.weights().begin(), other.focus.weights().end(),
                    [](float w) { return std::isfinite(w); }));
}
