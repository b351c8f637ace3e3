#include "common/help_text.h"

#include <catch2/catch.hpp>

using fcam::apps::help_text;
using fcam::apps::HelpPage;

TEST_CASE("help stands in groups, in two columns, wrapped at 80", "[help_text]") {
  const HelpPage page{.description = "Does it.",
                      .usage = "it [OPTIONS]",
                      .entries = {{"Main", "--short N",
                                   "a text of many words that does not fit into what is left of the line beside it"},
                                  {"", "--hidden", "never seen"},
                                  {"Rest", "--last", "end"},
                                  {"Main", "--much-longer-than-the-column FILE", "below"}},
                      .examples = "  it --short 3\n"};
  CHECK(help_text(page) ==
        "Does it.\n"
        "Usage: it [OPTIONS]\n"
        "\n"
        "Main:\n"
        "  --short N               a text of many words that does not fit into what is\n"
        "                          left of the line beside it\n"
        "  --much-longer-than-the-column FILE\n"
        "                          below\n"
        "\n"
        "Rest:\n"
        "  --last                  end\n"
        "\n"
        "Examples:\n"
        "  it --short 3\n");
}

TEST_CASE("a word wider than a line of help stays whole", "[help_text]") {
  const std::string word(90, 'w');
  const std::string text = help_text({.description = "a " + word + " b", .usage = "x", .entries = {}, .examples = ""});
  CHECK(text == "a\n" + word + "\nb\nUsage: x\n");
}
