// A check that HTML or SVG is well-formed.
#pragma once

#include <cctype>
#include <string>
#include <vector>

namespace fcam::test {

/// The first fault in the nesting of tags and the quoting of attributes; empty where there is none. Void elements of
/// HTML need no end.
inline std::string markup_fault(const std::string& text) {
  std::vector<std::string> open;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '>') return "a stray > at " + text.substr(i, 20);
    if (text[i] == '&') {
      const std::string entity = text.substr(i, text.find(';', i) + 1 - i);
      if (entity != "&amp;" && entity != "&lt;" && entity != "&gt;" && entity != "&quot;") return "bare & " + entity;
    }
    if (text[i] != '<') continue;
    std::size_t end = i + 1;
    for (bool quoted = false; end < text.size() && (quoted || text[end] != '>'); ++end) {
      if (text[end] == '"') quoted = !quoted;
      if (text[end] == '<') return "a < inside " + text.substr(i, 40);
    }
    if (end == text.size()) return "no end of " + text.substr(i, 40);
    const std::string tag = text.substr(i + 1, end - i - 1);
    i = end;
    if (tag.starts_with('!') || tag.ends_with('/')) continue;
    const std::string name = tag.substr(0, tag.find_first_of(" \n"));
    if (name == "meta") continue;
    if (!name.starts_with('/')) {
      open.push_back(name);
    } else if (open.empty() || "/" + open.back() != name) {
      return "unexpected <" + name + ">";
    } else {
      open.pop_back();
    }
    if (name == "style") i = text.find("</style>", i) - 1;
  }
  return open.empty() ? "" : "no end of <" + open.back() + ">";
}

}  // namespace fcam::test
