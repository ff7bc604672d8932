#include "libcore/vectorize/steps/step.h"

#include <array>
#include <limits>

#include "libcore/vectorize/text.h"

namespace dl::vectorize {

void Row::set(std::size_t slot, double number) {
  if (numbers.size() < cells.size())
    numbers.resize(cells.size(), std::numeric_limits<double>::quiet_NaN());
  numbers[slot] = number;
  cells[slot] = RecordColumns::unwritten();
  unwritten.push_back(slot);
}

void Row::write() {
  std::array<char, 32> digits;
  for (const std::size_t slot : unwritten)
    set(slot, number_text(numbers[slot], digits));
  unwritten.clear();
}

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
