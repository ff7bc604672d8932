// The memory that one connection can make the other end hold, and its limit.

#include <poll.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <thread>

#include "libcore/cluster/transport/security/keys.h"
#include "libcore/cluster/transport/transport.h"
#include "tests/unit/cluster/transport/raw_peer.h"
#include "tests/unit/cluster/transport/transport_ends.h"

namespace dl::cluster::transport_guard_test {

using namespace ends;
using Catch::Contains;

namespace {

Message hello() {
  Hello hello;
  hello.name = "w";
  return hello.to_message();
}

// Sends a message without an end until that is stopped; returns its bytes.
std::uint64_t flood(RawPeer& peer, RouterSocket& master, std::size_t frame,
                    std::string* why) {
  const std::vector<std::byte> piece(frame);
  constexpr std::uint64_t kEnough = std::uint64_t{2} << 30;
  std::uint64_t sent = 0;
  REQUIRE(turn([&] {
    for (int i = 0; i < 4 && sent < kEnough; ++i)
      if (frame > 0 ? peer.frame(piece, true) : peer.empty_frames(1 << 16))
        sent += frame > 0 ? frame : 2 << 16;
    master.receive(0ms);
    for (const RouterSocket::Ended& ended : master.take_ended())
      *why = ended.why;
    return !why->empty() || sent >= kEnough;
  }));
  return sent;
}

// A master of our own, and who comes to it.
struct Listener {
  int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  Listener() {
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    REQUIRE(::bind(fd, any, size) == 0);
    REQUIRE(::getsockname(fd, any, &size) == 0);
    REQUIRE(::listen(fd, 1) == 0);
  }
  ~Listener() { ::close(fd); }
  std::string endpoint() const {
    return "tcp://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
};

// Stands between a worker and a master, and changes the last byte of what comes
// next where it is told to.
class BadLine {
 public:
  explicit BadLine(const std::string& master)
      : far_(connected(master)), thread_([this] { pass(); }) {}
  ~BadLine() {
    over_ = true;
    thread_.join();
    for (const int fd : {near_, far_}) ::close(fd);
  }
  std::string endpoint() const { return listener_.endpoint(); }
  std::atomic<bool> damage_up = false, damage_down = false;

 private:
  static int connected(const std::string& master) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(
        std::stoi(master.substr(master.rfind(':') + 1))));
    REQUIRE(::connect(fd, reinterpret_cast<const sockaddr*>(&address),
                      sizeof address) == 0);
    return fd;
  }
  void pass() {
    near_ = ::accept(listener_.fd, nullptr, nullptr);
    while (!over_) {
      pollfd both[] = {{near_, POLLIN, 0}, {far_, POLLIN, 0}};
      if (::poll(both, 2, 10) <= 0) continue;
      if (both[0].revents != 0 && !pass(near_, far_, damage_up)) return;
      if (both[1].revents != 0 && !pass(far_, near_, damage_down)) return;
    }
  }
  static bool pass(int from, int to, std::atomic<bool>& damage) {
    std::array<char, 65536> bytes;
    const ssize_t n = ::recv(from, bytes.data(), bytes.size(), 0);
    if (n <= 0) {
      ::shutdown(to, SHUT_RDWR);
      return false;
    }
    if (damage.exchange(false)) bytes[static_cast<std::size_t>(n) - 1] ^= 1;
    return ::send(to, bytes.data(), static_cast<std::size_t>(n),
                  MSG_NOSIGNAL) == n;
  }

  const Listener listener_;
  int near_ = -1, far_;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

// The message with its last byte changed.
bool send_damaged(RawPeer& peer, const Message& message) {
  Frames frames = encode(message, {}, kMaxFrame);
  frames.back().back() ^= std::byte{1};
  for (std::size_t i = 0; i < frames.size(); ++i)
    if (!peer.frame(frames[i], i + 1 < frames.size())) return false;
  return true;
}

}  // namespace

TEST_CASE("a message without an end ends its connection") {
  Lines log;
  RouterSocket master(kAny, {}, log.sink());
  const Sizes sizes{.parameters = 1000, .updater_state = 2000};
  master.expect({.from = kFromWorker, .sizes = sizes, .greets = true});
  RawPeer peer(master.endpoint());
  REQUIRE(peer.message(hello(), {}));
  std::optional<RouterSocket::Incoming> got;
  REQUIRE(turn([&] { return (got = master.receive(10ms)).has_value(); }));
  if (GENERATE(false, true)) master.let_in(got->peer);
  std::string why;
  const std::uint64_t sent = flood(peer, master, GENERATE(0, kMaxFrame), &why);
  CHECK_THAT(why, Contains("bytes of messages that are not whole"));
  // Kernel buffers and 20 ms of a loopback line.
  CHECK(sent < (std::uint64_t{512} << 20));
  CHECK(log.has("ended the connection of 127.0.0.1:"));
  // Others are served on.
  DealerSocket worker(master.endpoint(), {}, {});
  REQUIRE(turn([&] { return worker.send(hello(), {}, 10ms); }));
  CHECK(next(master, worker).received.message.type == MessageType::kHello);
}

TEST_CASE("of many peers that were let in, none is overlooked") {
  Lines log;
  RouterSocket master(kAny, {}, log.sink());
  const Sizes sizes{.parameters = 1000, .updater_state = 2000};
  master.expect({.from = kFromWorker, .sizes = sizes, .greets = true});
  std::vector<std::unique_ptr<RawPeer>> peers;
  for (int i = 0; i < 90; ++i) {
    peers.push_back(std::make_unique<RawPeer>(master.endpoint()));
    REQUIRE(peers.back()->message(hello(), {}));
    std::optional<RouterSocket::Incoming> got;
    REQUIRE(turn([&] { return (got = master.receive(10ms)).has_value(); }));
    master.let_in(got->peer);
  }
  for (const std::size_t i : {0, 1, 44, 89}) {
    std::string why;
    flood(*peers[i], master, kMaxFrame, &why);
    CHECK_THAT(why, Contains("bytes of messages that are not whole"));
  }
}

TEST_CASE("a master's message without an end loses the connection") {
  const Listener listener;
  DealerSocket worker(listener.endpoint(), {}, {});
  constexpr std::uint64_t kMost = 8 << 20;
  worker.expect({.from = kFromMaster, .most = kMost});
  RawPeer master(::accept(listener.fd, nullptr, nullptr));
  const std::vector<std::byte> piece(1 << 16);
  std::uint64_t sent = 0;
  REQUIRE(turn([&] {
    if (master.frame(piece, true)) sent += piece.size();
    worker.receive(0ms);
    return worker.lost();
  }));
  CHECK_THAT(worker.damage(), Contains("a message of more than 8388608 bytes"));
  CHECK(worker.status() == worker.damage());
  CHECK(sent > kMost);
  CHECK(sent < 8 * kMost);  // the kernel has buffers, too
}

TEST_CASE("a master's damaged message loses the connection") {
  const Listener listener;
  DealerSocket worker(listener.endpoint(), {}, {});
  RawPeer master(::accept(listener.fd, nullptr, nullptr));
  REQUIRE(send_damaged(master, beat(1)));
  REQUIRE(master.message(beat(2), {}));  // of the same connection
  REQUIRE(turn([&] {
    CHECK_FALSE(worker.receive(10ms));
    return worker.lost();
  }));
  CHECK_FALSE(worker.connected());
  CHECK_THAT(worker.damage(), Contains("checksum of a message differs"));
}

TEST_CASE("keys: a malformed handshake loses the connection") {
  const Listener listener;
  const WorkerKeys keys{make_key_pair().public_key, make_key_pair()};
  DealerSocket worker(listener.endpoint(), {.given = keys}, {});
  const int master = ::accept(listener.fd, nullptr, nullptr);
  std::string greeting = std::string("\xff\0\0\0\0\0\0\0\1\x7f\3\0CURVE", 17);
  greeting.resize(64);
  greeting += std::string("\4\x09\x07WELCOMF\0", 11);
  REQUIRE(::send(master, greeting.data(), greeting.size(), MSG_NOSIGNAL) > 0);
  CHECK(turn([&] {
    CHECK_FALSE(worker.receive(10ms));
    return worker.lost();
  }));
  ::close(master);
}

TEST_CASE("a damaged message ends its connection, a foreign one a worker's") {
  RouterSocket master(kAny, {}, {});
  master.expect({.from = kFromWorker, .greets = true});
  RawPeer peer(master.endpoint());
  const bool let_in = GENERATE(false, true);
  std::string id;
  if (let_in) {
    REQUIRE(peer.message(hello(), {}));
    REQUIRE(turn([&] {
      if (const auto got = master.receive(10ms)) master.let_in(id = got->peer);
      return !id.empty();
    }));
  }
  const bool foreign = GENERATE(false, true);
  const std::vector<std::byte> bytes(10);
  REQUIRE((foreign ? peer.frame(bytes, false) : send_damaged(peer, hello())));
  std::vector<RouterSocket::Ended> ended;
  REQUIRE(turn([&] {
    CHECK_FALSE(master.receive(10ms));
    for (auto& each : master.take_ended()) ended.push_back(std::move(each));
    return master.dropped() == 1;
  }));
  CHECK_FALSE(master.receive(10ms));
  for (auto& each : master.take_ended()) ended.push_back(std::move(each));
  REQUIRE(ended.size() == (foreign && !let_in ? 0 : 1));
  if (ended.empty()) return;
  CHECK_THAT(ended[0].why,
             Contains(foreign ? "foreign bytes" : "checksum of a message"));
  if (let_in) CHECK(ended[0].peer == id);
}

TEST_CASE("who sends whole messages is never ended, however many wait") {
  RouterSocket master(kAny, {}, {});
  const Sizes sizes{.parameters = 100'000};
  master.expect({.from = kFromWorker, .sizes = sizes, .greets = true});
  DealerSocket worker(master.endpoint(), {}, {});
  REQUIRE(turn([&] { return worker.send(hello(), {}, 10ms); }));
  master.let_in(next(master, worker).peer);
  Update update;
  update.payload.resize(200'000);
  constexpr int kUpdates = 2000;  // 400 MB
  int sent = 0, received = 0;
  REQUIRE(turn([&] {
    while (sent < kUpdates && worker.send(update.to_message(), {}, 0ms)) ++sent;
    // A slow reader: the rest waits with the worker.
    if (master.receive(1ms)) ++received;
    return received == kUpdates;
  }));
  CHECK(master.take_ended().empty());
  CHECK(master.dropped() == 0);
}

TEST_CASE("a peer may die while its messages wait") {
  RouterSocket master(kAny, {}, {});
  DealerSocket other(master.endpoint(), {}, {});
  {
    RawPeer peer(master.endpoint());
    for (int i = 0; i < 100 * kMessagesHeld; ++i)
      REQUIRE(peer.message(beat(i), {}));
    const linger reset{.l_onoff = 1, .l_linger = 0};
    REQUIRE(::setsockopt(peer.descriptor(), SOL_SOCKET, SO_LINGER, &reset,
                         sizeof reset) == 0);
  }
  // Not long, but longer than any timer of libzmq for a connection like that:
  // its heartbeats' abort in the state that this is (4.3.4).
  CHECK_FALSE(other.receive(3s));
  REQUIRE(turn([&] { return other.send(hello(), {}, 10ms); }));
  REQUIRE(turn([&] {
    const auto got = master.receive(10ms);
    return got && got->received.message.type == MessageType::kHello;
  }));
}

TEST_CASE("a peer that ends its connection is told of, without a reason") {
  RouterSocket master(kAny, {}, {});
  std::string id;
  {
    DealerSocket worker(master.endpoint(), {}, {});
    REQUIRE(turn([&] { return worker.send(hello(), {}, 10ms); }));
    id = next(master, worker).peer;
    CHECK(master.take_ended().empty());
  }
  std::vector<RouterSocket::Ended> ended;
  REQUIRE(turn([&] {
    CHECK_FALSE(master.receive(10ms));
    for (auto& each : master.take_ended()) ended.push_back(std::move(each));
    return !ended.empty();
  }));
  CHECK(ended[0].peer == id);
  CHECK(ended[0].why.empty());
}

TEST_CASE("before it is let in, a peer is heard with its Hello only") {
  RouterSocket master(kAny, {}, {});
  const Sizes sizes{.parameters = 1000};
  master.expect({.from = kFromWorker, .sizes = sizes, .greets = true});
  DealerSocket worker(master.endpoint(), {}, {});
  REQUIRE(turn([&] { return worker.send(beat(7), {}, 10ms); }));
  const auto early = next(master, worker);
  CHECK(early.received.message.type == MessageType::kBeat);
  CHECK(early.received.message.body.is_null());
  master.let_in(early.peer);
  REQUIRE(turn([&] { return worker.send(beat(8), {}, 10ms); }));
  CHECK(Beat::from_message(next(master, worker).received.message).progress ==
        8);
  // Messages that only a master sends, or that are too long for the network.
  Update update;
  update.payload.resize(200'000);
  const bool foreign = GENERATE(false, true);
  REQUIRE(
      worker.send(foreign ? Stop{}.to_message() : update.to_message(), {}, 1s));
  std::vector<RouterSocket::Ended> ended;
  REQUIRE(turn([&] {
    CHECK_FALSE(master.receive(1ms));
    for (auto& each : master.take_ended()) ended.push_back(std::move(each));
    worker.receive(0ms);
    return worker.lost();
  }));
  CHECK(master.dropped() == 1);
  REQUIRE(ended.size() == 1);
  CHECK_THAT(ended[0].why, Contains(foreign ? "Stop" : "Update"));
}

TEST_CASE("keys: what cannot be decrypted ends the connection, either way") {
  Scratch folder;
  Lines log;
  make_keys(folder / "k", {"a"}, false);
  RouterSocket master(kAny, {folder / "k", false}, log.sink());
  BadLine line(master.endpoint());
  DealerSocket worker(line.endpoint(), {folder / "k/hand-out/a", false}, {});
  const std::string peer = meet(master, worker);
  const bool up = GENERATE(true, false);
  (up ? line.damage_up : line.damage_down) = true;
  REQUIRE(turn([&] {
    if (up)
      worker.send(beat(1), {}, 1ms);
    else
      master.send(peer, Stop{}.to_message(), {});
    worker.receive(1ms);
    master.receive(1ms);
    return worker.lost();
  }));
  if (up) {
    CHECK(log.has("(key a): it sent a message that cannot be decrypted"));
  } else {
    CHECK(worker.damage() == "a message that cannot be decrypted");
  }
}

TEST_CASE("keys: one that is removed ends its connection, and the way back") {
  Scratch folder;
  Lines log;
  make_keys(folder / "k", {"a", "b"}, false);
  RouterSocket master(kAny, {folder / "k", false}, log.sink());
  const Security with_a{folder / "k/hand-out/a", false};
  DealerSocket a(master.endpoint(), with_a, {});
  DealerSocket b(master.endpoint(), {folder / "k/hand-out/b", false}, {});
  const std::string peer = meet(master, a);
  meet(master, b);
  std::filesystem::remove(folder / "k/workers/a.pub");
  std::vector<RouterSocket::Ended> ended;
  REQUIRE(turn([&] {
    master.receive(10ms);
    for (auto& each : master.take_ended()) ended.push_back(each);
    return !ended.empty();
  }));
  CHECK(ended.size() == 1);
  CHECK(ended[0].peer == peer);
  CHECK(ended[0].why == "its key was removed");
  CHECK(log.has("(key a): its key was removed"));
  DealerSocket again(master.endpoint(), with_a, {});
  CHECK_THAT(end_of(master, again),
             Contains("does not know this worker's key"));
  CHECK(log.has("refused 127.0.0.1: its key "));
  meet(master, b);
}

TEST_CASE("what waits for a slow peer of the feed can be taken back") {
  RouterSocket master(kAny, {}, {});
  DealerSocket worker(master.endpoint(), {}, {});
  const std::string peer = meet(master, worker);
  CHECK(master.idle(peer));
  Apply apply;
  apply.payload.resize(std::size_t{16} << 20);
  const Message message = apply.to_message();
  Envelope of_feed;
  of_feed.feed = 1;
  int sent = 0;
  while (sent < 100 && master.send(peer, message, of_feed)) ++sent;
  CHECK(sent < 100);
  CHECK_FALSE(master.idle(peer));
  REQUIRE_FALSE(master.send(peer, message, of_feed));
  master.forget_feed(peer);
  CHECK(master.idle(peer));
  REQUIRE(master.send(peer, Stop{}.to_message(), {}));
  int received = 0;
  while (next(worker, master).message.type != MessageType::kStop) ++received;
  CHECK(received < sent);
}

TEST_CASE("a long message that is on its way is seen at both ends") {
  const Sizes sizes{.parameters = 4 << 20};
  RouterSocket master(kAny, {}, {});
  DealerSocket worker(master.endpoint(), {}, {});
  expect_all(master, worker, sizes);
  REQUIRE(turn([&] { return worker.send(Hello().to_message(), {}, 10ms); }));
  const std::string peer = next(master, worker).peer;
  master.let_in(peer);
  CHECK(master.take_flows().empty());
  CHECK_FALSE(worker.flowed());
  Result result;
  result.delta.resize(sizes.parameters * sizeof(float));
  REQUIRE(worker.send(result.to_message(), {}, 1000ms));
  // It is not received; a thread looks at the connection.
  ConnectionGuard::Flows flows;
  REQUIRE(turn([&] {
    worker.receive(1ms);
    flows = master.take_flows();
    return flows.contains(peer) && flows[peer].in;
  }));
  CHECK(flows.size() == 1);
  REQUIRE(turn([&] {
    worker.receive(1ms);
    return worker.flowed();
  }));
  next(master, worker);
  // The way back.
  State state;
  state.parameters.resize(sizes.parameters);
  REQUIRE(master.send(peer, state.to_message(), {}));
  REQUIRE(turn([&] {
    flows = master.take_flows();
    return flows.contains(peer) && flows[peer].out;
  }));
}

}  // namespace dl::cluster::transport_guard_test
