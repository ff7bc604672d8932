// Both ends of a connection in one thread, for the tests of sockets.

#ifndef DL_TESTS_UNIT_CLUSTER_TRANSPORT_TRANSPORT_ENDS_H_
#define DL_TESTS_UNIT_CLUSTER_TRANSPORT_TRANSPORT_ENDS_H_

#include <catch2/catch.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "libcore/cluster/transport/transport.h"
#include "tests/unit/scratch.h"

namespace ends {

using namespace dl;
using namespace dl::cluster;
using namespace std::chrono_literals;

inline const std::string kAny = "tcp://127.0.0.1:0";

struct Lines {
  std::vector<std::string> lines;
  Log sink() {
    return [this](Level, const std::string& line) { lines.push_back(line); };
  }
  bool has(const std::string& text) const {
    for (const std::string& line : lines)
      if (line.find(text) != std::string::npos) return true;
    return false;
  }
};

inline Message beat(std::uint64_t progress) {
  return Beat{progress, 0, "test"}.to_message();
}

// Both ends turn in this one thread until `done`, at most 20 s.
template <typename Done>
bool turn(const Done& done) {
  auto end = std::chrono::steady_clock::now() + 20s;
  while (std::chrono::steady_clock::now() < end)
    if (done()) return true;
  return false;
}

// The next message at the master while the worker turns too.
inline RouterSocket::Incoming next(RouterSocket& master, DealerSocket& worker) {
  std::optional<RouterSocket::Incoming> got;
  REQUIRE(turn([&] {
    worker.receive(0ms);
    got = master.receive(10ms);
    return got.has_value();
  }));
  return *got;
}

inline Received next(DealerSocket& worker, RouterSocket& master) {
  std::optional<Received> got;
  REQUIRE(turn([&] {
    master.receive(0ms);
    got = worker.receive(10ms);
    return got.has_value();
  }));
  return std::move(*got);
}

// Both may send all that a master and its workers do, of these sizes.
inline void expect_all(RouterSocket& master, DealerSocket& worker,
                       const Sizes& sizes) {
  master.expect({.from = kFromWorker, .sizes = sizes, .greets = true},
                {.from = kFromMaster, .sizes = sizes});
  worker.expect({.from = kFromMaster, .sizes = sizes},
                {.from = kFromWorker, .sizes = sizes});
}

// The peer's id, once it has said something.
inline std::string meet(RouterSocket& master, DealerSocket& worker) {
  REQUIRE(turn([&] { return worker.send(beat(0), {}, 10ms); }));
  return next(master, worker).peer;
}

// Error of a worker that tries to connect.
inline std::string end_of(RouterSocket& master, DealerSocket& worker) {
  std::string text;
  turn([&] {
    master.receive(0ms);
    try {
      worker.receive(10ms);
      return worker.connected();
    } catch (const Error& error) {
      CHECK(error.code() == Code::kNotAuthorised);
      text = error.what();
      return true;
    }
  });
  return text;
}

}  // namespace ends

#endif  // DL_TESTS_UNIT_CLUSTER_TRANSPORT_TRANSPORT_ENDS_H_
