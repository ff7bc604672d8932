// Evaluations of what a network gives.

#ifndef DL_LIBCORE_EVAL_MODEL_H_
#define DL_LIBCORE_EVAL_MODEL_H_

#include <string>
#include <vector>

#include "libcore/data/format/metadata.h"
#include "libcore/eval/outputs.h"
#include "libcore/eval/report.h"
#include "libcore/nn/config/config.h"
#include "libcore/nn/model/model.h"
#include "libcore/nn/network.h"
#include "libcore/tensor/tensor.h"

namespace dl::eval {

// The network's outputs; data: whose names they have.
Subjects subjects_of(const nn::NetworkConfig& config,
                     const data::Metadata& data);

// Kinds that suit each output and the labels that it was trained on; "" where
// there is nothing in data that it could be compared with. threshold_given:
// what means yes is said otherwise.
std::vector<std::string> usual_kinds(const nn::Model& model,
                                     bool threshold_given);

// Gives forecasts among them the naive ones of these examples.
// known: what the model knows of its data.
void see_history(const Evaluations& all, const Subjects& subjects,
                 const data::Metadata& known, const data::DataSet& set);

// Tells forecasts among them of the stream whose examples follow.
void see_stream(const Evaluations& all, const data::Metadata& stream);

// Adds a mini-batch to evaluations of these subjects, each by its output.
// outputs: as predicted; product: memory for a mask.
// Throws Error: as Evaluation::add().
void add(const Evaluations& all, const Subjects& subjects,
         const nn::Network& network, const nn::Batch& batch,
         const std::vector<nn::Prediction>& outputs, tensor::Tensor& product);

}  // namespace dl::eval

#endif  // DL_LIBCORE_EVAL_MODEL_H_
