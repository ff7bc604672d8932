// The parts of a model that dl-export(1) writes beside its network:
// normalizers, which are nodes at inputs and outputs, names of classes and
// columns, inputs that are targets, and masks.

#ifndef DL_LIBCORE_CONVERT_IMPORT_ONNX_ABOUT_H_
#define DL_LIBCORE_CONVERT_IMPORT_ONNX_ABOUT_H_

#include <map>
#include <string>

#include "libcore/convert/import/onnx/model.h"
#include "libcore/data/statistics/normalizer.h"
#include "libcore/nn/model/model.h"

namespace dl::convert::onnx {

// By the names of inputs and outputs.
struct NamedNormalizers {
  std::map<std::string, data::Normalizer> inputs, outputs;
};

// Takes the nodes of normalizers, which the metadata call so, out of the graph:
// the network reads the input, or gives the output, itself then.  Nodes in
// another form than that of dl-export stay, and become layers. Throws Error:
// kData, one has numbers that are not finite.
NamedNormalizers take_normalizers(Model& graph);

// By the name of an output the input that it is to be, as far as these are the
// model's.
std::map<std::string, std::string> targets_of(const Model& graph);

// Whether outputs whose target is an input come back into the units that it has
// as the normalizers of outputs do, which are left out then.
bool follow_targets(nn::Model& model);

// Reason why masks of a model that dl-export wrote with them do not come back:
// a sentence.
std::string why_masked(const Model& graph);

// Gives the model the names that the metadata have for its inputs and outputs,
// as far as they are lists of different names, and of as many as it tells
// apart; of others that are lists, a note says it; and the recipe for raw data.
// The model has its normalizers.
void take_names(const Model& graph, nn::Model& model,
                std::vector<std::string>& notes);

}  // namespace dl::convert::onnx

#endif  // DL_LIBCORE_CONVERT_IMPORT_ONNX_ABOUT_H_
