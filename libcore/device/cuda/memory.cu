// Memory of the GPU, and what goes into it and out.

#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/kernel/reals.h"
#include "libcore/device/cuda/kernel/strips.h"
#include "libcore/device/cuda/runtime/nccl_sum.h"
#include "libcore/device/host_memory.h"

namespace dl::device::cuda {

using tensor::DType;
using tensor::Tensor;
using tensor::View;

namespace {

class GpuBuffer final : public tensor::Buffer {
 public:
  GpuBuffer(Stream& stream, tensor::Shape shape, DType dtype)
      : stream_(stream),
        view_{stream.allocate_zeros(static_cast<std::size_t>(shape.elements()) *
                                    size_of(dtype)),
              dtype, shape} {}
  ~GpuBuffer() override { stream_.free(view_.data); }
  GpuBuffer(const GpuBuffer&) = delete;
  GpuBuffer& operator=(const GpuBuffer&) = delete;
  View view() const override { return view_; }

 private:
  Stream& stream_;
  View view_;
};

// Large integers and doubles lose digits as float32 before the shift.
template <typename T>
using Wide = std::conditional_t<sizeof(T) <= 2 || std::is_same_v<T, float>,
                                float, double>;

template <typename T>
void convert(Stream& stream, const Reals& to, const std::byte* there,
             std::int64_t n) {
  const T* const from = reinterpret_cast<const T*>(there);
  each(stream, n, [=] DL_DEVICE(std::int64_t i) {
    to.set(i, static_cast<float>(from[i]));
  });
}

void copy_integers(Stream& stream, std::int32_t* to, const std::byte* there,
                   std::int64_t n) {
  const auto* const from = reinterpret_cast<const std::int32_t*>(there);
  each(stream, n, [=] DL_DEVICE(std::int64_t i) { to[i] = from[i]; });
}

// Scaling of each channel, or one for all.
struct Scaling {
  std::int64_t channels, shift_step, scale_step;
  Reals shift, scale;
};

template <typename T>
void shift_and_scale(Stream& stream, const Reals& to, const std::byte* there,
                     std::int64_t n, const Scaling& s) {
  const T* const from = reinterpret_cast<const T*>(there);
  each(stream, n, [=] DL_DEVICE(std::int64_t i) {
    const std::int64_t c = i - quotient(i, s.channels) * s.channels;
    to.set(i, static_cast<float>(
                  (static_cast<Wide<T>>(from[i]) - s.shift[c * s.shift_step]) *
                  s.scale[c * s.scale_step]));
  });
}

}  // namespace

CudaDevice::CudaDevice(const Api& api, int gpu, Precision precision,
                       unsigned most_threads)
    : stream_(api, gpu, most_threads),
      staging_(stream_),
      products_(stream_, precision),
      dnn_(stream_, precision) {}

// A kernel takes any number of parameters at a time.  GPUs multiply TF32 and
// bfloat16 from Ampere on.
Capabilities CudaDevice::capabilities() const {
  constexpr int kAmpere = 8;
  const bool can = stream_.compute_capability() >= kAmpere;
  const Precisions all{.tf32 = can, .bfloat16 = can};
  return {.one_lane = true,
          .training = all,
          .prediction = all,
          .piece = std::int64_t{1} << 40};
}

std::unique_ptr<LaneSum> CudaDevice::lane_sum(std::span<Device* const> lanes) {
  std::vector<Stream*> streams;
  for (Device* const lane : lanes)
    streams.push_back(&dynamic_cast<CudaDevice&>(*lane).stream());
  return std::make_unique<NcclSum>(std::move(streams));
}

std::unique_ptr<tensor::Buffer> CudaDevice::allocate(tensor::Shape shape,
                                                     DType dtype) {
  require(dtype == DType::kF32 || dtype == DType::kI32 ||
              dtype == DType::kF64 || dtype == DType::kBF16,
          "memory of a type that no primitive takes");
  return std::make_unique<GpuBuffer>(stream_, shape, dtype);
}

void CudaDevice::expect(std::span<const Tensor* const> next) {
  staging_.forget();
  try {
    for (const Tensor* const tensor : next)
      staging_.fill_ahead(tensor->bytes());
  } catch (const Error&) {  // who is in need of it will meet the same
    staging_.forget();
  }
}

void CudaDevice::upload(View dst, const Tensor& src) {
  require(!dst.empty(), "a view is missing");
  require(dst.elements() == src.elements(), "upload of another size");
  if (dst.elements() == 0) return;
  const bool integers = dst.dtype == DType::kI32;
  if (integers && src.dtype() != DType::kI32) {
    const auto room = staging_.room(static_cast<std::size_t>(dst.elements()) *
                                    sizeof(std::int32_t));
    upload_integers({room.data(), DType::kI32, dst.shape}, src);
  } else {
    if (!integers) check_reals({dst});
    staging_.fill(src.bytes());
  }
  const bool alike = integers || dst.dtype == src.dtype();
  // Much goes up outside of steps: parameters.
  if (alike && !stream_.in_step()) return staging_.send(dst.data);
  const std::byte* const there = staging_.bring();
  if (integers) {
    copy_integers(stream_, dst.as<std::int32_t>(), there, dst.elements());
  } else {
    visit_dtype(src.dtype(), [&]<typename T>() {
      convert<T>(stream_, Reals(dst), there, dst.elements());
    });
  }
  staging_.used();
}

void CudaDevice::upload_scaled(View dst, const Tensor& src, View shift,
                               View scale) {
  check_reals({dst, shift, scale});
  const Rows rows = check_scaling(dst, src, shift, scale);
  if (dst.elements() == 0) return;
  staging_.fill(src.bytes());
  const std::byte* const there = staging_.bring();
  const Scaling scaling{rows.length, shift.elements() == 1 ? 0 : 1,
                        scale.elements() == 1 ? 0 : 1, Reals(shift),
                        Reals(scale)};
  visit_dtype(src.dtype(), [&]<typename T>() {
    shift_and_scale<T>(stream_, Reals(dst), there, dst.elements(), scaling);
  });
  staging_.used();
}

void CudaDevice::upload_one_hot(View dst, const Tensor& src) {
  check_reals({dst});
  const Rows rows = rows_of(dst);
  require(rows.count == src.elements(), "one-hot upload of another size");
  if (dst.elements() == 0) return;
  const auto bytes =
      static_cast<std::size_t>(rows.count) * sizeof(std::int32_t);
  const View labels{staging_.room(bytes).data(), DType::kI32, {rows.count}};
  upload_integers(labels, src);
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const std::int32_t label = labels.as<std::int32_t>()[i];
    require(0 <= label && label < rows.length, "a label out of range");
  }
  constexpr std::int64_t kWarp = 32;  // threads that look at once
  const std::int64_t length = rows.length;
  const auto* const classes = reinterpret_cast<const std::int32_t*>(
      staging_.bring((length + kWarp - 1) / kWarp));
  const Reals to(dst);
  each(stream_, dst.elements(), [=] DL_DEVICE(std::int64_t i) {
    const std::int64_t row = quotient(i, length);
    to.set(i, classes[row] == i - row * length ? 1.0F : 0.0F);
  });
  staging_.used();
}

void CudaDevice::download(Tensor& dst, View src) {
  require(!src.empty(), "download of a missing view");
  if (src.dtype == DType::kBF16) {
    const View wide{stream_.scratch<std::byte>(src.elements() * 4), DType::kF32,
                    src.shape};
    copy(wide, src);
    return download(dst, wide);
  }
  const auto here = staging_.fetch(
      src.data, static_cast<std::size_t>(src.elements()) * size_of(src.dtype));
  download_host(dst,
                {const_cast<std::byte*>(here.data()), src.dtype, src.shape});
}

void CudaDevice::read(std::span<double> to, View numbers) {
  require(numbers.dtype == DType::kF64, "a reading of what are no numbers");
  const std::size_t bytes = to.size() * sizeof(double);
  auto here = staging_.sent_back(numbers.data, bytes);
  if (here.empty()) here = staging_.fetch(numbers.data, bytes);
  read_host(
      to, {const_cast<std::byte*>(here.data()), numbers.dtype, numbers.shape});
}

// A kernel writes over the bus what a copy would have the GPU wait for.
void CudaDevice::expect_reading(View numbers) {
  auto* const to = reinterpret_cast<double*>(staging_.room_back(
      numbers.data,
      static_cast<std::size_t>(numbers.elements()) * sizeof(double)));
  const double* const from = numbers.as<double>();
  each(stream_, numbers.elements(),
       [=] DL_DEVICE(std::int64_t i) { to[i] = from[i]; });
}

}  // namespace dl::device::cuda
