// Signals that ask a long-running tool to finish and leave: SIGTERM, SIGINT,
// SIGHUP, SIGUSR1 and SIGUSR2, as a descriptor to poll.
//
// The first one makes the descriptor readable; the second one, or the end of
// the grace period (DL_GRACE, default 25s), ends the process at once with
// status 75.

#ifndef DL_LIBCORE_CLI_STOP_SIGNAL_H_
#define DL_LIBCORE_CLI_STOP_SIGNAL_H_

#include <chrono>

namespace dl::cli {

// Call once, before other threads are made.  The descriptor stays readable and
// is never to be read or closed.  SIGINT and SIGHUP stay ignored if they were.
// Throws Error: kUsage, DL_GRACE is no duration; kIo.
int catch_stop_signals();

// From DL_GRACE.  Throws Error: kUsage.
std::chrono::milliseconds grace_period();

// From now on the grace period runs, as after a signal.
void begin_grace();

// "SIGTERM", or "" if none has come.
const char* stop_signal_name();

}  // namespace dl::cli

#endif  // DL_LIBCORE_CLI_STOP_SIGNAL_H_
