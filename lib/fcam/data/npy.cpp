#include "fcam/data/npy.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "fcam/data/input.h"

namespace fcam {
namespace {

constexpr std::string_view npy_magic = "\x93NUMPY";
constexpr std::size_t most_axes = 64;  // of numpy
constexpr const char* supported_types = "numbers of type u1, f4, f8, i4 or i8";

struct Header {
  std::string type;  // kind and size, such as "f4"
  bool big_endian = false;
  bool fortran_order = false;
  Shape shape;
  std::size_t size = 0;  // of all before the data, in bytes
};

// Parses the header's text, a dict literal of Python with exactly the keys descr, fortran_order and shape.
class HeaderParser {
 public:
  HeaderParser(std::string path, std::string_view text) : path_(std::move(path)), text_(text) {}

  Header parse() {
    std::optional<std::string> descr;
    std::optional<bool> fortran_order;
    std::optional<Shape> shape;
    require('{');
    while (!take('}')) {
      const std::string key = parse_string("a key");
      require(':');
      if (key == "descr" && !descr) {
        descr = parse_descr();
      } else if (key == "fortran_order" && !fortran_order) {
        fortran_order = parse_bool();
      } else if (key == "shape" && !shape) {
        shape = parse_shape();
      } else {
        throw bad_input(path_, "an npy header with the keys descr, fortran_order and shape, each once",
                        "key " + quote_start(key));
      }
      if (!take(',') && !at('}')) fail("',' or '}'");
    }
    skip_space();
    if (at_ < text_.size()) fail("nothing after the closing '}'");
    if (!descr || !fortran_order || !shape) {
      throw bad_input(path_, "an npy header with the keys descr, fortran_order and shape", quote_start(text_));
    }
    Header header = header_of(*descr);
    header.fortran_order = *fortran_order;
    header.shape = std::move(*shape);
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& expected) const {
    throw bad_input(path_, expected + " in the npy header",
                    quote(text_.substr(at_, 20)) + " at its byte " + std::to_string(at_));
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool at(char c) {
    skip_space();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool take(char c) {
    if (!at(c)) return false;
    ++at_;
    return true;
  }
  void require(char c) {
    if (!take(c)) fail(std::string("'") + c + "'");
  }
  bool take_word(std::string_view word) {
    skip_space();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  std::string parse_string(const std::string& what) {
    const char mark = at('"') ? '"' : '\'';
    if (!take(mark)) fail(what + " in quotes");
    const std::size_t end = text_.find(mark, at_);
    if (end == std::string_view::npos) fail("a closing quote");
    const std::string_view content = text_.substr(at_, end - at_);
    at_ = end + 1;
    return std::string(content);
  }
  std::string parse_descr() {
    if (at('[')) throw bad_input(path_, supported_types, "a structured type");
    return parse_string("a type");
  }
  bool parse_bool() {
    if (take_word("True")) return true;
    if (!take_word("False")) fail("True or False");
    return false;
  }
  std::size_t parse_size() {
    skip_space();
    std::size_t size = 0;
    const char* begin = text_.data() + at_;
    const auto parsed = std::from_chars(begin, text_.data() + text_.size(), size);
    if (parsed.ec != std::errc()) fail("a size of 64 bits at most");
    at_ += static_cast<std::size_t>(parsed.ptr - begin);
    take('L');  // as Python 2 wrote it
    return size;
  }
  Shape parse_shape() {
    Shape shape;
    require('(');
    bool comma = true;
    while (!take(')')) {
      if (!comma) fail("',' or ')'");
      if (shape.size() == most_axes) fail("at most " + std::to_string(most_axes) + " axes");
      shape.push_back(parse_size());
      comma = take(',');
    }
    if (shape.size() == 1 && !comma) {
      throw bad_input(path_, "a tuple as shape in the npy header", "one number in parentheses");
    }
    return shape;
  }

  // `descr` is a byte order (| where there is none) and a type.
  Header header_of(const std::string& descr) const {
    Header header;
    if (descr.size() == 3) header.type = descr.substr(1);
    const std::string orders = header.type == "u1" ? "|<>" : "<>";
    const bool known =
        header.type == "u1" || header.type == "f4" || header.type == "f8" || header.type == "i4" || header.type == "i8";
    if (!known || orders.find(descr[0]) == std::string::npos) {
      const bool objects = descr.find('O') != std::string::npos;
      throw bad_input(path_, supported_types, quote_start(descr) + (objects ? " (pickled Python objects)" : ""));
    }
    header.big_endian = descr[0] == '>';
    return header;
  }

  std::string path_;
  std::string_view text_;
  std::size_t at_ = 0;
};

std::string describe_start(const std::string& start) {
  if (start.empty()) return "an empty file";
  if (start.starts_with("PK")) return "a zip archive (.npz?): save single arrays with numpy.save";
  if (start.starts_with("\x1f\x8b")) return "gzip data";
  return "a file of another kind or an incomplete one, that starts with " + quote(start);
}

// Reads the header; the data follow in `file`. Afterwards the file is known to have just the size it should have.
Header read_header(InputFile& file) {
  constexpr std::size_t start_size = 8;  // the magic and two bytes of version
  std::string start(std::min<std::uint64_t>(file.size(), start_size), '\0');
  file.read(start.data(), start.size());
  if (start.size() < start_size || !start.starts_with(npy_magic)) {
    throw bad_input(file.path(), "an npy file", describe_start(start));
  }
  const int major = static_cast<unsigned char>(start[6]), minor = static_cast<unsigned char>(start[7]);
  if (major < 1 || major > 3 || minor != 0) {
    throw bad_input(file.path(), "npy version 1.0, 2.0 or 3.0", std::to_string(major) + "." + std::to_string(minor));
  }
  const std::size_t length_size = major == 1 ? 2 : 4;
  std::uint8_t length_bytes[4] = {};
  file.read(length_bytes, length_size);
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_size; ++i) length |= std::size_t{length_bytes[i]} << (8 * i);
  const std::size_t before = start_size + length_size;
  if (length > file.size() - before) {
    throw bad_input(file.path(), "an npy header of " + std::to_string(length) + " bytes",
                    std::to_string(file.size() - before));
  }
  std::string text(length, '\0');
  file.read(text.data(), text.size());
  Header header = HeaderParser(file.path(), text).parse();
  header.size = before + length;

  Shape bytes = header.shape;
  bytes.push_back(header.type[1] - '0');
  const std::size_t wanted = saturating_count(bytes), found = file.size() - header.size;
  if (found != wanted) {
    throw bad_input(file.path(),
                    std::to_string(wanted) + " bytes of data (" + to_string(header.shape) + " of " + header.type + ")",
                    std::to_string(found) + (found < wanted ? " (incomplete copy?)" : ""));
  }
  return header;
}

template <class T>
void reverse_bytes(std::vector<T>& values) {
  for (T& value : values) {
    auto* bytes = reinterpret_cast<unsigned char*>(&value);
    std::reverse(bytes, bytes + sizeof(T));
  }
}

// From Fortran order, where the first index runs fastest, to C order.
template <class T>
std::vector<T> in_c_order(const std::vector<T>& values, const Shape& shape) {
  Shape strides(shape.size(), 1), index(shape.size(), 0);
  for (std::size_t axis = 1; axis < shape.size(); ++axis) strides[axis] = strides[axis - 1] * shape[axis - 1];
  std::vector<T> result(values.size());
  std::size_t from = 0;
  for (T& value : result) {
    value = values[from];
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      from += strides[axis];
      if (++index[axis] < shape[axis]) break;
      from -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return result;
}

template <class T>
std::vector<T> read_values(InputFile& file, const Header& header) {
  std::vector<T> values(saturating_count(header.shape));
  file.read(values.data(), values.size() * sizeof(T));
  if (header.big_endian != (std::endian::native == std::endian::big)) reverse_bytes(values);
  if (header.fortran_order) return in_c_order(values, header.shape);
  return values;
}

template <class T>
constexpr const char* type_name = nullptr;
template <>
constexpr const char* type_name<std::uint8_t> = "|u1";
template <>
constexpr const char* type_name<float> = "<f4";
template <>
constexpr const char* type_name<double> = "<f8";
template <>
constexpr const char* type_name<std::int64_t> = "<i8";

}  // namespace

NpyArray read_npy(const std::string& path) {
  InputFile file(path);
  Header header = read_header(file);
  NpyArray array;
  if (header.type == "u1") {
    array.values = read_values<std::uint8_t>(file, header);
  } else if (header.type == "f4") {
    array.values = read_values<float>(file, header);
  } else if (header.type == "f8") {
    array.values = read_values<double>(file, header);
  } else if (header.type == "i4") {
    array.values = read_values<std::int32_t>(file, header);
  } else {
    array.values = read_values<std::int64_t>(file, header);
  }
  array.shape = std::move(header.shape);
  return array;
}

Shape read_npy_shape(const std::string& path) {
  InputFile file(path);
  return read_header(file).shape;
}

template <class T>
NpyWriter<T>::NpyWriter(AtomicFile& file, const Shape& shape) : file_(file), missing_(element_count(shape)) {
  std::string dict = std::string("{'descr': '") + type_name<T> + "', 'fortran_order': False, 'shape': (";
  for (const std::size_t size : shape) dict += std::to_string(size) + ", ";
  dict += "), }";
  constexpr std::size_t before = 10, alignment = 64;
  dict.append(alignment - 1 - (before + dict.size()) % alignment, ' ');
  dict += '\n';
  std::string bytes(npy_magic);
  bytes += {'\1', '\0', static_cast<char>(dict.size() & 0xff), static_cast<char>(dict.size() >> 8)};
  file_.write(bytes + dict);
}

template <class T>
void NpyWriter<T>::append(const T* values, std::size_t count) {
  assert(count <= missing_);
  missing_ -= count;
  const auto write = [&](const T* from) { file_.write({reinterpret_cast<const char*>(from), count * sizeof(T)}); };
  if (std::endian::native == std::endian::big) {
    std::vector<T> swapped(values, values + count);
    reverse_bytes(swapped);
    write(swapped.data());
  } else {
    write(values);
  }
}

template <class T>
void NpyWriter<T>::finish() {
  assert(missing_ == 0);
  file_.flush();
}

template <class T>
void write_npy(const std::string& path, const Shape& shape, const std::vector<T>& values) {
  assert(element_count(shape) == values.size());
  AtomicFile file(path);
  NpyWriter<T> writer(file, shape);
  writer.append(values.data(), values.size());
  writer.finish();
  file.commit();
}

template class NpyWriter<std::uint8_t>;
template class NpyWriter<float>;
template class NpyWriter<double>;
template class NpyWriter<std::int64_t>;
template void write_npy(const std::string&, const Shape&, const std::vector<std::uint8_t>&);
template void write_npy(const std::string&, const Shape&, const std::vector<float>&);
template void write_npy(const std::string&, const Shape&, const std::vector<double>&);
template void write_npy(const std::string&, const Shape&, const std::vector<std::int64_t>&);

}  // namespace fcam
