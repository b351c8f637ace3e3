// fcam-bench: how long a training step takes, layer by layer, against the matrix products that this machine can do.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iostream>
#include <numeric>

#include "common/metrics_json.h"
#include "common/model_options.h"
#include "common/outputs.h"
#include "common/program.h"
#include "common/progress.h"
#include "fcam/attention/losses.h"
#include "fcam/base/blas.h"
#include "fcam/base/error.h"
#include "fcam/base/file.h"
#include "fcam/base/random.h"
#include "fcam/base/text.h"
#include "fcam/training/trainer.h"

namespace {

using namespace fcam;
using namespace fcam::apps;
using Clock = std::chrono::steady_clock;

constexpr std::size_t classes = 3, warm_up_steps = 2;

struct Options {
  CommonOptions common;
  NetworkOptions networks;
  std::vector<std::string> losses;
  std::string shape = "3x32x32", json;
  std::size_t patches = 5, batch = 256, steps = 10;
};

// One step of a loss: its median time, and its parts, which add up to it.
struct StepReport {
  std::string loss;
  double seconds, flops;
  std::vector<ProfilePart> parts;
};

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double gflops(double flops, double seconds) { return flops / seconds / 1e9; }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

Shape parse_shape(const std::string& text) {
  std::string list = text;
  std::replace(list.begin(), list.end(), 'x', ',');
  Shape shape;
  for (const std::string& part : split_list(list)) {
    std::uint64_t size = 0;
    if (parse_count(part, size) && size >= 1 && size <= 65536) shape.push_back(size);
  }
  if ((shape.size() != 1 && shape.size() != 3) || to_string(shape) != text) {
    throw UsageError("shape: expected channels x height x width such as 3x32x32, or one dimension, found " +
                     quote(text));
  }
  return shape;
}

// Those that a step can be made of.
const std::vector<NamedLoss>& step_losses() {
  static const std::vector<NamedLoss> losses = [] {
    std::vector<NamedLoss> all = named_losses();
    std::erase_if(all, [](const NamedLoss& loss) { return loss.name == "hybrid"; });
    return all;
  }();
  return losses;
}

// Mosaics of random bytes.
Mosaics random_mosaics(const Options& options, const Shape& shape) {
  const std::size_t size = element_count(shape), count = std::clamp<std::size_t>((1U << 26) / size, 4, 1000);
  std::vector<std::uint8_t> pixels(count * size);
  Random random(options.common.seed, "bench");
  for (auto& pixel : pixels) pixel = static_cast<std::uint8_t>(random.below(256));
  std::vector<int> labels(count);
  for (std::size_t i = 0; i < count; ++i) labels[i] = static_cast<int>(i % (classes + 1));
  return Mosaics(Images(shape, std::move(pixels), std::move(labels), {"a", "b", "c", "background"}),
                 {.patches = options.patches,
                  .count = options.batch * (options.steps + warm_up_steps),
                  .seed = options.common.seed});
}

// What single-precision matrix products reach here, one of them a thread at a time; the best of several rounds.
double sgemm_peak(std::size_t threads) {
  constexpr std::size_t side = 1024, rounds = 20;
  struct Matrices {
    Buffer<float> a = Buffer<float>(side * side, 1.0F), b = a, c = a;
  };
  std::vector<Matrices> matrices(threads);
  Workers workers(static_cast<int>(threads));
  const SingleThreadedBlas single;
  double best = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    const auto start = Clock::now();
    workers.run(threads, [&](std::size_t task, int) {
      Matrices& m = matrices[task];
      gemm<float>(matrix<const float>(m.a.data(), side, side), matrix<const float>(m.b.data(), side, side),
                  matrix(m.c.data(), side, side));
    });
    best = std::max(best, gflops(2.0 * side * side * side * static_cast<double>(threads), seconds_since(start)));
  }
  return best;
}

// The medians of the parts of several steps, scaled to add up to the median of the whole steps.
StepReport summarize(const std::string& loss, const std::vector<Profile>& steps) {
  const auto total = [](const Profile& step) {
    return std::accumulate(step.parts().begin(), step.parts().end(), 0.0,
                           [](double sum, const ProfilePart& part) { return sum + part.seconds; });
  };
  const auto median_of = [&](auto&& measure) {
    std::vector<double> values;
    for (const Profile& step : steps) values.push_back(measure(step));
    return median(values);
  };
  StepReport report{.loss = loss, .seconds = median_of(total), .flops = 0, .parts = steps.front().parts()};
  double sum = 0;
  for (std::size_t i = 0; i < report.parts.size(); ++i) {
    report.parts[i].seconds = median_of([i](const Profile& step) { return step.parts()[i].seconds; });
    report.flops += report.parts[i].flops;
    sum += report.parts[i].seconds;
  }
  for (ProfilePart& part : report.parts) part.seconds *= report.seconds / sum;
  return report;
}

StepReport measure(const NamedLoss& loss, const Options& options, const Mosaics& mosaics, Model<float> model) {
  Trainer<float> trainer(model, loss_function<float>(loss),
                         {.batch = options.batch,
                          .learning_rate = loss.learning_rate,
                          .inference = loss.step_inference,
                          .threads = static_cast<int>(options.common.threads)});
  Profile profile;
  trainer.set_profile(&profile);
  std::vector<Profile> steps;
  std::vector<std::size_t> indices(options.batch);
  Progress progress(options.common.quiet);
  progress.start(loss.name, options.steps + warm_up_steps);
  for (std::size_t step = 0; step < options.steps + warm_up_steps; ++step) {
    std::iota(indices.begin(), indices.end(), step * options.batch);
    profile.clear();
    const auto start = Clock::now();
    const double value = trainer.step(mosaics, indices);
    const double seconds = seconds_since(start);
    if (!std::isfinite(value)) throw DivergedError(loss.name + ": expected a finite loss, found " + shortest(value));
    double known = 0;
    for (const ProfilePart& part : profile.parts()) known += part.seconds;
    profile.add("other", "", seconds - known, 0);
    if (step >= warm_up_steps) steps.push_back(profile);
    progress.advance(step + 1, fixed(seconds, 3) + " s");
  }
  return summarize(loss.name, steps);
}

std::string kernels_name() { return conv_kernels() != nullptr ? conv_kernels()->isa : "general"; }

// The largest memory that the process has had, as the kernel writes it; empty where it does not.
std::string peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("VmHWM:")) continue;
    return fixed(std::stod(line.substr(6)) / 1024, 0) + " MiB";
  }
  return "";
}

std::string left(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, text.size()), ' ');
}
std::string right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

void print(const StepReport& report, double peak) {
  const auto row = [&](const std::string& name, const std::string& pass, double seconds, double flops) {
    std::cout << left(name, 18) << left(pass, 9) << right(fixed(1e3 * seconds, 3), 11)
              << right(fixed(100 * seconds / report.seconds, 1), 9);
    if (flops > 0) {
      const double rate = gflops(flops, seconds);
      std::cout << right(fixed(rate, 1), 10) << right(fixed(100 * rate / peak, 0), 11);
    }
    std::cout << "\n";
  };
  std::cout << "\n"
            << left(report.loss, 18) << left("pass", 9) << right("ms", 11) << right("% of step", 10)
            << right("GFLOP/s", 9) << right("% of peak", 11) << "\n";
  for (const ProfilePart& part : report.parts) row(part.name, part.pass, part.seconds, part.flops);
  row("step", "", report.seconds, report.flops);
}

nlohmann::ordered_json to_json(const StepReport& report) {
  auto layers = nlohmann::ordered_json::array();
  for (const ProfilePart& part : report.parts) {
    layers.push_back({{"name", part.name},
                      {"pass", part.pass},
                      {"seconds", part.seconds},
                      {"gflops", gflops(part.flops, part.seconds)}});
  }
  return {{"seconds", report.seconds}, {"gflops", gflops(report.flops, report.seconds)}, {"layers", layers}};
}

int bench(Options& options) {
  std::vector<const NamedLoss*> losses;
  for (const std::string& name : options.losses) {
    losses.push_back(&find_loss(name, step_losses()));
    if (std::count(losses.begin(), losses.end(), losses.back()) > 1) {
      throw UsageError("loss: expected different losses, found " + quote(name) + " twice");
    }
  }
  check_outputs({{"json", options.json}});
  const Shape shape = parse_shape(options.shape);
  choose_networks(options.networks, shape);
  const Model<float> model(
      shape, classes,
      {.focus = options.networks.focus, .classify = options.networks.classify, .seed = options.common.seed});
  const Mosaics mosaics = random_mosaics(options, shape);
  double peak = 0;
  std::vector<StepReport> reports;
  nlohmann::ordered_json steps;
  for (const NamedLoss* loss : losses) {  // a peak between steps, so that one disturbance does not spoil it
    peak = std::max(peak, sgemm_peak(options.common.threads));
    reports.push_back(measure(*loss, options, mosaics, model));
    steps[loss->name] = to_json(reports.back());
  }
  if (!options.json.empty()) {
    write_atomically(
        options.json,
        json_text(
            {{"threads", options.common.threads}, {"isa", kernels_name()}, {"peak_gflops", peak}, {"steps", steps}}));
  }
  std::cout << options.batch << " mosaics of " << options.patches << " patches " << options.shape << ", " << classes
            << " classes; focus " << quote(options.networks.focus) << ", classify " << quote(options.networks.classify)
            << "\nthreads: " << options.common.threads << "\nconvolution kernels: " << kernels_name()
            << "\nsgemm peak: " << fixed(peak, 1) << " GFLOP/s\nmedian of " << options.steps << " steps\n";
  for (const StepReport& report : reports) print(report, peak);
  if (const std::string memory = peak_memory(); !memory.empty()) std::cout << "\npeak memory: " << memory << "\n";
  return exit_done;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program("fcam-bench", [&] {
    CommandLine line(
        "fcam-bench",
        "Times one training step of each loss, layer by layer, on mosaics of random bytes, and says how much "
        "of this machine's matrix product speed (sgemm) that is.");
    Options options;
    for (const NamedLoss& loss : paper_losses()) options.losses.push_back(loss.name);
    line.group("Step");
    std::string known;
    for (const NamedLoss& loss : step_losses()) known += (known.empty() ? "" : ", ") + loss.name;
    line.list("loss", options.losses, "losses to time, of " + known + " (default: sa, ha, lv)");
    line.text("shape", options.shape, "patches: channels x height x width, or one dimension", "CxHxW");
    line.count("patches", options.patches, 1, 1'000'000, "patches m of a mosaic");
    line.count("batch", options.batch, 1, 1'000'000, "mosaics a step");
    line.count("steps", options.steps, 1, 1'000'000, "steps to take the median of, after two that do not count");
    line.output("json", options.json, "the same figures as JSON");
    declare(line, options.networks);
    declare(line, options.common);
    line.examples(
        "  fcam-bench\n"
        "  fcam-bench --loss lv --patches 50 --batch 32 --json bench.json\n");
    if (line.parse(argc, argv) == CommandLine::Outcome::done) return static_cast<int>(exit_done);
    return bench(options);
  });
}
