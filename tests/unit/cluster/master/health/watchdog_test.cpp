#include "libcore/cluster/master/health/watchdog.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace dl::cluster::watchdog_test {

using Catch::Contains;

namespace {

struct Heard {
  std::mutex mutex;
  std::vector<std::string> lines;
  std::atomic<int> count = 0, ended = 0;
  dl::Log log() {
    return [this](dl::Level, const std::string& line) {
      const std::lock_guard lock(mutex);
      lines.push_back(line);
      ++count;
    };
  }
};

}  // namespace

TEST_CASE("a loop that spins is warned of, with what it is at, then ended") {
  Heard heard;
  {
    Watchdog watchdog(0.1, heard.log(), [&] { ++heard.ended; });
    watchdog.turn("taking in ", "Update");
    while (heard.ended == 0) {
    }
  }
  REQUIRE(heard.lines.size() >= 2);
  CHECK_THAT(heard.lines[0], Contains("has stood still for ") &&
                                 Contains("taking in Update") &&
                                 !Contains("it ends"));
  CHECK_THAT(heard.lines[1], Contains("it ends, run it again"));
}

TEST_CASE("a loop that waits for storage is warned of and not ended") {
  Heard heard;
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const int room = ::fcntl(ends[0], F_GETPIPE_SZ);
  const std::vector<char> full(static_cast<std::size_t>(room));
  REQUIRE(::write(ends[1], full.data(), full.size()) == room);
  // Makes room for the write that waits once there were three warnings: at a
  // fifth of the limit, at the limit, and at twice that.
  std::thread reader([&] {
    while (heard.count < 3) std::this_thread::yield();
    std::vector<char> some(full.size());
    (void)!::read(ends[0], some.data(), some.size());
  });
  {
    Watchdog watchdog(0.1, heard.log(), [&] { ++heard.ended; });
    watchdog.turn("writing a checkpoint");
    CHECK(::write(ends[1], "x", 1) == 1);
    reader.join();
  }
  CHECK(heard.ended == 0);
  CHECK_THAT(heard.lines[2], Contains("writing a checkpoint") &&
                                 Contains("it waits for its storage"));
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace dl::cluster::watchdog_test
