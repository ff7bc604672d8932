// Places of a layer's weights in a Keras file.
//
//   legacy   GROUP/LAYER has an attribute weight_names, the arrays in order;
//            those of a nested model are in one list
//   Keras 3  layers/CLASS_2/vars/0, 1, ...: by class and number, in the order
//   of
//            the layers of each model; what a layer is made of lies below it

#ifndef DL_LIBCORE_CONVERT_IMPORT_KERAS_WEIGHTS_H_
#define DL_LIBCORE_CONVERT_IMPORT_KERAS_WEIGHTS_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "libcore/convert/import/archive.h"
#include "libcore/convert/import/keras/spec.h"

namespace dl::convert::keras {

// The arrays of one layer, which is read once.
class LayerWeights {
 public:
  // The next `count` arrays.  below: where Keras 3 has them, under the layer:
  // "" or "cell".
  // Throws Error: kData, there are not so many.
  std::vector<Array> take(const std::string& below, std::size_t count);
  // Weights of a legacy file, to be put in the order of a later version.
  std::vector<Array>& listed() { return listed_; }
  // Throws Error: kData, some were not taken.
  void check_all_taken() const;

 private:
  friend class Weights;
  const Archive* archive_ = nullptr;
  std::string path_;                          // of Keras 3: "layers/dense_1"
  std::map<std::string, std::size_t> taken_;  // by path
  std::vector<Array> listed_;                 // of legacy files, in their order
  std::size_t next_ = 0;
  bool legacy_ = false;
};

// Layers of a model, by their place in it.
class Weights {
 public:
  // Throws Error: kData, the archive has no weights as Keras stores them.
  explicit Weights(const Archive& archive, bool keras_1 = false);
  // Weights of the layer models[0].layers[at] or, for nested ones, further
  // below: `path` has the layers from the outermost on, as places in each
  // model.
  LayerWeights of(const ModelSpec& model,
                  const std::vector<std::size_t>& path) const;
  // The layers that the file has, legacy files alone; else none.
  std::vector<std::string> layer_names() const;

 private:
  LayerWeights legacy(const ModelSpec& model,
                      const std::vector<std::size_t>& path) const;
  std::string group_of(const std::vector<std::size_t>& path,
                       const std::vector<std::string>& inner) const;
  std::vector<std::string> names(const std::string& group,
                                 const std::string& attribute) const;
  bool has_below(const std::string& base) const;

  const Archive* archive_;
  Json attributes_;
  std::string root_;  // "model_weights/", or ""
  bool legacy_ = false;
  bool keras_1_ = false;  // its names of weights have no paths
};

}  // namespace dl::convert::keras

#endif  // DL_LIBCORE_CONVERT_IMPORT_KERAS_WEIGHTS_H_
