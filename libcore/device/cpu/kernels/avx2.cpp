namespace dl::device {
namespace {
constexpr int kLanes = 8;
constexpr int kMaxRows = 6;
}  // namespace
}  // namespace dl::device

#include "libcore/device/cpu/kernels/gemm_tile.h"

namespace dl::device {

const Kernels kAvx2Kernels = {"avx2", kLanes, kMaxRows, gemm_tile, transpose};

}  // namespace dl::device
