#include "libcore/cluster/tree/peers.h"

#include <catch2/catch.hpp>

#include "libcore/cluster/transport/security/keys.h"
#include "tests/unit/cluster/transport/transport_ends.h"

namespace dl::cluster::peers_test {

using namespace ends;
using Catch::Contains;

namespace {

const std::string kRun(32, 'a');

// A worker; key: the secret one of the run that it knows, or "".
struct Node {
  Lines log;
  Peers peers{log.sink()};

  Node(std::uint64_t number, const std::string& key) {
    Welcome welcome;
    welcome.run = kRun;
    welcome.worker = number;
    welcome.tree_key = key;
    peers.begin_session(kAny, welcome, false);
  }
  void hear(const Message& message, std::uint64_t feed = 0) {
    Envelope envelope;
    envelope.run = kRun;
    envelope.feed = feed;
    peers.from_master({envelope, message});
  }
};

// Report of a child to the master about its parent.
Fed outcome(Node& parent, Node& child) {
  std::vector<Message> told;
  REQUIRE(turn([&] {
    parent.peers.serve();
    child.peers.serve();
    told = child.peers.take_for_master();
    return !told.empty();
  }));
  return Fed::from_message(told.front());
}

}  // namespace

TEST_CASE("a parent feeds those of its run, and lets nobody else in") {
  const std::string key = make_key_pair().secret_key;
  Node parent(1, key);
  parent.hear(State{}.to_message(), 7);
  parent.hear(Listen{2}.to_message());
  const std::vector<Message> told = parent.peers.take_for_master();
  REQUIRE(told.size() == 1);
  const Place place{1, Listening::from_message(told[0]).endpoint};

  for (const std::string& wrong : {make_key_pair().secret_key, std::string()}) {
    Node stranger(2, wrong);
    stranger.hear(place.to_message());
    const Fed fed = outcome(parent, stranger);
    CHECK(fed.parent == 0);
    // How far the child saw it go depends on the load of the machine.
    CHECK_THAT(fed.why, Contains(place.endpoint) &&
                            (Contains("does not have this run's key") ||
                             Contains("handshake refused") ||
                             Contains("gives no handshake yet")));
  }

  Node child(3, key);
  child.hear(State{}.to_message(), 5);
  child.hear(place.to_message());
  const Fed fed = outcome(parent, child);
  CHECK(fed.parent == 1);
  CHECK(fed.have == 5);
  CHECK(fed.after == 7);
}

}  // namespace dl::cluster::peers_test
