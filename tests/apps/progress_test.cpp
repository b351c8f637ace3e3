#include "common/progress.h"

#include <catch2/catch.hpp>
#include <clocale>
#include <memory>
#include <vector>

using fcam::apps::Progress;
using fcam::apps::ProgressOutput;

namespace {

// A file in memory and a clock that is set by hand.
class Screen {
 public:
  Screen() : file_(std::tmpfile()) { REQUIRE(file_ != nullptr); }
  ~Screen() { std::fclose(file_); }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  ProgressOutput output(bool terminal, std::size_t columns = 80) {
    return {file_, terminal, columns, [this] { return time; }};
  }
  std::string text() {
    std::string bytes(static_cast<std::size_t>(std::ftell(file_)), '\0');
    std::rewind(file_);
    REQUIRE(std::fread(bytes.data(), 1, bytes.size(), file_) == bytes.size());
    return bytes;
  }

  double time = 100;

 private:
  std::FILE* file_;
};

// What was drawn between carriage returns, without escapes.
std::vector<std::string> drawings(const std::string& text) {
  std::vector<std::string> parts(1);
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (text.compare(k, 3, "\x1b[K") == 0) {
      k += 2;
    } else if (text[k] == '\r' || text[k] == '\n') {
      parts.emplace_back();
    } else {
      parts.back() += text[k];
    }
  }
  return parts;
}

void run(Progress& progress, Screen& screen) {
  progress.start("training", 4);
  for (std::size_t done = 1; done <= 4; ++done) {
    screen.time += 2;
    progress.advance(done, "loss 0.412");
    progress.line("epoch " + std::to_string(done));
  }
  progress.finish();
}

}  // namespace

TEST_CASE("where there is no terminal, progress is plain lines and nothing else", "[progress]") {
  Screen screen;
  Progress progress(false, screen.output(false));
  run(progress, screen);
  CHECK(screen.text() == "epoch 1\nepoch 2\nepoch 3\nepoch 4\n");
}

TEST_CASE("quiet progress prints nothing", "[progress]") {
  for (const bool terminal : {false, true}) {
    Screen screen;
    Progress progress(true, screen.output(terminal));
    run(progress, screen);
    CHECK(screen.text().empty());
  }
}

TEST_CASE("the bar shows percentage, counts, rate, remaining time and status", "[progress]") {
  Screen screen;
  Progress progress(false, screen.output(true, 100));
  progress.start("training", 40);
  screen.time += 4;
  progress.advance(10, "loss 0.412");
  CHECK(screen.text() ==
        "\rtraining 0% [>                                     ] 0/40\x1b[K"
        "\rtraining 25% [=========>                            ] 10/40 2.5/s ETA 0:12 loss 0.412\x1b[K");
}

TEST_CASE("a line erases the bar, stays, and the bar goes on; the end erases the bar", "[progress]") {
  Screen screen;
  {
    Progress progress(false, screen.output(true, 16));
    progress.start("x", 2);
    progress.line("epoch 1");
    progress.finish();
    progress.finish();
    progress.line("after");
  }
  CHECK(screen.text() == "\rx 0% 0/2\x1b[K\r\x1b[Kepoch 1\n\rx 0% 0/2\x1b[K\r\x1b[Kafter\n");
}

TEST_CASE("the bar is erased when work is left by an exception", "[progress]") {
  Screen screen;
  try {
    Progress progress(false, screen.output(true));
    progress.start("x", 2);
    throw 1;
  } catch (int) {
  }
  const std::string text = screen.text();
  CHECK(text.substr(text.size() - 4) == "\r\x1b[K");
}

TEST_CASE("the bar is never as wide as the terminal, whatever the width", "[progress]") {
  for (std::size_t columns = 1; columns <= 130; ++columns) {
    Screen screen;
    Progress progress(false, screen.output(true, columns));
    progress.start("évaluation of fashion-mnist", 123456);
    for (const std::size_t done : {1u, 777u, 60000u, 123456u}) {
      screen.time += 1000;
      progress.advance(done, "loss 0.412 → 0.3");
    }
    const auto lines = drawings(screen.text());
    REQUIRE(lines.size() == 6);
    for (const std::string& line : lines) {
      INFO(columns << ": " << line);
      CHECK(line.size() < columns);
      // No letter is cut: the last byte begins none.
      CHECK((line.empty() || static_cast<unsigned char>(line.back()) < 0xc0));
    }
  }
}

TEST_CASE("40 columns hold label, percentage, status and remaining time", "[progress]") {
  Screen screen;
  Progress progress(false, screen.output(true, 40));
  progress.start("train", 100);
  screen.time += 50;
  progress.advance(50, "loss 0.412");
  CHECK(drawings(screen.text()).back() == "train 50% 50/100 ETA 0:50 loss 0.412");
}

TEST_CASE("the bar is redrawn at most ten times a second", "[progress]") {
  Screen screen;
  Progress progress(false, screen.output(true));
  progress.start("x", 10000);
  for (std::size_t done = 1; done <= 10000; ++done) {
    screen.time += 0.0001;
    progress.advance(done, "");
  }
  const auto count = drawings(screen.text()).size();
  CHECK(count >= 9);
  CHECK(count <= 12);
}

TEST_CASE("work that was done before does not count for the rate", "[progress]") {
  Screen screen;
  Progress progress(false, screen.output(true));
  progress.start("x", 100, 50);
  screen.time += 10;
  progress.advance(60, "");
  CHECK_THAT(drawings(screen.text()).back(), Catch::Contains("60/100 1.0/s ETA 0:40"));
}

TEST_CASE("slow work is told by minute or hour, long work in hours", "[progress]") {
  Screen screen;
  Progress progress(false, screen.output(true));
  progress.start("x", 100);
  screen.time += 30;
  progress.advance(1, "");
  CHECK_THAT(drawings(screen.text()).back(), Catch::Contains("1/100 2.0/min ETA 49:30"));
  screen.time += 7170;
  progress.advance(1, "");
  CHECK_THAT(drawings(screen.text()).back(), Catch::Contains("1/100 0.5/h ETA 198:00:00"));
}

TEST_CASE("no work at all, and more done than there is, are drawn sanely", "[progress]") {
  Screen screen;
  Progress progress(false, screen.output(true));
  progress.start("x", 0);
  CHECK_THAT(drawings(screen.text()).back(), Catch::StartsWith("x 100% [==") && Catch::EndsWith("0/0"));
  progress.start("y", 2);
  screen.time += 1;
  progress.advance(5, "");
  CHECK_THAT(drawings(screen.text()).back(), Catch::StartsWith("y 100%") && Catch::Contains("2/2"));
}

TEST_CASE("a line without bar shows where there is no terminal, and not beside a bar", "[progress]") {
  for (const bool terminal : {false, true}) {
    Screen screen;
    Progress progress(false, screen.output(terminal));
    progress.start("work", 10);
    progress.line_without_bar("epoch 1");
    progress.finish();
    CHECK((screen.text().find("epoch 1\n") != std::string::npos) == !terminal);
  }
  Screen screen;
  Progress(true, screen.output(false)).line_without_bar("epoch 1");
  CHECK(screen.text().empty());
}
