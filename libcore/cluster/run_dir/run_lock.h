// The lock file of a run directory: who holds it and how many held it, "PID
// INCARNATION HOST"; version 0.1 wrote no host.

#ifndef DL_LIBCORE_CLUSTER_RUN_DIR_RUN_LOCK_H_
#define DL_LIBCORE_CLUSTER_RUN_DIR_RUN_LOCK_H_

#include <cstdint>
#include <filesystem>
#include <string>

namespace dl::cluster {

inline constexpr const char* kLockName = "lock";

// A lock that is held as long as the object lives; the system releases it when
// the process dies.
class RunLock {
 public:
  // folder: run directory, which exists.
  // Throws Error: kUnavailable, another process has it ("the run directory
  // 'm.run' is in use by process 812"), or the storage cannot lock;
  // kCantCreate, kIo.
  explicit RunLock(const std::string& folder);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  // Number of masters that have held it, this one included.
  std::uint64_t incarnation() const { return incarnation_; }

 private:
  RunLock() = default;

  int file_ = -1;
  std::uint64_t incarnation_ = 1;
};

// Whether a lock may have left the file, which an early end leaves empty.
bool may_be_lock(const std::filesystem::directory_entry& entry);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_RUN_DIR_RUN_LOCK_H_
