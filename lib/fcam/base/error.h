// The kinds of error that the library reports. Every message is one line that says who, what was expected, what was
// found.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fcam {

/// Base of every exception that the library throws on purpose.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A request that cannot be met: an option out of range, a name that does not exist, shapes that do not fit.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// An input file that is missing, damaged, or not what it is said to be.
class DataError : public Error {
 public:
  using Error::Error;
};

/// An output that could not be written.
class WriteError : public Error {
 public:
  using Error::Error;
};

/// Training produced a loss that is not finite, or a solver did not reach the end.
class DivergedError : public Error {
 public:
  using Error::Error;
};

/// `text` in single quotes with control characters escaped in hexadecimal, so that a message stays one line whatever a
/// name holds.
std::string quote(std::string_view text);

/// "expected one of a, b, c, found 'bb' (nearest: b)": the end of every error about a name that does not exist.
std::string unknown_name(std::string_view found, const std::vector<std::string>& known);

}  // namespace fcam
