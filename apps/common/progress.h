// How far the work is, on stderr.
#pragma once

#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>

namespace fcam::apps {

/// Where progress goes.
struct ProgressOutput {
  std::FILE* file = stderr;
  bool terminal = false;          ///< whether lines can be erased and drawn again
  std::size_t columns = 0;        ///< width of the terminal; 0: ask it at each drawing
  std::function<double()> clock;  ///< seconds; empty: a steady clock
};

/// One bar that is redrawn on a terminal; plain lines alone elsewhere, without carriage returns or escapes; nothing
/// when quiet. Numbers do not depend on the locale. For one thread. Texts are printable UTF-8.
class Progress {
 public:
  /// On stderr, which is a terminal unless TERM is empty or "dumb".
  explicit Progress(bool quiet);
  Progress(bool quiet, ProgressOutput output);
  /// Finishes, so that an error message starts on a clean line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Begins `total` steps of work, of which `done` were there before and do not count for the rate.
  void start(std::string label, std::size_t total, std::size_t done = 0);
  /// `done` of the total are done; redraws at most ten times a second. `status` is short, such as "loss 0.412".
  void advance(std::size_t done, const std::string& status);
  /// Prints a line that stays, above the bar.
  void line(const std::string& text);
  /// The same where no bar shows how far the work is.
  void line_without_bar(const std::string& text);
  /// Erases the bar.
  void finish();

 private:
  void draw();
  void erase();

  bool quiet_;
  ProgressOutput output_;
  bool active_ = false, drawn_ = false;
  std::string label_, status_;
  std::size_t total_ = 0, done_ = 0, done_before_ = 0;
  double started_ = 0, last_draw_ = 0;
};

}  // namespace fcam::apps
