#include "libcore/io/mapping.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "tests/unit/scratch.h"

namespace dl::io::mapping_test {

TEST_CASE("a file is mapped and survives its replacement") {
  const Scratch scratch;
  scratch.write("a", "text");
  const auto mapping = dl::io::map_file(scratch / "a");
  REQUIRE(mapping);
  scratch.write("b", "other");
  std::filesystem::rename(scratch / "b", scratch / "a");
  const auto bytes = mapping->bytes();
  CHECK(std::string(reinterpret_cast<const char*>(bytes.data()),
                    bytes.size()) == "text");
}

TEST_CASE("what is no file with contents is not mapped") {
  const Scratch scratch;
  scratch.write("empty", "");
  REQUIRE(::mkfifo((scratch / "fifo").c_str(), 0600) == 0);
  for (const std::string& spec :
       {std::string("-"), std::string("pipe:cat x"), std::string(),
        scratch / "empty", scratch / "fifo", scratch / "missing", scratch / ""})
    CHECK_FALSE(dl::io::map_file(spec));
}

}  // namespace dl::io::mapping_test
