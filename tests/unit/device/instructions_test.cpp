// Test of the instructions that a processor is said to have.

#include "libcore/device/instructions.h"

#include <dnnl.h>

#include <catch2/catch.hpp>

#include "libcore/device/cpu/kernels/kernels.h"

namespace dl::device::instructions_test {

TEST_CASE("the instructions that are told are those that are used") {
  const dnnl_cpu_isa_t used = dnnl_get_effective_cpu_isa();
  const std::string told = instruction_set();
#if defined(__x86_64__)
  // Nought is "all" in version 2 of oneDNN and "default" in version 3.
  const bool wide = used != 0 && used != dnnl_cpu_isa_sse41 &&
                    used != dnnl_cpu_isa_avx && used != dnnl_cpu_isa_avx2 &&
                    used != dnnl_cpu_isa_avx2_vnni;
  CHECK(told.ends_with("avx512") == wide);
  CHECK(told.ends_with("avx2") ==
        (used == dnnl_cpu_isa_avx2 || used == dnnl_cpu_isa_avx2_vnni));
#else
  CHECK_FALSE(told.empty());
#endif
  if (told.find(',') == std::string::npos && told != "avx" && told != "sse4.1")
    CHECK(told == best_kernels().name);
}

}  // namespace dl::device::instructions_test
