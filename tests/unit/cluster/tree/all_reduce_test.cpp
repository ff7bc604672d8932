// Workers that average among themselves: all get what the master would have
// averaged, whatever comes first, and nothing is lost where it does not work.

#include "libcore/cluster/tree/all_reduce.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <deque>

#include "libcore/base/error.h"
#include "libcore/exchange/codec/delta.h"
#include "libcore/exchange/rules/average.h"

namespace dl::cluster::all_reduce_test {

using Floats = std::vector<float>;

namespace {

// Seven pieces, where few slots would make longer ones.
constexpr std::size_t kGradient = 6 * kLargestPiece + 10, kStatistics = 3;
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
  // The second tells the master of all averages, unless each is to.
  void introduce(std::size_t i, std::uint64_t id = 1,
                 std::optional<Reports> each = {}) {
    Parties parties;
    parties.id = id;
    for (std::size_t k = 0; k < workers.size(); ++k)
      parties.endpoints.push_back(endpoint(k));
    parties.reports = each ? *each : i == 1 ? Reports::kAll : Reports::kNone;
    workers[i].from_master(parties.to_message());
  }
};

Floats values_of(std::int64_t slot) {
  Floats values(kGradient + kStatistics);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = 0.1F * static_cast<float>(i) + static_cast<float>(slot);
  return values;
}

Task task_of(std::int64_t slot, std::int64_t slots, std::uint64_t lease,
             std::uint64_t parties = 1) {
  Task task;
  task.lease = lease;
  task.iteration = 5;
  task.epoch = 1;
  task.factor = 0.5;
  task.slot.round = 2;
  task.slot.index = slot;
  task.slot.parties = parties;
  task.slot.slots = slots;
  return task;
}

std::vector<Piece> pieces_for(std::int64_t slots) {
  return pieces_of(kGradient + kStatistics, slots);
}

// A piece of what the task's slot gives.
Message part_of(const Task& task, std::size_t piece) {
  const auto [first, count, owner] = pieces_for(task.slot.slots).at(piece);
  Part part;
  part.round = task.slot.round;
  part.parties = task.slot.parties;
  part.slots = task.slot.slots;
  part.slot = task.slot.index;
  part.first = static_cast<std::int64_t>(first);
  part.count = {task.lease, 0, 3 + task.slot.index, 0};
  const Floats all = values_of(task.slot.index);
  part.values.assign(all.begin() + part.first,
                     all.begin() + static_cast<std::ptrdiff_t>(first + count));
  return part.to_message();
}

// A task for the slot, and what it gives.
void do_slot(AllReduce& worker, std::int64_t slot, std::int64_t slots,
             std::uint64_t lease, std::uint64_t parties = 1) {
  const Task task = task_of(slot, slots, lease, parties);
  worker.from_master(task.to_message());
  for (std::size_t i = 0; i < pieces_for(slots).size(); ++i)
    worker.take_own(part_of(task, i));
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

void check_average(const Message& message, const Floats& want) {
  const Round round = Round::from_message(message);
  CHECK(round.version == 2);
  Floats gradient(round.held ? 0 : kGradient);
  for (const auto& piece : round.pieces) {
    Floats values(piece.size() / sizeof(float));
    std::memcpy(values.data(), piece.data(), piece.size());
    gradient.insert(gradient.begin(), values.begin(), values.end());
  }
  if (!round.held) {
    dl::exchange::decode_delta(round.delta, 1, gradient);
    gradient.insert(gradient.end(), round.statistics.begin(),
                    round.statistics.end());
  }
  CHECK(gradient == want);
}

// The master's word, where the worker has not gone ahead of it.
void check_held(AllReduce& worker, const Floats& want) {
  Message message = held();
  worker.from_master(message);
  REQUIRE(worker.complete(message));
  check_average(message, want);
}

std::vector<Message> of_type(std::vector<Message> messages, MessageType type) {
  std::erase_if(messages, [&](const Message& m) { return m.type != type; });
  return messages;
}

// Number of results that a worker has for the master with all their vectors.
std::size_t results_of(AllReduce& worker) {
  std::size_t whole = 0;
  for (const Message& message :
       of_type(worker.take_for_master(), MessageType::kResult))
    if (!Result::from_message(message).elsewhere) ++whole;
  return whole;
}

Message as_round(const Result& result) {
  Round round;
  round.version = 2;
  round.delta = result.delta;
  round.statistics = result.statistics;
  return round.to_message();
}

}  // namespace

TEST_CASE("pieces are dealt from the end, whoever takes part") {
  for (const std::size_t elements :
       {0UL, 1UL, 5UL, 64UL, 65UL, 70'000UL, 5'000'003UL}) {
    for (const std::int64_t slots : {1, 2, 7, 1000}) {
      const auto alone = pieces_of(elements, slots);
      for (const std::size_t parties : {1UL, 2UL, 3UL, 64UL}) {
        INFO(elements << " elements, " << parties << " parties");
        const auto pieces = pieces_of(elements, slots, parties);
        REQUIRE(pieces.size() == alone.size());
        std::size_t end = elements, turn = 0;
        for (const Piece& piece : pieces) {
          CHECK(piece.first + piece.count == end);
          CHECK(piece.first == alone[turn].first);
          CHECK(piece.owner == turn++ % parties);
          CHECK(piece.count <= kLargestPiece);
          CHECK((piece.count == pieces.front().count || piece.first == 0));
          end = piece.first;
        }
        CHECK(end == 0);
      }
    }
  }
}

TEST_CASE("a small network's step has as many pieces as slots, or fewer") {
  constexpr std::size_t kLenet = 67'780;
  CHECK(pieces_of(kLenet, 1).size() == 2);  // as long as one may be
  CHECK(pieces_of(kLenet, 2).size() == 2);
  CHECK(pieces_of(kLenet, 4).size() == 4);
  CHECK(pieces_of(kLenet, 64).size() == 9);
  CHECK(pieces_of(1000, 64).size() == 1);
}

TEST_CASE("a message of another number of slots is refused") {
  Room room(2);
  for (std::size_t i = 0; i < 2; ++i) room.introduce(i);
  do_slot(room.workers[0], 0, 2, 7);
  REQUIRE_FALSE(room.mail.empty());
  Part part = Part::from_message(*room.mail.front().second);
  part.slots = 3;
  do_slot(room.workers[1], 1, 2, 8);
  CHECK_THROWS_AS(room.workers[1].from_worker(part.to_message()), dl::Error);
  room.deliver();
  for (AllReduce& worker : room.workers) check_held(worker, average_of(2));
}

TEST_CASE("all workers get the average that the master would make") {
  const std::int64_t slots = GENERATE(3, 5, 20);
  const bool last_first = GENERATE(false, true);
  const std::size_t n = GENERATE(2, 3);
  Room room(n);
  for (std::size_t i = 0; i < n; ++i) room.introduce(i);
  for (std::int64_t slot = 0; slot < slots; ++slot)
    do_slot(room.workers[static_cast<std::size_t>(slot) % n], slot, slots,
            static_cast<std::uint64_t>(100 + slot));
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
    CHECK(means.size() == (i == 1 ? pieces_for(slots).size() : 0));
    for (const Message& message : means) {
      const Mean mean = Mean::from_message(message);
      const auto begin = want.begin() + mean.first;
      CHECK(mean.values == Floats(begin, begin + std::ssize(mean.values)));
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

TEST_CASE("a worker with a slot goes on before the master's word") {
  Room room(3);
  for (std::size_t i = 0; i < 3; ++i) room.introduce(i);
  for (std::size_t i = 0; i < 3; ++i) {
    State state;
    state.version = 1;
    room.workers[i].from_master(state.to_message());
  }
  // The third has nothing to do in this round.
  for (std::size_t i = 0; i < 2; ++i)
    do_slot(room.workers[i], static_cast<std::int64_t>(i), 2, 7 + i);
  CHECK_FALSE(room.workers[0].take_next());
  room.deliver();
  for (std::size_t i = 0; i < 2; ++i) {
    const auto next = room.workers[i].take_next();
    REQUIRE(next);
    check_average(*next, average_of(2));
    const Round round = Round::from_message(*next);
    CHECK(round.iteration == 5);
    CHECK(round.epoch == 1);
    CHECK(round.factor == 0.5);
    CHECK_FALSE(room.workers[i].take_next());
    Message word = held();
    room.workers[i].from_master(word);
    REQUIRE(room.workers[i].complete(word));
    CHECK(Round::from_message(word).pieces.empty());  // they have been taken
  }
  CHECK_FALSE(room.workers[2].take_next());
  check_held(room.workers[2], average_of(2));
}

TEST_CASE("pieces go out as they are found") {
  Room room(2);
  for (std::size_t i = 0; i < 2; ++i) room.introduce(i);
  AllReduce& worker = room.workers[1];
  const Task task = task_of(0, 2, 7);
  worker.from_master(task.to_message());
  worker.take_own(part_of(task, 0));
  REQUIRE(room.mail.size() == 1);
  CHECK(room.mail.back().first == endpoint(0));
  worker.take_own(part_of(task, 1));  // its own to average
  CHECK(room.mail.size() == 1);
  worker.take_own(part_of(task, 2));
  REQUIRE(room.mail.size() == 2);
  const Part part = Part::from_message(*room.mail.back().second);
  CHECK(std::cmp_equal(part.first, pieces_for(2)[2].first));
  CHECK(part.values.front() == values_of(0)[pieces_for(2)[2].first]);
  CHECK(of_type(worker.take_for_master(), MessageType::kResult).empty());
  CHECK_THROWS_AS(worker.take_own(part_of(task, 4)), dl::Error);  // a gap
}

TEST_CASE("each tells the master its own averages, if nobody is beside it") {
  Room room(2);
  for (std::size_t i = 0; i < 2; ++i) room.introduce(i, 1, Reports::kOwn);
  for (std::size_t i = 0; i < 2; ++i)
    do_slot(room.workers[i], static_cast<std::int64_t>(i), 2, 7 + i);
  room.deliver();
  Floats whole(kGradient + kStatistics);
  for (AllReduce& worker : room.workers) {
    const auto means = of_type(worker.take_for_master(), MessageType::kMean);
    CHECK(means.size() == (&worker == room.workers.data() ? 4 : 3));
    for (const Message& message : means) {
      const Mean mean = Mean::from_message(message);
      CHECK(mean.counts.size() == 2);
      std::ranges::copy(mean.values, whole.begin() + mean.first);
    }
  }
  CHECK(whole == average_of(2));
}

TEST_CASE("what comes before the master's word of the parties is kept") {
  Room room(2);
  room.introduce(0);
  do_slot(room.workers[0], 0, 2, 7);
  room.deliver();  // to one that knows of no parties yet
  room.introduce(1);
  do_slot(room.workers[1], 1, 2, 8);
  room.deliver();
  for (AllReduce& worker : room.workers) check_held(worker, average_of(2));
}

TEST_CASE("a round goes on with its parties where the next has others") {
  Room room(2);
  for (std::size_t i = 0; i < 2; ++i) room.introduce(i);
  for (std::size_t i = 0; i < 2; ++i)
    do_slot(room.workers[i], static_cast<std::int64_t>(i), 2, 7 + i);
  for (std::size_t i = 0; i < 2; ++i) room.introduce(i, 2);
  room.deliver();
  for (AllReduce& worker : room.workers) check_held(worker, average_of(2));
}

TEST_CASE("a slot that was leased again counts as it came last") {
  Room room(2);
  for (std::size_t i = 0; i < 2; ++i) room.introduce(i);
  do_slot(room.workers[0], 0, 2, 7);
  do_slot(room.workers[1], 0, 2, 9);
  room.deliver();
  do_slot(room.workers[0], 1, 2, 8);
  room.deliver();
  const auto means =
      of_type(room.workers[1].take_for_master(), MessageType::kMean);
  REQUIRE(means.size() == pieces_for(2).size());
  for (const Message& mean : means)
    CHECK(Mean::from_message(mean).counts[0].lease == 9);
}

TEST_CASE("the master gets Results when it asks for them, or a party is lost") {
  Room room(2);
  for (std::size_t i = 0; i < 2; ++i) room.introduce(i);
  AllReduce& worker = room.workers[0];
  do_slot(worker, 0, 2, 7);
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
  const Result result = Result::from_message(results[0]);
  CHECK(result.lease == 7);
  CHECK(result.round == 2);
  CHECK(result.examples == 3);
  check_average(as_round(result), values_of(0));
  do_slot(worker, 1, 2, 8);
  CHECK(results_of(worker) == 1);  // to the master at once
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
  CHECK(worker.kept_bytes() <=
        2 * kMostParties * 4 * (kGradient + kStatistics));
  worker.take_for_master();
  do_slot(worker, 0, 2, 7, 3);  // a task of other parties
  CHECK(results_of(worker) == 1);
}

}  // namespace dl::cluster::all_reduce_test
