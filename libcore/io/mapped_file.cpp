// Mapped files, and the pages of theirs that a truncation takes away.

#include "libcore/io/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/io/sink.h"

namespace dl::io {
namespace {

// A list of fixed size, for a signal handler; a file beyond it has no name in
// the message.
struct Watched {
  std::atomic<bool> taken{false};
  std::atomic<std::uintptr_t> begin{0}, end{0};
  std::array<char, 512> name{};
};
std::array<Watched, 64> watched_files;

void say(const char* text) {
  (void)!::write(STDERR_FILENO, text, std::strlen(text));
}

void on_lost_page(int signal, siginfo_t* info, void*) {
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const char* name = nullptr;
  for (const Watched& file : watched_files)
    if (at >= file.begin.load() && at < file.end.load())
      name = file.name.data();
  if (name == nullptr) {  // no file of ours
    std::signal(signal, SIG_DFL);
    return;
  }
  remove_unfinished();
  say(program_invocation_short_name);
  say(": ");
  say(name);
  say(" was cut, or its storage failed, while it was read\n");
  ::_exit(static_cast<int>(Code::kIo));
}

void catch_lost_pages() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = on_lost_page;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGBUS, &action, nullptr);
  });
}

}  // namespace

MappedFile::MappedFile(std::string path)
    : path_(std::move(path)),
      file_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  struct stat info {};
  if (file_ >= 0 && ::fstat(file_, &info) == 0 && S_ISREG(info.st_mode))
    before_ = stamp_of(info);
}

MappedFile::~MappedFile() {
  if (file_ >= 0) ::close(file_);
  if (watched_ < 0) return;
  Watched& own = watched_files[static_cast<std::size_t>(watched_)];
  own.begin = own.end = 0;
  own.taken = false;
}

void MappedFile::require_unchanged() const {
  if (stamp_of(file_) == before_) return;
  throw Error{Code::kIo, in_quotes(path_) +
                             " was written to while it was read; run this "
                             "again once it is whole"};
}

void MappedFile::watch(std::span<const std::byte> memory) {
  catch_lost_pages();
  for (std::size_t i = 0; i < watched_files.size(); ++i) {
    Watched& free = watched_files[i];
    if (free.taken.exchange(true)) continue;
    const std::string name = in_quotes(path_);
    const std::size_t size = std::min(name.size(), free.name.size() - 1);
    std::copy_n(name.begin(), size, free.name.begin());
    free.name[size] = '\0';
    const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
    free.begin = begin;
    free.end = begin + memory.size();
    watched_ = static_cast<int>(i);
    return;
  }
}

}  // namespace dl::io
