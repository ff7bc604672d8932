// The update log: what is written is read, what is cut or damaged is passed
// over and said, and the page's example is what is written.

#include "libcore/cluster/run_dir/update_log.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "libcore/base/error.h"
#include "libcore/cluster/run_dir/replay.h"
#include "libcore/exchange/codec/threshold.h"
#include "tests/unit/scratch.h"

namespace dl::cluster::update_log_test {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kElements = 8;
constexpr LogIdentity kIdentity{kElements, 0x1122334455667788};

std::string run_id(char digit) { return std::string(32, digit); }

struct Folder : Scratch {
  std::string log(std::uint64_t base) const {
    for (const LogFile& file : update_logs(path()))
      if (file.base == base) return file.path;
    FAIL("no log after " << base);
    return "";
  }
};

// An update that moves element sequence % 8 by 1/2.
std::vector<std::byte> payload(std::uint64_t sequence) {
  std::vector<float> residual(kElements);
  residual[sequence % kElements] = 0.5F;
  std::vector<std::byte> out;
  dl::exchange::encode_threshold(residual, 0.5F, out);
  return out;
}

void append(UpdateLog& log, std::uint64_t sequence, std::int64_t epoch = 0) {
  const std::vector<std::byte> bytes = payload(sequence);
  LogEntry entry;
  entry.sequence = sequence;
  entry.epoch = epoch;
  entry.first = static_cast<std::int64_t>(sequence - 1) % 100;
  entry.count = 1;
  entry.examples = 4;
  entry.loss_sum = 0.25;
  entry.threshold = 0.5;
  entry.worker = 3;
  entry.payload = bytes;
  log.append(entry);
}

RunState state_at(std::uint64_t version) {
  RunState state;
  state.parameters.assign(kElements, 1.0F);
  for (std::uint64_t i = 1; i <= version; ++i) {
    state.parameters[i % kElements] -= 0.5F;
    add_range(state.committed, static_cast<std::int64_t>(i - 1), 1);
  }
  state.version = version;
  state.examples = static_cast<std::int64_t>(4 * version);
  state.loss_sum = 0.25 * static_cast<double>(version);
  return state;
}

std::vector<std::string> said;
dl::Log log_lines() {
  said.clear();
  return [](dl::Level, const std::string& line) { said.push_back(line); };
}

// Logs of updates 1-5, 6-9 and 10-12, with checkpoints after 5 and 9.
void write_three(const Folder& folder) {
  UpdateLog log(folder.path(), kIdentity, run_id('a'), log_lines());
  log.go_on(0);
  for (std::uint64_t i = 1; i <= 12; ++i) {
    append(log, i);
    if (i == 5 || i == 9) log.begin(i);
  }
  REQUIRE(update_logs(folder.path()).size() == 3);
}

void change(const std::string& path, std::int64_t at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(at);
  const int byte = file.get();
  file.seekp(at);
  file.put(static_cast<char>(byte ^ 0x10));
}

std::uint64_t replayed(const Folder& folder, RunState& state,
                       std::uint64_t until = kLastUpdate) {
  return replay(folder.path(), kIdentity, state, until, log_lines());
}

}  // namespace

TEST_CASE("a log gives back every update from any checkpoint to any step") {
  Folder folder;
  write_three(folder);
  for (const std::uint64_t from : {0, 3, 5, 9, 12})
    for (const std::uint64_t to : {0, 4, 5, 9, 11, 12}) {
      if (to < from) continue;
      INFO(from << " to " << to);
      RunState state = state_at(from);
      CHECK(replayed(folder, state, to) == to - from);
      const RunState want = state_at(to);
      CHECK(state.parameters == want.parameters);
      CHECK(state.version == to);
      CHECK(state.committed == want.committed);
      CHECK(state.examples == want.examples);
      CHECK(state.loss_sum == want.loss_sum);
      CHECK(said.empty());
    }
}

TEST_CASE(
    "a last entry that was not written whole is passed over and cut off") {
  Folder folder;
  write_three(folder);
  const std::string last = folder.log(9);
  const auto whole = fs::file_size(last);
  for (const std::uintmax_t less : {1, 50, 90, 120}) {
    fs::resize_file(last, whole - less);
    RunState state = state_at(9);
    CHECK(replayed(folder, state) == 2);
    REQUIRE(said.size() == 1);
    CHECK_THAT(said[0], Catch::Contains("cut short"));
  }
  // Zeros are what a file system leaves of what it never wrote.
  fs::resize_file(last, whole - kEntryHeadBytes - payload(12).size() - 8);
  fs::resize_file(last, whole + 500);
  RunState zeros = state_at(9);
  CHECK(replayed(folder, zeros) == 2);
  {
    UpdateLog log(folder.path(), kIdentity, run_id('b'), log_lines());
    log.go_on(11);
    append(log, 12);
    append(log, 13);
  }
  RunState state = state_at(0);
  CHECK(replayed(folder, state) == 13);
  CHECK(said.empty());
  CHECK(state.parameters == state_at(13).parameters);
}

TEST_CASE("what is sound before damage is used, and file and offset named") {
  Folder folder;
  write_three(folder);
  const std::string first = folder.log(0);
  // Header; head, length and payload of the first update (after the start).
  constexpr std::int64_t kFirst = kLogHeaderBytes + kEntryHeadBytes + 16 + 8;
  for (const std::int64_t at :
       {std::int64_t{20}, kFirst, kFirst + 3, kFirst + 60,
        kFirst + static_cast<std::int64_t>(kEntryHeadBytes) + 2}) {
    INFO("byte " << at);
    change(first, at);
    RunState state = state_at(0);
    CHECK(replayed(folder, state) == 0);
    CHECK(state.parameters == state_at(0).parameters);
    REQUIRE(said.size() == 1);
    CHECK_THAT(
        said[0],
        Catch::Contains(first) &&
            Catch::Contains(at == 20 ? "header"
                                     : "offset " + std::to_string(kFirst)) &&
            Catch::Contains("the run goes on from update 0"));
    change(first, at);
  }
  RunState other = state_at(0);
  CHECK_THROWS_WITH(
      replay(folder.path(), {kElements, 7}, other, kLastUpdate, log_lines()),
      Catch::Contains("of another run"));
}

TEST_CASE("who goes on from before damage writes another history") {
  for (const std::int64_t at : {std::int64_t{20}, std::int64_t{-30}}) {
    INFO("byte " << at);
    Folder folder;
    write_three(folder);
    const std::string second = folder.log(5);
    const auto size = static_cast<std::int64_t>(fs::file_size(second));
    // The payload of update 9 is behind the start of its entry.
    const std::int64_t byte = at < 0 ? size + at : at;
    change(second, byte);
    std::ofstream(second, std::ios::app) << "what follows";  // so not torn
    const std::uint64_t reached = at < 0 ? 8 : 5;
    RunState state = state_at(0);
    CHECK(replayed(folder, state) == reached);
    CHECK(state.parameters == state_at(reached).parameters);
    // The step before the damage is there, and nothing is lost for it.
    state = state_at(0);
    CHECK(replayed(folder, state, reached) == reached);
    CHECK(said.empty());
    {
      UpdateLog log(folder.path(), kIdentity, run_id('b'), log_lines());
      log.go_on(reached);
      for (std::uint64_t i = reached + 1; i <= 13; ++i) append(log, i);
    }
    state = state_at(0);
    CHECK(replayed(folder, state) == 13);
    CHECK(state.parameters == state_at(13).parameters);
    CHECK(said.empty());
  }
}

TEST_CASE("damage before the newest checkpoint takes nothing from a run") {
  Folder folder;
  write_three(folder);
  change(folder.log(5), 20);                   // its header
  change(folder.log(0), kLogHeaderBytes + 4);  // needed less still
  RunState state = state_at(9);
  CHECK(replayed(folder, state) == 3);
  CHECK(state.parameters == state_at(12).parameters);
  REQUIRE(said.size() == 1);
  CHECK_THAT(said[0], Catch::Contains("the checkpoint has what was in it"));
  // Entries rather than the header.
  change(folder.log(5), 20);
  change(folder.log(5), kLogHeaderBytes + 4);
  state = state_at(9);
  CHECK(replayed(folder, state) == 3);
  // It is needed from an older checkpoint on.
  state = state_at(5);
  CHECK(replayed(folder, state) == 0);
  REQUIRE(said.size() == 2);  // the end of an epoch may be in the first one
  CHECK_THAT(said[1], Catch::Contains("offset") &&
                          Catch::Contains("what came after it is lost"));
}

TEST_CASE("logs that are gone are missed") {
  Folder folder;
  write_three(folder);
  fs::remove(folder.log(9));
  RunState state = state_at(9);
  CHECK(replayed(folder, state) == 0);
  CHECK(said.empty());  // as a master leaves it that dies at its checkpoint
  state = state_at(11);
  CHECK(replayed(folder, state) == 0);
  REQUIRE(said.size() == 1);
  CHECK_THAT(said[0],
             Catch::Contains("the update log after the checkpoint, update "
                             "11, is missing; the run goes on"));
}

TEST_CASE("a log that is cut below its header has no update") {
  for (const std::uintmax_t size : {0, 17}) {
    Folder folder;
    write_three(folder);
    fs::resize_file(folder.log(9), size);
    RunState state = state_at(9);
    CHECK(replayed(folder, state) == 0);
    REQUIRE(said.size() == 1);
    CHECK_THAT(said[0], Catch::Contains("cut short"));
    UpdateLog log(folder.path(), kIdentity, run_id('b'), log_lines());
    log.go_on(9);
    append(log, 10);
    state = state_at(9);
    CHECK(replayed(folder, state) == 1);
  }
}

TEST_CASE("a log that lost its beginning gives what it can") {
  Folder folder;
  write_three(folder);
  fs::remove(folder.log(5));
  RunState state = state_at(0);
  CHECK(replayed(folder, state) == 5);
  REQUIRE(said.size() == 1);
  CHECK_THAT(said[0], Catch::Contains("a gap after update 5"));
  // A master that goes on from there writes another history.
  UpdateLog log(folder.path(), kIdentity, run_id('b'), log_lines());
  log.go_on(5);
  append(log, 6);
  CHECK(update_logs(folder.path()).size() == 1);
}

TEST_CASE("pruning leaves what a checkpoint needs") {
  Folder folder;
  write_three(folder);
  UpdateLog log(folder.path(), kIdentity, run_id('b'), log_lines());
  log.prune(8);
  CHECK(update_logs(folder.path()).front().base == 5);
  log.prune(9);
  CHECK(update_logs(folder.path()).front().base == 9);
  log.prune(100);
  CHECK(update_logs(folder.path()).size() == 1);
}

TEST_CASE("an update that overflows, of an older version, says what helps") {
  Folder folder;
  {
    UpdateLog log(folder.path(), kIdentity, run_id('a'), log_lines());
    log.go_on(0);
    append(log, 1);
    std::vector<float> residual(kElements, 3e38F);
    std::vector<std::byte> huge;
    dl::exchange::encode_threshold(residual, 3e38F, huge);
    for (const std::uint64_t sequence : {2, 3}) {
      LogEntry entry;
      entry.sequence = sequence;
      entry.first = static_cast<std::int64_t>(sequence) - 1;
      entry.count = 1;
      entry.payload = huge;
      log.append(entry);
    }
  }
  RunState state = state_at(0);
  CHECK(replayed(folder, state, 2) == 2);
  state = state_at(0);
  CHECK_THROWS_WITH(
      replayed(folder, state),
      Catch::Contains("update 3 makes the parameters overflow; remove this log "
                      "to go on from the checkpoint before it"));
  fs::remove(folder.log(0));
  state = state_at(0);
  CHECK(replayed(folder, state) == 0);
}

TEST_CASE("the end of an epoch is in the log in case no checkpoint follows") {
  Folder folder;
  RunState state = state_at(3);
  state.statistics = {1, 2};
  {
    UpdateLog log(folder.path(), kIdentity, run_id('a'), log_lines());
    log.go_on(0);
    for (std::uint64_t i = 1; i <= 3; ++i) append(log, i);
    state.history.push_back({0, 12, 0.5, {}});
    state.epoch = 1;
    state.committed.clear();
    state.examples = 0;
    state.loss_sum = 0;
    state.statistics = {3, 4};
    log.end_epoch(state);
    append(log, 4, 1);
  }
  RunState found = state_at(1);
  found.statistics = {1, 2};
  CHECK(replayed(folder, found) == 3);
  CHECK(found.epoch == 1);
  CHECK(found.history.size() == 1);
  CHECK(found.committed == Ranges{{3, 1}});
  CHECK(found.examples == 4);
  CHECK(found.statistics == std::vector<float>{3, 4});
  CHECK(found.parameters == state_at(4).parameters);
  // From a checkpoint after the epoch's end.
  RunState later = state;
  CHECK(replayed(folder, later) == 1);
  CHECK(later.parameters == found.parameters);
}

TEST_CASE("who has an earlier version of this history can catch up") {
  Folder folder;
  write_three(folder);
  UpdateLog log(folder.path(), kIdentity, run_id('b'), log_lines());
  log.go_on(12);
  append(log, 13);
  std::vector<std::uint64_t> seen;
  const auto after = [&](char run, std::uint64_t version,
                         std::uint64_t latest = 13, std::size_t most = 10000) {
    seen.clear();
    return log.visit_after(
        run_id(run), version, latest, most, [&](const LogEntry& entry) {
          CHECK(std::vector(entry.payload.begin(), entry.payload.end()) ==
                payload(entry.sequence));
          seen.push_back(entry.sequence);
        });
  };
  CHECK(after('a', 10));
  CHECK(seen == std::vector<std::uint64_t>{11, 12, 13});
  CHECK(after('a', 0));
  CHECK(seen.size() == 13);
  CHECK(after('a', 12));
  CHECK(seen.size() == 1);
  CHECK(after('b', 12));
  CHECK(seen.size() == 1);
  CHECK(after('b', 11));  // it was told of this by the second master
  CHECK(after('b', 13));
  CHECK(seen.empty());
  // The first master had not come so far: somebody's update 13 is another one.
  CHECK_FALSE(after('a', 13));
  CHECK_FALSE(after('c', 10));              // not of this run
  CHECK_FALSE(after('a', 10, 14));          // it lacks the latest
  CHECK_FALSE(after('a', 10, 13, 2 * 24));  // dearer than the parameters
  log.prune(9);
  CHECK_FALSE(after('a', 8));
  CHECK(after('a', 9));
  CHECK(seen.size() == 4);
  change(folder.log(9), kLogHeaderBytes + 4);
  CHECK_FALSE(after('a', 9));
  CHECK(seen.empty());
}

// man/dl-run.5.scd, UPDATE LOG: lines of "offset  bytes  meaning".
TEST_CASE("the example of dl-run(5) is what is written") {
  std::ifstream page(DL_SOURCE_DIR "/man/dl-run.5.scd");
  REQUIRE(page);
  std::vector<std::byte> dump;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("# ")) inside = line == "# THE UPDATE LOG";
    const std::size_t bar = line.find("  ");
    if (!inside || bar != 8 || line.find_first_not_of("0123456789abcdef") != 8)
      continue;
    CHECK(std::stoul(line.substr(0, 8), nullptr, 16) == dump.size());
    std::istringstream hex(line.substr(10, 48));
    for (std::string byte; hex >> byte;)
      dump.push_back(static_cast<std::byte>(std::stoul(byte, nullptr, 16)));
  }
  std::vector<std::byte> want = encode_log_header({kIdentity, 41});
  const std::vector<std::byte> bytes = {std::byte{1}, std::byte{2}};
  LogEntry entry;
  entry.sequence = 42;
  entry.epoch = 1;
  entry.first = 7;
  entry.count = 1;
  entry.examples = 32;
  entry.loss_sum = 16;
  entry.threshold = 0.5;
  entry.worker = 3;
  entry.staleness = 2;
  entry.payload = bytes;
  encode_entry(entry, want);
  std::string text;
  char hex[8];
  for (std::size_t i = 0; i < want.size(); ++i) {
    std::snprintf(hex, sizeof hex, "%02x", std::to_integer<unsigned>(want[i]));
    text += hex;
    text += i % 16 == 15 ? "\n" : " ";
  }
  INFO(text);
  CHECK(dump == want);
}

}  // namespace dl::cluster::update_log_test
