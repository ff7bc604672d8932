// Tests of libcore/convert/import/sandbox/sandbox.h.

#include "libcore/convert/import/sandbox/sandbox.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <string>
#include <vector>

#include "libcore/base/error.h"

namespace dl::convert::apart_test {
namespace {

constexpr SandboxLimits kLimits{.memory = std::uint64_t{64} << 20,
                                .result = 1 << 20,
                                .time = std::chrono::seconds(2)};

std::string text_of(const io::Mapping& result) {
  const auto bytes = result.bytes();
  const std::string all(reinterpret_cast<const char*>(bytes.data()),
                        bytes.size());
  return all.substr(0, all.find('\0'));
}

void say(const Write& write, const std::string& text) {
  write(std::as_bytes(std::span(text.c_str(), text.size() + 1)));
}

std::string refusal(const std::function<void(const Write&)>& work) {
  try {
    run_in_sandbox(kLimits, work);
  } catch (const Error& e) {
    return std::to_string(static_cast<int>(e.code())) + ": " + e.what();
  }
  return "none";
}

TEST_CASE("what a reader apart writes comes back") {
  const auto result =
      run_in_sandbox(kLimits, [](const Write& write) { say(write, "hello"); });
  CHECK(text_of(*result) == "hello");
}

TEST_CASE("an error of a reader apart is that of the caller") {
  CHECK(refusal([](const Write& write) {
          say(write, "half of it");
          throw Error{Code::kData, "it is cut short"};
        }) == "65: it is cut short");
}

TEST_CASE("a reader apart that crashes is an error") {
  CHECK(refusal([](const Write&) { std::raise(SIGABRT); }) ==
        "65: the library that reads it crashed (signal 6): it is damaged");
  CHECK(refusal([](const Write&) { ::_exit(3); }).starts_with("65: "));
}

TEST_CASE("a reader apart has limits") {
  CHECK(refusal([](const Write& write) {
          const std::string piece(1 << 16, 'x');
          for (int i = 0; i < 64; ++i) say(write, piece);
        }).starts_with("65: it unpacks to more"));
  CHECK(refusal([](const Write&) {
          for (volatile bool on = true; on;) {
          }
        }).starts_with("65: reading it takes longer"));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("a reader apart has only so much memory") {
  CHECK(refusal([](const Write& write) {
          const std::vector<char> much(std::size_t{1} << 30, 'x');
          write(std::as_bytes(std::span(much).first(1)));
        }).starts_with("65: reading it takes more memory"));
}

TEST_CASE("a reader apart opens nothing, neither files nor sockets") {
  const auto result = run_in_sandbox(kLimits, [](const Write& write) {
    std::string got;
    got += ::open("/etc/passwd", O_RDONLY) < 0 ? "" : "file ";
    got += ::socket(AF_INET, SOCK_STREAM, 0) < 0 ? "" : "socket ";
    got += ::unlink("/nowhere/at-all") < 0 && errno == EPERM ? "" : "unlink ";
    got += ::fork() < 0 ? "" : "child ";
    say(write, got);
  });
  CHECK(text_of(*result).empty());
}
#endif

}  // namespace
}  // namespace dl::convert::apart_test
