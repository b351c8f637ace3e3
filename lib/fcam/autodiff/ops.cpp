#include "fcam/autodiff/ops.h"

#include <algorithm>
#include <cmath>

namespace fcam {
namespace {

// Rows of a tensor: `count` of `length` elements each, the last axis.
struct Rows {
  std::size_t count, length;
  template <class T>
  explicit Rows(const Tensor<T>& x) : length(x.shape().back()) {
    assert(length > 0);
    count = x.size() / length;
  }
};

TensorShape without_axis(const TensorShape& shape, std::size_t axis) {
  TensorShape result;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i != axis) result.push_back(shape[i]);
  }
  return result;
}

// Inner product in several partial sums, which vectorise and round less than one.
template <class T>
T dot(const T* x, const T* y, std::size_t size) {
  constexpr std::size_t lanes = 16;
  T partial[lanes] = {};
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) partial[lane] += x[i + lane] * y[i + lane];
  }
  double total = 0;
  for (const T part : partial) total += part;
  for (; i < size; ++i) total += static_cast<double>(x[i]) * y[i];
  return static_cast<T>(total);
}

// ln sum_j e^(x_j) with the maximum taken out.
template <class T>
T row_logsumexp(const T* x, std::size_t n) {
  const T largest = *std::max_element(x, x + n);
  T total = 0;
  for (std::size_t j = 0; j < n; ++j) total += std::exp(x[j] - largest);
  return largest + std::log(total);
}

// The flat index of the element that `pick` takes from a row.
template <class T>
std::size_t picked(const Node<T>& node, std::size_t row) {
  const Rows rows(node.input(0).value());
  const auto& index = *static_cast<const std::vector<int>*>(node.context);
  const std::size_t rows_per_item = rows.count / index.size();
  return row * rows.length + static_cast<std::size_t>(index[row / rows_per_item]);
}

}  // namespace

template <class T>
Var<T> operator+(Var<T> a, Var<T> b) {
  assert(a.value().shape() == b.value().shape());
  Node<T>& node = a.tape().record({a, b}, a.value().shape(), [](Node<T>& n) {
    const T* g = n.gradient.data();
    for (const std::size_t i : {0, 1}) n.input(i).contribute([&](std::size_t k) { return g[k]; });
  });
  const T *x = a.value().data(), *y = b.value().data();
  std::transform(x, x + a.value().size(), y, node.own_value.data(), [](T p, T q) { return p + q; });
  return Var<T>(node);
}

template <class T>
Var<T> operator-(Var<T> a, Var<T> b) {
  return a + (-b);
}

template <class T>
Var<T> operator*(Var<T> a, Var<T> b) {
  assert(a.value().shape() == b.value().shape());
  Node<T>& node = a.tape().record({a, b}, a.value().shape(), [](Node<T>& n) {
    const T* g = n.gradient.data();
    for (const std::size_t i : {0, 1}) {
      const T* other = n.input(1 - i).value().data();
      n.input(i).contribute([&](std::size_t k) { return g[k] * other[k]; });
    }
  });
  const T *x = a.value().data(), *y = b.value().data();
  std::transform(x, x + a.value().size(), y, node.own_value.data(), [](T p, T q) { return p * q; });
  return Var<T>(node);
}

template <class T>
Var<T> scale(Var<T> x, T factor) {
  Node<T>& node = x.tape().record({x}, x.value().shape(), [](Node<T>& n) {
    const T* g = n.gradient.data();
    n.input(0).contribute([&](std::size_t k) { return n.constant * g[k]; });
  });
  node.constant = factor;
  const T* in = x.value().data();
  std::transform(in, in + x.value().size(), node.own_value.data(), [=](T p) { return factor * p; });
  return Var<T>(node);
}

template <class T>
Var<T> exp(Var<T> x) {
  Node<T>& node = x.tape().record({x}, x.value().shape(), [](Node<T>& n) {
    const T *g = n.gradient.data(), *y = n.value().data();
    n.input(0).contribute([&](std::size_t k) { return g[k] * y[k]; });
  });
  const T* in = x.value().data();
  std::transform(in, in + x.value().size(), node.own_value.data(), [](T p) { return std::exp(p); });
  return Var<T>(node);
}

template <class T>
Var<T> softmax(Var<T> x) {
  Node<T>& node = x.tape().record({x}, x.value().shape(), [](Node<T>& n) {
    // dx_j = a_j (da_j - sum_i a_i da_i): the difference cancels, so the sum is taken in double.
    const Rows rows(n.value());
    const T *g = n.gradient.data(), *a = n.value().data();
    double centre = 0;
    n.input(0).contribute([&](std::size_t k) {
      if (k % rows.length == 0) {
        centre = 0;
        for (std::size_t j = 0; j < rows.length; ++j) centre += static_cast<double>(a[k + j]) * g[k + j];
      }
      return static_cast<T>(a[k] * (g[k] - centre));
    });
  });
  const Rows rows(x.value());
  for (std::size_t r = 0; r < rows.count; ++r) {
    const T* in = x.value().data() + r * rows.length;
    T* out = node.own_value.data() + r * rows.length;
    const T log_total = row_logsumexp(in, rows.length);
    for (std::size_t j = 0; j < rows.length; ++j) out[j] = std::exp(in[j] - log_total);
  }
  return Var<T>(node);
}

template <class T>
Var<T> log_softmax(Var<T> x) {
  Node<T>& node = x.tape().record({x}, x.value().shape(), [](Node<T>& n) {
    const Rows rows(n.value());
    const T *g = n.gradient.data(), *y = n.value().data();
    double total = 0;
    n.input(0).contribute([&](std::size_t k) {
      if (k % rows.length == 0) {
        total = 0;
        for (std::size_t j = 0; j < rows.length; ++j) total += g[k + j];
      }
      return static_cast<T>(g[k] - std::exp(static_cast<double>(y[k])) * total);
    });
  });
  const Rows rows(x.value());
  for (std::size_t r = 0; r < rows.count; ++r) {
    const T* in = x.value().data() + r * rows.length;
    T* out = node.own_value.data() + r * rows.length;
    const T log_total = row_logsumexp(in, rows.length);
    for (std::size_t j = 0; j < rows.length; ++j) out[j] = in[j] - log_total;
  }
  return Var<T>(node);
}

template <class T>
Var<T> logsumexp(Var<T> x) {
  Node<T>& node = x.tape().record({x}, without_axis(x.value().shape(), x.value().dimension() - 1), [](Node<T>& n) {
    const Rows rows(n.input(0).value());
    const T *g = n.gradient.data(), *in = n.input(0).value().data(), *y = n.value().data();
    n.input(0).contribute([&](std::size_t k) {
      const std::size_t r = k / rows.length;
      return g[r] * std::exp(in[k] - y[r]);
    });
  });
  const Rows rows(x.value());
  for (std::size_t r = 0; r < rows.count; ++r) {
    node.own_value.data()[r] = row_logsumexp(x.value().data() + r * rows.length, rows.length);
  }
  return Var<T>(node);
}

template <class T>
Var<T> sum(Var<T> x) {
  Node<T>& node = x.tape().record({x}, without_axis(x.value().shape(), x.value().dimension() - 1), [](Node<T>& n) {
    const Rows rows(n.input(0).value());
    const T* g = n.gradient.data();
    n.input(0).contribute([&](std::size_t k) { return g[k / rows.length]; });
  });
  const Rows rows(x.value());
  for (std::size_t r = 0; r < rows.count; ++r) {
    const T* in = x.value().data() + r * rows.length;
    T total = 0;
    for (std::size_t j = 0; j < rows.length; ++j) total += in[j];
    node.own_value.data()[r] = total;
  }
  return Var<T>(node);
}

template <class T>
Var<T> mean(Var<T> x) {
  assert(x.value().size() > 0);
  Node<T>& node = x.tape().record({x}, TensorShape{1}, [](Node<T>& n) {
    const T share = n.gradient.data()[0] / static_cast<T>(n.input(0).value().size());
    n.input(0).contribute([&](std::size_t) { return share; });
  });
  const T* in = x.value().data();
  double total = 0;
  for (std::size_t k = 0; k < x.value().size(); ++k) total += in[k];
  node.own_value.data()[0] = static_cast<T>(total / static_cast<double>(x.value().size()));
  return Var<T>(node);
}

template <class T>
Var<T> pick(Var<T> x, const std::vector<int>& index) {
  assert(index.size() == x.value().shape().front());
  Node<T>& node = x.tape().record({x}, without_axis(x.value().shape(), x.value().dimension() - 1), [](Node<T>& n) {
    const Rows rows(n.input(0).value());
    const T* g = n.gradient.data();
    n.input(0).contribute([&](std::size_t k) {
      const std::size_t row = k / rows.length;
      return k == picked(n, row) ? g[row] : T(0);
    });
  });
  node.context = &index;
  for (std::size_t r = 0; r < node.own_value.size(); ++r) node.own_value.data()[r] = x.value().data()[picked(node, r)];
  return Var<T>(node);
}

template <class T>
Var<T> blend(Var<T> a, Var<T> x) {
  const auto& shape = x.value().shape();
  assert(shape.size() >= 2 && shape[0] == a.value().shape()[0] && shape[1] == a.value().shape()[1]);
  const std::size_t bags = shape[0], patches = shape[1], size = x.value().size() / (bags * patches);
  Node<T>& node = x.tape().record({a, x}, without_axis(shape, 1), [](Node<T>& n) {
    const Tensor<T>&weights = n.input(0).value(), &parts = n.input(1).value();
    const std::size_t m = weights.shape()[1], length = parts.size() / weights.size();
    const T* g = n.gradient.data();
    n.input(0).contribute([&](std::size_t k) { return dot(parts.data() + k * length, g + k / m * length, length); });
    n.input(1).contribute([&](std::size_t k) {
      const std::size_t patch = k / length;
      return weights.data()[patch] * g[patch / m * length + k % length];
    });
  });
  for (std::size_t b = 0; b < bags; ++b) {
    T* out = node.own_value.data() + b * size;
    std::fill_n(out, size, T(0));
    for (std::size_t j = 0; j < patches; ++j) {
      const T weight = a.value().data()[b * patches + j];
      const T* part = x.value().data() + (b * patches + j) * size;
      for (std::size_t p = 0; p < size; ++p) out[p] += weight * part[p];
    }
  }
  return Var<T>(node);
}

#define FCAM_INSTANTIATE(T)                              \
  template Var<T> operator+(Var<T>, Var<T>);             \
  template Var<T> operator-(Var<T>, Var<T>);             \
  template Var<T> operator*(Var<T>, Var<T>);             \
  template Var<T> scale(Var<T>, T);                      \
  template Var<T> exp(Var<T>);                           \
  template Var<T> softmax(Var<T>);                       \
  template Var<T> log_softmax(Var<T>);                   \
  template Var<T> logsumexp(Var<T>);                     \
  template Var<T> sum(Var<T>);                           \
  template Var<T> mean(Var<T>);                          \
  template Var<T> pick(Var<T>, const std::vector<int>&); \
  template Var<T> blend(Var<T>, Var<T>);
FCAM_INSTANTIATE(float)
FCAM_INSTANTIATE(double)
#undef FCAM_INSTANTIATE

}  // namespace fcam
