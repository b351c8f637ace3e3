// Is the gradient of a loss right? For the losses of the library and for a user's own.
#pragma once

#include <string>

#include "fcam/attention/losses.h"
#include "fcam/autodiff/gradient_check.h"

namespace fcam {

/// Compares the gradient of `loss` in all weights of `model` on `batch` with central differences. Empty where they
/// agree, else one line that names the network, the index, the value expected and the one found. The model is left as
/// it was.
std::string check_loss_gradient(const std::string& name, const LossFunction<double>& loss, Model<double>& model,
                                const Batch<double>& batch, const GradientCheckOptions& options = {});

}  // namespace fcam
