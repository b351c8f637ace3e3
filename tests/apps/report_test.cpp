// fcam-report from outside, on tiny runs.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "support/markup.h"
#include "support/runs.h"

namespace fs = std::filesystem;
using namespace fcam::test;
using Catch::Matchers::Contains;

namespace {

void write(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

// Folders sa, ha and lv of runs with seed 1, made once and copied.
void add_runs(const TemporaryFolder& to) {
  struct Runs {
    Runs() {
      for (const std::string loss : {"sa", "ha", "lv"}) {
        run_well(training(folder, "--quiet --loss " + loss + " --out " + loss));
      }
    }
    TemporaryFolder folder;
  };
  static const Runs runs;
  fs::copy(runs.folder.path(), to.path(), fs::copy_options::recursive);
}

void add_fixed_focus(const TemporaryFolder& folder, const std::string& name, const std::string& losses) {
  run_well(
      command(folder, "fcam-fixed-focus --quiet --data linear --classes 4 --patches 4 --train 100 --epochs 4 --loss " +
                          losses + " --out " + name));
}

void add_flow(const TemporaryFolder& folder) {
  run_well(command(folder, "fcam-flow --quiet --patches 5 --classes 5 --points 20 --csv flow.csv"));
}

std::string report(const TemporaryFolder& folder, const std::string& runs) {
  run_well(command(folder, "fcam-report --quiet --out report " + runs));
  return read_file(folder.file("report/report.md"));
}

}  // namespace

TEST_CASE("a report holds every figure, and judges every observation", "[report]") {
  const TemporaryFolder folder;
  add_runs(folder);
  add_fixed_focus(folder, "fixed", "sa,ha,lv");
  add_flow(folder);
  const std::string text = report(folder, "sa ha lv fixed flow.csv");
  CHECK_THAT(text, Contains(" 0 are not judged."));
  for (const char* id :
       {"1a", "1b", "1c", "1d", "1e", "1f", "1g", "2a", "2b", "2c", "2d", "2e", "3a", "3b", "3c", "4a", "4b"}) {
    CHECK_THAT(text, Contains(std::string("| ") + id + " |"));
  }
  for (const char* name : {"heat-maps-train-1", "heat-maps-test-1", "training-1", "fixed-focus-loss-1", "incentive-1",
                           "difference-1", "flow-1"}) {
    CAPTURE(name);
    CHECK_THAT(text, Contains(std::string("](figures/") + name + ".svg)"));
    CHECK(markup_fault(read_file(folder.file("report/figures/" + std::string(name) + ".svg"))).empty());
  }
  CHECK_THAT(text, !Contains("What is missing"));

  const std::string html = read_file(folder.file("report/report.html"));
  CHECK(markup_fault(html).empty());
  for (const char* other : {"<script", "<link", "<img", "src=", "href=", "url(", "@import"}) {
    CHECK_THAT(html, !Contains(other));
  }
  CHECK_THAT(html, Contains("name=\"viewport\"") && Contains("prefers-color-scheme:dark") && Contains("@media print"));
}

TEST_CASE("the numbers of a report are those of fcam-evaluate, over the seeds", "[report]") {
  const TemporaryFolder folder;
  add_runs(folder);
  run_well(training(folder, "--quiet --loss lv --seed 2 --out lv2"));
  const std::string text = report(folder, "lv lv2");
  run_well(command(folder, "fcam-evaluate lv lv2 --quiet --split train --json train.json"));
  const auto both = read_json(folder.file("train.json"));
  const double a = both[0]["accuracy"], b = both[1]["accuracy"];
  char expected[100];
  std::snprintf(expected, sizeof expected, "| marginal likelihood | training | 2 | 0.0 ± 0.0 | %.1f ± %.1f |",
                50 * (a + b), 100 * std::abs(a - b) / std::sqrt(2.0));
  CHECK_THAT(text, Contains(expected));
}

TEST_CASE("what is missing or left out is named", "[report]") {
  const TemporaryFolder folder;
  add_runs(folder);
  run_well(training(folder, "--quiet --loss lv --seed 2 --out lv2"));
  run_well(training(folder, "--quiet --loss lv --out again"));
  run_well(training(folder, "--quiet --loss lv --seed 3 --lr 0.2 --out faster"));
  fs::remove(folder.path() / "sa/model.safetensors");
  const std::string text = report(folder, "sa ha lv lv2 again faster");
  CHECK_THAT(text, Contains("'sa': not finished, 2 of 2 epochs"));
  CHECK_THAT(text, Contains("no run of ha with seed 2") && Contains("no run of sa with seed 2"));
  CHECK_THAT(text, !Contains("no run of lv with seed"));
  CHECK_THAT(text, Contains("'again': left out, as lv, seed 1 is there already"));
  CHECK_THAT(text, Contains("'faster': left out, as it trains at another pace than 'lv'"));
  CHECK_THAT(text, Contains("not judged; needs finished runs of sa"));
  CHECK_THAT(text, Contains("not judged; needs curves of ha"));
}

TEST_CASE("runs in different settings are figures apart", "[report]") {
  const TemporaryFolder folder;
  add_runs(folder);
  run_well(command(
      folder, "fcam-train" + tiny_data() + "--quiet --epochs 2 --focus mlp --classify linear --loss lv --out other"));
  const std::string text = report(folder, "lv other");
  CHECK_THAT(text, Contains("](figures/heat-maps-train-1.svg)") && Contains("](figures/heat-maps-train-2.svg)"));
  CHECK_THAT(text, Contains("classification network linear"));
}

TEST_CASE("trainings of fixed focus in several folders are one figure", "[report]") {
  const TemporaryFolder folder;
  add_fixed_focus(folder, "one", "sa");
  add_fixed_focus(folder, "two", "ha,lv");
  const std::string text = report(folder, "one two");
  CHECK_THAT(text, !Contains("needs curves"));
  CHECK_THAT(text, Contains("](figures/incentive-1.svg)") && !Contains("incentive-2"));
}

TEST_CASE("an incentive far off is left out of the scale and named", "[report]") {
  const TemporaryFolder folder;
  add_fixed_focus(folder, "fixed", "sa,ha,lv");
  CHECK_THAT(report(folder, "fixed"), !Contains("Values beyond"));
  std::string table = read_file(folder.file("fixed/incentive.csv"));
  const std::size_t row = table.find("\nlv,1,2,"), end = table.find('\n', row + 1);
  REQUIRE(row != std::string::npos);
  table.replace(row, end - row, "\nlv,1,2,0,-1080.25");
  write(folder.file("fixed/incentive.csv"), table);
  const std::string text = report(folder, "fixed");
  CHECK_THAT(text, Contains("Values beyond the axis: 1, the farthest -1080.25 (lv, alpha 1, epoch 2)."));
  CHECK_THAT(read_file(folder.file("report/figures/incentive-1.svg")), !Contains(">-1000<"));
}

TEST_CASE("what cannot be read is named, the rest is reported, and the exit code is 3", "[report]") {
  const TemporaryFolder folder;
  add_runs(folder);
  add_flow(folder);
  fs::create_directory(folder.path() / "empty");
  write(folder.file("notes.txt"), "hello\n");
  fs::resize_file(folder.path() / "ha/model.safetensors", 100);
  write(folder.file("lv/log.csv"), "epoch,loss\n1\n");
  const auto result = run(command(folder, "fcam-report --quiet --out report sa ha lv none empty notes.txt flow.csv"));
  CHECK(result.code == 3);
  for (const char* part :
       {"'none': expected a run, found nothing", "'empty': expected log.csv", "'notes.txt': expected a folder of a run",
        "'ha': 'ha/model.safetensors'", "lv/log.csv': expected 2 fields in line 2"}) {
    CHECK_THAT(result.err, Contains(part));
    CHECK_THAT(read_file(folder.file("report/report.html")), Contains(part));
  }
  CHECK_THAT(error_of(command(folder, "fcam-report --out nothing none"), 3), Contains("'none'"));
  CHECK(!fs::exists(folder.path() / "nothing"));
  CHECK_THAT(error_of(command(folder, "fcam-report --out nothing"), 2), Contains("expected RUNS"));
  CHECK_THAT(error_of(command(folder, "fcam-report sa --quiet --out notes.txt"), 4), Contains("notes.txt"));
}

TEST_CASE("names of runs are shown as typed, whatever they hold", "[report]") {
  const TemporaryFolder folder;
  const std::string name = "<b>&\"x\" `touch it` | caf\xe9";
  add_runs(folder);
  fs::rename(folder.path() / "sa", folder.path() / name);
  run_well(command(folder, "fcam-report --quiet --out report", {name, "--title", "<i>T</i>"}));
  const std::string html = read_file(folder.file("report/report.html"));
  CHECK(markup_fault(html).empty());
  CHECK_THAT(html,
             Contains("&lt;b&gt;&amp;&quot;x&quot; `touch it` | caf?") && Contains("<h1>&lt;i&gt;T&lt;/i&gt;</h1>"));
  CHECK_THAT(read_file(folder.file("report/report.md")), Contains("\\`touch it\\` \\| caf?"));
}

TEST_CASE("data that have moved since the training are found where --data says", "[report]") {
  const TemporaryFolder folder;
  const std::string data = split(tiny_source(), ' ').at(2).substr(4);
  fs::copy(data, folder.path() / "data");
  run_well(command(folder,
                   "fcam-train --quiet --data npy:data --train 50 --test 50 --patches 3 --focus mlp --classify mlp "
                   "--epochs 1 --loss lv --out lv"));
  fs::rename(folder.path() / "data", folder.path() / "moved");
  CHECK(run(command(folder, "fcam-report --quiet lv --out report")).code == 3);
  CHECK_THAT(report(folder, "lv --data npy:moved"), Contains("](figures/heat-maps-test-1.svg)"));
}

TEST_CASE("runs of one loss that differ in what is particular to them are told apart, with what they cost",
          "[report]") {
  const TemporaryFolder folder;
  add_runs(folder);
  for (const std::string options : {"--loss lv-topk --top 1 --out top1", "--loss lv-topk --top 2 --out top2",
                                    "--loss hybrid --switch-epoch 1 --then ha-sampled --reward prob --out hybrid"}) {
    run_well(training(folder, "--quiet " + options));
  }
  const std::string text = report(folder, "sa ha lv top1 top2 hybrid");
  CHECK_THAT(text, !Contains("left out"));
  for (const char* method : {"(lv-topk 1)", "(lv-topk 2)", "(hybrid 1 sampled 1 prob)"}) {
    CHECK_THAT(text, Contains(std::string(method)));
  }
  CHECK_THAT(text, Contains("| soft attention | 1 |") && Contains("| 1.00 | 1.00 |"));
  CHECK_THAT(text, Contains("| 3.00 | 3.00 |"));  // all patches
  CHECK_THAT(text, Contains("| 3.00 | 2.00 |"));  // the best one, a drawn one, and one more look for the metrics
  CHECK_THAT(text, Contains("| 1.50 | 1.00 |"));  // soft attention, then one draw and one more look
}

TEST_CASE("a run whose log does not count calls of g is reported without them", "[report]") {
  const TemporaryFolder folder;
  add_runs(folder);
  const std::string log = read_file(folder.file("lv/log.csv"));
  std::string older;
  for (const std::string& line : split(log.substr(0, log.size() - 1), '\n')) {
    std::string cells = line;
    for (int i = 0; i < 4; ++i) cells.resize(cells.rfind(','));
    older += cells + "\n";
  }
  write(folder.file("lv/log.csv"), older);
  CHECK_THAT(report(folder, "sa lv"), Contains("| marginal likelihood | 1 |") && Contains("| - | - |"));
}
