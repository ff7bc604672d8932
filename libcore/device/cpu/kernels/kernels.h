// The inner loops of matrix products and convolutions, compiled once for each
// width of vector registers and chosen when the program starts.
//
// Their source is gemm_tile.h and its neighbours, written with vectors of
// kLanes floats; avx512.cpp, avx2.cpp and portable.cpp compile it with their
// flags (CMakeLists.txt).  Those files include nothing else, lest an inline
// function of a library be built for a processor that this one is not.

#ifndef DL_LIBCORE_DEVICE_CPU_KERNELS_KERNELS_H_
#define DL_LIBCORE_DEVICE_CPU_KERNELS_KERNELS_H_

#include <cstdint>

namespace dl::device {

// One tile of a matrix product: c[r][v] = start + sum over k of a[k][r]
// b[k][v].
struct GemmTile {
  const float* a;  // [depth, rows]
  const float* b;  // [depth, vectors * lanes]
  std::int64_t depth;
  float* c;  // rows of vectors * lanes, c_row apart
  std::int64_t c_row;
  bool add;           // start from what c holds
  const float* bias;  // or from these, a float a column; null: from zero
  bool relu;          // at the end; NaN stays NaN
};

struct Kernels {
  const char* name;
  int lanes;     // floats of a vector
  int max_rows;  // of a tile

  // rows: 1..max_rows; vectors: 1 or 2.
  void (*gemm_tile)(int rows, int vectors, const GemmTile& tile);
  // to[column][row] = from[row * from_row + column], for columns [0, columns)
  // and rows [0, rows), rows <= lanes; to_column >= rows floats from one column
  // to the next.  May write up to lanes floats from each column's start, in the
  // order of the columns.
  void (*transpose)(float* to, std::int64_t to_column, const float* from,
                    std::int64_t from_row, int rows, std::int64_t columns);
};

// The widest that this processor has.
const Kernels& best_kernels();

extern const Kernels kAvx512Kernels, kAvx2Kernels, kPortableKernels;

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_CPU_KERNELS_KERNELS_H_
