// Places where a test may make a process fail.
//
//   DL_FAILPOINTS='worker.after_batch=kill@3;checkpoint.rename=error'
//
// Each item is NAME=ACTION[@N]: at the N-th visit (default 1) of the place,
// `kill` sends SIGKILL to the process, `exit` calls _exit(70), `stop` sends
// SIGSTOP, `term` SIGTERM, `spin` loops for ever, `error` throws Error{kIo},
// and `nan` makes failpoint() return true for the caller to act on.
// `sleep:50ms` waits at every visit, without @N: a slower machine, for
// measurements.  ACTION#N acts at each visit of a place that says it is the
// N-th of its things: of a record, at each that is read of it.  Built in unless
// CMake is told -DDL_FAILPOINTS=OFF; without the variable a visit costs one
// branch.

#ifndef DL_LIBCORE_BASE_FAILPOINT_H_
#define DL_LIBCORE_BASE_FAILPOINT_H_

#include <cstdint>

namespace dl {

// Returns true only for action `nan` at its visit.  Thread-safe.
// Throws Error: kIo for action `error`; kUsage, DL_FAILPOINTS is malformed.
bool failpoint(const char* name);
// A place of many, of which this is the number-th.
bool failpoint(const char* name, std::int64_t number);

}  // namespace dl

#endif  // DL_LIBCORE_BASE_FAILPOINT_H_
