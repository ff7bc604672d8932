// Waiting for the others of a team.

#ifndef DL_LIBCORE_BASE_SPIN_WAIT_H_
#define DL_LIBCORE_BASE_SPIN_WAIT_H_

#include <atomic>

namespace dl {

// Tells the CPU that this is a loop that waits.
inline void pause_in_loop() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Returns once `round` is no longer `seen`, which somebody changes and
// notifies. Looks for some ten microseconds before it sleeps: waking up takes
// as long, and what a team does between its barriers is often shorter.
inline void wait_for_change(const std::atomic<int>& round, int seen) {
  constexpr int kLooks = 1000;
  for (int i = 0; i < kLooks; ++i) {
    if (round.load(std::memory_order_acquire) != seen) return;
    pause_in_loop();
  }
  round.wait(seen, std::memory_order_acquire);
}

}  // namespace dl

#endif  // DL_LIBCORE_BASE_SPIN_WAIT_H_
