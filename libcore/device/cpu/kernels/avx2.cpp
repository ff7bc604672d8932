// The kernels compiled for AVX2.

namespace dl::device {
namespace {
constexpr int kLanes = 8;
constexpr int kMaxRows = 6;
constexpr int kPoolFilters = 2;
constexpr int kSums = 10;  // vectors that stay in registers
}  // namespace
}  // namespace dl::device

#include "libcore/device/cpu/kernels/gemm_tile.h"
#include "libcore/device/cpu/kernels/pool_tile.h"
#include "libcore/device/cpu/kernels/sparse_sum.h"
#include "libcore/device/cpu/kernels/winograd_tile.h"

namespace dl::device {

const Kernels kAvx2Kernels = {
    "avx2",
    kLanes,
    kMaxRows,
    kPoolFilters,
    gemm_tile,
    to_pairs,
    transpose,
    pool_tile,
    pack_window,
    find_winners,
    add_weighted,
    {WinogradTile<5, 2>::kKernels, WinogradTile<6, 3>::kKernels,
     WinogradTile<6, 4>::kKernels}};

}  // namespace dl::device
