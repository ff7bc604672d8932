// Settings of the heap for large blocks.

#ifndef DL_LIBCORE_BASE_HEAP_H_
#define DL_LIBCORE_BASE_HEAP_H_

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

}  // namespace dl

#endif  // DL_LIBCORE_BASE_HEAP_H_
