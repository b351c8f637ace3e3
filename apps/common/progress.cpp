#include "common/progress.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/ioctl.h>
#include <unistd.h>

#include "fcam/base/text.h"

namespace fcam::apps {
namespace {

constexpr double redraw_seconds = 0.1;
constexpr std::size_t shortest_bar = 10, longest_bar = 40;

ProgressOutput standard_error() {
  ProgressOutput output;
  const char* term = std::getenv("TERM");
  const std::string_view name = term == nullptr ? "" : term;
  output.terminal = isatty(STDERR_FILENO) == 1 && !name.empty() && name != "dumb";
  return output;
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::size_t terminal_columns(std::FILE* file) {
  winsize size{};
  return ioctl(fileno(file), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// "12.3/s", or by minute or hour where that is less than one.
std::string rate_text(double per_second) {
  const std::pair<double, const char*> units[] = {{1, "/s"}, {60, "/min"}, {3600, "/h"}};
  for (const auto& [seconds, unit] : units) {
    const double rate = per_second * seconds;
    if (rate >= 1 || seconds == 3600) return fixed(rate, rate < 100 ? 1 : 0) + unit;
  }
  return "";
}

std::string two_digits(std::size_t number) { return (number < 10 ? "0" : "") + std::to_string(number); }

// "0:07", "12:34", "3:04:05".
std::string time_text(double seconds) {
  const auto whole = static_cast<std::size_t>(seconds + 0.5);
  const std::size_t hours = whole / 3600, minutes = whole / 60 % 60;
  return (hours > 0 ? std::to_string(hours) + ":" + two_digits(minutes) : std::to_string(minutes)) + ":" +
         two_digits(whole % 60);
}

// The first bytes of a text, no letter cut in two.
std::string clipped(const std::string& text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

std::string bar_of(double fraction, std::size_t width) {
  const std::size_t inner = width - 2;
  const auto filled = static_cast<std::size_t>(fraction * static_cast<double>(inner));
  std::string bar(inner, ' ');
  std::fill_n(bar.begin(), filled, '=');
  if (filled < inner) bar[filled] = '>';
  return "[" + bar + "]";
}

// A part of the bar's line; of parts that do not fit, the one of the highest rank is left out first.
struct Part {
  std::string text;
  int rank;
};

std::size_t width_of(const std::vector<Part>& parts) {
  std::size_t width = 0;  // in bytes, never fewer than columns
  for (const Part& part : parts) width += part.text.size() + (width > 0 ? 1 : 0);
  return width;
}

std::string join(const std::vector<Part>& parts) {
  std::string text;
  for (const Part& part : parts) text += (text.empty() ? "" : " ") + part.text;
  return text;
}

}  // namespace

Progress::Progress(bool quiet) : Progress(quiet, standard_error()) {}

Progress::Progress(bool quiet, ProgressOutput output) : quiet_(quiet), output_(std::move(output)) {
  if (!output_.clock) output_.clock = steady_seconds;
}

Progress::~Progress() { finish(); }

void Progress::start(std::string label, std::size_t total, std::size_t done) {
  label_ = std::move(label);
  status_.clear();
  total_ = total;
  done_ = done_before_ = done;
  started_ = output_.clock();
  active_ = true;
  draw();
}

void Progress::advance(std::size_t done, const std::string& status) {
  done_ = std::min(done, total_);
  status_ = status;
  if (output_.clock() - last_draw_ >= redraw_seconds) draw();
}

void Progress::line(const std::string& text) {
  if (quiet_) return;
  erase();
  std::fputs((text + "\n").c_str(), output_.file);
  std::fflush(output_.file);
  draw();
}

void Progress::line_without_bar(const std::string& text) {
  if (!output_.terminal) line(text);
}

void Progress::finish() {
  erase();
  active_ = false;
}

void Progress::erase() {
  if (!drawn_) return;
  std::fputs("\r\x1b[K", output_.file);
  std::fflush(output_.file);
  drawn_ = false;
}

void Progress::draw() {
  if (quiet_ || !output_.terminal || !active_) return;
  last_draw_ = output_.clock();
  const double fraction = total_ > 0 ? static_cast<double>(done_) / static_cast<double>(total_) : 1;
  std::vector<Part> parts{{label_, 0}, {std::to_string(static_cast<int>(100 * fraction)) + "%", 1}};
  parts.push_back({std::string(shortest_bar, ' '), 5});
  parts.push_back({std::to_string(done_) + "/" + std::to_string(total_), 4});
  const double elapsed = last_draw_ - started_;
  if (elapsed > 0 && done_ > done_before_) {
    const double rate = static_cast<double>(done_ - done_before_) / elapsed;
    parts.push_back({rate_text(rate), 6});
    parts.push_back({"ETA " + time_text(static_cast<double>(total_ - done_) / rate), 2});
  }
  if (!status_.empty()) parts.push_back({status_, 3});

  // The last column stays free: some terminals go to the next line once it is filled.
  const std::size_t columns = output_.columns > 0 ? output_.columns : terminal_columns(output_.file);
  const std::size_t room = columns > 0 ? columns - 1 : 0;
  const auto by_rank = [](const Part& a, const Part& b) { return a.rank < b.rank; };
  while (parts.size() > 1 && width_of(parts) > room) {
    parts.erase(std::max_element(parts.begin(), parts.end(), by_rank));
  }
  const std::size_t width = width_of(parts);
  for (Part& part : parts) {
    if (part.rank == 5) part.text = bar_of(fraction, std::min(longest_bar, shortest_bar + room - width));
  }
  std::fputs(("\r" + clipped(join(parts), room) + "\x1b[K").c_str(), output_.file);
  std::fflush(output_.file);
  drawn_ = true;
}

}  // namespace fcam::apps
