#include <csetjmp>
#include <cstdio>

#include <jpeglib.h>  // after cstdio, which it does not include

#include <jerror.h>

#include "common/decode.h"
#include "fcam/data/input.h"

namespace fcam::apps {
namespace {

// A block of 8x8 samples takes two bits at least, and one luminance block may stand for 1/18 of three full planes.
constexpr std::size_t largest_ratio = 2048;
constexpr int most_scans = 500;  // of a progressive file; more are only made to keep a reader busy

// libjpeg leaves a step that fails by longjmp, so a step holds nothing that has a destructor.
class JpegReader {
 public:
  explicit JpegReader(std::string_view bytes) : bytes_(bytes) {
    jpeg_.err = jpeg_std_error(&errors_);
    errors_.error_exit = on_error;
    errors_.emit_message = on_message;
    errors_.output_message = [](j_common_ptr) {};
    jpeg_.client_data = this;
    progress_.progress_monitor = on_progress;
  }
  ~JpegReader() { jpeg_destroy_decompress(&jpeg_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  // Each says whether it went well.
  bool read_header() { return attempt(header_step, nullptr); }
  bool read_rows(std::uint8_t* pixels) { return attempt(rows_step, pixels); }

  const char* problem() const { return problem_; }
  std::size_t height() const { return jpeg_.image_height; }
  std::size_t width() const { return jpeg_.image_width; }
  // Sides with what fills up the last block of each, which takes memory too.
  std::size_t padded_height() const { return padded(height(), jpeg_.max_v_samp_factor); }
  std::size_t padded_width() const { return padded(width(), jpeg_.max_h_samp_factor); }
  int components() const { return jpeg_.num_components; }
  J_COLOR_SPACE colors() const { return jpeg_.jpeg_color_space; }

 private:
  using Step = void (*)(JpegReader&, std::uint8_t*);

  bool attempt(Step step, std::uint8_t* pixels) {
    if (setjmp(on_failure_) != 0) return false;
    step(*this, pixels);
    return true;
  }

  static std::size_t padded(std::size_t side, int samples) {
    const std::size_t block = DCTSIZE * static_cast<std::size_t>(samples);
    return (side + block - 1) / block * block;
  }

  static void header_step(JpegReader& self, std::uint8_t*) {
    jpeg_create_decompress(&self.jpeg_);
    self.jpeg_.progress = &self.progress_;
    jpeg_mem_src(&self.jpeg_, reinterpret_cast<const unsigned char*>(self.bytes_.data()), self.bytes_.size());
    jpeg_read_header(&self.jpeg_, TRUE);
  }

  static void rows_step(JpegReader& self, std::uint8_t* pixels) {
    jpeg_decompress_struct& jpeg = self.jpeg_;
    jpeg.out_color_space = jpeg.jpeg_color_space == JCS_GRAYSCALE ? JCS_GRAYSCALE : JCS_RGB;
    jpeg.dct_method = JDCT_ISLOW;  // the one whose results do not depend on the machine
    jpeg_start_decompress(&jpeg);
    const std::size_t stride = std::size_t{jpeg.output_width} * static_cast<std::size_t>(jpeg.output_components);
    while (jpeg.output_scanline < jpeg.output_height) {
      JSAMPROW row = pixels + jpeg.output_scanline * stride;
      jpeg_read_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_decompress(&jpeg);
  }

  [[noreturn]] void fail(const char* problem) {
    std::snprintf(problem_, sizeof problem_, "%s", problem);
    std::longjmp(on_failure_, 1);
  }
  [[noreturn]] static void on_error(j_common_ptr jpeg) {
    char message[JMSG_LENGTH_MAX] = "";
    jpeg->err->format_message(jpeg, message);
    static_cast<JpegReader*>(jpeg->client_data)->fail(message);
  }
  // Warnings have negative levels. Most of them say that data are damaged and made up for; not these.
  static void on_message(j_common_ptr jpeg, int level) {
    if (level >= 0) return;
    switch (jpeg->err->msg_code) {
      case JWRN_ADOBE_XFORM:
      case JWRN_EXTRANEOUS_DATA:
      case JWRN_JFIF_MAJOR:
      case JWRN_NOT_SEQUENTIAL:
        return;
      default:
        on_error(jpeg);
    }
  }
  static void on_progress(j_common_ptr jpeg) {
    if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number <= most_scans) return;
    static_cast<JpegReader*>(jpeg->client_data)->fail("too many scans");
  }

  std::string_view bytes_;
  jpeg_decompress_struct jpeg_{};
  jpeg_error_mgr errors_{};
  jpeg_progress_mgr progress_{};
  std::jmp_buf on_failure_{};
  char problem_[JMSG_LENGTH_MAX] = "";
};

}  // namespace

Raster read_jpeg(std::string_view bytes, const std::string& path, bool header_only) {
  JpegReader reader(bytes);
  const auto require = [&](bool went_well) {
    if (!went_well) throw bad_input(path, "an intact JPEG image", quote(reader.problem()));
  };
  require(reader.read_header());
  const J_COLOR_SPACE colors = reader.colors();
  if (colors != JCS_GRAYSCALE && colors != JCS_YCbCr && colors != JCS_RGB) {
    throw bad_input(path, "a JPEG image in grey, YCbCr or RGB",
                    colors == JCS_CMYK || colors == JCS_YCCK
                        ? "CMYK colours"
                        : std::to_string(reader.components()) + " components of unknown meaning");
  }
  Raster image{reader.height(), reader.width(), colors == JCS_GRAYSCALE ? std::size_t{1} : std::size_t{3}, {}};
  require_plausible_size(path, bytes.size(), reader.padded_height(), reader.padded_width(), 8 * image.channels,
                         largest_ratio);
  if (header_only) return image;
  image.pixels.resize(image.height * image.width * image.channels);
  require(reader.read_rows(image.pixels.data()));
  return image;
}

}  // namespace fcam::apps
