// Its calls are never part of a step's graph: what NCCL is to capture must be
// alike on all GPUs, and steps of two lanes need not be.

#include "libcore/device/cuda/runtime/nccl_sum.h"

#include <stdlib.h>

#include <algorithm>
#include <utility>

#include "libcore/base/error.h"

namespace dl::device::cuda {

NcclSum::NcclSum(std::vector<Stream*> lanes)
    : lanes_(std::move(lanes)),
      api_(lanes_.at(0)->api()),
      communicators_(lanes_.size()) {
  std::vector<int> gpus(lanes_.size());
  std::ranges::transform(lanes_, gpus.begin(), &Stream::gpu);
  // Else NCCL takes memory, and lanes wait for each other, in the first sums:
  // see LaneTeam::among_all().
  ::setenv("NCCL_RUNTIME_CONNECT", "0", 1);
  cuda::check(api_, gpus[0],
              api_.ncclCommInitAll(communicators_.data(),
                                   static_cast<int>(gpus.size()), gpus.data()),
              "joining the GPUs");
}

NcclSum::~NcclSum() {
  if (given_up_) return;
  for (const ncclComm_t communicator : communicators_)
    api_.ncclCommDestroy(communicator);
}

template <class F>
void NcclSum::call(int lane, tensor::View mine, const char* what, const F& f) {
  const auto index = static_cast<std::size_t>(lane);
  Stream& stream = *lanes_.at(index);
  if (given_up_)
    throw Error{Code::kUnavailable,
                stream.name() + ": another GPU of this worker has failed"};
  require(
      mine.dtype == tensor::DType::kF32 || mine.dtype == tensor::DType::kF64,
      "a sum of another type");
  const auto type = mine.dtype == tensor::DType::kF64 ? ncclDouble : ncclFloat;
  const auto count = static_cast<std::size_t>(mine.elements());
  if (count == 0) return;
  cuda::check(api_, stream.gpu(),
              f(mine.data, count, type, communicators_[index], stream.handle()),
              what);
}

void NcclSum::all_reduce(int lane, tensor::View mine) {
  call(lane, mine, "summing over GPUs",
       [&](void* memory, auto count, auto type, auto among, auto stream) {
         return api_.ncclAllReduce(memory, memory, count, type, ncclSum, among,
                                   stream);
       });
}

void NcclSum::reduce(int lane, tensor::View mine) {
  call(lane, mine, "summing over GPUs",
       [&](void* memory, auto count, auto type, auto among, auto stream) {
         return api_.ncclReduce(memory, memory, count, type, ncclSum, 0, among,
                                stream);
       });
}

void NcclSum::broadcast(int lane, tensor::View mine) {
  call(lane, mine, "copying to GPUs",
       [&](void* memory, auto count, auto type, auto among, auto stream) {
         return api_.ncclBroadcast(memory, memory, count, type, 0, among,
                                   stream);
       });
}

void NcclSum::finish(int lane) {
  lanes_.at(static_cast<std::size_t>(lane))->wait();
}

void NcclSum::check(int lane) {
  lanes_.at(static_cast<std::size_t>(lane))->look();
}

void NcclSum::give_up() noexcept {
  if (given_up_.exchange(true)) return;
  for (const ncclComm_t communicator : communicators_)
    api_.ncclCommAbort(communicator);
}

}  // namespace dl::device::cuda
