// Text, the same whatever the locale of the program: numbers with a decimal point and no groups, names in lower case.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fcam {

/// The shortest text that reads back as the same double; "nan", "inf" and "-inf" for what is not finite.
std::string shortest(double value);

/// `value` rounded to `digits` decimals, never in scientific notation; what is not finite as in shortest().
/// Requires digits >= 0.
std::string fixed(double value, int digits);

/// 16 hexadecimal digits.
std::string hexadecimal(std::uint64_t value);

/// Reads a whole decimal number: no sign, no blanks, no zeros in front, which mean octal elsewhere. False where it is
/// none or too large.
bool parse_count(std::string_view text, std::uint64_t& value);

/// With the letters A to Z as a to z; other bytes stay.
std::string lower_case(std::string_view text);

}  // namespace fcam
