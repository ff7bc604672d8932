// Settings of the heap for large blocks.

#ifndef DL_LIBCORE_BASE_HEAP_H_
#define DL_LIBCORE_BASE_HEAP_H_

#include <cstddef>
#include <span>

namespace dl {

// Blocks of less than 32 MiB stay with the process when they are freed, so that
// vectors that come and go in each step need no new pages from the kernel:
// clearing those takes longer than what is done with them.  Larger ones go
// back, as a few of them are all of the memory that a large network may take.
// Call it before there are threads.  Nothing happens where the C library has no
// such setting.
void keep_freed_memory();

// Gives back what is free: after many small blocks that were large together.
void trim_heap();

// From this size on the memory counts more than the time to clear new pages.
constexpr std::size_t kWorthGivingBack = std::size_t{256} << 20;

// Trims the heap each time that 32 MiB were freed, as trimming takes a look at
// all of it.  Not thread-safe.
class HeapTrimmer {
 public:
  // all: bytes of the vector that comes in the blocks that are freed; below
  // kWorthGivingBack nothing is trimmed.
  explicit HeapTrimmer(std::size_t all = kWorthGivingBack)
      : trims_(all >= kWorthGivingBack) {}
  void freed(std::size_t bytes);

 private:
  bool trims_;
  std::size_t bytes_ = 0;  // since the last time
};

// Gives the pages of a block of kWorthGivingBack back to the system, from a
// byte on, as long as nobody needs its contents, which are lost: where it is
// written again it takes new ones.  A smaller block stays as it is.
void give_back_pages(std::span<std::byte> block, std::size_t from = 0);

}  // namespace dl

#endif  // DL_LIBCORE_BASE_HEAP_H_
