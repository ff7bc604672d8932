#include "libcore/cluster/worker/master_connection.h"

#include <catch2/catch.hpp>
#include <future>

#include "tests/unit/cluster/transport/transport_ends.h"

namespace dl::cluster::master_connection_test {

using namespace ends;

namespace {

constexpr std::int64_t kReals = 1 << 16;  // of a message
constexpr std::uint64_t kMessages = 400;  // more than sockets hold

// A master that lets a worker in, and reads only when it is told to.
struct Master {
  RouterSocket socket{kAny, {}, {}};
  Sizes sizes{.parameters = static_cast<std::uint64_t>(kReals)};

  Master() {
    socket.expect({.from = kFromWorker, .sizes = sizes},
                  {.from = kFromMaster, .sizes = sizes});
  }
  void let_in() {
    const auto hello = socket.receive(20s);
    REQUIRE(hello.has_value());
    Welcome welcome;
    welcome.run = std::string(32, 'a');
    welcome.sizes = sizes;
    CHECK(socket.send(hello->peer, welcome.to_message(), {}));
    socket.receive(0ms);
  }
};

Message numbered(std::uint64_t lease) {
  Slice slice;
  slice.lease = lease;
  slice.values.resize(kReals);
  return slice.to_message();
}

}  // namespace

TEST_CASE("a master that does not read holds up nothing but what is for it") {
  Master master;
  WorkerOptions options;
  options.master.endpoint = master.socket.endpoint();
  const Log log = silent();
  MasterConnection connection(options, log);
  auto let_in = std::async(std::launch::async, [&] { master.let_in(); });
  REQUIRE(connection.join({}, true, [] {}).has_value());
  let_in.get();

  for (std::uint64_t i = 1; i <= kMessages; ++i) connection.post(numbered(i));
  connection.send_posted();
  const std::size_t left = connection.posted();
  CHECK(left > 0);
  CHECK(left < kMessages);
  CHECK_FALSE(connection.send_all_posted(1ms));
  CHECK(connection.socket().connected());

  std::uint64_t come = 0;
  REQUIRE(turn([&] {
    connection.send_posted();
    if (const auto got = master.socket.receive(1ms)) {
      const Slice slice = Slice::from_message(got->received.message);
      REQUIRE(slice.lease == ++come);
      CHECK(std::ssize(slice.values) == kReals);
    }
    return come == kMessages;
  }));
  CHECK(connection.posted() == 0);
}

TEST_CASE("what waits for one master is not for the next") {
  Master first, second;
  WorkerOptions options;
  options.master.endpoint = first.socket.endpoint();
  const Log log = silent();
  MasterConnection connection(options, log);
  auto let_in = std::async(std::launch::async, [&] { first.let_in(); });
  REQUIRE(connection.join({}, true, [] {}).has_value());
  let_in.get();
  connection.post(numbered(1));

  options.master.endpoint = second.socket.endpoint();
  let_in = std::async(std::launch::async, [&] { second.let_in(); });
  REQUIRE(connection.join({}, false, [] {}).has_value());
  let_in.get();
  CHECK(connection.posted() == 0);
}

}  // namespace dl::cluster::master_connection_test
