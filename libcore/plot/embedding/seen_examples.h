// Examples on their way through a model: values of its layers.

#ifndef DL_LIBCORE_PLOT_EMBEDDING_SEEN_EXAMPLES_H_
#define DL_LIBCORE_PLOT_EMBEDDING_SEEN_EXAMPLES_H_

#include <string>
#include <vector>

#include "libcore/base/log.h"
#include "libcore/nn/model/model.h"
#include "libcore/plot/embedding/pca.h"
#include "libcore/tensor/shape.h"

namespace dl::plot {

// Examples to look at, and where.
struct Look {
  std::string examples;  // a source of a DataSet stream; "": none
  std::string layer;     // ""; the last one before the output
};

struct LayerValues {
  std::string name;
  tensor::Shape shape;  // of one example
  std::vector<float> values;
};

struct SeenExamples {
  static constexpr std::size_t kMost = 2000;

  std::string layer;
  PointSet points;                  // its values, of the first kMost examples
  std::vector<std::size_t> groups;  // by their classes; one group without
  std::vector<std::string> names;   // of the groups
  std::vector<std::string> ids, classes;  // of the examples; "": none
  std::vector<LayerValues> first;         // all layers, of the first example
  bool cut = false;                       // whether there are more examples
};

// Throws Error: kUsage, no such layer; kData, the examples do not fit the
// model, have values that are not finite, or there are none; kNoInput, kIo.
SeenExamples see_examples(const nn::Model& model, const Look& look,
                          const Log& log);

}  // namespace dl::plot

#endif  // DL_LIBCORE_PLOT_EMBEDDING_SEEN_EXAMPLES_H_
