// fcam-evaluate from outside: its table, its files, and that they agree with one another.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <set>

#include "fcam/training/safetensors.h"
#include "support/runs.h"

using namespace fcam::test;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

// A run of each loss, trained long enough to have mosaics in the top right cell.
class Runs {
 public:
  Runs() {
    for (const std::string loss : {"sa", "ha", "lv"}) {
      run_well(training(folder, "--epochs 8 --batch 20 --lr 0.05 --eval-every 0 --loss " + loss + " --out " + loss));
    }
  }
  TemporaryFolder folder;
};

const TemporaryFolder& runs() {
  static const Runs all;
  return all.folder;
}

Command evaluation(const std::string& options, std::vector<std::string> more = {}) {
  return command(runs(), "fcam-evaluate " + options, std::move(more));
}

// What --json says, with these options.
nlohmann::json json_of(const std::string& options) {
  const TemporaryFolder folder;
  run_well(evaluation(options, {"--json", folder.file("x.json")}));
  return read_json(folder.file("x.json"));
}

double sum_of(const nlohmann::json& heat_map) {
  double sum = 0;
  for (const auto& row : heat_map) {
    for (const double cell : row) sum += cell;
  }
  return sum;
}

}  // namespace

TEST_CASE("--json has the documented fields, and they add up", "[evaluate]") {
  for (const std::string loss : {"sa", "ha", "lv"}) {
    const nlohmann::json e = json_of(loss + " --split train");
    INFO(e.dump(2));
    for (const std::string name : {"run", "loss", "inference", "split", "n", "accuracy", "ftpt", "ffpt", "ftpf", "ffpf",
                                   "saif", "focus_mean", "loss_value", "heat_map"}) {
      CHECK(e.contains(name));
    }
    CHECK(e["run"] == loss);
    CHECK(e["loss"] == loss);
    CHECK(e["inference"] == loss);
    CHECK(e["split"] == "train");
    CHECK(e["n"] == 200);
    const auto value = [&](const std::string& name) { return e[name].get<double>(); };
    CHECK(value("ftpt") + value("ffpt") + value("ftpf") + value("ffpf") == Approx(1));
    CHECK(value("ftpt") + value("ffpt") == Approx(value("accuracy")));
    CHECK(value("accuracy") > 0.5);
    REQUIRE(e["heat_map"].size() == 5);
    CHECK(sum_of(e["heat_map"]) == Approx(1));
    CHECK(e["heat_map"][4][4].get<double>() == value("saif"));
    CHECK(value("saif") > 0);
  }
}

TEST_CASE("--dump agrees with --json: accuracy, saif, focus and heat map come out of its rows", "[evaluate]") {
  const TemporaryFolder folder;
  for (const std::string loss : {"sa", "ha", "lv"}) {
    run_well(evaluation(loss + " --split train", {"--json", folder.file("x.json"), "--dump", folder.file("x.csv")}));
    const nlohmann::json e = read_json(folder.file("x.json"));
    const Table dump = read_table(folder.file("x.csv"));
    CHECK(dump.header ==
          std::vector<std::string>{"index", "label", "z", "predicted", "focused", "a_z", "s_y", "a_0", "a_1", "a_2"});
    REQUIRE(dump.rows.size() == 200);
    double correct = 0, focused = 0, both = 0, saif = 0, focus_sum = 0;
    std::vector<std::vector<double>> cells(5, std::vector<double>(5));
    for (std::size_t i = 0; i < dump.rows.size(); ++i) {
      CHECK(dump.text(i, "index") == std::to_string(i));
      const double a_z = dump.number(i, "a_z"), s_y = dump.number(i, "s_y");
      double sum = 0, most = 0;
      for (const std::string j : {"0", "1", "2"}) {
        sum += dump.number(i, "a_" + j);
        most = std::max(most, dump.number(i, "a_" + j));
      }
      CHECK(sum == Approx(1).margin(1e-6));
      CHECK(dump.number(i, "a_" + dump.text(i, "z")) == a_z);
      CHECK(dump.number(i, "a_" + dump.text(i, "focused")) == most);
      const bool right = dump.text(i, "predicted") == dump.text(i, "label");
      correct += right;
      focused += most == a_z;
      both += right && most == a_z;
      saif += a_z >= 0.8 && s_y >= 0.8;
      focus_sum += a_z;
      const auto bin = [](double x) { return std::min<std::size_t>(4, static_cast<std::size_t>(x * 5)); };
      cells[bin(s_y)][bin(a_z)] += 1;
    }
    CHECK(e["accuracy"].get<double>() == Approx(correct / 200));
    CHECK(e["ftpt"].get<double>() == Approx(both / 200));
    CHECK(e["ftpf"].get<double>() == Approx((focused - both) / 200));
    CHECK(e["saif"].get<double>() == Approx(saif / 200));
    CHECK(e["focus_mean"].get<double>() == Approx(focus_sum / 200));
    for (std::size_t r = 0; r < 5; ++r) {
      for (std::size_t c = 0; c < 5; ++c) CHECK(e["heat_map"][r][c].get<double>() == Approx(cells[r][c] / 200));
    }
  }
}

TEST_CASE("the table has the heat map, top row and right column highest, and one line a run", "[evaluate]") {
  const Result result = run_well(evaluation("sa lv"));
  CHECK(result.err.empty());
  const auto lines = split(result.out, '\n');
  REQUIRE(lines.size() == 24);
  CHECK_THAT(lines[0], Catch::StartsWith("sa: soft attention, 100 test mosaics"));
  CHECK_THAT(lines[1], Contains("a_z") && Contains("0.0-0.2") && Contains("0.8-1.0"));
  CHECK_THAT(lines[2], Contains("   0.8-1.0"));
  CHECK_THAT(lines[6], Contains("   0.0-0.2"));
  CHECK_THAT(lines[7], Contains("sum") && Catch::EndsWith("100.0"));
  CHECK_THAT(lines[8], Catch::StartsWith("accuracy by class: '0' "));
  CHECK_THAT(lines[10], Catch::StartsWith("lv: "));
  CHECK_THAT(lines[20], Catch::StartsWith("loss"));
  CHECK_THAT(lines[21], Catch::StartsWith("sa") && Catch::EndsWith("sa"));
  CHECK_THAT(lines[22], Catch::StartsWith("lv") && Catch::EndsWith("lv"));
}

TEST_CASE("several runs make one list, one table and one figure of each kind", "[evaluate]") {
  const TemporaryFolder folder;
  run_well(evaluation("sa --json", {folder.file("x.json"), "ha", "--csv", folder.file("x.csv"), "lv"}));
  const nlohmann::json all = read_json(folder.file("x.json"));
  const Table table = read_table(folder.file("x.csv"));
  REQUIRE(all.size() == 3);
  REQUIRE(table.rows.size() == 3);
  const std::vector<std::string> names{"sa", "ha", "lv"};
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(all[i] == json_of(names[i]));
    CHECK(table.text(i, "run") == names[i]);
    for (const std::string name : {"accuracy", "saif", "ftpt", "focus_mean", "loss_value"}) {
      CHECK(table.number(i, name) == all[i][name].get<double>());
    }
  }
  for (const auto& [name, magic] :
       {std::pair<std::string, std::string>{"x.svg", "<?xml"}, {"x.png", "\x89PNG"}, {"x.pdf", "%PDF"}}) {
    CHECK(run_well(evaluation("sa ha lv", {"--plot", folder.file(name)})).err.empty());
    CHECK(read_file(folder.file(name)).starts_with(magic));
  }
}

TEST_CASE("a field of --csv with commas and quotes is quoted", "[evaluate]") {
  const TemporaryFolder folder;
  fs::create_directory_symlink(runs().file("sa"), folder.file("a, \"b\""));
  run_well(command(folder, "fcam-evaluate --csv x.csv", {"a, \"b\""}));
  CHECK_THAT(read_file(folder.file("x.csv")), Contains("\n\"a, \"\"b\"\"\",sa,"));
}

TEST_CASE("a file of weights with the options of training is the run", "[evaluate]") {
  nlohmann::json run = json_of("lv"), model = json_of("--model lv/model.safetensors --loss lv" + tiny());
  CHECK(model["run"] == "lv/model.safetensors");
  run.erase("run");
  model.erase("run");
  CHECK(run == model);
  nlohmann::json config = json_of("--model lv/model.safetensors --config lv/config.toml");
  config.erase("run");
  CHECK(config == run);
}

TEST_CASE("options change what is evaluated", "[evaluate]") {
  const nlohmann::json three = json_of("lv --bins 3"), run = json_of("lv");
  REQUIRE(three["heat_map"].size() == 3);
  CHECK(three["heat_map"][0].size() == 3);
  CHECK(sum_of(three["heat_map"]) == Approx(1));
  CHECK(json_of("lv --test 50")["n"] == 50);
  CHECK(json_of("lv --seed 2")["focus_mean"] != run["focus_mean"]);
  CHECK_THAT(error_of(evaluation("lv --bins 0"), 2), Contains("bins"));
  CHECK_THAT(error_of(evaluation("lv --inference xx"), 2), Contains("sa, lv, ha"));
  CHECK_THAT(error_of(evaluation("lv --split all"), 2), Contains("train, test"));
}

TEST_CASE("--inference changes what the model sees, not where it looks", "[evaluate]") {
  const TemporaryFolder folder;
  run_well(training(folder, "--epochs 1 --loss lv --out run"));  // so little that the rules differ
  const auto dump = [&](const std::string& options) {
    run_well(command(folder, "fcam-evaluate run --json x.json --dump x.csv " + options));
    return read_file(folder.file("x.csv"));
  };
  const std::string own = dump("");
  const nlohmann::json run = read_json(folder.file("x.json"));
  std::set<std::string> dumps;
  for (const std::string rule : {"sa", "lv", "ha"}) {
    dumps.insert(dump("--inference " + rule));
    const nlohmann::json e = read_json(folder.file("x.json"));
    CHECK(e["inference"] == rule);
    CHECK(e["loss"] == "lv");
    CHECK(e["focus_mean"] == run["focus_mean"]);
    CHECK(e["loss_value"] == run["loss_value"]);
  }
  CHECK(dumps.size() == 3);
  CHECK(dumps.contains(own));
}

TEST_CASE("the test numbers of a run are those of its training, for every number of threads", "[evaluate]") {
  const TemporaryFolder folder;
  run_well(training(folder, "--out run --loss lv"));
  std::vector<std::string> texts;
  for (const std::string threads : {"1", "2", "3"}) {
    run_well(command(folder, "fcam-evaluate run --json x.json --dump x.csv --threads " + threads));
    texts.push_back(read_file(folder.file("x.json")) + read_file(folder.file("x.csv")));
  }
  CHECK(texts[0] == texts[1]);
  CHECK(texts[0] == texts[2]);
  const nlohmann::json e = read_json(folder.file("x.json")),
                       summary = read_json(folder.file("run/summary.json"))["test"];
  for (const auto& [name, value] : summary.items()) CHECK(e[name] == value);
}

TEST_CASE("a run that is missing or damaged is exit code 3 and names the file", "[evaluate]") {
  CHECK_THAT(error_of(evaluation("none"), 3), Contains("none/config.toml"));
  CHECK_THAT(error_of(evaluation("sa none"), 3), Contains("none/config.toml"));
  const TemporaryFolder folder;
  fs::copy(runs().file("sa"), folder.file("run"));
  const std::string model = folder.file("run/model.safetensors"), whole = read_file(model);
  for (const std::size_t size : {std::size_t{0}, std::size_t{4}, std::size_t{8}, std::size_t{100}, whole.size() - 1}) {
    write_file(model, whole.substr(0, size));
    CHECK_THAT(error_of(command(folder, "fcam-evaluate run"), 3), Contains("run/model.safetensors"));
  }
  fs::remove(model);
  fs::remove(folder.file("run/checkpoint.safetensors"));
  CHECK_THAT(error_of(command(folder, "fcam-evaluate run"), 3),
             Contains("run/model.safetensors") && Contains("nor a checkpoint; fcam-train --resume --out 'run' trains"));
  CHECK_THAT(error_of(evaluation("--model none --loss sa" + tiny()), 3), Contains("'none'"));
}

TEST_CASE("another network than that of the model is exit code 3 and names tensor and option", "[evaluate]") {
  const std::string model = "--model sa/model.safetensors --loss sa" + tiny_data();
  CHECK_THAT(error_of(evaluation(model + "--focus mlp --classify linear"), 3),
             Contains("classify.") && Contains("--classify") && Contains("sa/model.safetensors"));
  CHECK_THAT(error_of(evaluation(model + "--focus fc7 --classify mlp"), 3),
             Contains("focus.fc1.weight") && Contains("7x36"));
  CHECK_THAT(error_of(evaluation("sa --foreground 0,1"), 3),
             Contains("classify.") && Contains("--foreground, --classes"));
  CHECK(json_of("sa --patches 9")["n"] == 100);  // networks see patches one by one
}

TEST_CASE("what cannot be asked for is refused before anything is evaluated", "[evaluate]") {
  const TemporaryFolder folder;
  CHECK_THAT(error_of(evaluation(""), 2), Contains("RUN") && Contains("--model"));
  CHECK_THAT(error_of(evaluation("", {""}), 2), Contains("RUN"));
  CHECK_THAT(error_of(evaluation("sa --model x"), 2), Contains("both"));
  CHECK_THAT(error_of(evaluation("sa lv", {"--dump", folder.file("x.csv")}), 2), Contains("dump: expected one run"));
  CHECK_THAT(error_of(evaluation("sa", {"--plot", folder.file("x.bmp")}), 2), Contains(".svg, .png or .pdf"));
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("an output that cannot be written is exit code 4, names it, and is known before the work", "[evaluate]") {
  const TemporaryFolder folder;
  fs::create_directory(folder.file("x.svg"));
  for (const std::string option : {"json", "csv", "dump", "plot"}) {
    for (const std::string& path : {std::string("none/x.svg"), folder.file("x.svg")}) {
      // The first run is not one: it would be refused, too, if it were looked at.
      CHECK_THAT(error_of(evaluation("none", {"--" + option, path}), 4),
                 Catch::StartsWith("fcam-evaluate: error: '" + path + "'"));
    }
  }
  CHECK_THAT(error_of(evaluation("sa --dump /dev/full"), 4), Contains("'/dev/full'") && Contains("No space left"));
  const Result full = run(evaluation("sa --json /dev/full"));
  CHECK(full.code == 4);
  CHECK_THAT(full.err, Contains("'/dev/full'"));
}

TEST_CASE("two outputs into one file are refused, by whatever names, before anything is written", "[evaluate]") {
  const TemporaryFolder folder;
  write_file(folder.file("former"), "former");
  fs::create_symlink("former", folder.file("link.svg"));
  fs::create_hard_link(folder.file("former"), folder.file("hard"));
  const auto refused = [&](const std::string& one, const std::string& a, const std::string& two, const std::string& b) {
    CHECK_THAT(error_of(evaluation("sa", {"--" + one, folder.file(a), "--" + two, folder.file(b)}), 2),
               Contains(": expected another file than that of --"));
  };
  refused("json", "x", "csv", "x");
  refused("dump", "x", "csv", "./x");
  refused("json", "former", "plot", "link.svg");
  refused("csv", "former", "dump", "hard");
  CHECK(read_file(folder.file("former")) == "former");
  CHECK_FALSE(fs::exists(folder.file("x")));
  run_well(evaluation("sa --json /dev/null --csv /dev/null"));
}

TEST_CASE("a run that is not finished is evaluated by its checkpoint, and that is said", "[evaluate]") {
  const TemporaryFolder folder;
  run_well(training(folder, "--epochs 2 --out run"));
  run_well(command(folder, "fcam-evaluate run --json finished.json"));
  fs::remove(folder.file("run/model.safetensors"));  // as after a kill in the last moment
  const Result result = run_well(command(folder, "fcam-evaluate run --json checkpoint.json"));
  CHECK(result.err == "fcam-evaluate: note: run 'run' is not finished: evaluating its checkpoint after epoch '2'\n");
  CHECK(read_file(folder.file("checkpoint.json")) == read_file(folder.file("finished.json")));
}

TEST_CASE("the accuracy of each class is shown, and that of all is their mean by size", "[evaluate]") {
  const TemporaryFolder folder;
  const std::string out = run_well(evaluation("sa", {"--dump", folder.file("d.csv")})).out;
  const Table dump = read_table(folder.file("d.csv"));
  std::string expected = "accuracy by class:";
  for (const std::string c : {"0", "1", "2"}) {
    double n = 0, correct = 0;
    for (std::size_t row = 0; row < dump.rows.size(); ++row) {
      n += dump.text(row, "label") == c;
      correct += dump.text(row, "label") == c && dump.text(row, "predicted") == c;
    }
    char text[32];
    std::snprintf(text, sizeof text, " '%s' %.1f", c.c_str(), 100 * correct / n);
    expected += text;
  }
  CHECK_THAT(out, Contains(expected + "\n"));
  CHECK_THAT(out, !Contains("all mosaics are predicted"));
}

TEST_CASE("of many classes the ten of the lowest accuracy are shown; one prediction for all is said", "[evaluate]") {
  const TemporaryFolder folder;
  write_items(folder.path().string(), "train", 60, {6});
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < 60; ++i) labels.push_back(i % 15);
  fcam::write_npy(folder.file("y_train.npy"), {60}, labels);
  fs::copy(folder.file("x_train.npy"), folder.file("x_test.npy"));
  fs::copy(folder.file("y_train.npy"), folder.file("y_test.npy"));
  run_well(command(folder,
                   "fcam-train --data npy:. --foreground 0,1,2,3,4,5,6,7,8,9,10,11 --patches 2 --train 100 --test 200 "
                   "--focus linear --classify linear --epochs 1 --lr 0 --out run"));
  const std::string out = run_well(command(folder, "fcam-evaluate run")).out;
  CHECK_THAT(out, Contains("lowest accuracies of 12 classes: '"));
  const std::string line = out.substr(out.find("lowest accuracies"));
  CHECK(std::count(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(line.find('\n')), '\'') == 20);

  fcam::SafeTensors weights = fcam::read_safetensors(folder.file("run/model.safetensors"));
  for (auto& tensor : weights.tensors) {
    std::fill(tensor.values.begin(), tensor.values.end(), 0.0F);
    if (tensor.name == "classify.fc1.bias") tensor.values[7] = 1;
  }
  fcam::write_safetensors(folder.file("run/model.safetensors"), weights);
  CHECK_THAT(run_well(command(folder, "fcam-evaluate run")).out, Contains("all mosaics are predicted to be '7'\n"));
}

TEST_CASE("without gnuplot the script is written, with a note and exit code 0", "[evaluate]") {
  const TemporaryFolder folder;
  Command bare = evaluation("sa lv", {"--plot", folder.file("it's.svg"), "--json", folder.file("x.json")});
  bare.environment = {{"PATH", folder.path().string()}};
  const Result result = run_well(bare);
  CHECK_THAT(result.err, Catch::StartsWith("fcam-evaluate: gnuplot is not on PATH") && Contains("it's.svg.gp"));
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
  CHECK_FALSE(fs::exists(folder.file("it's.svg")));
  CHECK_THAT(read_file(folder.file("it's.svg.gp")), Contains("plot"));
  CHECK(read_json(folder.file("x.json")).size() == 2);
}

TEST_CASE("files that are read are not written", "[evaluate]") {
  const TemporaryFolder folder;
  run_well(training(folder, "--quiet --out run"));
  const std::string model = read_file(folder.file("run/model.safetensors"));
  for (const std::string output : {"run/model.safetensors", "./run/../run/model.safetensors", "run/log.csv"}) {
    CHECK_THAT(error_of(command(folder, "fcam-evaluate run --csv " + output), 2),
               Contains("csv: expected another file than one that is read"));
  }
  CHECK(read_file(folder.file("run/model.safetensors")) == model);
}

TEST_CASE("'-' is standard output, after what is printed there", "[evaluate]") {
  const TemporaryFolder folder;
  run_well(training(folder, "--quiet --out run"));
  const std::string out = run_well(command(folder, "fcam-evaluate run --csv -")).out;
  run_well(command(folder, "fcam-evaluate run --csv file.csv"));
  CHECK_THAT(out, Catch::EndsWith("\n" + read_file(folder.file("file.csv"))));
  CHECK_FALSE(std::filesystem::exists(folder.file("-")));
}
