namespace dl::device {
namespace {
constexpr int kLanes = 4;
constexpr int kMaxRows = 4;
}  // namespace
}  // namespace dl::device

#include "libcore/device/cpu/kernels/gemm_tile.h"

namespace dl::device {

const Kernels kPortableKernels = {"portable", kLanes, kMaxRows, gemm_tile,
                                  transpose};

}  // namespace dl::device
