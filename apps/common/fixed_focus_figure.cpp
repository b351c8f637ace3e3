#include "common/fixed_focus_figure.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <locale>
#include <set>
#include <sstream>

#include "common/plot_range.h"
#include "fcam/base/text.h"

namespace fcam::apps {
namespace {

// Pixels.
constexpr double side = 270, panel_height = 250, gap = 30;
constexpr double left_margin = 72, right_margin = 112, top_margin = 36, bottom_margin = 52;

struct Curve {
  SeriesKey key;
  std::string block;  // name of its data
};

struct Figure {
  std::vector<std::size_t> losses;  // one panel each
  std::vector<double> alphas;       // one colour each
  std::vector<Curve> curves;
  PlotRange range;
  double last_epoch = 0;

  double width() const { return left_margin + static_cast<double>(losses.size()) * (side + gap) - gap + right_margin; }
  static double height() { return top_margin + panel_height + bottom_margin; }
};

// From light to dark: the order shows without colours, too.
std::string colour(std::size_t index, std::size_t count) {
  constexpr std::array<std::array<double, 3>, 5> ramp{
      {{0xf0, 0xa8, 0x30}, {0xdc, 0x5f, 0x3c}, {0xa8, 0x2d, 0x62}, {0x64, 0x28, 0x82}, {0x1a, 0x24, 0x5c}}};
  const double place = count < 2 ? 4 : 4 * static_cast<double>(index) / static_cast<double>(count - 1);
  const auto below = std::min<std::size_t>(static_cast<std::size_t>(place), ramp.size() - 2);
  const double share = place - static_cast<double>(below);
  constexpr char digits[] = "0123456789abcdef";
  std::string text = "#";
  for (std::size_t c = 0; c < 3; ++c) {
    const auto value = static_cast<unsigned>(std::lround((1 - share) * ramp[below][c] + share * ramp[below + 1][c]));
    text += {digits[value / 16], digits[value % 16]};
  }
  return text;
}

// Columns: epoch, the quantity, and for the incentive what the derivative predicts.
Figure write_data(std::ostream& out, const SeriesMap& all, FixedFocusQuantity quantity, double step) {
  Figure figure;
  std::set<std::size_t> losses;
  std::set<double> alphas;
  std::vector<double> values;
  for (const auto& [key, series] : all) {
    losses.insert(key.first);
    alphas.insert(key.second);
    figure.curves.push_back({key, "$series" + std::to_string(figure.curves.size())});
    figure.last_epoch = std::max(figure.last_epoch, static_cast<double>(series.size() - 1));
    out << figure.curves.back().block << " << END\n";
    for (std::size_t epoch = 0; epoch < series.size(); ++epoch) {
      const FixedFocus& at = series[epoch];
      const double value = quantity == FixedFocusQuantity::loss ? at.loss : at.difference;
      const double predicted = quantity == FixedFocusQuantity::loss ? value : step * at.derivative;
      values.push_back(value);
      if (quantity == FixedFocusQuantity::incentive) values.push_back(predicted);
      out << epoch << ' ' << shortest(value) << ' ' << shortest(predicted) << '\n';
    }
    out << "END\n";
  }
  figure.range = range_without_outliers(std::move(values));
  figure.losses.assign(losses.begin(), losses.end());
  figure.alphas.assign(alphas.begin(), alphas.end());
  return figure;
}

void write_panel(std::ostream& out, const Figure& figure, std::size_t panel, FixedFocusQuantity quantity) {
  const double left = (left_margin + static_cast<double>(panel) * (side + gap)) / figure.width();
  out << "set lmargin at screen " << left << "\nset rmargin at screen " << left + side / figure.width() << '\n'
      << "set title " << gnuplot_text(paper_losses()[figure.losses[panel]].title) << '\n'
      << "set format y " << (panel == 0 ? "'%g'" : "''") << '\n';
  if (panel == 1) out << "unset ylabel\n";
  if (panel + 1 == figure.losses.size()) {
    out << "set key at screen " << 1 - 12 / figure.width() << ", screen " << 1 - top_margin / Figure::height()
        << " top right vertical Right samplen 1.5 title 'focus {/:Italic α}'\n";
  }
  std::string separator = "plot ";
  for (std::size_t i = 0; i < figure.alphas.size(); ++i) {
    const std::string style = " lc rgb '" + colour(i, figure.alphas.size()) + "'";
    for (const Curve& curve : figure.curves) {
      if (curve.key != SeriesKey{figure.losses[panel], figure.alphas[i]}) continue;
      out << separator << curve.block << " using 1:2 with lines lw 1.6" << style << " notitle";
      separator = ", ";
      if (quantity == FixedFocusQuantity::incentive) {
        out << separator << curve.block << " using 1:3 with lines lw 1.1 dt (4,4)" << style << " notitle";
      }
    }
    // The key stands beside the last panel and has all colours, whichever series it has.
    if (panel + 1 == figure.losses.size()) {
      out << separator << "NaN with lines lw 2.5" << style << " title '" << shortest(figure.alphas[i]) << "'";
      separator = ", ";
    }
  }
  out << '\n';
}

}  // namespace

PlotResult draw_fixed_focus(const SeriesMap& all, FixedFocusQuantity quantity, double step,
                            const std::string& output_path) {
  assert(!all.empty());
  std::ostringstream out;
  out.imbue(std::locale::classic());
  const Figure figure = write_data(out, all, quantity, step);
  const auto [low, high, beyond] = figure.range;
  const double room = std::max(0.04 * (high - low), high > low ? 0 : 0.5);
  out << "set termoption enhanced\n"
         "set border 3 lw 0.6 lc rgb '#404040'\n"
         "set tics out nomirror scale 0.6\n"
         "set grid lw 0.4 lc rgb '#dddddd'\n"
      << "set xrange [0:" << figure.last_epoch << "]\nset yrange [" << low - (low < 0 ? room : 0) << ':' << high + room
      << "]\n"
      << "set xlabel 'epoch' offset 0, 0.3\n"
      << (quantity == FixedFocusQuantity::loss
              ? "set ylabel 'training loss' offset 0.5, 0\n"
              : "set ylabel 'incentive {/:Italic L}({/:Italic α}) - {/:Italic L}({/:Italic α} + " + shortest(step) +
                    ")' offset 0.5, 0\n")
      << "set tmargin at screen " << 1 - top_margin / Figure::height() << "\nset bmargin at screen "
      << bottom_margin / Figure::height() << '\n'
      << "unset key\n"
      << "set multiplot\n";
  if (quantity == FixedFocusQuantity::incentive) {
    out << "set label 1 \"dashed:\\n"
        << shortest(step) << " × (-d{/:Italic L}/d{/:Italic α})\" at screen " << 1 - 12 / figure.width() << ", screen "
        << (bottom_margin + 24) / Figure::height() << " right font ',10'\n";
  }
  if (beyond > 0) {
    out << "set label 2 \"beyond the\\naxis: " << beyond << "\" at screen " << 1 - 12 / figure.width() << ", screen "
        << (bottom_margin + 64) / Figure::height() << " right font ',10'\n";
  }
  for (std::size_t panel = 0; panel < figure.losses.size(); ++panel) {
    write_panel(out, figure, panel, quantity);
    if (panel == 0) out << "unset label\n";
  }
  out << "unset multiplot\n";
  return run_gnuplot(out.str(), output_path,
                     {static_cast<std::size_t>(figure.width()), static_cast<std::size_t>(Figure::height())});
}

}  // namespace fcam::apps
