// The example of dl-protocol(7) is what encode() makes.

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "libcore/cluster/protocol/wire.h"

namespace dl::cluster::protocol_page_test {

// man/dl-protocol.7.scd, EXAMPLE: lines of "offset  bytes  meaning".
TEST_CASE("the example of dl-protocol(7) is what is sent") {
  std::ifstream page(DL_SOURCE_DIR "/man/dl-protocol.7.scd");
  REQUIRE(page);
  std::vector<std::byte> dump;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.rfind("# ", 0) == 0) inside = line == "# EXAMPLE";
    std::size_t bar = line.find("  ");
    if (!inside || bar != 8 || line.find_first_not_of("0123456789abcdef") != 8)
      continue;
    CHECK(std::stoul(line.substr(0, 8), nullptr, 16) == dump.size());
    std::istringstream hex(line.substr(10, 48));
    for (std::string byte; hex >> byte;)
      dump.push_back(static_cast<std::byte>(std::stoul(byte, nullptr, 16)));
  }
  Frames frames = encode(
      Stale{12, 2, 345}.to_message(),
      {"000102030405060708090a0b0c0d0eff", 3, 1, 77, 0, kProtocolVersion},
      1 << 20);
  std::vector<std::byte> want;
  for (const auto& frame : frames)
    want.insert(want.end(), frame.begin(), frame.end());
  CHECK(dump == want);
}

}  // namespace dl::cluster::protocol_page_test
