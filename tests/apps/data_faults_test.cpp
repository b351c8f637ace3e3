// Files and options that are not right, as a user meets them: every one is told in one line, with its exit code.
#include <catch2/catch.hpp>

#include "data/data_files.h"
#include "support/runs.h"

using namespace fcam::test;
using Catch::Contains;

namespace {

namespace fs = std::filesystem;

constexpr std::size_t digits = 60;

std::string idx_images(std::size_t count) {
  return big_endian(2051) + big_endian(static_cast<std::uint32_t>(count)) + big_endian(4) + big_endian(4) +
         varied_bytes(count * 16);
}

std::string idx_labels(std::size_t count) {
  std::string bytes = big_endian(2049) + big_endian(static_cast<std::uint32_t>(count));
  for (std::size_t i = 0; i < count; ++i) bytes += static_cast<char>(i % 10);
  return bytes;
}

// A folder "d" with the four files of MNIST.
struct Mnist {
  TemporaryFolder folder;

  explicit Mnist(const std::string& idx = "-idx") {
    fs::create_directory(folder.file("d"));
    for (const std::string split : {"train", "t10k"}) {
      write_file(path(split + "-images" + idx + "3-ubyte"), idx_images(digits));
      write_file(path(split + "-labels" + idx + "1-ubyte"), idx_labels(digits));
    }
  }
  std::string path(const std::string& name) const { return folder.file("d/" + name); }
  const std::string images = path("train-images-idx3-ubyte"), labels = path("train-labels-idx1-ubyte");
  Command mosaic() const { return command(folder, "fcam-mosaic --data mnist:d --train 9 --test 9"); }
  std::string output() const { return run_well(mosaic()).out; }
  std::string error() const { return error_of(mosaic(), 3); }
};

std::string records(std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) bytes += static_cast<char>(i % 10) + varied_bytes(3072);
  return bytes;
}

// A folder "c" with the six files of CIFAR-10.
struct Cifar {
  TemporaryFolder folder;

  Cifar() {
    fs::create_directory(folder.file("c"));
    for (int i = 1; i <= 5; ++i) write_file(batch(i), records(20));
    write_file(folder.file("c/test_batch.bin"), records(20));
  }
  std::string batch(int i) const { return folder.file("c/data_batch_" + std::to_string(i) + ".bin"); }
  Command mosaic(const std::string& options = "") const {
    return command(folder, "fcam-mosaic --data cifar10:c --train 9 --test 9 " + options);
  }
  std::string error(const std::string& options = "", int code = 3) const { return error_of(mosaic(options), code); }
  std::string usage_error(std::vector<std::string> arguments) const {
    Command what = mosaic();
    what.arguments.insert(what.arguments.end(), arguments.begin(), arguments.end());
    return error_of(what, 2);
  }
};

// An npy file of version `major` with that header text.
std::string npy(const std::string& descr, const std::string& shape, const std::string& data, int major = 1,
                const std::string& order = "False") {
  const std::string text = "{'descr': " + descr + ",  'fortran_order' :" + order + ", 'shape': " + shape + "}\n";
  std::string bytes = "\x93NUMPY";
  bytes += {static_cast<char>(major), '\0', static_cast<char>(text.size()), '\0'};
  if (major > 1) bytes += std::string(2, '\0');
  return bytes + text + data;
}

// A folder "n" of npy items: 8 of 2 numbers, labels 0 to 3.
struct Npy {
  TemporaryFolder folder;

  Npy() {
    fs::create_directory(folder.file("n"));
    for (const std::string split : {"train", "test"}) {
      write("x_" + split, npy("'|u1'", "(8, 2)", "abcdefghijklmnop"));
      write("y_" + split, npy("'|u1'", "(8,)", std::string("\0\1\2\3\0\1\2\3", 8)));
    }
  }
  void write(const std::string& name, const std::string& bytes) const {
    write_file(folder.file("n/" + name + ".npy"), bytes);
  }
  Command mosaic() const { return command(folder, "fcam-mosaic --data npy:n --train 9 --test 9"); }
  std::string with(const std::string& name, const std::string& bytes) const {
    const std::string before = read_file(folder.file("n/" + name + ".npy"));
    write(name, bytes);
    std::string error = error_of(mosaic(), 3);
    write(name, before);
    return error;
  }
};

}  // namespace

TEST_CASE("packed, packed under a plain name, and plain IDX files are the same data", "[data_faults]") {
  const Mnist plain, renamed, packed, joined;
  write_file(renamed.images, gzip(idx_images(digits)));
  fs::remove(packed.images);
  write_file(packed.images + ".gz", gzip(idx_images(digits)));
  const std::string all = idx_images(digits);
  write_file(joined.images, gzip(all.substr(0, 100)) + gzip(all.substr(100)) + std::string(512, '\0'));
  CHECK_THAT(plain.output(), Contains("train: 60 items of 1x4x4, bytes from 0 to 255, content hash "));
  CHECK(renamed.output() == plain.output());
  CHECK(packed.output() == plain.output());
  CHECK(joined.output() == plain.output());
}

TEST_CASE("packed IDX files that are cut, damaged or longer are exit code 3", "[data_faults]") {
  const Mnist files;
  const std::string packed = gzip(idx_images(digits));
  write_file(files.images, packed.substr(0, packed.size() * 6 / 10));
  CHECK_THAT(files.error(), Contains("train-images-idx3-ubyte': expected 976 bytes") && Contains("incomplete copy?"));
  // Cut where an image ends, with a whole gzip member around it.
  write_file(files.images, gzip(idx_images(digits).substr(0, 16 + 16 * 30)));
  CHECK_THAT(files.error(), Contains("60x4x4 bytes after the header") && Contains("found 480 bytes (30 whole items"));
  std::string bad = packed;
  bad[bad.size() - 6] ^= 1;
  write_file(files.images, bad);
  CHECK_THAT(files.error(), Contains("train-images-idx3-ubyte'") && Contains("incorrect data check"));
  write_file(files.images, packed + "more");
  CHECK_THAT(files.error(), Contains("found 4 bytes more"));
}

TEST_CASE("IDX files are found under four spellings, and listed where there are none", "[data_faults]") {
  const Mnist dashes, dots(".idx");
  CHECK(dots.output() == dashes.output());
  for (const Mnist* files : {&dashes, &dots}) {
    for (const auto& entry : std::vector<fs::directory_entry>(fs::directory_iterator(files->path("")), {})) {
      write_file(entry.path().string() + ".gz", gzip(read_file(entry.path().string())));
      fs::remove(entry.path());
    }
  }
  CHECK(dots.output() == dashes.output());
  for (const std::string kind : {"mnist", "fashion-mnist"}) {
    const TemporaryFolder empty;
    fs::create_directory(empty.file("d"));
    CHECK_THAT(error_of(command(empty, "fcam-mosaic --data " + kind + ":d"), 3),
               Contains("train-images-idx3-ubyte, train-images-idx3-ubyte.gz, train-images.idx3-ubyte, "
                        "train-images.idx3-ubyte.gz"));
    CHECK_THAT(error_of(command(empty, "fcam-mosaic --data " + kind + ":d/none"), 3), Contains("d/none"));
    write_file(empty.file("file"), "x");
    CHECK_THAT(error_of(command(empty, "fcam-mosaic --data " + kind + ":file"), 3),
               Contains("'file': expected a folder, found a file"));
  }
}

TEST_CASE("IDX files that are empty, swapped, of other kinds or do not fit each other say so", "[data_faults]") {
  const Mnist files;
  const auto images = [&](const std::string& bytes) {
    write_file(files.images, bytes);
    return files.error();
  };
  CHECK_THAT(images(""), Contains("a file of 0 bytes"));
  CHECK_THAT(images("abc"), Contains("a file of 3 bytes"));
  CHECK_THAT(images(idx_images(digits).substr(0, 16)), Contains("found 0 bytes"));
  CHECK_THAT(images(idx_images(0)), Contains("no samples"));
  CHECK_THAT(images(idx_labels(digits)), Contains("expected magic 2051") && Contains("found magic 2049"));
  CHECK_THAT(images(big_endian(0x0802) + big_endian(60) + big_endian(16) + varied_bytes(960)),
             Contains("found magic 2050 (an IDX file of bytes, 2 axes)"));
  CHECK_THAT(images(big_endian(0x0c03) + big_endian(1) + big_endian(1) + big_endian(1) + "abcd"),
             Contains("found magic 3075 (an IDX file of 32-bit integers, 3 axes)"));
  CHECK_THAT(images(big_endian(2051) + big_endian(0xffffffff) + big_endian(0xffffffff) + big_endian(0xffffffff) + "x"),
             Contains("found 1 bytes"));
  CHECK_THAT(images("\x89PNG\r\n\x1a\n and so on"), Contains("expected magic 2051"));
  CHECK_THAT(images(idx_images(digits) + "x"), Contains("found 961 bytes (60 whole items, remainder 1)"));
  write_file(files.images, idx_images(digits));
  write_file(files.labels, idx_labels(digits - 1));
  CHECK_THAT(files.error(), Contains("train-labels-idx1-ubyte': expected 60 labels") && Contains("found 59"));
  write_file(files.labels, idx_images(digits));
  CHECK_THAT(files.error(), Contains("expected magic 2049") && Contains("found magic 2051"));
  std::string labels = idx_labels(digits);
  labels[8 + 41] = 10;
  write_file(files.labels, labels);
  CHECK_THAT(files.error(), Contains("labels below 10, found 10 at index 41"));
  fs::remove(files.labels);
  fs::create_directory(files.labels);
  CHECK_THAT(files.error(), Contains("train-labels-idx1-ubyte': expected a file, found a folder"));
}

TEST_CASE("CIFAR batches that are cut, missing or hold other labels say so", "[data_faults]") {
  const Cifar files;
  CHECK(run(files.mosaic()).code == 0);
  const std::string batch = files.batch(1), good = read_file(batch);
  write_file(batch, good.substr(0, 30000));
  CHECK_THAT(files.error(), Contains("data_batch_1.bin") && Contains("found 30000 bytes (9 records, remainder 2343)"));
  write_file(batch, "");
  CHECK_THAT(files.error(), Contains("at least one, found 0 bytes"));
  const std::string packed = gzip(good);
  write_file(batch, packed.substr(0, packed.size() * 6 / 10));
  CHECK_THAT(files.error(), Contains("data_batch_1.bin") && Contains("incomplete copy?"));
  write_file(batch, packed);
  CHECK(run(files.mosaic()).code == 0);
  std::string bad = good;
  bad[3073 * 7] = 10;
  write_file(batch, bad);
  CHECK_THAT(files.error(), Contains("labels below 10, found 10 in record 7"));
  write_file(batch, good);
  fs::remove(files.batch(4));
  CHECK_THAT(files.error(), Contains("data_batch_4.bin"));
}

TEST_CASE("CIFAR class names survive what editors do to files, and must be ten different ones", "[data_faults]") {
  const Cifar files;
  const std::string names = files.folder.file("c/batches.meta.txt");
  write_file(names, "\xef\xbb\xbfplane\r\ncar\r\n\r\nb\r\nc\r\nd\r\ne\r\nf\r\ng\r\nh\r\ni");
  CHECK_THAT(run_well(files.mosaic("--foreground plane,car")).out,
             Contains("class 0 'plane'") && Contains("class 1 'car'") && Contains("class 9 'i'"));
  write_file(names, "a\nb\nc\nd\ne\nf\ng\nh\ni\na\n");
  CHECK_THAT(files.error(), Contains("'a' again in line 10"));
  write_file(names, "a\nb\n");
  CHECK_THAT(files.error(), Contains("expected 10 class names, found 2"));
}

TEST_CASE("classes that do not exist, overlap or leave nothing are usage errors", "[data_faults]") {
  const Cifar files;
  CHECK_THAT(files.usage_error({"--foreground", "0,1,12"}), Contains("airplane, automobile") && Contains("'12'"));
  CHECK_THAT(files.usage_error({"--foreground", "catt,dog"}), Contains("nearest: cat"));
  CHECK_THAT(files.usage_error({"--foreground=-1"}), Contains("'-1'"));
  CHECK_THAT(files.usage_error({"--foreground", "1.0"}), Contains("'1.0'"));
  CHECK_THAT(files.usage_error({"--foreground", "99999999999999999999999"}), Contains("'99999999999999999999999'"));
  CHECK_THAT(files.usage_error({"--foreground", "cat,3"}), Contains("each class once") && Contains("'3' again"));
  CHECK_THAT(files.usage_error({"--foreground", "cat", "--background", "dog,cat"}), Contains("'cat' again"));
  CHECK_THAT(files.usage_error({"--background", ""}), Contains("background"));
  CHECK_THAT(files.usage_error({"--foreground", ","}), Contains("foreground: expected names"));
  CHECK_THAT(files.usage_error({"--foreground", "0,1,2,3,4,5,6,7,8,9"}), Contains("a background class"));
  CHECK_THAT(files.usage_error({"--patches", "4294967297"}), Contains("patches"));
  CHECK_THAT(files.usage_error({"--patches", "0"}), Contains("patches"));
  CHECK_THAT(files.usage_error({"--patches=-5"}), Contains("patches"));
  CHECK_THAT(files.usage_error({"--train", "0"}), Contains("train"));
  const std::string spaced =
      run_well(command(files.folder, "fcam-mosaic --data cifar10:c --train 9 --test 9 --foreground", {" cat , 5 ,"}))
          .out;
  CHECK_THAT(spaced, Contains("classes 'cat', 'dog'"));
  // No run is started.
  CHECK_THAT(error_of(command(files.folder, "fcam-train --data cifar10:c --foreground 0,12 --out run"), 2),
             Contains("'12'"));
  CHECK_FALSE(fs::exists(files.folder.file("run")));
}

TEST_CASE("npy files that are cut, too long or something else are exit code 3", "[data_faults]") {
  const Npy files;
  CHECK(run(files.mosaic()).code == 0);
  const std::string x = npy("'|u1'", "(8, 2)", "abcdefghijklmnop");
  for (const std::size_t missing : {1, 7, 16}) {
    CHECK_THAT(files.with("x_train", x.substr(0, x.size() - missing)),
               Contains("x_train.npy': expected 16 bytes") && Contains("found " + std::to_string(16 - missing)));
  }
  CHECK_THAT(files.with("x_train", x + "q"), Contains("expected 16 bytes of data") && Contains("found 17"));
  CHECK_THAT(files.with("x_train", ""), Contains("found an empty file"));
  CHECK_THAT(files.with("x_train", "PK\3\4"), Contains(".npz"));
  CHECK_THAT(files.with("x_train", gzip(x)), Contains("found gzip data"));
  CHECK_THAT(files.with("x_train", x.substr(0, 5)), Contains("an npy file"));
  CHECK_THAT(files.with("x_train", npy("'|u1'", "(0, 3, 32, 32)", "")), Contains("no samples"));
  CHECK_THAT(files.with("x_train", npy("'|u1'", "()", "x")), Contains("found scalar"));
  CHECK_THAT(files.with("x_train", npy("'<f8'", "(1099511627776, 1099511627776)", "x")), Contains("found 1"));
  CHECK_THAT(files.with("x_train", npy("'<f8'", "(-1, 2)", "x")), Contains("a size"));
  CHECK_THAT(files.with("x_train", npy("'|u1'", "(8)", "abcdefgh")), Contains("one number in parentheses"));
}

TEST_CASE("npy types that fcam has no numbers for are named", "[data_faults]") {
  const Npy files;
  for (const std::string type : {"|b1", "<f2", "<u2", "<u4", "<u8", "<i2", "|i1", "<c8", "<U3", "|S4", "<M8[s]"}) {
    CHECK_THAT(files.with("x_train", npy("'" + type + "'", "(8, 2)", std::string(64, '\0'))),
               Contains("numbers of type u1, f4, f8, i4 or i8, found '" + type + "'"));
  }
  CHECK_THAT(files.with("x_train", npy("'|O'", "(8, 2)", "\x80\x04.")), Contains("pickled Python objects"));
  CHECK_THAT(files.with("x_train", npy("[('a', '<f4'), ('b', '<f4')]", "(8, 2)", "")), Contains("structured type"));
}

TEST_CASE("npy numbers of every order, endian and version are read to the same data", "[data_faults]") {
  Npy files;
  const auto output = [&](const std::string& x, const std::string& y) {
    for (const std::string name : {"x_train", "x_test"}) files.write(name, x);
    files.write("y_train", y);
    return run_well(files.mosaic()).out;
  };
  // 0, 1, ..., 15 as 8x2, and labels 0, 1, 2, 3, 0, 1, 2, 3.
  std::string little, big, fortran, long_little, long_big;
  for (int i = 0; i < 16; ++i) {
    const auto number = static_cast<float>(i), transposed = static_cast<float>(i % 8 * 2 + i / 8);
    little.append(reinterpret_cast<const char*>(&number), 4);
    fortran.append(reinterpret_cast<const char*>(&transposed), 4);
    big.append(little.rbegin(), little.rbegin() + 4);
  }
  for (int i = 0; i < 8; ++i) {
    long_little += static_cast<char>(i % 4) + std::string(7, '\0');
    long_big += std::string(7, '\0') + static_cast<char>(i % 4);
  }
  const std::string short_labels = npy("'|u1'", "(8,)", std::string("\0\1\2\3\0\1\2\3", 8));
  const std::string expected = output(npy("'<f4'", "(8, 2)", little), short_labels);
  CHECK_THAT(expected, Contains("train: 8 items of 2, numbers from 0 to 15"));
  CHECK(output(npy("'>f4'", "(8, 2)", big), npy("'<i8'", "(8,)", long_little)) == expected);
  CHECK(output(npy("'<f4'", "(8, 2)", fortran, 2, "True"), npy("'>i8'", "(8,)", long_big)) == expected);
  CHECK(output(npy("'<f4'", "( 8 ,2 , )", little, 3), short_labels) == expected);
}

TEST_CASE("npy labels and numbers that cannot be are refused with their index", "[data_faults]") {
  const Npy files;
  CHECK_THAT(files.with("y_train", npy("'<i4'", "(8,)", std::string(28, '\0') + std::string(4, '\xff'))),
             Contains("y_train.npy': expected integers from 0") && Contains("found -1 at index 7"));
  CHECK_THAT(files.with("y_test", npy("'|u1'", "(8,)", std::string("\0\1\2\3\4\0\0\0", 8))),
             Contains("expected integers from 0 to 3, found 4 at index 4"));
  CHECK_THAT(files.with("y_train", npy("'<f4'", "(8,)", std::string(32, '\0'))), Contains("floating-point numbers"));
  CHECK_THAT(files.with("y_train", npy("'|u1'", "(7,)", std::string("\0\1\2\3\0\1\2", 7))),
             Contains("y_train.npy': expected 8 numbers") && Contains("found 7"));
  CHECK_THAT(files.with("y_train", npy("'|u1'", "(8, 1)", std::string(8, '\0'))), Contains("one axis"));
  for (const std::string& bits : {std::string("\0\0\xc0\x7f", 4), std::string("\0\0\x80\xff", 4)}) {
    CHECK_THAT(files.with("x_train", npy("'<f4'", "(8, 2)", std::string(20, '\0') + bits + std::string(40, '\0'))),
               Contains("expected finite numbers") && Contains("at flat index 5"));
  }
}

TEST_CASE("npy bags need positions within the bag, one a bag", "[data_faults]") {
  const Npy files;
  for (const std::string split : {"train", "test"}) {
    files.write("x_" + split, npy("'|u1'", "(4, 3, 2)", varied_bytes(24)));
    files.write("y_" + split, npy("'|u1'", "(4,)", std::string("\0\1\2\0", 4)));
    files.write("z_" + split, npy("'|u1'", "(4,)", std::string("\0\1\2\0", 4)));
  }
  CHECK(run(files.mosaic()).code == 2);  // they settle --train
  const Command plain = command(files.folder, "fcam-mosaic --data npy:n");
  CHECK_THAT(run_well(plain).out, Contains("train: 4 bags of 3 patches of 2, positions known"));
  const auto error = [&](const std::string& name, const std::string& bytes) {
    const std::string path = files.folder.file("n/" + name + ".npy"), before = read_file(path);
    write_file(path, bytes);
    std::string text = error_of(plain, 3);
    write_file(path, before);
    return text;
  };
  CHECK_THAT(error("z_train", npy("'|u1'", "(4,)", std::string("\0\1\3\0", 4))),
             Contains("z_train.npy': expected integers from 0 to 2, found 3 at index 2"));
  CHECK_THAT(error("z_train", npy("'|u1'", "(3,)", std::string(3, '\0'))), Contains("expected 4 numbers"));
  CHECK_THAT(error("x_train", npy("'|u1'", "(8, 3)", varied_bytes(24))), Contains("bags of shape (N,m,P)"));
}

TEST_CASE("weights that are cut, of another kind or damaged are exit code 3, with a hint", "[data_faults]") {
  const TemporaryFolder folder;
  run_well(training(folder, "--loss lv --epochs 1 --out run"));
  const std::string model = folder.file("run/model.safetensors"), good = read_file(model);
  const auto error = [&](const std::string& bytes) {
    write_file(folder.file("w.safetensors"), bytes);
    return error_of(command(folder, "fcam-evaluate --model w.safetensors" + tiny()), 3);
  };
  for (const std::size_t size : {std::size_t{0}, std::size_t{4}, std::size_t{8}, std::size_t{100}, good.size() - 1}) {
    CHECK_THAT(error(good.substr(0, size)),
               Contains("w.safetensors") && Contains("incomplete copy or interrupted save"));
  }
  CHECK_THAT(error(std::string(8, '\0')), Contains("incomplete copy"));
  CHECK_THAT(error(good + "x"), Contains("bytes after the last tensor"));
  std::string half = good;
  half.replace(half.find("F32"), 3, "F16");
  CHECK_THAT(error(half), Contains("of dtype F32 or F64, found 'F16'"));
  std::string nan = good;
  nan.replace(nan.size() - 4, 4, std::string("\0\0\xc0\x7f", 4));
  CHECK_THAT(error(nan), Contains("finite"));
  std::string renamed = good;
  renamed.replace(renamed.find("focus.fc1"), 9, "focus.fc7");
  CHECK_THAT(error(renamed), Contains("focus.fc1.weight") && Contains("--focus"));
  write_file(folder.file("w.safetensors"), good);
  const auto evaluate = [&](const std::string& options) {
    return command(
        folder, "fcam-evaluate --model w.safetensors --focus mlp --classify mlp --test 20" + tiny_source() + options);
  };
  CHECK_THAT(error_of(evaluate("--patches 3 --foreground 0,1"), 3),
             Contains("classify.") && Contains("expected shape") && Contains("number of classes"));
  CHECK(run(evaluate("--patches 9")).code == 0);  // networks see one patch
}
