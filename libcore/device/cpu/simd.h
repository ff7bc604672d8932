// How the loops of the cpu device are compiled: once for each width of vector
// registers, chosen when the program starts.
//
// The files of this folder are built with -O3 -fno-math-errno
// -fno-trapping-math (CMakeLists.txt), which lets compilers turn square roots
// and selections into vectors and changes no result.  -ffast-math is not used:
// NaN and infinity keep their meaning.  Multiply and add are not contracted
// (-ffp-contract=off), and sums run in a written order, so that every host,
// alignment and vector width gives the same bits, also at the end of a loop.

#ifndef DL_LIBCORE_DEVICE_CPU_SIMD_H_
#define DL_LIBCORE_DEVICE_CPU_SIMD_H_

#include <cstdint>

// Before a function that consists of such a loop.  Sanitizers cannot run the
// code that chooses.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__clang__)
#define DL_VECTOR __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define DL_VECTOR
#endif

// Before a loop whose turns touch different elements: arrays may be the same
// one, as in y[i] = f(y[i]).
#if defined(__clang__)
#define DL_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define DL_INDEPENDENT _Pragma("GCC ivdep")
#endif

// For what must be inlined into the loop to be vectorised with it.
#define DL_INLINE inline __attribute__((always_inline))

namespace dl::device::kernels {

// Sums run in so many interleaved parts, added up at the end.
constexpr std::int64_t kPartialSums = 16;

}  // namespace dl::device::kernels

#endif  // DL_LIBCORE_DEVICE_CPU_SIMD_H_
