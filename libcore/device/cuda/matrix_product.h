// Products of matrices by cuBLASLt, whose sums are float32.

#ifndef DL_LIBCORE_DEVICE_CUDA_MATRIX_PRODUCT_H_
#define DL_LIBCORE_DEVICE_CUDA_MATRIX_PRODUCT_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "libcore/device/api/precision.h"
#include "libcore/device/cuda/kernel/cast.h"
#include "libcore/device/cuda/kernel/reals.h"
#include "libcore/device/cuda/runtime/stream.h"

namespace dl::device::cuda {

// Row-major: C = alpha op(A) op(B) + beta C with op(A) [m, k], op(B) [k, n].
struct Product {
  std::int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  // Elements from one row of what lies in memory to the next.
  std::int64_t row_a = 0, row_b = 0, row_c = 0;
  // So many products, their matrices so many elements apart.
  std::int64_t count = 1, step_a = 0, step_b = 0, step_c = 0;
  float alpha = 1, beta = 0;
  bool exact = false;  // in float32, whatever the precision

  auto operator<=>(const Product&) const = default;
};

// Remembers what cuBLASLt found to be fastest.  Used by the stream's thread.
//
// With bfloat16, factors that are floats are cast where a product reads them,
// weights too: 12 bytes a parameter and step, in forward and in backward,
// beside the 28 and more of their update, and nobody has to know whether a copy
// is still of the weights as they are.
class MatrixProduct {
 public:
  MatrixProduct(Stream& stream, Precision precision);
  ~MatrixProduct();
  MatrixProduct(const MatrixProduct&) = delete;
  MatrixProduct& operator=(const MatrixProduct&) = delete;

  // Where m, n or count is 0, nothing happens; where k is, C = beta C.  With a
  // bias [n], it is then added to each row of C.  All of floats, or with
  // casts() and not exact of either kind.  Throws Error: kUnavailable, cuBLASLt
  // failed.
  void operator()(const Product& p, Reals c, Reals a, Reals b, Reals bias = {});

  bool casts() const { return precision_ == Precision::kBfloat16; }
  // For factors of many products: what they are to read in place of n numbers,
  // while room, for n and up to 7 more, stays as it is.
  Reals prepare(Bfloat16* room, const Reals& from, std::int64_t n);

 private:
  struct Factors {
    const void *a, *b;
    cudaDataType_t type;
  };
  // Properties that decide the choice of an algorithm.
  struct Key {
    Product product;
    cudaDataType_t type, type_c;  // of the factors, and of the product
    std::uint32_t alignment;      // of all addresses, in bytes
    bool bias;
    auto operator<=>(const Key&) const = default;
  };
  struct Plan;
  Factors factors_of(Product& p, const Reals& a, const Reals& b);
  void multiply(const Product& p, const Reals& c, const Factors& factors,
                const Reals& bias);
  std::shared_ptr<Plan> make_plan(const Key& key, const float* bias);
  std::shared_ptr<Plan> plan_of(const Key& key, const float* bias);

  Stream& stream_;
  Precision precision_;
  std::byte* workspace_ = nullptr;
  cublasLtHandle_t handle_ = nullptr;
  std::map<Key, std::shared_ptr<Plan>> plans_;  // null: there is none
};

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_MATRIX_PRODUCT_H_
