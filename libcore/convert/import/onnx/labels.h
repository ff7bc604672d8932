// Outputs that say which class it is, beside those that say how probable: what
// scikit-learn's converter writes of every classifier.

#ifndef DL_LIBCORE_CONVERT_IMPORT_ONNX_LABELS_H_
#define DL_LIBCORE_CONVERT_IMPORT_ONNX_LABELS_H_

#include <string>
#include <vector>

#include "libcore/convert/import/onnx/model.h"

namespace dl::convert::onnx {

// Leaves out outputs that are the largest of others, where something is left,
// and lists of probabilities by class as the tensors that they are made of.
// Their names of the classes become the metadata's "classes", as dl-export
// writes them.  Returns what was left out, for the user.
std::vector<std::string> drop_labels(Model& model);

}  // namespace dl::convert::onnx

#endif  // DL_LIBCORE_CONVERT_IMPORT_ONNX_LABELS_H_
