// The vector instructions that the cpu device computes with.  Sums come out
// differently with another set, in their last bits.
//
// Thread-safe.

#ifndef DL_LIBCORE_DEVICE_INSTRUCTIONS_H_
#define DL_LIBCORE_DEVICE_INSTRUCTIONS_H_

#include <string>

namespace dl::device {

// Instruction set after use_common_instructions().
constexpr const char* kCommonInstructions = "avx2";

// "avx512", "avx2", "avx" or "sse4.1", as the processor and oneDNN's
// ONEDNN_MAX_CPU_ISA have it; of processors without these, their architecture.
// If the kernels here have another width than oneDNN's, both: "avx512, oneDNN
// avx2"; where there are none, "OpenBLAS neoversen1, oneDNN aarch64".
std::string instruction_set();

// From here on what another processor with AVX2 and FMA computes likewise:
// oneDNN takes no more.  The kernels here need no limit, as those of AVX2 and
// AVX-512 give the same bits.  Before the first device is opened.
// Throws Error: kUnavailable, it has no AVX2, or a wider set is in use already.
void use_common_instructions();

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_INSTRUCTIONS_H_
