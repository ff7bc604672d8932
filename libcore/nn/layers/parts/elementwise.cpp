// Checks of inputs that are combined element by element.

#include "libcore/nn/layers/parts/elementwise.h"

#include "libcore/base/error.h"

namespace dl::nn::layers {

ValueSpec same_form(std::span<const ValueSpec> inputs) {
  ValueSpec form = inputs[0];
  for (const ValueSpec& input : inputs) {
    if (input.shape != form.shape)
      throw Error{Code::kConfig, "its inputs are " + form.shape.to_string() +
                                     " and " + input.shape.to_string() +
                                     "; want inputs of one shape"};
    if (input.copies != form.copies)
      throw Error{Code::kConfig, "some of its inputs are stacked, others not"};
    form.steps = form.steps || input.steps;
  }
  return form;
}

}  // namespace dl::nn::layers
