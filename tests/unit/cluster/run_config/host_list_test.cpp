// The hosts of --hosts.

#include "libcore/cluster/run_config/host_list.h"

#include <catch2/catch.hpp>

#include "libcore/base/error.h"
#include "tests/unit/scratch.h"

namespace dl::cluster::host_list_test {
namespace {

using Hosts = std::vector<std::string>;

class File {
 public:
  explicit File(const std::string& text) { folder_.write("hosts", text); }
  std::string path() const { return folder_ / "hosts"; }

 private:
  Scratch folder_;
};

TEST_CASE("hosts, with how many workers each has") {
  CHECK(parse_hosts("h1") == Hosts{"h1"});
  CHECK(parse_hosts("h1,me@h2*2,fd00::7,h1") ==
        Hosts{"h1", "me@h2", "me@h2", "fd00::7", "h1"});
}

TEST_CASE("hosts in a file") {
  const File file("# ours\n\nh1\n  h2*2 # two GPUs\r\n");
  CHECK(parse_hosts("@" + file.path()) == Hosts{"h1", "h2", "h2"});
  CHECK(parse_hosts("h0,@" + file.path() + ",h3") ==
        Hosts{"h0", "h1", "h2", "h2", "h3"});
  const File with_mark("\xEF\xBB\xBFh1, h2*2\n");
  CHECK(parse_hosts("@" + with_mark.path()) == Hosts{"h1", "h2", "h2"});
  const File blanks("h1 h2*2\th3,\nh4 ,h5\n");
  CHECK(parse_hosts("@" + blanks.path()) ==
        Hosts{"h1", "h2", "h2", "h3", "h4", "h5"});
  CHECK_THROWS_WITH(parse_hosts("@" + File("\xff\xfeh").path()),
                    Catch::EndsWith("UTF-8 FILE"));
  const File bad("h1\nh2 slots=2\n");
  CHECK_THROWS_WITH(
      parse_hosts("@" + bad.path()),
      "'" + bad.path() + "', line 2: want HOST or HOST*COUNT, got 'slots=2'");
  CHECK_THROWS_AS(parse_hosts("@/no/such/file"), Error);
  const File empty("# none\n");
  CHECK_THROWS_WITH(parse_hosts("@" + empty.path()),
                    "--hosts: '@" + empty.path() + "' names no host");
}

TEST_CASE("what is no host") {
  for (const char* text :
       {"h1,,h2", "h1*", "h1*0", "h1*x", "h1*2*3", "*2", "-oProxyCommand=x",
        "h 1", "h1*-1", "h1*5000", "me@", "@@h1"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_hosts(text), Error);
  }
  CHECK_THROWS_WITH(parse_hosts("-q"),
                    "--hosts: want HOST or HOST*COUNT, got '-q'");
}

}  // namespace
}  // namespace dl::cluster::host_list_test
