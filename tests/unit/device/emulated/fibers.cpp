// Fibers that run the threads of an emulated block.

#include "tests/unit/device/emulated/fibers.h"

#include <utility>

#include "libcore/device/cuda/runtime/stream.h"

namespace dl::device::cuda {

void Fibers::run(unsigned threads,
                 const std::function<void(unsigned, void*)>& work) {
  fibers_.resize(threads);
  for (unsigned t = 0; t < threads; ++t) {
    Fiber& self = fibers_[t];
    self.here =
        boost::context::fiber(std::allocator_arg, stacks_,
                              [&work, &self, t](boost::context::fiber&& home) {
                                self.home = std::move(home);
                                work(t, &self);
                                return std::move(self.home);
                              });
  }
  for (bool any = true; any;) {
    any = false;
    for (Fiber& each : fibers_) {
      if (!each.here) continue;
      each.here = std::move(each.here).resume();
      any = any || each.here;
    }
  }
}

void Fibers::wait(void* fiber) {
  auto& self = *static_cast<Fiber*>(fiber);
  self.home = std::move(self.home).resume();
}

void wait_for_block(void* fiber) { Fibers::wait(fiber); }

}  // namespace dl::device::cuda
