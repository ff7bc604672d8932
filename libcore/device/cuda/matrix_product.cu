// cuBLASLt's matrices are column-major: a row-major one is there its own
// transpose, so that C' = op(B)' op(A)' is asked for, with B first.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/device/cuda/kernel/strips.h"
#include "libcore/device/cuda/matrix_product.h"

namespace dl::device::cuda {
namespace {

constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;
// More come of batches of ever new sizes alone.
constexpr std::size_t kMostPlans = 4096;

// Kernels load 16 bytes at once at most.
std::uint32_t alignment_of(const void* address) {
  const auto bits = reinterpret_cast<std::uintptr_t>(address) | 16;
  return static_cast<std::uint32_t>(bits & (~bits + 1));
}

// C = beta C + bias.
void scale_and_add(Stream& stream, const Product& p, float beta, const Reals& c,
                   const Reals& bias) {
  const std::int64_t m = p.m, n = p.n, row = p.row_c, step = p.step_c;
  each(stream, p.count * m * n, [=] DL_DEVICE(std::int64_t i) {
    const std::int64_t line = quotient(i, n), j = i - line * n;
    const std::int64_t matrix = quotient(line, m);
    const std::int64_t to = matrix * step + (line - matrix * m) * row + j;
    c.set(to, (beta == 0 ? 0 : beta * c[to]) + (bias.empty() ? 0 : bias[j]));
  });
}

}  // namespace

struct MatrixProduct::Plan {
  explicit Plan(Stream& of) : stream(of) {}
  ~Plan() {
    const Api& api = stream.api();
    for (const cublasLtMatrixLayout_t layout : {a, b, c})
      if (layout != nullptr) api.cublasLtMatrixLayoutDestroy(layout);
    if (preference != nullptr) api.cublasLtMatmulPreferenceDestroy(preference);
    if (operation != nullptr) api.cublasLtMatmulDescDestroy(operation);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    check(stream.gpu(),
          stream.api().cublasLtMatmulDescSetAttribute(operation, attribute,
                                                      &value, sizeof value),
          "describing a product");
  }
  template <class T>
  void set(cublasLtMatmulPreferenceAttributes_t attribute, const T& value) {
    check(stream.gpu(),
          stream.api().cublasLtMatmulPreferenceSetAttribute(
              preference, attribute, &value, sizeof value),
          "describing a product");
  }
  // One row-major matrix, or `count` of them.
  void describe(cublasLtMatrixLayout_t& layout, cudaDataType_t type,
                std::int64_t rows, std::int64_t columns, std::int64_t row,
                std::int64_t count, std::int64_t step) {
    const auto batch = static_cast<std::int32_t>(count);
    require(batch == count, "too many products at once");
    const Api& api = stream.api();
    check(stream.gpu(),
          api.cublasLtMatrixLayoutCreate(&layout, type,
                                         static_cast<std::uint64_t>(columns),
                                         static_cast<std::uint64_t>(rows), row),
          "describing a matrix");
    check(stream.gpu(),
          api.cublasLtMatrixLayoutSetAttribute(
              layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch),
          "describing a matrix");
    check(stream.gpu(),
          api.cublasLtMatrixLayoutSetAttribute(
              layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &step,
              sizeof step),
          "describing a matrix");
  }

  Stream& stream;
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;
  cublasLtMatmulAlgo_t algorithm{};
};

MatrixProduct::MatrixProduct(Stream& stream, Precision precision)
    : stream_(stream), precision_(precision) {
  check(stream_.gpu(), stream_.api().cublasLtCreate(&handle_),
        "starting cuBLASLt");
  try {
    workspace_ = stream_.allocate(kWorkspaceBytes);
  } catch (...) {
    stream_.api().cublasLtDestroy(handle_);
    throw;
  }
}

MatrixProduct::~MatrixProduct() {
  plans_.clear();
  stream_.free(workspace_);
  stream_.api().cublasLtDestroy(handle_);
}

Reals MatrixProduct::prepare(Bfloat16* room, const Reals& from,
                             std::int64_t n) {
  if (!casts() || from.halves()) return from;
  cast(stream_, room, from.floats(), n);
  return room;
}

// With bfloat16, floats are cast, and p's rows and steps are those of what is
// cast.
MatrixProduct::Factors MatrixProduct::factors_of(Product& p, const Reals& a,
                                                 const Reals& b) {
  if (!casts() || p.exact) return {a.floats(), b.floats(), CUDA_R_32F};
  // Factors that several products share are cast once.
  const auto all = [&](std::int64_t rows, std::int64_t columns, bool across,
                       std::int64_t row, std::int64_t step) {
    if (across) std::swap(rows, columns);
    return Matrices{step == 0 ? 1 : p.count, rows, columns, row, step};
  };
  const Matrices of_a = all(p.m, p.k, p.transpose_a, p.row_a, p.step_a),
                 of_b = all(p.k, p.n, p.transpose_b, p.row_b, p.step_b);
  auto* room = stream_.scratch<Bfloat16>((a.halves() ? 0 : of_a.all()) +
                                         (b.halves() ? 0 : of_b.all()));
  const auto put = [&](const Reals& from, const Matrices& m, std::int64_t& row,
                       std::int64_t& step) -> const void* {
    if (from.halves()) return from.data();
    Bfloat16* const to = room;
    room += m.all();
    cast(stream_, to, from.floats(), m);
    row = m.cast_row();
    step = step == 0 ? 0 : m.rows * row;
    return to;
  };
  const void* const put_a = put(a, of_a, p.row_a, p.step_a);
  return {put_a, put(b, of_b, p.row_b, p.step_b), CUDA_R_16BF};
}

// Null: cuBLASLt cannot.
std::shared_ptr<MatrixProduct::Plan> MatrixProduct::make_plan(
    const Key& key, const float* bias) {
  const Product& p = key.product;
  const Precision precision = p.exact ? Precision::kFloat32 : precision_;
  stream_.use_gpu();  // the heuristic's
  const Api& api = stream_.api();
  const int gpu = stream_.gpu();
  auto plan = std::make_shared<Plan>(stream_);
  check(gpu,
        api.cublasLtMatmulDescCreate(&plan->operation,
                                     precision == Precision::kTf32
                                         ? CUBLAS_COMPUTE_32F_FAST_TF32
                                         : CUBLAS_COMPUTE_32F,
                                     CUDA_R_32F),
        "describing a product");
  plan->set(CUBLASLT_MATMUL_DESC_TRANSA,
            p.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N);
  plan->set(CUBLASLT_MATMUL_DESC_TRANSB,
            p.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N);
  if (key.bias) {  // but no relu, which is said to make 0 of NaN
    plan->set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    // Its alignment is looked at.
    plan->set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  }
  plan->describe(plan->a, key.type, p.transpose_a ? p.k : p.m,
                 p.transpose_a ? p.m : p.k, p.row_a, p.count, p.step_a);
  plan->describe(plan->b, key.type, p.transpose_b ? p.n : p.k,
                 p.transpose_b ? p.k : p.n, p.row_b, p.count, p.step_b);
  plan->describe(plan->c, key.type_c, p.m, p.n, p.row_c, p.count, p.step_c);

  check(gpu, api.cublasLtMatmulPreferenceCreate(&plan->preference),
        "describing a product");
  plan->set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kWorkspaceBytes);
  for (const auto attribute : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
                               CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                               CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                               CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    plan->set(attribute, key.alignment);
  cublasLtMatmulHeuristicResult_t best{};
  int results = 0;
  cublasStatus_t status = api.cublasLtMatmulAlgoGetHeuristic(
      handle_, plan->operation, plan->b, plan->a, plan->c, plan->c,
      plan->preference, 1, &best, &results);
  if (status == CUBLAS_STATUS_SUCCESS)
    status = results > 0 ? best.state : CUBLAS_STATUS_NOT_SUPPORTED;
  if (status == CUBLAS_STATUS_NOT_SUPPORTED) return nullptr;
  check(gpu, status, "choosing how to multiply matrices");
  plan->algorithm = best.algo;
  return plan;
}

std::shared_ptr<MatrixProduct::Plan> MatrixProduct::plan_of(const Key& key,
                                                            const float* bias) {
  const auto found = plans_.find(key);
  if (found != plans_.end()) return found->second;
  if (plans_.size() >= kMostPlans) plans_.clear();
  return plans_.emplace(key, make_plan(key, bias)).first->second;
}

void MatrixProduct::operator()(const Product& wanted, Reals c, Reals left,
                               Reals right, Reals bias) {
  Product p = wanted;
  if (p.m == 0 || p.n == 0 || p.count == 0) return;
  if (p.k == 0) return scale_and_add(stream_, p, p.beta, c, bias);
  const Factors factors = factors_of(p, left, right);
  multiply(p, c, factors, bias);
}

void MatrixProduct::multiply(const Product& p, const Reals& c,
                             const Factors& factors, const Reals& bias) {
  Key key{p, factors.type, c.halves() ? CUDA_R_16BF : CUDA_R_32F,
          std::min({alignment_of(factors.a), alignment_of(factors.b),
                    alignment_of(c.data())}),
          false};
  // There are versions that refuse a bias with vectors, or with other types.
  std::shared_ptr<Plan> plan;
  const bool may_be_inside = !bias.empty() && !bias.halves() && !c.halves() &&
                             p.m > 1 && p.n > 1 && p.k > 1;
  if (may_be_inside) {
    Key with_bias = key;
    with_bias.alignment = std::min(key.alignment, alignment_of(bias.data()));
    with_bias.bias = true;
    plan = plan_of(with_bias, bias.floats());
  }
  const bool inside = plan != nullptr;
  if (!inside) plan = plan_of(key, nullptr);
  check(stream_.gpu(),
        plan != nullptr ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED,
        "choosing how to multiply matrices");
  const void* const added = inside ? bias.data() : nullptr;
  stream_.call(
      // A plan is of one alpha and beta.
      signature_of(plan.get(), c.data(), factors.a, factors.b, added),
      [plan, handle = handle_, workspace = workspace_, alpha = p.alpha,
       beta = p.beta, c = c.data(), a = factors.a, b = factors.b, added] {
        Stream& stream = plan->stream;
        if (added != nullptr)
          plan->set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, added);
        check(stream.gpu(),
              stream.api().cublasLtMatmul(
                  handle, plan->operation, &alpha, b, plan->b, a, plan->a,
                  &beta, c, plan->c, c, plan->c, &plan->algorithm, workspace,
                  kWorkspaceBytes, stream.handle()),
              "multiplying matrices");
      });
  if (!bias.empty() && !inside) scale_and_add(stream_, p, 1, c, bias);
}

}  // namespace dl::device::cuda
