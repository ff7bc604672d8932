// Sinks: whole files or none.

#include "libcore/io/sink.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "libcore/base/error.h"
#include "tests/unit/io/scratch.h"

using namespace dl;
using namespace dl::io;

namespace {

void put(Sink& sink, std::string_view text) {
  sink.write(std::as_bytes(std::span(text.data(), text.size())));
}

Code code_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.code();
  }
  return Code::kBug;
}

}  // namespace

TEST_CASE("a file appears when its sink is closed, never before") {
  Scratch scratch;
  scratch.write("x", "old");
  auto sink = open_sink(scratch / "x");
  put(*sink, "new");
  CHECK(scratch.read("x") == "old");
  sink->close();
  CHECK(scratch.read("x") == "new");
  sink->close();
  CHECK(scratch.files() == 1);
}

TEST_CASE("a sink that is not closed leaves nothing") {
  Scratch scratch;
  {
    auto sink = open_sink(scratch / "x");
    put(*sink, "new");
    CHECK(scratch.files() == 1);
  }
  CHECK(scratch.files() == 0);
}

TEST_CASE("remove_unfinished() takes what is open and nothing else") {
  Scratch scratch;
  scratch.write("keep", "");
  auto done = open_sink(scratch / "done");
  done->close();
  auto a = open_sink(scratch / "a");
  auto b = open_sink(scratch / "b");
  CHECK(scratch.files() == 4);
  remove_unfinished();
  CHECK(scratch.files() == 2);
  CHECK(code_of([&] { a->close(); }) == Code::kCantCreate);
}

TEST_CASE("permissions and symbolic links of a replaced file are kept") {
  Scratch scratch;
  scratch.write("x", "old");
  ::chmod((scratch / "x").c_str(), 0640);
  std::filesystem::create_symlink("x", scratch / "link");
  auto sink = open_sink(scratch / "link");
  put(*sink, "new");
  sink->close();
  CHECK(std::filesystem::is_symlink(scratch / "link"));
  CHECK(scratch.read("x") == "new");
  struct stat info {};
  ::stat((scratch / "x").c_str(), &info);
  CHECK((info.st_mode & 07777) == 0640);
}

TEST_CASE("what cannot be made or written is said at once") {
  Scratch scratch;
  CHECK(code_of([&] { open_sink(scratch / "no/x"); }) == Code::kCantCreate);
  CHECK(code_of([&] { open_sink(scratch / ""); }) == Code::kCantCreate);
  CHECK(code_of([&] { open_sink(""); }) == Code::kUsage);
  auto full = open_sink("/dev/full");
  CHECK(code_of([&] { put(*full, "x"); }) == Code::kIo);
}

TEST_CASE("a group's files appear together") {
  Scratch scratch;
  {
    SinkGroup group;
    for (const char* name : {"a", "b"}) {
      auto sink = group.open(scratch / name);
      put(*sink, name);
      sink->close();
    }
    CHECK_FALSE(std::filesystem::exists(scratch / "a"));
    group.publish();
    CHECK(scratch.read("a") == "a");
    CHECK(scratch.read("b") == "b");
    auto late = group.open(scratch / "c");
    late->close();
  }
  CHECK(scratch.files() == 2);
}
