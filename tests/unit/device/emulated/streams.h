// Streams and events of the emulated GPU.  As CUDA may, a stream does what it
// is asked for at any time from then until somebody waits for it; when, is
// drawn by lot, the same each time, so that a missing wait shows in one order
// or another.

#ifndef DL_TESTS_UNIT_DEVICE_EMULATED_STREAMS_H_
#define DL_TESTS_UNIT_DEVICE_EMULATED_STREAMS_H_

#include "tests/unit/device/emulated/emulated_api.h"
#include "tests/unit/device/emulated/graph.h"

namespace dl::device::cuda {

// Adds work that check() took to what the stream does or, while this thread
// captures it, to the graph.  Fails if the stream is not of this thread's GPU.
cudaError_t put(cudaStream_t stream, const Work& work);
// All that it was asked for is done.
void catch_up(cudaStream_t stream);
void catch_up_all();

void set_streams(Api& api);

}  // namespace dl::device::cuda

#endif  // DL_TESTS_UNIT_DEVICE_EMULATED_STREAMS_H_
