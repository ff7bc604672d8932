#include "libcore/io/temporary.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/io/sink.h"
#include "libcore/io/temporary_name.h"

namespace dl::io {

// A list that only grows: a signal handler may walk it at any time.  Whoever
// exchanges a path for null owns it, so that the handler and another thread
// never both touch one.
struct Temporary::Slot {
  std::atomic<char*> path{nullptr};
  // What the handler took, for forget() to free: a handler cannot.
  std::atomic<char*> removed{nullptr};
  std::atomic<bool> taken{true};
  Slot* next = nullptr;
};

namespace {

std::atomic<void*> first_slot{nullptr};

}  // namespace

Temporary::Slot* Temporary::slots() {
  return static_cast<Slot*>(first_slot.load());
}

Temporary::Temporary(std::string path) : path_(std::move(path)) {
  char* copy = ::strdup(path_.c_str());
  if (!copy) throw std::bad_alloc{};
  slot_ = slots();
  bool expected = false;
  while (slot_ && !slot_->taken.compare_exchange_strong(expected, true)) {
    expected = false;
    slot_ = slot_->next;
  }
  if (!slot_) {
    slot_ = new Slot;
    void* head = first_slot.load();
    do {
      slot_->next = static_cast<Slot*>(head);
    } while (!first_slot.compare_exchange_weak(head, slot_));
  }
  slot_->path.store(copy);
}

Temporary::~Temporary() {
  if (!slot_) return;
  ::unlink(path_.c_str());
  forget();
}

void Temporary::forget() noexcept {
  std::free(slot_->path.exchange(nullptr));
  std::free(slot_->removed.exchange(nullptr));
  slot_->taken.store(false);
  slot_ = nullptr;
}

void Temporary::rename_to(const std::string& final_path) {
  if (std::rename(path_.c_str(), final_path.c_str()) != 0)
    throw Error{Code::kCantCreate, "cannot create " + in_quotes(final_path) +
                                       ": " + std::strerror(errno)};
  forget();
}

void remove_unfinished() noexcept {
  for (Temporary::Slot* slot = Temporary::slots(); slot; slot = slot->next)
    if (char* path = slot->path.exchange(nullptr)) {
      ::unlink(path);
      slot->removed.store(path);
    }
}

void sync_folder_of(const std::string& path) {
  const std::string folder = folder_of(path);
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // Some file systems cannot sync a folder; they say EINVAL.
  const bool ok = fd >= 0 && (::fsync(fd) == 0 || errno == EINVAL);
  const int error = errno;
  if (fd >= 0) ::close(fd);
  if (!ok)
    throw Error{Code::kIo, "cannot sync " + in_quotes(folder) + ": " +
                               std::strerror(error)};
}

}  // namespace dl::io
