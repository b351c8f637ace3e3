// The operations that losses are written with. Each works on values of any number of axes; "rows" are the last axis.
// Everything stays finite for logits and scores of magnitude 1e4: no epsilon inside a logarithm, no exp without its
// maximum taken out. Instantiated for float and double; requires inputs on the same tape.
#pragma once

#include <type_traits>
#include <vector>

#include "fcam/autodiff/tape.h"

namespace fcam {

template <class T>
Var<T> operator+(Var<T> a, Var<T> b);  ///< elementwise; requires equal shapes
template <class T>
Var<T> operator-(Var<T> a, Var<T> b);  ///< elementwise; requires equal shapes
template <class T>
Var<T> operator*(Var<T> a, Var<T> b);  ///< elementwise; requires equal shapes
template <class T>
Var<T> scale(Var<T> x, T factor);  ///< factor x
template <class T>
Var<T> exp(Var<T> x);  ///< elementwise

template <class T>
Var<T> operator-(Var<T> x) {
  return scale(x, T(-1));
}
template <class T>
Var<T> operator*(std::type_identity_t<T> factor, Var<T> x) {
  return scale(x, factor);
}
template <class T>
Var<T> operator*(Var<T> x, std::type_identity_t<T> factor) {
  return scale(x, factor);
}
template <class T>
Var<T> operator/(Var<T> x, std::type_identity_t<T> divisor) {
  return scale(x, T(1) / divisor);
}

/// softmax over each row: (..., n) -> (..., n).
template <class T>
Var<T> softmax(Var<T> x);

/// log softmax over each row: (..., n) -> (..., n).
template <class T>
Var<T> log_softmax(Var<T> x);

/// ln sum_j e^(x_j) over each row: (..., n) -> (...).
template <class T>
Var<T> logsumexp(Var<T> x);

/// Sum over each row: (..., n) -> (...).
template <class T>
Var<T> sum(Var<T> x);

/// Mean of all elements: (...) -> (1).
template <class T>
Var<T> mean(Var<T> x);

/// Element index[b] of each row of batch item b: (B, ..., n) and B indices below n -> (B, ...). The indices are not
/// copied and must outlive the backward sweep.
template <class T>
Var<T> pick(Var<T> x, const std::vector<int>& index);

/// log softmax(x)_index of each row, that is pick(log_softmax(x), index) in one pass: of logits and labels, minus the
/// cross entropy. Same requirements as pick.
template <class T>
Var<T> log_probability(Var<T> x, const std::vector<int>& index);

/// Some parts of each bag: x (B, m, P...) and k positions a bag, (B, k) numbers below m -> (B, k, P...). The positions
/// may repeat; they are not copied and must outlive the backward sweep.
template <class T>
Var<T> take(Var<T> x, const std::vector<int>& positions);

/// The value alone: no gradient passes.
template <class T>
Var<T> detach(Var<T> x) {
  return x.tape().constant(x.value());
}

/// sum_j a_j x_j, the soft attention of each bag: a (B, m) and x (B, m, P...) -> (B, P...).
template <class T>
Var<T> blend(Var<T> a, Var<T> x);

}  // namespace fcam
