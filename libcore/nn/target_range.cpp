#include "libcore/nn/target_range.h"

#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/data/label_mask.h"

namespace dl::nn {
namespace {

using tensor::Loss;
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

}  // namespace

void check_targets(const Part& part, const WantedOutput& wanted,
                   const Tensor* steps) {
  const Range* range = range_of(wanted.loss);
  if (range == nullptr) return;
  const Tensor& labels = *part.values;
  Tensor product;
  const Tensor* weights = nullptr;
  bool weighed = false;  // seldom needed
  const std::int64_t each = labels.elements() / labels.shape()[0];
  for (std::int64_t i = 0; i < labels.elements(); ++i) {
    const double t = labels.value(i);
    if (!range->lacks(t)) continue;
    if (!weighed) weights = data::mask_of_steps(part.mask, steps, product);
    weighed = true;
    if (weights != nullptr && weights->value(i / wanted.units) == 0) continue;
    throw Error{Code::kData, "example " + std::to_string(i / each) +
                                 " has the target " + dump_json(t) + ", '" +
                                 std::string(name_of(wanted.loss)) +
                                 "' wants " + range->wanted};
  }
}

}  // namespace dl::nn
