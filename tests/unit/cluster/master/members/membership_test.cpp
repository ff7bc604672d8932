#include "libcore/cluster/master/members/membership.h"

#include <catch2/catch.hpp>

#include "libcore/base/error.h"

namespace dl::cluster::membership_test {

namespace {

Hello hello(const std::string& name, std::int64_t pid) {
  Hello h;
  h.name = name;
  h.host = "host";
  h.pid = pid;
  h.process = static_cast<std::uint64_t>(pid);
  return h;
}

}  // namespace

TEST_CASE("a name is taken while its worker is heard of") {
  Membership members;
  Member& a = members.admit("p1", hello("a", 1), 0, 6, nullptr);
  CHECK(a.number == 1);
  CHECK_THROWS_WITH(members.admit("p2", hello("a", 2), 5, 6, nullptr),
                    "the name 'a' is in use by host:1");
  // Silent for too long: the name is free.
  std::optional<Member> replaced;
  Member& b = members.admit("p2", hello("a", 2), 7, 6, &replaced);
  CHECK(b.number == 2);
  REQUIRE(replaced);
  CHECK(replaced->number == 1);
  CHECK(members.find("p1") == nullptr);
  CHECK(members.find(1) == nullptr);
  CHECK(members.find("p2") == &b);
  CHECK(members.find(2) == &b);
  members.remove("p2");
  CHECK(members.find(2) == nullptr);
}

TEST_CASE("the same process on a new connection replaces its old self") {
  Membership members;
  members.admit("p1", hello("a", 1), 0, 6, nullptr);
  std::optional<Member> replaced;
  members.admit("p2", hello("a", 1), 1, 6, &replaced);
  REQUIRE(replaced);
  CHECK(replaced->peer == "p1");
  CHECK(members.present().size() == 1);
  CHECK(members.joined() == 2);
}

TEST_CASE("two workers of one host and process id are two") {
  Membership members;
  Hello first = hello("", 1), second = hello("", 1);
  second.process = 2;
  CHECK(members.admit("p1", first, 0, 6, nullptr).hello.name == "host-1");
  CHECK(members.admit("p2", second, 0, 6, nullptr).hello.name == "host-1-2");
  CHECK(members.present().size() == 2);
  // On a new connection each keeps its name.
  std::optional<Member> replaced;
  CHECK(members.admit("p3", second, 1, 6, &replaced).hello.name == "host-1-2");
  REQUIRE(replaced);
  CHECK(replaced->peer == "p2");
  // The name of one that fell silent is free.
  Hello third = hello("", 1);
  third.process = 3;
  CHECK(members.admit("p4", third, 7, 6, nullptr).hello.name == "host-1");
}

TEST_CASE("the master feeds those whom nobody else does") {
  Membership members;
  Member& a = members.admit("p1", hello("a", 1), 0, 6, nullptr);
  Member& b = members.admit("p2", hello("b", 2), 0, 6, nullptr);
  CHECK(members.fed_by_master() == std::vector<Member*>{&a, &b});
  CHECK(members.set_feeder(a, 2) == 0);
  CHECK(a.seat.fed_by == 2);
  CHECK(members.fed_by_master() == std::vector<Member*>{&b});
  CHECK(members.set_feeder(a, 0) == 2);
  members.remove("p2");
  CHECK(members.fed_by_master() == std::vector<Member*>{&a});
}

TEST_CASE("silence is noticed once and ends with a word") {
  Membership members;
  Member& a = members.admit("p1", hello("a", 1), 0, 6, nullptr);
  a.ready = true;
  CHECK(members.silent(6, 6, kReturn).empty());
  REQUIRE(members.silent(6.5, 6, kReturn).size() == 1);
  CHECK(members.silent(7, 6, kReturn).empty());
  CHECK(members.workers().empty());
  CHECK(members.heard(a, 8));
  CHECK_FALSE(members.heard(a, 8.1));
  CHECK(members.workers().size() == 1);
}

TEST_CASE("bytes on their way are a sign of life, for an hour") {
  Membership members;
  Member& a = members.admit("p1", hello("a", 1), 0, 6, nullptr);
  a.ready = true;
  const auto working = [](const Member&) { return true; };
  Membership::note_flow(a, {.in = false, .out = true}, 50);
  CHECK(members.stuck(100, 60, working).empty());
  // Bytes that it takes in do not say whether it can still speak.
  REQUIRE(members.silent(50, 6, kReturn).size() == 1);
  members.heard(a, 100);
  for (double now = 105; now < 100 + kLongestTransfer; now += 5) {
    Membership::note_flow(a, {.in = true, .out = false}, now);
    REQUIRE(members.silent(now + 5, 6, kReturn).empty());
    REQUIRE(members.stuck(now + 5, 60, working).empty());
  }
  const double late = 100 + kLongestTransfer + 7;
  Membership::note_flow(a, {.in = true, .out = true}, late);
  CHECK(members.silent(late, 6, kReturn).size() == 1);
}

TEST_CASE("bytes between workers are a sign of progress") {
  Membership members;
  Member& a = members.admit("p1", hello("a", 1), 0, 6, nullptr);
  a.ready = true;
  const auto working = [](const Member&) { return true; };
  Beat beat;
  beat.flow = 1;
  members.beat(a, beat, 50);
  members.beat(a, beat, 80);  // nothing moved
  CHECK(members.stuck(110, 60, working).empty());
  CHECK(members.stuck(111, 60, working).size() == 1);
}

TEST_CASE("nobody is silent while the master itself stands still") {
  Membership members;
  Member& a = members.admit("p1", hello("a", 1), 0, 6, nullptr);
  a.ready = true;
  members.pardon(20, 22);
  CHECK(a.heard == 20);
  CHECK(members.silent(26, 6, kReturn).empty());
  members.pardon(20, 27);
  CHECK(a.heard == 27);  // and not later than now
}

TEST_CASE("who lost its connection is silent unless it soon has another") {
  Membership members;
  Member& a = members.admit("p1", hello("a", 1), 0, 6, nullptr);
  Member& b = members.admit("p2", hello("b", 2), 0, 6, nullptr);
  a.closed = b.closed = 0.5;
  members.admit("p3", hello("b", 2), 0.9, 6, nullptr);
  // Messages sent before its end may still arrive.
  members.heard(a, 1);
  CHECK(members.silent(1.9, 6, kReturn).empty());
  const std::vector<Member*> silent = members.silent(2.1, 6, kReturn);
  REQUIRE(silent.size() == 1);
  CHECK(silent[0]->peer == "p1");
  CHECK(members.silent(3, 6, kReturn).empty());
}

TEST_CASE("a worker that beats without progress is stuck until it moves") {
  Membership members;
  Member& a = members.admit("p1", hello("a", 1), 0, 6, nullptr);
  a.ready = true;
  const auto working = [](const Member&) { return true; };
  const auto idle = [](const Member&) { return false; };
  Beat beat;
  beat.progress = 3;
  CHECK_FALSE(members.beat(a, beat, 10));
  CHECK(members.stuck(40, 60, working).empty());
  CHECK(members.stuck(60, 60, idle).empty());  // no work: the clock restarts
  CHECK(members.stuck(119, 60, working).empty());
  REQUIRE(members.stuck(121, 60, working).size() == 1);
  CHECK_FALSE(a.can_work());
  CHECK_FALSE(members.beat(a, beat, 122));
  CHECK_FALSE(a.can_work());
  beat.progress = 4;
  CHECK(members.beat(a, beat, 123));
  CHECK(a.can_work());
}

TEST_CASE("who counts more mini-batches than it was given does not move") {
  Membership members;
  Member& a = members.admit("p1", hello("a", 1), 0, 6, nullptr);
  a.ready = true;
  a.leased = 10;
  const auto working = [](const Member&) { return true; };
  Beat beat;
  beat.progress = 1000;  // as many as it did for another master
  for (int second = 1; second < 100; ++second) {
    members.beat(a, beat, second);
    ++beat.progress;
    if (second < 60) CHECK(members.stuck(second, 60, working).empty());
  }
  CHECK(members.stuck(99, 60, working).size() == 1);
}

TEST_CASE("workers come in the order in which they joined") {
  Membership members;
  for (const char* peer : {"z", "y", "x"})
    members.admit(peer, hello(peer, 1 + peer[0]), 0, 6, nullptr).ready = true;
  const auto workers = members.workers();
  REQUIRE(workers.size() == 3);
  CHECK(workers[0]->peer == "z");
  CHECK(workers[2]->peer == "x");
}

}  // namespace dl::cluster::membership_test
