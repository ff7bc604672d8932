// Witnesses against a mini-batch, and who does it after them.

#include "libcore/cluster/master/health/losses.h"

#include <catch2/catch.hpp>

namespace dl::cluster::losses_test {

namespace {

Member member(const std::string& name, const std::string& host,
              const std::string& key = "", bool proven = false) {
  static std::uint64_t processes = 0;
  Member result;
  result.number = result.hello.process = ++processes;
  result.hello.name = name;
  result.hello.host = host;
  result.key = key;
  result.proven = proven;
  return result;
}

// Whether the mini-batch is to blame after all of these died over it.
bool blamed(const std::vector<Member>& dead, std::vector<Member> others) {
  Losses losses;
  for (const Member& each : dead) losses.add(7, each, true);
  std::vector<Member*> there;
  for (Member& each : others) there.push_back(&each);
  return !losses.victims(7, there).empty();
}

}  // namespace

TEST_CASE("all of one host, key or name are one witness") {
  const std::vector<Member> others{member("x", "x", "x", true),
                                   member("y", "y", "y", true)};
  const auto three = [&](const char* b_name, const char* b_host,
                         const char* b_key) {
    return blamed({member("a", "a", "a", true), member(b_name, b_host, b_key),
                   member("c", "c", "c")},
                  others);
  };
  CHECK(three("b", "b", "b"));
  CHECK_FALSE(three("a", "b", "b"));
  CHECK_FALSE(three("b", "a", "b"));
  CHECK_FALSE(three("b", "b", "c"));
  // Without keys nobody shares one.
  CHECK(blamed({member("a", "a", "", true), member("b", "b"), member("c", "c")},
               others));
}

TEST_CASE("nobody is witness who never did good work, while others did") {
  const std::vector<Member> dead{member("a", "a"), member("b", "b"),
                                 member("c", "c")};
  CHECK_FALSE(blamed(dead, {member("x", "x", "", true)}));
  CHECK(blamed(dead, {member("x", "x")}));
  CHECK(blamed(dead, {}));
}

TEST_CASE("where there are few hosts, those are enough") {
  const auto one = [] { return member("a", "a", "", true); };
  CHECK_FALSE(blamed({one(), one()}, {}));
  CHECK(blamed({one(), one(), one()}, {}));
  CHECK_FALSE(blamed({one(), one(), one()}, {member("b", "b", "", true)}));
  CHECK(blamed({one(), one(), member("b", "b")}, {member("c", "b")}));
}

TEST_CASE("work that somebody died with goes to who is least like that one") {
  Member dead = member("a-1", "a", "k"), good = member("b", "b", "j", true),
         beginner = member("c", "c", "j"), beside = member("a-2", "a", "j"),
         next = member("a-3", "a", "k"), again = member("a-1", "a", "k");
  std::vector<Member*> there{&again, &next, &beside, &beginner, &good};
  Losses losses;
  losses.add(7, dead, false);
  CHECK(losses.may(again, 8, there));
  while (!there.empty()) {
    for (const Member* each : there)
      CHECK(losses.may(*each, 7, there) == (each == there.back()));
    there.pop_back();
  }
}

TEST_CASE("a process that is back was no witness") {
  Losses losses;
  const Member a = member("a", "a"), b = member("b", "b"), c = member("c", "c");
  for (const Member* each : {&a, &b, &c}) losses.add(7, *each, true);
  CHECK_FALSE(losses.victims(7, {}).empty());
  losses.forgive(b.hello.process);
  CHECK(losses.victims(7, {}).empty());
  losses.settle(6, 2);
  CHECK_FALSE(losses.concern(7));
}

}  // namespace dl::cluster::losses_test
