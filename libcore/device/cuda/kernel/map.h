// Kernels over elements: to[i] = f(a[i], b[i], ..), where `to` may be one of
// those.  A thread takes several side by side, or memory would wait for it.

#ifndef DL_LIBCORE_DEVICE_CUDA_KERNEL_MAP_H_
#define DL_LIBCORE_DEVICE_CUDA_KERNEL_MAP_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "libcore/device/cuda/kernel/reals.h"

namespace dl::device::cuda {

template <int N, class F, int kInputs>
struct Map {
  std::int64_t n;
  F f;
  Reals to;
  Reals from[kInputs];

  // Applies f to the N elements from N * i on, or those that there are.
  DL_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t first = N * i;
    if (first + N <= n) {
      whole(first, std::make_integer_sequence<int, kInputs>());
    } else {
      for (std::int64_t k = first; k < n; ++k)
        one(k, std::make_integer_sequence<int, kInputs>());
    }
  }

 private:
  template <int... input>
  DL_DEVICE void whole(std::int64_t first,
                       std::integer_sequence<int, input...>) const {
    const Pack<float, N> values[] = {from[input].template pack<N>(first)...};
    Pack<float, N> results;
    DL_UNROLL
    for (int k = 0; k < N; ++k) results.at[k] = f(values[input].at[k]...);
    to.template set_pack<N>(first, results);
  }
  template <int... input>
  DL_DEVICE void one(std::int64_t i,
                     std::integer_sequence<int, input...>) const {
    to.set(i, f(from[input][i]...));
  }
};

// Applies f to n elements.
template <class F, class... Inputs>
void map(Stream& stream, std::int64_t n, const F& f, const Reals& to,
         const Inputs&... from) {
  constexpr int kInputs = static_cast<int>(sizeof...(from));
  constexpr int kAtOnce = 8;
  if (to.in_packs(kAtOnce) && (from.in_packs(kAtOnce) && ...))
    each(stream, (n + kAtOnce - 1) / kAtOnce,
         Map<kAtOnce, F, kInputs>{n, f, to, {from...}});
  else
    each(stream, n, Map<1, F, kInputs>{n, f, to, {from...}});
}

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_KERNEL_MAP_H_
