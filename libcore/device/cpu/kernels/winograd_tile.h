// The transforms of Winograd's F(m x m, r x r) (../winograd.h), each for one
// tile and `channels` channels, a multiple of kLanes, side by side.
//
// The m + r - 1 interpolation points are 0 where there are six of them, +-a,
// +-b and infinity with a = 1 / sqrt(2) and b = sqrt(2): the rounding errors
// are half those of the usual +-1, +-2.

#ifndef DL_LIBCORE_DEVICE_CPU_KERNELS_WINOGRAD_TILE_H_
#define DL_LIBCORE_DEVICE_CPU_KERNELS_WINOGRAD_TILE_H_

#include "libcore/device/cpu/kernels/kernels.h"
#include "libcore/device/cpu/kernels/vectors.h"

namespace dl::device {
namespace {

constexpr float kPointA = 0.70710678118654752f;
constexpr float kPointB = 1.41421356237309505f;
// Powers of a and b.
constexpr float kPowersA[] = {1, kPointA, 0.5f, 0.5f * kPointA, 0.25f};
constexpr float kPowersB[] = {1, kPointB, 2, 2 * kPointB, 4};

// The matrices of one dimension, of a row of kFrom a row of kTo.

// A polynomial's values at the points, from its coefficients.
template <int points, int coefficients>
struct Values {
  static constexpr int kFrom = coefficients, kTo = points;
  DL_ALWAYS void apply(Vec (&v)[kTo], const Vec (&c)[kFrom]) {
    Vec near = c[0], near_odd = kPointA * c[1];
    Vec far = c[0], far_odd = kPointB * c[1];
#pragma GCC unroll 2
    for (int k = 2; k < kFrom; k += 2) {
      near += kPowersA[k] * c[k];
      far += kPowersB[k] * c[k];
    }
#pragma GCC unroll 2
    for (int k = 3; k < kFrom; k += 2) {
      near_odd += kPowersA[k] * c[k];
      far_odd += kPowersB[k] * c[k];
    }
    constexpr int at = kTo - 5;
    v[0] = c[0];
    v[at] = near + near_odd;
    v[at + 1] = near - near_odd;
    v[at + 2] = far + far_odd;
    v[at + 3] = far - far_odd;
    v[at + 4] = c[kFrom - 1];
  }
};

// The transpose of that.
template <int points, int coefficients>
struct Sums {
  static constexpr int kFrom = points, kTo = coefficients;
  DL_ALWAYS void apply(Vec (&c)[kTo], const Vec (&v)[kFrom]) {
    constexpr int at = kFrom - 5;
    const Vec near = v[at] + v[at + 1], near_odd = v[at] - v[at + 1];
    const Vec far = v[at + 2] + v[at + 3], far_odd = v[at + 2] - v[at + 3];
    c[0] = (at > 0 ? v[0] + near : near) + far;
#pragma GCC unroll 2
    for (int k = 1; k < kTo; k += 2)
      c[k] = kPowersA[k] * near_odd + kPowersB[k] * far_odd;
#pragma GCC unroll 2
    for (int k = 2; k < kTo; k += 2)
      c[k] = kPowersA[k] * near + kPowersB[k] * far;
    c[kTo - 1] += v[at + 4];
  }
};

// Multiplies the values of weights by their factors.
template <int points>
DL_ALWAYS void scale_values(Vec (&v)[points]) {
  constexpr int at = points - 5;
  constexpr float near = at > 0 ? -2.0f / 3 : 1.0f / 3,
                  far = at > 0 ? 1.0f / 6 : 1.0f / 3;
  v[at] *= near;
  v[at + 1] *= near;
  v[at + 2] *= far;
  v[at + 3] *= far;
}

template <int points, int taps>
struct OfWeights {
  static constexpr int kFrom = taps, kTo = points;
  DL_ALWAYS void apply(Vec (&u)[kTo], const Vec (&w)[kFrom]) {
    Values<points, taps>::apply(u, w);
    scale_values(u);
  }
};

template <int points, int taps>
struct OfWeightsGradient {
  static constexpr int kFrom = points, kTo = taps;
  DL_ALWAYS void apply(Vec (&w)[kTo], const Vec (&u)[kFrom]) {
    Vec scaled[points];
#pragma GCC unroll 6
    for (int i = 0; i < points; ++i) scaled[i] = u[i];
    scale_values(scaled);
    Sums<points, taps>::apply(w, scaled);
  }
};

template <int points>
struct OfInput;

template <>
struct OfInput<6> {
  static constexpr int kFrom = 6, kTo = 6;
  DL_ALWAYS void apply(Vec (&v)[6], const Vec (&d)[6]) {
    const Vec near = d[4] - 2.0f * d[2],
              near_odd = kPointA * d[3] - kPointB * d[1];
    const Vec far = d[4] - 0.5f * d[2],
              far_odd = kPointB * d[3] - kPointA * d[1];
    v[0] = d[0] - 2.5f * d[2] + d[4];
    v[1] = near + near_odd;
    v[2] = near - near_odd;
    v[3] = far + far_odd;
    v[4] = far - far_odd;
    v[5] = d[1] - 2.5f * d[3] + d[5];
  }
};

template <>
struct OfInput<5> {
  static constexpr int kFrom = 5, kTo = 5;
  DL_ALWAYS void apply(Vec (&v)[5], const Vec (&d)[5]) {
    const Vec near = 2.0f * d[0] - d[2],
              near_odd = 2.0f * kPointB * d[1] - kPointB * d[3];
    const Vec far = d[2] - 0.5f * d[0],
              far_odd = kPointA * d[3] - 0.5f * kPointA * d[1];
    v[0] = near + near_odd;
    v[1] = near - near_odd;
    v[2] = far + far_odd;
    v[3] = far - far_odd;
    v[4] = d[0] - 2.5f * d[2] + d[4];
  }
};

// to(i, j, value) for the square that T makes, on both sides, of from(i, j).
template <typename T, typename From, typename To>
DL_ALWAYS void both_sides(From from, To to) {
  Vec half[T::kTo][T::kFrom];
#pragma GCC unroll 6
  for (int j = 0; j < T::kFrom; ++j) {
    Vec column[T::kFrom], made[T::kTo];
#pragma GCC unroll 6
    for (int i = 0; i < T::kFrom; ++i) column[i] = from(i, j);
    T::apply(made, column);
#pragma GCC unroll 6
    for (int i = 0; i < T::kTo; ++i) half[i][j] = made[i];
  }
#pragma GCC unroll 6
  for (int i = 0; i < T::kTo; ++i) {
    Vec made[T::kTo];
    T::apply(made, half[i]);
#pragma GCC unroll 6
    for (int j = 0; j < T::kTo; ++j) to(i, j, made[j]);
  }
}

// From places of their own to 36 that are `step` apart.
template <typename T>
DL_ALWAYS void gather_tile(float* to, std::int64_t step,
                           const float* const* from, std::int64_t channels) {
  for (std::int64_t c = 0; c < channels; c += kLanes)
    both_sides<T>(
        [&](int i, int j) { return load(from[i * T::kFrom + j] + c); },
        [&](int i, int j, Vec v) {
          store(to + (i * T::kTo + j) * step + c, v);
        });
}

template <typename T>
DL_ALWAYS void move_tile(float* to, std::int64_t to_step, const float* from,
                         std::int64_t from_step, std::int64_t channels) {
  for (std::int64_t c = 0; c < channels; c += kLanes)
    both_sides<T>(
        [&](int i, int j) {
          return load(from + (i * T::kFrom + j) * from_step + c);
        },
        [&](int i, int j, Vec v) {
          store(to + (i * T::kTo + j) * to_step + c, v);
        });
}

template <int points, int taps>
struct WinogradTile {
  static constexpr int kOutputs = points + 1 - taps;

  static void input(float* v, std::int64_t step, const float* const* x,
                    std::int64_t channels) {
    gather_tile<OfInput<points>>(v, step, x, channels);
  }
  static void weights(float* u, std::int64_t u_step, const float* w,
                      std::int64_t w_step, std::int64_t channels) {
    move_tile<OfWeights<points, taps>>(u, u_step, w, w_step, channels);
  }
  static void output(float* const* y, const float* m, std::int64_t step,
                     const float* bias, std::int64_t channels) {
    for (std::int64_t c = 0; c < channels; c += kLanes) {
      const Vec start = bias ? load(bias + c) : Vec{};
      both_sides<Sums<points, kOutputs>>(
          [&](int i, int j) { return load(m + (i * points + j) * step + c); },
          [&](int i, int j, Vec v) {
            store(y[i * kOutputs + j] + c, v + start);
          });
    }
  }
  static void output_gradient(float* z, std::int64_t step,
                              const float* const* dy, std::int64_t channels) {
    gather_tile<Values<points, kOutputs>>(z, step, dy, channels);
  }
  static void weights_gradient(float* dw, std::int64_t w_step, const float* du,
                               std::int64_t u_step, std::int64_t channels) {
    move_tile<OfWeightsGradient<points, taps>>(dw, w_step, du, u_step,
                                               channels);
  }

  static constexpr WinogradKernels kKernels = {
      points, input, weights, output, output_gradient, weights_gradient};
};

}  // namespace
}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_CPU_KERNELS_WINOGRAD_TILE_H_
