// Messages of others to a worker that reduces: it keeps no more of that than
// its rounds need, and nothing is lost by what it passes over.

#include "libcore/cluster/tree/reducer.h"

#include <catch2/catch.hpp>

#include "libcore/base/error.h"
#include "libcore/exchange/codec/delta.h"

namespace dl::cluster::reducer_test {

namespace {

constexpr Sizes kSizes{.parameters = 4};

struct Sent : ReducerLink {
  std::vector<SharedMessage> parts;
  void send_to_reducer(const std::string&, SharedMessage part) override {
    parts.push_back(std::move(part));
  }
};

struct Node {
  Sent link;
  Reducer reducer{link};

  Node() { reducer.begin_session(kSizes); }
  void order(std::uint64_t round, std::int64_t level, std::int64_t first,
             std::int64_t count) {
    Reduce reduce;
    reduce.round = round;
    reduce.level = level;
    reduce.first = first;
    reduce.count = count;
    reduce.parameters = 4;
    reducer.from_master({reduce.to_message()});
  }
  // Messages to the master, once its sums are made.
  std::vector<Message> say() {
    while (reducer.busy()) reducer.poll();
    return reducer.take_for_master();
  }
};

Result result(std::uint64_t round, std::int64_t slot, std::uint64_t lease = 1) {
  Result result;
  result.lease = lease;
  result.round = round;
  result.slot = slot;
  result.examples = 1;
  const std::vector<float> delta = {1, 2, 3, 4};
  dl::exchange::encode_delta(delta, {}, {}, result.delta);
  return result;
}

Message part(std::uint64_t round, std::int64_t slot, std::uint64_t lease = 1) {
  return result(round, slot, lease).to_message();
}

Reduced sum(std::int64_t level, std::int64_t first, std::size_t count) {
  Reduced sum;
  sum.round = 1;
  sum.level = level;
  sum.first = first;
  sum.counts.resize(count);
  return sum;
}

Message end_of(std::uint64_t version) {
  Round round;
  round.version = version;
  return round.to_message();
}

}  // namespace

TEST_CASE("a peer cannot fill a reducer with parts that nobody sums") {
  Node node;
  Message large = part(1, 0);
  large.blobs[0].resize(60'000);
  for (std::int64_t slot = 0; slot < 2000; ++slot)
    for (const std::uint64_t round : {1, 2}) {
      large.body["slot"] = slot;
      large.body["round"] = round;
      node.reducer.from_worker(large);
    }
  CHECK(node.reducer.kept_bytes() > 60'000);
  CHECK(node.reducer.kept_bytes() <= node.reducer.early_most());
  // The same part again takes no more.
  const std::uint64_t kept = node.reducer.kept_bytes();
  large.body["slot"] = 0;
  large.body["round"] = 1;
  node.reducer.from_worker(large);
  CHECK(node.reducer.kept_bytes() == kept);
  node.reducer.from_master({Direct{1}.to_message()});
  CHECK(node.reducer.kept_bytes() < kept);
  node.reducer.from_master({end_of(2)});
  CHECK(node.reducer.kept_bytes() == 0);
}

TEST_CASE("a reducer keeps parts of rounds that may be open alone") {
  Node node;
  node.reducer.from_master({end_of(5)});
  for (const std::uint64_t round : {0, 5, 8, 1'000'000})
    node.reducer.from_worker(part(round, 0));
  CHECK(node.reducer.kept_bytes() == 0);
  node.reducer.from_worker(part(7, 0));
  CHECK(node.reducer.kept_bytes() > 0);
  // The master is ahead of the feed.
  node.order(8, 1, 0, 2);
  const std::uint64_t kept = node.reducer.kept_bytes();
  node.reducer.from_worker(part(8, 1));
  CHECK(node.reducer.kept_bytes() > kept);
}

TEST_CASE("a reducer refuses what is no part of a sum") {
  Node node;
  Reduced failed = sum(1, 0, 8);
  failed.why = "no";
  for (const Message& message :
       {Beat{}.to_message(), sum(1, 4, 8).to_message(),
        sum(1, 0, 9).to_message(), sum(kMostLevels, 0, 8).to_message(),
        failed.to_message(),
        Message{MessageType::kResult, dl::Json::object(), {}},
        Message{MessageType::kResult, dl::Json::object(),
                std::vector<std::vector<std::byte>>(3)}})
    CHECK_THROWS_AS(node.reducer.from_worker(message), dl::Error);
  // Behind the slots of the round.
  node.order(1, 1, 8, 2);
  node.reducer.from_worker(part(1, 10));
  CHECK(node.reducer.kept_bytes() == 0);
}

TEST_CASE("a reducer sums what came before the order, and the last of a slot") {
  Node node;
  node.reducer.from_worker(part(1, 8, 7));
  node.reducer.from_worker(part(1, 8, 17));  // leased again
  node.reducer.from_worker(part(1, 15));     // there is no such slot
  node.order(1, 1, 8, 2);
  CHECK(node.say().empty());
  node.reducer.from_worker(part(1, 9, 19));
  const std::vector<Message> said = node.say();
  REQUIRE(said.size() == 1);
  const Reduced reduced = Reduced::from_message(said[0]);
  CHECK(reduced.why.empty());
  REQUIRE(reduced.counts.size() == 2);
  CHECK(reduced.counts[0].lease == 17);
  CHECK(reduced.counts[1].lease == 19);
  // Nobody waits for more of it.
  node.reducer.from_worker(part(1, 8, 20));
  CHECK(node.reducer.kept_bytes() == 0);
  CHECK(node.say().empty());
}

TEST_CASE("a part that a reducer passes over gets to the master") {
  Node full, sender;
  Message large = part(1, 0);
  large.blobs[0].resize(60'000);
  for (std::int64_t slot = 8; slot < 2000; ++slot) {
    large.body["slot"] = slot;
    full.reducer.from_worker(large);
  }
  const std::uint64_t kept = full.reducer.kept_bytes();
  Task task;
  task.lease = 3;
  task.count = 1;
  task.slot = {0, 1, 0, "tcp://reducer:1"};
  sender.reducer.from_master({task.to_message()});
  Message own = part(1, 0, 3);
  own.blobs[0].resize(60'000);
  sender.reducer.take_result(own);
  REQUIRE(sender.link.parts.size() == 1);
  full.reducer.from_worker(*sender.link.parts[0]);
  CHECK(full.reducer.kept_bytes() == kept);
  CHECK(Result::from_message(sender.say().at(0)).elsewhere);
  CHECK_FALSE(sender.reducer.is_over(*sender.link.parts[0]));
  // As no sum comes, the master asks for it.
  sender.reducer.from_master({Direct{1}.to_message()});
  CHECK(Result::from_message(sender.say().at(0)).delta == own.blobs[0]);
  // Messages waiting for the reducer are dropped.
  CHECK(sender.reducer.is_over(*sender.link.parts[0]));
}

}  // namespace dl::cluster::reducer_test
