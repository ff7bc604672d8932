// Sums over lanes whose devices have memories of their own.

#ifndef DL_LIBCORE_DEVICE_API_LANE_SUM_H_
#define DL_LIBCORE_DEVICE_API_LANE_SUM_H_

#include "libcore/device/api/values.h"

namespace dl::device {

// All lanes make the same calls in the same order, each on its own thread and
// with what is its own, of one shape and type: reals, or numbers of kF64.  Like
// calls of the lane's device, they take effect in order, maybe later.  Sums are
// the same to the bit each time.
// Throw Error: kUnavailable, it does not work, or another lane gave it up.
class LaneSum {
 public:
  virtual ~LaneSum() = default;

  // Becomes the sum of all, the same bits everywhere; only the first lane's
  // does; becomes what the first lane has.
  virtual void all_reduce(int lane, View mine) = 0;
  virtual void reduce(int lane, View mine) = 0;
  virtual void broadcast(int lane, View mine) = 0;

  // Waits until all that the lane's device was told has taken effect.
  virtual void finish(int lane) = 0;

  // Throws if something went wrong with it so far, without waiting.
  virtual void check(int lane) = 0;

  // A lane has failed, and will not come: lets go all who wait for it, on the
  // devices too.  From any thread, while none makes another call but finish()
  // or check(); it is of no use any more.
  virtual void give_up() noexcept = 0;
};

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_API_LANE_SUM_H_
