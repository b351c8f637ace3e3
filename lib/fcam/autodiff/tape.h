// Reverse-mode differentiation over a tape of coarse nodes: a node is a whole tensor operation (docs/design.md).
// A tape is recorded anew at each step but keeps its nodes and their buffers, so that recording the same operations
// again allocates nothing.
#pragma once

#include <array>
#include <cassert>
#include <deque>
#include <initializer_list>

#include "fcam/base/tensor.h"

namespace fcam {

template <class T>
class Tape;

/// One recorded operation: its result, and how to send a gradient on to its inputs. What somebody needs to write a new
/// operation; users of existing ones see only Var.
template <class T>
struct Node {
  /// Reads own value() and gradient, and contributes to the gradients of the inputs.
  using Backward = void (*)(Node& node);

  Tensor<T> own_value;
  const Tensor<T>* external_value = nullptr;  ///< set for leaves, whose values belong to somebody else
  Tensor<T> gradient;                         ///< of the output with respect to value(); valid where `reached`
  std::array<Node*, 2> inputs{};
  Backward backward = nullptr;
  const void* context = nullptr;  ///< whatever else the operation reads; must outlive the backward sweep
  void* state = nullptr;          ///< whatever it keeps or adds to; must outlive the backward sweep
  T constant{};                   ///< a number that the operation reads
  bool needs_gradient = false;
  bool reached = false;  ///< whether a gradient has arrived in this sweep
  Tape<T>* tape = nullptr;

  const Tensor<T>& value() const { return external_value != nullptr ? *external_value : own_value; }
  Node& input(std::size_t i) const { return *inputs[i]; }

  /// Adds a gradient, element(i) at flat index i. The first one of a sweep is assigned, so buffers need no clearing.
  /// Does nothing where no gradient is needed.
  template <class Element>
  void contribute(Element&& element) {
    contribute_rows(value().size(), [&](std::size_t) { return element; });
  }
  /// The same for rows of `length` elements: row(r) gives element(j) of row r. Requires length > 0 unless empty.
  template <class Row>
  void contribute_rows(std::size_t length, Row&& row) {
    if (!needs_gradient) return;
    const std::size_t rows = length > 0 ? value().size() / length : 0;
    if (!reached) gradient.resize(value().shape());
    for (std::size_t r = 0; r < rows; ++r) {
      const auto element = row(r);
      T* const g = gradient.data() + r * length;
      if (reached) {
        for (std::size_t j = 0; j < length; ++j) g[j] += element(j);
      } else {
        for (std::size_t j = 0; j < length; ++j) g[j] = element(j);
      }
    }
    reached = true;
  }
};

/// A value on a tape: a handle, cheap to copy, valid until the tape is cleared.
template <class T>
class Var {
 public:
  explicit Var(Node<T>& node) : node_(&node) {}

  const Tensor<T>& value() const { return node_->value(); }
  /// Derivative of the output of the last backward sweep; requires that the sweep reached this value.
  const Tensor<T>& gradient() const {
    assert(node_->reached);
    return node_->gradient;
  }
  bool has_gradient() const { return node_->reached; }
  /// The only element. Requires size 1.
  T scalar() const {
    assert(value().size() == 1);
    return value().data()[0];
  }
  Node<T>& node() const { return *node_; }
  Tape<T>& tape() const { return *node_->tape; }

 private:
  Node<T>* node_;
};

/// The record of one computation. Instantiated for float and double. Use from one thread at a time.
template <class T>
class Tape {
 public:
  Tape() = default;
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// A leaf that needs no gradient. The tensor is not copied and must live as long as the record.
  Var<T> constant(const Tensor<T>& value) { return leaf(value, false); }
  /// A leaf whose gradient is asked for.
  Var<T> variable(const Tensor<T>& value) { return leaf(value, true); }

  /// Records an operation on one or two inputs; its own_value has `shape` and is for the caller to fill.
  Node<T>& record(std::initializer_list<Var<T>> inputs, const TensorShape& shape, typename Node<T>::Backward send_back);

  /// Gradients of `seed` times `output` (a scalar) in everything it was computed from.
  void backward(Var<T> output, T seed = 1);

  /// Forgets the record, keeps the buffers.
  void clear() { used_ = 0; }

  /// Fills all gradient buffers and own values that are not in use with NaN, for tests of what depends on old content.
  void poison();

 private:
  Var<T> leaf(const Tensor<T>& value, bool needs_gradient);
  Node<T>& next();

  std::deque<Node<T>> nodes_;  // a deque keeps nodes where they are
  std::size_t used_ = 0;
};

}  // namespace fcam
