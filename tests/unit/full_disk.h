// A disk that is full, for files of this process.

#ifndef DL_TESTS_UNIT_FULL_DISK_H_
#define DL_TESTS_UNIT_FULL_DISK_H_

#include <sys/resource.h>

#include <csignal>

// As long as it lives no file grows beyond so many bytes.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    before_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit low{bytes, limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &low);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &limit_);
    std::signal(SIGXFSZ, before_);
  }

 private:
  rlimit limit_{};
  void (*before_)(int) = nullptr;
};

#endif  // DL_TESTS_UNIT_FULL_DISK_H_
