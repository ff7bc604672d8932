#include "libcore/vectorize/steps/step.h"

namespace dl::vectorize {

#define DL_STEP(name) extern const StepType name##_step;
#include "libcore/vectorize/steps/steps.inc"
#undef DL_STEP

std::span<const StepType* const> step_types() {
  static constexpr const StepType* kTypes[] = {
#define DL_STEP(name) &name##_step,
#include "libcore/vectorize/steps/steps.inc"
#undef DL_STEP
  };
  return kTypes;
}

}  // namespace dl::vectorize
