// Sources: files, commands, patterns.

#include "libcore/io/source.h"

#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "libcore/base/error.h"
#include "libcore/io/mapping.h"
#include "tests/unit/scratch.h"

namespace dl::io::source_test {

namespace {

std::string slurp(const std::string& spec) {
  auto source = open_source(spec);
  std::string text = read_all(*source, 1 << 20);
  source->close();
  return text;
}

template <typename F>
Error thrown_by(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e;
  }
  return Error{Code::kBug, "nothing was thrown"};
}

}  // namespace

TEST_CASE("a path and a command are read alike") {
  Scratch scratch;
  scratch.write("a", "hello\n");
  CHECK(slurp(scratch / "a") == "hello\n");
  CHECK(slurp("pipe:cat '" + (scratch / "a") + "'") == "hello\n");
}

TEST_CASE("what cannot be opened is missing input") {
  Scratch scratch;
  const Error missing = thrown_by([&] { open_source("no/such"); });
  CHECK(missing.code() == Code::kNoInput);
  CHECK(missing.what() ==
        std::string("cannot open 'no/such': No such file or directory"));
  CHECK(thrown_by([&] { open_source(scratch / ""); }).code() == Code::kNoInput);
  CHECK(thrown_by([&] { open_source(""); }).code() == Code::kUsage);
  CHECK(thrown_by([&] { open_source("pipe: "); }).code() == Code::kUsage);
}

TEST_CASE("a command that fails after its output was read is an error") {
  const Error status = thrown_by([] { slurp("pipe:echo x; exit 3"); });
  CHECK(status.code() == Code::kIo);
  CHECK(status.what() ==
        std::string("'pipe:echo x; exit 3' exited with status 3"));
  CHECK(thrown_by([] { slurp("pipe:kill -9 $$"); }).what() ==
        std::string("'pipe:kill -9 $$' was killed by signal 9"));
}

TEST_CASE("a command that is left early is no error") {
  auto source = open_source("pipe:yes");
  std::byte some[10];
  CHECK(source->read(some) == 10);
  source->close();
  source->close();
  // One that would never write again is not waited for.
  auto silent = open_source("pipe:echo x; exec sleep 1000");
  CHECK(silent->read(some) == 2);
}

TEST_CASE(
    "whether a source has something is known, and waiting ends when told") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const int stop = ::eventfd(0, 0);
  const auto source = open_file("/dev/fd/" + std::to_string(ends[0]));
  CHECK_FALSE(source->ready());
  source->stop_at(stop);
  REQUIRE(::write(ends[1], "x", 1) == 1);
  CHECK(source->ready());
  std::byte some[10];
  CHECK(source->read(some) == 1);
  ::eventfd_write(stop, 1);
  const Error told = thrown_by([&] { source->read(some); });
  CHECK(told.code() == Code::kIo);
  ::close(ends[1]);
  CHECK(source->ready());  // to say that it has ended
  source->stop_at(-1);
  CHECK(source->read(some) == 0);
  ::close(ends[0]);
  ::close(stop);
}

TEST_CASE("SIGPIPE is back at its default in a command") {
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  // Bit 12 of the set of ignored signals: the fourth digit from the right.
  const std::string ignored =
      slurp("pipe:grep '^SigIgn:.*[1-9a-f]...$' /proc/self/status || echo no");
  ::signal(SIGPIPE, before);
  CHECK(ignored == "no\n");
}

TEST_CASE("DL_NO_PIPE forbids commands") {
  for (const char* value : {"1", "true", "yes"}) {
    ::setenv("DL_NO_PIPE", value, 1);
    CHECK(thrown_by([] { open_source("pipe:true"); }).code() == Code::kUsage);
  }
  ::setenv("DL_NO_PIPE", "0", 1);
  CHECK(slurp("pipe:true").empty());
  ::unsetenv("DL_NO_PIPE");
  CHECK(slurp("pipe:true").empty());
}

TEST_CASE("patterns give the files they match in byte order") {
  Scratch scratch;
  for (const char* name : {"b.dls", "B.dls", "a.dls", "star*.dls", "c.txt"})
    scratch.write(name, "");
  const std::string all = scratch / "*.dls";
  CHECK(expand_operands({all}) ==
        std::vector<std::string>{scratch / "B.dls", scratch / "a.dls",
                                 scratch / "b.dls", scratch / "star*.dls"});
  // A file with such a name is meant; commands and '-' stay.
  const std::vector<std::string> plain{scratch / "star*.dls", "-", "pipe:cat *",
                                       "none"};
  CHECK(expand_operands(plain) == plain);
  const Error none = thrown_by([&] { expand_operands({scratch / "x*"}); });
  CHECK(none.code() == Code::kNoInput);
}

TEST_CASE("a file is never run, whatever its name") {
  Scratch scratch;
  const std::string evil = "pipe:touch PWNED; cat a.dls #.dls";
  scratch.write("a.dls", "a");
  scratch.write("-.dls", "minus");
  scratch.write("-", "only");
  scratch.write(evil, "evil");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(scratch / ".");
  // Matches of a pattern of ours,
  CHECK(expand_operands({"*.dls"}) ==
        std::vector<std::string>{"-.dls", "a.dls", "./" + evil});
  CHECK(expand_operands({"[-]"}) == std::vector<std::string>{"./-"});
  // operands as the shell's own * gives them,
  CHECK(expand_operands({evil, "-"}) ==
        std::vector<std::string>{"./" + evil, "-"});
  // and what an option names.
  CHECK(slurp(evil) == "evil");
  CHECK(slurp("./" + evil) == "evil");
  CHECK(names_file(evil));
  CHECK(slurp("./-") == "only");
  CHECK(map_file(evil) != nullptr);
  CHECK(thrown_by([] { open_file("pipe:echo x"); }).code() == Code::kNoInput);
  std::filesystem::current_path(before);
  CHECK(!std::filesystem::exists(scratch / "PWNED"));
}

TEST_CASE("read_all has a limit and read_full fills") {
  auto source = open_source("pipe:printf 12345");
  CHECK(thrown_by([&] { read_all(*source, 4); }).code() == Code::kData);
  source = open_source("pipe:printf 1; sleep 0.01; printf 2345");
  std::byte five[8];
  CHECK(read_full(*source, five) == 5);
}

}  // namespace dl::io::source_test
