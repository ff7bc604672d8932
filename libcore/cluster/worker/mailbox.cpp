#include "libcore/cluster/worker/mailbox.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "libcore/base/error.h"

namespace dl::cluster {

void Inbox::begin_session(std::uint64_t session, Message welcome) {
  const std::lock_guard lock(mutex_);
  queue_.clear();
  session_ = session;
  bytes_ = size_of(welcome);
  queue_.push_back(std::move(welcome));
  changed_.notify_one();
}

bool Inbox::push(Message message) {
  const std::lock_guard lock(mutex_);
  const std::size_t bytes = size_of(message);
  if (bytes_ + bytes > most_) {
    std::size_t largest = bytes;
    for (const Message& each : queue_)
      largest = std::max(largest, size_of(each));
    if (bytes_ + bytes - largest > most_) return false;
  }
  bytes_ += bytes;
  queue_.push_back(std::move(message));
  changed_.notify_one();
  return true;
}

std::optional<Delivered> Inbox::pop(bool wait) {
  std::unique_lock lock(mutex_);
  if (wait) changed_.wait(lock, [&] { return woken_ || !queue_.empty(); });
  return take();
}

std::optional<Delivered> Inbox::pop_within(double seconds) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::duration<double>(seconds),
                    [&] { return woken_ || !queue_.empty(); });
  return take();
}

std::optional<Delivered> Inbox::take() {
  woken_ = false;
  if (queue_.empty()) return std::nullopt;
  Delivered delivered{session_, std::move(queue_.front())};
  queue_.pop_front();
  bytes_ -= size_of(delivered.message);
  return delivered;
}

void Inbox::wake() {
  const std::lock_guard lock(mutex_);
  woken_ = true;
  changed_.notify_one();
}

std::size_t Inbox::size() {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

Outbox::Outbox() : fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (fd_ < 0)
    throw Error{Code::kIo,
                std::string("cannot make an eventfd: ") + std::strerror(errno)};
}

Outbox::~Outbox() { ::close(fd_); }

void Outbox::push(Message message) {
  const std::lock_guard lock(mutex_);
  queue_.push_back(std::move(message));
  poke_locked();
}

void Outbox::begin_session(std::uint64_t session) {
  const std::lock_guard lock(mutex_);
  queue_.clear();
  session_ = session;
}

std::optional<Message> Outbox::pop(std::uint64_t session) {
  const std::lock_guard lock(mutex_);
  if (session != session_) queue_.clear();
  if (queue_.empty()) {
    eventfd_t count;
    if (std::exchange(poked_, false)) (void)!::eventfd_read(fd_, &count);
    return std::nullopt;
  }
  Message message = std::move(queue_.front());
  queue_.pop_front();
  return message;
}

std::size_t Outbox::size() {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

void Outbox::poke() {
  const std::lock_guard lock(mutex_);
  poke_locked();
}

void Outbox::poke_locked() {
  if (!std::exchange(poked_, true)) (void)!::eventfd_write(fd_, 1);
}

std::vector<std::byte> RecordFetcher::fetch(const Fetch& wanted,
                                            std::chrono::milliseconds limit) {
  const Key key{wanted.evaluation, wanted.shard, wanted.record};
  std::unique_lock lock(mutex_);
  if (closed_) throw Error{Code::kTryAgain, "the master is gone"};
  wanted_[key].reset();
  outbox_.push(wanted.to_message());
  const bool done = changed_.wait_for(
      lock, limit, [&] { return closed_ || wanted_[key].has_value(); });
  std::optional<Record> record = std::move(wanted_[key]);
  wanted_.erase(key);
  if (record && record->packed.empty())
    throw Error{Code::kData, "the master cannot read it either"};
  if (record) return std::move(record->packed);
  throw Error{Code::kTryAgain, done ? "the master is gone"
                                    : "the master did not send it within " +
                                          std::to_string(limit.count() / 1000) +
                                          " s"};
}

void RecordFetcher::deliver(Record record) {
  const std::lock_guard lock(mutex_);
  const auto at =
      wanted_.find(Key{record.evaluation, record.shard, record.record});
  if (at == wanted_.end()) return;  // given up meanwhile
  at->second = std::move(record);
  changed_.notify_all();
}

void RecordFetcher::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

void RecordFetcher::open() {
  const std::lock_guard lock(mutex_);
  closed_ = false;
}

bool RecordFetcher::closed() {
  const std::lock_guard lock(mutex_);
  return closed_;
}

void Mailbox::set_doing(std::string text) {
  const std::lock_guard lock(mutex_);
  doing_ = std::move(text);
}

Json Mailbox::tell_exchange() {
  ExchangeStats stats = meter.take();
  stats.inbox = static_cast<std::int64_t>(inbox.size());
  stats.outbox = static_cast<std::int64_t>(outbox.size() + unsent);
  return stats.to_json();
}

std::string Mailbox::doing() {
  const std::lock_guard lock(mutex_);
  return doing_;
}

}  // namespace dl::cluster
