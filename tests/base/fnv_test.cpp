#include "fcam/base/fnv.h"

#include <catch2/catch.hpp>

using fcam::Fnv;

TEST_CASE("the hash of bytes is FNV-1a with 64 bits", "[base]") {
  CHECK(Fnv().value() == 0xcbf29ce484222325u);
  Fnv a;
  a.add_byte('a');
  CHECK(a.value() == 0xaf63dc4c8601ec8cu);  // of the authors' list of test vectors
  Fnv foobar;
  for (const char c : std::string("foobar")) foobar.add_byte(static_cast<std::uint8_t>(c));
  CHECK(foobar.value() == 0x85944171f73967e8u);
}

TEST_CASE("numbers are hashed with their lowest byte first, texts after their length", "[base]") {
  Fnv number, bytes;
  number.add(0x0201, 2);
  bytes.add_byte(1);
  bytes.add_byte(2);
  CHECK(number.value() == bytes.value());
  Fnv text, parts;
  text.add(std::string_view("ab"));
  parts.add(2);
  parts.add_byte('a');
  parts.add_byte('b');
  CHECK(text.value() == parts.value());
}
