#include "tests/unit/device/emulated/emulated_api.h"

namespace dl::device::cuda {

const Api& plugin_api() { return emulated_api(); }

}  // namespace dl::device::cuda
