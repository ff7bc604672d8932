// The transforms of Winograd's F(4x4, 3x3) (../winograd.h), each for one tile
// and `channels` channels, a multiple of kLanes, side by side.
//
// The interpolation points are 0, +-a, +-b and infinity with a = 1 / sqrt(2)
// and b = sqrt(2): the rounding errors are half those of the usual +-1, +-2.

#ifndef DL_LIBCORE_DEVICE_CPU_KERNELS_WINOGRAD_TILE_H_
#define DL_LIBCORE_DEVICE_CPU_KERNELS_WINOGRAD_TILE_H_

#include "libcore/device/cpu/kernels/kernels.h"
#include "libcore/device/cpu/kernels/vectors.h"

namespace dl::device {
namespace {

constexpr float kPointA = 0.70710678118654752f;
constexpr float kPointB = 1.41421356237309505f;

// The matrices of one dimension: what the points make of a row.
struct OfInput {
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

struct OfWeights {
  static constexpr int kFrom = 3, kTo = 6;
  DL_ALWAYS void apply(Vec (&u)[6], const Vec (&w)[3]) {
    const Vec near = w[0] + 0.5f * w[2], near_odd = kPointA * w[1];
    const Vec far = w[0] + 2.0f * w[2], far_odd = kPointB * w[1];
    u[0] = w[0];
    u[1] = (near + near_odd) * (-2.0f / 3);
    u[2] = (near - near_odd) * (-2.0f / 3);
    u[3] = (far + far_odd) * (1.0f / 6);
    u[4] = (far - far_odd) * (1.0f / 6);
    u[5] = w[2];
  }
};

struct OfOutput {
  static constexpr int kFrom = 6, kTo = 4;
  DL_ALWAYS void apply(Vec (&y)[4], const Vec (&m)[6]) {
    const Vec near = m[1] + m[2], near_odd = m[1] - m[2];
    const Vec far = m[3] + m[4], far_odd = m[3] - m[4];
    y[0] = m[0] + near + far;
    y[1] = kPointA * near_odd + kPointB * far_odd;
    y[2] = 0.5f * near + 2.0f * far;
    y[3] = 0.5f * kPointA * near_odd + 2.0f * kPointB * far_odd + m[5];
  }
};

// Transposes of the last two.
struct OfOutputGradient {
  static constexpr int kFrom = 4, kTo = 6;
  DL_ALWAYS void apply(Vec (&z)[6], const Vec (&y)[4]) {
    const Vec near = y[0] + 0.5f * y[2], far = y[0] + 2.0f * y[2];
    const Vec near_odd = kPointA * y[1] + 0.5f * kPointA * y[3];
    const Vec far_odd = kPointB * y[1] + 2.0f * kPointB * y[3];
    z[0] = y[0];
    z[1] = near + near_odd;
    z[2] = near - near_odd;
    z[3] = far + far_odd;
    z[4] = far - far_odd;
    z[5] = y[3];
  }
};

struct OfWeightsGradient {
  static constexpr int kFrom = 6, kTo = 3;
  DL_ALWAYS void apply(Vec (&w)[3], const Vec (&u)[6]) {
    const Vec near = (u[1] + u[2]) * (-2.0f / 3);
    const Vec near_odd = (u[1] - u[2]) * (-2.0f / 3);
    const Vec far = (u[3] + u[4]) * (1.0f / 6);
    const Vec far_odd = (u[3] - u[4]) * (1.0f / 6);
    w[0] = u[0] + near + far;
    w[1] = kPointA * near_odd + kPointB * far_odd;
    w[2] = 0.5f * near + 2.0f * far + u[5];
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

void winograd_input(float* v, std::int64_t step, const float* const* x,
                    std::int64_t channels) {
  gather_tile<OfInput>(v, step, x, channels);
}

void winograd_output_gradient(float* z, std::int64_t step,
                              const float* const* dy, std::int64_t channels) {
  gather_tile<OfOutputGradient>(z, step, dy, channels);
}

void winograd_weights(float* u, std::int64_t u_step, const float* w,
                      std::int64_t w_step, std::int64_t channels) {
  move_tile<OfWeights>(u, u_step, w, w_step, channels);
}

void winograd_weights_gradient(float* dw, std::int64_t w_step, const float* du,
                               std::int64_t u_step, std::int64_t channels) {
  move_tile<OfWeightsGradient>(dw, w_step, du, u_step, channels);
}

void winograd_output(float* const* y, const float* m, std::int64_t step,
                     const float* bias, std::int64_t channels) {
  for (std::int64_t c = 0; c < channels; c += kLanes) {
    const Vec start = bias ? load(bias + c) : Vec{};
    both_sides<OfOutput>(
        [&](int i, int j) { return load(m + (i * 6 + j) * step + c); },
        [&](int i, int j, Vec v) { store(y[i * 4 + j] + c, v + start); });
  }
}

}  // namespace
}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_CPU_KERNELS_WINOGRAD_TILE_H_
