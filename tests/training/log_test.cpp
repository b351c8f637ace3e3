#include "fcam/training/log.h"

#include <limits>
#include <locale>
#include <sstream>

#include "support/errors.h"
#include "support/full_disk.h"
#include "support/temporary_folder.h"

using namespace fcam;
using namespace fcam::test;

namespace {

const std::string header =
    "epoch,loss,accuracy,ftpt,ffpt,ftpf,ffpf,focus_mean,focus_entropy,saif,test_loss,test_accuracy,test_ftpt,test_ffpt,"
    "test_ftpf,test_ffpf,test_focus_mean,test_focus_entropy,test_saif,seconds,"
    "focus_gradient,incentive,classify_forward,classify_backward\n";

Metrics metrics_from(double first) {
  Metrics metrics;
  metrics.loss = first;
  metrics.accuracy = first + 1;
  metrics.ftpt = first + 2;
  metrics.ffpt = first + 3;
  metrics.ftpf = first + 4;
  metrics.ffpf = first + 5;
  metrics.focus_mean = first + 6;
  metrics.focus_entropy = first + 7;
  metrics.saif = first + 8;
  metrics.focus_gradient = first + 9;
  metrics.incentive = first + 10;
  metrics.classify_forward = first + 11;
  metrics.classify_backward = first + 12;
  return metrics;
}

Epoch epoch_of(std::size_t number) {
  return {number, metrics_from(static_cast<double>(number) + 0.25), metrics_from(100.5), 1.5};
}

/// Header and rows of epochs first to last.
std::string log_of(std::size_t first, std::size_t last) {
  std::string text = log_header();
  for (std::size_t number = first; number <= last; ++number) text += log_row(epoch_of(number));
  return text;
}

/// What a resume after `last_epoch` makes of a file that holds `text`.
std::string resumed(const std::string& text, std::size_t last_epoch) {
  const TemporaryFolder folder;
  write_file(folder.file("log.csv"), text);
  Log::resume(folder.file("log.csv"), last_epoch);
  return read_file(folder.file("log.csv"));
}

void check_refused(const std::string& text, std::size_t last_epoch, std::initializer_list<std::string> parts) {
  const TemporaryFolder folder;
  const std::string path = folder.file("log.csv");
  write_file(path, text);
  CAPTURE(text);
  check_error([&] { Log::resume(path, last_epoch); }, {"'" + path + "': expected ", ", found "});
  check_error([&] { Log::resume(path, last_epoch); }, parts);
  CHECK(read_file(path) == text);
}

}  // namespace

TEST_CASE("the columns of the log", "[training]") { CHECK(log_header() == header); }

TEST_CASE("a row has its values in the order of the columns", "[training]") {
  CHECK(log_row({12, metrics_from(0.5), metrics_from(-20), 3.25}) ==
        "12,0.5,1.5,2.5,3.5,4.5,5.5,6.5,7.5,8.5,-20,-19,-18,-17,-16,-15,-14,-13,-12,3.25,"
        "9.5,10.5,11.5,12.5\n");
}

TEST_CASE("cells are empty where there was no test", "[training]") {
  CHECK(log_row({1, metrics_from(0), std::nullopt, 2}) == "1,0,1,2,3,4,5,6,7,8,,,,,,,,,,2,9,10,11,12\n");
}

TEST_CASE("cells are empty where a value is not a number", "[training]") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  Metrics train = metrics_from(0), test = metrics_from(10);
  train.ftpt = train.saif = test.focus_mean = train.incentive = nan;
  CHECK(log_row({1, train, test, nan}) == "1,0,1,,3,4,5,6,7,,10,11,12,13,14,15,,17,18,,9,,11,12\n");
}

TEST_CASE("numbers of a row read back as the same doubles", "[training]") {
  Metrics train = metrics_from(0);
  train.loss = 0.1 + 0.2;
  train.accuracy = 1.0 / 3;
  train.saif = 1e-300;
  std::stringstream row(log_row({1, train, std::nullopt, 0}));
  std::vector<std::string> cells;
  for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
  CHECK(std::stod(cells.at(1)) == train.loss);
  CHECK(std::stod(cells.at(2)) == train.accuracy);
  CHECK(std::stod(cells.at(9)) == train.saif);
}

TEST_CASE("rows do not follow the locale", "[training]") {
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  const TemporaryFolder folder;
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Comma));
  Log log(folder.file("log.csv"));
  log.append({123456, metrics_from(1234567.5), std::nullopt, 0.5});
  std::locale::global(before);
  CHECK(read_file(folder.file("log.csv")) ==
        header +
            "123456,1234567.5,1234568.5,1234569.5,1234570.5,1234571.5,1234572.5,1234573.5,1234574.5,1234575.5"
            ",,,,,,,,,,0.5,1234576.5,1234577.5,1234578.5,1234579.5\n");
}

TEST_CASE("a new log is its header, whatever was there", "[training]") {
  const TemporaryFolder folder;
  write_file(folder.file("log.csv"), "an old log that is longer than the header: " + log_of(1, 9));
  const Log log(folder.file("log.csv"));
  CHECK(read_file(folder.file("log.csv")) == header);
}

TEST_CASE("each row is in the file once it is appended", "[training]") {
  const TemporaryFolder folder;
  Log log(folder.file("log.csv"));
  for (std::size_t number = 1; number <= 3; ++number) {
    log.append(epoch_of(number));
    CHECK(read_file(folder.file("log.csv")) == log_of(1, number));
  }
}

TEST_CASE("a log goes on without the test of its last row, where that is said", "[training]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("log.csv");
  Epoch untested = epoch_of(2);
  untested.test.reset();
  for (const std::string& rows : {log_of(1, 3), log_of(1, 1) + log_row(untested)}) {
    write_file(path, rows);
    Log::resume(path, 2, true);
    CHECK(read_file(path) == log_of(1, 1) + log_row(untested));
  }
  Log::resume(path, 0, true);
  CHECK(read_file(path) == header);
}

TEST_CASE("a log can be moved", "[training]") {
  const TemporaryFolder folder;
  Log first(folder.file("log.csv"));
  first.append(epoch_of(1));
  Log second = std::move(first);
  second.append(epoch_of(2));
  CHECK(read_file(folder.file("log.csv")) == log_of(1, 2));
}

TEST_CASE("a resumed log goes on as if never left", "[training]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("log.csv");
  { Log(path).append(epoch_of(1)); }
  for (std::size_t number = 2; number <= 4; ++number) Log::resume(path, number - 1).append(epoch_of(number));
  CHECK(read_file(path) == log_of(1, 4));
}

TEST_CASE("a resume in the first epoch keeps the header alone", "[training]") {
  CHECK(resumed(header, 0) == header);
  CHECK(resumed(log_of(1, 3), 0) == header);
}

TEST_CASE("rows of epochs that will come again are dropped", "[training]") {
  CHECK(resumed(log_of(1, 5), 5) == log_of(1, 5));
  CHECK(resumed(log_of(1, 5), 4) == log_of(1, 4));
  CHECK(resumed(log_of(1, 12), 1) == log_of(1, 1));
}

TEST_CASE("a row that was cut short is dropped", "[training]") {
  const std::string row = log_row(epoch_of(4));
  for (std::size_t size = 1; size < row.size(); ++size) {
    CHECK(resumed(log_of(1, 3) + row.substr(0, size), 3) == log_of(1, 3));
  }
}

TEST_CASE("what a crash left after the last row is dropped", "[training]") {
  CHECK(resumed(log_of(1, 3) + std::string(100, '\0'), 3) == log_of(1, 3));
  CHECK(resumed(log_of(1, 3) + "\n\n", 3) == log_of(1, 3));
}

TEST_CASE("a row cut short that is needed is refused", "[training]") {
  const std::string whole = log_of(1, 3);
  for (std::size_t missing = 1; missing < log_row(epoch_of(3)).size(); ++missing) {
    check_refused(whole.substr(0, whole.size() - missing), 3,
                  {"the whole row of epoch 3 of 3", "at the end of the file"});
  }
}

TEST_CASE("rows that are missing are refused", "[training]") {
  check_refused(log_of(1, 2), 3, {"the whole row of epoch 3 of 3", "found the end of the file"});
  check_refused(header, 1, {"row of epoch 1 of 1"});
  check_refused(log_of(2, 3), 3, {"row of epoch 1 of 3", "'2,"});
  check_refused(log_of(1, 2) + log_row(epoch_of(4)), 4, {"row of epoch 3 of 4", "'4,"});
}

TEST_CASE("rows that are repeated or out of order are refused", "[training]") {
  check_refused(log_of(1, 2) + log_row(epoch_of(2)) + log_row(epoch_of(3)), 3, {"row of epoch 3 of 3", "'2,"});
  check_refused(header + log_row(epoch_of(2)) + log_row(epoch_of(1)), 2, {"row of epoch 1 of 2"});
  check_refused(log_of(1, 2) + header + log_row(epoch_of(3)), 3, {"row of epoch 3 of 3", "'epoch,"});
}

TEST_CASE("rows with more or fewer cells are refused", "[training]") {
  check_refused(header + "1,2,3\n", 1, {"row of epoch 1 of 1", "'1,2,3"});
  check_refused(header + log_row(epoch_of(1)).insert(2, ",,"), 1, {"row of epoch 1 of 1"});
}

TEST_CASE("row 1 is not mistaken for row 10", "[training]") {
  check_refused(header + log_row(epoch_of(10)), 1, {"row of epoch 1 of 1", "'10,"});
}

TEST_CASE("another header is refused", "[training]") {
  check_refused("", 0, {"the header 'epoch,loss,", "found the end of the file"});
  check_refused(header.substr(0, 30), 0, {"the header"});
  check_refused(header.substr(0, header.size() - 1), 0, {"the header"});
  check_refused("epoch,loss,memory\n1,2,3\n", 1, {"'epoch,loss,memory"});
  check_refused("\xef\xbb\xbf" + log_of(1, 1), 1, {"the header"});
  check_refused(header.substr(0, header.size() - 1) + ",more\n", 0, {"the header"});
}

TEST_CASE("line ends of another system are another header", "[training]") {
  check_refused(header.substr(0, header.size() - 1) + "\r\n", 0, {"the header"});
}

TEST_CASE("a log that is not there cannot be resumed", "[training]") {
  const TemporaryFolder folder;
  check_error([&] { Log::resume(folder.file("log.csv"), 0); }, {"log.csv", "No such file"});
  CHECK_FALSE(std::filesystem::exists(folder.file("log.csv")));
}

TEST_CASE("a log that cannot be made is a write error", "[training]") {
  const TemporaryFolder folder;
  check_error<WriteError>([&] { Log(folder.file("none/log.csv")); }, {"none/log.csv"});
  check_error<WriteError>([&] { Log("/dev/full"); }, {"'/dev/full'"});
}

TEST_CASE("a full disk is a write error that leaves nothing of the row", "[training]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("log.csv");
  Log log(path);
  log.append(epoch_of(1));
  check_error<WriteError>(
      [&] {
        const FullDisk disk(log_of(1, 1).size() + 10);
        log.append(epoch_of(2));
      },
      {path, "File too large"});
  CHECK(read_file(path) == log_of(1, 1));
  log.append(epoch_of(2));
  CHECK(read_file(path) == log_of(1, 2));
}
