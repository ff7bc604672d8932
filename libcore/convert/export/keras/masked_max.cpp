// The largest of the steps that count, in Keras, whose pool looks at all.

#include <algorithm>

#include "libcore/convert/export/keras/layer.h"

namespace dl::convert {
namespace {

// Far below what networks compute with, and far above what overflows.
constexpr double kLow = 1e30;

// 1 for steps that count and 0 for padding, as a value: a layer whose state is
// 1, and which gives 0 for padding.
KerasValue mask_of(KerasLayer& l, const KerasValue& x, std::int64_t steps,
                   std::int64_t features) {
  return l.beside(
      "SimpleRNN", "mask",
      {{"units", 1},
       {"activation", "linear"},
       {"return_sequences", true},
       {"zero_output_for_mask", true},
       {"trainable", false}},
      {x}, {steps, 1},
      {{"cell/vars/0",
        {{features, 1},
         std::vector<float>(static_cast<std::size_t>(features), 0.0F)}},
       {"cell/vars/1", {{1, 1}, {0.0F}}},
       {"cell/vars/2", {{1}, {1.0F}}}});
}

}  // namespace

// max(x + low (mask - 1)), and 0 where no step counts.
void masked_max(KerasLayer& l) {
  const std::int64_t steps = l.input().shape[0],
                     features = l.input().shape.back();
  const KerasValue x = l.from();
  const KerasValue mask = mask_of(l, x, steps, features);
  const KerasValue low =
      l.beside("Rescaling", "low", {{"scale", kLow}, {"offset", -kLow}}, {mask},
               {steps, 1});
  const KerasValue lowered =
      l.beside("Add", "lowered", Json::object(), {x, low}, {steps, features});
  const KerasValue most = l.beside("GlobalMaxPooling1D", "most", Json::object(),
                                   {lowered}, {features});
  const KerasValue some =
      l.beside("GlobalMaxPooling1D", "some", Json::object(), {mask}, {1});
  l.beside("Multiply", "", Json::object(), {most, some}, {features});
}

}  // namespace dl::convert
