// A trainer against a master played by the test: what it answers, that it
// answers alike, and what it does with what comes late or out of turn.

#include "libcore/cluster/worker/trainer.h"

#include <catch2/catch.hpp>

#include "libcore/exchange/codec/delta.h"
#include "libcore/exchange/codec/threshold.h"
#include "tests/unit/cluster/worker/play.h"

namespace dl::cluster::trainer_test {

using namespace dl::cluster::test;

namespace {

std::vector<float> decoded(const std::vector<std::byte>& delta) {
  std::vector<float> result(kParameters);
  dl::exchange::decode_delta(delta, 1, result);
  return result;
}

}  // namespace

TEST_CASE("a slot's result follows from state, batches and seed alone") {
  Play one(Mode::kAveraging), two(Mode::kAveraging);
  for (Play* play : {&one, &two}) {
    play->welcome();
    CHECK(play->hear_as<Ready>().unreadable.empty());
    play->state(1);
  }
  one.task(1, 0, 2);
  const Result first = one.hear_as<Result>();
  one.task(2, 2, 2);
  const Result second = one.hear_as<Result>();
  CHECK(first.examples == 8);
  const std::vector<float> gain = decoded(first.delta);
  CHECK(gain != std::vector<float>(kParameters));
  CHECK(first.delta != second.delta);
  CHECK(first.updater_state.size() == 2 * kParameters);

  // The other worker does them in another order.
  two.task(9, 2, 2);
  two.task(8, 0, 2);
  const Result again = two.hear_as<Result>();
  CHECK(again.lease == 9);
  CHECK(again.delta == second.delta);
  CHECK(again.loss_sum == second.loss_sum);
  CHECK(again.updater_state == second.updater_state);
  CHECK(two.hear_as<Result>().delta == first.delta);
}

TEST_CASE("a revoked slot is dropped and the next one is whole") {
  Play play(Mode::kAveraging);
  play.welcome();
  play.hear_as<Ready>();
  play.state(1);
  play.task(1, 0, 2);
  const Result wanted = play.hear_as<Result>();
  play.task(2, 2, 3);
  play.say(Stale{2, 1, -1}.to_message());
  play.task(3, 0, 2);
  Result result = play.hear_as<Result>();
  if (result.lease == 2) result = play.hear_as<Result>();  // it was quicker
  CHECK(result.lease == 3);
  CHECK(result.delta == wanted.delta);
}

TEST_CASE("a task without its state makes the worker join again") {
  Play play(Mode::kAveraging);
  play.welcome();
  play.hear_as<Ready>();
  play.state(8);
  play.task(1, 0, 2, 7);
  play.await_rejoin();
  play.task(2, 0, 2);  // not heard any more
  play.welcome();
  play.hear_as<Ready>();
  CHECK_FALSE(play.mail.rejoin);
  play.state(1);
  play.task(3, 0, 2);
  CHECK(play.hear_as<Result>().lease == 3);
}

TEST_CASE("a task waits for the round that it starts from") {
  Play play(Mode::kAveraging);
  play.welcome();
  play.hear_as<Ready>();
  play.state(1);
  play.task(1, 0, 1, 2);
  play.task(2, 1, 1, 2);
  Round round;
  round.version = 2;
  const std::vector<float> nothing(kParameters);
  std::vector<float> residual;
  dl::exchange::encode_delta(nothing, {}, residual, round.delta);
  round.updater_state.assign(2 * kParameters, 0);
  play.say(round.to_message());
  CHECK(play.hear_as<Result>().lease == 1);
  CHECK(play.hear_as<Result>().lease == 2);
  CHECK_FALSE(play.mail.rejoin);
}

TEST_CASE("a task that is cut ends after the mini-batch at hand") {
  Play play(Mode::kAveraging);
  play.welcome();
  play.hear_as<Ready>();
  play.state(1);
  play.task(1, 0, 1);
  const Result one = play.hear_as<Result>();
  CHECK(one.count == 0);
  // They wait for a round that is to come.
  play.task(2, 0, 4, 2);
  play.task(3, 1, 2, 2);
  play.say(Cut{2, 1}.to_message());
  play.say(Cut{1, 1}.to_message());  // too late
  Round round;
  round.version = 2;
  const std::vector<float> nothing(kParameters);
  std::vector<float> residual;
  dl::exchange::encode_delta(nothing, {}, residual, round.delta);
  round.updater_state.assign(2 * kParameters, 0);
  play.say(round.to_message());
  const Result cut = play.hear_as<Result>();
  CHECK(cut.lease == 2);
  CHECK(cut.count == 1);
  CHECK(cut.examples == one.examples);
  CHECK(cut.delta == one.delta);
  const Result next = play.hear_as<Result>();
  CHECK(next.lease == 3);
  CHECK(next.count == 0);
  CHECK(next.examples == 8);
}

TEST_CASE("tasks outside the epoch are refused") {
  Play play(Mode::kAveraging);
  play.welcome();
  play.hear_as<Ready>();
  play.state(1);
  play.task(1, 3, 3);
  for (int i = 0; i < 20000 && !play.mail.finished; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  REQUIRE(play.mail.finished);
  CHECK(sample::has(play.error, "task: mini-batches 3 to 6 of 5"));
}

TEST_CASE("a sharing replica stays the master's, whatever is refused") {
  Play play(Mode::kSharing);
  play.settings.sharing.in_flight = 1;
  play.welcome();
  play.hear_as<Ready>();
  play.state(10);
  play.task(1, 0, 3, 10);
  Update update = play.hear_as<Update>();
  CHECK(update.batch == 0);
  CHECK(update.examples == 4);
  CHECK(update.quanta > 0);
  play.apply_own(11, update);

  // Somebody else's update comes between.
  Apply other;
  other.sequence = 12;
  other.scale = 0.5F;
  std::vector<float> theirs(kParameters, 0.25F);
  dl::exchange::encode_threshold(theirs, 0.25F, other.payload);
  dl::exchange::decode_threshold(other.payload, -0.5F, play.parameters);
  play.say(other.to_message());

  update = play.hear_as<Update>();
  CHECK(update.batch == 1);
  play.say(Stale{1, 1, 1}.to_message());  // refused: the lease was revoked
  play.task(2, 4, 1, 12);
  update = play.hear_as<Update>();
  CHECK(update.lease == 2);
  CHECK(update.batch == 4);
  play.apply_own(13, update);
  const TaskDone done = play.hear_as<TaskDone>();
  CHECK(done.lease == 2);
  CHECK(done.examples == 4);

  play.say(Check{0, 13, play.digest(), 1}.to_message());
  Digest answer = play.hear_as<Digest>();
  CHECK(answer.sequence == 13);
  CHECK(answer.digest == play.digest());
  CHECK(answer.residual_norm > 0);
  CHECK(answer.mass.sent.size > 0);
  CHECK(answer.mass.returned.size == 0);  // it is kept, and may be sent again
  CHECK(answer.updater_state.size() == 2 * kParameters);
  play.say(Check{0, 13, play.digest(), 0}.to_message());
  CHECK(play.hear_as<Digest>().updater_state.empty());
}

TEST_CASE("a missed update makes a sharing worker join again") {
  Play play(Mode::kSharing);
  play.welcome();
  play.hear_as<Ready>();
  play.state(3);
  Apply apply;
  apply.sequence = 3;  // the State had it
  play.say(apply.to_message());
  apply.sequence = 5;
  play.say(apply.to_message());
  play.await_rejoin();
  CHECK(sample::has(play.mail.doing(), "missed update 4"));
  play.welcome();
  play.hear_as<Ready>();
  play.state(5);
  play.task(1, 0, 1, 5);
  CHECK(play.hear_as<Update>().batch == 0);
}

TEST_CASE("an update whose answer was lost is sent again, not trained again") {
  const auto same = [](const Update& a, const Update& b) {
    return a.batch == b.batch && a.payload == b.payload &&
           a.loss_sum == b.loss_sum && a.examples == b.examples;
  };
  Play play(Mode::kSharing);
  play.welcome();
  play.hear_as<Ready>();
  play.state(10);
  play.task(1, 0, 1, 10);
  const Update first = play.hear_as<Update>();
  play.hear_as<TaskDone>();
  // The connection is lost, and the State has not got it.
  play.welcome();
  play.hear_as<Ready>();
  play.state(10);
  play.task(2, 0, 2, 10);
  Update again = play.hear_as<Update>();
  CHECK(again.lease == 2);
  CHECK(same(again, first));
  const Update next = play.hear_as<Update>();
  CHECK(next.batch == 1);
  CHECK(play.hear_as<TaskDone>().examples == 8);
  // The lease is revoked, and given to this worker again.
  play.say(Stale{2, 1, 0}.to_message());
  play.say(Stale{2, 1, 1}.to_message());
  play.task(3, 0, 1, 10);
  CHECK(same(play.hear_as<Update>(), first));
  play.hear_as<TaskDone>();
  // Refused twice: it is wrong, and what it had is trained again.
  play.say(Stale{3, 1, 0}.to_message());
  play.task(4, 0, 1, 10);
  again = play.hear_as<Update>();
  CHECK_FALSE(again.payload == first.payload);
  play.hear_as<TaskDone>();
  // Another one's update of the mini-batch that is adrift is applied.
  Apply other;
  other.sequence = 11;
  other.batch = 1;
  std::vector<float> theirs(kParameters, 0.25F);
  dl::exchange::encode_threshold(theirs, 0.25F, other.payload);
  dl::exchange::decode_threshold(other.payload, -1, play.parameters);
  play.say(other.to_message());
  play.task(5, 1, 1, 11);
  const Update last = play.hear_as<Update>();
  CHECK_FALSE(last.payload == next.payload);
  play.hear_as<TaskDone>();
  play.say(Check{0, 11, play.digest(), 0}.to_message());
  const MassLedger ledger = play.hear_as<Digest>().mass;
  const auto size = [](const Update& update) {
    return dl::exchange::inspect_threshold(update.payload).mass.size;
  };
  CHECK(ledger.returned.size == Approx(size(first) + size(next)));
  CHECK(ledger.sent.size ==
        Approx(size(first) + size(next) + size(again) + size(last)));
  CHECK(ledger.dropped.size == 0);
  CHECK(ledger.given + ledger.returned.sum ==
        Approx(ledger.sent.sum + ledger.clipped.sum + ledger.residual.sum));
  // A lost answer that no later epoch can bring is counted too.
  play.say(Stale{5, 1, 1}.to_message());
  play.task(6, 2, 1, 11);
  const Update unknown = play.hear_as<Update>();
  play.hear_as<TaskDone>();
  play.welcome();
  play.hear_as<Ready>();
  play.state(11);
  play.task(7, 0, 1, 11, 1);
  play.hear_as<Update>();
  play.hear_as<TaskDone>();
  play.say(Check{1, 11, play.digest(), 0}.to_message());
  const MassLedger later = play.hear_as<Digest>().mass;
  CHECK(later.dropped.size == Approx(size(again) + size(unknown)));
  CHECK(later.returned.size == Approx(ledger.returned.size + size(last)));
}

TEST_CASE("a worker that joins again keeps what it has of its own") {
  Play play(Mode::kSharing);
  play.welcome();
  play.hear_as<Ready>();
  play.state(10);
  play.task(1, 0, 1, 10);
  play.hear_as<Update>();
  play.hear_as<TaskDone>();
  play.say(Check{0, 10, play.digest(), 1}.to_message());
  const auto before = play.hear_as<Digest>().updater_state;
  play.welcome();
  play.hear_as<Ready>();
  State state;
  state.version = 10;
  state.parameters = play.parameters;
  state.updater_state.assign(before.size(), 7);
  state.threshold = 0.5;
  play.say(state.to_message());
  play.say(Check{0, 10, play.digest(), 1}.to_message());
  CHECK(play.hear_as<Digest>().updater_state == before);
}

TEST_CASE("no more updates are under way than allowed") {
  Play play(Mode::kSharing);
  play.settings.sharing.in_flight = 2;
  play.welcome();
  play.hear_as<Ready>();
  play.state(0);
  play.task(1, 0, 5, 0);
  const Update first = play.hear_as<Update>();
  play.hear_as<Update>();
  pollfd p{play.mail.outbox.descriptor(), POLLIN, 0};
  while (play.mail.outbox.pop(1)) FAIL("a third update without an answer");
  CHECK(::poll(&p, 1, 50) == 0);
  play.apply_own(1, first);
  CHECK(play.hear_as<Update>().batch == 2);
}

TEST_CASE("an update covers as many mini-batches as were asked for") {
  Play play(Mode::kSharing);
  play.settings.sharing.in_flight = 10;
  play.settings.sharing.push = 2;
  play.settings.sharing.fetch = 3;
  play.welcome();
  play.hear_as<Ready>();
  play.state(7);
  play.task(1, 0, 5, 7);
  const std::vector<std::int64_t> counts = {2, 2, 1};  // the lease is over
  std::int64_t batch = 0;
  for (const std::int64_t count : counts) {
    const Update update = play.hear_as<Update>();
    CHECK(update.batch == batch);
    CHECK(update.count == count);
    CHECK(update.examples == 4 * count);
    CHECK(update.version == 7);
    batch += count;
  }
  CHECK(play.hear_as<TaskDone>().examples == 20);
}

// A rate of 0 for two mini-batches of all workers.
TEST_CASE("a sharing worker's learning rate goes by what all have done") {
  Play play(Mode::kSharing, {.network = R"({
    "seed": 5, "input": {"shape": [3]},
    "updater": {"type": "sgd", "learning_rate":
      {"schedule": "map", "by": "iteration", "values": {"0": 0, "2": 1}}},
    "layers": [{"type": "output", "units": 2, "activation": "softmax",
                "loss": "negative_log_likelihood"}]})",
                             .parameters_of_it = 8});
  play.settings.sharing.in_flight = 10;
  std::int64_t before = 0;  // of these two that are its own
  bool by_place = false;
  SECTION("its own count before they are applied") { before = 2; }
  SECTION("so do those of others") {}
  SECTION("in synchronous rounds the place tells") {
    play.settings.sharing.staleness = 0;
    by_place = true;
  }
  play.welcome();
  play.hear_as<Ready>();
  play.state(7);
  Apply other;
  other.sequence = 8;
  other.origin = 2;
  other.iteration = 2 - before;
  play.say(other.to_message());
  Task task;
  task.lease = task.fence = 1;
  task.version = 8;
  task.first = 2;
  task.count = 3;
  task.iteration = by_place ? task.first : 0;
  play.say(task.to_message());
  for (std::int64_t i = 0; i < task.count; ++i) {
    INFO(i);
    CHECK((play.hear_as<Update>().quanta > 0) == (by_place || i >= before));
  }
}

TEST_CASE("a task waits for the update that it builds on") {
  Play play(Mode::kSharing);
  play.welcome();
  play.hear_as<Ready>();
  play.state(1);
  play.task(1, 0, 1, 2);
  CHECK_FALSE(play.mail.outbox.pop(1));
  Apply apply;
  apply.sequence = 2;
  play.say(apply.to_message());
  CHECK(play.hear_as<Update>().version == 2);
}

TEST_CASE("evaluation covers its batches and can be merged") {
  Play play(Mode::kAveraging);
  play.welcome();
  play.hear_as<Ready>();
  play.state(1);
  Task task;
  task.kind = TaskKind::kEvaluate;
  task.lease = 4;
  task.fence = 1;
  task.version = 1;
  task.count = 5;
  task.evaluations = {"classification", "calibration"};
  play.say(task.to_message());
  const TaskDone done = play.hear_as<TaskDone>();
  CHECK(done.examples == 20);
  REQUIRE(done.evaluations.size() == 2);
  const auto evaluation = dl::eval::evaluation_from_json(
      dl::JsonView(done.evaluations[0], dl::Code::kProtocol));
  CHECK(evaluation->kind() == "classification");
  const double accuracy = evaluation->metric("accuracy");
  CHECK((accuracy >= 0 && accuracy <= 1));
}

}  // namespace dl::cluster::trainer_test
