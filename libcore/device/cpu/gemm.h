// Matrix products on one core: packed, blocked for the caches, and computed by
// the tiles of kernels/ (after Goto and van de Geijn, "Anatomy of
// High-Performance Matrix Multiplication", 2008).
//
// Every element is summed in the order of the depth, in blocks of a fixed
// length: it does not depend on the number of rows or columns beside it.
//
// On processors without kernels of our own OpenBLAS computes them instead, in
// an order of its own, and what is packed lies in rows.

#ifndef DL_LIBCORE_DEVICE_CPU_GEMM_H_
#define DL_LIBCORE_DEVICE_CPU_GEMM_H_

#include <cstdint>
#include <span>

#include "libcore/device/api/precision.h"
#include "libcore/tensor/tensor.h"

namespace dl::device {

// Element [i, j] of a matrix lies at data[i * row + j * column]; one of the
// steps is 1.
struct Matrix {
  const float* data = nullptr;
  std::int64_t row = 0, column = 1;
  Matrix transposed() const { return {data, column, row}; }
};

// Operations on the sums of c besides storing them.
struct GemmEnd {
  bool add = false;             // to what c holds
  const float* bias = nullptr;  // [n], in place of c
  bool relu = false;            // then
};

struct Columns {
  std::int64_t first, count;
};
// Columns of part i of n columns in so many parts; there may be none.
Columns columns_of(std::int64_t n, int i, int parts);

// b [k, n] of a product, in the order in which tiles read it.
struct Packed {
  float* data = nullptr;
  std::int64_t k = 0, n = 0;
  // In place of data: bfloat16, of which products are the same to the bit as of
  // these floats.
  std::uint32_t* pairs = nullptr;

  // The room that data needs.
  static std::int64_t floats(std::int64_t k, std::int64_t n);
  // Where a vector of floats [row, column ...] lies; column: a multiple of the
  // vector's length.
  float* at(std::int64_t row, std::int64_t column) const;
};

// One with memory of its own.
class PackedMatrix {
 public:
  // b: [k, n], rounded to `precision`.  Allocates where the shape is larger
  // than ever before, and in bfloat16.
  void pack(Matrix b, std::int64_t k, std::int64_t n,
            Precision precision = Precision::kFloat32);
  const Packed& packed() const { return packed_; }

 private:
  Packed packed_;
  tensor::Tensor memory_;
};

// Room for the blocks of the product that is being computed.
class GemmScratch {
 public:
  GemmScratch();
  float* a();
  float* b();
  float* tile();

 private:
  tensor::Tensor memory_;
};

// c = a b, c: rows of n floats, c_row >= n apart; a: [m, k], b: [k, n].
// k == 0 is a sum of nothing.
void gemm(GemmScratch& scratch, float* c, std::int64_t c_row, std::int64_t m,
          std::int64_t n, std::int64_t k, Matrix a, Matrix b, GemmEnd end);
void gemm(GemmScratch& scratch, float* c, std::int64_t c_row, std::int64_t m,
          Matrix a, const Packed& b, GemmEnd end);
// Some columns of c alone, as columns_of() says them.
void gemm(GemmScratch& scratch, float* c, std::int64_t c_row, std::int64_t m,
          Matrix a, const Packed& b, Columns some, GemmEnd end);

// Products of the same a: c [m, n] = a b, which read a once where they are
// narrow.
struct Product {
  float* c;
  std::int64_t n;
  Matrix b;  // [k, n]
};
void gemm(GemmScratch& scratch, std::span<const Product> products,
          std::int64_t m, std::int64_t k, Matrix a);

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_CPU_GEMM_H_
