#include "common/gnuplot.h"

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "fcam/base/error.h"
#include "support/temporary_folder.h"

using namespace fcam::apps;
using fcam::test::read_file;
using fcam::test::TemporaryFolder;

namespace {

const std::string line_script = "$data << END\n0 1\n1 2.5\nEND\nplot $data using 1:2 with lines title 'x'\n";

// Sets a variable of the environment until the end of the scope.
class Variable {
 public:
  Variable(std::string name, const std::string& value) : name_(std::move(name)) {
    const char* former = getenv(name_.c_str());
    had_ = former != nullptr;
    if (had_) former_ = former;
    setenv(name_.c_str(), value.c_str(), 1);
  }
  ~Variable() { had_ ? setenv(name_.c_str(), former_.c_str(), 1) : unsetenv(name_.c_str()); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  std::string name_, former_;
  bool had_ = false;
};

// Enters a folder until the end of the scope.
class WorkingFolder {
 public:
  explicit WorkingFolder(const std::filesystem::path& path) : former_(std::filesystem::current_path()) {
    std::filesystem::current_path(path);
  }
  ~WorkingFolder() { std::filesystem::current_path(former_); }
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;

 private:
  std::filesystem::path former_;
};

std::size_t files_in(const TemporaryFolder& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder.path()), {}));
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

std::string message_of(const std::string& script, const std::string& path) {
  try {
    run_gnuplot(script, path);
  } catch (const fcam::Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("gnuplot draws svg, png and pdf, and leaves nothing else behind", "[gnuplot]") {
  const TemporaryFolder folder;
  for (const auto& [name, magic] :
       {std::pair<std::string, std::string>{"a.svg", "<?xml"}, {"b.PNG", "\x89PNG"}, {"c.pdf", "%PDF"}}) {
    const PlotResult result = run_gnuplot(line_script, folder.file(name));
    CHECK(result.drawn);
    CHECK(result.note.empty());
    CHECK(read_file(folder.file(name)).substr(0, magic.size()) == magic);
  }
  CHECK(files_in(folder) == 3);
}

TEST_CASE("the picture has the size that is asked for", "[gnuplot]") {
  const TemporaryFolder folder;
  run_gnuplot(line_script, folder.file("a.svg"), {.width = 432, .height = 321});
  CHECK(read_file(folder.file("a.svg")).find("width=\"432\" height=\"321\"") != std::string::npos);
  run_gnuplot(line_script, folder.file("a.png"), {.width = 432, .height = 321});
  const std::string png = read_file(folder.file("a.png"));
  const auto big_endian = [&](std::size_t at) {
    return 256 * static_cast<unsigned char>(png[at + 2]) + static_cast<unsigned char>(png[at + 3]);
  };
  CHECK(big_endian(16) == 2 * 432);
  CHECK(big_endian(20) == 2 * 321);
}

TEST_CASE("another file extension is a UsageError that names the three", "[gnuplot]") {
  const TemporaryFolder folder;
  for (const std::string name : {"x.txt", "x", "png", "", "x.svg.gz", "x.svg\n"}) {
    INFO(name);
    CHECK_THROWS_AS(run_gnuplot(line_script, name), fcam::UsageError);
    CHECK_THROWS_WITH(check_plot_path(name), Catch::Contains(".svg, .png or .pdf"));
  }
  CHECK_NOTHROW(check_plot_path("a b/x.Pdf"));
}

TEST_CASE("hostile texts are shown as typed and nothing is executed", "[gnuplot]") {
  const TemporaryFolder folder;
  const WorkingFolder working(folder.path());
  const std::vector<std::string> texts{"`touch pwned`",
                                       "it's (1) [x] \"y\"",
                                       "'.system('touch pwned').'",
                                       "a_b^2 {/:Bold c} @d & ~e",
                                       "$(touch pwned) $x",
                                       "back\\slash\\n\\",
                                       "# no comment %s %d",
                                       "'; !touch pwned",
                                       "\"`touch pwned`\"",
                                       "ünïcödé →",
                                       "@touch_pwned",
                                       "''`touch pwned`''",
                                       "'",
                                       "'}",
                                       "\\140 %s"};
  std::string script = "set xrange [0:1]\n";
  for (const std::string& text : texts) script += "set label " + gnuplot_text(text) + " at 0.5, 0.5\n";
  script += "plot x title " + gnuplot_text(texts[0]) + ", x/2 title " + gnuplot_text(texts[5]) + "\n";
  REQUIRE(run_gnuplot(script, "x.svg").drawn);
  CHECK_FALSE(std::filesystem::exists("pwned"));
  const std::string svg = read_file("x.svg");
  for (const std::string& text : texts) {
    INFO(text);
    CHECK(svg.find(">" + replaced(replaced(text, "&", "&amp;"), "<", "&lt;") + "<") != std::string::npos);
  }
  for (const std::string extension : {"png", "pdf"}) CHECK(run_gnuplot(script, "x." + extension).drawn);
  CHECK(files_in(folder) == 3);
}

TEST_CASE("gnuplot_text makes one line of valid UTF-8", "[gnuplot]") {
  CHECK(gnuplot_text("") == R"("")");
  CHECK(gnuplot_text("a'b \"c\" `d` \\e") == R"("a\047b \042c\042 \140d\140 \134e")");
  CHECK(gnuplot_text("a\nb\tc\x7f") == R"("a b c ")");
  CHECK(gnuplot_text(std::string("a\0b", 3)) == R"("a b")");
  CHECK(gnuplot_text("\xc3\xa9 \xe2\x86\x92 \xf0\x9f\x98\x80") == "\"\xc3\xa9 \xe2\x86\x92 \xf0\x9f\x98\x80\"");
  CHECK(gnuplot_text("caf\xe9!") == R"("caf?\041")");             // Latin-1
  CHECK(gnuplot_text("\xe2\x86") == R"("??")");                   // cut off
  CHECK(gnuplot_text("\xc0\xa7 \xed\xa0\x80") == R"("?? ???")");  // an overlong quote, half a surrogate pair
  CHECK(gnuplot_text("\xe2'") == R"("?\047")");
}

TEST_CASE("output paths with spaces, quotes, pipes and backticks are plain file names", "[gnuplot]") {
  const TemporaryFolder folder;
  const WorkingFolder working(folder.path());
  const std::vector<std::string> names{"it's (1) [x].svg", "|touch pwned;.svg", "`touch pwned`.svg", "~x.svg",
                                       "-e.svg"};
  for (const std::string& name : names) {
    INFO(name);
    CHECK(run_gnuplot(line_script, name).drawn);
    CHECK(std::filesystem::exists(name));
  }
  CHECK(files_in(folder) == names.size());
}

TEST_CASE("without gnuplot the script is written, complete", "[gnuplot]") {
  const TemporaryFolder folder, empty;
  const WorkingFolder working(folder.path());
  const std::string name = "|it's x.svg";
  PlotResult result;
  {
    const Variable path("PATH", empty.path().string());
    result = run_gnuplot(line_script, name);
  }
  CHECK_FALSE(result.drawn);
  CHECK_THAT(result.note, Catch::Contains("gnuplot") && Catch::Contains("|it's x.svg.gp"));
  CHECK(result.note.find('\n') == std::string::npos);
  CHECK_FALSE(std::filesystem::exists(name));
  REQUIRE(std::filesystem::exists(name + ".gp"));
  CHECK(files_in(folder) == 1);

  // A machine that has gnuplot makes the picture of it.
  std::filesystem::rename(name + ".gp", "x.gp");
  REQUIRE(system("gnuplot -d x.gp 2> errors") == 0);
  CHECK(read_file(name).substr(0, 5) == "<?xml");
}

TEST_CASE("a script that fails is an Error of one line with gnuplot's reason, and the former picture stays",
          "[gnuplot]") {
  const TemporaryFolder folder;
  fcam::test::write_file(folder.file("x.svg"), "former");
  for (const auto& [script, reason] : {std::pair<std::string, std::string>{"blurb x\n", "invalid command"},
                                       {line_script + "plot $none\n", "no datablock named $none"},
                                       {"", "an empty picture"}}) {
    const std::string message = message_of(script, folder.file("x.svg"));
    INFO(message);
    CHECK_THAT(message, Catch::Contains(reason));
    CHECK_THAT(message, Catch::StartsWith("gnuplot: expected"));
    CHECK(message.find('\n') == std::string::npos);
    CHECK(read_file(folder.file("x.svg")) == "former");
  }
  CHECK(files_in(folder) == 1);
}

TEST_CASE("a picture that cannot be written is a WriteError", "[gnuplot]") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(run_gnuplot(line_script, folder.file("missing/x.png")), fcam::WriteError);
}

TEST_CASE("start-up files and locale of the user do not matter", "[gnuplot]") {
  const TemporaryFolder folder;
  fcam::test::write_file(folder.file(".gnuplot"), "set label 'start-up' at graph 0.5, 0.5\n");
  const Variable home("HOME", folder.path().string()), locale("LC_ALL", "de_DE.UTF-8");
  run_gnuplot("set format y '%.2f'\n" + line_script, folder.file("x.svg"));
  const std::string svg = read_file(folder.file("x.svg"));
  CHECK(svg.find("start-up") == std::string::npos);
  CHECK(svg.find("2.50") != std::string::npos);
}

TEST_CASE("much output and many complaints do not block", "[gnuplot]") {
  const TemporaryFolder folder;
  std::string script = "$data << END\n";
  for (int k = 0; k < 20000; ++k) script += std::to_string(k) + " " + std::to_string(k * 7919 % 1000) + "\n";
  script +=
      "END\ndo for [i=1:5000] { print 'a line of complaint, the number of which is large' }\n"
      "plot $data using 1:2 with points\n";
  CHECK(run_gnuplot(script, folder.file("x.svg")).drawn);
  CHECK(std::filesystem::file_size(folder.file("x.svg")) > 500000);
}
