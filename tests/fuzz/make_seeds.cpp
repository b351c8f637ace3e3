// Writes the seeds of the fuzzers, small files of every format and some faults in them, into a folder.
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "data/data_files.h"
#include "fcam/data/npy.h"
#include "fcam/training/safetensors.h"
#include "support/pictures.h"
#include "support/temporary_folder.h"

namespace {

using namespace fcam;
using namespace fcam::test;

std::string folder;

void seed(const std::string& fuzzer, const std::string& name, const std::string& bytes) {
  std::filesystem::create_directories(folder + "/" + fuzzer);
  write_file(folder + "/" + fuzzer + "/" + name, bytes);
}

// As Parts of fuzz.h takes it off again.
std::string part(const std::string& bytes) {
  return std::string{static_cast<char>(bytes.size() & 0xff), static_cast<char>(bytes.size() >> 8)} + bytes;
}

void make_gzip() {
  seed("gzip", "one", gzip("some text"));
  seed("gzip", "two-members", gzip("one ") + gzip("two"));
  seed("gzip", "zeros", gzip(std::string(100'000, '\0')));
  seed("gzip", "padded", gzip("text") + std::string(4, '\0'));
  seed("gzip", "plain", "plain");
}

void make_idx() {
  const std::string images = big_endian(2051) + big_endian(3) + big_endian(2) + big_endian(2) + "0123456789ab";
  const std::string labels = big_endian(2049) + big_endian(3) + std::string("\0\1\2", 3);
  seed("idx", "plain", part(images) + labels);
  seed("idx", "packed", part(gzip(images)) + gzip(labels));
  seed("idx", "swapped", part(labels) + images);
}

void make_cifar() {
  const std::string pixels(3072, 'x'), names = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n";
  seed("cifar", "10", std::string(1, '\0') + part(names) + std::string(1, '\3') + pixels);
  seed("cifar", "10-packed", std::string(1, '\0') + part(names) + gzip(std::string(1, '\3') + pixels));
  std::string coarse;
  for (int c = 0; c < 20; ++c) coarse += "name " + std::to_string(c) + "\r\n";
  seed("cifar", "100-coarse", std::string(1, '\2') + part(coarse) + "\5\7" + pixels);
  std::string fine;
  for (int c = 0; c < 100; ++c) fine += std::to_string(c) + "\n";
  seed("cifar", "100-fine", std::string(1, '\1') + part(fine) + gzip("\5\7" + pixels));
}

template <class T>
std::string npy(const Shape& shape, const std::vector<T>& values) {
  const TemporaryFolder temporary;
  write_npy(temporary.file("a.npy"), shape, values);
  return read_file(temporary.file("a.npy"));
}

void make_npy() {
  using Integers = std::vector<std::int64_t>;
  const std::string y = npy<std::int64_t>({2}, Integers{0, 1}), z = npy<std::int64_t>({2}, Integers{1, 0});
  const std::string bytes = npy<std::uint8_t>({2, 2, 3}, std::vector<std::uint8_t>(12, 7));
  const std::string floats = npy<float>({2, 2, 1, 1, 3}, std::vector<float>(12, 0.5f));
  const std::string doubles = npy<double>({2, 6}, std::vector<double>(12, 0.5));
  seed("npy", "items", std::string(1, '\0') + part(y) + part(z) + bytes);
  seed("npy", "doubles", std::string(1, '\0') + part(y) + part(z) + doubles);
  seed("npy", "bags", std::string(1, '\1') + part(y) + part(z) + bytes);
  seed("npy", "float-bags", std::string(1, '\1') + part(y) + part(z) + floats);
  std::string fortran = bytes;
  fortran.replace(fortran.find("False"), 5, "True ");
  seed("npy", "fortran", std::string(1, '\1') + part(y) + part(z) + fortran);
  std::string big = doubles;
  big.replace(big.find("<f8"), 3, ">f8");
  seed("npy", "big-endian", std::string(1, '\0') + part(y) + part(z) + big);
  std::string version2 = "\x93NUMPY";
  version2 += std::string("\2\0", 2) + bytes.substr(8, 2) + std::string(2, '\0') + bytes.substr(10);
  seed("npy", "version-2", std::string(1, '\0') + part(y) + part(z) + version2);
}

void make_safetensors() {
  const TemporaryFolder temporary;
  const auto bytes_of = [&](const SafeTensors& content) {
    write_safetensors(temporary.file("a"), content);
    return read_file(temporary.file("a"));
  };
  seed("safetensors", "metadata", bytes_of({.metadata = {{"epoch", "3"}}, .tensors = {}}));
  seed("safetensors", "weights",
       bytes_of({.metadata = {{"format", "pt"}},
                 .tensors = {{"focus.fc1.weight", {2, 3}, {1, 2, 3, 4, 5, 6}}, {"empty", {0}, {}}}}));
  std::string double_header = R"({"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}})";
  double_header.append((8 - double_header.size() % 8) % 8, ' ');
  seed("safetensors", "double",
       static_cast<char>(double_header.size()) + std::string(7, '\0') + double_header + std::string(8, '\0'));
}

void make_texts() {
  seed("class_names", "unix", "plane\ncar\n");
  seed("class_names", "windows", "\xef\xbb\xbfplane\r\n\r\ncar");
  seed("class_names", "mac", "1\rcar \r\r");
  seed("toml", "run", "# a run\nloss = \"lv\"\nepochs = 3\nlr = 0.05\nforeground = [\"a\", 'b,c']\nquiet = false\n");
  seed("toml", "escapes", "out = \"a\\tb\\u00e9\\U0001F600\\\"\"\r\nlist = [\n 1, # one\n 2,\n]\n");
}

void make_pictures() {
  seed("png", "rgb", plain_png(5, 3, png_rgb, "abc"));
  seed("png", "rgba", plain_png(5, 3, png_rgba, "abcd"));
  seed("png", "grey", plain_png(5, 3, png_grey, "g"));
  seed("png", "grey-alpha", plain_png(5, 3, png_grey_alpha, "ga"));
  seed("png", "rgb-16", plain_png(2, 2, png_rgb, "aabbcc"));
  seed("png", "transparent", plain_png(5, 3, png_grey, "g", png_chunk("tRNS", std::string("\0g", 2))));
  const std::string palette = png_chunk("PLTE", "redgrn"), text = png_chunk("tEXt", std::string("a\0b", 3));
  seed("png", "palette",
       png_file({.width = 9,
                 .height = 1,
                 .bits = 1,
                 .color = png_palette,
                 .rows = std::string("\0\xaa\x80", 3),
                 .chunks = palette + png_chunk("tRNS", "\x80") + text}));
  seed("png", "interlaced",
       png_file({.width = 1,
                 .height = 1,
                 .bits = 8,
                 .color = png_grey,
                 .rows = std::string("\0g", 2),
                 .chunks = {},
                 .interlaced = true}));
  std::string pixels = varied_bytes(3 * 17 * 9);
  seed("jpeg", "rgb", jpeg_file({.width = 17, .height = 9, .pixels = pixels, .quality = 40}));
  seed("jpeg", "progressive",
       jpeg_file({.width = 17, .height = 9, .pixels = pixels, .progressive = true, .quality = 40}));
  seed("jpeg", "grey",
       jpeg_file({.width = 17, .height = 9, .components = 1, .pixels = varied_bytes(17 * 9), .quality = 40}));
  seed("jpeg", "cmyk", plain_jpeg(8, 8, "cmyk"));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: make-fuzz-seeds FOLDER\n";
    return 2;
  }
  folder = argv[1];
  make_gzip();
  make_idx();
  make_cifar();
  make_npy();
  make_safetensors();
  make_texts();
  make_pictures();
}
