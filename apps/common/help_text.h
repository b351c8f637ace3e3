// The text of --help, for terminals of 80 columns and more.
#pragma once

#include <string>
#include <vector>

namespace fcam::apps {

struct HelpEntry {
  std::string group;  ///< heading that it stands under; empty: not shown
  std::string name;   ///< with its dashes and the type of its value
  std::string text;
};

struct HelpPage {
  std::string description, usage;
  std::vector<HelpEntry> entries;  ///< groups come in the order of their first entries
  std::string examples;            ///< lines that stay as they are; may be empty
};

/// No line is wider than 80 columns unless a name, a word or an example is; a blank line stands before each group.
std::string help_text(const HelpPage& page);

}  // namespace fcam::apps
