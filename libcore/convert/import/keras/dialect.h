// The differences of versions and back ends of Keras from the newest Keras: a
// function for each change, which says when it came. dl-import(1), VERSIONS OF
// KERAS, has the same as a table.

#ifndef DL_LIBCORE_CONVERT_IMPORT_KERAS_DIALECT_H_
#define DL_LIBCORE_CONVERT_IMPORT_KERAS_DIALECT_H_

#include <optional>
#include <set>
#include <string>

#include "libcore/base/json.h"

namespace dl::convert::keras {

class Dialect {
 public:
  // version: "2.2.4-tf", or "": the newest that writes such a model.
  // backend: "theano", or "" where nobody says it.  notes: what is assumed.
  Dialect(const Json& model, const std::string& version,
          const std::string& backend, std::set<std::string>& notes);

  bool keras_1() const { return major_ == 1; }
  bool keras_3() const { return major_ >= 3; }

  // Where a layer of images does not say where its channels are: whether they
  // come first; none: its model says both.  Series have theirs last.
  std::optional<bool> channels_first() const;

  // Theano mirrors the kernels of convolutions, has half a window before the
  // input where its padding is "same", and other padding in pools.
  bool theano() const { return theano_; }
  // Keras 2.0.9 to 2.1.5 on Theano: means count the zeros of "same".
  bool means_count_zeros() const;
  // Keras until 2.3.1, other than tf.keras: a bilinear UpSampling2D has the
  // corners of the input at those of the output's pixels.
  bool bilinear_by_corners() const;

  // BatchNormalization divides by what it keeps and epsilon, a deviation, until
  // 1.0.5, and on Theano by sqrt(what it keeps) + epsilon in 1.0.7: the
  // variance to which epsilon is added.  1.0.6 does one of both, which shows
  // nowhere: none.
  std::optional<double> variance(double kept, double epsilon) const;
  // 1e-6 until 1.0.7, 1e-5 until 1.1.2.
  double batch_norm_epsilon() const;

  // 0.2 until Keras 3.
  double hard_sigmoid_slope() const { return keras_3() ? 1.0 / 6 : 0.2; }
  // hard_sigmoid until 2.2: of recurrent layers that do not say it.
  const char* recurrent_activation() const;
  // The setting of a GRU that does not say it: until Keras 3 there was none, or
  // it was false.
  bool reset_after() const { return keras_3(); }

  // Rescaling, Normalization and Identity until Keras 3.
  bool affine_forgets_masks() const { return !keras_3(); }
  // A Softmax leaves out what a mask leaves out, since Keras 3.
  bool softmax_heeds_masks() const { return keras_3(); }
  // Steps count that all masked inputs of a layer count, until 3.3; since 3.4
  // those that any counts, and all where one has no mask.
  bool joins_masks_by_any() const { return !before(3, 4, 0); }
  // Whether both directions of a Bidirectional repeat their last output for
  // padding, as before tf.keras; since then they give 0.
  bool both_repeat_padding() const { return !tf_keras_; }
  // Until Keras 3 training=False in a call counts.
  bool heeds_training() const { return !keras_3(); }

 private:
  bool before(int major, int minor, int patch) const;

  int major_ = 0, minor_ = 0, patch_ = 0;
  bool tf_keras_ = false, theano_ = false;
  bool says_first_ = false, says_last_ = false;  // some layer of images does
};

}  // namespace dl::convert::keras

#endif  // DL_LIBCORE_CONVERT_IMPORT_KERAS_DIALECT_H_
