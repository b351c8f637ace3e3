// The programs on data of one's own: npy files of vectors, of images, and of ready-made bags.
#include <catch2/catch.hpp>

#include <filesystem>

#include "support/runs.h"

using namespace fcam::test;
using Catch::Contains;
using fcam::Shape;
namespace fs = std::filesystem;

namespace {

// Bags of 4 patches: class 3 is the background, the label 0, 1 or 2 that of the patch at z.
void write_bags(const std::string& folder, const std::string& split, std::size_t count, const Shape& patch,
                bool with_z = true) {
  std::vector<std::int64_t> patch_labels, labels, z;
  for (std::size_t i = 0; i < count; ++i) {
    labels.push_back(static_cast<std::int64_t>(i % 3));
    z.push_back(static_cast<std::int64_t>(i / 3 % 4));
    for (std::int64_t j = 0; j < 4; ++j) patch_labels.push_back(j == z.back() ? labels.back() : 3);
  }
  Shape shape{count, 4};
  shape.insert(shape.end(), patch.begin(), patch.end());
  const std::size_t size = fcam::element_count(patch);
  fcam::write_npy(folder + "/x_" + split + ".npy", shape, labelled_items(patch_labels, size, split.size()));
  fcam::write_npy(folder + "/y_" + split + ".npy", {count}, labels);
  if (with_z) fcam::write_npy(folder + "/z_" + split + ".npy", {count}, z);
}

std::string make_folder(const TemporaryFolder& folder, const std::string& name) {
  std::filesystem::create_directory(folder.file(name));
  return folder.file(name);
}

nlohmann::json evaluate(const TemporaryFolder& folder, const std::string& options) {
  run_well(command(folder, "fcam-evaluate --json x.json " + options));
  return read_json(folder.file("x.json"));
}

}  // namespace

TEST_CASE("vectors and images from npy files are learnt, and the run is reproduced", "[npy_runs]") {
  const TemporaryFolder folder;
  const std::string vectors = make_folder(folder, "vectors"), images = make_folder(folder, "images");
  write_items(vectors, "train", 80, {6});
  write_items(vectors, "test", 40, {6});
  write_items(images, "train", 80, {8, 6});
  write_items(images, "test", 40, {8, 6});
  for (const auto& [name, shape] : {std::pair<std::string, std::string>{"vectors", "6"}, {"images", "1x8x6"}}) {
    INFO(name);
    CHECK_THAT(run_well(command(folder, "fcam-train --dry-run --data npy:" + name)).out,
               Contains("5 patches " + shape + ", classes '0' '1' '2'"));
    run_well(command(folder,
                     "fcam-train --loss lv --patches 3 --train 300 --test 100 --epochs 6 --batch 20 "
                     "--focus mlp --classify mlp --out run-" +
                         name + " --data npy:" + name));
    const nlohmann::json e = evaluate(folder, "run-" + name);
    CHECK(e["n"] == 100);
    CHECK(e["accuracy"].get<double>() > 0.9);
    run_well(command(folder, "fcam-train --quiet --out again-" + name + " --config run-" + name + "/config.toml"));
    CHECK(read_file(folder.file("run-" + name + "/model.safetensors")) ==
          read_file(folder.file("again-" + name + "/model.safetensors")));
  }
}

TEST_CASE("ready-made bags with positions are learnt, found again and evaluated", "[npy_runs]") {
  const TemporaryFolder folder;
  const std::string bags = make_folder(folder, "bags");
  write_bags(bags, "train", 240, {5});
  write_bags(bags, "test", 60, {5});
  run_well(command(folder,
                   "fcam-train --data npy:bags --loss lv --epochs 8 --batch 20 --focus mlp --classify mlp --out run"));
  CHECK_THAT(read_file(folder.file("run/config.toml")), Contains("patches = 4\ntrain = 240\ntest = 60\n"));
  const nlohmann::json e = evaluate(folder, "run --dump dump.csv");
  CHECK(e["n"] == 60);
  CHECK(e["accuracy"].get<double>() > 0.9);
  CHECK(e["focus_mean"].get<double>() > 0.3);
  const Table dump = read_table(folder.file("dump.csv"));
  for (std::size_t i = 0; i < 60; ++i) {
    CHECK(dump.text(i, "label") == std::to_string(i % 3));
    CHECK(dump.text(i, "z") == std::to_string(i / 3 % 4));
  }
  CHECK(evaluate(folder, "run --split train")["n"] == 240);

  run_well(command(folder, "fcam-train --config run/config.toml --out again"));
  CHECK(read_file(folder.file("run/model.safetensors")) == read_file(folder.file("again/model.safetensors")));
  run_well(command(folder, "fcam-train --resume --epochs 9 --out run"));
  run_well(command(folder, "fcam-mosaic --data npy:bags --show 2 --csv rows.csv"));
  CHECK(read_table(folder.file("rows.csv")).rows.size() == 240);
}

TEST_CASE("options that ready-made bags settle are refused where they say something else", "[npy_runs]") {
  const TemporaryFolder folder;
  const std::string bags = make_folder(folder, "bags");
  write_bags(bags, "train", 12, {5});
  write_bags(bags, "test", 12, {5});
  const auto dry = [&](const std::string& options) {
    return command(folder, "fcam-train --dry-run --data npy:bags " + options);
  };
  CHECK(run(dry("--patches 4 --train 12")).code == 0);
  CHECK_THAT(error_of(dry("--patches 5"), 2), Contains("patches: expected 4") && Contains("found 5"));
  CHECK_THAT(error_of(dry("--train 11"), 2), Contains("train: expected 12"));
  CHECK_THAT(error_of(dry("--foreground 0"), 2), Contains("foreground"));
}

TEST_CASE("bags without positions are trained and evaluated; what concerns the focus is not known", "[npy_runs]") {
  const TemporaryFolder folder;
  const std::string bags = make_folder(folder, "bags");
  write_bags(bags, "train", 60, {1, 6, 4}, false);
  write_bags(bags, "test", 30, {1, 6, 4}, false);
  run_well(command(folder, "fcam-train --data npy:bags --loss ha --epochs 2 --focus mlp --classify mlp --out run"));
  const Table log = read_table(folder.file("run/log.csv"));
  CHECK_FALSE(log.text(1, "accuracy").empty());
  CHECK(log.text(1, "ftpt").empty());
  CHECK(log.text(1, "test_saif").empty());
  CHECK(read_json(folder.file("run/summary.json"))["test"]["saif"].is_null());

  const Result result = run_well(command(folder, "fcam-evaluate run --json x.json --csv x.csv --dump dump.csv"));
  CHECK_THAT(result.out, Contains("positions of the foreground are not known"));
  const nlohmann::json e = read_json(folder.file("x.json"));
  CHECK(e["accuracy"].is_number());
  for (const std::string name : {"ftpt", "ffpt", "ftpf", "ffpf", "saif", "focus_mean", "heat_map"})
    CHECK(e[name].is_null());
  CHECK(read_table(folder.file("x.csv")).text(0, "saif").empty());
  const Table dump = read_table(folder.file("dump.csv"));
  CHECK(dump.text(0, "z").empty());
  CHECK(dump.text(0, "a_z").empty());
  CHECK(dump.number(0, "a_0") + dump.number(0, "a_1") + dump.number(0, "a_2") + dump.number(0, "a_3") == Approx(1));
  for (const std::string name : {"x.json", "x.csv", "dump.csv"}) std::filesystem::remove(folder.file(name));
  CHECK_THAT(error_of(command(folder, "fcam-evaluate run --plot x.svg --json x.json --csv x.csv --dump dump.csv"), 2),
             Contains("plot: expected data with known positions") && Contains("'run'"));
  for (const std::string name : {"x.json", "x.csv", "dump.csv"})
    CHECK_FALSE(std::filesystem::exists(folder.file(name)));
  CHECK_THAT(run(command(folder, "fcam-mosaic --data npy:bags --csv rows.csv")).err, Contains("known positions"));
}

TEST_CASE("npy data that do not fit together are exit code 3 and name the file", "[npy_runs]") {
  const TemporaryFolder folder;
  const std::string data = make_folder(folder, "data");
  write_items(data, "train", 40, {6});
  const Command train = command(folder, "fcam-train --data npy:data --out run");
  write_items(data, "test", 20, {7});
  std::filesystem::remove(data + "/x_test.npy");  // without y_test.npy as well, a part is held out
  CHECK_THAT(error_of(train, 3), Contains("x_test.npy"));
  write_items(data, "test", 20, {7});
  CHECK_THAT(error_of(train, 3), Contains("5 patches 6") && Contains("5 patches 7"));
  write_items(data, "test", 20, {6});
  fcam::write_npy(data + "/y_test.npy", {20}, std::vector<std::int64_t>(20, 9));
  CHECK_THAT(error_of(train, 3), Contains("y_test.npy") && Contains("9 at index 0"));
  const std::string x = read_file(data + "/x_train.npy");
  write_file(data + "/x_train.npy", x.substr(0, x.size() - 1));
  CHECK_THAT(error_of(train, 3), Contains("x_train.npy"));
  CHECK_FALSE(std::filesystem::exists(folder.file("run")));
}

TEST_CASE("bytes for training and numbers for the test, or the reverse, are refused by every program that sees both",
          "[npy_runs]") {
  const TemporaryFolder folder;
  const std::string data = make_folder(folder, "data");
  const std::vector<std::int64_t> labels{0, 1, 2, 3, 0, 1, 2, 3};
  const std::vector<std::uint8_t> bytes(16, 100);
  const std::vector<float> numbers(16, 100);
  for (const std::string split : {"train", "test"}) fcam::write_npy(data + "/y_" + split + ".npy", {8}, labels);
  for (const std::string with_bytes : {"train", "test"}) {
    fcam::write_npy(data + "/x_train.npy", {8, 2}, numbers);
    fcam::write_npy(data + "/x_test.npy", {8, 2}, numbers);
    fcam::write_npy(data + "/x_" + with_bytes + ".npy", {8, 2}, bytes);
    for (const std::string program : {"fcam-train --out run", "fcam-mosaic"}) {
      CHECK_THAT(error_of(command(folder, program + " --data npy:data"), 3),
                 Contains("expected test mosaics of 5 patches 2 of " +
                          std::string(with_bytes == "train" ? "bytes" : "numbers")) &&
                     Contains("found 5 patches 2 of "));
    }
  }
}

TEST_CASE("positions that only one split has are told; of the test alone they are refused unless x says bags",
          "[npy_runs]") {
  const TemporaryFolder folder;
  const std::string bags = make_folder(folder, "bags");
  const std::string training =
      "fcam-train --data npy:bags --loss lv --epochs 1 --focus mlp --classify mlp --force --out run";
  write_bags(bags, "train", 24, {5});
  write_bags(bags, "test", 12, {5}, false);
  CHECK_THAT(run_well(command(folder, training)).err,
             Contains("warning: positions are known of the training bags only"));
  fs::rename(bags + "/z_train.npy", bags + "/z_test.npy");
  CHECK_THAT(error_of(command(folder, training), 3), Contains("expected z_train.npy beside z_test.npy"));
  write_bags(bags, "train", 24, {1, 2, 3}, false);
  write_bags(bags, "test", 12, {1, 2, 3});
  CHECK_THAT(run_well(command(folder, training)).err, Contains("warning: positions are known of the test bags only"));
  CHECK_FALSE(read_table(folder.file("run/log.csv")).text(0, "test_saif").empty());
  CHECK(read_table(folder.file("run/log.csv")).text(0, "saif").empty());
}
