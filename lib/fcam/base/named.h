// Things with names, found by them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fcam/base/error.h"
#include "fcam/base/text.h"

namespace fcam {

/// The first of the items whose name, name_of(item), is `name` in any case. Throws UsageError with all names, after
/// what it is the name of.
template <class Items, class NameOf>
decltype(auto) find_named(const std::string& what, std::string_view name, const Items& items, NameOf&& name_of) {
  const std::string lower = lower_case(name);
  std::vector<std::string> known;
  for (const auto& item : items) {
    known.push_back(name_of(item));
    if (known.back() == lower) return item;
  }
  throw UsageError(what + ": " + unknown_name(name, known));
}

}  // namespace fcam
