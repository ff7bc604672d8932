// Settings of the heap for large blocks.

#ifndef DL_LIBCORE_BASE_HEAP_H_
#define DL_LIBCORE_BASE_HEAP_H_

namespace dl {

// Memory that is freed stays with the process, so that vectors as large as a
// network, which come and go in each step, need no new pages from the kernel:
// clearing those takes longer than what is done with them.  Call it before
// there are threads.  Nothing happens where the C library has no such setting.
void keep_freed_memory();

}  // namespace dl

#endif  // DL_LIBCORE_BASE_HEAP_H_
