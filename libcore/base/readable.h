// Test of a descriptor, such as that of a signal, for something to read.

#ifndef DL_LIBCORE_BASE_READABLE_H_
#define DL_LIBCORE_BASE_READABLE_H_

#include <poll.h>

namespace dl {

// Waits for it so many milliseconds, or until a signal; fd below 0 has nothing.
inline bool readable(int fd, int wait = 0) {
  pollfd p{fd, POLLIN, 0};
  return ::poll(&p, 1, wait) > 0;
}

}  // namespace dl

#endif  // DL_LIBCORE_BASE_READABLE_H_
