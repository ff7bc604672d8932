// Copies and conversions of devices in host memory.

#include "libcore/device/host_memory.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "libcore/base/error.h"

namespace dl::device {
namespace {

using tensor::DType;
using tensor::Tensor;
using tensor::View;

class HostBuffer final : public tensor::Buffer {
 public:
  HostBuffer(DType real, tensor::Shape shape) : memory_(real, shape) {
    view_ = {memory_.bytes().data(), real, shape};
  }
  View view() const override { return view_; }

 private:
  Tensor memory_;
  View view_;
};

}  // namespace

std::unique_ptr<tensor::Buffer> allocate_host(DType real, DType dtype,
                                              tensor::Shape shape) {
  require(dtype == real || dtype == DType::kI32 || dtype == DType::kF64,
          "memory of a type that no primitive takes");
  return std::make_unique<HostBuffer>(dtype, shape);
}

void upload_integers(const View& dst, const Tensor& src) {
  require(dst.elements() == src.elements(), "upload of another size");
  constexpr double kLeast = std::numeric_limits<std::int32_t>::min();
  constexpr double kMost = std::numeric_limits<std::int32_t>::max();
  visit_dtype(src.dtype(), [&]<typename T>() {
    std::transform(src.as<T>().begin(), src.as<T>().end(),
                   dst.as<std::int32_t>(), [](T x) {
                     // Every other integer of 64 bits is far out of range.
                     const auto value = static_cast<double>(x);
                     if (!(kLeast <= value && value <= kMost) ||
                         value != std::trunc(value))
                       throw Error{Code::kData,
                                   "'" + std::to_string(x) +
                                       "' is not a whole number of 32 bits"};
                     return static_cast<std::int32_t>(x);
                   });
  });
}

void download_host(Tensor& dst, const View& src) {
  require(!src.empty(), "download of a missing view");
  const DType wanted = dst.dtype();
  require(wanted == DType::kF32 || wanted == DType::kF64 ||
              (wanted == DType::kI32 && src.dtype == DType::kI32),
          "download of reals into a tensor of integers");
  dst.resize(wanted, src.shape);
  if (wanted == src.dtype) {
    std::memcpy(dst.bytes().data(), src.data, dst.bytes().size());
    return;
  }
  visit_dtype(wanted, [&]<typename To>() {
    visit_dtype(src.dtype, [&]<typename From>() {
      const From* from = src.as<From>();
      std::transform(from, from + src.elements(), dst.as<To>().begin(),
                     [](From x) { return static_cast<To>(x); });
    });
  });
}

void read_host(std::span<double> to, const View& numbers) {
  require(numbers.dtype == DType::kF64 &&
              std::cmp_equal(to.size(), numbers.elements()),
          "a reading of what are not as many numbers");
  std::copy_n(numbers.as<double>(), numbers.elements(), to.begin());
}

double& number_in(const View& number) {
  require(
      !number.empty() && number.dtype == DType::kF64 && number.elements() == 1,
      "a view that is not a number");
  return *number.as<double>();
}

void spoil(const View& number) {
  number_in(number) = std::numeric_limits<double>::quiet_NaN();
}

std::optional<double> gated_scale(const UpdaterStep& step, const View& number) {
  if (!step.guard.empty() && std::isnan(number_in(step.guard))) {
    spoil(number);
    return std::nullopt;
  }
  return step.factor.empty() ? step.scale : step.scale * number_in(step.factor);
}

}  // namespace dl::device
