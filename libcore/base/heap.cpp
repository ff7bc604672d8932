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

namespace {

// The pages that are the block's alone.
std::span<std::byte> whole_pages(std::span<std::byte> block) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t past =
      reinterpret_cast<std::uintptr_t>(block.data()) % page;
  const std::size_t skip = std::min(block.size(), past == 0 ? 0 : page - past);
  const std::span<std::byte> rest = block.subspan(skip);
  return rest.first(rest.size() / page * page);
}

}  // namespace

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
  if (bytes_ < kTrim) return;
  trim_heap();
  bytes_ = 0;
}

void give_back_pages(std::span<std::byte> block) {
  constexpr std::size_t kLeast = std::size_t{256} << 20;
  if (block.size() < kLeast) return;
  const std::span<std::byte> pages = whole_pages(block);
  madvise(pages.data(), pages.size(), MADV_DONTNEED);
}

std::vector<float> large_zeros(std::size_t count) {
  constexpr std::size_t kLarge = std::size_t{2} << 20;
  std::vector<float> zeros;
  zeros.reserve(count);
  if (count * sizeof(float) >= 2 * kLarge) {
    const std::span<std::byte> pages = whole_pages(
        {reinterpret_cast<std::byte*>(zeros.data()), count * sizeof(float)});
    madvise(pages.data(), pages.size(), MADV_HUGEPAGE);
  }
  zeros.resize(count);
  return zeros;
}

}  // namespace dl
