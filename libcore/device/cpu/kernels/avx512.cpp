namespace dl::device {
namespace {
constexpr int kLanes = 16;
constexpr int kMaxRows = 12;
}  // namespace
}  // namespace dl::device

#include "libcore/device/cpu/kernels/gemm_tile.h"

namespace dl::device {

const Kernels kAvx512Kernels = {"avx512", kLanes, kMaxRows, gemm_tile,
                                transpose};

}  // namespace dl::device
