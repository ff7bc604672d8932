// Setup of the allocator for large blocks.

#include "libcore/base/heap.h"

#include <climits>
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

}  // namespace dl
