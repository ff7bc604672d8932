// The host's address that --interface and --network mean.

#include "libcore/cluster/transport/own_address.h"

#include <arpa/inet.h>

#include <catch2/catch.hpp>

#include "libcore/base/error.h"

namespace dl::cluster::own_address_test {
namespace {

HostAddress address(const std::string& interface, const std::string& text) {
  HostAddress result{
      interface, text, text.find(':') == text.npos ? AF_INET : AF_INET6, {}};
  REQUIRE(inet_pton(result.family, text.c_str(), result.bytes.data()) == 1);
  return result;
}

const std::vector<HostAddress>& host() {
  static const std::vector<HostAddress> kHost = {
      address("lo", "127.0.0.1"),  address("lo", "::1"),
      address("eth0", "fe80::1"),  address("eth0", "fd00::7"),
      address("eth0", "10.0.3.7"), address("eth0", "10.0.4.7"),
      address("ib0", "10.1.0.7")};
  return kHost;
}

std::string said;

std::string of_interface(const std::string& name) {
  said.clear();
  return own_address({name, ""}, host(),
                     [](Level, const std::string& line) { said = line; });
}

std::string of_network(const std::string& network) {
  said.clear();
  return own_address({"", network}, host(),
                     [](Level, const std::string& line) { said = line; });
}

TEST_CASE("the address in a network") {
  CHECK(of_network("10.1.0.0/16") == "10.1.0.7");
  CHECK(said.empty());
  CHECK(of_network("10.0.4.0/22") == "10.0.4.7");
  CHECK(of_network("10.0.4.7") == "10.0.4.7");
  CHECK(of_network("fd00::/8") == "[fd00::7]");
  CHECK(of_network("0.0.0.0/0") == "10.0.3.7");  // others reach it
  CHECK(of_network("127.0.0.0/8") == "127.0.0.1");
  CHECK(of_network("10.0.0.0/8") == "10.0.3.7");
  CHECK(said ==
        "taking 10.0.3.7 (eth0) of 10.0.3.7 (eth0), 10.0.4.7 (eth0), "
        "10.1.0.7 (ib0)");
}

TEST_CASE("the address of an interface") {
  CHECK(of_interface("ib0") == "10.1.0.7");
  CHECK(of_interface("eth0") == "10.0.3.7");
  CHECK(said ==
        "taking 10.0.3.7 (eth0) of 10.0.3.7 (eth0), 10.0.4.7 (eth0), "
        "fd00::7 (eth0)");
}

TEST_CASE("one that is not there") {
  CHECK_THROWS_WITH(of_network("192.168.0.0/16"),
                    "--network 192.168.0.0/16: no address of this host is in "
                    "that network; there are 127.0.0.1 (lo), ::1 (lo), fd00::7 "
                    "(eth0), 10.0.3.7 (eth0), 10.0.4.7 (eth0), 10.1.0.7 (ib0)");
  CHECK_THROWS_WITH(own_address({"eth7", ""}, {host()[0]}, silent()),
                    "--interface eth7: no interface of that name is up; there "
                    "are 127.0.0.1 (lo)");
  CHECK_THROWS_WITH(own_address({"eth0", ""}, {host()[2]}, silent()),
                    "--interface eth0: it has no address; there are none");
  try {
    of_network("192.168.0.0/16");
  } catch (const Error& error) {
    CHECK(error.code() == Code::kUnavailable);
  }
}

TEST_CASE("what is no network") {
  for (const char* text : {"10.0.0/16", "10.0.0.0/33", "10.0.0.0/", "eth0",
                           "fd00::/129", "10.0.0.0/8x", ""}) {
    INFO(text);
    if (*text != '\0') CHECK_THROWS_AS(of_network(text), Error);
  }
  CHECK_THROWS_WITH(check_network({"eth0", "10.0.0.0/8"}),
                    "want one of --interface and --network");
}

TEST_CASE("this host has its loopback") {
  CHECK(at_own_address("tcp://*:7000", {"", "127.0.0.0/8"}, silent()) ==
        "tcp://127.0.0.1:7000");
  CHECK_THROWS_AS(
      at_own_address("tcp://10.0.0.7:7000", {"", "127.0.0.0/8"}, silent()),
      Error);
  CHECK_THROWS_AS(at_own_address("ipc:///s", {"lo", ""}, silent()), Error);
}

TEST_CASE("what is told instead") {
  CHECK(advertised("tcp://pod:7000", "gate") == "tcp://gate:7000");
  CHECK(advertised("tcp://pod:7000", "gate:31000") == "tcp://gate:31000");
  CHECK(advertised("tcp://pod:7000", "[fd00::7]") == "tcp://[fd00::7]:7000");
  CHECK(advertised("tcp://pod:7000", "[fd00::7]:80") == "tcp://[fd00::7]:80");
  for (const char* text : {"", "gate:", "gate:0", "gate:x", ":80", "fd00::7"}) {
    INFO(text);
    CHECK_THROWS_AS(advertised("tcp://pod:7000", text), Error);
  }
  CHECK_THROWS_AS(advertised("ipc:///s", "gate"), Error);
}

}  // namespace
}  // namespace dl::cluster::own_address_test
