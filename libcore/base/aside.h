// Work beside the loop of a thread.

#ifndef DL_LIBCORE_BASE_ASIDE_H_
#define DL_LIBCORE_BASE_ASIDE_H_

#include <chrono>
#include <future>
#include <system_error>
#include <utility>

namespace dl {

// Begins the work in a thread of its own if `aside`, and if there is a thread
// to be had; else it is done when the result is asked for.
template <typename Work>
auto begin_aside(bool aside, Work work) {
  if (aside) try {
      return std::async(std::launch::async, work);
    } catch (const std::system_error&) {
    }
  return std::async(std::launch::deferred, std::move(work));
}

// Whether asking for the result begins no wait for a thread.
template <typename Result>
bool is_over(const std::future<Result>& work) {
  return !work.valid() ||
         work.wait_for(std::chrono::seconds(0)) != std::future_status::timeout;
}

}  // namespace dl

#endif  // DL_LIBCORE_BASE_ASIDE_H_
