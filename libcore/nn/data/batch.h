// Checks of what comes from data before it reaches a device.

#ifndef DL_LIBCORE_NN_DATA_BATCH_H_
#define DL_LIBCORE_NN_DATA_BATCH_H_

#include <span>
#include <string>
#include <vector>

#include "libcore/data/format/metadata.h"
#include "libcore/data/statistics/normalizer.h"
#include "libcore/nn/config/config.h"
#include "libcore/nn/data/target_source.h"
#include "libcore/nn/layout.h"
#include "libcore/nn/mini_batch.h"

namespace dl::nn {

// Requirements of a network on its data, by input and output.
struct WantedInput {
  std::string part;          // of the data: "" of one input, else its name
  std::string tensor, mask;  // "features", "features/left"
  tensor::Shape shape;       // of one example
  bool sequence = false;     // which is [steps, ...], with a mask or without
  std::int64_t tokens = 0;   // numbers of 0..tokens-1 alone; 0: any
  bool mixed = false;        // a normalizer makes other columns of them
};
struct WantedOutput {
  std::string part;
  std::string tensor, mask;  // "labels", "labels/right"
  std::int64_t units = 0;
  // Labels of an example: [steps] of a sequence, [height, width] of an image,
  // or one, [].
  tensor::Shape places;
  device::Loss loss = device::Loss::kNegativeLogLikelihood;
  // Inputs whose padding is padding in it, as far as data tell: layers may make
  // more of it.
  std::vector<std::size_t> mask_inputs = {};
  std::optional<Value> target = {};  // it needs no labels then
  // Source of a target that is an input or columns of one, and its tensors in
  // the data.
  std::optional<TargetSource> source = {};
  std::string target_tensor = {}, target_mask = {};
};
struct Wanted {
  std::vector<WantedInput> inputs;
  std::vector<WantedOutput> outputs;
  bool labels() const;  // of any output
};

// normalizers: of the inputs, where they may change how many columns there are.
Wanted wanted_by(const NetworkConfig& config, const Layout& layout,
                 std::span<const data::Normalizer> normalizers = {});

// The mini-batch that a data set is, in the memory that `batch` has; tensors
// that the set lacks are null.
void fill_batch(const data::DataSet& set, const Wanted& wanted, Batch& batch);

// The places of labels of such an output: all but its last dimension.
tensor::Shape places_of(const tensor::Shape& output);

// Whether labels of this kind, [n, ...places] or [n, ...places, 1], are class
// numbers to be expanded.  A single output takes them as they are.
bool are_classes(tensor::DType dtype, const tensor::Shape& shape,
                 std::int64_t units, const tensor::Shape& places);

// Whether that is so of the labels of output i in these data.
bool are_classes(const data::Metadata& data, const NetworkConfig& config,
                 std::size_t i = 0);

// Whether a single output i tells two classes by its sign, as hinge losses have
// it: 0 is the threshold then, not 1/2.
bool sides_are_classes(const data::Metadata& data, const NetworkConfig& config,
                       std::size_t i = 0);

// Whether an output's numbers are from 0 to 1: of a softmax, or of sigmoids.
bool says_probabilities(const NetworkConfig& config, std::size_t i = 0);

// Names of an output's numbers: its classes, else its targets, else nothing;
// those of an output whose target is an input, as its columns.
std::vector<std::string> output_names(const NetworkConfig& config,
                                      const data::Metadata& data,
                                      std::size_t i = 0);

// Values that outputs are compared with: the labels, or an input in their
// shape, then made in `room` where it has another.
const tensor::Tensor& labels_like(const tensor::Tensor& outputs,
                                  const tensor::Tensor& labels,
                                  const WantedOutput& wanted,
                                  tensor::Tensor& room);

// Throws Error: kData, an input [n, ...], a number in it or its mask (or null)
// does not fit, or they are not of as many examples.
void check_inputs(std::span<const Part> inputs, const Wanted& wanted);
// Throws Error: kData, labels or mask that do not fit the inputs, a class
// number outside 0..units-1, a target that the loss has no use for.
void check_batch(const Batch& batch, const Wanted& wanted);
// Throws Error: kData, the statistics say that an input has token numbers that
// no embedding which reads it has a row for.
void check_tokens(const data::Metadata& metadata, const Wanted& wanted);
// As Network::check_data(), and check_tokens().
void check_metadata(const data::Metadata& metadata, const Wanted& wanted,
                    bool labels_needed);

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_DATA_BATCH_H_
