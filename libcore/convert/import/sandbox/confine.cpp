// The child's side: limits, and a list of the system calls that reading needs.
//
// All others fail with EPERM, so that a library which asks for more than it
// needs can do without.

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <vector>

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

#if defined(__x86_64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kMachine = 0;  // no filter
#endif

constexpr std::array kAllowed = {
    // Memory.
    __NR_brk, __NR_mmap, __NR_munmap, __NR_mremap, __NR_mprotect, __NR_madvise,
    // Calls on descriptors that are open already: the result.
    __NR_write, __NR_lseek, __NR_fstat, __NR_close,
    // Itself.
    __NR_getpid, __NR_gettid, __NR_getuid, __NR_geteuid, __NR_getrandom,
    __NR_futex, __NR_sched_yield, __NR_clock_gettime, __NR_gettimeofday,
    __NR_getrusage, __NR_sysinfo, __NR_rt_sigaction, __NR_rt_sigprocmask,
    __NR_rt_sigreturn, __NR_restart_syscall, __NR_tgkill, __NR_exit,
    __NR_exit_group};

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

void filter_calls() {
  if (kMachine == 0 || kSanitized) return;
  const auto statement = [](int code, std::uint32_t k) {
    return sock_filter{static_cast<std::uint16_t>(code), 0, 0, k};
  };
  const auto jump = [](std::uint32_t k, std::uint8_t yes, std::uint8_t no) {
    return sock_filter{BPF_JMP | BPF_JEQ | BPF_K, yes, no, k};
  };
  std::vector<sock_filter> program = {
      statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      jump(kMachine, 1, 0),
      statement(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const long call : kAllowed) {
    program.push_back(jump(static_cast<std::uint32_t>(call), 0, 1));
    program.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  program.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  const sock_fprog all{static_cast<std::uint16_t>(program.size()),
                       program.data()};
  ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all);
}

}  // namespace

void confine(const ApartLimits& limits) {
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
