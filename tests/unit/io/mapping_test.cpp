// Tests of libcore/io/mapping.h.

#include "libcore/io/mapping.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/unit/error_of.h"
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

std::string text_of(const Mapping& mapping) {
  const auto bytes = mapping.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST_CASE("a copy stays as it was when its file is cut or overwritten") {
  const Scratch scratch;
  scratch.write("a", "text");
  const auto copy = copy_file(scratch / "a");
  REQUIRE(copy);
  scratch.write("a", "");
  CHECK(text_of(*copy) == "text");
  CHECK_NOTHROW(copy->require_unchanged());
  CHECK_FALSE(copy_file(scratch / "a"));
}

TEST_CASE(
    "a mapping tells that its file was written to, not that it was read") {
  const Scratch scratch;
  scratch.write("a", "text");
  const auto mapping = map_file(scratch / "a");
  REQUIRE(mapping);
  CHECK(scratch.read("a") == "text");
  CHECK_NOTHROW(mapping->require_unchanged());
  scratch.write("a", "texts");
  CHECK(error_of([&] { mapping->require_unchanged(); })
            .ends_with("was written to while it was read; run this again once "
                       "it is whole"));
}

TEST_CASE("who reads where a file was cut ends with its name and 74") {
  const Scratch scratch;
  scratch.write("a", std::string(3 << 14, 'x'));
  const auto mapping = map_file(scratch / "a");
  REQUIRE(mapping);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::open((scratch / "said").c_str(), O_WRONLY | O_CREAT, 0600), 2);
    (void)!::truncate((scratch / "a").c_str(), 1);
    const volatile std::byte last = mapping->bytes().back();
    ::_exit(static_cast<int>(last));
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 74);
  CHECK(scratch.read("said").ends_with(
      ": '" + (scratch / "a") +
      "' was cut, or its storage failed, while it was read\n"));
}

}  // namespace dl::io::mapping_test
