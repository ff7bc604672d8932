// Sinks: whole files or none.

#include "libcore/io/sink.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/io/temporary_name.h"
#include "tests/unit/scratch.h"

namespace dl::io::sink_test {

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

TEST_CASE("a group may have more files than are flushed one by one") {
  Scratch scratch;
  SinkGroup group;
  for (int i = 0; i < 600; ++i) {
    const std::string name = "f" + std::to_string(i);
    auto sink = group.open(scratch / name);
    put(*sink, name);
    sink->close();
  }
  group.publish();
  CHECK(scratch.files() == 600);
  CHECK(scratch.read("f0") == "f0");
  CHECK(scratch.read("f599") == "f599");
}

namespace {

// Result of temporary_name() for the `number`th file of process `pid`.
std::string name_of(const std::string& path, pid_t pid, int number) {
  const std::string own = temporary_name(path);
  return own.substr(0, own.find('-', own.rfind('.', own.size() - 5)) + 1) +
         std::to_string(pid) + "-" + std::to_string(number) + ".tmp";
}

// A process that was, and was waited for, or is to be.
pid_t ended_process(bool zombie = false) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t how{};
  ::waitid(P_PID, static_cast<id_t>(child), &how,
           WEXITED | (zombie ? WNOWAIT : 0));
  return child;
}

void touch(const std::string& path) { std::ofstream(path) << "part"; }

}  // namespace

TEST_CASE("the next sink removes what a writer that is gone left") {
  using std::filesystem::exists;
  Scratch scratch;
  const pid_t gone = ended_process();
  const std::string left = name_of(scratch / "x.y", gone, 0);
  const std::string before_us = name_of(scratch / "x.y", ::getpid(), 1000000);
  const std::string of_parent = name_of(scratch / "x.y", ::getppid(), 0);
  const std::string of_other = name_of(scratch / "x", gone, 0);
  for (const auto& path : {left, before_us, of_parent, of_other}) touch(path);
  scratch.write(".x.y.12-0.tmp", "no place is told");
  auto mine = open_sink(scratch / "x.y");
  auto again = open_sink(scratch / "x.y");  // leaves `mine` alone
  CHECK_FALSE(exists(left));
  CHECK_FALSE(exists(before_us));
  CHECK(exists(of_parent));
  CHECK(exists(of_other));
  CHECK(scratch.files() == 5);
  mine->close();
}

TEST_CASE("a file may have the longest name that there is") {
  Scratch scratch;
  const pid_t gone = ended_process();
  std::string accents;
  while (accents.size() < 254) accents += "\xc3\xa9";
  for (const std::string& name :
       {std::string(kLongestName, 'x'), std::string(kLongestName + 1, 'x'),
        std::string(235, 'x'), std::string(255, 'x'), accents, "x" + accents}) {
    const std::string path = scratch / name;
    const std::string left = name_of(path, gone, 0);
    touch(left);
    CHECK(std::filesystem::exists(left));
    auto sink = open_sink(path);
    put(*sink, "all");
    sink->close();
    CHECK(scratch.read(name) == "all");
    CHECK_FALSE(std::filesystem::exists(left));
    CHECK(is_utf8(left));
  }
}

TEST_CASE("a writer that nobody has waited for is gone as well") {
  Scratch scratch;
  const pid_t gone = ended_process(true);
  const std::string left = name_of(scratch / "x", gone, 0);
  touch(left);
  auto sink = open_sink(scratch / "x");
  CHECK_FALSE(std::filesystem::exists(left));
  ::waitpid(gone, nullptr, 0);
}

TEST_CASE("what a writer elsewhere left is removed after a day") {
  Scratch scratch;
  const std::string fresh = scratch / ".x.01234567-1-0.tmp";
  const std::string old = scratch / ".x.89abcdef-1-0.tmp";
  touch(fresh);
  touch(old);
  std::filesystem::last_write_time(
      old, std::filesystem::last_write_time(old) - std::chrono::hours(25));
  auto sink = open_sink(scratch / "x");
  CHECK(std::filesystem::exists(fresh));
  CHECK_FALSE(std::filesystem::exists(old));
}

}  // namespace dl::io::sink_test
