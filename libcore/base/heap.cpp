// Setup of the allocator for large blocks.

#include "libcore/base/heap.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdlib>  // says which C library it is
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace dl {

void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most that it takes
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  // Threads' own heaps cannot hold large blocks.
  mallopt(M_ARENA_MAX, 1);
#endif
}

void trim_heap() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

void HeapTrimmer::freed(std::size_t bytes) {
  constexpr std::size_t kTrim = std::size_t{32} << 20;
  bytes_ += bytes;
  if (!trims_ || bytes_ < kTrim) return;
  trim_heap();
  bytes_ = 0;
}

void give_back_pages(std::span<std::byte> block, std::size_t from) {
  if (block.size() < kWorthGivingBack) return;
  block = block.subspan(from);
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t past =
      reinterpret_cast<std::uintptr_t>(block.data()) % page;
  const auto whole =
      block.subspan(past == 0 ? 0 : std::min(page - past, block.size()));
  madvise(whole.data(), whole.size() / page * page, MADV_DONTNEED);
}

}  // namespace dl
