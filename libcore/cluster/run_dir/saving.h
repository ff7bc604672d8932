// A checkpoint that is being written.

#ifndef DL_LIBCORE_CLUSTER_RUN_DIR_SAVING_H_
#define DL_LIBCORE_CLUSTER_RUN_DIR_SAVING_H_

#include <functional>
#include <future>
#include <string>
#include <utility>

#include "libcore/base/aside.h"

namespace dl::cluster {

// Its destructor waits for the thread.
class Saving {
 public:
  // write: writes the checkpoint and returns its name, in a thread of its own
  // if `aside`, else within end().  keep: takes note of it, within end().
  Saving(bool aside, std::function<std::string()> write,
         std::function<void(const std::string& name)> keep = {})
      : written_(begin_aside(aside, std::move(write))),
        keep_(std::move(keep)) {}

  // Whether end() need not wait for the thread.
  bool is_over() const { return dl::is_over(written_); }
  // Returns the name; once.  Throws Error: as `write` does.
  std::string end() {
    std::string name = written_.get();
    if (keep_) keep_(name);
    return name;
  }

 private:
  std::future<std::string> written_;
  std::function<void(const std::string& name)> keep_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_DIR_SAVING_H_
