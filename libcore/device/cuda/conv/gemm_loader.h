// Loaders of the operands of matrix products into shared memory
// (implicit_gemm.h).

#ifndef DL_LIBCORE_DEVICE_CUDA_CONV_GEMM_LOADER_H_
#define DL_LIBCORE_DEVICE_CUDA_CONV_GEMM_LOADER_H_

#include <cstdint>

#include "libcore/device/cuda/conv/conv_geometry.h"
#include "libcore/device/cuda/kernel/grid.h"

namespace dl::device::cuda {

// The work of a block.
struct GemmTask {
  int row, column;        // the tile's first
  int group;              // of products side by side
  int range, begin, end;  // of k
  TapBox box;             // the taps that are numbered
};

// Takes the part of A or B that a tile needs, `width` lines, to shared memory.
//
// Their source: `Line line(task, i)` is what a row of A or a column of B is
// known by, `Stop stop(task, k)` what all lines have in common at k, and
// at(line, stop) the element's address, or null for 0.  limit(task, last) says
// what the task has of k and of taps, `last` being its last row.  with_k:
// elements lie side by side along k, otherwise along lines.  kVector: 4 of them
// are loaded at once, whose addresses are the first's and what follows.
template <class Source, int width, int depth, int kVector>
struct GemmLoader {
  static constexpr bool with_k = Source::with_k;
  static constexpr int threads = static_cast<int>(kThreads);
  static constexpr int quads = width * depth / (4 * threads);  // of a thread
  static constexpr int some = quads > 0 ? quads : 1;
  static constexpr int lines = !with_k        ? (kVector == 4 ? 1 : 4)
                               : kVector == 4 ? some
                                              : width * depth / threads;
  static constexpr int stops = with_k ? 1 : some;
  static_assert(kVector == 4 || kVector == 1);

  typename Source::Line line[lines];
  float held[stops][lines][kVector] = {};
  int first_line, first_stop;

  DL_DEVICE static int line_step() {
    if constexpr (with_k)
      return kVector == 4 ? 4 * threads / depth : threads / depth;
    return width / 4;
  }
  DL_DEVICE static int stop_step() { return 4 * threads / width; }

  DL_DEVICE GemmLoader(const Source& source, const GemmTask& task, int thread,
                       int first, int count) {
    if constexpr (with_k && kVector == 4) {
      first_line = thread / (depth / 4);
      first_stop = thread % (depth / 4) * 4;
    } else if constexpr (with_k) {
      first_line = thread % 4 + thread / (4 * depth) * 4;
      first_stop = thread / 4 % depth;
    } else {
      first_line = thread % (width / 4) * kVector;
      if constexpr (kVector == 1) first_line = thread % (width / 4);
      first_stop = thread / (width / 4);
    }
    DL_UNROLL
    for (int i = 0; i < lines; ++i) {
      const int at = first + first_line + i * line_step();
      line[i] = at < count ? source.line(task, at) : Source::no_line();
    }
  }

  // Where a tile has fewer than four for each thread.
  DL_DEVICE bool idle() const {
    if constexpr (quads > 0 || (with_k && kVector == 1)) return false;
    return with_k ? first_line >= width : first_stop >= depth;
  }

  DL_DEVICE void load(const Source& source, const GemmTask& task, int k) {
    if (idle()) return;
    DL_UNROLL
    for (int j = 0; j < stops; ++j) {
      const int at = k + first_stop + j * stop_step();
      const bool inside = at < task.end;
      typename Source::Stop stop{};
      if (inside) stop = source.stop(task, at);
      DL_UNROLL
      for (int i = 0; i < lines; ++i) {
        const float* const from = inside ? source.at(line[i], stop) : nullptr;
        if constexpr (kVector == 4) {
          float4 four{0, 0, 0, 0};
          if (from != nullptr) four = *reinterpret_cast<const float4*>(from);
          held[j][i][0] = four.x;
          held[j][i][1] = four.y;
          held[j][i][2] = four.z;
          held[j][i][3] = four.w;
        } else {
          held[j][i][0] = from != nullptr ? *from : 0.0F;
        }
      }
    }
  }

  // A line's place in the row of k is line ^ swizzle(k): whole fours move,
  // within halves.  swizzle(4 i + j) is swizzle(4 i) ^ swizzle(j), j below 4.
  DL_DEVICE static int swizzle(int k) {
    const auto n = static_cast<unsigned>(k);
    if constexpr (with_k && kVector == 4)
      return static_cast<int>(n / 4 * (128 / depth));
    if constexpr (with_k) return static_cast<int>(n % 8 * 4);
    if constexpr (kVector == 4) return 0;
    return static_cast<int>(n % (128 / width) * (width / 4));
  }

  // All of a thread's k are alike to swizzle(); its lines differ in bits that
  // the first has not, of which swizzle() has some of the lowest five.
  DL_DEVICE void store(float* to) const {
    if (idle()) return;
    const int place = first_line ^ swizzle(first_stop);
    to += first_stop * width;
    DL_UNROLL
    for (int j = 0; j < stops; ++j) {
      DL_UNROLL
      for (int i = 0; i < lines; ++i) {
        const int further = i * line_step();
        float* const at = to + j * stop_step() * width +
                          (place ^ (further & 31)) + (further & ~31);
        if constexpr (kVector == 1) {
          *at = held[j][i][0];
        } else if constexpr (with_k) {
          DL_UNROLL
          for (int v = 0; v < 4; ++v) at[v * width] = held[j][i][v];
        } else {
          *reinterpret_cast<float4*>(at) = {held[j][i][0], held[j][i][1],
                                            held[j][i][2], held[j][i][3]};
        }
      }
    }
  }

  // Fours of lines, half the width apart.  place: ^ swizzle() of the first of
  // four k, which `from` is the row of and this one is the j-th.
  template <int fours>
  DL_DEVICE static void read(float* to, const float* from, int place, int j) {
    DL_UNROLL
    for (int i = 0; i < fours; ++i) {
      const float4 four = *reinterpret_cast<const float4*>(
          from + j * width + (place ^ swizzle(j)) + i * (width / 2));
      to[4 * i] = four.x;
      to[4 * i + 1] = four.y;
      to[4 * i + 2] = four.z;
      to[4 * i + 3] = four.w;
    }
  }
};

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_CONV_GEMM_LOADER_H_
