#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <new>

#include <png.h>

#include "common/decode.h"
#include "fcam/data/input.h"

namespace fcam::apps {
namespace {

constexpr std::size_t deflate_ratio = 1032;  // a byte of deflated data never gives more

// libpng leaves a step that fails by longjmp, so a step holds nothing that has a destructor.
class PngReader {
 public:
  explicit PngReader(std::string_view bytes) : rest_(bytes) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ == nullptr) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw std::bad_alloc();
    }
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  // Each says whether it went well.
  bool read_header() { return attempt(header_step, nullptr); }
  bool read_rows(std::uint8_t* pixels) { return attempt(rows_step, pixels); }

  const char* problem() const { return problem_; }
  std::size_t height() const { return png_get_image_height(png_, info_); }
  std::size_t width() const { return png_get_image_width(png_, info_); }
  std::size_t stored_bits() const {  // of a pixel in the file
    return std::size_t{png_get_bit_depth(png_, info_)} * png_get_channels(png_, info_);
  }
  std::size_t colors() const { return (png_get_color_type(png_, info_) & PNG_COLOR_MASK_COLOR) != 0 ? 3 : 1; }
  std::size_t channels() const { return colors() + (transparent_ ? 1 : 0); }  // of the rows

 private:
  using Step = void (*)(PngReader&, std::uint8_t*);

  bool attempt(Step step, std::uint8_t* pixels) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    step(*this, pixels);
    return true;
  }

  static void header_step(PngReader& self, std::uint8_t*) {
    const png_structp png = self.png_;
    png_set_read_fn(png, &self, on_read);
    png_set_crc_action(png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
    png_set_benign_errors(png, 0);
    png_set_user_limits(png, most_pixels, most_pixels);
    // Of what is not needed for pixels only the checksums are looked at.
    static constexpr const char* unused[] = {"bKGD", "cHRM", "eXIf", "gAMA", "hIST", "iCCP", "iTXt", "oFFs", "pCAL",
                                             "pHYs", "sBIT", "sCAL", "sPLT", "sRGB", "sTER", "tEXt", "tIME", "zTXt"};
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, nullptr, 0);
    for (const char* name : unused) {
      png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, reinterpret_cast<png_const_bytep>(name), 1);
    }
    png_read_info(png, self.info_);
    self.transparent_ = (png_get_color_type(png, self.info_) & PNG_COLOR_MASK_ALPHA) != 0 ||
                        png_get_valid(png, self.info_, PNG_INFO_tRNS) != 0;
  }

  static void rows_step(PngReader& self, std::uint8_t* pixels) {
    const png_structp png = self.png_;
    png_set_expand(png);
    png_set_scale_16(png);
    const int passes = png_set_interlace_handling(png);
    png_read_update_info(png, self.info_);
    const std::size_t height = self.height(), stride = self.width() * self.channels();
    if (png_get_rowbytes(png, self.info_) != stride) png_error(png, "rows of an unexpected size");
    for (int pass = 0; pass < passes; ++pass) {
      for (std::size_t y = 0; y < height; ++y) png_read_row(png, pixels + y * stride, nullptr);
    }
    png_read_end(png, nullptr);
  }

  static void on_read(png_structp png, png_bytep out, std::size_t count) {
    auto& self = *static_cast<PngReader*>(png_get_io_ptr(png));
    if (count > self.rest_.size()) png_error(png, "the file ends early");
    std::memcpy(out, self.rest_.data(), count);
    self.rest_.remove_prefix(count);
  }
  [[noreturn]] static void on_error(png_structp png, png_const_charp message) {
    auto& self = *static_cast<PngReader*>(png_get_error_ptr(png));
    std::snprintf(self.problem_, sizeof self.problem_, "%s", message);
    png_longjmp(png, 1);
  }
  static void on_warning(png_structp, png_const_charp) {}

  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::string_view rest_;
  bool transparent_ = false;
  char problem_[200] = "";
};

// Lays pixels whose last channel is opacity over white, in place, and drops that channel.
void lay_over_white(std::vector<std::uint8_t>& pixels, std::size_t channels) {
  std::size_t to = 0;
  for (std::size_t from = 0; from < pixels.size(); from += channels) {
    const int opacity = pixels[from + channels - 1];
    for (std::size_t c = 0; c + 1 < channels; ++c) {
      pixels[to++] = static_cast<std::uint8_t>((pixels[from + c] * opacity + 255 * (255 - opacity) + 127) / 255);
    }
  }
  pixels.resize(to);
}

}  // namespace

Raster read_png(std::string_view bytes, const std::string& path, bool header_only) {
  PngReader reader(bytes);
  const auto require = [&](bool went_well) {
    if (!went_well) throw bad_input(path, "an intact PNG image", quote(reader.problem()));
  };
  require(reader.read_header());
  require_plausible_size(path, bytes.size(), reader.height(), reader.width(), reader.stored_bits(), deflate_ratio);
  Raster image{reader.height(), reader.width(), reader.colors(), {}};
  if (header_only) return image;
  image.pixels.resize(image.height * image.width * reader.channels());
  require(reader.read_rows(image.pixels.data()));
  if (reader.channels() != image.channels) lay_over_white(image.pixels, reader.channels());
  return image;
}

}  // namespace fcam::apps
