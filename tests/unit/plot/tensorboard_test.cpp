// Tests of libcore/plot/tensorboard.h.

#include "libcore/plot/tensorboard.h"

#include <catch2/catch.hpp>

#include "tests/unit/scratch.h"

namespace dl::plot::tensorboard_test {
namespace {

TEST_CASE("records have the checksums of TFRecord") {
  // RFC 3720: 32 bytes of 0 have the CRC 8a9136aa.
  const std::uint32_t rotated = 0x8a9136aaU >> 15U | 0x8a9136aaU << 17U;
  CHECK(masked_crc(std::string(32, '\0')) == rotated + 0xa282ead8U);
}

TEST_CASE("an event file begins with its version, at the time of the run") {
  const Scratch folder;
  folder.write("events.jsonl",
               R"({"event":"start","ts":"1970-01-02T00:00:01.500Z","mono":5})"
               "\n"
               R"({"event":"epoch","epoch":2,"loss":0.5,"mono":7})"
               "\n");
  const Run run(folder.path());
  CHECK(event_file_name(run.history().begin) ==
        "events.out.tfevents.0000086401.dl-plot");
  RunEvents events(run);
  const std::string file = events.more(run);
  CHECK(file.find("brain.Event:2") == 8 + 4 + 9 + 2);
  CHECK(file.find("epoch/loss") != std::string::npos);
  CHECK(events.more(run).empty());
}

}  // namespace
}  // namespace dl::plot::tensorboard_test
