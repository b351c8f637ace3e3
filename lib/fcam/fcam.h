// Everything that a program with fcam needs. Start with data/mosaic.h, attention/model.h, attention/losses.h and
// training/trainer.h.
#pragma once

#include "fcam/analysis/evaluate.h"
#include "fcam/analysis/heat_map.h"
#include "fcam/analysis/metrics.h"
#include "fcam/attention/inference.h"
#include "fcam/attention/loss_check.h"
#include "fcam/attention/losses.h"
#include "fcam/attention/model.h"
#include "fcam/base/error.h"
#include "fcam/data/cifar.h"
#include "fcam/data/idx.h"
#include "fcam/data/images.h"
#include "fcam/data/linear_orthogonal.h"
#include "fcam/data/mosaic.h"
#include "fcam/data/npy.h"
#include "fcam/data/shapes.h"
#include "fcam/training/checkpoint.h"
#include "fcam/training/model_file.h"
#include "fcam/training/trainer.h"
