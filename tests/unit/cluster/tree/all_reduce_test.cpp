// Workers that average among themselves: all get what the master would have
// averaged, whatever comes first, and nothing is lost where it does not work.

#include "libcore/cluster/tree/all_reduce.h"

#include <catch2/catch.hpp>
#include <deque>

#include "libcore/base/error.h"
#include "libcore/exchange/average.h"
#include "libcore/exchange/delta.h"

using namespace dl::cluster;
using Floats = std::vector<float>;

namespace {

constexpr std::size_t kGradient = 10, kStatistics = 3;
constexpr Sizes kSizes{.parameters = kGradient, .statistics = kStatistics};

std::string endpoint(std::size_t i) {
  return "tcp://w" + std::to_string(i) + ":1";
}

// Workers, and what is under way between them.
struct Room : ReducerLink {
  std::vector<AllReduce> workers;
  std::deque<std::pair<std::string, SharedMessage>> mail;

  explicit Room(std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      workers.emplace_back(*this).begin_session(kSizes);
      workers.back().listens_at(endpoint(i));
    }
  }
  void send_to_reducer(const std::string& to, SharedMessage message) override {
    mail.emplace_back(to, std::move(message));
  }
  AllReduce& at(const std::string& name) {
    for (std::size_t i = 0; i < workers.size(); ++i)
      if (endpoint(i) == name) return workers[i];
    throw std::logic_error(name);
  }
  void deliver(bool last_first = false) {
    while (!mail.empty()) {
      const auto [to, message] = last_first ? mail.back() : mail.front();
      last_first ? mail.pop_back() : mail.pop_front();
      at(to).from_worker(*message);
    }
  }
  void introduce(std::size_t i, std::uint64_t id = 1) {
    Parties parties;
    parties.id = id;
    for (std::size_t k = 0; k < workers.size(); ++k)
      parties.endpoints.push_back(endpoint(k));
    parties.reports = i == 1;
    workers[i].from_master(parties.to_message());
  }
};

Floats values_of(std::int64_t slot) {
  Floats values(kGradient + kStatistics);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = 0.1F * static_cast<float>(i) + static_cast<float>(slot);
  return values;
}

Message result_of(std::int64_t slot, std::uint64_t lease) {
  Result result;
  result.lease = lease;
  result.round = 2;
  result.slot = slot;
  result.examples = 3 + slot;
  const Floats values = values_of(slot);
  dl::exchange::encode_delta(std::span(values).first(kGradient), {}, {},
                             result.delta);
  result.statistics.assign(values.begin() + kGradient, values.end());
  return result.to_message();
}

// A task for the slot, and its Result.
bool do_slot(AllReduce& worker, std::int64_t slot, std::int64_t slots,
             std::uint64_t lease, std::uint64_t parties = 1) {
  Task task;
  task.lease = lease;
  task.slot.round = 2;
  task.slot.index = slot;
  task.slot.parties = parties;
  task.slot.slots = slots;
  worker.from_master(task.to_message());
  Message result = result_of(slot, lease);
  return worker.take_result(result);
}

Floats average_of(std::int64_t slots) {
  dl::exchange::Average average(static_cast<std::size_t>(slots),
                                kGradient + kStatistics);
  for (std::int64_t slot = 0; slot < slots; ++slot)
    average.put(static_cast<std::size_t>(slot), values_of(slot),
                static_cast<double>(3 + slot));
  return average.result();
}

Message held() {
  Round round;
  round.version = 2;
  round.held = true;
  return round.to_message();
}

void check_held(AllReduce& worker, const Floats& want) {
  Message message = held();
  worker.from_master(message);
  REQUIRE(worker.complete(message));
  const Round round = Round::from_message(message);
  CHECK_FALSE(round.held);
  Floats gradient(kGradient);
  dl::exchange::decode_delta(round.delta, 1, gradient);
  gradient.insert(gradient.end(), round.statistics.begin(),
                  round.statistics.end());
  CHECK(gradient == want);
}

std::vector<Message> of_type(std::vector<Message> messages, MessageType type) {
  std::erase_if(messages, [&](const Message& m) { return m.type != type; });
  return messages;
}

}  // namespace

TEST_CASE("pieces are dealt from the end, and are of one size") {
  for (const std::size_t elements :
       {0UL, 1UL, 5UL, 13UL, 70'000UL, 1'000'003UL})
    for (const std::size_t parties : {1UL, 2UL, 3UL, 7UL}) {
      INFO(elements << " elements, " << parties << " parties");
      std::size_t end = elements, turn = 0, least = elements, most = 0;
      for (const Piece& piece : pieces_of(elements, parties)) {
        CHECK(piece.first + piece.count == end);
        CHECK(piece.owner == turn++ % parties);
        least = std::min(least, piece.count);
        most = std::max(most, piece.count);
        end = piece.first;
      }
      CHECK(end == 0);
      CHECK(most <= kLargestPiece);
      CHECK((elements == 0 || (most - least <= 1 && least > 0)));
    }
}

TEST_CASE("all workers get the average that the master would make") {
  const std::int64_t slots = GENERATE(3, 5, 20);
  const bool last_first = GENERATE(false, true);
  const std::size_t n = GENERATE(2, 3);
  Room room(n);
  for (std::size_t i = 0; i < n; ++i) room.introduce(i);
  for (std::int64_t slot = 0; slot < slots; ++slot)
    CHECK(do_slot(room.workers[static_cast<std::size_t>(slot) % n], slot, slots,
                  static_cast<std::uint64_t>(100 + slot)));
  room.deliver(last_first);
  const Floats want = average_of(slots);
  for (std::size_t i = 0; i < n; ++i) {
    const auto said = room.workers[i].take_for_master();
    for (const Message& message : of_type(said, MessageType::kResult)) {
      const Result result = Result::from_message(message);
      CHECK(result.elsewhere);
      CHECK(result.delta.empty());
    }
    const auto means = of_type(said, MessageType::kMean);
    CHECK(means.size() == (i == 1 ? 1 : 0));
    for (const Message& message : means) {
      const Mean mean = Mean::from_message(message);
      CHECK(mean.values == want);
      REQUIRE(std::cmp_equal(mean.counts.size(), slots));
      for (std::int64_t slot = 0; slot < slots; ++slot) {
        const SlotCount& count = mean.counts[static_cast<std::size_t>(slot)];
        CHECK(count.examples == 3 + slot);
        CHECK(std::cmp_equal(count.lease, 100 + slot));
      }
    }
    check_held(room.workers[i], want);
  }
}

TEST_CASE("what comes before the master's word of the parties is kept") {
  Room room(2);
  room.introduce(0);
  CHECK(do_slot(room.workers[0], 0, 2, 7));
  room.deliver();  // to one that knows of no parties yet
  room.introduce(1);
  CHECK(do_slot(room.workers[1], 1, 2, 8));
  room.deliver();
  for (AllReduce& worker : room.workers) check_held(worker, average_of(2));
}

TEST_CASE("a round goes on with its parties where the next has others") {
  Room room(2);
  for (std::size_t i = 0; i < 2; ++i) room.introduce(i);
  for (std::size_t i = 0; i < 2; ++i)
    CHECK(do_slot(room.workers[i], static_cast<std::int64_t>(i), 2, 7 + i));
  for (std::size_t i = 0; i < 2; ++i) room.introduce(i, 2);
  room.deliver();
  for (AllReduce& worker : room.workers) check_held(worker, average_of(2));
}

TEST_CASE("a slot that was leased again counts as it came last") {
  Room room(2);
  for (std::size_t i = 0; i < 2; ++i) room.introduce(i);
  CHECK(do_slot(room.workers[0], 0, 2, 7));
  CHECK(do_slot(room.workers[1], 0, 2, 9));
  room.deliver();
  CHECK(do_slot(room.workers[0], 1, 2, 8));
  room.deliver();
  const auto means =
      of_type(room.workers[1].take_for_master(), MessageType::kMean);
  REQUIRE(means.size() == 1);
  CHECK(Mean::from_message(means[0]).counts[0].lease == 9);
}

TEST_CASE("the master gets Results when it asks for them, or a party is lost") {
  Room room(2);
  for (std::size_t i = 0; i < 2; ++i) room.introduce(i);
  AllReduce& worker = room.workers[0];
  CHECK(do_slot(worker, 0, 2, 7));
  worker.take_for_master();
  worker.lost("tcp://another:1");
  CHECK(worker.take_for_master().empty());
  worker.lost(endpoint(1));
  const auto failed = of_type(worker.take_for_master(), MessageType::kMean);
  REQUIRE(failed.size() == 1);
  CHECK(Mean::from_message(failed[0]).why ==
        endpoint(1) + " cannot be reached");
  worker.from_master(Direct{2}.to_message());
  const auto results = of_type(worker.take_for_master(), MessageType::kResult);
  REQUIRE(results.size() == 1);
  CHECK(results[0].body == result_of(0, 7).body);
  CHECK(results[0].blobs == result_of(0, 7).blobs);
  CHECK_FALSE(do_slot(worker, 1, 2, 8));  // goes to the master at once
  Message message = held();
  CHECK_FALSE(worker.complete(message));
}

TEST_CASE("what is no part of a round's average is refused or passed over") {
  Room room(2);
  room.introduce(0);
  AllReduce& worker = room.workers[0];
  Part part;
  part.round = 1;
  part.parties = 1;
  part.values.resize(4);
  CHECK_THROWS_AS(worker.from_worker(part.to_message()), dl::Error);
  Mean mean;
  mean.round = 1;
  mean.parties = 1;
  mean.values.resize(4);
  CHECK_THROWS_AS(worker.from_worker(mean.to_message()), dl::Error);
  part.round = mean.round = 9;  // far ahead
  CHECK_NOTHROW(worker.from_worker(part.to_message()));
  CHECK_NOTHROW(worker.from_worker(mean.to_message()));
  part.parties = 2;  // not known yet: kept, but not without end
  for (int i = 0; i < 10'000; ++i)
    CHECK_NOTHROW(worker.from_worker(part.to_message()));
  CHECK(worker.kept_bytes() <= 2 * kMostParties * 4 * 13);
  CHECK_FALSE(do_slot(worker, 0, 2, 7, 3));  // a task of other parties
}
