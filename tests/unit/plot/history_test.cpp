// Tests of libcore/plot/history.h.

#include "libcore/plot/history.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <ranges>

#include "libcore/base/error.h"
#include "tests/unit/scratch.h"

namespace dl::plot::history_test {
namespace {

void append(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::app | std::ios::binary) << text;
}

std::string commit(int epoch, int first, double loss, double mono,
                   int incarnation = 1) {
  return dump_json({{"event", "commit"},
                    {"epoch", epoch},
                    {"first", first},
                    {"count", 2},
                    {"loss", loss},
                    {"examples", 32},
                    {"worker", 1},
                    {"mono", mono},
                    {"incarnation", incarnation}}) +
         "\n";
}

TEST_CASE("a history is read on as it grows, by whole lines") {
  const Scratch folder;
  const std::string path = folder / "events.jsonl";
  const std::string first = commit(0, 0, 2.5, 10), second = commit(0, 2, 2, 11);
  append(path, first + second.substr(0, 20));
  HistoryReader reader(path);
  CHECK(reader.read());
  CHECK(reader.history().commits.size() == 1);
  CHECK_FALSE(reader.read());
  append(path, second.substr(20));
  CHECK(reader.read());
  REQUIRE(reader.history().commits.size() == 2);
  CHECK(reader.history().commits[1].loss == 2);
  CHECK(reader.history().commits[1].seconds == 1);
  CHECK(reader.history().damaged == 0);
}

TEST_CASE("commits that a restart takes back do not count") {
  const Scratch folder;
  const std::string path = folder / "events.jsonl";
  append(path, commit(0, 0, 3, 10) + commit(1, 0, 2, 11) + commit(1, 2, 2, 12) +
                   commit(2, 0, 1, 13) +
                   R"({"event":"epoch","epoch":0,"loss":3,"mono":13,)"
                   R"("incarnation":1})"
                   "\n"
                   R"({"event":"resume","epoch":1,"committed":[[2,2]],)"
                   R"("mono":500,"incarnation":2})"
                   "\n" +
                   commit(1, 0, 1.5, 501, 2));
  HistoryReader reader(path);
  reader.read();
  const auto& commits = reader.history().commits;
  REQUIRE(commits.size() == 3);
  CHECK(commits[0].epoch == 0);
  CHECK(commits[1].first == 2);
  CHECK(commits[2].loss == 1.5);
  // The time between the starts is left out.
  CHECK(commits[2].seconds == 4);
  CHECK(reader.history().batches_at_epochs() == std::vector<double>{2});
}

TEST_CASE("lines and values that are no events are passed over") {
  const Scratch folder;
  const std::string path = folder / "events.jsonl";
  append(path,
         "{\"event\":\n[1]\n\x01\xff\n{\"event\":7}\n"
         R"({"event":"commit","loss":"x","count":-1,"worker":[],"epoch":1e300})"
         "\n"
         R"({"event":"evaluation","metrics":[1]})"
         "\n"
         R"({"event":"resume","committed":{"a":1}})"
         "\n");
  HistoryReader reader(path);
  reader.read();
  CHECK(reader.history().damaged == 5);
  CHECK(reader.history().commits.empty());
  CHECK(reader.history().held_out.empty());
}

TEST_CASE("a history that is not there is told of") {
  HistoryReader reader("/nowhere/events.jsonl");
  CHECK_THROWS_AS(reader.read(), Error);
}

TEST_CASE("a history that another has replaced is read from its beginning") {
  const Scratch folder;
  const std::string path = folder / "events.jsonl";
  append(path, commit(0, 0, 2.5, 10) + commit(0, 2, 2, 11));
  HistoryReader reader(path);
  CHECK(reader.read());
  append(folder / "other",
         commit(0, 0, 7, 10) + commit(0, 2, 7, 11) + commit(0, 4, 7, 12));
  std::filesystem::rename(folder / "other", path);
  CHECK(reader.read());
  CHECK(reader.history().commits.size() == 3);
  CHECK(reader.history().commits[0].loss == 7);
  CHECK_FALSE(reader.read());
}

TEST_CASE("a line without end takes a bounded amount of memory") {
  const Scratch folder;
  const std::string path = folder / "events.jsonl";
  append(path, std::string(std::size_t{65} << 20, 'x'));
  HistoryReader reader(path);
  CHECK_FALSE(reader.read());
  append(path, "\n" + commit(0, 0, 2.5, 10));
  CHECK(reader.read());
  CHECK(reader.history().damaged == 1);
  CHECK(reader.history().commits.size() == 1);
}

TEST_CASE("sums of a folded history are commits of each worker") {
  const Scratch folder;
  const std::string path = folder / "events.jsonl";
  append(path,
         R"({"event":"commits","epoch":0,"since":1,"mono":9,"incarnation":1,)"
         R"("committed":[[0,30,300],[31,1,7]],"workers":{)"
         R"("1":{"commits":21,"batches":21,"examples":210,"loss":2,"bytes":9},)"
         R"("2":{"commits":10,"batches":10,"examples":97,"loss":1,"bytes":9}}})"
         "\n"
         R"({"event":"fold","lines":70,"folded":60,"mono":9,"incarnation":1})"
         "\n");
  HistoryReader reader(path);
  reader.read();
  REQUIRE(reader.history().commits.size() == 2);
  CHECK(reader.history().commits[0].count == 21);
  CHECK(reader.history().commits[1].examples == 97);
  CHECK(reader.history().folded == 60);
  // Workers lose in proportion what a restart forgets of the sum.
  append(path, R"({"event":"resume","epoch":0,"committed":[[0,15],[31,1]],)"
               R"("mono":20,"incarnation":2})"
               "\n");
  reader.read();
  const auto& commits = reader.history().commits;
  REQUIRE(commits.size() == 2);
  CHECK(commits[0].examples + commits[1].examples == 157);
  CHECK(commits[0].count + commits[1].count == 16);
}

std::string refusal(const std::string& text) {
  const Scratch folder;
  append(folder / "events.jsonl", text);
  HistoryReader reader(folder / "events.jsonl");
  std::string first;
  try {
    reader.read();
  } catch (const Error& e) {
    CHECK(e.code() == Code::kData);
    first = e.what();
    CHECK_THROWS_AS(reader.read(), Error);  // and on
  }
  return first.empty() ? first : first.substr(first.find(", line") + 2);
}

std::string sum(int first, int count, int batches) {
  return R"({"event":"commits","epoch":0,"mono":9,"incarnation":1,)"
         R"("committed":[[)" +
         std::to_string(first) + "," + std::to_string(count) +
         R"(,64]],"workers":{"1":{"batches":)" + std::to_string(batches) +
         "}}}\n";
}

TEST_CASE("mini-batches that are committed twice are refused") {
  CHECK(refusal(sum(0, 4, 4) + sum(4, 4, 4)).empty());
  CHECK(refusal(sum(0, 4, 4) + sum(0, 4, 4)) ==
        "line 2: mini-batch 0 of epoch 0 is committed twice");
  CHECK(refusal(sum(4, 4, 4) + sum(2, 3, 3)) ==
        "line 2: mini-batch 4 of epoch 0 is committed twice");
  CHECK(refusal(sum(0, 4, 4) + commit(0, 3, 1, 10)) ==
        "line 2: mini-batch 3 of epoch 0 is committed twice");
  CHECK(refusal(commit(0, 0, 1, 10) + "\n" + commit(0, 1, 1, 10)) ==
        "line 3: mini-batch 1 of epoch 0 is committed twice");
  const std::string back =
      R"({"event":"resume","epoch":0,"committed":[[0,2]],"mono":1,)"
      R"("incarnation":2})"
      "\n";
  CHECK(refusal(sum(0, 4, 4) + back + sum(2, 2, 2)).empty());
  CHECK(refusal(sum(0, 4, 4) + back + sum(1, 2, 2)) ==
        "line 3: mini-batch 1 of epoch 0 is committed twice");
  // A restart may be in the line that is damaged.
  CHECK(refusal(sum(0, 4, 4) + "damaged\n" + sum(0, 4, 4)).empty());
}

TEST_CASE("sums of workers are of all mini-batches that are committed") {
  CHECK(refusal(sum(0, 4, 3)) ==
        "line 1: 4 mini-batches are committed, and the sums of their workers "
        "have 3");
}

TEST_CASE("of a long history summaries at equal distances are drawn") {
  const Scratch folder;
  const std::string path = folder / "events.jsonl";
  {
    std::ofstream file(path);
    for (int i = 1; i <= 20'000; ++i)
      file << R"({"batches":)" << i
           << R"(,"epoch":0,"event":"summary","layers":{"a":{}}})"
           << "\n";
  }
  HistoryReader reader(path);
  reader.read();
  const auto& all = reader.history().summaries;
  REQUIRE(all.size() > 2000);
  CHECK(all.size() < 4000);
  for (std::size_t i = 1; i < all.size(); ++i)
    CHECK(all[i].batches - all[i - 1].batches <= 16);
  CHECK(all.front().batches <= 8);
  CHECK(all.back().batches > 19'990);
}

TEST_CASE("of a long history older commits are means") {
  const Scratch folder;
  const std::string path = folder / "events.jsonl";
  constexpr int kCommits = 500'000;
  {
    std::ofstream file(path);
    for (int i = 0; i < kCommits; ++i)
      file << R"({"event":"commit","epoch":0,"first":)" << i
           << R"(,"count":1,"examples":2,"loss":)" << i % 7 << R"(,"worker":)"
           << 1 + i % 3 << "}\n";
  }
  HistoryReader reader(path);
  reader.read();
  const History& history = reader.history();
  CHECK(history.thinned);
  CHECK(history.commits.size() < 400'000);
  double batches = 0, loss = 0;
  for (const Commit& one : history.commits) {
    batches += static_cast<double>(one.count);
    loss += one.loss * static_cast<double>(one.count);
  }
  CHECK(batches == kCommits);
  const auto [least, most] = std::ranges::minmax(
      history.commits | std::views::transform(&Commit::count));
  CHECK(most <= 4 * least);
  CHECK(loss / kCommits == Approx(3).margin(0.01));
}

TEST_CASE("bins have edges and quantiles") {
  CHECK(edges_of(1).first == 0);
  CHECK(edges_of(255) == std::pair(1.0, 1.5));
  CHECK(edges_of(-255) == std::pair(-1.5, -1.0));
  const Bins bins{0, 1, -1.25, 1.5, {{-255, 1}, {1, 2}, {255, 1}}};
  CHECK(bins.count() == 4);
  CHECK(bins.share_of_zeros() == 0.5);
  CHECK(bins.quantile(0.25) == -1);
  CHECK(bins.quantile(1) == 1.5);
}

}  // namespace
}  // namespace dl::plot::history_test
