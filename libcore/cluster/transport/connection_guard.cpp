#include "libcore/cluster/transport/connection_guard.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>

namespace dl::cluster {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLook{20}, kCount{1000};
constexpr std::size_t kManyStrangers = 200;  // more are looked at less often
constexpr std::size_t kMembersAtOnce = 40;   // likewise of those let in

std::string address_of(int fd) {
  sockaddr_in6 address{};  // the sockets are IPv6, and take IPv4 as well
  socklen_t size = sizeof address;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return "a peer";
  std::array<char, INET6_ADDRSTRLEN> text{};
  std::uint16_t port = address.sin6_port;  // where sockaddr_in has it
  if (address.sin6_family == AF_INET) {
    const auto* old = reinterpret_cast<const sockaddr_in*>(&address);
    inet_ntop(AF_INET, &old->sin_addr, text.data(), text.size());
  } else if (IN6_IS_ADDR_V4MAPPED(&address.sin6_addr)) {
    inet_ntop(AF_INET, &address.sin6_addr.s6_addr[12], text.data(),
              text.size());
  } else {
    inet_ntop(AF_INET6, &address.sin6_addr, text.data(), text.size());
    return std::string("[") + text.data() + "]:" + std::to_string(ntohs(port));
  }
  return std::string(text.data()) + ":" + std::to_string(ntohs(port));
}

// From this descriptor on connections take what files need.  The lowest one
// that is free is given out, so it tells how many are.
int first_scarce_descriptor() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return INT_MAX;
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur / 4 * 3, INT_MAX));
}

// Number of descriptors of this process; 0 where they are not listed.
std::size_t count_descriptors() {
  std::error_code error;
  std::filesystem::directory_iterator all("/proc/self/fd", error);
  std::size_t count = 0;
  for (const std::filesystem::directory_iterator end; !error && all != end;
       all.increment(error))
    ++count;
  return count;
}

}  // namespace

ConnectionGuard::ConnectionGuard(SocketMonitor& monitor)
    : monitor_(monitor),
      first_scarce_(first_scarce_descriptor()),
      wake_(eventfd(0, EFD_CLOEXEC)),
      thread_([this] { watch(); }) {}

ConnectionGuard::~ConnectionGuard() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  eventfd_write(wake_, 1);
  thread_.join();
  close(wake_);
}

// The thread.  It uses the monitor's socket only with the lock.  Whoever opens
// connections one after the other may take all descriptors within a look.
void ConnectionGuard::watch() {
  using Steady = std::chrono::steady_clock;
  std::array<pollfd, 2> news{
      {{monitor_.descriptor(), POLLIN, 0}, {wake_, POLLIN, 0}}};
  Steady::time_point next_look{}, next_count{};
  std::unique_lock lock(mutex_);
  while (!done_) {
    lock.unlock();
    poll(news.data(), news.size(), static_cast<int>(kLook.count()));
    lock.lock();
    take_events();
    const auto now = Steady::now();
    if (now >= next_count) {
      next_count = now + kCount;
      const std::size_t all = count_descriptors();
      others_ = all - std::min(all, connections_.size());
    }
    if (now < next_look) continue;
    next_look = now + kLook * (1 + strangers_ / kManyStrangers);
    check();
    if (looks_for_dead_ > 0) find_dead();
  }
}

void ConnectionGuard::take_events() {
  while (const auto event = monitor_.next()) {
    switch (event->what) {
      case ZMQ_EVENT_ACCEPTED:
        accept(static_cast<int>(event->value));
        break;
      case ZMQ_EVENT_DISCONNECTED:
        if (const auto ended =
                connections_.find(static_cast<int>(event->value));
            ended != connections_.end())
          forget(ended);
        break;
      case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
        // Called so at any time.
        if (event->value == ZMQ_PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC)
          expect_dead();
        ++failed_;
        break;
      case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
        ++failed_;
        break;
      default:
        break;
    }
  }
}

void ConnectionGuard::accept(int fd) {
  if (const auto old = connections_.find(fd); old != connections_.end())
    forget(old);
  if (const auto bytes = ConnectionBytes::of(fd))
    connections_.emplace(fd, Connection{*bytes, address_of(fd), ++accepted_});
  // Its number alone does not tell: one that ended leaves a low one to the
  // next.
  const std::size_t taken = connections_.size() + others_;
  if (strangers_are_known() &&
      (fd >= first_scarce_ || std::cmp_greater_equal(taken, first_scarce_)))
    shut_oldest_stranger();
}

// A worker that just came has not greeted yet.
void ConnectionGuard::shut_oldest_stranger() {
  Connection* oldest = nullptr;
  for (auto& [fd, each] : connections_)
    if (each.limit == 0 && !each.over &&
        (oldest == nullptr || each.number < oldest->number))
      oldest = &each;
  if (oldest != nullptr)
    shut(*oldest, "it was not let in, and few descriptors are left");
}

bool ConnectionGuard::strangers_are_known() const {
  return stranger_bytes_ <= kStrangerBytes;
}

// All strangers, and some of those that were let in: each look asks the kernel.
void ConnectionGuard::check() {
  const std::size_t turns = 1 + members_ / kMembersAtOnce;
  const std::size_t turn = ++looks_ % turns;
  std::size_t member = 0;
  std::uint64_t of_strangers = 0;
  strangers_ = 0;
  for (auto at = connections_.begin(); at != connections_.end();) {
    Connection& connection = at->second;
    strangers_ += connection.limit == 0;
    if (connection.limit > 0 && member++ % turns != turn) {
      ++at;
      continue;
    }
    const auto seen = connection.bytes.look();
    if (!seen) {
      at = forget(at);
      continue;
    }
    ++at;
    note_flow(connection, seen->flow);
    const std::uint64_t limit =
        connection.limit > 0 ? connection.limit : stranger_bytes_;
    if (seen->ahead > limit)
      shut(connection, "it sent more than " + std::to_string(limit) +
                           " bytes of messages that are not whole");
    else if (connection.limit == 0 && !connection.over)
      of_strangers += seen->ahead;
    if (connection.limit == 0 && strangers_are_known() &&
        of_strangers > kStrangersBytes)
      shut(connection, "connections that were not let in sent more than " +
                           std::to_string(kStrangersBytes) +
                           " bytes of messages that are not whole");
  }
  members_ = member;
}

void ConnectionGuard::note_flow(const Connection& connection,
                                const ConnectionBytes::Flow& flow) {
  // Strangers are nobody's concern, only those that were let in.
  if (connection.limit == 0 || connection.peer.empty()) return;
  if (!flow.in && !flow.out) return;
  ConnectionBytes::Flow& all = flows_[connection.peer];
  all.in = all.in || flow.in;
  all.out = all.out || flow.out;
}

// After a message that cannot be decrypted libzmq neither reads on nor closes
// (4.3.4), and does not say of whom it was: what comes next stays where it is.
// Nothing may, where the peer gives up first.
void ConnectionGuard::expect_dead() {
  constexpr int kLooksAtAll = 1500;  // half a minute
  looks_for_dead_ = kLooksAtAll;
  for (auto& [fd, each] : connections_) each.dead = 0;
}

void ConnectionGuard::find_dead() {
  constexpr int kLooks = 10;
  --looks_for_dead_;
  for (auto& [fd, each] : connections_) {
    each.dead = each.bytes.stands() ? each.dead + 1 : 0;
    if (each.dead >= kLooks)
      shut(each, "it sent a message that cannot be decrypted");
  }
}

// why: "" is not told.
void ConnectionGuard::shut(Connection& connection, const std::string& why) {
  if (connection.over) return;
  connection.over = true;
  if (connection.bytes.shut() && !why.empty())
    ended_.push_back({connection.peer, connection.who, why});
}

// Connections that we shut were reported then.
ConnectionGuard::Connections::iterator ConnectionGuard::forget(
    Connections::iterator ended) {
  const Connection& connection = ended->second;
  if (!connection.over && !connection.peer.empty())
    ended_.push_back({connection.peer, connection.who, ""});
  return connections_.erase(ended);
}

bool ConnectionGuard::delivered(const Origin& origin, const std::string& peer,
                                std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  auto found = connections_.find(origin.fd);
  if (found == connections_.end()) {
    take_events();
    found = connections_.find(origin.fd);
  }
  const std::string name = name_if_good(origin.key);
  const bool good = !keys_ || origin.key.empty() || !name.empty();
  if (found == connections_.end()) return good;  // gone, or ipc:
  Connection& connection = found->second;
  connection.bytes.deliver(bytes);
  if (connection.peer != peer) {
    connection.peer = peer;
    connection.key = origin.key;
    if (good && keys_ && !origin.key.empty())
      connection.who += " (key " + name + ")";
  }
  if (!good) shut(connection, "its key was removed");
  return good;
}

ConnectionGuard::Connection* ConnectionGuard::find(const std::string& peer) {
  for (auto& [fd, connection] : connections_)
    if (connection.peer == peer) return &connection;
  return nullptr;
}

void ConnectionGuard::limit_strangers(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  stranger_bytes_ = bytes;
}

void ConnectionGuard::let_in(const std::string& peer, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (Connection* connection = find(peer)) connection->limit = bytes;
}

void ConnectionGuard::end(const std::string& peer, const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (Connection* connection = find(peer)) shut(*connection, why);
}

void ConnectionGuard::allow_only(std::map<std::string, std::string> keys) {
  const std::lock_guard lock(mutex_);
  for (const auto& [key, name] : keys_ ? *keys_ : keys)
    removed_ = removed_ || (!retired_.contains(key) && !keys.contains(key));
  keys_ = std::move(keys);
  take_events();
  for (auto& [fd, connection] : connections_)
    if (!connection.key.empty() && name_if_good(connection.key).empty())
      shut(connection,
           retired_.contains(connection.key) ? "" : "its key was removed");
}

void ConnectionGuard::allow_once(const std::string& key,
                                 const std::string& name) {
  const std::lock_guard lock(mutex_);
  once_[key] = name;
}

bool ConnectionGuard::is_once(const std::string& key) {
  const std::lock_guard lock(mutex_);
  return once_.contains(key) && !retired_.contains(key);
}

// With the lock.
std::string ConnectionGuard::name_if_good(const std::string& key) const {
  if (const auto found = once_.find(key); found != once_.end())
    return found->second;
  if (!keys_) return "";
  const auto found = keys_->find(key);
  return found == keys_->end() ? "" : found->second;
}

std::string ConnectionGuard::name_of(const std::string& key) {
  const std::lock_guard lock(mutex_);
  return name_if_good(key);
}

bool ConnectionGuard::retire(const std::string& key) {
  const std::lock_guard lock(mutex_);
  retired_.insert(key);
  return once_.contains(key);
}

bool ConnectionGuard::take_removed() {
  const std::lock_guard lock(mutex_);
  return std::exchange(removed_, false);
}

std::vector<ConnectionGuard::Ended> ConnectionGuard::take_ended() {
  const std::lock_guard lock(mutex_);
  return std::exchange(ended_, {});
}

ConnectionGuard::Flows ConnectionGuard::take_flows() {
  const std::lock_guard lock(mutex_);
  return std::exchange(flows_, {});
}

std::uint64_t ConnectionGuard::failed_handshakes() {
  const std::lock_guard lock(mutex_);
  return failed_;
}

}  // namespace dl::cluster
