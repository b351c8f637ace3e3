// The attention model: a focus network f that scores patches and a classification network g, and what a loss may do
// with them on a batch.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "fcam/autodiff/ops.h"
#include "fcam/nn/network.h"

namespace fcam {

/// B mosaics of m patches, as a model sees them.
template <class T>
struct Batch {
  Tensor<T> x;             ///< (B, m, patch shape...)
  std::vector<int> label;  ///< B classes y
  std::vector<int> z;      ///< B positions of the foreground, -1 where not known
  /// Which mosaics these are: B numbers, for a loss that draws. What it draws for one is a function of the two.
  std::vector<std::uint64_t> index = {};
  std::uint64_t draw_seed = 0;  ///< of the epoch

  std::size_t size() const { return label.size(); }
};

struct ModelOptions {
  std::string focus = "paper";     ///< network f: preset or layers, see parse_network
  std::string classify = "paper";  ///< network g
  std::uint64_t seed = 1;          ///< of the initial weights
};

/// f and g with their weights; copies are independent.
template <class T = float>
struct Model {
  /// Networks for patches of that shape, initialised from the seed. Throws UsageError where a network does not fit.
  Model(const Shape& patch, std::size_t classes, const ModelOptions& options = {});

  std::size_t classes() const { return classify.outputs(); }
  const Shape& patch_shape() const { return focus.input_shape(); }

  Network<T> focus;     ///< f: patch -> score
  Network<T> classify;  ///< g: patch -> C logits
};

/// One weight array of a model under its full name, such as "focus.conv1.weight".
template <class T>
struct NamedWeights {
  std::string name;
  Shape shape;
  T* values;
};
template <class T>
std::vector<NamedWeights<T>> named_weights(Model<T>& model);
template <class T>
std::vector<NamedWeights<const T>> named_weights(const Model<T>& model);

/// Gradient of a model's weights, laid out as the weights of its two networks.
template <class T>
struct ModelGradient {
  explicit ModelGradient(const Model<T>& model);
  void clear();

  Buffer<T> focus, classify;
};

/// One evaluation of a model on one batch: the tape, and the networks' activations. Reused for the next batch after
/// clear(), it allocates nothing. Results of the same network on the same batch are computed once.
template <class T>
class Graph {
 public:
  explicit Graph(const Model<T>& model) : model_(&model) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// Forgets the record. Until the next call a backward sweep adds to `gradient`; null: weights need no gradient.
  void clear(ModelGradient<T>* gradient = nullptr);
  /// Where the time of each layer goes; null: it is not measured.
  void set_profile(Profile* profile) { workspace_.profile = profile; }

  /// f of each patch: (B, m). The batch must outlive the record.
  Var<T> focus(const Batch<T>& batch);
  /// From now on focus() gives these scores, (B, m), instead of those of f: attention that is held, not learnt.
  void hold_focus(Var<T> scores) { scores_ = scores; }
  /// g of each patch: (B, m, C). The batch must outlive the record.
  Var<T> classify(const Batch<T>& batch);
  /// g of some patches alone: those at k positions a mosaic, (B, k) numbers below m -> (B, k, C). The batch and the
  /// positions must outlive the record; positions() gives room that does.
  Var<T> classify_at(const Batch<T>& batch, const std::vector<int>& positions);
  /// A list for positions, empty, that lives until the next clear().
  std::vector<int>& positions();
  /// g of one patch a mosaic, such as a blend: (B, patch shape...) -> (B, C). Remembered as bag_logits(),
  /// from which soft inference takes its scores.
  Var<T> classify(Var<T> x);
  /// The same, not remembered: for patches that do not stand for the whole mosaic.
  Var<T> classify_apart(Var<T> x);
  /// Gradient of weight times loss.
  void backward(Var<T> loss, T weight = 1) { tape_.backward(loss, weight); }

  /// f of each patch, where it has been recorded.
  const std::optional<Var<T>>& scores() const { return scores_; }
  /// g of each patch, and the last g of one patch a mosaic, where they have been recorded.
  const std::optional<Var<T>>& patch_logits() const { return patch_logits_; }
  const std::optional<Var<T>>& bag_logits() const { return bag_logits_; }

  /// How many patches g has seen so far, and how many of them have had a gradient.
  struct Calls {
    std::size_t forward = 0, backward = 0;
  };
  Calls classify_calls() const;

  const Model<T>& model() const { return *model_; }
  Tape<T>& tape() { return tape_; }

 private:
  Var<T> apply_network(const Network<T>& network, Buffer<T>* gradient, Var<T> x);
  Var<T> patches(const Batch<T>& batch);

  const Model<T>* model_;
  ModelGradient<T>* gradient_ = nullptr;
  Tape<T> tape_;
  Workspace<T> workspace_;
  std::deque<Application<T>> applications_;  // reused in the order of use
  std::deque<std::vector<int>> positions_;   // likewise
  std::size_t used_applications_ = 0, used_positions_ = 0;
  std::vector<Var<T>> classified_;  // all that g has given
  std::optional<Var<T>> patches_, scores_, patch_logits_, bag_logits_;
};

/// sum_j a_j x_j of each mosaic: a (B, m) -> (B, patch shape...).
template <class T>
Var<T> blend(Var<T> a, const Batch<T>& batch) {
  return blend(a, a.tape().constant(batch.x));
}

}  // namespace fcam
