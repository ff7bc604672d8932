// Threads that a CpuDevice has beside its own for a while: a primitive that has
// enough to do splits its result among them.  The value of each element does
// not depend on the split.

#ifndef DL_LIBCORE_DEVICE_CPU_SPREAD_H_
#define DL_LIBCORE_DEVICE_CPU_SPREAD_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "libcore/base/parallel.h"
#include "libcore/device/cpu/gemm.h"
#include "libcore/device/cpu/onednn.h"

namespace dl::device {

class Spread {
 public:
  // State of one thread.
  struct Part {
    OneDnn dnn;
    GemmScratch scratch;
  };

  // team: its run() is called by the device's thread; null: there is none.
  void use(ThreadTeam* team);

  // In how many parts to split so many multiplications and additions.
  int parts(double work) const;
  // Calls body(part) for each, at the same time.  Allocates nothing.
  template <typename Body>
  void run(int parts, const Body& body) {
    if (parts == 1) return body(0);
    const auto each = [&](int i) {
      if (i < parts) body(i);
    };
    team_->run(std::function<void(int)>(std::cref(each)));
  }
  // State of part 1 and those behind it: part 0 has the device's own.
  Part& part(int i) { return *own_[static_cast<std::size_t>(i - 1)]; }

 private:
  ThreadTeam* team_ = nullptr;
  std::vector<std::unique_ptr<Part>> own_;
};

// gemm() of a packed b, its columns split.  scratch: of the device.
void gemm(Spread& spread, GemmScratch& scratch, float* c, std::int64_t c_row,
          std::int64_t m, Matrix a, const Packed& b, GemmEnd end);

}  // namespace dl::device

#endif  // DL_LIBCORE_DEVICE_CPU_SPREAD_H_
