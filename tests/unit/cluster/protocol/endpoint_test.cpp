#include "libcore/cluster/protocol/endpoint.h"

#include <catch2/catch.hpp>

namespace dl::cluster::endpoint_test {

TEST_CASE("an endpoint is taken apart and put together") {
  CHECK(tcp_address("tcp://[::1]:7000") == "[::1]:7000");
  CHECK(ipc_path("ipc:///run/m") == "/run/m");
  CHECK_FALSE(tcp_address("ipc:///run/m"));
  CHECK_FALSE(ipc_path("tcp://a:1"));
  CHECK_FALSE(tcp_address(""));
  CHECK(tcp_endpoint("a:1") == "tcp://a:1");
  CHECK(ipc_endpoint("/m") == "ipc:///m");
}

TEST_CASE("what other hosts can reach is not local") {
  for (const char* local :
       {"ipc:///run/m", "inproc://m", "tcp://127.0.0.1:7", "tcp://127.9.9.9:7",
        "tcp://localhost:7", "tcp://[::1]:7"})
    CHECK(is_local(local));
  for (const char* open :
       {"tcp://*:0", "tcp://0.0.0.0:7", "tcp://[::]:7", "tcp://10.0.0.1:7",
        "tcp://localhost.example:7", "tcp://a127.0.0.1:7",
        "tcp://127.example.org:7", "tcp://127.0.0.1.example.org:7",
        "tcp://127.0.0.1", ""})
    CHECK_FALSE(is_local(open));
}

}  // namespace dl::cluster::endpoint_test
