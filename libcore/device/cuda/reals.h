// What kernels read and write as floats: the memory of a view, whether it holds
// floats or bfloat16, which is looked up by all threads alike.

#ifndef DL_LIBCORE_DEVICE_CUDA_REALS_H_
#define DL_LIBCORE_DEVICE_CUDA_REALS_H_

#include <cstdint>

#include "libcore/base/error.h"
#include "libcore/device/check.h"
#include "libcore/device/cuda/bfloat16.h"
#include "libcore/tensor/view.h"

namespace dl::device::cuda {

class Reals {
 public:
  Reals() = default;  // of nothing
  explicit Reals(const tensor::View& v)
      : data_(v.data), halves_(v.dtype == tensor::DType::kBF16) {}
  Reals(const float* floats)
      : data_(const_cast<std::byte*>(
            reinterpret_cast<const std::byte*>(floats))) {}
  Reals(Bfloat16* halves)
      : data_(reinterpret_cast<std::byte*>(halves)), halves_(true) {}

  DL_BOTH bool empty() const { return data_ == nullptr; }
  void* data() const { return data_; }
  bool halves() const { return halves_; }  // bfloat16
  const float* floats() const {
    require(!halves_, "bfloat16 where floats are wanted");
    return reinterpret_cast<const float*>(data_);
  }
  DL_BOTH float operator[](std::int64_t i) const {
    return halves_ ? float_of(reinterpret_cast<const Bfloat16*>(data_)[i])
                   : reinterpret_cast<const float*>(data_)[i];
  }
  // To the nearest that there is room for.
  DL_BOTH void set(std::int64_t i, float value) const {
    if (halves_)
      reinterpret_cast<Bfloat16*>(data_)[i].bits =
          static_cast<std::uint16_t>(upper_half(value));
    else
      reinterpret_cast<float*>(data_)[i] = value;
  }
  // From the i-th on.
  DL_BOTH Reals operator+(std::int64_t i) const {
    Reals rest = *this;
    rest.data_ += i * (halves_ ? 2 : 4);
    return rest;
  }

 private:
  std::byte* data_ = nullptr;
  bool halves_ = false;
};

// check.h's, of either kind.
inline constexpr tensor::DType kReals = tensor::DType::kBF16;
using device::check_reals;
inline void check_reals(std::initializer_list<tensor::View> views) {
  device::check_reals(kReals, views);
}

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_REALS_H_
