// Every message survives the wire, and refuses fields that do not fit.

#include "libcore/cluster/protocol/message.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "libcore/cluster/protocol/probe.h"
#include "libcore/cluster/protocol/wire.h"

namespace dl::cluster::message_test {

using Catch::Contains;
using Catch::Matchers::StartsWith;

namespace {

// Over the wire and back; the copy must give the same body and blobs.
template <typename T>
T through(const T& value) {
  Message message = value.to_message();
  Frames frames = encode(message, {}, 4096);
  std::vector<Frame> views(frames.begin(), frames.end());
  Received received = decode(views, {.most = 1 << 20});
  T copy = T::from_message(received.message);
  Message again = copy.to_message();
  CHECK(again.type == message.type);
  CHECK(again.body == message.body);
  CHECK(again.blobs == message.blobs);
  return copy;
}

// Replaces a field of a good message and expects a sentence that names it.
template <typename T>
void refuses(const T& good, const std::string& key, const Json& bad) {
  Message message = good.to_message();
  message.body[key] = bad;
  INFO(key << " = " << dump_json(bad));
  try {
    T::from_message(message);
    FAIL("was accepted");
  } catch (const Error& error) {
    CHECK(error.code() == Code::kProtocol);
    CHECK_THAT(error.what(), Contains("." + key));
  }
}

std::vector<std::byte> bytes(std::size_t n) {
  std::vector<std::byte> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<std::byte>(i * 7);
  return out;
}

}  // namespace

TEST_CASE("types have names, other numbers have none") {
  CHECK(name_of(MessageType::kHello) == "Hello");
  CHECK(name_of(MessageType::kFault) == "Fault");
  CHECK(name_of(MessageType::kRound) == "Round");
  CHECK(name_of(static_cast<MessageType>(0)).empty());
  CHECK(name_of(static_cast<MessageType>(99)).empty());
}

TEST_CASE("Hello") {
  Hello hello{1,
              "0.1.0",
              "n1/42",
              "n1",
              42,
              7,
              "cpu",
              8,
              std::string(32, 'a'),
              "avx2",
              std::nullopt,
              {4096, UINT64_C(5) << 32}};
  CHECK(through(hello) == hello);
  hello.rank = 3;
  CHECK(through(hello) == hello);
  refuses(hello, "rank", -1);
  refuses(hello, "process", "12");
  refuses(hello, "pid", -1);
  refuses(hello, "pid", 3.7);
  refuses(hello, "threads", 0);
  refuses(hello, "name", "two\nlines");
  refuses(hello, "name", std::string(257, 'x'));
  refuses(hello, "host", 5);
  refuses(hello, "hots", "misspelt");
  refuses(hello, "instructions", "two\nlines");
  refuses(hello, "max_frame", 4095);
  refuses(hello, "max_message", -1);
}

TEST_CASE("Welcome") {
  Welcome welcome;
  welcome.run = "00112233445566778899aabbccddeeff";
  welcome.worker = 3;
  welcome.name = "n1-42-2";
  welcome.network = {{"layers", Json::array({1, 2.5, "x"})}};
  welcome.settings = {{"mode", "sharing"}};
  welcome.training = {{"/data/a.dls", UINT64_MAX, {32, 32, 7}}};
  welcome.target_normalizer = {{"kind", "none"}};
  welcome.evaluation = {{"/data/t.dls", 0, {}}};
  welcome.evaluation[0].alignment.columns = {2, 0};
  welcome.evaluation[0].alignment.classes = {1};
  welcome.takes = {1 << 24, UINT64_C(5) << 32};
  Welcome copy = through(welcome);
  CHECK(copy.training[0].digest == UINT64_MAX);
  CHECK(copy.training[0].records == std::vector<std::int64_t>{32, 32, 7});
  CHECK(copy.network == welcome.network);
  CHECK(copy.takes == welcome.takes);
  CHECK(copy.name == "n1-42-2");
  CHECK(copy.target_normalizer == welcome.target_normalizer);
  CHECK(copy.training[0].alignment.changes_nothing());
  CHECK(copy.evaluation[0].alignment.columns ==
        std::vector<std::int64_t>{2, 0});
  CHECK(copy.evaluation[0].alignment.classes == std::vector<std::int64_t>{1});
  refuses(welcome, "run", "zz");
  refuses(welcome, "max_frame", 0);
  refuses(welcome, "heartbeat_ms", 0);
  refuses(welcome, "silence_ms", 0);
  Json shard = {{"path", "/a"}, {"digest", "12"}, {"records", Json::array()}};
  refuses(welcome, "training", Json::array({shard}));
}

TEST_CASE("the small messages of both sides") {
  CHECK(through(Refuse{77, "unknown key"}).reason == "unknown key");
  refuses(Refuse{77, "x"}, "code", 0);
  refuses(Refuse{77, "x"}, "code", 256);
  const Ready ready = through(Ready{{0, 5, UINT32_MAX}, "0a1b", 17});
  CHECK(ready.unreadable.size() == 3);
  CHECK(ready.run == "0a1b");
  CHECK(ready.version == 17);
  refuses(Ready{}, "version", -1);
  refuses(Ready{}, "unreadable", Json::array({-1}));
  through(Alive{});
  CHECK(through(Rejoin{"measured"}).why == "measured");
  CHECK(through(Rejoin{}).why.empty());
  CHECK(through(Stale{4, 2, -1}).batch == -1);
  CHECK(through(Cut{4, 2}).fence == 2);
  refuses(Stale{4, 2, -1}, "batch", -2);
  CHECK(through(Fault{4, 2, 9, "loss is not finite"}).batch == 9);
  CHECK(through(Fault{4, 2, 9, "damaged", 65, 3, 7}).record == 7);
  refuses(Fault{}, "code", 256);
  refuses(Fault{}, "record", -1);
  CHECK(through(Beat{17, 1024.5, "batch 17", Json::object(), 9}).feed == 9);
  refuses(Beat{}, "exchange", 5);
  refuses(Beat{}, "examples_per_second", -1.0);
  refuses(Beat{}, "examples_per_second",
          std::numeric_limits<double>::infinity());
  CHECK(through(Fetch{true, 1, 2}).record == 2);
  CHECK(through(Record{false, 1, 2, bytes(10'000)}).packed == bytes(10'000));
  CHECK(through(Check{1, 2, UINT64_MAX, 3}).digest == UINT64_MAX);
  refuses(Check{}, "digest", 5);
  refuses(Check{}, "updater_of", true);
  CHECK(through(Statistics{3, {1, 2.5F}}).values ==
        std::vector<float>{1, 2.5F});
  CHECK(through(Stop{75, "again"}).code == 75);
  CHECK(through(Probe{20, bytes(3)}).batches == 20);
  CHECK(through(Probe{}).answer);
  CHECK_FALSE(through(Probe{0, bytes(3), false}).answer);
  CHECK(through(Probe{20, {}, true, 2}).hosts == 2);
  CHECK(through(Probe{20, {}, true, 2, true}).quick);
  CHECK_FALSE(through(Probe{}).quick);
  refuses(Probe{}, "batches", -1);
  refuses(Probe{}, "hosts", 3);
  const Slowest slowest{1, 2, 3, 4, 5, 6, 7, 8}, round{5};
  const Probed probed = through(Probed{0.5, 0.4, 0.7, 0.25, 0.125, 1.5, 9, 2.5,
                                       7, slowest, round, bytes(3), false});
  CHECK(probed.round == 2.5);
  CHECK_FALSE(probed.answer);
  CHECK(probed.delta_bytes == 7);
  CHECK(probed.slowest == slowest);
  CHECK(probed.slowest_round == round);
  refuses(Probed{}, "slowest", {1, 2});
  refuses(Probed{}, "slowest_round", 5);
  CHECK(probed.compute_from == 0.4);
  CHECK(probed.compute_to == 0.7);
  CHECK(probed.load == bytes(3));
  refuses(Probed{}, "compute", -0.5);
  CHECK(through(Leave{"terminated"}).reason == "terminated");
}

TEST_CASE("messages of the tree") {
  const Place place{3, "tcp://10.0.0.7:4000"};
  CHECK(through(place) == place);
  CHECK(through(Place{}) == Place{});
  refuses(place, "endpoint", "ipc:///tmp/x");
  refuses(place, "endpoint", "");
  refuses(place, "parent", -1);
  through(Listen{8});
  CHECK(through(Listening{place.endpoint}).endpoint == place.endpoint);
  refuses(Listening{place.endpoint}, "endpoint", "");
  const Fed fed = through(Fed{3, 17, 18, "gone"});
  CHECK(fed.have == 17);
  CHECK(fed.after == 18);
  CHECK(fed.why == "gone");
  refuses(fed, "have", -1);
  through(Attach{});
  CHECK(through(Feeding{12}).after == 12);
}

TEST_CASE("messages of sync") {
  const Parties parties{3, {"tcp://10.0.0.7:7000", "tcp://h:1"}, Reports::kOwn};
  CHECK(through(parties).endpoints == parties.endpoints);
  CHECK(through(parties).reports == Reports::kOwn);
  refuses(parties, "reports", "some");
  refuses(parties, "endpoints", Json::array());
  refuses(parties, "endpoints", Json::array({"ipc:///tmp/x"}));
  const Part part{9, 3, 4, 2, 17, {5, 1, 32, 0.5}, {1, 2, 3}};
  CHECK(through(part).values == part.values);
  CHECK(through(part).count.examples == 32);
  refuses(part, "slot", 4);
  refuses(part, "slots", 0);
  refuses(part, "first", -1);
  const Mean mean{9, 3, 17, {{5, 1, 32, 0.5}, {6, 1, 16, 0.25}}, "", {1, 2}};
  CHECK(through(mean).counts[1].lease == 6);
  CHECK(through(mean).values == mean.values);
  refuses(mean, "slots", Json::array({{{"lease", 1}}}));
  refuses(mean, "why", "two\nlines");
}

TEST_CASE("messages of sums") {
  const Reduce order{9, 2, 64, 20, 1000, "tcp://10.0.0.7:4000"};
  CHECK(through(order).level == 2);
  CHECK(through(order).count == 20);
  CHECK(through(order).parameters == 1000);
  CHECK(through(order).up == order.up);
  refuses(order, "level", 0);
  refuses(order, "count", 0);
  refuses(order, "count", INT64_MAX);  // first + count would overflow
  refuses(order, "up", "file:///etc/passwd");
  const Reduced sum{9,  1,        8,   {{1, 2, 32, 0.5}, {3, 4, 16, 0.25}},
                    "", bytes(5), {1}, {2, 3}};
  const Reduced copy = through(sum);
  REQUIRE(copy.counts.size() == 2);
  CHECK(copy.counts[1].fence == 4);
  CHECK(copy.counts[1].loss_sum == 0.25);
  CHECK(copy.delta == sum.delta);
  CHECK(copy.updater_state == sum.updater_state);
  refuses(sum, "slots", Json::array({Json{{"lease", 1}}}));
  refuses(sum, "why", 1);
  CHECK(through(Direct{7}).round == 7);
  CHECK(through(Direct{7, true}).pulled);
  CHECK(through(Pull{4, 2, 8, 16}).count == 16);
  CHECK(through(Pull{4, 2}).count == 0);
  refuses(Pull{4, 2, 8, 16}, "count", -1);
  refuses(Pull{4, 2, 8, 16}, "count", 65537);
  refuses(Pull{4, 2, 8, 16}, "first", -1);
  CHECK(through(Slice{4, 2, 8, {1, -2}}).values == std::vector<float>{1, -2});
  refuses(Slice{}, "first", -1);
}

TEST_CASE("texts are made printable by their sender") {
  CHECK(through(Leave{"a\nb\x1b[31m"}).reason == "a?b?[31m");
  CHECK(through(Leave{std::string(9999, 'x')}).reason.size() == 4096);
}

TEST_CASE("State and Result carry floats bit for bit") {
  State state;
  state.version = 12;
  state.threshold = 1e-3;
  state.setbacks = 2;
  state.parameters = {1.5F, -0.0F, 1e-45F, 3e38F};
  state.statistics = {2};
  State copy = through(state);
  CHECK(copy.setbacks == 2);
  CHECK(copy.parameters == state.parameters);
  CHECK(std::signbit(copy.parameters[1]));
  CHECK(copy.updater_state.empty());
  state.fasgd = {4, 5};
  CHECK(through(state).fasgd == state.fasgd);
  refuses(state, "threshold", -1.0);

  state.velocity = {0.5F};
  CHECK(through(state).velocity == state.velocity);

  Result result{1, 2, 5, 6, true, 160, 3.25, bytes(7), {}, {3}};
  CHECK(through(result).delta == bytes(7));
  CHECK(through(result).updater_state == std::vector<float>{3});
  refuses(result, "loss_sum", std::nan(""));
  refuses(result, "examples", -160);
  result.count = 9;
  CHECK(through(result).count == 9);
  refuses(result, "count", -1);

  Message odd = result.to_message();
  odd.blobs[2].pop_back();
  CHECK_THROWS_WITH(Result::from_message(odd), StartsWith("Result: blob 2"));
  odd.blobs.pop_back();
  CHECK_THROWS_WITH(Result::from_message(odd), "Result: want 3 blobs, got 2");
  CHECK_THROWS_WITH(State::from_message(odd),
                    "want a State message, got Result");
}

TEST_CASE("Round") {
  Round round;
  round.version = 12;
  round.momentum = 0.875;
  round.iteration = 11;
  round.epoch = 2;
  round.factor = 0.5;
  round.held = true;
  round.delta = bytes(9);
  round.statistics = {1, 2};
  round.updater_state = {3};
  const Round copy = through(round);
  CHECK(copy.iteration == 11);
  CHECK(copy.factor == 0.5);
  CHECK(copy.held);
  refuses(round, "factor", 0);
  refuses(round, "held", 1);
  CHECK(copy.version == 12);
  CHECK(copy.momentum == 0.875);
  CHECK(copy.delta == bytes(9));
  CHECK(copy.statistics == round.statistics);
  CHECK(copy.updater_state == round.updater_state);
  refuses(round, "momentum", 1.0);
  refuses(round, "momentum", -0.1);
}

TEST_CASE("Task") {
  Task task{TaskKind::kEvaluate,
            7,
            2,
            3,
            1,
            100,
            50,
            400,
            16,
            0.25,
            {2, 9, 8, "tcp://10.0.0.7:4000"},
            {"roc"},
            true,
            {3, 5},
            {101, 102}};
  CHECK(through(task).slot == task.slot);
  refuses(task, "follows", -1);
  CHECK(through(task).without == task.without);
  CHECK(through(task).passed_over == task.passed_over);
  CHECK(through(task).beside == 16);
  refuses(task, "beside", 0);
  CHECK(through(task).factor == 0.25);
  refuses(task, "factor", 0);
  refuses(task, "factor", 1.5);
  refuses(task, "careful", 1);
  refuses(task, "without", Json::array({-1}));
  refuses(task, "passed_over", Json::array({-1}));
  Beat careful;
  careful.lease = 7;
  careful.batch = 101;
  CHECK(through(careful).batch == 101);
  refuses(careful, "batch", -2);
  CHECK(through(Alive{7, 101}).batch == 101);
  refuses(Alive{}, "batch", -2);
  Task copy = through(task);
  CHECK(copy.kind == TaskKind::kEvaluate);
  CHECK(copy.evaluations == std::vector<std::string>{"roc"});
  refuses(task, "kind", "train it");
  refuses(task, "count", INT64_MAX);  // first + count would overflow
  refuses(task, "first", UINT64_MAX);
}

TEST_CASE("Update, Apply, TaskDone and Digest") {
  Update update{1, 2, 3, 4, 5, 32, 4.5, 1e-3, 68, bytes(200)};
  CHECK(through(update).payload == update.payload);
  refuses(update, "quanta", -1);
  refuses(update, "threshold", "1e-3");
  refuses(update, "count", 0);
  refuses(update, "count", INT64_MAX);  // batch + count would overflow
  refuses(update, "version", -1);

  const Apply apply{9, 3, 2, 0, 0.25F, 7, bytes(9)};
  CHECK(through(apply).origin == 3);
  CHECK(through(apply).iteration == 7);
  refuses(apply, "iteration", -1);
  refuses(Apply{}, "scale", 1e300);

  TaskDone done{1, 2, 64, {Json{{"kind", "roc"}}}, {1, 2, 3}};
  CHECK(through(done).evaluations.at(0).at("kind") == "roc");
  refuses(done, "evaluations", Json::array({1}));

  Digest digest{1, 0xfeed, 0.5, {}, {{"batches", 3}}, {1}, {2, 3}};
  digest.mass.sent = {0.25, 7};
  CHECK(through(digest).digest == 0xfeed);
  CHECK(through(digest).mass.sent.size == 7);
  refuses(digest, "digest", "fee");
  refuses(digest, "exchange", Json::array());
}

}  // namespace dl::cluster::message_test
