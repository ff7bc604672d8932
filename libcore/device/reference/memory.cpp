// Memory and conversion of the reference device.

#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/device/check.h"
#include "libcore/device/host_memory.h"
#include "libcore/device/reference/reference_device.h"

namespace dl::device {

using tensor::DType;
using tensor::Tensor;

std::unique_ptr<tensor::Buffer> ReferenceDevice::allocate(tensor::Shape shape,
                                                          DType dtype) {
  return allocate_host(DType::kF64, dtype, shape);
}

void ReferenceDevice::upload(View dst, const Tensor& src) {
  if (dst.dtype == DType::kI32) return upload_integers(dst, src);
  check_reals(DType::kF64, {dst});
  require(dst.elements() == src.elements(), "upload of another size");
  double* to = dst.as<double>();
  for (std::int64_t i = 0; i < dst.elements(); ++i) to[i] = src.value(i);
}

void ReferenceDevice::upload_scaled(View dst, const Tensor& src, View shift,
                                    View scale) {
  check_reals(DType::kF64, {dst, shift, scale});
  const Rows rows = check_scaling(dst, src, shift, scale);
  double* to = dst.as<double>();
  for (std::int64_t i = 0; i < dst.elements(); ++i) {
    const std::int64_t c = i % rows.length;
    to[i] = (src.value(i) - shift.as<double>()[shift.elements() == 1 ? 0 : c]) *
            scale.as<double>()[scale.elements() == 1 ? 0 : c];
  }
}

void ReferenceDevice::upload_one_hot(View dst, const Tensor& src) {
  check_reals(DType::kF64, {dst});
  const Rows rows = rows_of(dst);
  require(rows.count == src.elements(), "one-hot upload of another size");
  std::fill_n(dst.as<double>(), dst.elements(), 0.0);
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const auto label = static_cast<std::int64_t>(src.value(i));
    require(0 <= label && label < rows.length, "a label out of range");
    dst.as<double>()[i * rows.length + label] = 1.0;
  }
}

}  // namespace dl::device
