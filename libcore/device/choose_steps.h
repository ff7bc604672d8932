// Device::choose_steps() where memory is the host's.

#ifndef DL_LIBCORE_DEVICE_CHOOSE_STEPS_H_
#define DL_LIBCORE_DEVICE_CHOOSE_STEPS_H_

#include <cstdint>

#include "libcore/device/api/device.h"

namespace dl::device {

// The views have been checked, check_choice(); T: what the mask holds.
template <typename T>
void choose_steps(tensor::View index, tensor::View mask, StepChoice choice) {
  const std::int64_t steps = mask.shape[1];
  auto* rows = index.as<std::int32_t>();
  const auto row = [steps](std::int64_t i, std::int64_t t) {
    return static_cast<std::int32_t>(i * steps + t);
  };
  for (std::int64_t i = 0; i < mask.shape[0]; ++i) {
    const T* counts = mask.as<T>() + i * steps;
    if (choice == StepChoice::kLast) {
      std::int64_t last = steps - 1;
      while (last > 0 && counts[last] == 0) --last;
      rows[i] = row(i, last);
      continue;
    }
    if (choice == StepChoice::kHeld) {
      std::int64_t held = -1;
      for (std::int64_t t = 0; t < steps; ++t) {
        if (counts[t] != 0) held = t;
        rows[row(i, t)] = row(i, held < 0 ? t : held);
      }
      continue;
    }
    std::int64_t from = steps;
    for (std::int64_t t = 0; t < steps; ++t) {
      rows[row(i, t)] = row(i, t);
      if (counts[t] == 0) continue;
      do --from;
      while (counts[from] == 0);
      rows[row(i, t)] = row(i, from);
    }
  }
}

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_CHOOSE_STEPS_H_
