#include "fcam/autodiff/tape.h"

#include <algorithm>
#include <limits>

namespace fcam {

template <class T>
Node<T>& Tape<T>::next() {
  if (used_ == nodes_.size()) nodes_.emplace_back();
  Node<T>& node = nodes_[used_++];
  node.tape = this;
  node.external_value = nullptr;
  node.inputs = {};
  node.backward = nullptr;
  node.context = nullptr;
  node.state = nullptr;
  node.constant = T();
  node.needs_gradient = false;
  node.reached = false;
  return node;
}

template <class T>
Var<T> Tape<T>::leaf(const Tensor<T>& value, bool needs_gradient) {
  Node<T>& node = next();
  node.external_value = &value;
  node.needs_gradient = needs_gradient;
  return Var<T>(node);
}

template <class T>
Node<T>& Tape<T>::record(std::initializer_list<Var<T>> inputs, const TensorShape& shape,
                         typename Node<T>::Backward send_back) {
  Node<T>& node = next();
  node.own_value.resize(shape);
  node.backward = send_back;
  std::size_t i = 0;
  for (const Var<T>& input : inputs) {
    assert(&input.tape() == this && i < node.inputs.size());
    node.inputs[i++] = &input.node();
    node.needs_gradient = node.needs_gradient || input.node().needs_gradient;
  }
  return node;
}

template <class T>
void Tape<T>::backward(Var<T> output, T seed) {
  assert(&output.tape() == this && output.value().size() == 1);
  for (std::size_t i = 0; i < used_; ++i) nodes_[i].reached = false;
  output.node().contribute([&](std::size_t) { return seed; });
  for (std::size_t i = used_; i-- > 0;) {
    Node<T>& node = nodes_[i];
    if (node.reached && node.backward != nullptr) node.backward(node);
  }
}

template <class T>
void Tape<T>::poison() {
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    std::fill_n(nodes_[i].gradient.data(), nodes_[i].gradient.size(), nan);
    if (i >= used_) std::fill_n(nodes_[i].own_value.data(), nodes_[i].own_value.size(), nan);
  }
}

template class Tape<float>;
template class Tape<double>;

}  // namespace fcam
