// fcam-mosaic from outside: what it says of a data set, and that its mosaics are the documented draws.
#include <catch2/catch.hpp>

#include <filesystem>
#include <random>
#include <set>

#include "support/pictures.h"
#include "support/run_folders.h"

using namespace fcam::test;
using Catch::Contains;

namespace {

// Shapes come in turn: image i is of class i mod 10; 6000 images for training, 2000 for test.
std::vector<std::size_t> images_of(const std::set<std::size_t>& classes, std::size_t count) {
  std::vector<std::size_t> images;
  for (std::size_t i = 0; i < count; ++i) {
    if (classes.contains(i % 10)) images.push_back(i);
  }
  return images;
}

// numpy's randint, as docs/file-formats.md tells it.
std::size_t draw_below(std::mt19937& generator, std::size_t bound) {
  std::uint32_t mask = 1;
  while (mask < bound - 1) mask = 2 * mask + 1;
  for (;;) {
    const std::uint32_t draw = static_cast<std::uint32_t>(generator()) & mask;
    if (draw < bound) return draw;
  }
}

Table rows(const TemporaryFolder& folder, const std::string& options) {
  run_well(command(folder, "fcam-mosaic --data shapes --csv rows.csv " + options));
  return read_table(folder.file("rows.csv"));
}

std::string output(const TemporaryFolder& folder, const std::string& options) {
  const Result result = run_well(command(folder, "fcam-mosaic --data shapes " + options));
  CHECK(result.err.empty());
  return result.out;
}

}  // namespace

TEST_CASE("a data set is described by counts, shape, classes and a hash", "[mosaic]") {
  const TemporaryFolder folder;
  const std::string text = output(folder, "");
  CHECK_THAT(text,
             Contains("shapes, train: 6000 items of 3x16x16, bytes from ") && Contains("shapes, test: 2000 items"));
  CHECK_THAT(text, Contains("class 0 'disk': 600 (10.0 %)") && Contains("class 9 'stripes': 200 (10.0 %)"));
  CHECK_THAT(text, Contains("10000 train mosaics of 5 patches, classes 'disk', 'ring', 'square'"));
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("the content hash depends on the seed and on nothing else", "[mosaic]") {
  const TemporaryFolder folder;
  const auto hash = [&](const std::string& options) {
    const std::string text = output(folder, options), word = "content hash ";
    return text.substr(text.find(word) + word.size(), 16);
  };
  const std::string first = hash("");
  CHECK(first.find_first_not_of("0123456789abcdef") == std::string::npos);
  CHECK(hash("--threads 1 --patches 9 --foreground 5 --split test --draws numpy") == first);
  CHECK(hash("--seed 2") != first);
}

TEST_CASE("--draws numpy makes the draws of the public script", "[mosaic]") {
  const TemporaryFolder folder;
  const Table table = rows(folder, "--draws numpy --patches 4 --train 300 --foreground 2,0,7 --background 1,3,9");
  REQUIRE(table.rows.size() == 300);
  CHECK(table.header ==
        std::vector<std::string>{"index", "label", "z", "foreground", "background_1", "background_2", "background_3"});
  const auto foreground = images_of({0, 2, 7}, 6000), background = images_of({1, 3, 9}, 6000);
  const std::vector<std::size_t> label_of_class{1, 9, 0, 9, 9, 9, 9, 2};  // places in --foreground
  for (std::size_t i = 0; i < 300; ++i) {
    std::mt19937 generator(static_cast<std::uint32_t>(i));
    std::vector<std::size_t> expected{i, 0, 0, 0};
    for (int j = 0; j < 3; ++j) expected.push_back(background[draw_below(generator, background.size())]);
    expected[3] = foreground[draw_below(generator, foreground.size())];
    expected[2] = draw_below(generator, 4);
    expected[1] = label_of_class[expected[3] % 10];
    std::vector<std::size_t> found;
    for (const std::string& cell : table.rows[i]) found.push_back(std::stoul(cell));
    CHECK(found == expected);
  }
}

TEST_CASE("keyed draws take foreground and background from their classes, and every label and position", "[mosaic]") {
  const TemporaryFolder folder;
  const Table table = rows(folder, "--patches 3 --train 600 --foreground ring,cross --background 3,disk");
  std::vector<int> labels(2), positions(3);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const std::size_t label = std::stoul(table.text(i, "label"));
    CHECK(std::stoul(table.text(i, "foreground")) % 10 == (label == 0 ? 1 : 7));
    for (const std::string name : {"background_1", "background_2"}) {
      const std::size_t image_class = std::stoul(table.text(i, name)) % 10;
      CHECK((image_class == 0 || image_class == 3));
    }
    ++labels.at(label);
    ++positions.at(std::stoul(table.text(i, "z")));
  }
  for (const int count : labels) CHECK(std::abs(count - 300) < 75);  // six standard deviations
  for (const int count : positions) CHECK(std::abs(count - 200) < 70);
}

TEST_CASE("mosaic i is a function of seed and i, not of how many are drawn or who draws them", "[mosaic]") {
  const TemporaryFolder folder;
  const Table few = rows(folder, "--train 50 --patches 3"),
              many = rows(folder, "--train 200 --patches 3 --threads 1 --test 7");
  for (std::size_t i = 0; i < 50; ++i) CHECK(few.rows[i] == many.rows[i]);
  CHECK(rows(folder, "--train 50 --patches 3 --seed 2").rows != few.rows);
  CHECK(rows(folder, "--test 50 --patches 3 --split test").rows != few.rows);

  // Training and evaluation see the same ones, whatever the model.
  const Table drawn = rows(folder, "--test 100 --patches 3 --split test");
  for (const std::string networks : {"--focus mlp --classify mlp", "--focus linear --classify fc9"}) {
    run_well(command(folder, "fcam-train --force --epochs 1 --loss lv --out run " + networks + tiny_data()));
    run_well(command(folder, "fcam-evaluate run --dump dump.csv"));
    const Table dump = read_table(folder.file("dump.csv"));
    REQUIRE(dump.rows.size() == 100);
    for (std::size_t i = 0; i < 100; ++i) {
      CHECK(dump.text(i, "label") == drawn.text(i, "label"));
      CHECK(dump.text(i, "z") == drawn.text(i, "z"));
    }
  }
}

TEST_CASE("--show prints as many mosaics as there are, with the foreground in brackets", "[mosaic]") {
  const TemporaryFolder folder;
  const Table table = rows(folder, "--train 4 --patches 3");
  const std::string text = output(folder, "--train 4 --patches 3 --show 100");
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string& z = table.text(i, "z");
    CHECK_THAT(text, Contains("mosaic " + table.text(i, "index") + ": label '") && Contains("position " + z) &&
                         Contains("[" + table.text(i, "foreground") + "]"));
  }
  CHECK_THAT(text, !Contains("mosaic 4:"));
  CHECK_THAT(output(folder, "--train 4"), !Contains("mosaic 0:"));
}

TEST_CASE("--png makes a contact sheet that grows with --show", "[mosaic]") {
  const TemporaryFolder folder;
  run_well(command(folder, "fcam-mosaic --data shapes --patches 3 --show 2 --png", {"a b.png"}));
  run_well(command(folder, "fcam-mosaic --data shapes --patches 3 --show 30 --png large.png"));
  const std::string small = read_file(folder.file("a b.png")), large = read_file(folder.file("large.png"));
  const auto height = [](const std::string& png) {
    return 256 * static_cast<unsigned char>(png.at(22)) + static_cast<unsigned char>(png.at(23));
  };
  for (const std::string& png : {small, large}) {
    CHECK(png.starts_with("\x89PNG\r\n\x1a\n"));
    CHECK_THAT(png, Contains("IEND"));
  }
  CHECK(height(small) > 16);
  CHECK(height(large) > 2 * height(small));
}

TEST_CASE("files of mosaics that cannot be written are exit code 4", "[mosaic]") {
  const TemporaryFolder folder;
  for (const std::string option : {"--csv", "--png"}) {
    const Result result = run(command(folder, "fcam-mosaic --data shapes " + option + " none/x.png"));
    CHECK(result.code == 4);
    CHECK_THAT(result.err, Contains("none/x.png"));
  }
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("the Bayes risk of a teacher's mosaics is told, and is that of its sizes", "[mosaic]") {
  const TemporaryFolder folder;
  const auto output_of = [&](const std::string& options) {
    return run_well(command(folder, "fcam-mosaic --data teacher --train 500 --test 50 " + options)).out;
  };
  CHECK_THAT(output_of("--classes 3 --dimension 7"),
             Contains("bags of 5 patches of 7, ") && Contains("Bayes risk given the patches: 0."));
  CHECK_THAT(output_of("--classes 1"), Contains("Bayes risk given the patches: 0.0000 nats, 0.00 % errors"));
  CHECK(output_of("--classes 3") != output_of("--classes 3 --seed 2"));
  CHECK_THAT(run_well(command(folder, "fcam-mosaic --data linear --classes 3 --train 5 --test 5")).out,
             !Contains("Bayes"));
}

TEST_CASE("two outputs into one file are refused before anything is read", "[mosaic]") {
  const TemporaryFolder folder;
  CHECK_THAT(error_of(command(folder, "fcam-mosaic --data npy:nowhere --csv both.png --png ./both.png"), 2),
             Contains("both.png"));
  CHECK_THAT(error_of(command(folder, "fcam-mosaic --data shapes --csv nowhere/a.csv"), 4), Contains("nowhere/a.csv"));
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a signal during an export ends it and leaves no temporary", "[mosaic][signal]") {
  const TemporaryFolder folder;
  for (const auto& [options, file] :
       {std::pair("--npy bags", "bags/x_train.npy.tmp"), std::pair("--csv rows.csv", "rows.csv.tmp")}) {
    Process process(command(folder, std::string("fcam-mosaic --data shapes --train 1000000 ") + options));
    const auto has_begun = [&, temporary = file] {
      std::error_code error;  // it is made and removed once before, to see whether it can be
      return std::filesystem::file_size(folder.file(temporary), error) > 0 && !error;
    };
    for (int i = 0; i < 50000 && !has_begun(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    REQUIRE(has_begun());
    process.send(SIGINT);
    const Result result = process.wait();
    CHECK(result.code == 130);
    CHECK(result.signal == 0);
    CHECK_FALSE(std::filesystem::exists(folder.file(file)));
  }
  CHECK(std::filesystem::is_empty(folder.path() / "bags"));
}

TEST_CASE("a contact sheet is a .png, and an export does not go where the data are", "[mosaic]") {
  const TemporaryFolder folder;
  CHECK_THAT(error_of(command(folder, "fcam-mosaic --data shapes --png sheet.jpg"), 2),
             Contains("png: expected a name that ends in .png"));
  run_well(command(folder, "fcam-mosaic --data shapes --train 20 --test 20 --npy bags"));
  CHECK_THAT(error_of(command(folder, "fcam-mosaic --data npy:bags --npy ./bags"), 2),
             Contains("npy: expected another folder than that of --data"));
}

TEST_CASE("a contact sheet that is too large is refused before anything is written", "[mosaic]") {
  const TemporaryFolder folder;
  CHECK_THAT(
      error_of(command(folder, "fcam-mosaic --data shapes --train 30000 --show 30000 --png s.png --csv m.csv"), 2),
      Contains("contact sheet: expected at most 100000000 pixels"));
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("options that data have no use for are refused", "[mosaic]") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& options, const std::string& name) {
    CHECK_THAT(error_of(command(folder, "fcam-mosaic " + options), 2), Contains(name + ": expected none with "));
  };
  refused("--data shapes --classes 3", "classes");
  refused("--data linear --dimension 3", "dimension");
  refused("--data linear --draws numpy", "draws");
  // What a run has recorded of them is no request.
  run_well(command(folder, "fcam-mosaic --data shapes --train 20 --test 20 --npy bags"));
  run_well(
      command(folder, "fcam-train --data teacher --classes 5 --patches 3 --train 20 --test 20 --epochs 1 --out run"));
  run_well(command(folder, "fcam-evaluate run"));
}

TEST_CASE("an output does not take the place of a file that the data are read from", "[mosaic]") {
  const TemporaryFolder folder;
  run_well(command(folder, "fcam-mosaic --data shapes --train 20 --test 20 --npy bags"));
  const Contents before = contents_of(folder.file("bags"));
  const auto refused = [&](const std::string& command_line) {
    CHECK_THAT(error_of(command(folder, command_line), 2), Contains("expected another file than one that is read"));
    CHECK(contents_of(folder.file("bags")) == before);
  };
  std::filesystem::create_symlink("bags/y_test.npy", folder.file("link.csv"));
  for (const std::string path : {"bags/x_train.npy", "./bags/class_names.txt", "link.csv"}) {
    refused("fcam-mosaic --data npy:bags --csv " + path);
  }
  // The same by way of a folder whose files are links.
  std::filesystem::create_directory(folder.file("other"));
  std::filesystem::create_symlink("../bags/y_train.npy", folder.file("other/y_train.npy"));
  refused("fcam-mosaic --data npy:bags --npy other");
  run_well(command(folder, "fcam-train --data npy:bags --epochs 1 --focus linear --classify linear --out run"));
  refused("fcam-evaluate run --csv bags/z_test.npy");
  refused("fcam-evaluate --model run/model.safetensors --data npy:bags --dump bags/z_test.npy");
  // What is beside the data and is not read is free.
  run_well(command(folder, "fcam-mosaic --data npy:bags --csv bags/rows.csv"));
  run_well(command(folder, "fcam-mosaic --data npy:bags --csv bags/rows.csv"));
}

TEST_CASE("an output does not take the place of an image of the data", "[mosaic]") {
  const TemporaryFolder folder;
  for (const std::string name : {"a", "b", "c", "d"}) {
    std::filesystem::create_directories(folder.file("photos/" + name));
    for (const std::string number : {"1", "2"}) {
      write_file(folder.file("photos/" + name + "/" + number + ".png"), plain_png(4, 4, png_grey, name));
    }
  }
  CHECK_THAT(error_of(command(folder, "fcam-mosaic --data folder:photos --png photos/a/1.png"), 2),
             Contains("png: expected another file than one that is read"));
  run_well(command(folder, "fcam-mosaic --data folder:photos --png photos/sheet.png"));
}
