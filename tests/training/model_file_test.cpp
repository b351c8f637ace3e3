#include "fcam/training/model_file.h"

#include <limits>

#include "support/errors.h"
#include "support/temporary_folder.h"
#include "support/training.h"

using namespace fcam;
using namespace fcam::test;

namespace {

Model<float> model_of(const std::string& focus, const std::string& classify, std::size_t classes = 3) {
  return Model<float>({3, 16, 16}, classes, {.focus = focus, .classify = classify, .seed = 2});
}

// Checks that the weights of a model are refused by another one, which stays as it was.
void check_refused(const SafeTensors& content, Model<float>& into, std::initializer_list<std::string> parts) {
  const TemporaryFolder folder;
  const std::string path = folder.file("model.safetensors");
  write_safetensors(path, content);
  const Model<float> before = into;
  check_error([&] { load(into, path); }, {"'" + path + "'"});
  check_error([&] { load(into, path); }, parts);
  CHECK(same_bits(into, before));
}

void check_refused(const Model<float>& from, Model<float> into, std::initializer_list<std::string> parts) {
  check_refused(to_tensors(from), into, parts);
}

}  // namespace

TEST_CASE("saved weights are loaded bit for bit", "[training]") {
  const TemporaryFolder folder;
  Model<float> model = shapes_model();
  auto& weights = model.classify.weights();
  weights[0] = -0.0F;
  weights[1] = std::numeric_limits<float>::denorm_min();
  weights[2] = std::numeric_limits<float>::max();
  save(model, folder.file("a"));
  Model<float> other = model_of("small", "small");
  CHECK_FALSE(same_bits(other, model));
  load(other, folder.file("a"));
  CHECK(same_bits(other, model));
}

TEST_CASE("weights are saved under PyTorch's names and shapes, f before g", "[training]") {
  const SafeTensors content = to_tensors(shapes_model());
  std::vector<std::string> found;
  for (const auto& tensor : content.tensors) found.push_back(tensor.name + " " + to_string(tensor.shape));
  CHECK(found == std::vector<std::string>{
                     "focus.conv1.weight 16x3x3x3", "focus.conv2.weight 32x16x3x3", "focus.fc1.weight 64x128",
                     "focus.fc2.weight 1x64", "classify.conv1.weight 16x3x3x3", "classify.conv1.bias 16",
                     "classify.conv2.weight 32x16x3x3", "classify.conv2.bias 32", "classify.fc1.weight 64x128",
                     "classify.fc1.bias 64", "classify.fc2.weight 3x64", "classify.fc2.bias 3"});
}

TEST_CASE("saving the same weights gives the same bytes", "[training]") {
  const TemporaryFolder folder;
  save(shapes_model(), folder.file("a"));
  save(shapes_model(), folder.file("b"));
  CHECK(read_file(folder.file("a")) == read_file(folder.file("b")));
}

TEST_CASE("weights of another focus network are refused: tensor, both shapes, option", "[training]") {
  check_refused(model_of("fc8 relu", "linear"), model_of("fc9 relu", "linear"),
                {"tensor focus.fc1.weight", "expected shape 9x768", "found 8x768", "--focus"});
}

TEST_CASE("weights of another classification network are refused: tensor, both shapes, option", "[training]") {
  check_refused(model_of("linear", "conv4k3"), model_of("linear", "conv4k5"),
                {"tensor classify.conv1.weight", "expected shape 4x3x5x5", "found 4x3x3x3", "--classify"});
}

TEST_CASE("weights for another number of classes are refused: tensor, both shapes", "[training]") {
  check_refused(model_of("linear", "fc8 relu"), model_of("linear", "fc8 relu", 4),
                {"tensor classify.fc2.weight", "expected shape 4x8", "found 3x8", "number of classes"});
}

TEST_CASE("a shape with the same count of numbers is another shape", "[training]") {
  SafeTensors content = to_tensors(model_of("linear", "linear"));
  content.tensors[0].shape = {768, 1};
  Model<float> model = model_of("linear", "linear");
  check_refused(content, model, {"focus.fc1.weight", "expected shape 1x768", "found 768x1"});
}

TEST_CASE("a missing tensor is named with its shape and the option", "[training]") {
  check_refused(model_of("linear", "fc8 relu"), model_of("fc8 relu", "fc8 relu"),
                {"focus.fc1.weight", "8x768", "1x768"});
  check_refused(model_of("linear", "linear nobias"), model_of("linear", "linear"),
                {"tensor classify.fc1.bias of shape 3", "found none of that name", "--classify"});
}

TEST_CASE("a tensor that the model does not have is named with its shape and the option", "[training]") {
  check_refused(model_of("linear", "linear"), model_of("linear", "linear nobias"),
                {"found 'classify.fc1.bias' of shape 3", "--classify"});
}

TEST_CASE("a renamed tensor is refused", "[training]") {
  SafeTensors content = to_tensors(shapes_model());
  content.tensors[0].name = "focus.convolution1.weight";
  Model<float> model = shapes_model();
  check_refused(content, model, {"tensor focus.conv1.weight of shape 16x3x3x3", "found none of that name", "--focus"});
}

TEST_CASE("a fault in the last tensor leaves the first ones unloaded", "[training]") {
  SafeTensors content = to_tensors(model_of("small", "small"));
  content.tensors.back().shape = {1, 3};
  Model<float> model = shapes_model();
  check_refused(content, model, {"classify.fc2.bias", "expected shape 3", "found 1x3"});
}

TEST_CASE("tensors of others beside the weights are left alone", "[training]") {
  const TemporaryFolder folder;
  const Model<float> model = model_of("small", "small");
  SafeTensors content = to_tensors(model);
  content.tensors.insert(content.tensors.begin(), {"optimizer.focus.momentum", {2}, {1, 2}});
  content.metadata["format"] = "something else";
  write_safetensors(folder.file("a"), content);
  Model<float> other = shapes_model();
  load(other, folder.file("a"));
  CHECK(same_bits(other, model));
}

TEST_CASE("weights serve mosaics of any number of patches", "[training]") {
  const TemporaryFolder folder;
  Run run("lv", {.epochs = 1, .batch = 16, .threads = 2});
  run.train(shapes_mosaics(20, 3));
  save(run.model, folder.file("a"));
  Model<float> other = shapes_model();
  load(other, folder.file("a"));
  const Metrics metrics = evaluate<float>(other, shapes_mosaics(20, 7), named_loss("lv"), {}, run.trainer.workers());
  CHECK(metrics.n == 20);
}

TEST_CASE("a file that is none of weights is refused and leaves the model", "[training]") {
  const TemporaryFolder folder;
  Model<float> model = shapes_model();
  write_file(folder.file("text"), "no safetensors file, whatever its name is");
  check_error([&] { load(model, folder.file("text")); }, {folder.file("text"), "safetensors"});
  check_error([&] { load(model, folder.file("none")); }, {folder.file("none")});
  save(model, folder.file("a"));
  const std::string bytes = read_file(folder.file("a"));
  write_file(folder.file("cut"), bytes.substr(0, bytes.size() - 1));
  check_error([&] { load(model, folder.file("cut")); }, {folder.file("cut")});
  CHECK(same_bits(model, shapes_model()));
}

TEST_CASE("a place that cannot be written to is an error of writing", "[training]") {
  const TemporaryFolder folder;
  check_error<WriteError>([&] { save(shapes_model(), folder.file("none/model.safetensors")); },
                          {"none/model.safetensors"});
}
