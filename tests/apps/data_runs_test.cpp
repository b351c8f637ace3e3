// The programs on data sets of files: folders of images, the layout of CIFAR-100, and bags exported as npy.
#include <catch2/catch.hpp>

#include "support/cifar100.h"
#include "support/pictures.h"
#include "support/runs.h"

using namespace fcam::test;
using Catch::Contains;

namespace {

namespace fs = std::filesystem;

// JPEG images of four classes, each with its colour, in folders.
void write_photos(const std::string& folder, std::size_t per_class, const std::string& name_end = ".jpg") {
  const std::vector<std::string> names{"blue", "green", "red", "white"},
      colors{"\x20\x20\xe0", "\x20\xe0\x20", "\xe0\x20\x20", "\xe0\xe0\xe0"};
  fcam::Random random(1, "photos");
  for (std::size_t c = 0; c < names.size(); ++c) {
    fs::create_directories(folder + "/" + names[c]);
    for (std::size_t i = 0; i < per_class; ++i) {
      std::string pixels;
      for (int k = 0; k < 3 * 12 * 12; ++k) {
        const auto channel = static_cast<unsigned char>(colors[c][static_cast<std::size_t>(k % 3)]);
        pixels += static_cast<char>(channel + random.below(24));
      }
      write_file(folder + "/" + names[c] + "/" + std::to_string(i) + name_end,
                 jpeg_file({.width = 12, .height = 12, .pixels = pixels}));
    }
  }
}

void check_learnt(const TemporaryFolder& folder, const std::string& run) {
  run_well(command(folder, "fcam-evaluate --json x.json " + run));
  CHECK(read_json(folder.file("x.json"))["accuracy"].get<double>() > 0.9);
}

}  // namespace

TEST_CASE("a folder of JPEG images is described, trained on and evaluated", "[data_runs]") {
  const TemporaryFolder folder;
  write_photos(folder.file("photos/train"), 12);
  write_photos(folder.file("photos/test"), 4, ".JPEG");
  const std::string data = "--data folder:photos --foreground red,green --patches 5 ";
  const std::string text = run_well(command(folder, "fcam-mosaic --png sheet.png " + data)).out;
  CHECK_THAT(text, Contains("folder:photos, train: 48 items of 3x12x12, bytes from ") &&
                       Contains("folder:photos, test: 16 items of 3x12x12") && Contains("class 2 'red': 12 (25.0 %)") &&
                       Contains("classes 'red', 'green', drawn from 24 foreground and 24 background items"));
  CHECK(fs::file_size(folder.file("sheet.png")) > 1000);
  run_well(command(folder,
                   "fcam-train --loss lv --train 300 --test 50 --epochs 4 --batch 20 --focus mlp --classify mlp "
                   "--out run " +
                       data));
  check_learnt(folder, "run");
  // The configuration remembers size and all.
  run_well(command(folder, "fcam-train --config run/config.toml --out again"));
  CHECK(read_file(folder.file("run/model.safetensors")) == read_file(folder.file("again/model.safetensors")));
}

TEST_CASE("one level of class folders is split by --holdout, and sizes are made equal by --resize", "[data_runs]") {
  const TemporaryFolder folder;
  write_photos(folder.file("photos"), 10);
  const Command mosaic = command(folder, "fcam-mosaic --data folder:photos --resize 8x6 --holdout 0.3");
  CHECK_THAT(run_well(mosaic).out, Contains("train part of one set: 28 items of 3x8x6") &&
                                       Contains("test part of one set: 12 items of 3x8x6"));
  write_file(folder.file("photos/red/0.jpg"), plain_jpeg(31, 32, "abc"));
  CHECK_THAT(error_of(command(folder, "fcam-mosaic --data folder:photos"), 3),
             Contains("photos/red/0.jpg") && Contains("found 32x31") && Contains("--resize"));
  run_well(command(folder,
                   "fcam-train --data folder:photos --resize 8 --loss ha --train 40 --test 20 --epochs 1 --focus mlp "
                   "--classify mlp --out run"));
  CHECK_THAT(read_file(folder.file("run/config.toml")), Contains("resize = \"8\"\n") && Contains("holdout = 0.2\n"));
  run_well(command(folder, "fcam-evaluate run"));
}

TEST_CASE("files in the layout of CIFAR-100 are learnt with 50 foreground classes", "[data_runs]") {
  const TemporaryFolder folder;
  fs::create_directory(folder.file("c100"));
  write_cifar100(folder.file("c100"), 3);
  std::string foreground = "fine_0";
  for (int c = 1; c < 50; ++c) foreground += (c % 2 == 0 ? ",fine_" : ",") + std::to_string(c);
  const std::string data = "--data cifar100:c100 --foreground " + foreground + " ";
  const std::string text = run_well(command(folder, "fcam-mosaic --csv rows.csv --train 500 " + data)).out;
  CHECK_THAT(text, Contains("train: 300 items of 3x32x32") && Contains("class 99 'fine_99': 3 (1.0 %)") &&
                       Contains("drawn from 150 foreground and 150 background items"));
  const Table rows = read_table(folder.file("rows.csv"));
  for (std::size_t i = 0; i < 500; ++i) {
    CHECK(rows.number(i, "label") == std::stoi(rows.text(i, "foreground")) % 100);
    CHECK(std::stoi(rows.text(i, "background_4")) % 100 >= 50);
  }
  run_well(command(
      folder,
      "fcam-train --loss sa --train 400 --test 50 --epochs 2 --focus linear --classify linear --out run " + data));
  const Table log = read_table(folder.file("run/log.csv"));
  CHECK(log.rows.size() == 2);
  CHECK(log.number(1, "loss") < log.number(0, "loss"));

  CHECK_THAT(run_well(command(folder, "fcam-mosaic --data cifar100:c100 --labels coarse --foreground coarse_19,0")).out,
             Contains("class 19 'coarse_19': 15 (5.0 %)") && Contains("classes 'coarse_19', 'coarse_0'"));
  CHECK_THAT(error_of(command(folder, "fcam-mosaic --data cifar100:c100 --labels super"), 2),
             Contains("labels: expected one of fine, coarse"));
  CHECK_THAT(error_of(command(folder, "fcam-mosaic --data shapes --labels coarse"), 2), Contains("labels"));
}

TEST_CASE("mosaics exported as npy are the same data: the same training comes of them", "[data_runs]") {
  const TemporaryFolder folder;
  const std::string mosaics = " --data shapes --foreground ring,7,disk --patches 4 --train 90 --test 30 ";
  run_well(command(folder, "fcam-mosaic --npy bags --csv rows.csv --split test" + mosaics));
  const std::string text = run_well(command(folder, "fcam-mosaic --data npy:bags")).out;
  CHECK_THAT(text, Contains("npy:bags, train: 90 bags of 4 patches of 3x16x16, positions known, bytes from ") &&
                       Contains("npy:bags, test: 30 bags") && Contains("class 0 'ring': ") &&
                       Contains("class 1 'cross': ") && Contains("class 2 'disk': "));
  const Table drawn = read_table(folder.file("rows.csv"));
  run_well(command(folder, "fcam-mosaic --data npy:bags --csv bags.csv --split test"));
  const Table read = read_table(folder.file("bags.csv"));
  REQUIRE(read.rows.size() == 30);
  for (std::size_t i = 0; i < 30; ++i) {
    CHECK(read.text(i, "label") == drawn.text(i, "label"));
    CHECK(read.text(i, "z") == drawn.text(i, "z"));
  }
  const std::string training = "fcam-train --loss lv --epochs 2 --batch 30 --focus mlp --classify mlp --out ";
  run_well(command(folder, training + "first" + mosaics));
  run_well(command(folder, training + "second --data npy:bags"));
  CHECK(read_file(folder.file("first/model.safetensors")) == read_file(folder.file("second/model.safetensors")));
  CHECK(log_without_seconds(folder.file("first/log.csv")) == log_without_seconds(folder.file("second/log.csv")));

  // Exported again they are the same bytes.
  run_well(command(folder, "fcam-mosaic --data npy:bags --npy again"));
  for (const std::string name :
       {"x_train.npy", "y_train.npy", "z_train.npy", "x_test.npy", "y_test.npy", "z_test.npy", "class_names.txt"}) {
    CHECK(read_file(folder.file("again/" + name)) == read_file(folder.file("bags/" + name)));
  }
}

TEST_CASE("npy data without a test set are split by --holdout", "[data_runs]") {
  const TemporaryFolder folder;
  fs::create_directory(folder.file("npy"));
  write_items(folder.file("npy"), "train", 100, {6});
  CHECK_THAT(run_well(command(folder, "fcam-mosaic --data npy:npy")).out,
             Contains("train part of one set: 80 items of 6") && Contains("test part of one set: 20 items"));
  fs::rename(folder.file("npy/x_train.npy"), folder.file("npy/x.npy"));
  fs::rename(folder.file("npy/y_train.npy"), folder.file("npy/y.npy"));
  CHECK_THAT(run_well(command(folder, "fcam-mosaic --data npy:npy --holdout 0.5")).out,
             Contains("train part of one set: 48 items") && Contains("test part of one set: 52 items"));
  for (const std::string bad : {"0", "1"}) {
    CHECK_THAT(error_of(command(folder, "fcam-mosaic --data npy:npy --holdout " + bad), 2), Contains("holdout"));
  }
  for (const std::string bad : {"1.5", "nan", "-0.1", "x"}) {
    CHECK_THAT(error_of(command(folder, "fcam-mosaic --data npy:npy --holdout=" + bad), 2), Contains("holdout"));
  }
}

TEST_CASE("options of other data are refused, not ignored", "[data_runs]") {
  const TemporaryFolder folder;
  CHECK_THAT(error_of(command(folder, "fcam-mosaic --data shapes --resize 8"), 2), Contains("resize"));
  CHECK_THAT(error_of(command(folder, "fcam-mosaic --data shapes --holdout 0.3"), 2),
             Contains("holdout") && Contains("test set of their own"));
  CHECK_THAT(error_of(command(folder, "fcam-mosaic --data folder"), 2), Contains("folder:FOLDER"));
  CHECK_THAT(error_of(command(folder, "fcam-mosaic --data folder:none"), 3), Contains("none"));
}

TEST_CASE("an export that cannot be written is exit code 4", "[data_runs]") {
  const TemporaryFolder folder;
  write_file(folder.file("file"), "x");
  for (const std::string target : {"file", "file/below"}) {
    const Result result = run(command(folder, "fcam-mosaic --data shapes --train 5 --test 5 --npy " + target));
    CHECK(result.code == 4);
    CHECK_THAT(result.err, Contains(target));
  }
  fs::create_directories(folder.file("taken/x_train.npy"));
  CHECK(run(command(folder, "fcam-mosaic --data shapes --train 5 --test 5 --npy taken")).code == 4);
}
