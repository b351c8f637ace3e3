#include "fcam/attention/inference.h"

#include <algorithm>
#include <array>

#include "fcam/base/named.h"

namespace fcam {
namespace {

// First largest element of each row of (rows, n).
template <class T>
std::size_t row_argmax(const Tensor<T>& x, std::size_t row) {
  const std::size_t n = x.shape().back();
  const T* values = x.data() + row * n;
  return static_cast<std::size_t>(std::max_element(values, values + n) - values);
}

// softmax g of the chosen patch of each mosaic.
template <class T>
void infer_hard(Graph<T>& graph, const Batch<T>& batch, Var<T> f, Outcome<T>& outcome) {
  const std::size_t mosaics = batch.size(), m = f.value().shape().back(), classes = graph.model().classes();
  if (graph.patch_logits()) {
    const Var<T> p = softmax(*graph.patch_logits());
    for (std::size_t b = 0; b < mosaics; ++b) {
      std::copy_n(p.value().data() + (b * m + row_argmax(f.value(), b)) * classes, classes,
                  outcome.s.data() + b * classes);
    }
    return;
  }
  // As a blend with weight one on the chosen patch, g sees that patch alone.
  Node<T>& choice = graph.tape().record({}, f.value().shape(), nullptr);
  std::fill_n(choice.own_value.data(), choice.own_value.size(), T(0));
  for (std::size_t b = 0; b < mosaics; ++b) choice.own_value.data()[b * m + row_argmax(f.value(), b)] = T(1);
  const Var<T> p = softmax(graph.classify_apart(blend(Var<T>(choice), batch)));
  std::copy_n(p.value().data(), outcome.s.size(), outcome.s.data());
}

constexpr std::array<Inference, 3> rules{Inference::soft, Inference::hard, Inference::marginal};

}  // namespace

std::string to_string(Inference rule) {
  switch (rule) {
    case Inference::soft:
      return "sa";
    case Inference::hard:
      return "ha";
    case Inference::marginal:
      break;
  }
  return "lv";
}

Inference find_inference(std::string_view name) {
  return find_named("inference", name, rules, [](Inference rule) { return to_string(rule); });
}

template <class T>
void infer(Graph<T>& graph, const Batch<T>& batch, Inference rule, Outcome<T>& outcome) {
  const Var<T> f = graph.focus(batch);
  const Var<T> a = softmax(f);
  const std::size_t mosaics = batch.size(), m = a.value().shape().back(), classes = graph.model().classes();
  outcome.a.resize(a.value().shape());
  std::copy_n(a.value().data(), a.value().size(), outcome.a.data());
  outcome.s.resize(TensorShape{mosaics, classes});
  switch (rule) {
    case Inference::soft: {
      const Var<T> logits = graph.bag_logits() ? *graph.bag_logits() : graph.classify(blend(a, batch));
      const Var<T> s = softmax(logits);
      std::copy_n(s.value().data(), outcome.s.size(), outcome.s.data());
      break;
    }
    case Inference::hard:
      infer_hard(graph, batch, f, outcome);
      break;
    case Inference::marginal: {
      const Var<T> p = softmax(graph.classify(batch));
      for (std::size_t b = 0; b < mosaics; ++b) {
        for (std::size_t c = 0; c < classes; ++c) {
          double s = 0;
          for (std::size_t j = 0; j < m; ++j) {
            s += static_cast<double>(a.value().data()[b * m + j]) * p.value().data()[(b * m + j) * classes + c];
          }
          outcome.s.data()[b * classes + c] = static_cast<T>(s);
        }
      }
      break;
    }
  }
}

template void infer(Graph<float>&, const Batch<float>&, Inference, Outcome<float>&);
template void infer(Graph<double>&, const Batch<double>&, Inference, Outcome<double>&);

}  // namespace fcam
