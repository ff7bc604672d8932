// The child's side: limits, and a list of the system calls that reading needs.
//
// All others fail with EPERM, so that a library which asks for more than it
// needs can do without.

#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>

#include "libcore/convert/import/sandbox/sandbox.h"

namespace dl::convert {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized =
    true;  // they take terabytes of addresses, and files
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

constexpr int kAllowed[] = {
    // Memory.
    SCMP_SYS(brk), SCMP_SYS(mmap), SCMP_SYS(munmap), SCMP_SYS(mremap),
    SCMP_SYS(mprotect), SCMP_SYS(madvise),
    // Calls on descriptors that are open already: the result.
    SCMP_SYS(write), SCMP_SYS(lseek), SCMP_SYS(fstat), SCMP_SYS(close),
    // Itself.
    SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(getuid), SCMP_SYS(geteuid),
    SCMP_SYS(getrandom), SCMP_SYS(futex), SCMP_SYS(sched_yield),
    SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday), SCMP_SYS(getrusage),
    SCMP_SYS(sysinfo), SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn), SCMP_SYS(restart_syscall), SCMP_SYS(tgkill),
    SCMP_SYS(exit), SCMP_SYS(exit_group)};

// beyond: how far the hard limit is, where the soft one has a signal of its
// own.
void limit(int what, std::uint64_t value, std::uint64_t beyond = 0) {
  const rlimit both{value, value + beyond};
  ::setrlimit(static_cast<__rlimit_resource>(what), &both);
}

// Bytes of address space that the process has.
std::uint64_t address_space() {
  std::uint64_t pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    unsigned long long first = 0;
    if (std::fscanf(file, "%llu", &first) == 1) pages = first;
    std::fclose(file);
  }
  return pages * 4096;
}

// A kernel without seccomp, or a processor that libseccomp does not know,
// leaves the limits alone.
void filter_calls() {
  if (kSanitized) return;
  const scmp_filter_ctx filter = ::seccomp_init(SCMP_ACT_ERRNO(EPERM));
  if (filter == nullptr) return;
  for (const int call : kAllowed)
    ::seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0);
  ::seccomp_load(filter);
  ::seccomp_release(filter);
}

}  // namespace

void confine(const SandboxLimits& limits) {
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, limits.result);
  limit(RLIMIT_CPU, static_cast<std::uint64_t>(limits.time.count()), 1);
  if (!kSanitized) {
    limit(RLIMIT_AS, address_space() + limits.memory);
    limit(RLIMIT_NOFILE, 0);
  }
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  filter_calls();
}

}  // namespace dl::convert
