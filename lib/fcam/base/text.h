// Numbers as text, the same whatever the locale of the program: a decimal point, digits never grouped.
#pragma once

#include <string>

namespace fcam {

/// The shortest text that reads back as the same double; "nan", "inf" and "-inf" for what is not finite.
std::string shortest(double value);

/// `value` rounded to `digits` decimals, never in scientific notation; what is not finite as in shortest().
/// Requires digits >= 0.
std::string fixed(double value, int digits);

}  // namespace fcam
