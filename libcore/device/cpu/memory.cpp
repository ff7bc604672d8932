// Memory and conversion of the cpu device, and what it holds.

#include <algorithm>
#include <type_traits>

#include "libcore/base/error.h"
#include "libcore/device/check.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cpu/gemm.h"
#include "libcore/device/cpu/onednn.h"
#include "libcore/device/host_memory.h"

namespace dl::device {

using tensor::DType;
using tensor::Tensor;

CpuDevice::CpuDevice()
    : dnn_(with_onednn([] { return std::make_unique<OneDnn>(); })),
      gemm_(std::make_unique<GemmScratch>()) {}

CpuDevice::~CpuDevice() = default;

std::unique_ptr<tensor::Buffer> CpuDevice::allocate(tensor::Shape shape) {
  return allocate_host(DType::kF32, shape);
}

void CpuDevice::upload(View dst, const Tensor& src) {
  check_reals(DType::kF32, {dst});
  require(dst.elements() == src.elements(), "upload of another size");
  visit_dtype(src.dtype(), [&]<typename T>() {
    std::ranges::transform(src.as<T>(), dst.as<float>(),
                           [](T value) { return static_cast<float>(value); });
  });
}

void CpuDevice::upload_scaled(View dst, const Tensor& src, View shift,
                              View scale) {
  check_reals(DType::kF32, {dst, shift, scale});
  const Rows rows = check_scaling(dst, src, shift, scale);
  const std::int64_t shift_step = shift.elements() == 1 ? 0 : 1;
  const std::int64_t scale_step = scale.elements() == 1 ? 0 : 1;
  const bool one_pair = shift_step == 0 && scale_step == 0;
  // A long row vectorises better than many short ones.
  const std::int64_t length = one_pair ? dst.elements() : rows.length;
  visit_dtype(src.dtype(), [&]<typename T>() {
    // Large integers and doubles lose digits as float32 before the shift.
    using Wide = std::conditional_t<sizeof(T) <= 2 || std::is_same_v<T, float>,
                                    float, double>;
    const float* a = shift.as<float>();
    const float* b = scale.as<float>();
    const T* from = src.as<T>().data();
    float* to = dst.as<float>();
    for (std::int64_t row = 0; row < dst.elements(); row += length)
      for (std::int64_t c = 0; c < length; ++c)
        to[row + c] = static_cast<float>(
            (static_cast<Wide>(from[row + c]) - a[c * shift_step]) *
            b[c * scale_step]);
  });
}

void CpuDevice::upload_one_hot(View dst, const Tensor& src) {
  check_reals(DType::kF32, {dst});
  const Rows rows = rows_of(dst);
  require(rows.count == src.elements(), "one-hot upload of another size");
  std::fill_n(dst.as<float>(), dst.elements(), 0.0f);
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const auto label = static_cast<std::int64_t>(src.value(i));
    require(0 <= label && label < rows.length, "a label out of range");
    dst.as<float>()[i * rows.length + label] = 1.0f;
  }
}

void CpuDevice::download(Tensor& dst, View src) { download_host(dst, src); }

}  // namespace dl::device
