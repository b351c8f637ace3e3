#include "fcam/data/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>
#include <stdexcept>

#include "fcam/data/input.h"

namespace fcam {
namespace {

using Bytes = std::vector<std::uint8_t>;

bool starts_gzip(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

// zlib's state for a sequence of gzip members.
class Inflater {
 public:
  explicit Inflater(std::span<const std::uint8_t> packed) : packed_(packed) {
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) throw std::bad_alloc();  // 16: gzip and nothing else
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  std::span<const std::uint8_t> rest() const { return packed_.subspan(used_); }
  std::size_t used() const { return used_; }
  const char* problem() const { return stream_.msg != nullptr ? stream_.msg : "damaged data"; }
  void next_member() { inflateReset(&stream_); }

  // Unpacks as much as fits into `room`; sets `written` and returns zlib's code.
  int inflate_into(std::span<std::uint8_t> room, std::size_t& written) {
    constexpr std::size_t most = std::numeric_limits<uInt>::max();
    stream_.next_in = const_cast<Bytef*>(rest().data());
    stream_.avail_in = static_cast<uInt>(std::min(most, rest().size()));
    stream_.next_out = room.data();
    stream_.avail_out = static_cast<uInt>(std::min(most, room.size()));
    const int code = inflate(&stream_, Z_NO_FLUSH);
    used_ = static_cast<std::size_t>(stream_.next_in - packed_.data());
    written = static_cast<std::size_t>(stream_.next_out - room.data());
    return code;
  }

 private:
  std::span<const std::uint8_t> packed_;
  std::size_t used_ = 0;
  z_stream stream_{};
};

DataError ends_early(const std::string& path, std::size_t packed, const Bytes& unpacked,
                     const SizeFromStart& expected_size) {
  const std::size_t wanted = expected_size ? expected_size(unpacked) : 0;
  return bad_input(path, wanted > 0 ? std::to_string(wanted) + " bytes in whole gzip data" : "gzip data with their end",
                   std::to_string(unpacked.size()) + " bytes, then the end of the file after " +
                       std::to_string(packed) + " packed bytes (incomplete copy?)");
}

Bytes unpack(const std::string& path, const Bytes& packed, const SizeFromStart& expected_size) {
  constexpr std::size_t smallest_room = 1 << 16;
  Inflater inflater(packed);
  Bytes bytes;
  std::size_t size = 0;  // of the part of `bytes` that is filled
  for (;;) {
    // Room grows with what has really come out, never with what a file claims.
    if (bytes.size() - size < smallest_room) bytes.resize(bytes.size() + std::max(smallest_room, bytes.size()));
    std::size_t written = 0;
    const int code = inflater.inflate_into(std::span(bytes).subspan(size), written);
    size += written;
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    if (code == Z_STREAM_END) {
      if (std::ranges::all_of(inflater.rest(), [](std::uint8_t byte) { return byte == 0; })) break;  // padding
      if (!starts_gzip(inflater.rest())) {
        throw bad_input(path, "nothing after the gzip data (" + std::to_string(inflater.used()) + " bytes)",
                        std::to_string(inflater.rest().size()) + " bytes more");
      }
      inflater.next_member();
    } else if (code == Z_BUF_ERROR) {
      bytes.resize(size);
      throw ends_early(path, packed.size(), bytes, expected_size);
    } else if (code != Z_OK) {
      throw bad_input(path, "intact gzip data of " + std::to_string(packed.size()) + " bytes",
                      std::string("'") + inflater.problem() + "' after " + std::to_string(inflater.used()) + " bytes");
    }
  }
  bytes.resize(size);
  bytes.shrink_to_fit();
  return bytes;
}

}  // namespace

Bytes read_unpacked(const std::string& path, const SizeFromStart& expected_size) {
  InputFile file(path);
  Bytes bytes(file.size());
  file.read(bytes.data(), bytes.size());
  return starts_gzip(bytes) ? unpack(path, bytes, expected_size) : bytes;
}

}  // namespace fcam
