#include "common/heat_map_figure.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <locale>
#include <sstream>

#include "fcam/base/text.h"

namespace fcam::apps {
namespace {

// Lightness (CIELAB) falls in a straight line from 98 to 20.
constexpr char palette[] =
    "set palette defined (0 '#f4faff', 1 '#bce3ff', 2 '#88c9fb', 3 '#5faeee', 4 '#4093da', 5 '#3378be', 6 '#325d9b', "
    "7 '#324573', 8 '#2b2e4a')\n";
constexpr double light_text_from = 55;  // percent

// Pixels.
constexpr double side = 250, gap = 22, row_gap = 34;
constexpr double left_margin = 64, right_margin = 84, bottom_margin = 54;
constexpr double title_size = 14, subtitle_size = 11.5, text_size = 12;
constexpr std::size_t most_columns = 5;
constexpr double letter_width = 0.6;  // of the font size, on the wide side

// Places on a page, in pixels from the top left, as gnuplot wants them: fractions from the bottom left.
struct Layout {
  std::size_t columns, rows;
  double title_height;
  double width, height;

  double left(std::size_t panel) const { return left_margin + static_cast<double>(panel % columns) * (side + gap); }
  double top(std::size_t panel) const {
    return title_height + static_cast<double>(panel / columns) * (side + title_height + row_gap);
  }
  double x(double pixels) const { return pixels / width; }
  double y(double pixels) const { return 1 - pixels / height; }
};

Layout arrange(const std::vector<HeatMapPanel>& panels) {
  const auto has_subtitle = [](const HeatMapPanel& panel) { return !panel.subtitle.empty(); };
  const bool subtitles = std::any_of(panels.begin(), panels.end(), has_subtitle);
  Layout layout{};
  const std::size_t count = panels.size();
  layout.rows = (count + most_columns - 1) / most_columns;
  layout.columns = (count + layout.rows - 1) / layout.rows;
  layout.title_height = subtitles ? 52 : 34;
  const auto columns = static_cast<double>(layout.columns), rows = static_cast<double>(layout.rows);
  layout.width = left_margin + columns * (side + gap) - gap + right_margin;
  layout.height = rows * (side + layout.title_height + row_gap) - row_gap + bottom_margin;
  return layout;
}

// A line over a panel: a smaller font where it is long, without its start where that is not enough.
void write_line(std::ostream& out, const Layout& layout, std::size_t panel, double above, std::string text,
                double size) {
  const double room = side + gap - 8;
  const auto fits = [&](double font) { return static_cast<std::size_t>(room / (letter_width * font)); };
  // Bytes stand for letters: never fewer than letters are wide.
  while (size > 8 && text.size() > fits(size)) size -= 0.5;
  if (text.size() > fits(size)) {
    std::size_t start = text.size() - fits(size) + 1;
    while (start < text.size() && (static_cast<unsigned char>(text[start]) & 0xc0) == 0x80) ++start;
    text = "…" + text.substr(start);
  }
  out << "set label " << gnuplot_text(text) << " at screen " << layout.x(layout.left(panel) + side / 2) << ", screen "
      << layout.y(layout.top(panel) - above) << " center noenhanced font '," << size << "'\n";
}

void write_labels(std::ostream& out, const std::vector<HeatMapPanel>& panels, const Layout& layout) {
  for (std::size_t p = 0; p < panels.size(); ++p) {
    write_line(out, layout, p, layout.title_height - 18, panels[p].title, title_size);
    write_line(out, layout, p, 14, panels[p].subtitle, subtitle_size);
  }
  const double center_x = (left_margin + layout.width - right_margin) / 2;
  const double center_y = (layout.title_height + layout.height - bottom_margin) / 2;
  out << "set label 'focus score of the true foreground ({/:Italic a_z})' at screen " << layout.x(center_x)
      << ", screen " << layout.y(layout.height - 16) << " center\n"
      << "set label 'score of the true class ({/:Italic s_y})' at screen " << layout.x(16) << ", screen "
      << layout.y(center_y) << " center rotate by 90\n"
      << "set label 'mosaics (%)' at screen " << layout.x(layout.width - 14) << ", screen " << layout.y(center_y)
      << " center rotate by 90\n";
}

// Columns: centre x, centre y, percent, the text in the cell.
void write_cells(std::ostream& out, std::size_t panel, const HeatMap& map) {
  const auto bins = static_cast<double>(map.bins());
  out << "$panel" << panel << " << END\n";
  for (std::size_t r = 0; r < map.bins(); ++r) {
    for (std::size_t c = 0; c < map.bins(); ++c) {
      const double percent = 100 * map.at(r, c);
      out << (static_cast<double>(c) + 0.5) / bins << ' ' << (static_cast<double>(r) + 0.5) / bins << ' ' << percent
          << ' ' << (percent == 0 ? "0" : fixed(percent, 1)) << '\n';
    }
  }
  out << "END\n";
}

void write_panel(std::ostream& out, std::size_t panel, const HeatMap& map, const Layout& layout) {
  const double cell = side / static_cast<double>(map.bins());
  const double number_size = std::min(text_size, cell / 2.9);  // four letters and some air
  const double half = 0.5 / static_cast<double>(map.bins());
  const double left = layout.left(panel), top = layout.top(panel);
  out << "set lmargin at screen " << layout.x(left) << "\nset rmargin at screen " << layout.x(left + side)
      << "\nset tmargin at screen " << layout.y(top) << "\nset bmargin at screen " << layout.y(top + side) << '\n'
      << "set format y " << (panel % layout.columns == 0 ? "'%g'" : "''") << '\n'
      << "plot $panel" << panel << " using 1:2:(" << half << "):(" << half << "):3 with boxxyerror lc palette";
  if (number_size >= 5) {
    out << ", '' using 1:2:4:($3 < " << light_text_from << " ? 0x1a1a1a : 0xffffff) with labels font '," << number_size
        << "' tc rgb variable";
  }
  out << '\n';
}

}  // namespace

PlotResult draw_heat_maps(const std::vector<HeatMapPanel>& panels, const std::string& output_path) {
  assert(!panels.empty());
  const Layout layout = arrange(panels);
  std::ostringstream out;
  out.imbue(std::locale::classic());
  for (std::size_t p = 0; p < panels.size(); ++p) write_cells(out, p, panels[p].map);
  out << palette
      << "set termoption enhanced\n"
         "unset key\n"
         "set xrange [0:1]\nset yrange [0:1]\nset cbrange [0:100]\n"
         "set tics scale 0.6\n"
         "set format x '%g'\nset format cb '%g'\n"
         "set xtics 0, 0.2, 1 out nomirror offset 0, 0.3\n"
         "set ytics 0, 0.2, 1 out nomirror offset 0.5, 0\n"
         "set cbtics 0, 20, 100 out nomirror offset -0.5, 0\n"
         "set border 15 lw 0.6 lc rgb '#404040'\n"
         "set style fill solid 1 border rgb 'white'\n"
      << "set colorbox vertical user origin screen " << layout.x(layout.width - right_margin + 18) << ", screen "
      << layout.y(layout.height - bottom_margin) << " size screen " << layout.x(12) << ", screen "
      << 1 - layout.y(layout.height - bottom_margin - layout.title_height) << '\n'
      << "set multiplot\n";
  write_labels(out, panels, layout);
  for (std::size_t p = 0; p < panels.size(); ++p) {
    write_panel(out, p, panels[p].map, layout);
    if (p == 0) out << "unset label\nunset colorbox\n";
  }
  out << "unset multiplot\n";
  return run_gnuplot(out.str(), output_path,
                     {static_cast<std::size_t>(layout.width), static_cast<std::size_t>(layout.height)});
}

}  // namespace fcam::apps
