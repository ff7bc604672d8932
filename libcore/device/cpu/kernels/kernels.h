// The inner loops of matrix products and convolutions, compiled once for each
// width of vector registers and chosen when the program starts.
//
// Their source is bfloat16.h, gemm_tile.h, pool_tile.h, sparse_sum.h and
// winograd_tile.h, written with vectors of kLanes floats; avx512.cpp, avx2.cpp
// and portable.cpp compile it with their flags (CMakeLists.txt).  These files
// include nothing else, lest an inline function of a library be built for a
// processor that this one is not.

#ifndef DL_LIBCORE_DEVICE_CPU_KERNELS_KERNELS_H_
#define DL_LIBCORE_DEVICE_CPU_KERNELS_KERNELS_H_

#include <cstdint>

namespace dl::device {

// One tile of a matrix product: c[r][v] = start + sum over k of a[k][r]
// b[k][v].
struct GemmTile {
  const float* a;  // [depth, rows]
  // Panels of [depth, 2 * lanes], or of [depth, lanes] if there is but one
  // vector; in place of it panels of [depth, lanes] of pairs of bfloat16
  // (bfloat16.h).
  const float* b;
  const std::uint32_t* pairs = nullptr;
  std::int64_t depth;
  float* c;  // rows of vectors * lanes, c_row apart
  std::int64_t c_row;
  bool add;           // start from what c holds
  const float* bias;  // or from these, a float a column; null: from zero
  bool relu;          // at the end; NaN stays NaN
};

// Few rows want more vectors, as many sums are in progress at a time.
constexpr int most_vectors(int rows) {
  return rows == 1 ? 8 : rows == 2 ? 4 : 2;
}

// Convolution with 2x2 max pooling (pool_tile.h) for `lanes` pooled
// outputs and some of the filters: the four sums that compete for an output
// stay in registers, the best is kept.
struct PoolTile {
  const float* window;       // [rows, span, lanes]: what the outputs depend on
  std::int64_t window_row;   // span * lanes
  std::int64_t right, down;  // floats from one competitor to the next
  std::int64_t kernel_rows, kernel_span;
  const float* w;        // [kernel_rows, kernel_span], `filters` each
  std::int64_t w_row;    // from one to the next
  const float* bias;     // [filters]
  float* best;           // [filters, lanes]
  std::uint8_t* winner;  // [filters, lanes]: 1 for right, 2 for down
};

// Places (offsets of floats) and what is to be multiplied by what lies there.
struct Weighted {
  std::int32_t* place;
  float* factor;
};

// Transforms of a tile (winograd.h), for `channels` of them side by side, a
// multiple of `lanes`.  Elements of a tile lie where the pointers say, or
// `step` floats apart: points x points of inputs and of all that is
// transformed, taps x taps of weights, the rest of outputs.
struct WinogradKernels {
  int points;
  void (*input)(float* v, std::int64_t step, const float* const* x,
                std::int64_t channels);
  void (*weights)(float* u, std::int64_t u_step, const float* w,
                  std::int64_t w_step, std::int64_t channels);
  void (*output)(float* const* y, const float* m, std::int64_t step,
                 const float* bias, std::int64_t channels);  // null: none
  void (*output_gradient)(float* z, std::int64_t step, const float* const* dy,
                          std::int64_t channels);
  void (*weights_gradient)(float* dw, std::int64_t w_step, const float* du,
                           std::int64_t u_step, std::int64_t channels);
};

struct Kernels {
  const char* name;
  int lanes;         // floats of a vector
  int max_rows;      // of a GemmTile
  int pool_filters;  // of a PoolTile that stay in registers

  // rows: 1..max_rows; vectors: 1, 2 or most_vectors(rows).
  void (*gemm_tile)(int rows, int vectors, const GemmTile& tile);
  // A panel of 1 or 2 vectors in pairs of bfloat16, rounded to nearest.
  void (*to_pairs)(std::uint32_t* to, const float* from, int vectors,
                   std::int64_t depth);
  // to[column][row] = from[row * from_row + column], for columns [0, columns)
  // and rows [0, rows), rows <= lanes; to_column >= rows floats from one column
  // to the next.  May write up to lanes floats from each column's start, in the
  // order of the columns.
  void (*transpose)(float* to, std::int64_t to_column, const float* from,
                    std::int64_t from_row, int rows, std::int64_t columns);

  // Any number of filters.  The first of equals wins, NaN wins over numbers.
  void (*pool_tile)(int filters, const PoolTile& tile);
  // to[r][s][lane] = from[lane][r * from_row + s].  Reads up to lanes floats
  // from where a row of `span` ends.
  void (*pack_window)(float* to, const float* const* from,
                      std::int64_t from_row, std::int64_t rows,
                      std::int64_t span);
  // Finds, of `vectors` times `lanes` outputs, those whose gradient dy is not
  // 0: place[k] = window[i] + the offset of the winner, factor[k] = dy. dy and
  // winner have `step` elements from vector to vector, window has no gaps.
  // Returns how many; may write `lanes` more of both.
  std::int64_t (*find_winners)(Weighted to, const float* dy,
                               const std::uint8_t* winner,
                               const std::int32_t* window, std::int64_t vectors,
                               std::int64_t step, std::int32_t right,
                               std::int32_t down);
  // out[r * out_row + v] += sum over i < count of
  //     factor[i] * in[place[i] + r * in_row + v]
  // for r < rows, v < vectors * lanes, summed in the order of i.
  void (*add_weighted)(float* out, std::int64_t out_row, const float* in,
                       std::int64_t in_row, std::int64_t rows,
                       std::int64_t vectors, Weighted terms,
                       std::int64_t count);
  WinogradKernels winograd[3];  // of 2, 3 and 4 taps
  bool blas = false;            // matrix products are OpenBLAS's (gemm.h)
};

// The first multiple of `to` that is n or more: elements of whole vectors.
inline std::int64_t round_up(std::int64_t n, std::int64_t to) {
  return (n + to - 1) / to * to;
}

// Whether this processor has what they need.
bool can_run(const Kernels& kernels);
// The widest that can run, or what DL_CPU_KERNELS in the environment names.
// Throws Error: kConfig, that names none that can run.
const Kernels& best_kernels();
// Narrower ones with the same results where there are no more floats than that
// to work on side by side.
const Kernels& kernels_for(std::int64_t floats);

extern const Kernels kAvx512Kernels, kAvx2Kernels, kPortableKernels;
// The portable ones but for matrix products: of processors without others.
extern const Kernels kOpenBlasKernels;

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_CPU_KERNELS_KERNELS_H_
