// Sockets between one process's own ends: messages, queues, versions, foreign
// bytes, and the sentences for what libzmq does not say.

#include "libcore/cluster/transport/transport.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <vector>
#include <zmq.hpp>

#include "libcore/base/philox.h"
#include "libcore/cluster/transport/addresses.h"
#include "tests/unit/cluster/transport/transport_ends.h"
#include "tests/unit/error_of.h"

namespace dl::cluster::transport_test {

using namespace ends;
using Catch::Contains;
using Catch::Matchers::EndsWith;

namespace {

// A plain TCP connection to a tcp:// endpoint on this host.
int plain_connection(const std::string& endpoint) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(
      std::stoi(endpoint.substr(endpoint.rfind(':') + 1))));
  REQUIRE(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) ==
          0);
  return fd;
}

}  // namespace

TEST_CASE("an ipc address whose listener takes nobody up is in use") {
  const Scratch folder;
  const std::string file = folder / "socket";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  REQUIRE(file.size() < sizeof address.sun_path);
  std::ranges::copy(file, address.sun_path);
  const auto* to = reinterpret_cast<const sockaddr*>(&address);
  std::vector<int> all{socket(AF_UNIX, SOCK_STREAM, 0)};
  REQUIRE(bind(all[0], to, sizeof address) == 0);
  REQUIRE(listen(all[0], 0) == 0);
  do {
    all.push_back(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0));
  } while (connect(all.back(), to, sizeof address) == 0);
  REQUIRE(errno == EAGAIN);
  CHECK(error_of([&] { RouterSocket("ipc://" + file, {}, {}); }) ==
        "69: cannot bind ipc://" + file + ": Address already in use");
  for (const int fd : all) close(fd);
}

TEST_CASE("messages go both ways, over tcp and ipc") {
  Scratch folder;
  for (const std::string& where :
       {kAny, std::string("tcp://127.0.0.1:*"), "ipc://" + folder / "socket"}) {
    RouterSocket master(where, {}, {});
    INFO(master.endpoint());
    CHECK(master.endpoint().rfind(where.substr(0, where.size() - 2), 0) == 0);
    CHECK_THAT(master.endpoint(), !EndsWith(":0") && !EndsWith("*"));
    DealerSocket worker(master.endpoint(), {}, {});
    CHECK_FALSE(worker.connected());
    std::string peer = meet(master, worker);
    CHECK(worker.connected());
    CHECK(worker.status() == "connected");

    Envelope envelope{std::string(32, 'a'), 4, 2, 9, 0, kProtocolVersion};
    State state;
    state.version = 5;
    state.parameters.assign(1'500'000, 0.25F);  // six frames
    REQUIRE(master.send(peer, state.to_message(), envelope));
    Received received = next(worker, master);
    CHECK(received.envelope.run == envelope.run);
    CHECK(received.envelope.sequence == 9);
    CHECK(State::from_message(received.message).parameters == state.parameters);
    CHECK(master.bytes_out() > 6'000'000);
    CHECK(worker.bytes_in() == master.bytes_out());
    CHECK(master.bytes_in() == worker.bytes_out());
    CHECK(master.dropped() == 0);
  }
}

TEST_CASE("a connection that is lost leaves whole messages, however long") {
  zmq::context_t context;
  zmq::socket_t master(context, zmq::socket_type::router);
  master.bind("tcp://127.0.0.1:*");
  DealerSocket worker(master.get(zmq::sockopt::last_endpoint), {}, {});
  REQUIRE(worker.send(beat(0), {}, 20s));
  zmq::message_t peer;
  REQUIRE(master.recv(peer));
  constexpr int kFrames = 1000;  // libzmq looks about after each hundred
  REQUIRE(master.send(peer, zmq::send_flags::sndmore));
  for (int i = 0; i < kFrames; ++i)
    REQUIRE(master.send(zmq::str_buffer("frame"), i + 1 < kFrames
                                                      ? zmq::send_flags::sndmore
                                                      : zmq::send_flags::none));
  master.close();
  context.close();  // when all is sent
  const auto message = std::make_shared<const Message>(beat(1));
  REQUIRE(turn([&] {
    worker.offer(message, {});
    return worker.lost();
  }));
  CHECK_THROWS_WITH(worker.receive(0ms), Contains("127.0.0.1"));
  CHECK_FALSE(worker.receive(0ms));
}

TEST_CASE("a name that has addresses of both kinds is reached") {
  for (const char* bound : {"tcp://localhost:0", "tcp://127.0.0.1:0"}) {
    RouterSocket master(bound, {}, {});
    std::string port = master.endpoint().substr(master.endpoint().rfind(':'));
    INFO(master.endpoint());
    DealerSocket worker("tcp://localhost" + port, {}, {});
    meet(master, worker);
  }
  RouterSocket open("tcp://*:0", {"", true}, {});
  std::string port = open.endpoint().substr(open.endpoint().rfind(':'));
  for (const char* host : {"tcp://localhost", "tcp://127.0.0.1"}) {
    DealerSocket worker(host + port, {}, {});
    meet(open, worker);
  }
  // By this host's own name, where the machine can look that up.
  const std::string named = open.endpoint().substr(std::strlen("tcp://"));
  if (Addresses(named).first() == nullptr) return;
  DealerSocket by_name(open.endpoint(), {"", true}, {});
  meet(open, by_name);
}

TEST_CASE("a port in use, and addresses that are none") {
  RouterSocket master(kAny, {}, {});
  std::string endpoint = master.endpoint();
  try {
    RouterSocket second(endpoint, {}, {});
    FAIL("bound twice");
  } catch (const Error& error) {
    CHECK(error.code() == Code::kUnavailable);
    CHECK(error.what() ==
          "cannot bind " + endpoint + ": Address already in use");
  }
  for (const char* bad :
       {"tcp://127.0.0.1", "tcp://127.0.0.1:x", "ipc", "http://127.0.0.1:1"}) {
    INFO(bad);
    Security insecure{"", true};
    CHECK_THROWS_AS(RouterSocket(bad, insecure, {}), Error);
    CHECK_THROWS_AS(DealerSocket(bad, insecure, {}), Error);
  }
}

TEST_CASE("every peer gets what it is sent, and a lost one is known") {
  RouterSocket master(kAny, {}, {});
  DealerSocket stays(master.endpoint(), {}, {});
  std::string peer = meet(master, stays);
  std::string lost;
  {
    DealerSocket goes(master.endpoint(), {}, {});
    lost = meet(master, goes);
    CHECK(lost != peer);
  }
  CHECK(turn([&] {
    master.receive(10ms);
    return !master.send(lost, beat(1), {});
  }));
  CHECK_FALSE(master.send("nobody", beat(1), {}));
  REQUIRE(master.send(peer, beat(2), {}));
  CHECK(Beat::from_message(next(stays, master).message).progress == 2);
}

TEST_CASE("a slow peer's messages wait, in order and within the limit") {
  RouterSocket master(kAny, {}, {});
  DealerSocket worker(master.endpoint(), {}, {});
  std::string peer = meet(master, worker);
  State state;
  state.parameters.assign(2'000'000, 1.0F);  // 8 MB
  std::uint64_t sent = 0;
  while (sent < 1000) {
    state.version = sent;
    if (!master.send(peer, state.to_message(), {})) break;
    ++sent;
  }
  // libzmq's queue and the sockets take some, ours kMaxQueued.
  CHECK(sent >= kMaxQueued / 8'000'100);
  CHECK(sent < 100);
  for (std::uint64_t i = 0; i < sent; ++i)
    REQUIRE(State::from_message(next(worker, master).message).version == i);
  REQUIRE(master.send(peer, beat(7), {}));
  CHECK(Beat::from_message(next(worker, master).message).progress == 7);
}

TEST_CASE("a worker without a master says why, and does not wait for ever") {
  std::string gone;
  {
    RouterSocket master(kAny, {}, {});
    gone = master.endpoint();
  }
  DealerSocket worker(gone, {}, {});
  CHECK_FALSE(worker.send(beat(1), {}, 20ms));
  CHECK_FALSE(worker.receive(20ms).has_value());
  CHECK_FALSE(worker.connected());
  CHECK(worker.status() == "connection refused");
  // The start order does not matter: the address comes to life.
  RouterSocket master(gone, {}, {});
  meet(master, worker);

  Scratch folder;
  CHECK(DealerSocket("ipc://" + folder / "no", {}, {}).status() ==
        "no such file or directory");
  CHECK(DealerSocket("tcp://no-such-host.invalid:7", {"", true}, {}).status() ==
        "name not found");
}

TEST_CASE("a descriptor that becomes readable ends a wait") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  RouterSocket master(kAny, {}, {});
  DealerSocket worker(master.endpoint(), {}, {});
  const int wake[] = {ends[0]};
  REQUIRE(write(ends[1], "x", 1) == 1);
  CHECK_FALSE(master.receive(1h, wake).has_value());
  CHECK_FALSE(worker.receive(1h, wake).has_value());
  close(ends[0]);
  close(ends[1]);
}

TEST_CASE("sockets of one thread wait together, and each ends the wait") {
  RouterSocket children(kAny, {}, {});
  RouterSocket master(kAny, {}, {});
  DealerSocket parent(master.endpoint(), {}, {});
  DealerSocket child(children.endpoint(), {}, {});
  const std::string peer = meet(master, parent);
  const std::string below = meet(children, child);
  const std::array<const Socket*, 2> both = {&children, &parent};
  // Events of connections may end a wait or two before the message does.
  auto wait_until = [&](const auto& received) {
    return turn([&] {
      CHECK(wait_for_any(both, {}, 1h));
      return received();
    });
  };
  REQUIRE(master.send(peer, beat(3), {}));
  CHECK(wait_until([&] { return parent.receive(0ms).has_value(); }));
  REQUIRE(child.send(beat(4), {}, 1h));
  CHECK(wait_until([&] { return children.receive(0ms).has_value(); }));

  int ends[2];
  REQUIRE(pipe(ends) == 0);
  REQUIRE(write(ends[1], "x", 1) == 1);
  CHECK_FALSE(wait_for_any(both, {ends, 1}, 1h));
  close(ends[0]);
  close(ends[1]);

  // A peer that takes nothing for a while: what is queued is soon tried again.
  State state;
  state.parameters.assign(2'000'000, 1.0F);
  while (children.waiting().most > 1h)
    REQUIRE(children.send(below, state.to_message(), {}));
  CHECK(wait_for_any(both, {}, 1h));
  CHECK(turn([&] {
    child.receive(0ms);
    children.receive(0ms);
    return children.waiting().most > 1h;
  }));
}

static std::ptrdiff_t threads_here() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                       {});
}

TEST_CASE("connections with one carrier have its threads, and live alone") {
  RouterSocket first(kAny, {}, {}), second(kAny, {}, {});
  std::optional<Carrier> carrier{Carrier()};
  DealerSocket stays(first.endpoint(), {}, {}, *carrier);
  meet(first, stays);
  const auto before = threads_here();
  std::optional<DealerSocket> goes(std::in_place, second.endpoint(), Security{},
                                   Log{}, *carrier);
  const std::string peer = meet(second, *goes);
  CHECK(threads_here() == before);
  // Its last words arrive, though the carrier goes on.
  State state;
  state.parameters.assign(2'000'000, 1.0F);
  REQUIRE(goes->send(state.to_message(), {}, 1h));
  goes.reset();
  CHECK(next(second, stays).received.message.type == MessageType::kState);
  CHECK(turn(
      [&] { return !second.receive(1ms) && !second.take_ended().empty(); }));
  carrier.reset();
  REQUIRE(stays.send(beat(7), {}, 1h));
  CHECK(next(first, stays).received.message.type == MessageType::kBeat);
}

TEST_CASE("sockets are looked at when something came, and then to its end") {
  RouterSocket master(kAny, {}, {});
  DealerSocket worker(master.endpoint(), {}, {});
  const std::string peer = meet(master, worker);
  const Socket* const both[] = {&master, &worker};
  const auto read_all = [&] {
    return turn([&] {
      while (worker.receive(0ms) || master.receive(0ms)) continue;
      wait_for_any(both, {}, 10ms);
      return !worker.receive(0ms) && !worker.waiting().unread &&
             !master.receive(0ms) && !master.waiting().unread;
    });
  };
  REQUIRE(read_all());

  // One of two waiting messages was received.
  REQUIRE(master.send(peer, beat(1), {}));
  REQUIRE(master.send(peer, beat(2), {}));
  CHECK(turn([&] { return worker.receive(1ms).has_value(); }));
  CHECK(turn([&] {
    CHECK(wait_for_any(std::span(both).last(1), {}, 1h));
    return worker.receive(0ms).has_value();
  }));
  REQUIRE(worker.send(beat(1), {}, 1h));
  REQUIRE(worker.send(beat(2), {}, 1h));
  CHECK(turn([&] { return master.receive(1ms).has_value(); }));
  CHECK(turn([&] {
    CHECK(wait_for_any(std::span(both).first(1), {}, 1h));
    return master.receive(0ms).has_value();
  }));

  // An event that send() has noted is not reported again.
  REQUIRE(read_all());
  REQUIRE(worker.send(beat(3), {}, 1h));
  CHECK(worker.waiting().unread);
  REQUIRE(master.send(peer, beat(3), {}));
  CHECK(master.waiting().unread);

  // None came as of a wait: there is no look, once.
  REQUIRE(read_all());
  worker.note(false);
  REQUIRE(master.send(peer, beat(4), {}));
  pollfd came{worker.waiting().descriptors[0], POLLIN, 0};
  REQUIRE(poll(&came, 1, 20'000) == 1);
  CHECK_FALSE(worker.receive(0ms));
  CHECK(worker.receive(0ms));
}

TEST_CASE("a worker of another version is refused in words it can read") {
  RouterSocket master(kAny, {}, {});
  DealerSocket worker(master.endpoint(), {}, {});
  Envelope other;
  other.protocol = 3;
  REQUIRE(turn([&] { return worker.send(beat(1), other, 10ms); }));
  Received received = next(worker, master);
  CHECK(received.envelope.protocol == 0);
  Refuse refuse = Refuse::from_message(received.message);
  CHECK(refuse.code == 76);
  CHECK(refuse.reason == "worker speaks protocol 3, this master 2");
  CHECK(master.dropped() == 1);
  meet(master, worker);  // and the master goes on
}

TEST_CASE("foreign bytes are counted, reported, and reach nobody") {
  Lines log;
  RouterSocket master(kAny, {}, log.sink());
  Philox random(5, 0);
  std::vector<int> connections;
  for (int i = 0; i < 60; ++i) {
    int fd = plain_connection(master.endpoint());
    std::string bytes = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    if (i % 3 != 0) {
      bytes.resize(1 + random.below(300));
      for (char& c : bytes) c = static_cast<char>(random());
    }
    REQUIRE(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) > 0);
    connections.push_back(fd);
  }
  // Foreign messages over the right transport, too.
  zmq::context_t context;
  zmq::socket_t dealer(context, zmq::socket_type::dealer);
  dealer.set(zmq::sockopt::linger, 0);
  dealer.connect(master.endpoint());
  for (int i = 0; i < 20; ++i)
    dealer.send(zmq::message_t(std::string("not a message")),
                zmq::send_flags::none);
  CHECK(turn([&] {
    REQUIRE_FALSE(master.receive(5ms).has_value());
    return master.dropped() >= 20;
  }));
  CHECK(log.has("foreign or damaged"));
  CHECK(log.lines.size() == 1);  // one a minute
  for (int fd : connections) close(fd);
  DealerSocket worker(master.endpoint(), {}, {});
  meet(master, worker);
}

}  // namespace dl::cluster::transport_test
