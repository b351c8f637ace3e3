#include "fcam/attention/model.h"

#include <algorithm>
#include <cassert>

namespace fcam {

template <class T>
Model<T>::Model(const Shape& patch, std::size_t classes, const ModelOptions& options)
    : focus(parse_network(options.focus, Role::focus), Role::focus, patch, 1),
      classify(parse_network(options.classify, Role::classify), Role::classify, patch, classes) {
  focus.initialise(options.seed);
  classify.initialise(options.seed);
}

namespace {

template <class Number, class AnyModel>
std::vector<NamedWeights<Number>> name_weights(AnyModel& model) {
  std::vector<NamedWeights<Number>> result;
  for (auto* network : {&model.focus, &model.classify}) {
    for (const Parameter& parameter : network->parameters()) {
      result.push_back({to_string(network->role()) + "." + parameter.name, parameter.shape,
                        network->weights().data() + parameter.offset});
    }
  }
  return result;
}

}  // namespace

template <class T>
std::vector<NamedWeights<T>> named_weights(Model<T>& model) {
  return name_weights<T>(model);
}

template <class T>
std::vector<NamedWeights<const T>> named_weights(const Model<T>& model) {
  return name_weights<const T>(model);
}

template <class T>
ModelGradient<T>::ModelGradient(const Model<T>& model)
    : focus(model.focus.weights().size()), classify(model.classify.weights().size()) {
  clear();
}

template <class T>
void ModelGradient<T>::clear() {
  std::fill(focus.begin(), focus.end(), T(0));
  std::fill(classify.begin(), classify.end(), T(0));
}

template <class T>
void Graph<T>::clear(ModelGradient<T>* gradient) {
  tape_.clear();
  gradient_ = gradient;
  used_applications_ = used_positions_ = 0;
  classified_.clear();
  patches_.reset();
  scores_.reset();
  patch_logits_.reset();
  bag_logits_.reset();
}

template <class T>
Var<T> Graph<T>::patches(const Batch<T>& batch) {
  if (!patches_) patches_ = tape_.constant(batch.x);
  assert(&patches_->value() == &batch.x && "one record is of one batch");
  return *patches_;
}

template <class T>
Var<T> Graph<T>::apply_network(const Network<T>& network, Buffer<T>* gradient, Var<T> x) {
  if (used_applications_ == applications_.size()) applications_.emplace_back();
  Application<T>& application = applications_[used_applications_++];
  application.network = &network;
  application.workspace = &workspace_;
  application.gradient = gradient;
  return apply(application, x);
}

template <class T>
Var<T> Graph<T>::focus(const Batch<T>& batch) {
  const Var<T> x = patches(batch);
  if (!scores_) scores_ = apply_network(model_->focus, gradient_ != nullptr ? &gradient_->focus : nullptr, x);
  return *scores_;
}

template <class T>
Var<T> Graph<T>::classify(const Batch<T>& batch) {
  const Var<T> x = patches(batch);
  if (!patch_logits_) patch_logits_ = classify_apart(x);
  return *patch_logits_;
}

template <class T>
Var<T> Graph<T>::classify_at(const Batch<T>& batch, const std::vector<int>& positions) {
  return classify_apart(take(patches(batch), positions));
}

template <class T>
std::vector<int>& Graph<T>::positions() {
  if (used_positions_ == positions_.size()) positions_.emplace_back();
  std::vector<int>& list = positions_[used_positions_++];
  list.clear();
  return list;
}

template <class T>
Var<T> Graph<T>::classify(Var<T> x) {
  bag_logits_ = classify_apart(x);
  return *bag_logits_;
}

template <class T>
Var<T> Graph<T>::classify_apart(Var<T> x) {
  classified_.push_back(apply_network(model_->classify, gradient_ != nullptr ? &gradient_->classify : nullptr, x));
  return classified_.back();
}

template <class T>
typename Graph<T>::Calls Graph<T>::classify_calls() const {
  Calls calls;
  for (const Var<T>& logits : classified_) {
    const std::size_t patches = logits.value().size() / model_->classes();
    calls.forward += patches;
    if (logits.has_gradient()) calls.backward += patches;
  }
  return calls;
}

#define FCAM_INSTANTIATE(T)                                       \
  template struct Model<T>;                                       \
  template struct ModelGradient<T>;                               \
  template class Graph<T>;                                        \
  template std::vector<NamedWeights<T>> named_weights(Model<T>&); \
  template std::vector<NamedWeights<const T>> named_weights(const Model<T>&);
FCAM_INSTANTIATE(float)
FCAM_INSTANTIATE(double)
#undef FCAM_INSTANTIATE

}  // namespace fcam
