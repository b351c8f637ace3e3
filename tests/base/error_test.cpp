#include "fcam/base/error.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace fcam;

namespace {

const std::vector<std::string> losses = {"sa", "ha", "lv", "hybrid"};

}  // namespace

TEST_CASE("quote keeps printable text and UTF-8 as they are", "[base]") {
  CHECK(quote("") == "''");
  CHECK(quote("a b/it's [x]") == "'a b/it's [x]'");
  CHECK(quote("caf\xc3\xa9") == "'caf\xc3\xa9'");
}

TEST_CASE("quote escapes every control character", "[base]") {
  CHECK(quote("a\nb\r\tc") == "'a\\x0ab\\x0d\\x09c'");
  CHECK(quote(std::string("\0\x1b\x7f", 3)) == "'\\x00\\x1b\\x7f'");
  for (int c = 0; c < 32; ++c) CHECK(quote(std::string(1, static_cast<char>(c))).size() == 6);
}

TEST_CASE("an unknown name is answered by all known ones and the nearest", "[base]") {
  CHECK(unknown_name("hybird", losses) == "expected one of sa, ha, lv, hybrid, found 'hybird' (nearest: hybrid)");
  CHECK(unknown_name("HYBRI", losses) == "expected one of sa, ha, lv, hybrid, found 'HYBRI' (nearest: hybrid)");
  CHECK(unknown_name("hs", {"sa", "hs-2"}) == "expected one of sa, hs-2, found 'hs' (nearest: sa)");
}

TEST_CASE("letters that have changed places are one slip, not two", "[base]") {
  CHECK_THAT(unknown_name("vl", losses), Catch::EndsWith("(nearest: lv)"));
  CHECK_THAT(unknown_name("--ptaches", {"--batch", "--patches"}), Catch::EndsWith("(nearest: --patches)"));
}

TEST_CASE("slips of every kind count together, in long names too", "[base]") {
  const std::string name = "abcdefghijklmnopqrstuvwxyz";  // 26 letters: 8 slips are near, 9 are not
  // A letter missing, one too many, two that have changed places, one that differs, twice each.
  CHECK_THAT(unknown_name("bcd_efhgijklmn!pqrtuv_xwzz", {name}), Catch::EndsWith("(nearest: " + name + ")"));
  CHECK_THAT(unknown_name("bcd_efhgijklmn!pqrtuv_xwzz?", {name}), !Catch::Contains("nearest"));
  CHECK_THAT(unknown_name(std::string(1 << 20, 'a'), {name}), !Catch::Contains("nearest"));
}

TEST_CASE("of names that are equally near the first is named", "[base]") {
  CHECK_THAT(unknown_name("la", losses), Catch::EndsWith("(nearest: sa)"));
}

TEST_CASE("no name is called near when none is", "[base]") {
  CHECK(unknown_name("gradient", losses) == "expected one of sa, ha, lv, hybrid, found 'gradient'");
}

TEST_CASE("an unknown name among none is still a message", "[base]") {
  CHECK_THAT(unknown_name("x", {}), Catch::EndsWith("found 'x'"));
}

TEST_CASE("names with line feeds do not break the line of a message", "[base]") {
  const std::string message = unknown_name("a\nb", {"a\nc"});
  CHECK(message == "expected one of a\\x0ac, found 'a\\x0ab' (nearest: a\\x0ac)");
}

TEST_CASE("every kind of error can be caught as Error", "[base]") {
  CHECK_THROWS_AS(throw UsageError("u"), Error);
  CHECK_THROWS_AS(throw DataError("d"), Error);
  CHECK_THROWS_AS(throw WriteError("w"), Error);
  CHECK_THROWS_AS(throw DivergedError("v"), Error);
  CHECK_THROWS_WITH(throw DataError("the message"), "the message");
}
