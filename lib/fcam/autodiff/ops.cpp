#include "fcam/autodiff/ops.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

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

// e^x for x <= 0 and a little above, as an inner loop of vectors. For float within 2 units in the last place, 0 where
// the result would be denormal: x = n log 2 + r, and the series of e^r.
template <class T>
inline T exponential(T x) {
  if constexpr (std::is_same_v<T, float>) {
    constexpr float least = -87.3F, shift = 12582912.0F;  // adding 1.5 * 2^23 rounds to a whole number
    const float clamped = x < least ? least : x;
    const float shifted = clamped * 1.44269504F + shift, n = shifted - shift;
    const float r = (clamped - n * 0.693145751953125F) - n * 1.42860682e-6F;  // log 2 in two parts, the first exact
    float p = 1.0F / 5040;
    for (const float c : {1.0F / 720, 1.0F / 120, 1.0F / 24, 1.0F / 6, 0.5F}) p = p * r + c;
    p = p * r * r + r + 1;
    const std::int32_t exponent = std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(shift);
    const float power = std::bit_cast<float>((exponent + 127) << 23);
    return x < least ? 0 : p * power;
  } else {
    return std::exp(x);
  }
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
  T largest = x[0];
  for (std::size_t j = 1; j < n; ++j) largest = std::max(largest, x[j]);
  constexpr std::size_t chunk = 64;
  T powers[chunk];
  double total = 0;
  for (std::size_t first = 0; first < n; first += chunk) {
    const std::size_t count = std::min(chunk, n - first);
    for (std::size_t j = 0; j < count; ++j) powers[j] = exponential(x[first + j] - largest);
    for (std::size_t j = 0; j < count; ++j) total += static_cast<double>(powers[j]);
  }
  return largest + std::log(static_cast<T>(total));
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
    n.input(0).contribute_rows(rows.length, [&](std::size_t r) {
      const T *row_a = a + r * rows.length, *row_g = g + r * rows.length;
      double centre = 0;
      for (std::size_t j = 0; j < rows.length; ++j) centre += static_cast<double>(row_a[j]) * row_g[j];
      return [=](std::size_t j) { return static_cast<T>(row_a[j] * (row_g[j] - centre)); };
    });
  });
  const Rows rows(x.value());
  for (std::size_t r = 0; r < rows.count; ++r) {
    const T* in = x.value().data() + r * rows.length;
    T* out = node.own_value.data() + r * rows.length;
    const T log_total = row_logsumexp(in, rows.length);
    for (std::size_t j = 0; j < rows.length; ++j) out[j] = exponential(in[j] - log_total);
  }
  return Var<T>(node);
}

template <class T>
Var<T> log_softmax(Var<T> x) {
  Node<T>& node = x.tape().record({x}, x.value().shape(), [](Node<T>& n) {
    const Rows rows(n.value());
    const T *g = n.gradient.data(), *y = n.value().data();
    n.input(0).contribute_rows(rows.length, [&](std::size_t r) {
      const T *row_y = y + r * rows.length, *row_g = g + r * rows.length;
      double total = 0;
      for (std::size_t j = 0; j < rows.length; ++j) total += row_g[j];
      return [=](std::size_t j) { return static_cast<T>(row_g[j] - std::exp(static_cast<double>(row_y[j])) * total); };
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
    n.input(0).contribute_rows(rows.length, [&](std::size_t r) {
      return [row = in + r * rows.length, weight = g[r], log_total = y[r]](std::size_t j) {
        return weight * exponential(row[j] - log_total);
      };
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
    n.input(0).contribute_rows(rows.length, [&](std::size_t r) { return [each = g[r]](std::size_t) { return each; }; });
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
    n.input(0).contribute_rows(rows.length, [&](std::size_t r) {
      return [mark = picked(n, r) - r * rows.length, there = g[r]](std::size_t j) { return j == mark ? there : T(0); };
    });
  });
  node.context = &index;
  for (std::size_t r = 0; r < node.own_value.size(); ++r) node.own_value.data()[r] = x.value().data()[picked(node, r)];
  return Var<T>(node);
}

template <class T>
Var<T> log_probability(Var<T> x, const std::vector<int>& index) {
  assert(index.size() == x.value().shape().front());
  Node<T>& node = x.tape().record({x}, without_axis(x.value().shape(), x.value().dimension() - 1), [](Node<T>& n) {
    const Rows rows(n.input(0).value());
    const T *g = n.gradient.data(), *in = n.input(0).value().data(), *y = n.value().data();
    n.input(0).contribute_rows(rows.length, [&](std::size_t r) {
      const T* row = in + r * rows.length;
      const auto mark = static_cast<int>(picked(n, r) - r * rows.length);
      return [=, weight = g[r], log_total = row[mark] - y[r]](std::size_t j) {
        return weight * ((static_cast<int>(j) == mark ? T(1) : T(0)) - exponential(row[j] - log_total));
      };
    });
  });
  node.context = &index;
  const Rows rows(x.value());
  for (std::size_t r = 0; r < rows.count; ++r) {
    const T* in = x.value().data();
    node.own_value.data()[r] = in[picked(node, r)] - row_logsumexp(in + r * rows.length, rows.length);
  }
  return Var<T>(node);
}

template <class T>
Var<T> take(Var<T> x, const std::vector<int>& positions) {
  TensorShape shape = x.value().shape();
  assert(shape.size() >= 2 && positions.size() % shape[0] == 0);
  const std::size_t m = shape[1], part = x.value().size() / (shape[0] * m), k = positions.size() / shape[0];
  shape[1] = k;
  Node<T>& node = x.tape().record({x}, shape, [](Node<T>& n) {
    const auto& taken = *static_cast<const std::vector<int>*>(n.context);
    const auto &from = n.input(0).value().shape(), &to = n.value().shape();
    const std::size_t count = to[1], length = n.value().size() / (to[0] * count);
    const T* g = n.gradient.data();
    n.input(0).contribute_rows(from[1] * length, [&, count, length](std::size_t b) {
      return [index = taken.data() + b * count, row = g + b * count * length, count, length](std::size_t at) {
        T total = 0;
        for (std::size_t i = 0; i < count; ++i) {
          if (static_cast<std::size_t>(index[i]) == at / length) total += row[i * length + at % length];
        }
        return total;
      };
    });
  });
  node.context = &positions;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    assert(positions[i] >= 0 && static_cast<std::size_t>(positions[i]) < m);
    const T* from = x.value().data() + (i / k * m + static_cast<std::size_t>(positions[i])) * part;
    std::copy_n(from, part, node.own_value.data() + i * part);
  }
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

#define FCAM_INSTANTIATE(T)                                         \
  template Var<T> operator+(Var<T>, Var<T>);                        \
  template Var<T> operator-(Var<T>, Var<T>);                        \
  template Var<T> operator*(Var<T>, Var<T>);                        \
  template Var<T> scale(Var<T>, T);                                 \
  template Var<T> exp(Var<T>);                                      \
  template Var<T> softmax(Var<T>);                                  \
  template Var<T> log_softmax(Var<T>);                              \
  template Var<T> logsumexp(Var<T>);                                \
  template Var<T> sum(Var<T>);                                      \
  template Var<T> mean(Var<T>);                                     \
  template Var<T> pick(Var<T>, const std::vector<int>&);            \
  template Var<T> log_probability(Var<T>, const std::vector<int>&); \
  template Var<T> take(Var<T>, const std::vector<int>&);            \
  template Var<T> blend(Var<T>, Var<T>);
FCAM_INSTANTIATE(float)
FCAM_INSTANTIATE(double)
#undef FCAM_INSTANTIATE

}  // namespace fcam
