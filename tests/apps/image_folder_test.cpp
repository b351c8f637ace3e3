#include "common/image_folder.h"

#include <memory>
#include <set>

#include <sys/stat.h>

#include "support/errors.h"
#include "support/pictures.h"
#include "support/temporary_folder.h"

using namespace fcam;
using namespace fcam::apps;
using namespace fcam::test;

namespace {

namespace fs = std::filesystem;

// A tree of files.
struct Tree {
  std::shared_ptr<TemporaryFolder> folder = std::make_shared<TemporaryFolder>();  // which copies share

  Tree& with(const std::string& name, const std::string& content) {
    fs::create_directories(fs::path(folder->file(name)).parent_path());
    write_file(folder->file(name), content);
    return *this;
  }
  Tree& grey(const std::string& name, char pixel = 'g') { return with(name, plain_png(4, 4, png_grey, {pixel})); }
  Tree& empty(const std::string& name) {
    fs::create_directories(folder->file(name));
    return *this;
  }
  Images read(Split split = Split::train, const std::string& resize = "", double holdout = 0.5) const {
    return read_image_folder(folder->path().string(), split, resize, holdout);
  }
};

Tree two_classes() {
  Tree tree;
  tree.grey("train/cat/1.png", 'a').grey("train/dog/1.png", 'b').grey("train/dog/2.png", 'c');
  tree.grey("test/cat/1.png", 'd').grey("test/dog/1.png", 'e');
  return tree;
}

std::string first_bytes(const Images& images) {
  std::string text;
  for (std::size_t i = 0; i < images.count(); ++i) text += static_cast<char>(images.bytes(i)[0]);
  return text;
}

void check_refused(const Tree& tree, std::initializer_list<std::string> parts, const std::string& resize = "") {
  check_error([&] { tree.read(Split::train, resize); }, parts);
}

}  // namespace

TEST_CASE("folders train and test hold a folder a class", "[image_folder]") {
  const Tree tree = two_classes();
  CHECK(has_test_folder(tree.folder->path().string()));
  const Images train = tree.read(), test = tree.read(Split::test);
  CHECK(train.class_names() == std::vector<std::string>{"cat", "dog"});
  CHECK(test.class_names() == train.class_names());
  CHECK(train.labels() == std::vector<int>{0, 1, 1});
  CHECK(first_bytes(train) == "abc");
  CHECK(first_bytes(test) == "de");
  CHECK(train.shape() == Shape{1, 4, 4});
}

TEST_CASE("one level of class folders is cut into a training and a test part", "[image_folder]") {
  Tree tree;
  for (int i = 0; i < 10; ++i) {
    tree.grey("b/" + std::to_string(i) + ".png", static_cast<char>('0' + i));
    tree.grey("a/" + std::to_string(i) + ".png", static_cast<char>('A' + i));
  }
  CHECK_FALSE(has_test_folder(tree.folder->path().string()));
  const Images train = tree.read(Split::train, "", 0.2), test = tree.read(Split::test, "", 0.2);
  CHECK(train.count() == 16);
  CHECK(test.count() == 4);
  const std::string all = first_bytes(train) + first_bytes(test);
  CHECK(std::set<char>(all.begin(), all.end()).size() == 20);
  CHECK(test.labels() == std::vector<int>{0, 0, 1, 1});
  CHECK(content_hash(tree.read(Split::test, "", 0.2)) == content_hash(test));
}

TEST_CASE("a class called train is a class", "[image_folder]") {
  Tree tree;
  for (const std::string name : {"bus", "train", "test"}) tree.grey(name + "/1.png").grey(name + "/2.png");
  CHECK(tree.read().class_names() == std::vector<std::string>{"bus", "test", "train"});
}

TEST_CASE("the order of images is that of their names byte for byte", "[image_folder]") {
  Tree tree;
  for (const std::string name : {"b", "B", "a10", "a9", "\xc3\xa4", "_", "a"}) {
    tree.grey("train/x/" + name + ".png", name.back());
  }
  tree.grey("train/Y/1.png", 'y').grey("test/x/1.png").grey("test/Y/1.png");
  const Images images = tree.read();
  CHECK(images.class_names() == std::vector<std::string>{"Y", "x"});
  CHECK(first_bytes(images) == "yB_a09b\xa4");
}

TEST_CASE("dotfiles and files that are no pictures are left alone", "[image_folder]") {
  Tree tree = two_classes();
  const std::uint64_t hash = content_hash(tree.read());
  tree.with("train/.DS_Store", "x").with("train/.ipynb_checkpoints/1.png", "x").with("train/cat/.hidden.png", "x");
  tree.with(".git/config", "x").with("README.txt", "x").with("train/labels.csv", "x").with("train/dog/notes.txt", "x");
  tree.with("train/cat/png", "x").with("train/cat/Thumbs.db", "x").empty("train/cat/more");
  CHECK(content_hash(tree.read()) == hash);
}

TEST_CASE("names may end in png, jpg or jpeg in any case, and content decides", "[image_folder]") {
  Tree tree = two_classes();
  tree.with("train/cat/2.JPG", plain_jpeg(4, 4, "j")).with("train/cat/3.jpeg", plain_jpeg(4, 4, "j"));
  tree.with("train/cat/4.Png", plain_png(4, 4, png_grey, "p")).with("train/cat/5.jpg", plain_png(4, 4, png_grey, "p"));
  tree.with("train/cat/6.png", plain_jpeg(4, 4, "j"));
  CHECK(first_bytes(tree.read()) == "ajjppjbc");
}

TEST_CASE("images are grey where all are, and have colours where one has, in either split", "[image_folder]") {
  for (const std::string place : {"train/dog/3.png", "test/dog/3.png"}) {
    Tree tree = two_classes();
    CHECK(tree.read().shape() == Shape{1, 4, 4});
    tree.with(place, plain_png(4, 4, png_rgb, "rgb"));
    for (const Split split : {Split::train, Split::test}) CHECK(tree.read(split).shape() == Shape{3, 4, 4});
    const Images images = tree.read(place.starts_with("train") ? Split::train : Split::test);
    const std::size_t last = images.count() - 1;
    for (std::size_t plane = 0; plane < 3; ++plane) {
      CHECK(images.bytes(last)[16 * plane] == "rgb"[plane]);
      CHECK(images.bytes(last - 1)[16 * plane] == images.bytes(last - 1)[0]);
    }
  }
}

TEST_CASE("palette, 16-bit, transparent and grey images stand side by side", "[image_folder]") {
  Tree tree = two_classes();
  tree.with("train/dog/3.png", plain_png(4, 4, png_palette, "\1", png_chunk("PLTE", "abcdef")));
  tree.with("train/dog/4.png", plain_png(4, 4, png_rgb, "aabbcc"));
  tree.with("train/dog/5.png", plain_png(4, 4, png_rgba, "rgb\xff"));
  tree.with("train/dog/6.png", plain_png(4, 4, png_grey_alpha, "g\xff"));
  const Images images = tree.read();
  CHECK(first_bytes(images) == "abcdarg");
  CHECK(images.bytes(3)[32] == 'f');
  CHECK(images.bytes(4)[16] == 'b');
}

TEST_CASE("an image of another size is refused by name, with the option that helps", "[image_folder]") {
  Tree tree = two_classes();
  tree.with("train/dog/3.png", plain_png(3, 4, png_grey, "x"));
  check_refused(tree, {"train/dog/3.png", "expected 4x4 pixels", "train/cat/1.png", "found 4x3", "--resize 4x4"});
  CHECK(tree.read(Split::train, "4x4").count() == 4);
  CHECK_NOTHROW(tree.read(Split::test));

  Tree in_test = two_classes();
  in_test.with("test/dog/3.png", plain_png(3, 4, png_grey, "x"));
  check_error([&] { in_test.read(Split::test); }, {"test/dog/3.png", "expected 4x4", "train/cat/1.png"});
}

TEST_CASE("--resize gives every image the same size, square or not", "[image_folder]") {
  Tree tree = two_classes();
  tree.with("train/dog/3.png", plain_png(9, 2, png_grey, "x")).with("train/dog/4.jpg", plain_jpeg(64, 48, "j"));
  CHECK(tree.read(Split::train, "6").shape() == Shape{1, 6, 6});
  const Images images = tree.read(Split::train, "2x7");
  CHECK(images.shape() == Shape{1, 2, 7});
  CHECK(first_bytes(images) == "abcxj");
  for (const std::string bad :
       {"0", "-1", "x", "3x", "x3", "3x0", "4097", "3x3x3", "3.5", " 3", "99999999999999999999"}) {
    check_error<UsageError>([&] { tree.read(Split::train, bad); }, {"resize: expected N or HxW", "'" + bad + "'"});
  }
}

TEST_CASE("a class folder without images is named", "[image_folder]") {
  check_refused(two_classes().empty("train/bird"), {"train/bird", "images of class 'bird'", "found an empty folder"});
  check_refused(two_classes().with("train/bird/x.txt", "x").empty("train/bird/y"),
                {"train/bird", "found 1 folders and 1 other files"});
  check_refused(two_classes().with("train/bird/.hidden.png", "x"), {"train/bird", "found an empty folder"});
  check_refused(two_classes().empty("test/bird"), {"test/bird", "images of class 'bird'"});
}

TEST_CASE("training and test need the same classes", "[image_folder]") {
  check_refused(two_classes().grey("train/bird/1.png"),
                {"/test'", "expected the classes of", "found no folder 'bird'"});
  check_refused(two_classes().grey("test/bird/1.png"),
                {"/train'", "expected the classes of", "found no folder 'bird'"});
}

TEST_CASE("one of the folders train and test is not enough", "[image_folder]") {
  Tree only_train, only_test;
  only_train.grey("train/cat/1.png").grey("train/cat/2.png");
  only_test.grey("test/cat/1.png");
  check_refused(only_train, {"expected the folders train and test", "found no folder 'test'"});
  check_refused(only_test, {"expected the folders train and test", "found no folder 'train'"});
  CHECK(read_image_folder(only_train.folder->file("train"), Split::test, "", 0.2).count() == 1);
}

TEST_CASE("folders that hold no class folders are refused", "[image_folder]") {
  check_refused(Tree(), {"expected a folder for each class", "found none"});
  check_refused(Tree().grey("1.png"), {"expected a folder for each class", "found none"});
  check_error([] { read_image_folder("/nowhere/at/all", Split::train, "", 0.2); }, {"/nowhere/at/all"});
  const Tree tree = Tree().grey("1.png");
  check_error([&] { read_image_folder(tree.folder->file("1.png"), Split::train, "", 0.2); }, {"1.png"});
}

TEST_CASE("pictures of other formats are refused, not left out", "[image_folder]") {
  for (const std::string name : {"x.gif", "x.BMP", "x.webp", "x.tiff"}) {
    check_refused(two_classes().with("train/cat/" + name, "x"), {"train/cat/" + name, "PNG or JPEG images only"});
  }
  check_refused(two_classes().with("train/cat/x.png", "GIF89a"), {"train/cat/x.png", "found a GIF image"});
}

TEST_CASE("an image that does not decode is named", "[image_folder]") {
  const std::string jpeg = plain_jpeg(4, 4, "j"), png = plain_png(4, 4, png_grey, "p");
  check_refused(two_classes().with("train/cat/2.jpg", jpeg.substr(0, jpeg.size() - 10)),
                {"train/cat/2.jpg", "intact JPEG"});
  check_refused(two_classes().with("train/cat/2.png", png.substr(0, png.size() - 20)),
                {"train/cat/2.png", "intact PNG"});
  check_refused(two_classes().with("train/cat/2.png", ""), {"train/cat/2.png", "found an empty file"});
}

TEST_CASE("links are followed; broken ones and pipes are named", "[image_folder]") {
  Tree tree = two_classes();
  tree.grey("elsewhere/bird/1.png", 'z').grey("test/bird/1.png");
  fs::create_directory_symlink(tree.folder->file("elsewhere/bird"), tree.folder->file("train/bird"));
  CHECK(first_bytes(tree.read()) == "zabc");
  fs::create_symlink("nowhere", tree.folder->file("train/bird/2.png"));
  check_refused(tree, {"train/bird/2.png"});
  fs::remove(tree.folder->file("train/bird/2.png"));
  REQUIRE(mkfifo(tree.folder->file("train/bird/2.png").c_str(), 0600) == 0);
  check_refused(tree, {"train/bird/2.png", "pipe"});
}

TEST_CASE("a file that is in training and test is refused, under whatever name", "[image_folder]") {
  Tree linked = two_classes();
  fs::create_symlink(linked.folder->file("train/cat/1.png"), linked.folder->file("test/cat/2.png"));
  check_refused(linked, {"test/cat/2.png", "not used for training", "the same file as", "train/cat/1.png"});
  Tree same = Tree().grey("train/cat/1.png");
  fs::create_directory_symlink(same.folder->file("train"), same.folder->file("test"));
  check_refused(same, {"test/cat/1.png", "the same file as"});
  Tree hard = two_classes();
  fs::create_hard_link(hard.folder->file("train/cat/1.png"), hard.folder->file("test/dog/9.png"));
  check_refused(hard, {"test/dog/9.png", "the same file as"});
  // On one level, where it falls into both parts.
  Tree level;
  for (int i = 0; i < 9; ++i) level.grey("cat/" + std::to_string(i) + ".png");
  CHECK_NOTHROW(level.read());
  for (int i = 10; i < 19; ++i) {
    const std::string number = std::to_string(i);
    fs::create_hard_link(level.folder->file("cat/" + number.substr(1) + ".png"),
                         level.folder->file("cat/" + number + ".png"));
  }
  check_refused(level, {"not used for training", "the same file as", "cat/"});
}
