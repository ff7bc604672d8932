// Activations and their derivatives.

#include <cmath>

#include "libcore/device/cuda/activation_function.h"
#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/reals.h"
#include "libcore/device/cuda/row_parts.h"

namespace dl::device::cuda {
namespace {

using tensor::Activation;
using tensor::ActivationSpec;

// exp(x - top), where top is the largest of a row, and the sum of a row's.
struct Exponentials {
  Reals x;
  float top = 0;
  double sum = 0;

  DL_DEVICE Exponentials(const Block& part, Reals row, std::int64_t length)
      : x(row) {
    const auto at = [=](std::int64_t j) { return row[j]; };
    top = reduce_over(part, length, -INFINITY, at, Largest{});
    const float below = top;
    const auto exponential = [=](std::int64_t j) {
      return static_cast<double>(std::exp(row[j] - below));
    };
    sum = reduce_over(part, length, 0.0, exponential, Sum{});
  }
};

struct Softmax {
  static constexpr std::size_t kShared = sizeof(double);
  Reals y, x;
  DL_DEVICE void operator()(const Block& part, std::int64_t at,
                            std::int64_t length) const {
    const Exponentials e(part, x + at, length);
    const auto share = static_cast<float>(1 / e.sum);
    for (std::int64_t j = part.thread; j < length; j += part.threads)
      y.set(at + j, std::exp(x[at + j] - e.top) * share);
  }
};

struct LogSoftmax {
  static constexpr std::size_t kShared = sizeof(double);
  Reals y, x;
  DL_DEVICE void operator()(const Block& part, std::int64_t at,
                            std::int64_t length) const {
    const Exponentials e(part, x + at, length);
    const auto log_sum = static_cast<float>(std::log(e.sum));
    for (std::int64_t j = part.thread; j < length; j += part.threads)
      y.set(at + j, x[at + j] - e.top - log_sum);
  }
};

struct SoftmaxGradient {
  static constexpr std::size_t kShared = sizeof(double);
  Reals dx, dy, y;
  DL_DEVICE void operator()(const Block& part, std::int64_t at,
                            std::int64_t length) const {
    double mine = 0;
    for (std::int64_t j = part.thread; j < length; j += part.threads)
      mine += static_cast<double>(dy[at + j]) * y[at + j];
    const auto dot = static_cast<float>(reduce(part, mine, Sum{}));
    for (std::int64_t j = part.thread; j < length; j += part.threads)
      dx.set(at + j, y[at + j] * (dy[at + j] - dot));
  }
};

struct LogSoftmaxGradient {
  static constexpr std::size_t kShared = sizeof(double);
  Reals dx, dy, y;
  DL_DEVICE void operator()(const Block& part, std::int64_t at,
                            std::int64_t length) const {
    double mine = 0;
    for (std::int64_t j = part.thread; j < length; j += part.threads)
      mine += static_cast<double>(dy[at + j]);
    const auto sum = static_cast<float>(reduce(part, mine, Sum{}));
    for (std::int64_t j = part.thread; j < length; j += part.threads)
      dx.set(at + j, dy[at + j] - std::exp(y[at + j]) * sum);
  }
};

}  // namespace

void CudaDevice::activate(const ActivationSpec& f, View y, View x) {
  check_reals({y, x});
  check_same_shape(y, x);
  const Reals to(y), from(x);
  if (f.kind == Activation::kIdentity) {
    if (y.data != x.data) copy(y, x);
    return;
  }
  if (f.kind == Activation::kSoftmax)
    return each_row(stream_, rows_of(x), Softmax{to, from});
  if (f.kind == Activation::kLogSoftmax)
    return each_row(stream_, rows_of(x), LogSoftmax{to, from});
  const Function function = function_of(f);
  each(stream_, x.elements(),
       [=] DL_DEVICE(std::int64_t i) { to.set(i, apply(function, from[i])); });
}

void CudaDevice::activate_gradient(const ActivationSpec& f, View dx, View dy,
                                   View y, View x) {
  check_reals({dx, dy, y});
  check_same_shape(dx, dy);
  check_same_shape(dx, y);
  const bool of_input = gradient_needs_input(f.kind);
  if (of_input) {
    check_reals({x});
    check_same_shape(dx, x);
  }
  const Reals to(dx), from(dy);
  if (f.kind == Activation::kIdentity) {
    if (dx.data != dy.data) copy(dx, dy);
    return;
  }
  const Reals at(of_input ? x : y);
  if (f.kind == Activation::kSoftmax)
    return each_row(stream_, rows_of(y), SoftmaxGradient{to, from, at});
  if (f.kind == Activation::kLogSoftmax)
    return each_row(stream_, rows_of(y), LogSoftmaxGradient{to, from, at});
  const Function function = function_of(f);
  each(stream_, dx.elements(), [=] DL_DEVICE(std::int64_t i) {
    to.set(i, from[i] * (of_input ? derivative_at(function, at[i])
                                  : derivative(function, at[i])));
  });
}

}  // namespace dl::device::cuda
