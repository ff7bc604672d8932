// The cuda device over emulated_api.h.

#ifndef DL_TESTS_UNIT_DEVICE_EMULATED_EMULATED_DEVICE_H_
#define DL_TESTS_UNIT_DEVICE_EMULATED_EMULATED_DEVICE_H_

#include <memory>

#include "libcore/device/api/device.h"
#include "libcore/device/api/precision.h"

namespace dl::device {

std::unique_ptr<device::Device> emulated_device(
    device::Precision precision = device::Precision::kFloat32);

}  // namespace dl::device

#endif  // DL_TESTS_UNIT_DEVICE_EMULATED_EMULATED_DEVICE_H_
