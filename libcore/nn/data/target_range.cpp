// Checks of targets against the range of a loss.

#include "libcore/nn/data/target_range.h"

#include <utility>

#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/data/label_mask.h"

namespace dl::nn {
namespace {

using device::Loss;
using tensor::Tensor;

struct Range {
  bool (*lacks)(double t);  // not NaN, which shows in the loss
  const char* wanted;
};

// Null: any number will do.
const Range* range_of(Loss loss) {
  static constexpr Range kAtLeast0{[](double t) { return t < 0; }, "0 or more"};
  static constexpr Range kNot0{[](double t) { return t == 0; },
                               "numbers other than 0"};
  static constexpr Range kShare{[](double t) { return t < 0 || t > 1; },
                                "0 to 1"};
  static constexpr Range kSides{
      [](double t) { return t < -1 || t > 1 || t != static_cast<int>(t); },
      "1, and 0 or -1"};
  switch (loss) {
    case Loss::kMeanSquaredLogarithmicError:
    case Loss::kKlDivergence:
    case Loss::kPoisson:
    case Loss::kExponential:
      return &kAtLeast0;
    case Loss::kMeanAbsolutePercentageError:
      return &kNot0;
    case Loss::kBinaryCrossEntropy:
    case Loss::kBinaryFocal:
      return &kShare;
    case Loss::kHinge:
    case Loss::kSquaredHinge:
    case Loss::kMultiLabel:
      return &kSides;
    default:
      return nullptr;
  }
}

// The product of the masks that these inputs have, null if none has one.
const Tensor* mask_from(std::span<const Part> inputs,
                        std::span<const std::size_t> which, Tensor& room) {
  const Tensor* all = nullptr;
  for (const std::size_t i : which) {
    const Tensor* mask = inputs[i].mask;
    if (mask == nullptr) continue;
    if (all == nullptr) {
      all = mask;
      continue;
    }
    Tensor product(tensor::DType::kF32, mask->shape());
    for (std::int64_t k = 0; k < mask->elements(); ++k)
      product.as<float>()[static_cast<std::size_t>(k)] =
          static_cast<float>(all->value(k) * mask->value(k));
    room = std::move(product);
    all = &room;
  }
  return all;
}

}  // namespace

Bounds bounds_of(Loss loss) {
  switch (loss) {
    case Loss::kMeanSquaredLogarithmicError:
    case Loss::kKlDivergence:
    case Loss::kPoisson:
    case Loss::kExponential:
      return {.least = 0};
    case Loss::kBinaryCrossEntropy:
    case Loss::kBinaryFocal:
      return {.least = 0, .most = 1};
    default:
      return {};
  }
}

void check_targets(const Part& part, const WantedOutput& wanted,
                   std::span<const Part> inputs) {
  const Range* range = range_of(wanted.loss);
  if (range == nullptr) return;
  const Tensor& labels = *part.values;
  Tensor room, product;
  const Tensor* weights = nullptr;
  bool weighed = false;  // seldom needed
  const std::int64_t each = labels.elements() / labels.shape()[0];
  for (std::int64_t i = 0; i < labels.elements(); ++i) {
    const double t = labels.value(i);
    if (!range->lacks(t)) continue;
    if (!weighed)
      weights = data::mask_of_steps(
          part.mask, mask_from(inputs, wanted.mask_inputs, room), product);
    weighed = true;
    if (weights != nullptr &&
        weights->value(i * weights->elements() / labels.elements()) == 0)
      continue;
    throw Error{Code::kData, "example " + std::to_string(i / each) +
                                 " has the target " + dump_json(t) + ", '" +
                                 std::string(name_of(wanted.loss)) +
                                 "' wants " + range->wanted};
  }
}

}  // namespace dl::nn
