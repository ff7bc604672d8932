#include "libcore/cluster/transport/local_address.h"

#include <catch2/catch.hpp>

#include "libcore/base/error.h"
#include "libcore/cluster/transport/transport.h"

namespace dl::cluster::local_address_test {

TEST_CASE("the address of this host on the way to another") {
  for (const char* endpoint :
       {"tcp://127.0.0.1:7", "tcp://127.0.0.9:7", "tcp://localhost:7",
        "ipc:///run/dl/socket", "inproc://here"}) {
    INFO(endpoint);
    CHECK(local_address(endpoint) == "127.0.0.1");
  }
  // The address can be bound.
  RouterSocket router("tcp://" + local_address("tcp://localhost:7") + ":*", {},
                      {});
  CHECK(router.endpoint().rfind("tcp://127.0.0.1:", 0) == 0);
}

TEST_CASE("a host that is not to be found is named") {
  try {
    local_address("tcp://no-such-host.invalid:7");
    FAIL("was found");
  } catch (const Error& error) {
    CHECK(error.code() == Code::kUnavailable);
    CHECK(error.what() ==
          std::string("no way to 'no-such-host.invalid:7': name not found"));
  }
}

}  // namespace dl::cluster::local_address_test
