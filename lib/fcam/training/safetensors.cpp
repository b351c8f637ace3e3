#include "fcam/training/safetensors.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

#include "fcam/base/file.h"
#include "fcam/base/text.h"
#include "fcam/data/input.h"

namespace fcam {
namespace {

using Json = nlohmann::json;

constexpr const char* metadata_key = "__metadata__";
constexpr std::size_t length_size = 8;  // of the number of bytes of the header, at the start
constexpr const char* cut_hint = " (incomplete copy or interrupted save)";

template <class Bits>
Bits from_little_endian(const char* bytes) {
  Bits bits = 0;
  for (std::size_t i = 0; i < sizeof(Bits); ++i) bits |= Bits{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return bits;
}

template <class Bits>
void append_little_endian(std::string& bytes, Bits bits) {
  for (std::size_t i = 0; i < sizeof(Bits); ++i) bytes += static_cast<char>(bits >> (8 * i) & 0xff);
}

// Where the bytes of a tensor are, counted from the end of the header.
struct Place {
  std::string name;
  Shape shape;
  std::size_t number_size, begin, end;
};

// Parses the text of a header.
class HeaderReader {
 public:
  explicit HeaderReader(const std::string& path) : path_(path) {}

  Json parse(const std::string& text) const {
    std::vector<std::set<std::string>> keys;  // of the objects around the current place, the outermost first
    const auto refuse_repeated_keys = [&](int, Json::parse_event_t event, Json& value) {
      if (event == Json::parse_event_t::object_start) keys.emplace_back();
      if (event == Json::parse_event_t::object_end) keys.pop_back();
      if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second) {
        fail("each key of the header once", quote(value.get<std::string>()) + " again");
      }
      return true;
    };
    Json header = Json(Json::value_t::discarded);
    // The parser would take a zero byte for the end of the text.
    if (text.find('\0') == std::string::npos) header = Json::parse(text, refuse_repeated_keys, false);
    if (header.is_discarded()) fail("a header in JSON", "text that starts with " + quote(text.substr(0, 20)));
    if (!header.is_object()) fail("a JSON object as header", type_of(header));
    return header;
  }

  std::map<std::string, std::string> metadata(const Json& header) const {
    std::map<std::string, std::string> metadata;
    const auto entries = header.find(metadata_key);
    if (entries == header.end()) return metadata;
    if (!entries->is_object()) fail(std::string("a JSON object as ") + metadata_key, type_of(*entries));
    for (const auto& [key, value] : entries->items()) {
      if (!value.is_string()) fail("a string as metadata " + quote(key), type_of(value));
      metadata[key] = value.get<std::string>();
    }
    return metadata;
  }

  // Places of the tensors from the first to the last: one begins where the one before ends.
  std::vector<Place> places(const Json& header) const {
    std::vector<Place> places;
    for (const auto& [name, entry] : header.items()) {
      if (name != metadata_key) places.push_back(place(name, entry));
    }
    std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
      return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
    });
    std::size_t end = 0;
    for (const Place& place : places) {
      if (place.begin != end) {
        fail("tensor " + quote(place.name) + " at byte " + std::to_string(end) + " of the data, without " +
                 (place.begin < end ? "overlap" : "gap"),
             "it at byte " + std::to_string(place.begin));
      }
      end = place.end;
    }
    return places;
  }

 private:
  [[noreturn]] void fail(const std::string& expected, const std::string& found) const {
    throw bad_input(path_, expected, found);
  }

  static std::string type_of(const Json& value) { return std::string("JSON of type ") + value.type_name(); }

  Place place(const std::string& name, const Json& entry) const {
    const std::string who = "tensor " + quote(name);
    if (!entry.is_object()) fail("a JSON object as " + who, type_of(entry));
    const auto member = [&](const char* key) -> const Json& {
      const auto found = entry.find(key);
      if (found == entry.end()) fail(who + " to have " + key, "none");
      return *found;
    };
    Place place{name, sizes(member("shape"), "the shape of " + who), 0, 0, 0};

    const Json& type = member("dtype");
    if (type == "F32") place.number_size = 4;
    if (type == "F64") place.number_size = 8;
    if (place.number_size == 0) {
      fail(who + " of dtype F32 or F64", type.is_string() ? quote(type.get<std::string>()) : type_of(type));
    }

    const std::vector<std::size_t> offsets = sizes(member("data_offsets"), "data_offsets of " + who);
    if (offsets.size() != 2) fail("2 data_offsets of " + who, std::to_string(offsets.size()));
    place.begin = offsets[0];
    place.end = offsets[1];
    Shape bytes = place.shape;
    bytes.push_back(place.number_size);
    if (place.end < place.begin || place.end - place.begin != saturating_count(bytes)) {
      fail("data_offsets of " + who + " that are " + std::to_string(saturating_count(bytes)) + " bytes apart (" +
               to_string(place.shape) + " of " + type.get<std::string>() + ")",
           std::to_string(place.begin) + " and " + std::to_string(place.end));
    }
    return place;
  }

  std::vector<std::size_t> sizes(const Json& numbers, const std::string& what) const {
    const std::string expected = "an array of non-negative integers as " + what;
    if (!numbers.is_array()) fail(expected, type_of(numbers));
    std::vector<std::size_t> result;
    for (const Json& number : numbers) {
      if (!number.is_number_unsigned()) fail(expected, number.is_number() ? number.dump() : type_of(number));
      result.push_back(number.get<std::size_t>());
    }
    return result;
  }

  std::string path_;
};

// The next bytes of `file` as the values of a tensor.
std::vector<float> read_values(InputFile& file, const Place& place) {
  std::string bytes(place.end - place.begin, '\0');
  file.read(bytes.data(), bytes.size());
  std::vector<float> values(bytes.size() / place.number_size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const char* from = bytes.data() + i * place.number_size;
    const double value = place.number_size == 4 ? std::bit_cast<float>(from_little_endian<std::uint32_t>(from))
                                                : std::bit_cast<double>(from_little_endian<std::uint64_t>(from));
    values[i] = static_cast<float>(value);
    if (!std::isfinite(values[i])) {
      throw bad_input(file.path(), "finite float32 values in tensor " + quote(place.name),
                      shortest(value) + " at flat index " + std::to_string(i));
    }
  }
  return values;
}

}  // namespace

const NamedTensor* SafeTensors::find(const std::string& name) const {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const auto& tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

SafeTensors read_safetensors(const std::string& path) {
  InputFile file(path);
  if (file.size() < length_size) {
    throw bad_input(path, "a safetensors file of at least 8 bytes", std::to_string(file.size()) + cut_hint);
  }
  char length_bytes[length_size];
  file.read(length_bytes, length_size);
  const auto length = from_little_endian<std::uint64_t>(length_bytes);
  const std::uint64_t after_length = file.size() - length_size;
  if (length > after_length || length == 0) {
    throw bad_input(path, "a safetensors header of " + (length > 0 ? std::to_string(length) : "some") + " bytes",
                    std::to_string(after_length) + " bytes after its length" + cut_hint);
  }
  std::string text(length, '\0');
  file.read(text.data(), text.size());

  const HeaderReader reader(path);
  const Json header = reader.parse(text);
  const std::vector<Place> places = reader.places(header);
  const std::size_t wanted = places.empty() ? 0 : places.back().end, found = after_length - length;
  if (found != wanted) {
    throw bad_input(path, std::to_string(wanted) + " bytes of data after the header",
                    std::to_string(found) + (found < wanted ? cut_hint : " (bytes after the last tensor)"));
  }
  SafeTensors content;
  content.metadata = reader.metadata(header);
  for (const Place& place : places) content.tensors.push_back({place.name, place.shape, read_values(file, place)});
  return content;
}

void write_safetensors(const std::string& path, const SafeTensors& content) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!content.metadata.empty()) header[metadata_key] = content.metadata;
  std::size_t offset = 0;
  for (const NamedTensor& tensor : content.tensors) {
    assert(!header.contains(tensor.name) && tensor.name != metadata_key);
    assert(element_count(tensor.shape) == tensor.values.size());
    const std::size_t end = offset + tensor.values.size() * sizeof(float);
    header[tensor.name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  text.append((length_size - text.size() % length_size) % length_size, ' ');

  std::string bytes;
  bytes.reserve(length_size + text.size() + offset);
  append_little_endian(bytes, std::uint64_t{text.size()});
  bytes += text;
  for (const NamedTensor& tensor : content.tensors) {
    for (const float value : tensor.values) append_little_endian(bytes, std::bit_cast<std::uint32_t>(value));
  }
  write_atomically(path, bytes);
}

}  // namespace fcam
