// Streams and events of the emulated GPU.  What a stream is asked for takes
// effect at once, but for the copies of one that does nothing else: they are
// made as late as CUDA may, when somebody waits for them.

#ifndef DL_TESTS_UNIT_DEVICE_EMULATED_STREAMS_H_
#define DL_TESTS_UNIT_DEVICE_EMULATED_STREAMS_H_

#include "tests/unit/device/emulated/emulated_api.h"
#include "tests/unit/device/emulated/graph.h"

namespace dl::device::cuda {

bool is_of_this_gpu(cudaStream_t stream);
// Before a stream does something else than to copy to the GPU.
void compute(cudaStream_t stream);
cudaError_t copy_to_gpu(cudaStream_t stream, const CopyWork& work);

void set_streams(Api& api);

}  // namespace dl::device::cuda

#endif  // DL_TESTS_UNIT_DEVICE_EMULATED_STREAMS_H_
