// Sockets between one process's own ends: messages, queues, versions, foreign
// bytes, keys, and the sentences for what libzmq does not say.

#include "libcore/cluster/transport.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <zmq.hpp>

#include "libcore/base/philox.h"
#include "libcore/cluster/security/keys.h"

using namespace dl;
using namespace dl::cluster;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

const std::string kAny = "tcp://127.0.0.1:0";

struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "dl-wire-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  std::string operator/(const std::string& name) const {
    return (path / name).string();
  }
};

struct Lines {
  std::vector<std::string> lines;
  Log sink() {
    return [this](Level, const std::string& line) { lines.push_back(line); };
  }
  bool has(const std::string& text) const {
    for (const std::string& line : lines)
      if (line.find(text) != std::string::npos) return true;
    return false;
  }
};

Message beat(std::uint64_t progress) {
  return Beat{progress, 0, "test"}.to_message();
}

// Both ends turn in this one thread until `done`, at most 20 s.
template <typename Done>
bool turn(const Done& done) {
  auto end = std::chrono::steady_clock::now() + 20s;
  while (std::chrono::steady_clock::now() < end)
    if (done()) return true;
  return false;
}

// The next message at the master while the worker turns too.
RouterSocket::Incoming next(RouterSocket& master, DealerSocket& worker) {
  std::optional<RouterSocket::Incoming> got;
  REQUIRE(turn([&] {
    worker.receive(0ms);
    got = master.receive(10ms);
    return got.has_value();
  }));
  return *got;
}

Received next(DealerSocket& worker, RouterSocket& master) {
  std::optional<Received> got;
  REQUIRE(turn([&] {
    master.receive(0ms);
    got = worker.receive(10ms);
    return got.has_value();
  }));
  return std::move(*got);
}

// The peer's id, once it has said something.
std::string meet(RouterSocket& master, DealerSocket& worker) {
  REQUIRE(turn([&] { return worker.send(beat(0), {}, 10ms); }));
  return next(master, worker).peer;
}

// What a worker that tries to connect ends with.
std::string end_of(RouterSocket& master, DealerSocket& worker) {
  std::string text;
  turn([&] {
    master.receive(0ms);
    try {
      worker.receive(10ms);
      return worker.connected();
    } catch (const Error& error) {
      CHECK(error.code() == Code::kNotAuthorised);
      text = error.what();
      return true;
    }
  });
  return text;
}

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

TEST_CASE("messages go both ways, over tcp and ipc") {
  Folder folder;
  for (const std::string& where : {kAny, "ipc://" + folder / "socket"}) {
    RouterSocket master(where, {}, {});
    INFO(master.endpoint());
    CHECK(master.endpoint().rfind(where.substr(0, where.size() - 2), 0) == 0);
    CHECK(master.endpoint() != kAny);
    DealerSocket worker(master.endpoint(), {}, {});
    CHECK_FALSE(worker.connected());
    std::string peer = meet(master, worker);
    CHECK(worker.connected());
    CHECK(worker.status() == "connected");

    Envelope envelope{std::string(32, 'a'), 4, 2, 9, kProtocolVersion};
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

TEST_CASE("a public address wants keys, or to hear --insecure") {
  for (const char* where : {"tcp://*:0", "tcp://0.0.0.0:0"}) {
    try {
      RouterSocket master(where, {}, {});
      FAIL("was bound");
    } catch (const Error& error) {
      CHECK(error.code() == Code::kUsage);
      CHECK_THAT(error.what(), Contains("--insecure"));
    }
  }
  RouterSocket master("tcp://*:0", {"", true}, {});
  CHECK(master.endpoint().rfind("tcp://", 0) == 0);
  CHECK_THAT(master.endpoint(), !Contains("*") && !Contains("[::]"));
  CHECK_THROWS_AS(DealerSocket("tcp://example.org:7", {}, {}), Error);
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

  Folder folder;
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
  CHECK(refuse.reason == "worker speaks protocol 3, this master 1");
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

TEST_CASE("keys: who has the right ones talks") {
  Folder folder;
  make_keys(folder / "a", {"w1", "w2"}, false);
  RouterSocket master(kAny, {folder / "a", false}, {});
  CHECK(master.public_key().size() == 40);
  for (const char* name : {"w1", "w2"}) {
    DealerSocket worker(master.endpoint(),
                        {folder / "a/hand-out/" + name, false}, {});
    meet(master, worker);
  }
  // One that is added later is let in without a new start.
  make_keys(folder / "a", {"w3"}, false);
  DealerSocket late(master.endpoint(), {folder / "a/hand-out/w3", false}, {});
  meet(master, late);
  CHECK(master.dropped() == 0);
}

TEST_CASE("keys: every wrong pair ends with its sentence") {
  Folder folder;
  make_keys(folder / "a", {"w"}, false);
  make_keys(folder / "b", {"w"}, false);
  Lines log;
  RouterSocket locked(kAny, {folder / "a", false}, log.sink());
  RouterSocket open(kAny, {}, {});
  Security right{folder / "a/hand-out/w", false};
  Security wrong{folder / "b/hand-out/w", false};
  {
    DealerSocket worker(locked.endpoint(), wrong, {});
    CHECK_THAT(end_of(locked, worker), Contains("server key does not match"));
  }
  {
    DealerSocket worker(locked.endpoint(), {}, {});
    CHECK_THAT(end_of(locked, worker), Contains("the master wants keys"));
  }
  {
    DealerSocket worker(open.endpoint(), right, {});
    CHECK_THAT(end_of(open, worker), Contains("the master uses no keys"));
  }
  // The right server key, but a worker that is not on the list.
  fs::copy_file(folder / "a/server.pub", folder / "b/hand-out/w/server.pub",
                fs::copy_options::overwrite_existing);
  DealerSocket worker(locked.endpoint(), wrong, {});
  CHECK_THAT(end_of(locked, worker), Contains("does not know this worker"));
  CHECK(log.has("is not in"));
  DealerSocket good(locked.endpoint(), right, {});
  meet(locked, good);
}

TEST_CASE("key files: modes, damage, names, and nothing is overwritten") {
  Folder folder;
  auto files = make_keys(folder / "k", {"n1"}, false);
  CHECK(files.size() == 5);
  auto mode = [&](const std::string& name) {
    return static_cast<int>(fs::status(folder / name).permissions());
  };
  CHECK(mode("k/server.key") == 0600);
  CHECK(mode("k/hand-out/n1/worker.key") == 0600);
  CHECK(read_server_keys(folder / "k").public_key ==
        read_worker_keys(folder / "k/hand-out/n1").server);
  auto allowed = read_allowed_keys(folder / "k");
  CHECK(allowed.at(read_worker_keys(folder / "k/hand-out/n1").own.public_key) ==
        "n1");

  KeyPair before = read_server_keys(folder / "k");
  CHECK_THROWS_WITH(make_keys(folder / "k", {}, false),
                    Contains("exists; --force replaces it"));
  CHECK_THROWS_AS(make_keys(folder / "k", {"n2", "n1"}, false), Error);
  CHECK_FALSE(fs::exists(folder / "k/hand-out/n2"));
  make_keys(folder / "k", {"n1"}, true);  // the worker's alone
  CHECK(read_server_keys(folder / "k").secret_key == before.secret_key);
  make_keys(folder / "k", {}, true);
  CHECK(read_server_keys(folder / "k").secret_key != before.secret_key);
  for (const char* bad : {"", "..", "a/b", "-x", "a b", ".hidden"})
    CHECK_THROWS_AS(make_keys(folder / "k", {bad}, false), Error);

  auto refused = [&](const std::string& why) {
    try {
      RouterSocket master(kAny, {folder / "k", false}, {});
      FAIL("was accepted");
    } catch (const Error& error) {
      CHECK(error.code() == Code::kNotAuthorised);
      CHECK_THAT(error.what(), Contains(why));
    }
  };
  fs::permissions(folder / "k/server.key", fs::perms(0640));
  refused("chmod 600");
  fs::permissions(folder / "k/server.key", fs::perms(0600));
  std::ofstream(folder / "k/workers/n1.pub") << "too short\n";
  refused("n1.pub");
  std::ofstream(folder / "k/server.key") << std::string(40, '"') << '\n';
  refused("Z85");
  fs::remove(folder / "k/server.key");
  refused("No such file");
}
