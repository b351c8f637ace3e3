// A check of error messages.
#pragma once

#include <catch2/catch.hpp>
#include <initializer_list>
#include <string>

#include "fcam/base/error.h"

namespace fcam::test {

/// Requires that `call` throws an E whose message is one line that holds all `parts`.
template <class E = DataError, class Call>
void check_error(Call&& call, std::initializer_list<std::string> parts) {
  std::string message;
  try {
    call();
  } catch (const E& error) {
    message = error.what();
  }
  REQUIRE(message != "");
  CHECK_THAT(message, !Catch::Contains("\n"));
  for (const std::string& part : parts) CHECK_THAT(message, Catch::Contains(part));
}

}  // namespace fcam::test
