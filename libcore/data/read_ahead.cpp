// The thread that reads records ahead.

#include "libcore/data/read_ahead.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "libcore/base/error.h"

namespace dl::data {

namespace {

// Unpacked bytes that lie ready; one record more may.  A few mini-batches, so
// that small records are not handed over one by one.
constexpr std::size_t kAhead = 1 << 20;

}  // namespace

ReadAhead::ReadAhead(Examples& reader, Prepare prepare)
    : reader_(reader),
      prepare_(std::move(prepare)),
      stop_fd_(::eventfd(0, EFD_CLOEXEC)) {
  if (stop_fd_ < 0)
    throw Error{Code::kIo,
                std::string("cannot make an eventfd: ") + std::strerror(errno)};
  reader_.stop_at(stop_fd_);
}

ReadAhead::~ReadAhead() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
      (void)!::eventfd_write(stop_fd_, 1);
      changed_.notify_all();
    }
    thread_.join();
  }
  reader_.stop_at(-1);
  ::close(stop_fd_);
}

ReadAhead::Item ReadAhead::fetch() {
  Item item;
  try {
    item.last = !reader_.read(item.set);
    if (!item.last) prepare_(item.set);
    for (const auto& [name, tensor] : item.set.tensors)
      item.bytes += tensor.bytes().size();
  } catch (...) {
    item.last = true;
    item.error = std::current_exception();
  }
  ended_ = item.last;
  return item;
}

bool ReadAhead::read(DataSet& set) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !ready_.empty() || !reading_; });
  Item item;
  if (!ready_.empty()) {
    item = std::move(ready_.front());
    ready_.pop_front();
    bytes_ -= item.bytes;
  } else if (!ended_) {
    item = fetch();
  } else {
    return false;
  }
  if (item.error) std::rethrow_exception(item.error);
  if (item.last) return false;
  set = std::move(item.set);
  // Not for every record: waking the thread costs more than a small one does.
  if (!reading_ && !ended_ && bytes_ <= kAhead / 2 && reader_.ready()) start();
  return true;
}

void ReadAhead::start() {
  reading_ = true;
  if (thread_.joinable())
    changed_.notify_all();
  else
    thread_ = std::thread([this] { work(); });
}

void ReadAhead::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stop_ || reading_; });
    if (stop_) return;
    lock.unlock();
    Item item = fetch();
    const bool more = !item.last && reader_.ready();
    lock.lock();
    bytes_ += item.bytes;
    ready_.push_back(std::move(item));
    reading_ = more && bytes_ < kAhead;
    changed_.notify_all();
  }
}

}  // namespace dl::data
