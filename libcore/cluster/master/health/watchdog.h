// Watches the loop of a master: one that stands still looks alive to nobody,
// and to itself least of all.
//
// After a fifth of the limit there is a warning that says what the loop is at;
// after the limit the process ends, so that whoever started it can do so again.
// A loop that waits for storage is only warned of: an NFS server may come back.

#ifndef DL_LIBCORE_CLUSTER_MASTER_HEALTH_WATCHDOG_H_
#define DL_LIBCORE_CLUSTER_MASTER_HEALTH_WATCHDOG_H_

#include <sys/types.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "libcore/base/log.h"

namespace dl::cluster {

class Watchdog {
 public:
  // Watches the calling thread, which is the only one to call turn().  limit:
  // seconds.  end: ends the process; may return.
  Watchdog(double limit, Log log, std::function<void()> end);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Notes that the loop moves; its next work is `what` of `detail`, both
  // literals.
  void turn(std::string_view what, std::string_view detail = {});

 private:
  void watch();
  bool in_storage() const;

  const double limit_;
  const Log log_;
  const std::function<void()> end_;
  const pid_t watched_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string_view what_ = "at its start", detail_;
  bool moved_ = false, stop_ = false;
  std::thread thread_;
};

// Ends the process as a second signal to stop does: unfinished work is dropped,
// and the status is 75.
void end_at_once();

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_HEALTH_WATCHDOG_H_
