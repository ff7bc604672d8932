// An output of a network on one lane: what it is to be, and what it is.

#ifndef DL_LIBCORE_NN_LANE_LANE_OUTPUT_H_
#define DL_LIBCORE_NN_LANE_LANE_OUTPUT_H_

#include <cstdint>
#include <span>

#include "libcore/nn/lane/lane_input.h"
#include "libcore/nn/layer.h"

namespace dl::nn {

class LaneOutput {
 public:
  // settings: of the layer, which in training has a loss.  Labels of a sequence
  // are of its steps, those of an image of its pixels.
  LaneOutput(device::Device& device, Memory& memory, const ValueSpec& form,
             const LayerSettings& settings, const data::Normalizer& normalizer,
             std::int64_t max_batch, bool training);

  // Loads labels of the rows and what each counts, see Batch.  steps: the mask
  // that the output has, or empty.
  void load(const Part& labels, Share rows, tensor::View steps);
  // In place of labels: a value of the network, and the steps that count.
  void compare_with(tensor::View target, tensor::View steps);
  // Whether the loss is the mean over steps: then, with or without rows, all
  // lanes count() theirs, sum the number that it returns, and those with rows
  // divide_by_count().
  bool is_over_steps() const { return !count_.empty(); }
  // Counts of the rows loaded last, none if there are 0.
  tensor::View count(std::int64_t rows);
  void divide_by_count(std::int64_t rows);
  // Loss of the rows loaded last, see OutputLayer. Copies of an example are
  // each compared with the same, and their losses averaged.
  void loss(OutputLayer& layer, tensor::View grad, tensor::View y,
            double scale);
  // The output y into the rows from `first` on of `outputs`, kF32, in the units
  // of the labels; of copies, their mean.
  void download(tensor::View y, std::int64_t first, tensor::Tensor& outputs);
  // The same of its mask, [n, steps]; of copies, where it is in all of them.
  void download_mask(tensor::View mask, std::int64_t first,
                     tensor::Tensor& masks);

 private:
  std::size_t copies() const { return static_cast<std::size_t>(form_.copies); }
  void average(std::span<const float> all, std::span<float> mean) const;
  void load_labels(const tensor::Tensor& labels, Share rows);
  tensor::View load_weights(const tensor::Tensor* mask, Share rows,
                            tensor::View steps);
  tensor::View by_places(tensor::View steps);

  device::Device* device_;
  ValueSpec form_;
  std::int64_t units_;
  tensor::Shape places_;  // labels of an example: its steps, its pixels, or one
  std::int64_t each_;     // how many these are
  data::Normalizer normalizer_;
  Scale scale_;
  tensor::View target_room_, weights_room_, steps_room_;
  tensor::View target_, weights_;  // of the rows loaded last
  // State of a mean over steps: how many count, 1 or more, and 1 / that for
  // each.
  tensor::View count_, one_, at_least_1_, which_, shares_room_;
  tensor::View steps_;  // what the network says which of them count, or empty
  std::int64_t given_ = 0;  // how many the data say count, or -1
  tensor::Tensor staged_labels_, staged_weights_, staged_outputs_, staged_mask_;
};

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_LANE_LANE_OUTPUT_H_
