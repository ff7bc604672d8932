// Views that kernels read and write as floats: the memory of a view, whether it
// holds floats or bfloat16, which is looked up by all threads alike.

#ifndef DL_LIBCORE_DEVICE_CUDA_KERNEL_REALS_H_
#define DL_LIBCORE_DEVICE_CUDA_KERNEL_REALS_H_

#include <cstdint>

#include "libcore/base/error.h"
#include "libcore/device/check.h"
#include "libcore/device/cuda/kernel/bfloat16.h"
#include "libcore/tensor/view.h"

namespace dl::device::cuda {

// Side by side, so that a thread reads or writes them at once.
template <class T, int N>
struct alignas(N * sizeof(T)) Pack {
  T at[N];
};

class Reals {
 public:
  Reals() = default;  // of nothing
  explicit Reals(const tensor::View& v)
      : data_(v.data), bytes_(v.dtype == tensor::DType::kBF16 ? 2 : 4) {}
  Reals(const float* floats)
      : data_(const_cast<std::byte*>(
            reinterpret_cast<const std::byte*>(floats))) {}
  Reals(Bfloat16* halves)
      : data_(reinterpret_cast<std::byte*>(halves)), bytes_(2) {}

  DL_BOTH bool empty() const { return data_ == nullptr; }
  void* data() const { return data_; }
  DL_BOTH bool halves() const { return bytes_ == 2; }  // bfloat16
  const float* floats() const {
    require(!halves(), "bfloat16 where floats are wanted");
    return reinterpret_cast<const float*>(data_);
  }
  DL_BOTH float operator[](std::int64_t i) const {
    return halves() ? float_of(reinterpret_cast<const Bfloat16*>(data_)[i])
                    : reinterpret_cast<const float*>(data_)[i];
  }
  // To the nearest that there is room for.
  DL_BOTH void set(std::int64_t i, float value) const {
    if (halves())
      reinterpret_cast<Bfloat16*>(data_)[i].bits =
          static_cast<std::uint16_t>(upper_half(value));
    else
      reinterpret_cast<float*>(data_)[i] = value;
  }
  // N from i on as they lie, of T, where both are whole packs.
  template <class T, int N>
  DL_BOTH Pack<T, N> packed(std::int64_t i) const {
    return *reinterpret_cast<const Pack<T, N>*>(
        data_ + static_cast<std::int64_t>(sizeof(T)) * i);
  }
  template <class T, int N>
  DL_BOTH void set_packed(std::int64_t i, const Pack<T, N>& values) const {
    *reinterpret_cast<Pack<T, N>*>(
        data_ + static_cast<std::int64_t>(sizeof(T)) * i) = values;
  }
  // The same as floats, of either kind.
  template <int N>
  DL_BOTH Pack<float, N> pack(std::int64_t i) const {
    if (!halves()) return packed<float, N>(i);
    const auto halves = packed<Bfloat16, N>(i);
    Pack<float, N> values;
    for (int k = 0; k < N; ++k) values.at[k] = float_of(halves.at[k]);
    return values;
  }
  template <int N>
  DL_BOTH void set_pack(std::int64_t i, const Pack<float, N>& values) const {
    if (!halves()) return set_packed(i, values);
    Pack<Bfloat16, N> halves;
    for (int k = 0; k < N; ++k)
      halves.at[k].bits = static_cast<std::uint16_t>(upper_half(values.at[k]));
    set_packed(i, halves);
  }
  // Whether packs of N may begin at the first.
  bool in_packs(int n) const {
    return reinterpret_cast<std::uintptr_t>(data_) %
               static_cast<std::uintptr_t>(n * bytes_) ==
           0;
  }
  // The value as set() stores it.
  DL_BOTH float nearest(float value) const {
    return halves() ? float_of({static_cast<std::uint16_t>(upper_half(value))})
                    : value;
  }
  // From the i-th on.
  DL_BOTH Reals operator+(std::int64_t i) const {
    Reals rest = *this;
    rest.data_ += i * bytes_;
    return rest;
  }

 private:
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 4;  // of a number; no gap, as graphs compare all bytes
};

// check.h's, of either kind.
inline constexpr tensor::DType kReals = tensor::DType::kBF16;
using device::check_reals;
inline void check_reals(std::initializer_list<tensor::View> views) {
  device::check_reals(kReals, views);
}

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_KERNEL_REALS_H_
