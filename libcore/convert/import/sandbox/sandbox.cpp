// The parent's side: a child, the memory that it writes to, and its end.
//
// The result lies in a memory file, behind it a verdict: the message of an
// error, its length and its code, or two zeros.

#include "libcore/convert/import/sandbox/sandbox.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <string>

#include "libcore/base/error.h"
#include "libcore/base/process.h"

namespace dl::convert {
namespace {

struct Verdict {
  std::uint32_t code = 0, length = 0;  // of the message before it
};

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

[[noreturn]] void unavailable(const char* what) {
  throw Error{Code::kUnavailable, std::string("cannot start a reader apart: ") +
                                      what + ": " + std::strerror(errno)};
}

void write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0)
      throw Error{Code::kData,
                  "it unpacks to more than a file of its size may"};
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

// The code of the child: never returns.
[[noreturn]] void be_child(int out, const SandboxLimits& limits,
                           const std::function<void(const Write&)>& work) {
  Verdict verdict;
  std::string message;
  try {
    confine(limits);
    work([out](std::span<const std::byte> bytes) { write_all(out, bytes); });
  } catch (const Error& e) {
    verdict.code = static_cast<std::uint32_t>(e.code());
    message = e.what();
  } catch (const std::bad_alloc&) {
    verdict.code = static_cast<std::uint32_t>(Code::kData);
    message = "reading it takes more memory than a file of its size may";
  } catch (...) {
    verdict.code = static_cast<std::uint32_t>(Code::kBug);
    message = "internal error: an exception of another kind";
  }
  try {
    verdict.length = static_cast<std::uint32_t>(message.size());
    write_all(out, std::as_bytes(std::span(message)));
    write_all(out, std::as_bytes(std::span(&verdict, 1)));
  } catch (...) {
    _exit(static_cast<int>(Code::kData));
  }
  _exit(0);
}

// Signals of the parent's are not the child's business; its complaints are no
// messages of ours.
void settle_in() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    std::signal(signal, SIG_DFL);
  std::signal(SIGXFSZ, SIG_IGN);  // an error of write() is enough
  const int null = ::open("/dev/null", O_RDWR);
  for (int fd = 0; fd <= 2 && null >= 0; ++fd) ::dup2(null, fd);
}

// Waits until the child's end of the pipe is closed.
bool ended_in_time(int pipe, std::chrono::seconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd wait{pipe, POLLIN, 0};
    if (::poll(&wait, 1, static_cast<int>(left.count())) > 0) return true;
  }
}

[[noreturn]] void too_slow() {
  throw Error{Code::kData,
              "reading it takes longer than a file of its size may"};
}

// The user's limits may be lower than ours.
bool may_write(std::uint64_t bytes) {
  rlimit files{};
  return ::getrlimit(RLIMIT_FSIZE, &files) != 0 || files.rlim_max >= bytes;
}

void check_end(int status, const SandboxLimits& limits) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) too_slow();
  if (WIFSIGNALED(status))
    throw Error{Code::kData, "the library that reads it crashed (signal " +
                                 std::to_string(WTERMSIG(status)) +
                                 "): it is damaged"};
  if (WIFEXITED(status) && WEXITSTATUS(status) == static_cast<int>(Code::kIo))
    throw Error{Code::kIo,
                "it was cut, or its storage failed, while it was read"};
  if (!may_write(limits.result))
    throw Error{Code::kUnavailable,
                "reading it takes larger files than this shell allows; see "
                "ulimit -f"};
  throw Error{Code::kData, "it unpacks to more than a file of its size may"};
}

// Bytes that the child wrote, without its verdict.
std::shared_ptr<const io::Mapping> result_in(int memory) {
  const off_t size = ::lseek(memory, 0, SEEK_END);
  if (size < static_cast<off_t>(sizeof(Verdict)))
    throw Error{Code::kData, "its reader handed back nothing"};
  const auto bytes = static_cast<std::size_t>(size);
  void* at = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, memory, 0);
  if (at == MAP_FAILED) unavailable("mmap");
  auto mapping = std::make_shared<const io::Mapping>(
      std::span(static_cast<const std::byte*>(at), bytes));
  Verdict verdict;
  const std::size_t end = bytes - sizeof verdict;
  std::memcpy(&verdict, mapping->bytes().data() + end, sizeof verdict);
  if (verdict.code == 0) return mapping;
  const std::size_t length = std::min<std::size_t>(verdict.length, end);
  const auto* text =
      reinterpret_cast<const char*>(mapping->bytes().data()) + end - length;
  const bool known = verdict.code == static_cast<std::uint32_t>(Code::kData) ||
                     verdict.code == static_cast<std::uint32_t>(Code::kNoInput);
  throw Error{known ? static_cast<Code>(verdict.code) : Code::kBug,
              std::string(text, length)};
}

}  // namespace

std::shared_ptr<const io::Mapping> run_in_sandbox(
    const SandboxLimits& limits,
    const std::function<void(const Write&)>& work) {
  const Descriptor memory(::memfd_create("dl-import", MFD_CLOEXEC));
  if (memory.get() < 0) unavailable("memfd_create");
  Pipe life;
  const pid_t child = fork_process(SIGKILL);
  if (child == 0) {
    settle_in();
    be_child(memory.get(), limits, work);
  }
  life.close_writer();
  const bool in_time = ended_in_time(life.reader(), 20 * limits.time);
  if (!in_time) ::kill(child, SIGKILL);
  const int status = wait_for_process(child);
  if (!in_time) too_slow();
  check_end(status, limits);
  return result_in(memory.get());
}

}  // namespace dl::convert
