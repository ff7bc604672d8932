// Matrix products, and sums over rows.

#include <string>

#include "libcore/device/check.h"
#include "libcore/device/cpu/columns.h"
#include "libcore/device/cpu/cpu_device.h"
#include "libcore/device/cpu/gemm.h"
#include "libcore/device/cpu/kernels/kernels.h"
#include "libcore/device/cpu/onednn.h"
#include "libcore/device/cpu/simd.h"
#include "libcore/linalg/openblas.h"

namespace dl::device {
namespace kernels {

DL_VECTOR void add_bias(float* y, const float* b, std::int64_t rows,
                        std::int64_t length) {
  for (std::int64_t r = 0; r < rows; ++r) {
    float* row = y + r * length;
    DL_INDEPENDENT
    for (std::int64_t c = 0; c < length; ++c) row[c] += b[c];
  }
}

DL_VECTOR void sum_rows(float* s, const float* x, std::int64_t rows,
                        std::int64_t length) {
  for_each_column_sum<1>(
      rows, length,
      [=](std::int64_t at, std::int64_t) { return Terms<1>{x[at]}; },
      [=](std::int64_t c, const double(&sum)[1]) {
        s[c] = static_cast<float>(sum[0]);
      });
}

}  // namespace kernels

void CpuDevice::matmul(View c, View a, bool transpose_a, View b,
                       bool transpose_b, double beta) {
  check_reals(tensor::DType::kF32, {c, a, b});
  const auto [m, n, k] = check_matmul(c, a, transpose_a, b, transpose_b);
  if (beta != 0 && beta != 1) scale(c, beta);
  const auto matrix_of = [](const View& view, bool transposed) {
    const Matrix matrix{view.as<float>(), view.shape[1], 1};
    return transposed ? matrix.transposed() : matrix;
  };
  gemm(*gemm_, c.as<float>(), n, m, n, k, matrix_of(a, transpose_a),
       matrix_of(b, transpose_b), {.add = beta != 0});
}

void CpuDevice::add_bias(View y, View b) {
  check_reals(tensor::DType::kF32, {y, b});
  const Rows rows = rows_of(y);
  check_shape(b, tensor::Shape{rows.length});
  kernels::add_bias(y.as<float>(), b.as<float>(), rows.count, rows.length);
}

void CpuDevice::sum_rows(View s, View x) {
  check_reals(tensor::DType::kF32, {s, x});
  const Rows rows = rows_of(x);
  check_shape(s, tensor::Shape{rows.length});
  kernels::sum_rows(s.as<float>(), x.as<float>(), rows.count, rows.length);
}

std::string cpu_libraries() {
  const dnnl_version_t* dnn = dnnl_version();
  return "oneDNN " + std::to_string(dnn->major) + "." +
         std::to_string(dnn->minor) + "." + std::to_string(dnn->patch) + ", " +
         linalg::library() + ", " + best_kernels().name + " kernels";
}

}  // namespace dl::device
