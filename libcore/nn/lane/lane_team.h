// The threads that drive the lanes of a network.

#ifndef DL_LIBCORE_NN_LANE_LANE_TEAM_H_
#define DL_LIBCORE_NN_LANE_LANE_TEAM_H_

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "libcore/base/parallel.h"
#include "libcore/device/api/device.h"

namespace dl::nn {

// A ThreadTeam whose barrier lets go when a lane throws, and that sums vectors
// over the lanes.
class LaneTeam {
 public:
  // sum: of lanes that have memories of their own; none: they share the host's.
  explicit LaneTeam(int lanes, std::unique_ptr<device::LaneSum> sum = nullptr);

  int size() const noexcept { return team_.size(); }
  bool apart() const noexcept { return sum_ != nullptr; }
  // The lanes that reach the first one's memory: all, or that one alone.
  int writers() const noexcept { return apart() ? 1 : size(); }
  // For what one lane does alone, not within run().
  ThreadTeam& threads() noexcept { return team_; }

  // Calls task(lane) for every lane, each on its thread, waits for lanes apart,
  // and rethrows the first lane's error.  Allocates nothing, given a
  // std::function that exists.
  void run(const std::function<void(int)>& task);

  // Within run(): waits for all lanes; does not return if one of them threw.
  // All lanes call it equally often.
  void barrier(int lane);
  // Within run(): `mine` becomes the sum over all lanes in their order, the
  // same bits for all; `scratch` has its shape.
  void all_reduce(int lane, device::Device& device, tensor::View mine,
                  tensor::View scratch);
  // Likewise, of lanes apart: the first one's becomes the sum; all others
  // become what the first one's is.
  void reduce(int lane, tensor::View mine);
  void broadcast(int lane, tensor::View mine);

 private:
  struct Released {};  // thrown by barrier() when another lane has failed
  void work(int lane);
  void give_up();
  void wait_apart(int lane, int round);
  template <class F>
  void among_all(int lane, const F& ask);

  ThreadTeam team_;
  std::unique_ptr<device::LaneSum> sum_;
  std::function<void(int)> work_;
  const std::function<void(int)>* task_ = nullptr;
  std::vector<tensor::View> slots_;
  std::vector<std::exception_ptr> errors_;
  std::atomic<bool> failed_{false};
  std::atomic<int> arrived_{0};
  std::atomic<int> round_{0};   // of the barrier
  std::atomic<int> asking_{0};  // lanes apart that ask for a sum just now
};

}  // namespace dl::nn

#endif  // DL_LIBCORE_NN_LANE_LANE_TEAM_H_
