// Limits of messages, before they are sent and beyond 4 GiB.

#include "libcore/cluster/protocol/message_limits.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <thread>

#include "libcore/base/json.h"
#include "libcore/cluster/worker/master_connection.h"
#include "tests/unit/cluster/master/simulation.h"
#include "tests/unit/cluster/transport/transport_ends.h"

namespace dl::cluster::message_limits_test {

using namespace std::chrono_literals;
using Catch::Contains;

namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
const Sizes kSizes{.parameters = 1000, .statistics = 10, .updater_state = 2000};

struct Failure {
  Code code = {};
  std::string what;
};
Failure failure_of(const Message& message, unsigned from) {
  try {
    encode(message, {}, kMaxFrame, {.from = from, .sizes = kSizes});
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {};
}

// A header that announces blobs of such lengths, and no body.
std::vector<std::byte> header_of(const std::vector<std::uint64_t>& blobs,
                                 std::uint64_t total) {
  Message message{MessageType::kState, Json::object(), {}};
  message.blobs.resize(blobs.size());
  std::vector<std::byte> header = encode(message, {}, kMaxFrame)[0];
  const auto put = [&](std::size_t at, std::uint64_t value) {
    std::memcpy(header.data() + at, &value, sizeof value);
  };
  put(56, total);
  put(kHeaderBytes, 0);
  for (std::size_t i = 0; i < blobs.size(); ++i)
    put(kHeaderBytes + 8 * (i + 1), blobs[i]);
  return header;
}

// Error of a receiver of so many whole frames behind the header, and a last
// one.
std::string error_of(const std::vector<std::byte>& header, std::size_t whole,
                     std::size_t last) {
  const std::vector<std::byte> piece(kMaxFrame);
  std::vector<Frame> frames = {header};
  frames.insert(frames.end(), whole, piece);
  if (last > 0) frames.push_back(Frame(piece).first(last));
  try {
    decode(frames, {});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a message that its receiver would drop is not sent") {
  Task task;
  task.passed_over.resize(1 << 18);
  const Failure body = failure_of(task.to_message(), kFromMaster);
  CHECK(body.code == Code::kConfig);
  CHECK(body.what ==
        "cannot send a message, as its receiver would refuse it: Task: 262195 "
        "values > limit 262144");
  Fault fault;
  fault.reason = std::string(4000, 'x');
  CHECK(failure_of(fault.to_message(), kFromWorker).what.empty());
  Message longer = fault.to_message();
  longer.body["reason"] = std::string(20'000, 'x');
  CHECK(failure_of(longer, kFromWorker).code == Code::kConfig);
  CHECK_THAT(failure_of(longer, kFromWorker).what, Contains("bytes > limit"));
  Update update;
  update.payload.resize(65536 + 2 * kSizes.parameters);
  CHECK(failure_of(update.to_message(), kFromWorker).what.empty());
  update.payload.push_back({});
  const Failure blob = failure_of(update.to_message(), kFromWorker);
  CHECK(blob.code == Code::kBug);
  CHECK_THAT(blob.what, Contains("Update: blob 0 of 67537 bytes > limit"));
  CHECK_THAT(failure_of(update.to_message(), kFromMaster).what,
             Contains("no message that comes from there"));
}

TEST_CASE("the remedy for a Welcome that is too long is told") {
  Welcome welcome;
  welcome.training.resize(1);
  welcome.training[0].records.resize(kMaxJsonValues);
  CHECK_THAT(failure_of(welcome.to_message(), kFromMaster).what,
             Contains("make fewer shards, with more examples in each record"));
}

TEST_CASE("what all are told, a parent in the tree may pass on") {
  using enum MessageType;
  for (const MessageType type : {kApply, kCheck, kStatistics, kRound, kDirect})
    for (const unsigned from : {kFromMaster, kFromParent})
      CHECK_NOTHROW(check_sender(type, from));
  CHECK_THROWS_AS(check_sender(kTask, kFromParent), Error);
}

TEST_CASE("a sender counts values as a receiver does") {
  const Json value = {{"a", {1, 2, {{"b", nullptr}}}}, {"c", Json::array()}};
  const std::vector<std::uint8_t> packed = Json::to_msgpack(value);
  const auto bytes = std::as_bytes(std::span(packed));
  const std::size_t count = count_values(value);
  CHECK(parse_msgpack(bytes, "it", count) == value);
  CHECK_THROWS_AS(parse_msgpack(bytes, "it", count - 1), Error);
}

TEST_CASE("sockets refuse to send what the other end would drop") {
  RouterSocket master(ends::kAny, {}, {});
  master.expect({.from = kFromWorker, .sizes = kSizes},
                {.from = kFromMaster, .sizes = kSizes});
  DealerSocket worker(master.endpoint(), {}, {});
  worker.expect({.from = kFromMaster, .sizes = kSizes},
                {.from = kFromWorker, .sizes = kSizes});
  const std::string peer = ends::meet(master, worker);
  Update update;
  update.payload.resize(100'000);
  CHECK_THROWS_AS(worker.send(update.to_message(), {}, 0ms), Error);
  State state;
  state.parameters.resize(kSizes.parameters + 1);
  CHECK_THROWS_AS(master.send(peer, state.to_message(), {}), Error);
  state.parameters.pop_back();
  CHECK(master.send(peer, state.to_message(), {}));
  CHECK(ends::next(worker, master).message.type == MessageType::kState);
}

TEST_CASE("a worker that takes less than a network needs is refused") {
  simulation::Folder folder;
  std::optional<RunState> saved;
  Settings settings;
  settings.mode = Mode::kAveraging;
  simulation::Master master(settings, Limits{}, folder, saved, 1, 100);
  Hello hello;
  hello.name = "small";
  hello.takes.frame = 4096;
  master.coordinator->handle({"small", {{}, hello.to_message()}}, 100);
  CHECK_THAT(master.said.back(),
             Contains("a worker was refused: this worker takes frames of up to "
                      "4096 bytes, and they have up to 1048576"));
  CHECK(master.context.members.present().empty());
}

TEST_CASE("a worker leaves a master that takes less than the network needs") {
  RouterSocket master(ends::kAny, {}, {});
  std::string said;
  std::thread other([&] {
    WorkerOptions options;
    options.master.endpoint = master.endpoint();
    const Log log = [](Level, const std::string&) {};
    try {
      MasterConnection(options, log).join(Hello{}, true, [] {});
    } catch (const Error& error) {
      said = error.what();
      CHECK(error.code() == Code::kProtocol);
    }
  });
  std::string why;
  ends::turn([&] {
    const auto incoming = master.receive(10ms);
    if (!incoming) return false;
    const Message& message = incoming->received.message;
    if (message.type == MessageType::kLeave) {
      why = Leave::from_message(message).reason;
      return true;
    }
    Welcome welcome;
    welcome.run = std::string(32, 'a');
    welcome.sizes = kSizes;
    welcome.takes.message = 10'000;
    master.send(incoming->peer, welcome.to_message(), {});
    return false;
  });
  other.join();
  CHECK_THAT(why, Contains("takes messages of up to 10000 bytes"));
  CHECK(said == why);
}

TEST_CASE("lengths beyond 4 GiB are not cut") {
  Sizes sizes;
  sizes.parameters = 500'000'000;
  sizes.updater_state = 2 * sizes.parameters;
  const Expected state{.from = kFromMaster, .sizes = sizes};
  // Three vectors of p and one of 2p of 4 bytes, and FASGD's of 8p.
  CHECK(largest_message(state) > 11 * kGiB);
  CHECK_NOTHROW(check_lengths(MessageType::kState,
                              {100, {2'000'000'000, 0, 4'000'000'000}}, state));
  CHECK_THROWS_WITH(check_lengths(MessageType::kState,
                                  {100, {2'000'000'000 + 4 * kGiB}}, state),
                    "State: blob 0 of 6294967296 bytes > limit 2000000000");
  CHECK_THROWS_WITH(check_sent(MessageType::kState,
                               {100, {2'000'000'000 + 4 * kGiB}}, 10, state),
                    Contains("blob 0 of 6294967296 bytes"));
  CHECK_NOTHROW(check_takes("it", {kMaxFrame, 20 * kGiB}, state));
  CHECK_THROWS_WITH(check_takes("it", {kMaxFrame, 5 * kGiB}, state),
                    Contains("takes messages of up to 5368709120 bytes"));
}

TEST_CASE("a header beyond 4 GiB is held to all its frames") {
  const auto header = header_of({4 * kGiB + 5}, 4 * kGiB + 5);
  CHECK(error_of(header, 0, 5) ==
        "frame of 5 bytes where the header announces 1048576");
  CHECK(error_of(header, 4096, 0) == "message cut short");
  CHECK(error_of(header, 4096, 6) ==
        "frame of 6 bytes where the header announces 5");
  CHECK(error_of(header, 4097, 5) ==
        "frame of 1048576 bytes where the header announces 5");
  CHECK(error_of(header_of({4 * kGiB + 5}, 5), 0, 5) ==
        "damaged header: lengths");
  CHECK(error_of(header_of({5}, 4 * kGiB + 5), 0, 5) ==
        "damaged header: lengths");
  // A sum that wraps around.
  CHECK(error_of(header_of({UINT64_MAX - 2, 8}, 5), 0, 5) ==
        "damaged header: lengths");
}

}  // namespace dl::cluster::message_limits_test
