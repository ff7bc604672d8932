// Permission to connect: keys in files, a pair that all have, and none.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "libcore/cluster/transport/security/keys.h"
#include "libcore/cluster/transport/transport.h"
#include "tests/unit/cluster/transport/transport_ends.h"

namespace dl::cluster::transport_keys_test {

using namespace ends;
using Catch::Contains;
namespace fs = std::filesystem;

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
  RouterSocket locked("tcp://*:*", {.shared = make_key_pair()}, {});
  CHECK_THAT(locked.endpoint(), !Contains("*"));
  CHECK_THROWS_AS(DealerSocket("tcp://example.org:7", {}, {}), Error);
}

TEST_CASE("keys: who has the right ones talks") {
  Scratch folder;
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

TEST_CASE("keys: a message of many whole frames goes both ways") {
  Scratch folder;
  make_keys(folder / "a", {"w"}, false);
  RouterSocket master(kAny, {folder / "a", false}, {});
  DealerSocket worker(master.endpoint(), {folder / "a/hand-out/w", false}, {});
  const std::string peer = meet(master, worker);
  Record record;
  record.packed.assign(3 * kMaxFrame, std::byte{7});
  REQUIRE(master.send(peer, record.to_message(), {}));
  CHECK(next(worker, master).message.blobs.at(0) == record.packed);
  Result result;
  result.delta = record.packed;
  REQUIRE(turn([&] { return worker.send(result.to_message(), {}, 10ms); }));
  CHECK(next(master, worker).received.message.blobs.at(0) == result.delta);
}

TEST_CASE("keys: every wrong pair ends with its sentence") {
  Scratch folder;
  make_keys(folder / "a", {"w"}, false);
  make_keys(folder / "b", {"w"}, false);
  Lines log, said_openly;
  RouterSocket locked(kAny, {folder / "a", false}, log.sink());
  RouterSocket open(kAny, {}, said_openly.sink());
  Security right{folder / "a/hand-out/w", false};
  Security wrong{folder / "b/hand-out/w", false};
  {
    DealerSocket worker(locked.endpoint(), wrong, {});
    CHECK_THAT(end_of(locked, worker), Contains("server key does not match"));
    CHECK(turn([&] {
      (void)locked.receive(5ms);
      return log.has(
          "failed: broken off, or from a worker without --keys, or with those "
          "for");
    }));
  }
  {
    DealerSocket worker(locked.endpoint(), {}, {});
    CHECK_THAT(end_of(locked, worker), Contains("the master wants keys"));
  }
  {
    DealerSocket worker(open.endpoint(), right, {});
    CHECK_THAT(end_of(open, worker), Contains("the master uses no keys"));
    CHECK(turn([&] {
      (void)open.receive(5ms);
      return said_openly.has(
          "failed: broken off, or from a worker that uses --keys, as this");
    }));
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

TEST_CASE("keys: with good ones, a handshake that dies is no refusal") {
  Scratch folder;
  make_keys(folder / "a", {"w"}, false);
  make_keys(folder / "b", {"w"}, false);
  RouterSocket other(kAny, {folder / "a", false}, {});
  Security before{folder / "b/hand-out/w", false};
  before.proven = true;
  DealerSocket worker(other.endpoint(), before, {});
  CHECK(turn([&] {
    (void)worker.receive(5ms);
    return worker.lost();
  }));
}

// As a proxy does whose master is away: it accepts, and closes.
class ClosingDoor {
 public:
  ClosingDoor() {
    const int on = 1;
    setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    REQUIRE(::bind(fd_, any, size) == 0);
    REQUIRE(::listen(fd_, 8) == 0);
    REQUIRE(::getsockname(fd_, any, &size) == 0);
    endpoint_ = "tcp://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] {
      for (int one; (one = ::accept(fd_, nullptr, nullptr)) >= 0; ++closed_)
        ::close(one);
    });
  }
  ~ClosingDoor() {
    ::shutdown(fd_, SHUT_RDWR);
    thread_.join();
    ::close(fd_);
  }
  const std::string& endpoint() const { return endpoint_; }
  int closed() const { return closed_; }

 private:
  int fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::string endpoint_;
  std::atomic<int> closed_ = 0;
  std::thread thread_;
};

TEST_CASE("keys: a connection that ends before a greeting is no refusal") {
  Scratch folder;
  make_keys(folder / "a", {"w"}, false);
  auto door = std::make_unique<ClosingDoor>();
  const std::string endpoint = door->endpoint();
  DealerSocket worker(endpoint, {folder / "a/hand-out/w", false}, {});
  CHECK(turn([&] {
    (void)worker.receive(5ms);
    return door->closed() >= 12;
  }));
  CHECK_FALSE(worker.lost());
  door.reset();
  RouterSocket master(endpoint, {folder / "a", false}, {});
  meet(master, worker);
}

TEST_CASE("keys: the master has a moment to take its new one") {
  Scratch folder;
  make_keys(folder / "a", {"w"}, false);
  RouterSocket master(kAny, {folder / "a", false}, {});
  make_keys(folder / "a", {}, true);
  DealerSocket worker(master.endpoint(), {folder / "a/hand-out/w", false}, {});
  CHECK(turn([&] {
    (void)worker.receive(5ms);
    return master.dropped() >= 4;
  }));
  CHECK(turn([&] { return master.renew_server_key(); }));
  meet(master, worker);
}

TEST_CASE("keys: another server.key is bound to the same port") {
  Scratch folder;
  make_keys(folder / "a", {"w"}, false);
  RouterSocket master(kAny, {folder / "a", false}, {});
  const std::string endpoint = master.endpoint();
  const std::string before = master.public_key();
  CHECK_FALSE(master.renew_server_key());
  make_keys(folder / "a", {}, true);
  CHECK(turn([&] { return master.renew_server_key(); }));
  CHECK(master.endpoint() == endpoint);
  CHECK(master.public_key() != before);
  DealerSocket worker(endpoint, {folder / "a/hand-out/w", false}, {});
  meet(master, worker);
}

TEST_CASE("keys: a shared pair lets in who has it, and nobody else") {
  const KeyPair pair = make_key_pair();
  Lines log;
  RouterSocket locked(kAny, {.shared = pair}, log.sink());
  CHECK(locked.public_key() == pair.public_key);
  {
    // The server's key is known, but not its secret.
    KeyPair other = make_key_pair();
    Scratch folder;
    std::ofstream(folder / "server.pub") << pair.public_key << '\n';
    std::ofstream(folder / "worker.key") << other.secret_key << '\n';
    fs::permissions(folder / "worker.key", fs::perms(0600));
    DealerSocket worker(locked.endpoint(), {folder.path()}, {});
    CHECK_THAT(end_of(locked, worker), Contains("handshake refused"));
    CHECK(log.has("its key " + other.public_key + " is not this run's"));
  }
  {
    DealerSocket worker(locked.endpoint(), {.shared = make_key_pair()}, {});
    CHECK_THAT(end_of(locked, worker),
               Contains("does not have this run's key"));
  }
  {
    DealerSocket worker(locked.endpoint(), {}, {});
    CHECK_THAT(end_of(locked, worker), Contains("handshake refused"));
  }
  DealerSocket peer(locked.endpoint(), {.shared = pair}, {});
  meet(locked, peer);
}

TEST_CASE("keys: of one use, in memory") {
  Security own, given;
  own.own = make_key_pair();
  RouterSocket master(kAny, own, silent());
  given.given = master.admit_once("h1:0");
  const std::string key = given.given->own.public_key;
  DealerSocket worker(master.endpoint(), given, silent());
  REQUIRE(turn([&] { return worker.send(beat(0), {}, 10ms); }));
  CHECK(next(master, worker).key == key);
  const auto refused = [&](const WorkerKeys& keys) {
    Security others;
    others.given = keys;
    DealerSocket stranger(master.endpoint(), others, silent());
    return end_of(master, stranger);
  };
  // Nobody else, and nobody after its process has gone.
  CHECK(refused({own.own->public_key, make_key_pair()})
            .find("does not know this worker's key") != std::string::npos);
  master.retire(key);
  CHECK(refused(*given.given).find("does not know this worker's key") !=
        std::string::npos);
}

TEST_CASE("keys: --insecure turns a shared pair off") {
  const Security off{.insecure = true, .shared = make_key_pair()};
  RouterSocket open("tcp://127.0.0.1:*", off, {});
  CHECK(open.public_key().empty());
  DealerSocket other(open.endpoint(), {}, {});
  meet(open, other);
  DealerSocket peer(open.endpoint(), off, {});
  meet(open, peer);
}

TEST_CASE("key files: modes, damage, names, and nothing is overwritten") {
  Scratch folder;
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

  CHECK_THROWS_WITH(read_worker_keys(folder / "k"),
                    Contains("/k' is the master's folder of keys") &&
                        Contains("/k/hand-out/NAME'"));

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
  fs::remove(folder / "k/workers/n1.pub");
  REQUIRE(::mkfifo((folder / "k/workers/n1.pub").c_str(), 0600) == 0);
  refused("n1.pub': is no file");
  fs::remove(folder / "k/workers/n1.pub");
  std::ofstream(folder / "k/server.key") << std::string(40, '"') << '\n';
  refused("Z85");
  fs::remove(folder / "k/server.key");
  refused("No such file");
}

}  // namespace dl::cluster::transport_keys_test
