// Batch normalization, its statistics and gradients.

#include <cmath>
#include <initializer_list>

#include "libcore/device/cuda/cuda_device.h"
#include "libcore/device/cuda/kernel/packed_columns.h"

namespace dl::device::cuda {
using tensor::View;

namespace {

// Rows of x, after checking that all of `statistics` have one value a channel.
Rows rows_with(const View& x, std::initializer_list<View> statistics) {
  check_reals({x});
  check_reals(statistics);
  const Rows rows = rows_of(x);
  for (const View& s : statistics) check_shape(s, tensor::Shape{rows.length});
  return rows;
}
Rows rows_with(const View& x, const BatchNorm& spec) {
  return rows_with(x, {spec.mean, spec.variance, spec.gamma, spec.beta});
}

// A BatchNorm as kernels take it.
struct Channels {
  Reals mean, variance, gamma, beta;
  double epsilon;
  bool relu;

  explicit Channels(const BatchNorm& spec)
      : mean(spec.mean),
        variance(spec.variance),
        gamma(spec.gamma),
        beta(spec.beta),
        epsilon(spec.epsilon),
        relu(spec.relu) {}

  DL_DEVICE double deviation(std::int64_t c) const {
    return std::sqrt(variance[c] + epsilon);
  }
  DL_DEVICE float factor(std::int64_t c) const {
    return static_cast<float>(gamma[c] / deviation(c));
  }
  // Factor of y's gradient, y being the value before relu.
  DL_DEVICE float share(float y) const {
    return relu && !(y > 0) ? 0.0F : 1.0F;
  }
};

struct SquaresAbout {
  using Column = float;
  Reals mean;
  DL_DEVICE float column(std::int64_t c) const { return mean[c]; }
  DL_DEVICE float value(float middle, const float (&in)[1]) const {
    const float distance = in[0] - middle;
    return distance * distance;
  }
};

// A number and its square, whose sums in double lose to the mean's square what
// float32 has not to begin with.
struct Moments {
  struct Column {};
  DL_DEVICE Column column(std::int64_t) const { return {}; }
  DL_DEVICE Two value(const Column&, const float (&in)[1]) const {
    const double x = in[0];
    return {x, x * x};
  }
};

// Stores the statistics computed from those sums.
struct PutStatistics {
  Reals mean, variance, running_mean, running_variance;
  bool running;
  double count, decay;

  DL_DEVICE void operator()(std::int64_t c, const Two& sum) const {
    const double middle = sum.a / count,
                 spread = sum.b / count - middle * middle;
    const auto to_mean = static_cast<float>(middle);
    // NaN stays.
    const auto to_variance = static_cast<float>(spread < 0 ? 0 : spread);
    mean.set(c, to_mean);
    variance.set(c, to_variance);
    if (!running) return;
    move(running_mean, c, to_mean);
    move(running_variance, c, to_variance);
  }

 private:
  DL_DEVICE void move(const Reals& to, std::int64_t c, float value) const {
    to.set(c, static_cast<float>(decay * to[c] + (1 - decay) * value));
  }
};

// Normalizes x and, if there are two inputs, adds the second.
template <int inputs>
struct Normalise {
  struct Column {
    float less, factor, more;
  };
  Channels of;
  DL_DEVICE Column column(std::int64_t c) const {
    return {of.mean[c], of.factor(c), of.beta[c]};
  }
  DL_DEVICE float value(const Column& c, const float (&in)[inputs]) const {
    float y = (in[0] - c.less) * c.factor + c.more;
    if constexpr (inputs == 2) y += in[1];
    return of.relu && y < 0 ? 0.0F : y;
  }
};

// Sums over dy and x.
struct SumSlopes {
  using Column = Normalise<1>::Column;
  Channels of;
  DL_DEVICE Column column(std::int64_t c) const {
    return {of.mean[c], of.factor(c), of.beta[c]};
  }
  DL_DEVICE Two value(const Column& c, const float (&in)[2]) const {
    const float distance = in[1] - c.less;
    const float slope = in[0] * of.share(distance * c.factor + c.more);
    return {slope * distance, slope};
  }
};

// Gradient from dy and x: factor * (dy - offset - (x - mean) * steep)
struct Gradient {
  struct Column {
    float less, factor, more, offset, steep;
  };
  Channels of;
  Reals sum, sum_xhat;
  double count;
  DL_DEVICE Column column(std::int64_t c) const {
    const double inverse = 1 / of.deviation(c);
    return {of.mean[c], static_cast<float>(of.gamma[c] * inverse), of.beta[c],
            static_cast<float>(sum[c] / count),
            static_cast<float>(sum_xhat[c] / count * inverse)};
  }
  DL_DEVICE float value(const Column& c, const float (&in)[2]) const {
    const float distance = in[1] - c.less;
    const float slope = in[0] * of.share(distance * c.factor + c.more);
    return c.factor * (slope - c.offset - distance * c.steep);
  }
};

}  // namespace

void CudaDevice::sum_squares_about(View s, View x, View mean) {
  const Rows rows = rows_with(x, {s, mean});
  if (rows.length == 0) return;
  const Reals to(s);
  sum_columns_of<double>(stream_, rows.count, rows.length,
                         Inputs<1>{{Reals(x)}}, SquaresAbout{Reals(mean)},
                         [=] DL_DEVICE(std::int64_t c, double sum) {
                           to.set(c, static_cast<float>(sum));
                         });
}

bool CudaDevice::batch_statistics(const BatchStatistics& s, View x) {
  const Rows rows = rows_with(x, {s.mean, s.variance});
  const bool running = !s.running_mean.empty();
  if (running) rows_with(x, {s.running_mean, s.running_variance});
  if (rows.length == 0 || rows.count == 0) return false;
  sum_columns_of<Two>(
      stream_, rows.count, rows.length, Inputs<1>{{Reals(x)}}, Moments{},
      PutStatistics{Reals(s.mean), Reals(s.variance),
                    running ? Reals(s.running_mean) : Reals(),
                    running ? Reals(s.running_variance) : Reals(), running,
                    static_cast<double>(rows.count), s.decay});
  return true;
}

void CudaDevice::batch_norm(const BatchNorm& spec, View y, View x) {
  const Rows rows = rows_with(x, spec);
  check_reals({y});
  check_same_shape(y, x);
  if (spec.added.empty())
    return map_columns(stream_, rows.count, rows.length, Reals(y),
                       Inputs<1>{{Reals(x)}}, Normalise<1>{Channels(spec)});
  check_reals({spec.added});
  check_same_shape(spec.added, x);
  map_columns(stream_, rows.count, rows.length, Reals(y),
              Inputs<2>{{Reals(x), Reals(spec.added)}},
              Normalise<2>{Channels(spec)});
}

void CudaDevice::batch_norm_sums(const BatchNorm& spec, View dgamma, View dbeta,
                                 View dy, View x) {
  const Rows rows = rows_with(x, spec);
  rows_with(x, {dgamma, dbeta});
  check_reals({dy});
  check_same_shape(dy, x);
  if (rows.length == 0) return;
  const Reals to_gamma(dgamma), to_beta(dbeta);
  const Channels of(spec);
  sum_columns_of<Two>(
      stream_, rows.count, rows.length, Inputs<2>{{Reals(dy), Reals(x)}},
      SumSlopes{of}, [=] DL_DEVICE(std::int64_t c, const Two& sum) {
        to_gamma.set(c, static_cast<float>(sum.a / of.deviation(c)));
        to_beta.set(c, static_cast<float>(sum.b));
      });
}

void CudaDevice::batch_norm_gradient(const BatchNorm& spec, View dx, View dy,
                                     View x, View sum_dy, View sum_dy_xhat,
                                     double count) {
  const Rows rows = rows_with(x, spec);
  rows_with(x, {sum_dy, sum_dy_xhat});
  check_reals({dx, dy});
  check_same_shape(dx, x);
  check_same_shape(dy, x);
  map_columns(
      stream_, rows.count, rows.length, Reals(dx),
      Inputs<2>{{Reals(dy), Reals(x)}},
      Gradient{Channels(spec), Reals(sum_dy), Reals(sum_dy_xhat), count});
}

}  // namespace dl::device::cuda
