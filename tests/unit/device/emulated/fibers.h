// The threads of a block of a kernel, which wait for each other, in one thread.

#ifndef DL_TESTS_UNIT_DEVICE_EMULATED_FIBERS_H_
#define DL_TESTS_UNIT_DEVICE_EMULATED_FIBERS_H_

#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>
#include <functional>
#include <vector>

namespace dl::device::cuda {

class Fibers {
 public:
  // Calls work(thread, fiber) for each thread; wait(fiber) inside returns when
  // all of them have called it, or have ended.
  void run(unsigned threads,
           const std::function<void(unsigned thread, void* fiber)>& work);
  static void wait(void* fiber);

 private:
  struct Fiber {
    boost::context::fiber here, home;  // whichever is not running
  };

  boost::context::pooled_fixedsize_stack stacks_{std::size_t{64} << 10};
  std::vector<Fiber> fibers_;
};

}  // namespace dl::device::cuda

#endif  // DL_TESTS_UNIT_DEVICE_EMULATED_FIBERS_H_
