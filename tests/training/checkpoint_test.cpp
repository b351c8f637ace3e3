#include "fcam/training/checkpoint.h"

#include <functional>

#include "fcam/training/model_file.h"
#include "support/errors.h"
#include "support/temporary_folder.h"
#include "support/training.h"

using namespace fcam;
using namespace fcam::test;

namespace {

using Kind = OptimizerOptions::Kind;

const std::vector<Kind> optimizers{Kind::sgd, Kind::adam};

TrainerOptions options_for(std::size_t epochs, Kind kind) {
  return {.epochs = epochs, .batch = 16, .learning_rate = 0.01, .optimizer = kind, .threads = 2};
}

// A trainer of networks too small to take time, and its model.
struct SmallRun {
  explicit SmallRun(Kind kind = Kind::sgd, const std::string& focus = "fc4 relu",
                    const std::string& classify = "fc5 relu", std::size_t epochs = 2)
      : model({1}, 3, {.focus = focus, .classify = classify}),
        trainer(model, named_loss("lv"), options_for(epochs, kind)) {}

  void train() { trainer.run(numbered_bags(20, 2), nullptr, nullptr); }

  Model<float> model;
  Trainer<float> trainer;
};

// A trained run and its checkpoint.
struct Saved {
  explicit Saved(Kind kind = Kind::sgd) : run(kind), path(folder.file("checkpoint.safetensors")) {
    run.train();
    save_checkpoint(path, run.trainer);
  }
  // The checkpoint as `change` leaves its content.
  void rewrite(const std::function<void(SafeTensors&)>& change) const {
    SafeTensors content = read_safetensors(path);
    change(content);
    write_safetensors(path, content);
  }

  TemporaryFolder folder;
  SmallRun run;
  std::string path;
};

NamedTensor& tensor_of(SafeTensors& content, const std::string& name) {
  return *std::find_if(content.tensors.begin(), content.tensors.end(), [&](auto& t) { return t.name == name; });
}

// Checks that a trainer refuses a checkpoint and stays as it was, in weights, optimisers and epochs.
void check_refused(const std::string& path, SmallRun& run, std::initializer_list<std::string> parts) {
  const TemporaryFolder folder;
  save_checkpoint(folder.file("before"), run.trainer);
  check_error([&] { load_checkpoint(path, run.trainer); }, {"'" + path + "'"});
  check_error([&] { load_checkpoint(path, run.trainer); }, parts);
  save_checkpoint(folder.file("after"), run.trainer);
  CHECK(read_file(folder.file("before")) == read_file(folder.file("after")));
}

void check_refused(const Saved& saved, std::initializer_list<std::string> parts) {
  SmallRun run(Kind::sgd, "fc4 relu", "fc5 relu", 1);
  run.train();
  check_refused(saved.path, run, parts);
}

// The checkpoint after training in several goes, each by a new trainer that loads what the one before saved.
std::string checkpoint_after(const std::vector<std::size_t>& goes, Kind kind, const std::string& loss) {
  const TemporaryFolder folder;
  const std::string path = folder.file("checkpoint.safetensors");
  const Mosaics mosaics = shapes_mosaics(40);
  std::size_t epochs = 0;
  for (const std::size_t more : goes) {
    Run run(loss, options_for(epochs + more, kind));
    if (epochs > 0) load_checkpoint(path, run.trainer);
    CHECK(run.trainer.epochs_done() == epochs);
    CHECK(run.train(mosaics));
    save_checkpoint(path, run.trainer);
    epochs += more;
  }
  return read_file(path);
}

}  // namespace

TEST_CASE("a resumed training ends in the same checkpoint, byte by byte, as one without a stop", "[training]") {
  for (const Kind kind : optimizers) {
    for (const std::string& loss : loss_names) {
      CAPTURE(loss);
      const bool same = checkpoint_after({1, 2}, kind, loss) == checkpoint_after({3}, kind, loss);
      CHECK(same);
    }
  }
}

TEST_CASE("a training resumed after every epoch ends in the same checkpoint", "[training]") {
  for (const Kind kind : optimizers) {
    const bool same = checkpoint_after({1, 1, 1}, kind, "lv") == checkpoint_after({3}, kind, "lv");
    CHECK(same);
  }
}

TEST_CASE("a resume repeats no epoch's order of mosaics", "[training]") {
  const bool same = checkpoint_after({1, 1}, Kind::sgd, "lv") == checkpoint_after({1}, Kind::sgd, "lv");
  CHECK_FALSE(same);
}

TEST_CASE("a loaded checkpoint restores weights, running averages, steps and epochs", "[training]") {
  for (const Kind kind : optimizers) {
    Saved saved(kind);
    SmallRun run(kind);
    load_checkpoint(saved.path, run.trainer);
    CHECK(same_bits(run.model, saved.run.model));
    CHECK(run.trainer.epochs_done() == 2);
    CHECK(run.trainer.focus_optimizer().steps() == 4);
    CHECK(run.trainer.classify_optimizer().steps() == 4);
    const auto check_averages = [](Optimizer<float>& a, Optimizer<float>& b) {
      REQUIRE(a.averages().size() == b.averages().size());
      for (std::size_t i = 0; i < a.averages().size(); ++i) {
        CHECK(same_bits(a.averages()[i].values, b.averages()[i].values));
        CHECK(
            std::any_of(a.averages()[i].values.begin(), a.averages()[i].values.end(), [](float v) { return v != 0; }));
      }
    };
    check_averages(run.trainer.focus_optimizer(), saved.run.trainer.focus_optimizer());
    check_averages(run.trainer.classify_optimizer(), saved.run.trainer.classify_optimizer());
  }
}

TEST_CASE("a checkpoint before the first epoch is one too", "[training]") {
  const TemporaryFolder folder;
  SmallRun fresh, run;
  save_checkpoint(folder.file("a"), fresh.trainer);
  run.train();
  load_checkpoint(folder.file("a"), run.trainer);
  CHECK(same_bits(run.model, fresh.model));
  CHECK(run.trainer.epochs_done() == 0);
  CHECK(run.trainer.focus_optimizer().steps() == 0);
}

TEST_CASE("a checkpoint serves a trainer with other data, batches and threads", "[training]") {
  Saved saved;
  Model<float> model({1}, 3, {.focus = "fc4 relu", .classify = "fc5 relu"});
  Trainer<float> trainer(model, named_loss("sa"), {.epochs = 3, .batch = 5, .threads = 1});
  load_checkpoint(saved.path, trainer);
  CHECK(trainer.run(numbered_bags(12, 7), nullptr, nullptr));
  CHECK(trainer.epochs_done() == 3);
}

TEST_CASE("a checkpoint is a model file as well", "[training]") {
  Saved saved;
  Model<float> model({1}, 3, {.focus = "fc4 relu", .classify = "fc5 relu"});
  load(model, saved.path);
  CHECK(same_bits(model, saved.run.model));
}

TEST_CASE("a checkpoint replaces the one before and leaves nothing else in its folder", "[training]") {
  Saved saved;
  save_checkpoint(saved.path, saved.run.trainer);
  CHECK(std::distance(std::filesystem::directory_iterator(saved.folder.path()), {}) == 1);
}

TEST_CASE("a checkpoint of another network is refused: tensor, both shapes, option", "[training]") {
  const Saved saved;
  SmallRun focus(Kind::sgd, "fc6 relu"), classify(Kind::sgd, "fc4 relu", "fc7 relu");
  check_refused(saved.path, focus, {"tensor focus.fc1.weight", "expected shape 6x1", "found 4x1", "--focus"});
  check_refused(saved.path, classify, {"tensor classify.fc1.weight", "expected shape 7x1", "found 5x1", "--classify"});
}

TEST_CASE("a checkpoint of a network with more layers is refused", "[training]") {
  const Saved saved;
  SmallRun run(Kind::sgd, "fc4 relu", "fc5 relu fc3 relu");
  check_refused(saved.path, run, {"classify.", "--classify"});
}

TEST_CASE("a checkpoint of another optimiser is refused with the option", "[training]") {
  const Saved sgd(Kind::sgd), adam(Kind::adam);
  SmallRun into_sgd(Kind::sgd), into_adam(Kind::adam);
  check_refused(sgd.path, into_adam, {"'optimizer.focus.mean'", "found none", "--optimizer"});
  check_refused(adam.path, into_sgd, {"'optimizer.focus.momentum'", "found none", "--optimizer"});
}

TEST_CASE("weights alone are no checkpoint", "[training]") {
  const Saved saved;
  save(saved.run.model, saved.path);
  check_refused(saved, {"expected a checkpoint with 'format'", "found none"});
}

TEST_CASE("a checkpoint of another format is refused", "[training]") {
  const Saved saved;
  saved.rewrite([](SafeTensors& content) { content.metadata["format"] = "fcam checkpoint 1"; });
  check_refused(saved, {"expected a checkpoint of format 'fcam checkpoint 4'", "found 'fcam checkpoint 1'"});
}

TEST_CASE("a checkpoint of another run is refused, and changes nothing", "[training]") {
  const TemporaryFolder folder;
  Run run("lv", {.epochs = 1, .batch = 16, .threads = 1}), other("lv", {.epochs = 1, .batch = 16, .threads = 1});
  run.train(shapes_mosaics(20));
  save_checkpoint(folder.file("c"), run.trainer, {.run = "this"});
  const Model<float> before = other.model;
  check_error([&] { load_checkpoint(folder.file("c"), other.trainer, {.run = "that"}); },
              {"checkpoint of run 'that'", "found one of run 'this'"});
  CHECK(same_bits(other.model, before));
  CHECK(other.trainer.epochs_done() == 0);
  load_checkpoint(folder.file("c"), other.trainer, {.run = "this"});
  CHECK(same_bits(other.model, run.model));
}

TEST_CASE("a checkpoint on other data is refused where both are known, and changes nothing", "[training]") {
  const TemporaryFolder folder;
  Run run("lv", {.epochs = 1, .batch = 16, .threads = 1}), other("lv", {.epochs = 1, .batch = 16, .threads = 1});
  run.train(shapes_mosaics(20));
  save_checkpoint(folder.file("c"), run.trainer, {.run = "r", .data = "these"});
  const Model<float> before = other.model;
  check_error([&] { load_checkpoint(folder.file("c"), other.trainer, {.run = "r", .data = "those"}); },
              {"data with hash 'those'", "found one on data with hash 'these'"});
  CHECK(same_bits(other.model, before));
  for (const RunIdentity& identity : {RunIdentity{.run = "r", .data = "these"}, RunIdentity{.run = "r"}}) {
    load_checkpoint(folder.file("c"), other.trainer, identity);
    CHECK(same_bits(other.model, run.model));
  }
  save_checkpoint(folder.file("c"), run.trainer, {.run = "r"});
  load_checkpoint(folder.file("c"), other.trainer, {.run = "r", .data = "those"});
}

TEST_CASE("a checkpoint whose gradients and entropies of the focus are not one an epoch is refused", "[training]") {
  for (const std::string key : {"focus_gradient", "focus_entropy"}) {
    for (const std::string text : {"", "1 2 3 4 5 6 7 8 9", "x", "1,2"}) {
      const Saved saved;
      saved.rewrite([&](SafeTensors& content) { content.metadata[key] = text; });
      check_refused(saved, {"'" + key + "'", "numbers, found '" + text + "'"});
    }
  }
}

TEST_CASE("a checkpoint without its counts, or with some that are none, is refused", "[training]") {
  for (const std::string key : {"epochs", "focus.steps", "classify.steps"}) {
    const Saved saved;
    saved.rewrite([&](SafeTensors& content) { content.metadata.erase(key); });
    check_refused(saved, {"'" + key + "'", "found none"});
    for (const std::string text : {"", "-1", "two", "3.5", "1 ", "99999999999999999999"}) {
      saved.rewrite([&](SafeTensors& content) { content.metadata[key] = text; });
      check_refused(saved, {"'" + key + "'", "expected a whole number", "found '" + text + "'"});
    }
  }
}

TEST_CASE("a checkpoint without some running average, or with one of another length, is refused", "[training]") {
  const std::string name = "optimizer.classify.momentum";
  const Saved shorter;
  shorter.rewrite([&](SafeTensors& content) {
    NamedTensor& tensor = tensor_of(content, name);
    tensor.values.pop_back();
    tensor.shape = {tensor.values.size()};
  });
  check_refused(shorter, {"expected 28 numbers '" + name + "'", "found 27"});
  const Saved without;
  without.rewrite([&](SafeTensors& content) { tensor_of(content, name).name = "optimizer.classify.velocity"; });
  check_refused(without, {"expected 28 numbers '" + name + "'", "found none"});
}

TEST_CASE("a checkpoint that is cut anywhere is refused", "[training]") {
  const Saved saved;
  const std::string bytes = read_file(saved.path);
  for (const std::size_t size : {std::size_t{0}, std::size_t{4}, std::size_t{8}, bytes.size() / 2, bytes.size() - 1}) {
    write_file(saved.path, bytes.substr(0, size));
    check_refused(saved, {"expected", "found"});
  }
}

TEST_CASE("a checkpoint that does not exist is refused", "[training]") {
  SmallRun run;
  check_error([&] { load_checkpoint("/nowhere/checkpoint.safetensors", run.trainer); },
              {"/nowhere/checkpoint.safetensors"});
}

TEST_CASE("a folder that does not exist takes no checkpoint", "[training]") {
  SmallRun run;
  check_error<WriteError>([&] { save_checkpoint("/nowhere/checkpoint.safetensors", run.trainer); }, {"/nowhere/"});
}
