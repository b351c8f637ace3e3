// fcam-mosaic: what a data set holds, and what mosaics drawn from it look like.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "common/contact_sheet.h"
#include "common/model_options.h"
#include "common/output_folder.h"
#include "common/outputs.h"
#include "common/program.h"
#include "fcam/base/error.h"
#include "fcam/base/file.h"
#include "fcam/base/text.h"
#include "fcam/data/npy.h"

namespace {

using namespace fcam;
using namespace fcam::apps;

struct Options {
  CommonOptions common;
  DataOptions data;
  std::string split = "train", png, csv, npy;
  std::size_t show = 0;
};

std::string value_range(const Images& images) {
  const std::size_t size = images.count() * element_count(images.shape());
  if (images.has_bytes()) {
    const auto [low, high] = std::minmax_element(images.bytes(0), images.bytes(0) + size);
    return "bytes from " + std::to_string(*low) + " to " + std::to_string(*high);
  }
  const auto [low, high] = std::minmax_element(images.values(0), images.values(0) + size);
  return "numbers from " + shortest(static_cast<double>(*low)) + " to " + shortest(static_cast<double>(*high));
}

std::string class_balance(const std::vector<std::string>& names, const std::vector<std::size_t>& counts) {
  std::size_t sum = 0;
  for (const std::size_t count : counts) sum += count;
  std::string text;
  for (std::size_t c = 0; c < names.size(); ++c) {
    const double share = 100 * static_cast<double>(counts[c]) / static_cast<double>(sum);
    text += "  class " + std::to_string(c) + " " + quote(names[c]) + ": " + std::to_string(counts[c]) + " (" +
            fixed(share, 1) + " %)\n";
  }
  return text;
}

std::string describe(const Images& images) {
  std::vector<std::size_t> counts(images.class_names().size());
  for (const int label : images.labels()) ++counts[static_cast<std::size_t>(label)];
  return std::to_string(images.count()) + " items of " + to_string(images.shape()) + ", " + value_range(images) +
         ", content hash " + hexadecimal(content_hash(images)) + "\n" + class_balance(images.class_names(), counts);
}

std::string describe(const Mosaics& bags) {
  std::vector<std::size_t> counts(bags.classes());
  Mosaic bag;
  for (std::size_t i = 0; i < bags.count(); ++i) {
    bags.draw(i, bag);
    ++counts[static_cast<std::size_t>(bag.label)];
  }
  return std::to_string(bags.count()) + " bags of " + std::to_string(bags.patches()) + " patches of " +
         to_string(bags.shape()) + ", positions " + (bags.knows_positions() ? "known" : "not known") + ", " +
         value_range(bags.images()) + ", content hash " + hexadecimal(content_hash(bags)) + "\n" +
         class_balance(bags.class_names(), counts);
}

std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + quote(name);
  return text;
}

std::string describe(const BayesRisk& risk) {
  const auto numbers = [](double loss, double error) {
    return fixed(loss, 4) + " nats, " + fixed(100 * error, 2) + " % errors";
  };
  return "Bayes risk given the patches: " + numbers(risk.loss, risk.error) +
         "; with the labels as drawn: " + numbers(risk.drawn_loss, risk.drawn_error) + "\n";
}

// One row a mosaic: base images by their index in the data set.
void write_csv(const std::string& path, const Mosaics& mosaics, const StopSignals& signals) {
  AtomicFile file(path);
  std::string text = "index,label,z,foreground";
  for (std::size_t j = 1; j < mosaics.patches(); ++j) text += ",background_" + std::to_string(j);
  file.write(text + "\n");
  Mosaic mosaic;
  for (std::size_t i = 0; i < mosaics.count(); ++i) {
    signals.check();
    mosaics.draw(i, mosaic);
    const auto z = static_cast<std::size_t>(mosaic.z);
    text = std::to_string(i) + "," + std::to_string(mosaic.label) + "," + std::to_string(mosaic.z) + "," +
           std::to_string(mosaic.images[z]);
    for (std::size_t j = 0; j < mosaic.images.size(); ++j) {
      if (j != z) text += "," + std::to_string(mosaic.images[j]);
    }
    file.write(text + "\n");
  }
  file.commit();
}

// Both splits, so that the folder is a data set.
void write_npy_folder(const std::string& folder, const Mosaics& train, const Mosaics& test,
                      const StopSignals& signals) {
  make_folder(folder);
  write_npy_bags(folder, train, test, [&] { signals.check(); });
}

void show(const Mosaics& mosaics, std::size_t count) {
  Mosaic mosaic;
  for (std::size_t i = 0; i < std::min(count, mosaics.count()); ++i) {
    mosaics.draw(i, mosaic);
    std::cout << "mosaic " << i << ": label " << quote(mosaics.class_names()[static_cast<std::size_t>(mosaic.label)])
              << ", ";
    std::cout << (mosaic.z < 0 ? "position not known" : "position " + std::to_string(mosaic.z)) << ", items";
    for (std::size_t j = 0; j < mosaic.images.size(); ++j) {
      const bool foreground = static_cast<int>(j) == mosaic.z;
      std::cout << " " << (foreground ? "[" : "") << mosaic.images[j] << (foreground ? "]" : "");
    }
    std::cout << "\n";
  }
}

void check_paths(const Options& options) {
  const std::string& png = options.png;
  if (!png.empty() && !lower_case(png).ends_with(".png")) {
    throw UsageError("png: expected a name that ends in .png, found " + quote(png));
  }
  std::error_code ignored;
  const std::size_t colon = options.data.data.find(':');
  if (colon != std::string::npos &&
      std::filesystem::equivalent(options.npy, options.data.data.substr(colon + 1), ignored)) {
    throw UsageError("npy: expected another folder than that of --data, found " + quote(options.npy));
  }
  std::vector<std::pair<std::string, std::string>> outputs{{"csv", options.csv}, {"png", options.png}};
  if (is_there(options.npy)) {
    for (const char* name : npy_export_files) outputs.emplace_back("npy", options.npy + "/" + name);
  }
  check_outputs(outputs, data_files(options.data));
}

int look(Options& options, const CommandLine& line) {
  check_paths(options);
  std::string text;
  const auto load = [&](Split split) {
    DataSet data = load_data(options.data, options.common.seed, split);
    text += options.data.data + ", " + to_string(split) + (data.held_out ? " part of one set: " : ": ") +
            (data.bags ? describe(*data.bags) : describe(*data.images));
    return make_mosaics(std::move(data), options.data, line, options.common.seed, split);
  };
  const Mosaics train = load(Split::train), test = load(Split::test);
  require_alike(options.data, train, test);
  const Mosaics& mosaics = options.split == "train" ? train : test;
  if (!options.csv.empty() && !mosaics.knows_positions()) {
    throw UsageError("csv: expected data with known positions, found none");
  }
  const std::size_t on_sheet = options.show > 0 ? options.show : 20;
  if (!options.png.empty()) check_contact_sheet(mosaics, on_sheet);
  if (!options.npy.empty()) check_npy_export(options.npy, train, test);
  std::cout << text << mosaics.count() << " " << options.split << " mosaics of " << mosaics.patches()
            << " patches, classes " << join(mosaics.class_names());
  if (!mosaics.ready_made()) {
    std::cout << ", drawn from " << mosaics.foreground_images() << " foreground and " << mosaics.background_images()
              << " background items";
  }
  std::cout << "\n";
  if (options.data.kind() == "teacher") {
    std::cout << describe(bayes_risk(make_teacher(options.data, options.common.seed), mosaics));
  }
  show(mosaics, options.show);
  std::cout << std::flush;  // files may be standard output, too
  const StopSignals signals;
  if (!options.csv.empty()) write_csv(options.csv, mosaics, signals);
  if (!options.npy.empty()) write_npy_folder(options.npy, train, test, signals);
  signals.check();
  if (!options.png.empty()) write_png(options.png, contact_sheet(mosaics, on_sheet));
  return exit_done;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program("fcam-mosaic", [&] {
    CommandLine line("fcam-mosaic", "Says what a data set holds and shows mosaics drawn from it.");
    Options options;
    line.group("Mosaics");
    line.choice("split", options.split, {"train", "test"}, "which mosaics to show, and to write with --png and --csv");
    line.count("show", options.show, 0, 1'000'000, "print the first N mosaics");
    line.text("png", options.png, "contact sheet of the first N (or 20) mosaics, the foreground framed", "FILE.png");
    line.output("csv", options.csv, "all mosaics: index, label, z and the items they are made of");
    line.text("npy", options.npy, "training and test mosaics as npy files, which --data npy:DIR reads back", "DIR");
    declare(line, options.data);
    declare(line, options.common);
    line.examples(
        "  fcam-mosaic --data fashion-mnist --png sheet.png\n"
        "  fcam-mosaic --data shapes --patches 9 --show 3\n"
        "  fcam-mosaic --data folder:photos --resize 32 --foreground cat,dog --npy bags\n");
    if (line.parse(argc, argv) == CommandLine::Outcome::done) return static_cast<int>(exit_done);
    return look(options, line);
  });
}
