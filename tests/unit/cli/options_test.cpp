// Tests of libcore/cli/options.h.

#include "libcore/cli/options.h"

#include <catch2/catch.hpp>
#include <cstdlib>

#include "libcore/base/error.h"
#include "libcore/cli/options_state.h"

namespace dl::cli::options_test {

using cli::Options;

namespace {

struct Args {
  std::int64_t shards = 4;
  std::string output = "x";
  double rate = 0.5;
  bool force = false;
  std::uint64_t memory = 256 << 20;
  std::chrono::milliseconds wait{60000};
  std::vector<std::string> many, inputs;
};

std::string parse(Args& args, std::vector<std::string> words) {
  Options options("dl-test");
  options.add("shards,n", &args.shards, "COUNT", "how many shards");
  options.add("output,o", &args.output, "PREFIX", "start of names");
  options.add("rate", &args.rate, "RATE", "a rate");
  options.flag("force,f", &args.force, "overwrite");
  options.size("memory", &args.memory, "SIZE", "memory to use");
  options.duration("wait", &args.wait, "TIME", "how long to wait");
  options.add("many", &args.many, "X", "several");
  options.rest(&args.inputs);
  words.insert(words.begin(), "dl-test");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  try {
    options.state().parse(static_cast<int>(argv.size()), argv.data());
  } catch (const Error& error) {
    CHECK(error.code() == Code::kUsage);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("options and operands come in any order") {
  Args args;
  CHECK(parse(args, {"a", "-n", "7", "--output=y", "--force", "b", "--many",
                     "1", "--many=2", "--", "-c"}) == "");
  CHECK(args.shards == 7);
  CHECK(args.output == "y");
  CHECK(args.force);
  CHECK(args.many == std::vector<std::string>{"1", "2"});
  CHECK(args.inputs == std::vector<std::string>{"a", "b", "-c"});
}

TEST_CASE("a lone dash is an operand") {
  Args args;
  CHECK(parse(args, {"-"}) == "");
  CHECK(args.inputs == std::vector<std::string>{"-"});
}

TEST_CASE("negative numbers are values") {
  Args args;
  CHECK(parse(args, {"--shards", "-1"}) == "");
  CHECK(args.shards == -1);
}

TEST_CASE("mistakes are named") {
  Args args;
  CHECK(parse(args, {"--bogus"}) == "unrecognised option '--bogus'");
  CHECK(parse(args, {"--shar", "7"}) ==
        "unrecognised option '--shar'; did you mean '--shards'?");
  CHECK(parse(args, {"--shards", "3x"}) ==
        "--shards: want an integer, got '3x'");
  CHECK(parse(args, {"--rate", "nan"}) == "--rate: want a finite number");
  CHECK(parse(args, {"-n", "1", "-n", "2"}) == "--shards is given twice");
  CHECK(parse(args, {"--wait", "5"}) ==
        "--wait: want a time such as 30s or 5m, got '5'");
}

TEST_CASE("sizes and times have units") {
  CHECK(cli::parse_size("1Ki") == 1024);
  CHECK(cli::parse_size("64M") == 64000000);
  CHECK(cli::parse_size("1.5Gi") == 1610612736);
  CHECK_THROWS_AS(cli::parse_size("-1"), Error);
  CHECK_THROWS_AS(cli::parse_size("12X"), Error);
  CHECK(cli::parse_duration("250ms").count() == 250);
  CHECK(cli::parse_duration("2h").count() == 7200000);
  CHECK(cli::parse_duration("0").count() == 0);
}

TEST_CASE("what the environment set can be said as arguments") {
  Options options("dl-test");
  std::int64_t n = 1, m = 1;
  bool on = false, off = false;
  options.add("number", &n, "N", "a number");
  options.add("other", &m, "N", "another");
  options.flag("on", &on, "a flag");
  options.flag("off", &off, "another");
  ::setenv("DL_TEST_NUMBER", "7", 1);
  ::setenv("DL_TEST_OTHER", "8", 1);
  ::setenv("DL_TEST_ON", "1", 1);
  ::setenv("DL_TEST_OFF", "0", 1);
  std::string words[] = {"dl-test", "--other=9"};
  char* argv[] = {words[0].data(), words[1].data()};
  options.state().parse(2, argv);
  for (const char* name : {"NUMBER", "OTHER", "ON", "OFF"})
    ::unsetenv((std::string("DL_TEST_") + name).c_str());
  CHECK(options.from_environment() ==
        std::vector<std::string>{"--number=7", "--on"});
}

TEST_CASE("the command line beats the environment") {
  setenv("DL_TEST_SHARDS", "9", 1);
  setenv("DL_TEST_OUTPUT", "env", 1);
  Args args;
  CHECK(parse(args, {"-n", "1"}) == "");
  CHECK(args.shards == 1);
  CHECK(args.output == "env");
  setenv("DL_TEST_SHARDS", "", 1);  // as unset
  CHECK(parse(args, {}) == "");
  setenv("DL_TEST_SHARDS", "x", 1);
  CHECK(parse(args, {}) == "DL_TEST_SHARDS: want an integer, got 'x'");
  unsetenv("DL_TEST_SHARDS");
  unsetenv("DL_TEST_OUTPUT");
}

TEST_CASE("a flag of the environment is 1 or 0") {
  const auto forced = [](const char* text) {
    setenv("DL_TEST_FORCE", text, 1);
    Args args;
    const std::string error = parse(args, {});
    unsetenv("DL_TEST_FORCE");
    return error.empty() ? args.force ? "yes" : "no" : error;
  };
  CHECK(forced("1") == "yes");
  CHECK(forced("0") == "no");
  CHECK(forced("") == "no");
  CHECK(forced("false") == "DL_TEST_FORCE: want 1 or 0, got 'false'");
}

}  // namespace dl::cli::options_test
