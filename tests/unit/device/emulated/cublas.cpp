// cuBLASLt, on the host: descriptors keep what they are told, products are
// computed in double, of factors that are what the type of compute makes of
// them.

#include <algorithm>
#include <cstring>
#include <set>

#include "tests/unit/device/emulated/emulated_api.h"
#include "tests/unit/device/emulated/factors.h"
#include "tests/unit/device/emulated/streams.h"

namespace dl::device::cuda {
namespace {

constexpr cublasStatus_t kFine = CUBLAS_STATUS_SUCCESS;
constexpr cublasStatus_t kInvalid = CUBLAS_STATUS_INVALID_VALUE;
constexpr cublasStatus_t kUnsupported = CUBLAS_STATUS_NOT_SUPPORTED;

cublasStatus_t cublas_call(const char* name) {
  note_call(name);
  return static_cast<cublasStatus_t>(failure_of(name));
}

// The library's pointers are to these.
struct BlasHandle {};
struct Operation {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  std::int32_t transpose[2] = {CUBLAS_OP_N, CUBLAS_OP_N};
  std::uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  std::int64_t bias_step = 0;
};
struct Layout {
  cudaDataType_t type;
  std::uint64_t rows, columns;
  std::int64_t column;  // elements from one to the next
  std::int32_t count = 1;
  std::int64_t step = 0;
  bool operator==(const Layout&) const = default;
  bool fits() const {
    return (type == CUDA_R_32F || type == CUDA_R_16BF) && rows > 0 &&
           columns > 0 && count > 0 &&
           column >= static_cast<std::int64_t>(rows);
  }
  std::int64_t extent() const {  // in elements
    return (count - 1) * step +
           (static_cast<std::int64_t>(columns) - 1) * column +
           static_cast<std::int64_t>(rows);
  }
};
struct Preference {
  std::uint64_t workspace = 0;
  std::uint32_t alignment[4] = {256, 256, 256, 256};  // of a, b, c, d
};

// Live pointers; a pointer of another kind, or one freed, is refused.
std::set<const void*>& alive() {
  static std::set<const void*> all;
  return all;
}
template <class T, class Opaque>
cublasStatus_t create(Opaque* made, T object) {
  T* const kept = new T(object);
  alive().insert(kept);
  *made = reinterpret_cast<Opaque>(kept);
  return kFine;
}
template <class T, class Opaque>
cublasStatus_t destroy(Opaque* opaque) {
  T* const object = reinterpret_cast<T*>(opaque);
  if (alive().erase(object) == 0) return kInvalid;
  delete object;
  return kFine;
}
template <class T, class Opaque>
T* as(Opaque* opaque) {
  auto* const object = reinterpret_cast<T*>(opaque);
  return alive().contains(object) ? object : nullptr;
}
template <class T>
cublasStatus_t keep(T& field, const void* value, std::size_t bytes) {
  if (value == nullptr || bytes != sizeof field) return kInvalid;
  std::memcpy(&field, value, bytes);
  return kFine;
}

cublasStatus_t create_handle(cublasLtHandle_t* made) {
  if (const auto failed = cublas_call("cublasLtCreate")) return failed;
  return create(made, BlasHandle{});
}
cublasStatus_t destroy_handle(cublasLtHandle_t handle) {
  return destroy<BlasHandle>(handle);
}

cublasStatus_t create_operation(cublasLtMatmulDesc_t* made,
                                cublasComputeType_t compute,
                                cudaDataType_t scale) {
  if (const auto failed = cublas_call("cublasLtMatmulDescCreate"))
    return failed;
  return create(made, Operation{compute, scale});
}
cublasStatus_t destroy_operation(cublasLtMatmulDesc_t operation) {
  return destroy<Operation>(operation);
}
cublasStatus_t set_operation(cublasLtMatmulDesc_t opaque,
                             cublasLtMatmulDescAttributes_t attribute,
                             const void* value, std::size_t bytes) {
  auto* const o = as<Operation>(opaque);
  if (o == nullptr) return kInvalid;
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return keep(o->transpose[0], value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return keep(o->transpose[1], value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return keep(o->epilogue, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return keep(o->bias, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE:
      return keep(o->bias_step, value, bytes);
    default:
      return kUnsupported;
  }
}

cublasStatus_t create_layout(cublasLtMatrixLayout_t* made, cudaDataType_t type,
                             std::uint64_t rows, std::uint64_t columns,
                             std::int64_t column) {
  if (const auto failed = cublas_call("cublasLtMatrixLayoutCreate"))
    return failed;
  return create(made, Layout{type, rows, columns, column});
}
cublasStatus_t destroy_layout(cublasLtMatrixLayout_t layout) {
  return destroy<Layout>(layout);
}
cublasStatus_t set_layout(cublasLtMatrixLayout_t opaque,
                          cublasLtMatrixLayoutAttribute_t attribute,
                          const void* value, std::size_t bytes) {
  auto* const l = as<Layout>(opaque);
  if (l == nullptr) return kInvalid;
  switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
      return keep(l->count, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
      return keep(l->step, value, bytes);
    default:
      return kUnsupported;
  }
}

cublasStatus_t create_preference(cublasLtMatmulPreference_t* made) {
  if (const auto failed = cublas_call("cublasLtMatmulPreferenceCreate"))
    return failed;
  return create(made, Preference{});
}
cublasStatus_t destroy_preference(cublasLtMatmulPreference_t preference) {
  return destroy<Preference>(preference);
}
cublasStatus_t set_preference(cublasLtMatmulPreference_t opaque,
                              cublasLtMatmulPreferenceAttributes_t attribute,
                              const void* value, std::size_t bytes) {
  auto* const p = as<Preference>(opaque);
  if (p == nullptr) return kInvalid;
  switch (attribute) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
      return keep(p->workspace, value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
      return keep(p->alignment[0], value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
      return keep(p->alignment[1], value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
      return keep(p->alignment[2], value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
      return keep(p->alignment[3], value, bytes);
    default:
      return kUnsupported;
  }
}

// Description of a product without its numbers.
struct Problem {
  const Operation* operation;
  const Layout *a, *b, *c, *d;

  bool fits() const {
    for (const void* part :
         {static_cast<const void*>(operation), static_cast<const void*>(a),
          static_cast<const void*>(b), static_cast<const void*>(c),
          static_cast<const void*>(d)})
      if (part == nullptr) return false;
    const auto [ta, tb] = operation->transpose;
    const bool known = (ta == CUBLAS_OP_N || ta == CUBLAS_OP_T) &&
                       (tb == CUBLAS_OP_N || tb == CUBLAS_OP_T);
    const bool tf32 = operation->compute == CUBLAS_COMPUTE_32F_FAST_TF32;
    if (!tf32 && operation->compute != CUBLAS_COMPUTE_32F) return false;
    return known && operation->scale == CUDA_R_32F && a->fits() && b->fits() &&
           c->fits() && *c == *d &&
           (c->type == CUDA_R_32F || a->type == CUDA_R_16BF) &&
           a->type == b->type && !(tf32 && a->type != CUDA_R_32F) &&
           a->count == d->count && b->count == d->count &&
           (ta ? a->columns : a->rows) == d->rows &&
           (tb ? b->rows : b->columns) == d->columns &&
           k() == static_cast<std::int64_t>(tb ? b->columns : b->rows);
  }
  FactorType factors() const {
    if (a->type == CUDA_R_16BF) return FactorType::kBfloat16;
    return operation->compute == CUBLAS_COMPUTE_32F ? FactorType::kFloat
                                                    : FactorType::kTf32;
  }
  std::int64_t k() const {
    return static_cast<std::int64_t>(operation->transpose[0] ? a->rows
                                                             : a->columns);
  }
};

// Sizes that an algorithm was chosen for, kept inside.
struct Choice {
  std::uint64_t sizes[3];
  std::uint32_t transpose[2], epilogue, factors;
  std::int32_t count;
  std::uint32_t alignment, workspace;
};
static_assert(sizeof(Choice) <= sizeof(cublasLtMatmulAlgo_t::data));

Choice choice_of(const Problem& p, std::uint32_t alignment,
                 std::uint32_t workspace) {
  Choice made;
  std::memset(&made, 0, sizeof made);
  made.sizes[0] = p.d->rows ^ (static_cast<std::uint64_t>(p.d->column) << 32);
  made.sizes[1] =
      p.d->columns ^ (static_cast<std::uint64_t>(p.a->column) << 32);
  made.sizes[2] = static_cast<std::uint64_t>(p.k()) ^
                  (static_cast<std::uint64_t>(p.b->column) << 32);
  for (int i = 0; i < 2; ++i)
    made.transpose[i] = static_cast<std::uint32_t>(p.operation->transpose[i]);
  made.epilogue = p.operation->epilogue;
  made.factors = static_cast<std::uint32_t>(p.factors());
  made.count = p.d->count;
  made.alignment = alignment;
  made.workspace = workspace;
  return made;
}

cublasStatus_t choose(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                      cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                      cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                      cublasLtMatmulPreference_t opaque, int most,
                      cublasLtMatmulHeuristicResult_t results[],
                      int* results_made) {
  if (const auto failed = cublas_call("cublasLtMatmulAlgoGetHeuristic"))
    return failed;
  const auto* const preference = as<Preference>(opaque);
  const Problem p{as<Operation>(operation), as<Layout>(a), as<Layout>(b),
                  as<Layout>(c), as<Layout>(d)};
  if (as<BlasHandle>(handle) == nullptr || preference == nullptr || !p.fits() ||
      most < 1)
    return kInvalid;
  const auto& all = preference->alignment;
  if (p.operation->epilogue == CUBLASLT_EPILOGUE_BIAS &&
      p.operation->bias == nullptr)
    return kInvalid;
  // One that takes some of the workspace, where it may.
  const auto workspace = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(preference->workspace, 1 << 20));
  const Choice choice =
      choice_of(p, *std::min_element(all, all + 4), workspace);
  results[0] = {};
  std::memcpy(results[0].algo.data, &choice, sizeof choice);
  results[0].workspaceSize = workspace;
  results[0].state = kFine;
  *results_made = 1;
  return kFine;
}

bool aligned(const void* address, std::uint32_t bytes) {
  return reinterpret_cast<std::uintptr_t>(address) % bytes == 0;
}
bool on_gpu(const void* address, const Layout& layout) {
  const std::size_t each = layout.type == CUDA_R_32F ? 4 : 2;
  return lies_on_gpu(address, static_cast<std::size_t>(layout.extent()) * each);
}

// As it is when the product is asked for.
struct Task {
  Operation operation;
  Layout a, b, c, d;
  FactorType factors;
};

void multiply(const Task& p, float alpha, const void* a, const void* b,
              float beta, const void* c, void* d) {
  const Operation& o = p.operation;
  const auto m = static_cast<std::int64_t>(p.d.rows),
             n = static_cast<std::int64_t>(p.d.columns),
             k = static_cast<std::int64_t>(o.transpose[0] ? p.a.rows
                                                          : p.a.columns);
  const auto stride = [](bool across, std::int64_t column) {
    return across ? column : std::int64_t{1};
  };
  const bool ta = o.transpose[0] == CUBLAS_OP_T,
             tb = o.transpose[1] == CUBLAS_OP_T;
  const std::int64_t a_i = stride(ta, p.a.column),
                     a_l = stride(!ta, p.a.column),
                     b_l = stride(tb, p.b.column),
                     b_j = stride(!tb, p.b.column);
  const auto* const bias = o.epilogue == CUBLASLT_EPILOGUE_BIAS
                               ? static_cast<const float*>(o.bias)
                               : nullptr;
  for (std::int64_t q = 0; q < p.d.count; ++q)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < m; ++i) {
        double sum = 0;
        for (std::int64_t l = 0; l < k; ++l)
          sum += factor_at(a, p.factors, q * p.a.step + i * a_i + l * a_l) *
                 factor_at(b, p.factors, q * p.b.step + l * b_l + j * b_j);
        const std::int64_t at = q * p.d.step + j * p.d.column + i;
        const FactorType kept = p.d.type == CUDA_R_16BF ? FactorType::kBfloat16
                                                        : FactorType::kFloat;
        sum = alpha * sum + (beta == 0 ? 0.0 : beta * factor_at(c, kept, at));
        if (bias != nullptr) sum += double{bias[q * o.bias_step + i]};
        if (p.d.type == CUDA_R_16BF)
          static_cast<std::uint16_t*>(d)[at] =
              as_bfloat16(static_cast<float>(sum));
        else
          static_cast<float*>(d)[at] = static_cast<float>(sum);
      }
}

cublasStatus_t matmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                      const void* alpha, const void* a,
                      cublasLtMatrixLayout_t layout_a, const void* b,
                      cublasLtMatrixLayout_t layout_b, const void* beta,
                      const void* c, cublasLtMatrixLayout_t layout_c, void* d,
                      cublasLtMatrixLayout_t layout_d,
                      const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                      std::size_t workspace_bytes, cudaStream_t stream) {
  if (const auto failed = cublas_call("cublasLtMatmul")) return failed;
  const Problem p{as<Operation>(operation), as<Layout>(layout_a),
                  as<Layout>(layout_b), as<Layout>(layout_c),
                  as<Layout>(layout_d)};
  if (as<BlasHandle>(handle) == nullptr || !p.fits() || algorithm == nullptr ||
      alpha == nullptr || beta == nullptr)
    return kInvalid;

  Choice choice;
  std::memcpy(&choice, algorithm->data, sizeof choice);
  const Choice now = choice_of(p, choice.alignment, choice.workspace);
  if (std::memcmp(&choice, &now, sizeof now) != 0) return kUnsupported;
  if (workspace_bytes < choice.workspace ||
      !lies_on_gpu(workspace, workspace_bytes))
    return kInvalid;
  for (const void* address : {a, b, c, static_cast<const void*>(d)})
    if (!aligned(address, choice.alignment)) return kUnsupported;
  if (!on_gpu(a, *p.a) || !on_gpu(b, *p.b) || !on_gpu(d, *p.d) || c != d)
    return kInvalid;
  const Operation& o = *p.operation;
  if (o.epilogue == CUBLASLT_EPILOGUE_BIAS) {
    if (!lies_on_gpu(o.bias, p.d->rows * sizeof(float))) return kInvalid;
    if (!aligned(o.bias, choice.alignment)) return kUnsupported;
  } else if (o.epilogue != CUBLASLT_EPILOGUE_DEFAULT) {
    return kUnsupported;
  }
  const auto done = put(
      stream, [task = Task{*p.operation, *p.a, *p.b, *p.c, *p.d, p.factors()},
               by = *static_cast<const float*>(alpha), a, b,
               of_c = *static_cast<const float*>(beta), c,
               d] { multiply(task, by, a, b, of_c, c, d); });
  return done == cudaSuccess ? kFine : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace

std::size_t cublas_objects() { return alive().size(); }

void set_cublas(Api& api) {
  api.cublasLtCreate = create_handle;
  api.cublasLtDestroy = destroy_handle;
  api.cublasLtGetVersion = [] { return std::size_t{CUBLAS_VERSION}; };
  api.cublasLtMatmulDescCreate = create_operation;
  api.cublasLtMatmulDescDestroy = destroy_operation;
  api.cublasLtMatmulDescSetAttribute = set_operation;
  api.cublasLtMatrixLayoutCreate = create_layout;
  api.cublasLtMatrixLayoutDestroy = destroy_layout;
  api.cublasLtMatrixLayoutSetAttribute = set_layout;
  api.cublasLtMatmulPreferenceCreate = create_preference;
  api.cublasLtMatmulPreferenceDestroy = destroy_preference;
  api.cublasLtMatmulPreferenceSetAttribute = set_preference;
  api.cublasLtMatmulAlgoGetHeuristic = choose;
  api.cublasLtMatmul = matmul;
}

}  // namespace dl::device::cuda
