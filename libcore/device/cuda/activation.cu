// Activations, their derivatives, and biases before them.

#include <cmath>

#include "libcore/device/cuda/activation_function.h"
#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/kernel/map.h"
#include "libcore/device/cuda/kernel/packed_columns.h"
#include "libcore/device/cuda/kernel/row_parts.h"
#include "libcore/device/cuda/kernel/strips.h"

namespace dl::device::cuda {
namespace {

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

// The one that most networks have, by itself: no element asks which it is.
struct Relu {
  DL_DEVICE float operator()(float x) const { return x < 0 ? 0.0F : x; }
};
struct ReluSlope {
  DL_DEVICE float operator()(float dy, float y) const {
    return dy * (y > 0 ? 1.0F : 0.0F);
  }
};

// The same by columns, which have nothing of their own.
struct ReluSlopes {
  struct Column {};
  DL_DEVICE Column column(std::int64_t) const { return {}; }
  DL_DEVICE float value(const Column&, const float (&in)[2]) const {
    return ReluSlope{}(in[0], in[1]);
  }
};

// y = f(y + b), row by row.
template <int N, class F>
struct BiasRows {
  std::int64_t n, length;
  F f;
  Reals y, b;
  DL_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t at = N * i, column = at - quotient(at, length) * length;
    Pack<float, N> values = y.template pack<N>(at);
    DL_UNROLL
    for (int k = 0; k < N; ++k) values.at[k] = f(values.at[k] + b[column + k]);
    y.template set_pack<N>(at, values);
  }
};

template <class F>
void add_bias_and(Stream& stream, const Rows& rows, const F& f, const Reals& y,
                  const Reals& b) {
  constexpr int kAtOnce = 8;
  const std::int64_t n = rows.count * rows.length;
  if (rows.length % kAtOnce == 0 && y.in_packs(kAtOnce))
    each(stream, n / kAtOnce, BiasRows<kAtOnce, F>{n, rows.length, f, y, b});
  else
    each(stream, n, BiasRows<1, F>{n, rows.length, f, y, b});
}

}  // namespace

void CudaDevice::add_bias(View y, View b) { add_bias_and_activate(y, b, {}); }

void CudaDevice::add_bias_and_activate(View y, View b,
                                       const ActivationSpec& f) {
  check_reals({y, b});
  const Rows rows = rows_of(y);
  check_shape(b, tensor::Shape{rows.length});
  if (f.kind == Activation::kIdentity)
    return add_bias_and(
        stream_, rows, [] DL_DEVICE(float x) { return x; }, Reals(y), Reals(b));
  if (f.kind == Activation::kRelu)
    return add_bias_and(stream_, rows, Relu{}, Reals(y), Reals(b));
  const Function function = function_of(f);
  add_bias_and(
      stream_, rows, [=] DL_DEVICE(float x) { return apply(function, x); },
      Reals(y), Reals(b));
}

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
  if (f.kind == Activation::kRelu)
    return map(stream_, x.elements(), Relu{}, to, from);
  const Function function = function_of(f);
  map(
      stream_, x.elements(),
      [=] DL_DEVICE(float value) { return apply(function, value); }, to, from);
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
  if (f.kind == Activation::kRelu)
    return map(stream_, dx.elements(), ReluSlope{}, to, from, at);
  const Function function = function_of(f);
  map(
      stream_, dx.elements(),
      [=] DL_DEVICE(float slope, float value) {
        return slope * (of_input ? derivative_at(function, value)
                                 : derivative(function, value));
      },
      to, from, at);
}

// Fast way for relu, the most frequent activation.
bool CudaDevice::activate_gradient_and_sum(const ActivationSpec& f, View dx,
                                           View dy, View y, View s) {
  check_reals({dx, dy, y, s});
  check_same_shape(dx, dy);
  check_same_shape(dx, y);
  const Rows rows = rows_of(dx);
  check_shape(s, tensor::Shape{rows.length});
  const Reals sums(s);
  return f.kind == Activation::kRelu &&
         put_and_sum_columns<double>(
             stream_, rows.count, rows.length, Reals(dx),
             Inputs<2>{{Reals(dy), Reals(y)}}, ReluSlopes{},
             [=] DL_DEVICE(std::int64_t c, double sum) {
               sums.set(c, static_cast<float>(sum));
             });
}

}  // namespace dl::device::cuda
