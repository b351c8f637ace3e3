#include "common/fixed_focus_series.h"

#include <algorithm>
#include <string_view>

#include "common/command_line.h"
#include "common/output_folder.h"
#include "fcam/base/error.h"
#include "fcam/base/file.h"
#include "fcam/base/text.h"
#include "fcam/data/input.h"

namespace fcam::apps {
namespace {

// A file is a header and, after loss, alpha and epoch, these numbers of each row.
struct Layout {
  const char* header;
  std::vector<double FixedFocus::*> numbers;
};

const Layout& loss_layout() {
  static const Layout layout{"loss,alpha,epoch,value", {&FixedFocus::loss}};
  return layout;
}

const Layout& incentive_layout() {
  static const Layout layout{"loss,alpha,epoch,difference,derivative",
                             {&FixedFocus::difference, &FixedFocus::derivative}};
  return layout;
}

std::string to_csv(const SeriesMap& all, const Layout& layout) {
  std::string text = std::string(layout.header) + "\n";
  for (const auto& [key, series] : all) {
    const std::string start = paper_losses()[key.first].name + "," + shortest(key.second) + ",";
    for (std::size_t epoch = 0; epoch < series.size(); ++epoch) {
      text += start + std::to_string(epoch);
      for (const auto number : layout.numbers) text += "," + shortest(series[epoch].*number);
      text += "\n";
    }
  }
  return text;
}

// The fields of a line that ends at `end`, which moves behind it.
std::vector<std::string> take_line(std::string_view text, std::size_t& begin) {
  const std::size_t end = std::min(text.find('\n', begin), text.size());
  std::vector<std::string> fields(1);
  for (const char c : text.substr(begin, end - begin)) {
    if (c == ',') {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  begin = std::min(end + 1, text.size());
  return fields;
}

std::size_t find_named_loss(const std::string& name) {
  const auto& all = paper_losses();
  return static_cast<std::size_t>(
      std::find_if(all.begin(), all.end(), [&](const NamedLoss& loss) { return loss.name == name; }) - all.begin());
}

// Adds the numbers of a file to the series; the keys that it holds.
std::vector<SeriesKey> read_csv(const std::string& path, const Layout& layout, std::size_t epochs, SeriesMap& all) {
  if (!is_there(path)) return {};
  const std::string text = read_bytes(path);
  const std::string header = std::string(layout.header) + "\n";
  if (!text.starts_with(header)) throw bad_input(path, "the header " + quote(layout.header), quote(text.substr(0, 60)));
  std::vector<SeriesKey> keys;
  std::size_t line = 1, epoch = 0;
  const auto refuse = [&](const std::string& expected, const std::string& found) {
    throw bad_input(path, expected + " in line " + std::to_string(line), found);
  };
  for (std::size_t begin = header.size(); begin < text.size();) {
    ++line;
    const std::vector<std::string> fields = take_line(text, begin);
    if (fields.size() != 3 + layout.numbers.size()) {
      refuse(std::to_string(3 + layout.numbers.size()) + " fields", std::to_string(fields.size()));
    }
    SeriesKey key{find_named_loss(fields[0]), 0};
    if (key.first == paper_losses().size()) refuse("a loss", quote(fields[0]));
    if (!parse_number(fields[1], key.second)) refuse("a number alpha", quote(fields[1]));
    if (epoch == 0) {
      if (std::find(keys.begin(), keys.end(), key) != keys.end()) refuse("each series once", to_string(key) + " again");
      keys.push_back(key);
      all[key].resize(epochs + 1);
    }
    if (key != keys.back() || fields[2] != std::to_string(epoch)) {
      refuse("epoch " + std::to_string(epoch) + " of " + std::to_string(epochs) + " of " + to_string(keys.back()),
             "epoch " + quote(fields[2]) + " of " + to_string(key));
    }
    for (std::size_t i = 0; i < layout.numbers.size(); ++i) {
      if (!parse_number(fields[3 + i], all[key][epoch].*layout.numbers[i])) refuse("a number", quote(fields[3 + i]));
    }
    epoch = epoch < epochs ? epoch + 1 : 0;
  }
  if (epoch != 0) refuse("another row of " + to_string(keys.back()), "the end of the file");
  return keys;
}

}  // namespace

std::string to_string(const SeriesKey& key) {
  return paper_losses()[key.first].name + ", alpha " + shortest(key.second);
}

std::string loss_csv(const SeriesMap& all) { return to_csv(all, loss_layout()); }
std::string incentive_csv(const SeriesMap& all) { return to_csv(all, incentive_layout()); }

SeriesMap read_series(const std::string& loss_path, const std::string& incentive_path, std::size_t epochs) {
  SeriesMap all;
  const std::vector<SeriesKey> with_loss = read_csv(loss_path, loss_layout(), epochs, all);
  const std::vector<SeriesKey> with_incentive = read_csv(incentive_path, incentive_layout(), epochs, all);
  const auto missing = [&](const std::vector<SeriesKey>& keys) {
    return std::count_if(all.begin(), all.end(), [&](const auto& each) {
      return std::find(keys.begin(), keys.end(), each.first) == keys.end();
    });
  };
  const auto require = [](bool met, const std::string& path, const std::string& other, std::ptrdiff_t count) {
    if (!met) throw bad_input(path, "the trainings of " + quote(other), std::to_string(count) + " missing");
  };
  require(missing(with_loss) == 0, loss_path, incentive_path, missing(with_loss));
  require(missing(with_incentive) <= 1, incentive_path, loss_path, missing(with_incentive));
  std::erase_if(all, [&](const auto& each) {
    return std::find(with_incentive.begin(), with_incentive.end(), each.first) == with_incentive.end();
  });
  return all;
}

}  // namespace fcam::apps
