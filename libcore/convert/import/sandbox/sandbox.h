// Work on a file that is not trusted, in a process of its own.
//
// Libraries that read other people's formats have had holes.  Its work on a
// file happens in a child that has the file in memory, and can do nothing but
// compute and hand back bytes: it opens nothing, makes no files or processes,
// has no network, and its memory and time are limited.

#ifndef DL_LIBCORE_CONVERT_IMPORT_SANDBOX_SANDBOX_H_
#define DL_LIBCORE_CONVERT_IMPORT_SANDBOX_SANDBOX_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "libcore/io/mapping.h"

namespace dl::convert {

struct SandboxLimits {
  std::uint64_t memory = 0;       // bytes beyond what the process has already
  std::uint64_t result = 0;       // bytes that it may hand back
  std::chrono::seconds time{60};  // of a processor; 20 times that on the wall
};

using Write = std::function<void(std::span<const std::byte>)>;

// Calls work(write) in the child, and returns what that wrote.  Not for
// processes that have threads at work: the child has but the calling one.
//
// Throws Error: kData, the child crashed or hit a limit, as "the reading
// library crashed on it"; what work throws; kUnavailable, there is no child, or
// the user lets nobody write files of that size.
std::shared_ptr<const io::Mapping> run_in_sandbox(
    const SandboxLimits& limits, const std::function<void(const Write&)>& work);

// In the child: no more memory, time, files or system calls than reading needs.
// Calls that the system does not know are left out (seccomp).
void confine(const SandboxLimits& limits);

}  // namespace dl::convert

#endif  // DL_LIBCORE_CONVERT_IMPORT_SANDBOX_SANDBOX_H_
