// Products of matrices by cuBLASLt, in float32.

#ifndef DL_LIBCORE_DEVICE_CUDA_MATRIX_PRODUCT_H_
#define DL_LIBCORE_DEVICE_CUDA_MATRIX_PRODUCT_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "libcore/device/cuda/stream.h"

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

  auto operator<=>(const Product&) const = default;
};

// Remembers what cuBLASLt found to be fastest.  Used by the stream's thread.
class MatrixProduct {
 public:
  explicit MatrixProduct(Stream& stream);
  ~MatrixProduct();
  MatrixProduct(const MatrixProduct&) = delete;
  MatrixProduct& operator=(const MatrixProduct&) = delete;

  // Where m, n or count is 0, nothing happens; where k is, C = beta C.  With a
  // bias [n], it is then added to each row of C.  Throws Error: kUnavailable,
  // cuBLASLt failed.
  void operator()(const Product& p, float* c, const float* a, const float* b,
                  const float* bias = nullptr);

 private:
  // What the choice of an algorithm depends on.
  struct Key {
    Product product;
    std::uint32_t alignment;  // of all addresses, in bytes
    bool bias;
    auto operator<=>(const Key&) const = default;
  };
  struct Plan;
  std::shared_ptr<Plan> plan_of(const Key& key, const float* bias);

  Stream& stream_;
  std::byte* workspace_ = nullptr;
  cublasLtHandle_t handle_ = nullptr;
  std::map<Key, std::shared_ptr<Plan>> plans_;
};

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_MATRIX_PRODUCT_H_
