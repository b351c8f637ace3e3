#include "common/decode.h"

#include <cmath>

#include "support/errors.h"
#include "support/pictures.h"

using namespace fcam;
using namespace fcam::apps;
using namespace fcam::test;

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

// Decodes a file whose header must tell the same as the whole.
Raster decoded(const std::string& file) {
  const Raster image = decode_image(file, "some file"), header = describe_image(file, "some file");
  CHECK(header.pixels.empty());
  CHECK(header.height == image.height);
  CHECK(header.width == image.width);
  CHECK(header.channels == image.channels);
  CHECK(image.pixels.size() == image.height * image.width * image.channels);
  return image;
}

// The one colour of an image.
Bytes color_of(const std::string& file) {
  const Raster image = decoded(file);
  const Bytes color(image.pixels.begin(), image.pixels.begin() + static_cast<std::ptrdiff_t>(image.channels));
  for (std::size_t k = 0; k < image.pixels.size(); ++k) CHECK(image.pixels[k] == color[k % image.channels]);
  return color;
}

void check_refused(const std::string& file, std::initializer_list<std::string> parts) {
  check_error([&] { decode_image(file, "a.png"); }, {"'a.png'", "expected", "found"});
  check_error([&] { decode_image(file, "a.png"); }, parts);
}

// Rows of any depth, all with filter 0.
std::string rows(std::initializer_list<std::string> lines) {
  std::string text;
  for (const std::string& line : lines) text += '\0' + line;
  return text;
}

std::string gradient(std::size_t width, std::size_t height, std::size_t channels) {
  std::string pixels;
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      for (std::size_t c = 0; c < channels; ++c) pixels += static_cast<char>(40 + 3 * x + 2 * y + 20 * c);
    }
  }
  return pixels;
}

}  // namespace

TEST_CASE("grey and RGB PNG images are read as they are", "[decode]") {
  const Raster rgb = decoded(png_file({.width = 2, .height = 3, .rows = rows({"abcdef", "ghijkl", "mnopqr"})}));
  CHECK(rgb.height == 3);
  CHECK(rgb.width == 2);
  CHECK(rgb.channels == 3);
  CHECK(rgb.pixels == bytes_of("abcdefghijklmnopqr"));
  const Raster grey = decoded(png_file({.width = 3, .height = 1, .color = png_grey, .rows = rows({"abc"})}));
  CHECK(grey.channels == 1);
  CHECK(grey.pixels == bytes_of("abc"));
}

TEST_CASE("PNG images of 1, 2 and 4 bits are spread over all of 0 to 255", "[decode]") {
  const auto grey = [](int bits, std::size_t width, const std::string& row) {
    return decoded(png_file({.width = width, .height = 1, .bits = bits, .color = png_grey, .rows = rows({row})}))
        .pixels;
  };
  CHECK(grey(1, 10, "\xaa\x80") == Bytes{255, 0, 255, 0, 255, 0, 255, 0, 255, 0});
  CHECK(grey(2, 4, "\x1b") == Bytes{0, 85, 170, 255});
  CHECK(grey(4, 2, "\x1f") == Bytes{17, 255});
}

TEST_CASE("PNG images of 16 bits are scaled and rounded to 8, whatever their gamma", "[decode]") {
  CHECK(color_of(plain_png(2, 2, png_grey, "\xff\xff")) == Bytes{255});
  CHECK(color_of(plain_png(2, 2, png_rgb, std::string("\x80\x00\x00\xff\x01\x80", 6))) == Bytes{128, 1, 1});
  const std::string gamma = png_chunk("gAMA", big_endian_32(100000));
  CHECK(color_of(plain_png(2, 2, png_grey, "\x40\x40", gamma)) == Bytes{64});
  CHECK(color_of(plain_png(2, 2, png_grey, "\x40", gamma)) == Bytes{64});
}

TEST_CASE("PNG palettes become colours", "[decode]") {
  const std::string palette = png_chunk("PLTE", "redgrnblu");
  for (const int bits : {1, 2, 4, 8}) {
    const Raster image = decoded(png_file({.width = 1,
                                           .height = 1,
                                           .bits = bits,
                                           .color = png_palette,
                                           .rows = rows({std::string(1, static_cast<char>(1 << (8 - bits)))}),
                                           .chunks = palette}));
    CHECK(image.pixels == bytes_of("grn"));
  }
  // As decoders do, and PNG does not say: an index beyond the palette is black.
  CHECK(color_of(plain_png(1, 1, png_palette, "\7", palette)) == Bytes{0, 0, 0});
  check_refused(png_file({.width = 1, .height = 1, .color = png_palette, .rows = rows({std::string(1, '\0')})}),
                {"intact PNG", "PLTE"});
}

TEST_CASE("what is transparent in a PNG is laid over white", "[decode]") {
  CHECK(color_of(plain_png(3, 2, png_rgba, std::string("\x64\x00\xff\xff", 4))) == Bytes{100, 0, 255});
  CHECK(color_of(plain_png(3, 2, png_rgba, std::string("\x64\x00\xff\x00", 4))) == Bytes{255, 255, 255});
  CHECK(color_of(plain_png(3, 2, png_rgba, std::string("\x64\x00\xff\x33", 4))) == Bytes{224, 204, 255});  // a fifth
  CHECK(color_of(plain_png(3, 2, png_grey_alpha, "\x64\xff")) == Bytes{100});
  CHECK(color_of(plain_png(3, 2, png_grey_alpha, std::string("\x64\x00", 2))) == Bytes{255});
  // A grey value, a colour, an entry of a palette that is transparent.
  const Raster grey = decoded(png_file({.width = 2,
                                        .height = 1,
                                        .color = png_grey,
                                        .rows = rows({"ab"}),
                                        .chunks = png_chunk("tRNS", std::string("\0b", 2))}));
  CHECK(grey.pixels == Bytes{'a', 255});
  const Raster rgb = decoded(png_file(
      {.width = 2, .height = 1, .rows = rows({"abcdef"}), .chunks = png_chunk("tRNS", std::string("\0d\0e\0f", 6))}));
  CHECK(rgb.pixels == Bytes{'a', 'b', 'c', 255, 255, 255});
  const Raster palette =
      decoded(png_file({.width = 2,
                        .height = 1,
                        .bits = 8,
                        .color = png_palette,
                        .rows = rows({std::string("\0\1", 2)}),
                        .chunks = png_chunk("PLTE", "abcdef") + png_chunk("tRNS", std::string(1, '\0'))}));
  CHECK(palette.pixels == Bytes{255, 255, 255, 'd', 'e', 'f'});
}

TEST_CASE("an interlaced PNG is the same image", "[decode]") {
  // Adam7 of 3x3 grey pixels abc def ghi: passes hold a, (none), (none), c, g i, b h, d e f.
  const std::string passes = rows({"a"}) + rows({"c"}) + rows({"gi"}) + rows({"b", "h"}) + rows({"def"});
  const Raster image = decoded(png_file(
      {.width = 3, .height = 3, .bits = 8, .color = png_grey, .rows = passes, .chunks = {}, .interlaced = true}));
  CHECK(image.pixels == bytes_of("abcdefghi"));
}

TEST_CASE("a PNG cut anywhere is refused", "[decode]") {
  const std::string whole = plain_png(4, 3, png_rgba, "abcd");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    CHECK_THROWS_AS(decode_image(whole.substr(0, size), "x"), DataError);
  }
  check_refused(whole.substr(0, whole.size() - 1), {"intact PNG", "the file ends early"});
  check_refused("", {"PNG or JPEG", "an empty file"});
}

TEST_CASE("a PNG with a byte changed is refused by its checksums", "[decode]") {
  const std::string whole = plain_png(4, 3, png_grey_alpha, "ab", png_chunk("tEXt", std::string("a\0b", 3)));
  for (std::size_t at = 8; at < whole.size(); ++at) {
    std::string bad = whole;
    bad[at] ^= 4;
    CAPTURE(at);
    CHECK_THROWS_AS(decode_image(bad, "x"), DataError);
  }
}

TEST_CASE("a PNG whose header asks for more than the file can hold is refused before it is allocated", "[decode]") {
  const std::string small = deflated("x");
  const auto lying = [&](std::size_t width, std::size_t height) {
    return png_file({.width = width, .height = height, .rows = "x"});
  };
  check_refused(lying(8192, 8192), {"8192x8192 pixels, as its header says", "(incomplete copy?)"});
  check_refused(lying(65536, 65536), {"at most 67108864 pixels", "found 65536x65536"});
  check_refused(lying(0, 5), {"intact PNG"});
  check_refused(lying(2147483648, 5), {"intact PNG"});
  check_refused(lying(2147483647, 1), {"intact PNG"});
}

TEST_CASE("JPEG images in grey and colour are read, baseline and progressive", "[decode]") {
  for (const std::size_t components : {1, 3}) {
    for (const bool progressive : {false, true}) {
      const std::string pixels = gradient(19, 11, components);
      const Raster image = decoded(jpeg_file({.width = 19,
                                              .height = 11,
                                              .components = static_cast<int>(components),
                                              .pixels = pixels,
                                              .progressive = progressive}));
      CHECK(image.width == 19);
      CHECK(image.height == 11);
      REQUIRE(image.channels == components);
      double largest = 0;
      for (std::size_t k = 0; k < pixels.size(); ++k) {
        largest = std::max(largest, std::abs(1.0 * image.pixels[k] - static_cast<unsigned char>(pixels[k])));
      }
      CHECK(largest < 12);
    }
  }
}

TEST_CASE("JPEG images in CMYK are refused", "[decode]") {
  check_refused(plain_jpeg(8, 8, "cmyk"), {"a JPEG image in grey, YCbCr or RGB", "found CMYK"});
}

TEST_CASE("a JPEG cut anywhere is refused, not made up for", "[decode]") {
  for (const bool progressive : {false, true}) {
    const std::string whole =
        jpeg_file({.width = 40, .height = 24, .pixels = gradient(40, 24, 3), .progressive = progressive});
    REQUIRE_NOTHROW(decode_image(whole, "x"));
    for (std::size_t size = 2; size < whole.size(); ++size) {
      CAPTURE(size, whole.size());
      CHECK_THROWS_AS(decode_image(whole.substr(0, size), "x"), DataError);
    }
    check_refused(whole.substr(0, whole.size() / 2), {"intact JPEG"});
    REQUIRE_NOTHROW(decode_image(whole + "what cameras append", "x"));
  }
}

TEST_CASE("a JPEG whose header asks for more than the file can hold is refused before it is allocated", "[decode]") {
  std::string file = plain_jpeg(8, 8, "g");
  const std::size_t frame = file.find("\xff\xc0");
  REQUIRE(frame != std::string::npos);
  const auto with_size = [&](std::size_t height, std::size_t width) {
    std::string changed = file;
    changed.replace(frame + 5, 4, big_endian_32(height << 16 | width));
    return changed;
  };
  check_refused(with_size(8000, 8000), {"8000x8000 pixels, as its header says"});
  check_refused(with_size(65000, 65000), {"at most 67108864 pixels"});
  check_refused(with_size(65535, 65535), {"intact JPEG"});
  check_refused(with_size(0, 8), {"intact JPEG"});
}

TEST_CASE("files of other formats are named", "[decode]") {
  check_refused("GIF89a and so on", {"expected a PNG or JPEG image", "found a GIF image"});
  check_refused("BM and so on", {"a BMP image"});
  check_refused(std::string("RIFF\0\0\0\0WEBPVP8 ", 16), {"a WebP image"});
  check_refused("some text", {"starts with 'some tex'"});
  check_refused("\xff\xd8", {"intact JPEG"});
}
