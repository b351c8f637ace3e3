// What nearly all tests include and what takes longest to read, compiled once. Every test still includes what it needs.
#include <catch2/catch.hpp>

#include "fcam/base/tensor.h"
