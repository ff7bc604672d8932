// Tests of libcore/cluster/run_dir/events.h.

#include "libcore/cluster/run_dir/events.h"

#include <catch2/catch.hpp>
#include <vector>

#include "tests/unit/error_of.h"
#include "tests/unit/full_disk.h"
#include "tests/unit/scratch.h"

namespace dl::cluster::events_test {

std::vector<std::string> events_in(const std::string& text) {
  std::vector<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    found.push_back(Json::parse(line).at("event"));
  return found;
}

TEST_CASE("events that a full disk refuses are written once it can take them") {
  const Scratch scratch;
  std::vector<std::string> said;
  EventLog events(
      scratch / "events.jsonl", "r", 1,
      [&](Level, const std::string& line) { said.push_back(line); });
  events.write("first");
  const auto size = static_cast<rlim_t>(scratch.read("events.jsonl").size());
  {
    const FullDisk full(size + 7);
    events.write("second");
    events.write("third");
    CHECK(scratch.read("events.jsonl").size() == size + 7);
    CHECK(error_of([&] { events.sync(); }).starts_with("74: cannot write"));
  }
  CHECK(said.size() == 1);
  events.write("fourth");
  CHECK_NOTHROW(events.sync());
  CHECK(events_in(scratch.read("events.jsonl")) ==
        std::vector<std::string>{"first", "second", "third", "fourth"});
}

TEST_CASE("a line that a crash cut short is closed") {
  const Scratch scratch;
  scratch.write("events.jsonl", "{\"event\":\"a");
  EventLog events(scratch / "events.jsonl", "r", 2, {});
  events.write("next");
  const std::string text = scratch.read("events.jsonl");
  CHECK(text.starts_with("{\"event\":\"a\n{"));
  CHECK(text.ends_with("}\n"));
}

}  // namespace dl::cluster::events_test
