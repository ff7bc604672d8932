#include "libcore/vectorize/recipe/share.h"

#include <catch2/catch.hpp>
#include <set>

#include "libcore/base/error.h"
#include "tests/unit/error_of.h"

namespace dl::vectorize::share_test {
namespace {

Record named(const std::string& path) {
  Record record;
  (void)record.columns.emplace("path", path);
  return record;
}

}  // namespace

TEST_CASE("each name is in one share, in about its proportion") {
  const auto shares = parse_split("train=0.7,valid=0.1,test=0.2", "");
  REQUIRE(shares.size() == 3);
  int counts[3] = {};
  for (int i = 0; i < 10000; ++i) {
    Record record = named("a/" + std::to_string(i) + ".jpg");
    int in = 0;
    for (std::size_t s = 0; s < 3; ++s)
      if (shares[s].share.has(record)) {
        ++counts[s];
        ++in;
      }
    REQUIRE(in == 1);
  }
  CHECK(std::abs(counts[0] - 7000) < 200);
  CHECK(std::abs(counts[1] - 1000) < 120);
  CHECK(std::abs(counts[2] - 2000) < 160);
}

TEST_CASE("the share of a name stays what it is") {
  // Other programs, and later versions, must agree.
  const auto shares = parse_split("a=0.5,b=0.5", "");
  std::string where;
  for (const char* path :
       {"cat/1.jpg", "cat/2.jpg", "dog/1.jpg", "dog/2.jpg", "x", "y", "z"}) {
    Record record = named(path);
    where += shares[0].share.has(record) ? 'a' : 'b';
  }
  CHECK(where == "bbabbaa");
}

TEST_CASE("groups stay together, and a name without one is bad") {
  const auto shares = parse_split("a=0.5,b=0.5", "^(p[0-9]+)/");
  std::set<bool> firsts;
  for (int group = 0; group < 50; ++group) {
    std::set<bool> in;
    for (int i = 0; i < 20; ++i) {
      Record record =
          named("p" + std::to_string(group) + "/" + std::to_string(i));
      in.insert(shares[0].share.has(record));
      CHECK(record.problem.empty());
    }
    CHECK(in.size() == 1);
    firsts.insert(*in.begin());
  }
  CHECK(firsts.size() == 2);
  Record record = named("other");
  const bool in_first = shares[0].share.has(record);
  CHECK(shares[1].share.has(record) != in_first);
  CHECK(record.problem ==
        "--group: 'other' has nothing that fits the pattern '^(p[0-9]+)/'");
}

TEST_CASE("outputs of shares are called after them") {
  CHECK(output_of_share("photos.dls", "train") == "photos-train.dls");
  CHECK(output_of_share("a.b/photos", "train") == "a.b/photos-train");
  CHECK(output_of_share("a/.dls", "x") == "a/.dls-x");
}

}  // namespace dl::vectorize::share_test
