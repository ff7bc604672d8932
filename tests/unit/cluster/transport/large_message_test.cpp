// A message of more than 4 GiB, through real sockets.  Hidden, as it takes 13
// GiB of memory: tests/soak/large-message.sh runs it.

#include <sys/resource.h>

#include <catch2/catch.hpp>

#include "libcore/base/clock.h"
#include "libcore/io/digest.h"
#include "tests/unit/cluster/transport/transport_ends.h"

namespace dl::cluster::large_message_test {

using namespace ends;

namespace {

constexpr std::uint64_t kReals = (std::uint64_t{1} << 30) + 1000;
constexpr std::uint64_t kBytes = kReals * sizeof(float);
constexpr double kLimit = 600;  // seconds

// Nowhere the same.
std::vector<std::byte> vector_of_updater_state() {
  std::vector<std::byte> bytes(kBytes);
  for (std::uint64_t at = 0; at < kBytes; at += 8) {
    const std::uint64_t value = (at + 1) * 0x9e3779b97f4a7c15;
    std::memcpy(bytes.data() + at, &value, sizeof value);
  }
  return bytes;
}

std::uint64_t most_memory() {  // bytes
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

// Digest of the vector, which is blob 2 of the message.
template <typename Receive>
std::uint64_t digest_of_next(const Receive& receive) {
  const double end = monotonic_seconds() + kLimit;
  while (monotonic_seconds() < end)
    if (const std::optional<Message> message = receive()) {
      REQUIRE(message->blobs.size() > 2);
      CHECK(message->blobs[2].size() == kBytes);
      return io::digest(message->blobs[2]);
    }
  FAIL("it did not come");
  return 0;
}

}  // namespace

TEST_CASE("messages of more than 4 GiB arrive whole", "[.large]") {
  const Sizes sizes{.updater_state = kReals};
  RouterSocket master(kAny, {}, {});
  DealerSocket worker(master.endpoint(), {}, {});
  expect_all(master, worker, sizes);
  REQUIRE(turn([&] { return worker.send(Hello{}.to_message(), {}, 10ms); }));
  const std::string peer = next(master, worker).peer;
  master.let_in(peer);
  std::vector<std::byte> vector = vector_of_updater_state();
  const std::uint64_t want = io::digest(vector);
  SECTION("State") {
    {
      Message message = State{}.to_message();
      message.blobs[2] = std::move(vector);
      REQUIRE(master.send(peer, message, {}));
    }
    CHECK(digest_of_next([&]() -> std::optional<Message> {
            master.receive(0ms);
            auto received = worker.receive(10ms);
            if (!received) return std::nullopt;
            return std::move(received->message);
          }) == want);
  }
  SECTION("Result") {
    {
      Message message = Result{}.to_message();
      message.blobs[2] = std::move(vector);
      REQUIRE(worker.send(message, {}, 1000ms));
    }
    CHECK(digest_of_next([&]() -> std::optional<Message> {
            worker.receive(0ms);
            auto received = master.receive(10ms);
            if (!received) return std::nullopt;
            return std::move(received->received.message);
          }) == want);
    CHECK(master.take_ended().empty());
    CHECK(master.dropped() == 0);
  }
  // Memory of the sender, of libzmq and of the receiver together.
  CHECK(most_memory() < 7 * kBytes / 2);
}

}  // namespace dl::cluster::large_message_test
