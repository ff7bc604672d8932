// Sums over GPUs, by NCCL: all are this process's, each with a thread of its
// own.

#ifndef DL_LIBCORE_DEVICE_CUDA_RUNTIME_NCCL_SUM_H_
#define DL_LIBCORE_DEVICE_CUDA_RUNTIME_NCCL_SUM_H_

#include <atomic>
#include <vector>

#include "libcore/device/api/lane_sum.h"
#include "libcore/device/cuda/runtime/stream.h"

namespace dl::device::cuda {

class NcclSum final : public LaneSum {
 public:
  // lanes: of different GPUs; they outlive it.
  // Throws Error: kUnavailable, the GPUs do not reach each other.
  explicit NcclSum(std::vector<Stream*> lanes);
  ~NcclSum() override;

  void all_reduce(int lane, tensor::View mine) override;
  void reduce(int lane, tensor::View mine) override;
  void broadcast(int lane, tensor::View mine) override;
  void finish(int lane) override;
  void check(int lane) override;
  void give_up() noexcept override;

 private:
  // f(memory, count, type, communicator, stream) of the lane.
  template <class F>
  void call(int lane, tensor::View mine, const char* what, const F& f);

  std::vector<Stream*> lanes_;
  const Api& api_;
  std::vector<ncclComm_t> communicators_;
  std::atomic<bool> given_up_ = false;
};

}  // namespace dl::device::cuda

#endif  // DL_LIBCORE_DEVICE_CUDA_RUNTIME_NCCL_SUM_H_
