// The list of files to remove when the process ends.

#include "libcore/io/temporary.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

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
  // Paths that the handler took, for forget() to free: a handler cannot.
  std::atomic<char*> removed{nullptr};
  Slot* next = nullptr;
};

namespace {

std::atomic<void*> first_slot{nullptr};
std::mutex free_mutex;
std::vector<void*> free_slots;  // of the list, and nobody's
std::size_t slot_count = 0;

void* take_free_slot() {
  const std::lock_guard lock(free_mutex);
  if (free_slots.empty()) return nullptr;
  void* slot = free_slots.back();
  free_slots.pop_back();
  return slot;
}

}  // namespace

Temporary::Slot* Temporary::slots() {
  return static_cast<Slot*>(first_slot.load());
}

Temporary::Temporary(std::string path) : path_(std::move(path)) {
  char* copy = ::strdup(path_.c_str());
  if (!copy) throw std::bad_alloc{};
  slot_ = static_cast<Slot*>(take_free_slot());
  if (!slot_) {
    slot_ = new Slot;
    const std::lock_guard lock(free_mutex);
    if (++slot_count > free_slots.capacity())  // forget() must not fail
      free_slots.reserve(2 * slot_count);
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
  const std::lock_guard lock(free_mutex);
  free_slots.push_back(slot_);
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
