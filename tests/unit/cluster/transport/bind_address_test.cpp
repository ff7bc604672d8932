#include "libcore/cluster/transport/bind_address.h"

#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>

#include "libcore/base/error.h"
#include "libcore/cluster/transport/transport.h"

namespace dl::cluster::bind_address_test {

namespace {

std::string complaint(const std::string& endpoint, Code code) {
  try {
    return bind_address(endpoint, silent());
  } catch (const Error& error) {
    CHECK(error.code() == code);
    return error.what();
  }
}

}  // namespace

TEST_CASE("addresses stay as they are") {
  for (const char* endpoint :
       {"tcp://*:0", "tcp://*:*", "tcp://127.0.0.1:7", "tcp://0.0.0.0:0",
        "tcp://[::1]:7", "tcp://[::]:0", "ipc:///run/socket", "inproc://x"})
    CHECK(bind_address(endpoint, silent()) == endpoint);
}

TEST_CASE("an interface and a name are an IPv4 address where they have one") {
  CHECK(bind_address("tcp://lo:7", silent()) == "tcp://127.0.0.1:7");
  CHECK(bind_address("tcp://localhost:*", silent()) == "tcp://127.0.0.1:*");
  // With keys or without, it is loopback.
  const RouterSocket router("tcp://lo:0", {}, {});
  CHECK(router.endpoint().starts_with("tcp://127.0.0.1:"));
}

TEST_CASE("loopback by another name is said") {
  std::array<char, 256> name{};
  REQUIRE(gethostname(name.data(), name.size() - 1) == 0);
  std::string said, bound;
  try {
    bound = bind_address(std::string("tcp://") + name.data() + ":0",
                         [&](Level, const std::string& line) { said = line; });
  } catch (const Error&) {
    return;  // this host does not know its name
  }
  CHECK(said.empty() != bound.starts_with("tcp://127."));
}

TEST_CASE("a host that is another one, or none") {
  CHECK_THAT(
      complaint("tcp://no-such-host.invalid:7", Code::kUsage),
      Catch::StartsWith("cannot bind tcp://no-such-host.invalid:7: "
                        "'no-such-host.invalid' is no interface of this host "
                        "that is up and no name of it (name not found)"));
}

}  // namespace dl::cluster::bind_address_test
