// An input of a network on one lane: its part of the mini-batch, on its way to
// the device.

#ifndef DL_LIBCORE_NN_LANE_LANE_INPUT_H_
#define DL_LIBCORE_NN_LANE_LANE_INPUT_H_

#include <cstdint>
#include <vector>

#include "libcore/data/statistics/normalizer.h"
#include "libcore/nn/config/config.h"
#include "libcore/nn/config/layer_type.h"
#include "libcore/nn/layer.h"
#include "libcore/nn/layout.h"
#include "libcore/nn/mini_batch.h"
#include "libcore/tensor/tensor.h"

namespace dl::nn {

// The examples [first, first + count) of a mini-batch of `total`.
struct Share {
  std::int64_t first = 0, count = 0, total = 0;
};
// As even as can be, in the order of the examples, so that the first lane has
// one whenever there is one.
Share share_of(int lane, int lanes, std::int64_t total);

// Rows of `all`, each seen as `row`: `all` itself where it is that already,
// else a copy in `staged`, whose memory is kept.
const tensor::Tensor& take_rows(tensor::Tensor& staged,
                                const tensor::Tensor& all, Share rows,
                                const tensor::Shape& row);

// Shift and scale of a normalizer, by column, on a device; empty where there is
// nothing to do.
struct Scale {
  Scale() = default;
  Scale(device::Device& device, Memory& memory, const data::Normalizer& from);
  bool empty() const { return shift.empty(); }
  tensor::View shift, scale;
};

class LaneInput {
 public:
  // Throws Error: kConfig, the normalizer would change token numbers, or makes
  // other columns than the network takes.
  LaneInput(device::Device& device, Memory& memory, const ValueSpec& form,
            const data::Normalizer& normalizer, std::int64_t max_batch);

  // to: [rows, ...], which gets the rows, normalized.
  // Throws Error: kData, "the normalizer has 3 columns, the examples are [4]".
  void load(const Part& part, Share rows, tensor::View to);
  const Scale& scale() const { return scale_; }
  bool mixes() const { return !matrix_.empty(); }
  // Mask of the rows loaded last, [rows, steps]; empty where there is none.
  tensor::View mask() const { return mask_; }

 private:
  void load_columns(const tensor::Tensor& values, Share rows, tensor::View to);
  void load_mixed(const tensor::Tensor& values, Share rows, tensor::View to);
  void load_mask(const Part& part, Share rows);

  device::Device* device_;
  ValueSpec form_;
  Scale scale_;
  tensor::View matrix_;  // [outputs, columns] of a normalizer that mixes
  tensor::View unmixed_room_;
  tensor::View mask_room_, mask_;
  tensor::Tensor staged_, staged_mask_, counted_;
};

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_LANE_LANE_INPUT_H_
