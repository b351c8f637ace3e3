#include "fcam/base/text.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <locale>
#include <string>

#include "fcam/base/random.h"

using namespace fcam;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("shortest writes no digit too many", "[base]") {
  CHECK(shortest(0) == "0");
  CHECK(shortest(-2.5) == "-2.5");
  CHECK(shortest(0.1) == "0.1");
  CHECK(shortest(0.1 + 0.2) == "0.30000000000000004");
  CHECK(shortest(1e300) == "1e+300");
  CHECK(shortest(-std::numeric_limits<double>::max()) == "-1.7976931348623157e+308");
  CHECK(shortest(std::numeric_limits<double>::denorm_min()) == "5e-324");
}

TEST_CASE("shortest reads back as the same double", "[base]") {
  Random random(1, "text");
  for (int i = 0; i < 2000; ++i) {
    const double value = std::ldexp(random.normal(), static_cast<int>(random.below(2000)) - 1000);
    CAPTURE(i, value);
    CHECK(std::strtod(shortest(value).c_str(), nullptr) == value);
  }
}

TEST_CASE("fixed writes as many decimals as asked for", "[base]") {
  CHECK(fixed(0, 0) == "0");
  CHECK(fixed(0, 3) == "0.000");
  CHECK(fixed(2.0 / 3, 4) == "0.6667");
  CHECK(fixed(-2.0 / 3, 1) == "-0.7");
  CHECK(fixed(1234567.875, 2) == "1234567.88");
  CHECK(fixed(99.96, 1) == "100.0");
  CHECK(fixed(1e-20, 2) == "0.00");
}

TEST_CASE("fixed has room for the largest double and many decimals", "[base]") {
  const std::string text = fixed(-std::numeric_limits<double>::max(), 400);
  CHECK(text.size() == 1 + 309 + 1 + 400);
  CHECK(text.starts_with("-17976931348623157"));
  CHECK(text.ends_with("." + std::string(400, '0')));
}

TEST_CASE("what is not finite is spelled the same everywhere", "[base]") {
  CHECK(shortest(not_a_number) == "nan");
  CHECK(shortest(std::copysign(not_a_number, -1)) == "nan");
  CHECK(shortest(infinity) == "inf");
  CHECK(shortest(-infinity) == "-inf");
  CHECK(fixed(std::copysign(not_a_number, -1), 2) == "nan");
  CHECK(fixed(infinity, 2) == "inf");
  CHECK(fixed(-infinity, 2) == "-inf");
}

TEST_CASE("numbers do not follow the locale", "[base]") {
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Comma));
  const std::string short_text = shortest(1234567.5), fixed_text = fixed(1234567.5, 2);
  std::locale::global(before);
  CHECK(short_text == "1234567.5");
  CHECK(fixed_text == "1234567.50");
}

TEST_CASE("names in lower case: the letters of ASCII alone", "[base]") {
  CHECK(lower_case("") == "");
  CHECK(lower_case("AZ az09-_[@{\xC3\x84\xFF") == "az az09-_[@{\xC3\x84\xFF");
}

TEST_CASE("counts are whole decimal numbers, without signs, blanks and zeros in front", "[base]") {
  std::uint64_t value = 0;
  CHECK((parse_count("0", value) && value == 0));
  CHECK((parse_count("18446744073709551615", value) && value == 18446744073709551615u));
  for (const char* text :
       {"", "18446744073709551616", "-1", "+1", " 1", "1 ", "1.0", "1e3", "0x10", "010", "00", "x"}) {
    CHECK_FALSE(parse_count(text, value));
  }
}
