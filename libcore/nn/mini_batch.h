// A mini-batch as it passes through a network: its tensors, its position in the
// run, and the receivers of what becomes of it.

#ifndef DL_LIBCORE_NN_MINI_BATCH_H_
#define DL_LIBCORE_NN_MINI_BATCH_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "libcore/tensor/tensor.h"
#include "libcore/tensor/view.h"

namespace dl::nn {

// The part of a mini-batch for an input or an output.  Pointees outlive the
// call.
struct Part {
  // [n, ...input] of any dtype; of labels [n] integers or [n, units] reals.
  const tensor::Tensor* values = nullptr;
  // The mask of an input that is a sequence, [n, steps]: 0 where a step is
  // padding. The mask of labels, [n]: what each counts.  Where the output is a
  // sequence, labels are [n, steps] or [n, steps, units], and the mask is [n]
  // or [n, steps]: what a step counts, data::mask_of_steps() says of it and of
  // the output's own.
  const tensor::Tensor* mask = nullptr;  // or null
};

// One mini-batch in host memory, as the network's inputs and outputs.
struct Batch {
  Batch() = default;
  // A mini-batch of one input and one output.
  Batch(const tensor::Tensor* features, const tensor::Tensor* labels,
        const tensor::Tensor* mask = nullptr,
        const tensor::Tensor* features_mask = nullptr)
      : inputs{{features, features_mask}}, outputs{{labels, mask}} {}

  std::vector<Part> inputs, outputs;
  // Names what is in them, among all that the network is given; 0: nothing.
  std::uint64_t serial = 0;

  std::int64_t examples() const;
};

// The prediction of one output.
struct Prediction {
  tensor::Tensor values;  // [n, ...output(i)], kF32
  // The mask of a sequence, [n, steps] in kF32: 0 where a step is padding; as
  // it was computed, whether the data had it or layers made it.  Null: all
  // count.
  const tensor::Tensor* mask() const { return masked ? &steps : nullptr; }

  tensor::Tensor steps;  // of use if masked
  bool masked = false;
};

// Where in the run a step is: schedules, adam's bias correction and dropout
// follow from it alone.
struct Position {
  std::int64_t iteration = 0;  // updater steps before this one
  std::int64_t epoch = 0;
  std::uint64_t batch = 0;  // names the mini-batch: the dropout stream
  // The iteration at which updater state was afresh
  std::int64_t updater_reset_at = 0;
  // Networks that train the same parameters side by side, each with updater
  // state of its own (UpdaterConfig::step()).
  std::int64_t concurrent_replicas = 1;
  double factor = 1;  // of the learning rate
  // Examples of a mini-batch that is not cut short by the epoch's end, which
  // running statistics take for a step; 0: as many as there are.
  std::int64_t whole = 0;
};

// Is shown a piece of the update, from element `at` on, when it is written and
// finite, while it is still in a core's cache.  By all lanes at a time; pieces
// are parts of one tensor, and together all of the update unless that is not
// finite.
using UpdateSink = std::function<void(std::int64_t at, tensor::View piece)>;

// Is told on the way back, each time that more of the gradient is found: of the
// mini-batch's loss, and from which element of update() on all is there, which
// nothing changes any more.  Never of element 0: compute_gradient() returns.
// By the first lane's thread, others go on meanwhile.
using GradientSink = std::function<void(double loss, std::int64_t from)>;

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_MINI_BATCH_H_
