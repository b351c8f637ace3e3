// fcam-flow: gradient flow of the three losses in the linear orthogonal setting.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <locale>
#include <optional>
#include <sstream>

#include "common/flow_figure.h"
#include "common/outputs.h"
#include "common/program.h"
#include "common/progress.h"
#include "fcam/analysis/linear_population.h"
#include "fcam/base/error.h"
#include "fcam/base/file.h"
#include "fcam/base/text.h"
#include "fcam/dynamics/integrate.h"

namespace {

using namespace fcam;
using namespace fcam::apps;

struct Options {
  CommonOptions common;
  std::vector<std::string> losses{"sa", "ha", "lv"};
  std::size_t patches = 20, classes = 20, points = 200, max_steps = IntegrateOptions{}.max_steps;
  double time = 1000, mu = 0, nu = 0, rtol = IntegrateOptions{}.rtol;
  double alpha = std::nan(""), dt = std::nan("");  // NaN: not given
  bool log_time = false, population = false;
  std::string method = "adaptive", csv, plot;
};

void declare_all(CommandLine& line, Options& options) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr auto unbounded = std::numeric_limits<std::size_t>::max();
  line.group("Flow");
  line.list("loss", options.losses, "losses to follow (default: sa,ha,lv)");
  line.count("patches", options.patches, 1, unbounded, "patches m of a mosaic");
  line.count("classes", options.classes, 2, unbounded, "classes C");
  line.number("time", options.time, 0, largest_time, "where the path ends, above 0");
  line.count("points", options.points, 2, 1'000'000, "times to report, from 0 to the end");
  line.flag("log-time", options.log_time, "times at equal ratios, from 1 (or a thousandth of the end) on");
  line.number("alpha", options.alpha, 0, 1, "hold the attention on the foreground fixed (default: it is free)");
  line.number("mu", options.mu, -infinity, infinity, "logit gap at the start");
  line.number("nu", options.nu, -infinity, infinity, "focus gap at the start");
  line.group("Method");
  line.choice("method", options.method, {"adaptive", "euler"}, "Dormand-Prince 5(4), or Euler as the public script");
  line.number("rtol", options.rtol, smallest_rtol, 0.01, "relative error of an adaptive step");
  line.count("max-steps", options.max_steps, 1, unbounded, "adaptive steps that may be tried");
  line.number("dt", options.dt, 0, infinity,
              "step of euler (default: 0.01), or of --population (default: a 5000th of the time)");
  line.flag("population", options.population,
            "also run gradient descent on the exact population loss with linear networks, and compare");
  line.group("Output");
  line.output("csv", options.csv, "table: loss,t,mu,nu,alpha,beta,value");
  line.text("plot", options.plot, "figure of mu and nu against time", "FILE.svg|png|pdf");
  declare(line, options.common);
  line.examples(
      "  fcam-flow --plot flow.svg\n"
      "  fcam-flow --patches 100 --classes 1000 --time 4e5 --log-time --csv flow.csv\n"
      "  fcam-flow --loss lv --alpha 0.4 --method euler --dt 0.01\n");
}

std::vector<Loss> losses_of(const Options& options) {
  std::vector<Loss> losses;
  for (const std::string& name : options.losses) {
    losses.push_back(find_flow_loss(name));
    if (std::count(losses.begin(), losses.end(), losses.back()) > 1) {
      throw UsageError("loss: expected different losses, found " + quote(name) + " twice");
    }
  }
  return losses;
}

void check(const Options& options, const CommandLine& line) {
  if (options.time == 0) throw UsageError("time: expected a number above 0, found 0");
  if (options.dt == 0) throw UsageError("dt: expected a number above 0, found 0");
  if (line.given("dt") && options.method == "adaptive" && !options.population) {
    throw UsageError("dt: expected it with --method euler or --population, found it without");
  }
  for (const char* name : {"rtol", "max-steps"}) {
    if (line.given(name) && options.method == "euler" && !options.population) {
      throw UsageError(std::string(name) + ": expected it with --method adaptive or --population, found it without");
    }
  }
  if (options.population) {
    for (const char* name : {"alpha", "mu", "nu"}) {
      if (line.given(name)) throw UsageError(std::string(name) + ": expected none with --population");
    }
  }
  if (!options.plot.empty()) check_plot_path(options.plot);
}

std::vector<double> times_of(const Options& options) {
  if (!options.log_time) return linear_times(0, options.time, options.points);
  return log_times(std::min(1.0, options.time / 1000), options.time, options.points);
}

Trajectory follow(const Flow& flow, const std::vector<double>& times, const Options& options, Progress& progress) {
  const GapState start{options.mu, options.nu};
  if (options.method == "euler") {
    progress.start(to_string(flow.loss), times.size());
    const auto on_sample = [&](std::size_t samples) { progress.advance(samples, ""); };
    Trajectory path = integrate_euler(
        flow, times,
        {.dt = std::isnan(options.dt) ? EulerOptions{}.dt : options.dt, .start = start, .on_sample = on_sample});
    progress.finish();
    return path;
  }
  return integrate(flow, times, {.rtol = options.rtol, .max_steps = options.max_steps, .start = start});
}

std::string rows(const FlowCurve& curve) {
  std::string text;
  for (const FlowSample& s : curve.path) {
    text += to_string(curve.loss);
    for (const double number : {s.t, s.mu, s.nu, s.alpha, s.beta, s.value}) text += "," + shortest(number);
    text += "\n";
  }
  return text;
}

std::string rounded(double value) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out.precision(6);
  out << value;
  return out.str();
}

std::string end_of(const FlowCurve& curve) {
  const FlowSample& s = curve.path.samples.back();
  return to_string(curve.loss) + ": at time " + rounded(s.t) + " mu " + rounded(s.mu) + ", nu " + rounded(s.nu) +
         ", alpha " + rounded(s.alpha) + ", beta " + rounded(s.beta) + ", loss " + rounded(s.value) + "\n";
}

std::string account_of(const FlowCurve& curve) {
  return to_string(curve.loss) + ": steps " + std::to_string(curve.path.steps) + ", rejected " +
         std::to_string(curve.path.rejected) + ", largest violation of the invariant " + rounded(curve.path.violation) +
         "\n";
}

double largest_gap(const std::vector<DescentPoint>& points, const Trajectory& path) {
  double gap = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const LinearGaps& gaps = points[i].gaps;
    gap = std::max({gap, std::abs(gaps.mu - path[i].mu), std::abs(gaps.nu - path[i].nu)});
  }
  return gap;
}

std::string compare_with_population(const Flow& flow, const Options& options, Progress& progress) {
  constexpr double default_steps = 5000, most_steps = 1e9;
  const double wanted = std::isnan(options.dt) ? default_steps : std::max(1.0, std::ceil(options.time / options.dt));
  if (wanted > most_steps) {
    throw UsageError("dt: expected one that makes at most " + fixed(most_steps, 0) + " steps of --population, found " +
                     shortest(options.dt));
  }
  const auto steps = static_cast<std::size_t>(wanted);
  const double step = options.time / wanted;
  const std::string name = to_string(flow.loss);
  progress.start(name + " population", steps);
  const std::vector<DescentPoint> points =
      descend_population(loss_function<double>(find_loss(name)),
                         {.patches = flow.patches,
                          .classes = flow.classes,
                          .step = step,
                          .steps = steps,
                          .every = std::max<std::size_t>(1, steps / (options.points - 1))},
                         [&](std::size_t done) { progress.advance(done, ""); });
  progress.finish();
  std::vector<double> times;
  double off_shape = 0;
  for (const DescentPoint& point : points) {
    times.push_back(static_cast<double>(point.step) * step);
    off_shape = std::max(off_shape, point.gaps.off_shape);
  }
  const double to_flow = largest_gap(points, integrate(flow, times, {.rtol = options.rtol}));
  const double to_euler = largest_gap(points, integrate_euler(flow, times, {.dt = step}));
  return name + ": gradient descent on the population, " + std::to_string(steps) + " steps of " + rounded(step) +
         ": largest gap to the flow " + rounded(to_flow) + ", to Euler's method with these steps " + rounded(to_euler) +
         ", of the weights to their shape " + rounded(off_shape) + "\n";
}

std::string title_of(const Options& options, bool fixed_focus) {
  std::string title = std::to_string(options.patches) + " patches, " + std::to_string(options.classes) + " classes";
  if (fixed_focus) title += ", focus held at " + rounded(options.alpha);
  return title;
}

int run(const Options& options, const CommandLine& line) {
  const std::vector<Loss> losses = losses_of(options);
  check(options, line);
  check_outputs({{"csv", options.csv}, {"plot", options.plot}});
  const bool fixed_focus = line.given("alpha");
  const std::vector<double> times = times_of(options);
  Progress progress(options.common.quiet);
  std::string csv = "loss,t,mu,nu,alpha,beta,value\n";
  std::vector<FlowCurve> curves;
  std::optional<UnfinishedError> unfinished;
  for (const Loss loss : losses) {
    Flow flow{.loss = loss, .patches = options.patches, .classes = options.classes, .alpha = {}};
    if (fixed_focus) flow.alpha = options.alpha;
    try {
      curves.push_back({loss, follow(flow, times, options, progress)});
    } catch (const UnfinishedError& error) {
      csv += rows({loss, error.path()}) + "# " + error.what() + "\n";
      if (!unfinished) unfinished = error;
      continue;
    }
    csv += rows(curves.back());
    const std::string comparison = options.population ? compare_with_population(flow, options, progress) : "";
    std::cout << end_of(curves.back()) << comparison << account_of(curves.back()) << std::flush;
  }
  if (!options.csv.empty()) write_atomically(options.csv, csv);
  if (unfinished) throw *unfinished;
  if (!options.plot.empty()) {
    const PlotResult result =
        draw_flow(curves, fixed_focus, options.log_time, title_of(options, fixed_focus), options.plot);
    if (!result.drawn) std::cerr << "fcam-flow: " << result.note << "\n";
  }
  return exit_done;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program("fcam-flow", [&] {
    CommandLine line("fcam-flow", "Follows the gradient flow of the three losses in the linear orthogonal setting.");
    Options options;
    declare_all(line, options);
    if (line.parse(argc, argv) == CommandLine::Outcome::done) return static_cast<int>(exit_done);
    return run(options, line);
  });
}
