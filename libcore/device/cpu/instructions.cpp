// Detection of the processor's vector instructions.

#include "libcore/device/instructions.h"

#include <dnnl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <string_view>

#include "libcore/base/error.h"
#include "libcore/device/cpu/kernels/kernels.h"
#include "libcore/linalg/openblas.h"

namespace dl::device {
namespace {

std::atomic<bool> limited{false};

#if defined(__x86_64__)

// In the order of their width.
constexpr std::array<std::string_view, 4> kSets = {"sse4.1", "avx", "avx2",
                                                   "avx512"};

std::size_t of_processor() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
    return 3;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return 2;
  return __builtin_cpu_supports("avx") ? 1 : 0;
}

// As oneDNN reads it.  Asking oneDNN itself would fix what it uses.
std::size_t of_environment() {
  const char* limit = std::getenv("ONEDNN_MAX_CPU_ISA");
  if (!limit) limit = std::getenv("DNNL_MAX_CPU_ISA");
  const std::string_view text = limit ? limit : "";
  if (text.starts_with("AVX2")) return 2;
  if (text == "AVX") return 1;
  if (text == "SSE41") return 0;
  return 3;
}

std::string of_onednn() {
  return std::string(kSets[std::min(of_processor(), of_environment())]);
}

#else

std::string of_onednn() {
#if defined(__aarch64__)
  return "aarch64";
#else
  return "portable";
#endif
}

#endif

}  // namespace

std::string instruction_set() {
  if (limited) return kCommonInstructions;
  const Kernels& own = best_kernels();
  std::string dnn = of_onednn();
  if (&own == &kPortableKernels || dnn == own.name) return dnn;
  return (own.blas ? "OpenBLAS " + linalg::processor() : own.name) +
         ", oneDNN " + dnn;
}

void use_common_instructions() {
  if (limited) return;
  const Kernels& own = best_kernels();
  if (&own != &kAvx2Kernels && &own != &kAvx512Kernels)
    throw Error{Code::kUnavailable,
                can_run(kAvx2Kernels)
                    ? "--deterministic computes with AVX2 and FMA, "
                      "DL_CPU_KERNELS wants others"
                    : "this processor has no AVX2 and FMA, which "
                      "--deterministic computes with"};
  if (dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx2) != dnnl_success &&
      dnnl_get_effective_cpu_isa() != dnnl_cpu_isa_avx2)
    throw Error{Code::kUnavailable,
                "this process has computed with other instructions than "
                "--deterministic takes; start it again"};
  limited = true;
}

}  // namespace dl::device
