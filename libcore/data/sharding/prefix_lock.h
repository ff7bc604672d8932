// Keeps a second writer of shards of one name away: the two would remove and
// replace each other's files, and leave a set made of both.

#ifndef DL_LIBCORE_DATA_SHARDING_PREFIX_LOCK_H_
#define DL_LIBCORE_DATA_SHARDING_PREFIX_LOCK_H_

#include <optional>
#include <string>

#include "libcore/io/temporary.h"

namespace dl::data {

class PrefixLock {
 public:
  // Takes ".NAME.lock" beside the shards PREFIX-..., which the destructor
  // removes.  Where files cannot be locked, or not made, there is no lock: what
  // stands in the way of writing is said by who writes.
  // Throws Error: kCantCreate, another process has it.
  explicit PrefixLock(const std::string& prefix);
  ~PrefixLock();
  PrefixLock(const PrefixLock&) = delete;
  PrefixLock& operator=(const PrefixLock&) = delete;

 private:
  std::optional<io::Temporary> path_;
  int file_ = -1;
};

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_SHARDING_PREFIX_LOCK_H_
