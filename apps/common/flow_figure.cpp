#include "common/flow_figure.h"

#include <locale>
#include <sstream>

#include "fcam/base/text.h"

namespace fcam::apps {
namespace {

// Colours that can be told apart without seeing red or green, and in grey.
struct Look {
  const char *colour, *title;
};

Look look_of(Loss loss) {
  switch (loss) {
    case Loss::soft:
      return {"#0072b2", "soft attention (SA)"};
    case Loss::hard:
      return {"#d55e00", "hard attention (HA)"};
    case Loss::marginal:
      break;
  }
  return {"#1b9e4b", "marginal likelihood (LV)"};
}

// Columns: t, mu, nu, value.
void write_data(std::ostream& out, const FlowCurve& curve, bool log_time) {
  out << "$" << to_string(curve.loss) << " << END\n";
  for (const FlowSample& s : curve.path) {
    if (log_time && s.t == 0) continue;
    out << shortest(s.t) << ' ' << shortest(s.mu) << ' ' << shortest(s.nu) << ' ' << shortest(s.value) << '\n';
  }
  out << "END\n";
}

void write_panel(std::ostream& out, const std::vector<FlowCurve>& curves, int column, const std::string& label,
                 bool with_key) {
  out << "set ylabel '" << label << "' offset 1, 0\n"
      << (with_key ? "set key top left reverse Left samplen 2\n" : "unset key\n");
  std::string separator = "plot ";
  for (const FlowCurve& curve : curves) {
    const Look look = look_of(curve.loss);
    out << separator << '$' << to_string(curve.loss) << " using 1:" << column << " with lines lw 1.8 lc rgb '"
        << look.colour << "' title '" << look.title << "'";
    separator = ", ";
  }
  out << '\n';
}

}  // namespace

PlotResult draw_flow(const std::vector<FlowCurve>& curves, bool fixed_focus, bool log_time, const std::string& title,
                     const std::string& output_path) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  for (const FlowCurve& curve : curves) write_data(out, curve, log_time);
  out << "set termoption enhanced\n"
         "set border 3 lw 0.6 lc rgb '#404040'\n"
         "set tics out nomirror scale 0.6\n"
         "set grid lw 0.4 lc rgb '#dddddd'\n"
         "set autoscale xfix\n"
         "set xlabel 'time {/:Italic t}'\n"
      << (log_time ? "set logscale x\nset format x '10^{%L}'\n" : "set format x '%.6g'\n")
      << "set multiplot layout 1,2 margins screen 0.07,0.97,0.15,0.88 spacing screen 0.09 title " << gnuplot_text(title)
      << " font ',14' noenhanced\n";
  write_panel(out, curves, 2, "logit gap {/:Italic μ}", true);
  write_panel(out, curves, fixed_focus ? 4 : 3, fixed_focus ? "loss" : "focus gap {/:Italic ν}", false);
  out << "unset multiplot\n";
  return run_gnuplot(out.str(), output_path, {960, 400});
}

}  // namespace fcam::apps
