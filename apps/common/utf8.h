// UTF-8, one character at a time.
#pragma once

#include <cstddef>
#include <string_view>

namespace fcam::apps {

/// Length in bytes of the character at the start of a text that is not empty; 0 where there is no valid one.
std::size_t sequence_length(std::string_view text);

}  // namespace fcam::apps
