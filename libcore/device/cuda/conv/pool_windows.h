// The elements of x and y that belong together in pooling.

#ifndef DL_LIBCORE_DEVICE_CUDA_CONV_POOL_WINDOWS_H_
#define DL_LIBCORE_DEVICE_CUDA_CONV_POOL_WINDOWS_H_

#include <cstdint>

#include "libcore/device/cuda/kernel/strips.h"

namespace dl::device::cuda {

// Places along one axis.
struct Span {
  int begin, end;
  DL_DEVICE int size() const { return end - begin; }
  DL_DEVICE bool has(int i) const { return begin <= i && i < end; }
};

struct PoolAxis {
  int in, out, kernel, stride, padding;

  // Inputs that an output's window has inside the image.
  DL_DEVICE Span inputs(int o) const {
    const int start = o * stride - padding;
    const int end = start + kernel;
    return {start < 0 ? 0 : start, end < in ? end : in};
  }
  // Elements of a window, and those between it and the next, if windows do not
  // overlap: each input is one output's.
  DL_DEVICE Span share(int o) const {
    return {o == 0 ? 0 : o * stride - padding,
            o + 1 == out ? in : (o + 1) * stride - padding};
  }
  // Outputs whose window has this input.
  DL_DEVICE Span outputs(int i) const {
    const int last = (i + padding) / stride + 1;
    const int before = i + padding - kernel;  // window that ends just before it
    return {before < 0 ? 0 : before / stride + 1, last < out ? last : out};
  }
  // Where in the window.
  DL_DEVICE int tap(int i, int o) const { return i - o * stride + padding; }
};

// A pixel of an example, and a channel of it.
struct Spot {
  std::int64_t n;
  int d, h, w;
  std::int64_t c;
};

struct PoolWindows {
  PoolAxis d, h, w;
  std::int64_t channels;

  // The i-th group of N channels of y, and of x.
  template <int N>
  DL_DEVICE Spot output(std::int64_t i) const {
    return spot<N>(i, d.out, h.out, w.out);
  }
  template <int N>
  DL_DEVICE Spot input(std::int64_t i) const {
    return spot<N>(i, d.in, h.in, w.in);
  }

  // How much of an output's window is in the image.
  DL_DEVICE int count(const Spot& y) const { return count(y.d, y.h, y.w); }

  // Calls f(place in x, tap: of the window's places) for what an output's
  // window has in the image, in the order of x.
  template <class F>
  DL_DEVICE void of_output(const Spot& y, const F& f) const {
    const Span sd = d.inputs(y.d), sh = h.inputs(y.h), sw = w.inputs(y.w);
    for (int i = sd.begin; i < sd.end; ++i)
      for (int j = sh.begin; j < sh.end; ++j)
        for (int k = sw.begin; k < sw.end; ++k)
          f(x_at(y.n, i, j, k, y.c), tap(y.d, y.h, y.w, i, j, k));
  }
  // f(place in x, tap, whether it is in the window) for an output's share.
  template <class F>
  DL_DEVICE void of_share(const Spot& y, const F& f) const {
    const Span sd = d.inputs(y.d), sh = h.inputs(y.h), sw = w.inputs(y.w);
    const Span of_d = d.share(y.d), of_h = h.share(y.h), of_w = w.share(y.w);
    for (int i = of_d.begin; i < of_d.end; ++i)
      for (int j = of_h.begin; j < of_h.end; ++j)
        for (int k = of_w.begin; k < of_w.end; ++k)
          f(x_at(y.n, i, j, k, y.c), tap(y.d, y.h, y.w, i, j, k),
            sd.has(i) && sh.has(j) && sw.has(k));
  }
  // f(place in y, count, place in x, tap) for the outputs whose windows have an
  // input, in the order of y.
  template <class F>
  DL_DEVICE void of_input(const Spot& x, const F& f) const {
    const Span sd = d.outputs(x.d), sh = h.outputs(x.h), sw = w.outputs(x.w);
    const std::int64_t at = x_at(x.n, x.d, x.h, x.w, x.c);
    for (int i = sd.begin; i < sd.end; ++i)
      for (int j = sh.begin; j < sh.end; ++j)
        for (int k = sw.begin; k < sw.end; ++k)
          f(y_at(x.n, i, j, k, x.c), count(i, j, k), at,
            tap(i, j, k, x.d, x.h, x.w));
  }

 private:
  template <int N>
  DL_DEVICE Spot spot(std::int64_t i, int depth, int height, int width) const {
    const std::int64_t column = quotient(i, channels / N);
    const std::int64_t row = quotient(column, width);
    const std::int64_t plane = quotient(row, height);
    const std::int64_t n = quotient(plane, depth);
    return {n, static_cast<int>(plane - n * depth),
            static_cast<int>(row - plane * height),
            static_cast<int>(column - row * width),
            (i - column * (channels / N)) * N};
  }
  DL_DEVICE std::int64_t x_at(std::int64_t n, int i, int j, int k,
                              std::int64_t c) const {
    return (((n * d.in + i) * h.in + j) * w.in + k) * channels + c;
  }
  DL_DEVICE std::int64_t y_at(std::int64_t n, int i, int j, int k,
                              std::int64_t c) const {
    return (((n * d.out + i) * h.out + j) * w.out + k) * channels + c;
  }
  DL_DEVICE int tap(int od, int oh, int ow, int id, int ih, int iw) const {
    return (d.tap(id, od) * h.kernel + h.tap(ih, oh)) * w.kernel +
           w.tap(iw, ow);
  }
  DL_DEVICE int count(int i, int j, int k) const {
    return d.inputs(i).size() * h.inputs(j).size() * w.inputs(k).size();
  }
};

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_CONV_POOL_WINDOWS_H_
