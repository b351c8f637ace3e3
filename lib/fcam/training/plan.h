// What each epoch of a training does: which loss, by which learning rate.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "fcam/attention/losses.h"

namespace fcam {

/// How one epoch trains.
template <class T>
struct Phase {
  LossFunction<T> loss;                     ///< of the steps
  std::optional<Inference> inference;       ///< rule of their metrics; none: the loss is the only one
  LossFunction<T> test_loss;                ///< of the test mosaics
  std::optional<Inference> test_inference;  ///< likewise
  double learning_rate = 0.05;
  bool anew = false;  ///< the optimisers forget their averages before it, which are those of another loss
};

/// What a plan knows of an epoch: Metrics::focus_gradient and Metrics::focus_entropy of its training steps.
struct EpochFocus {
  double gradient = 0, entropy = 0;
};

/// Gives the phase of the epoch after those that are given. A function of nothing else, so that a training goes on the
/// same after a stop.
template <class T>
struct Plan {
  std::function<Phase<T>(std::span<const EpochFocus> done)> phase;
};

/// One loss throughout.
template <class T>
Plan<T> constant_plan(LossFunction<T> loss, std::optional<Inference> inference, double learning_rate);

struct PlanOptions {
  LossOptions loss = {};
  double learning_rate =
      std::numeric_limits<double>::quiet_NaN();  ///< NaN: the one of the loss; of hybrid's first phase

  /// Of hybrid: epochs of soft attention; none: until its focus gains no more.
  std::optional<std::size_t> switch_epoch = {};
  std::size_t blend = 0;  ///< epochs after them in which the losses are mixed, from the one to the other
  bool sampled = false;   ///< whether it goes on with sampled hard attention instead of the sum over all patches
  double then_learning_rate = std::numeric_limits<double>::quiet_NaN();  ///< of the second phase; NaN: of that loss
};

/// The plan of a named loss. Steps of losses that draw patches are tested by the loss of the paper they stand for.
template <class T>
Plan<T> named_plan(const NamedLoss& loss, const PlanOptions& options = {});

/// The number of epochs after which the focus gains no more from soft attention; none where it still does. Either the
/// pull on it (EpochFocus::gradient) has come down to half of its largest so far, or it has sharpened (the mean entropy
/// of the last five epochs is at most nine tenths of the largest so far) and sharpens no more (that mean is more than
/// 0.97 times the one of the five epochs before). Why: docs/beyond-lvml.md.
std::optional<std::size_t> faded(std::span<const EpochFocus> epochs);

/// What the learning rate is multiplied with as a training goes on.
enum class Schedule {
  constant,
  step,    ///< a tenth after half of the epochs, a hundredth after three quarters
  cosine,  ///< (1 + cos(pi t)) / 2, t the fraction of the epochs that are over
};

/// The factor in epoch `number` of `epochs`, from 1.
double schedule_factor(Schedule schedule, std::size_t number, std::size_t epochs);

}  // namespace fcam
