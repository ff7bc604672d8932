// Memory and conversion of the cpu device, and what it holds.

#include <algorithm>
#include <type_traits>

#include "libcore/base/error.h"
#include "libcore/device/check.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cpu/gemm.h"
#include "libcore/device/cpu/onednn.h"
#include "libcore/device/cpu/simd.h"
#include "libcore/device/cpu/spread.h"
#include "libcore/device/host_memory.h"

namespace dl::device {
namespace kernels {

template <typename T>
DL_VECTOR void convert(float* to, const T* from, std::int64_t n) {
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i]);
}

template <typename T>
DL_VECTOR void shift_and_scale(float* to, const T* from, const float* shift,
                               const float* scale, std::int64_t n) {
  // Large integers and doubles lose digits as float32 before the shift.
  using Wide = std::conditional_t<sizeof(T) <= 2 || std::is_same_v<T, float>,
                                  float, double>;
  DL_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i)
    to[i] =
        static_cast<float>((static_cast<Wide>(from[i]) - shift[i]) * scale[i]);
}

}  // namespace kernels

using tensor::DType;
using tensor::Tensor;

CpuDevice::CpuDevice(Precision weights)
    : dnn_(with_onednn([] { return std::make_unique<OneDnn>(); })),
      gemm_(std::make_unique<GemmScratch>()),
      spread_(std::make_unique<Spread>()),
      weights_(weights) {}

CpuDevice::~CpuDevice() = default;

void CpuDevice::use(ThreadTeam* team) { spread_->use(team); }

std::unique_ptr<tensor::Buffer> CpuDevice::allocate(tensor::Shape shape,
                                                    DType dtype) {
  return allocate_host(DType::kF32, dtype, shape);
}

tensor::View CpuDevice::adopt(std::span<const float> host) {
  // Nobody writes to it.
  auto* data = reinterpret_cast<std::byte*>(const_cast<float*>(host.data()));
  return {data, DType::kF32, {static_cast<std::int64_t>(host.size())}};
}

std::span<float> CpuDevice::on_host(View v) {
  check_reals(DType::kF32, {v});
  return {v.as<float>(), static_cast<std::size_t>(v.elements())};
}

void CpuDevice::upload(View dst, const Tensor& src) {
  if (dst.dtype == DType::kI32) return upload_integers(dst, src);
  check_reals(DType::kF32, {dst});
  require(dst.elements() == src.elements(), "upload of another size");
  visit_dtype(src.dtype(), [&]<typename T>() {
    kernels::convert(dst.as<float>(), src.as<T>().data(), dst.elements());
  });
}

// Shifts and scales are repeated to at least kTile columns, in turns of whole
// rows, for rows may be as short as a pixel.
void CpuDevice::upload_scaled(View dst, const Tensor& src, View shift,
                              View scale) {
  check_reals(DType::kF32, {dst, shift, scale});
  const Rows rows = check_scaling(dst, src, shift, scale);
  const bool one_pair = shift.elements() == 1 && scale.elements() == 1;
  const std::int64_t length =
      one_pair ? 1 : std::max<std::int64_t>(rows.length, 1);
  constexpr std::int64_t kTile = 512;
  float tiled[2][kTile];
  // Columns of a row at a time where it does not fit, else rows.
  const std::int64_t width = std::min(length, kTile);
  const std::int64_t turn = kTile / width * width;
  visit_dtype(src.dtype(), [&]<typename T>() {
    const T* from = src.as<T>().data();
    for (std::int64_t first = 0; first < length; first += width) {
      const std::int64_t columns = std::min(width, length - first);
      for (std::int64_t i = 0; i < turn; ++i) {
        const std::int64_t c = std::min(first + i % width, length - 1);
        tiled[0][i] = shift.as<float>()[shift.elements() == 1 ? 0 : c];
        tiled[1][i] = scale.as<float>()[scale.elements() == 1 ? 0 : c];
      }
      // Rows that are one tile lie one after the other.
      const std::int64_t step = length > width ? length : turn;
      const std::int64_t n = length > width ? columns : turn;
      for (std::int64_t at = first; at < dst.elements(); at += step)
        kernels::shift_and_scale(dst.as<float>() + at, from + at, tiled[0],
                                 tiled[1], std::min(n, dst.elements() - at));
    }
  });
}

void CpuDevice::upload_one_hot(View dst, const Tensor& src) {
  check_reals(DType::kF32, {dst});
  const Rows rows = rows_of(dst);
  require(rows.count == src.elements(), "one-hot upload of another size");
  std::fill_n(dst.as<float>(), dst.elements(), 0.0f);
  visit_dtype(src.dtype(), [&]<typename T>() {
    const T* labels = src.as<T>().data();
    for (std::int64_t i = 0; i < rows.count; ++i) {
      const auto label = static_cast<std::int64_t>(labels[i]);
      require(0 <= label && label < rows.length, "a label out of range");
      dst.as<float>()[i * rows.length + label] = 1.0f;
    }
  });
}

}  // namespace dl::device
