// Tests of libcore/cluster/run_dir/history_fold.h.

#include "libcore/cluster/run_dir/history_fold.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "libcore/cluster/run_dir/events.h"
#include "tests/unit/error_of.h"
#include "tests/unit/scratch.h"

namespace dl::cluster::history_fold_test {
namespace {

using Lines = std::vector<std::string>;

std::vector<Json> folded(const Lines& lines) {
  std::vector<Json> events;
  HistoryFold fold([&](std::string_view line) {
    events.push_back(Json::parse(line, nullptr, false));
  });
  for (const std::string& line : lines) fold.take(line);
  fold.finish();
  return events;
}

std::string line(const std::string& kind, Json fields, double mono = 0) {
  fields["event"] = kind;
  fields["mono"] = mono;
  fields["run"] = "r";
  return dump_json(fields);
}

std::string start(int batches = 4) {
  return line("start", {{"epoch", 0},
                        {"committed", Json::array()},
                        {"batches", batches},
                        {"examples", 10}});
}

std::string lease(int id, int first, int count, int worker = 1,
                  double mono = 0) {
  return line("lease",
              {{"kind", "train"},
               {"lease", id},
               {"fence", 1},
               {"worker", worker},
               {"epoch", 0},
               {"first", first},
               {"count", count}},
              mono);
}

std::string commit(int id, int first, int examples, int worker = 1,
                   double mono = 0, int epoch = 0) {
  return line("commit",
              {{"lease", id},
               {"fence", 1},
               {"worker", worker},
               {"epoch", epoch},
               {"first", first},
               {"count", 1},
               {"examples", examples},
               {"loss", first},
               {"bytes", 10},
               {"staleness", 1}},
              mono);
}

TEST_CASE("commits become sums by worker, and ranges that prove each once") {
  const auto events = folded(
      {start(), lease(1, 0, 2), lease(2, 2, 2, 2), commit(1, 0, 3, 1, 1),
       commit(2, 2, 3, 2, 2), commit(1, 1, 3, 1, 3), commit(2, 3, 1, 2, 4),
       line("epoch", {{"epoch", 0}, {"examples", 10}}, 5)});
  REQUIRE(events.size() == 4);
  CHECK(events[0]["event"] == "start");
  const Json& sum = events[1];
  CHECK(sum["event"] == "commits");
  CHECK(sum["committed"] == Json::parse("[[0,3,9],[3,1,1]]"));
  CHECK(sum["since"] == 1);
  CHECK(sum["mono"] == 4);
  CHECK(sum["workers"]["1"]["batches"] == 2);
  CHECK(sum["workers"]["1"]["loss"] == 0.5);
  CHECK(sum["workers"]["2"]["loss"] == (3 * 2 + 3) / 4.0);
  CHECK(sum["workers"]["2"]["staleness"] == 1);
  CHECK(events[2]["event"] == "epoch");
  CHECK(events[3]["folded"] == 6);
  // A fold of the fold is the same.
  Lines again;
  for (std::size_t i = 0; i < 3; ++i) again.push_back(dump_json(events[i]));
  CHECK(folded(again)[1] == sum);
}

TEST_CASE("a sum ends after ten seconds, and a lease that is held goes on") {
  const auto events = folded({start(), lease(1, 0, 4), commit(1, 0, 3, 1, 1),
                              commit(1, 1, 3, 1, 12), "{\"event\":\"com"});
  REQUIRE(events.size() == 6);
  CHECK(events[1]["committed"] == Json::parse("[[0,1,3]]"));
  CHECK(events[2].is_discarded());
  CHECK(events[3]["committed"] == Json::parse("[[1,1,3]]"));
  CHECK(events[4]["event"] == "lease");
  CHECK(events[4]["first"] == 2);
  CHECK(events[4]["count"] == 2);
}

TEST_CASE("rounds of averaging are summed, comparisons of replicas stay") {
  const auto round = [](int number, double mono) {
    return line("round",
                {{"round", number},
                 {"epoch", 0},
                 {"first", number},
                 {"count", 1},
                 {"slots", 2},
                 {"examples", 4},
                 {"loss", number},
                 {"bytes", 100}},
                mono);
  };
  const auto events =
      folded({round(1, 1), round(3, 2),
              line("round", {{"epoch", 0}, {"digest", "d"}}, 3)});
  REQUIRE(events.size() == 3);
  CHECK(events[0]["event"] == "round");
  CHECK(events[1]["event"] == "rounds");
  CHECK(events[1]["rounds"] == 2);
  CHECK(events[1]["loss"] == 2);
  CHECK(events[1]["bytes"] == 100);
}

TEST_CASE("a start that goes on forgets what its checkpoint does not have") {
  const std::string resume = line("resume", {{"epoch", 0},
                                             {"committed", {{0, 1}}},
                                             {"batches", 4},
                                             {"examples", 10}});
  const auto events =
      folded({start(), lease(1, 0, 4), commit(1, 0, 3), commit(1, 1, 3), resume,
              lease(1, 1, 3), commit(1, 1, 3)});
  CHECK(events[1]["committed"] == Json::parse("[[0,2,6]]"));
  CHECK(events[2]["event"] == "resume");
  CHECK(events[3]["committed"] == Json::parse("[[1,1,3]]"));
}

TEST_CASE("a history that breaks the rule is not folded") {
  const auto why = [](const Lines& lines) {
    return error_of([&] { folded(lines); });
  };
  CHECK(why({start(), commit(1, 0, 3)}) ==
        "65: line 2: mini-batch 0 of epoch 0 is committed without its lease");
  CHECK(why({start(), lease(1, 0, 2), commit(1, 0, 3), commit(1, 0, 3)}) ==
        "65: line 4: mini-batch 0 of epoch 0 is committed twice");
  CHECK(why({start(), lease(1, 0, 2), commit(1, 2, 3)}) ==
        "65: line 3: mini-batch 2 of epoch 0 is committed outside its lease");
  CHECK(why({start(), lease(1, 0, 2), commit(1, 0, 3, 2)}) ==
        "65: line 3: mini-batch 0 of epoch 0 is committed without its lease");
  CHECK(why({start(), lease(1, 0, 2), commit(1, 0, 3),
             line("epoch", {{"epoch", 0}, {"examples", 3}})}) ==
        "65: line 4: epoch 0 is complete, and 1 of its 4 mini-batches are "
        "committed");
  CHECK_THAT(why({start(), line("commits",
                                {{"epoch", 0},
                                 {"committed", {{0, std::int64_t{1} << 62, 9}}},
                                 {"workers", Json::object()}})}),
             Catch::StartsWith("65: line 2: "));
  CHECK(why({start(), lease(1, 0, 2), lease(1, 2, 2)}) ==
        "65: line 3: lease 1 is given out twice");
}

TEST_CASE("a history that has grown is folded while it is written") {
  const Scratch scratch;
  std::vector<std::string> said;
  constexpr std::int64_t kFoldAfter = 100'000;
  EventLog events(
      scratch / "events.jsonl", "r", 1,
      [&](Level, const std::string& one) { said.push_back(one); },
      monotonic_clock(), kFoldAfter);
  constexpr int kBatches = 20'000;
  events.write("start", {{"epoch", 0},
                         {"committed", Json::array()},
                         {"batches", kBatches},
                         {"examples", kBatches}});
  for (int i = 0; i < kBatches; ++i) {
    Json at = {{"lease", i}, {"fence", 1}, {"worker", 1},
               {"epoch", 0}, {"first", i}, {"count", 1}};
    Json lease = at;
    lease["kind"] = "train";
    events.write("lease", lease);
    at["examples"] = 1;
    events.write("commit", at);
  }
  events.write("epoch", {{"epoch", 0}, {"examples", kBatches}});
  const auto is_folded = [&] {
    return scratch.read("events.jsonl").find(R"("event":"fold")") !=
           std::string::npos;
  };
  for (int i = 0; i < 1000 && !is_folded(); ++i)
    for (int k = 0; k < 100; ++k) events.write("exchange");
  events.sync();
  CHECK(said.empty());
  CHECK(is_folded());
  const std::string text = scratch.read("events.jsonl");
  Lines lines;
  std::istringstream in(text);
  for (std::string one; std::getline(in, one);) lines.push_back(one);
  std::int64_t committed = 0;
  for (const Json& event : folded(lines))  // which checks the epoch
    if (event["event"] == "commits")
      for (const Json& range : event["committed"])
        committed += range[1].get<std::int64_t>();
  CHECK(committed == kBatches);
}

}  // namespace
}  // namespace dl::cluster::history_fold_test
