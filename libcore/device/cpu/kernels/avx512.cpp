// The kernels compiled for AVX-512.

namespace dl::device {
namespace {
constexpr int kLanes = 16;
constexpr int kMaxRows = 12;
constexpr int kPoolFilters = 6;
constexpr int kSums = 20;  // vectors that stay in registers
}  // namespace
}  // namespace dl::device

#include "libcore/device/cpu/kernels/gemm_tile.h"
#include "libcore/device/cpu/kernels/pool_tile.h"
#include "libcore/device/cpu/kernels/sparse_sum.h"
#include "libcore/device/cpu/kernels/winograd_tile.h"

namespace dl::device {

const Kernels kAvx512Kernels = {
    "avx512",
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
