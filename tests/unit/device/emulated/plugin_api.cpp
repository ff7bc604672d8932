// Entry point of the emulated device as a plug-in.

#include "tests/unit/device/emulated/emulated_api.h"

namespace dl::device::cuda {

const Api& plugin_api() { return emulated_api(); }

}  // namespace dl::device::cuda
