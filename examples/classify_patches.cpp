// Where does a trained model look, and what does it see there?
//
//   fcam-train --data shapes --loss lv --epochs 20 --out run
//   classify_patches run/model.safetensors 7
//
// prints attention and class probabilities of each patch of test mosaic 7.
#include <cstdio>
#include <cstdlib>
#include <exception>

#include <fcam/fcam.h>

using namespace fcam;

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s MODEL.safetensors INDEX\n", argv[0]);
    return 2;
  }
  // Any images do: read_cifar10(...), read_fashion_mnist(...), Images(shape, your_bytes, labels, names).
  const Mosaics mosaics(make_shapes(1, Split::test), {.patches = 5, .split = Split::test});
  Model model(mosaics.shape(), mosaics.classes(), {.focus = "small", .classify = "small"});
  load(model, argv[1]);

  const std::size_t index = std::strtoull(argv[2], nullptr, 10) % mosaics.count();
  const Batch<float> batch = make_batch(mosaics, {&index, 1});
  Graph<float> graph(model);
  const auto a = softmax(graph.focus(batch));     // (1, m)
  const auto p = softmax(graph.classify(batch));  // (1, m, C)
  for (std::size_t j = 0; j < mosaics.patches(); ++j) {
    std::printf("patch %zu%s  attention %.3f ", j, static_cast<int>(j) == batch.z[0] ? "*" : " ", a.value()(0, j));
    for (std::size_t c = 0; c < mosaics.classes(); ++c) {
      std::printf("  %s %.3f", mosaics.class_names()[c].c_str(), p.value()(0, j, c));
    }
    std::puts("");
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
  return 1;
}
