// The command that starts a worker, here and on another host.

#include "libcore/cluster/master/launch/worker_command.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>

namespace dl::cluster::worker_command_test {
namespace {

using Words = std::vector<std::string>;

WorkerCommand command() {
  WorkerCommand command;
  command.local_endpoint = "ipc:///run/socket";
  command.endpoint = "tcp://boss:7000";
  command.rsh = "ssh  -o BatchMode=yes";
  command.remote = "/opt/dl/dl-worker --data-root '/my data'";
  command.local_threads = 2;
  return command;
}

TEST_CASE("workers of a host are numbered there") {
  const auto places = worker_places(1, {"a", "b", "a"});
  REQUIRE(places.size() == 4);
  CHECK(places[0].host.empty());
  CHECK(places[1].local_rank == 0);
  CHECK(places[1].local_size == 2);
  CHECK(places[2].local_size == 1);
  CHECK(places[3].host == "a");
  CHECK(places[3].local_rank == 1);
}

TEST_CASE("the shell of another host gets one text") {
  WorkerCommand there = command();
  there.keys = true;
  CHECK(words_of(there, {"me@h1", 1, 4}, "it's") ==
        Words{"ssh", "-o", "BatchMode=yes", "me@h1",
              "env DL_LOCAL_RANK=1 DL_LOCAL_SIZE=4 /opt/dl/dl-worker "
              "--data-root '/my data' --master tcp://boss:7000 --name "
              "'it'\\''s' --exit-on-stdin-eof --quiet --keys -"});
  there.device = "cuda:1";
  there.precision = "tf32";
  there.threads = 3;
  CHECK(words_of(there, {"h1", 0, 1}, "h1:1")
            .back()
            .ends_with("--name h1:1 --exit-on-stdin-eof --device cuda:1 "
                       "--precision tf32 "
                       "--threads 3 --quiet --keys -"));
}

TEST_CASE("a worker of this host is started as it is") {
  Words words = words_of(command(), {}, "local-1");
  REQUIRE_FALSE(words.empty());
  CHECK(words[0].ends_with("dl-worker"));
  words.erase(words.begin());
  CHECK(words == Words{"--master", "ipc:///run/socket", "--name", "local-1",
                       "--exit-on-stdin-eof", "--threads", "2", "--quiet"});
}

TEST_CASE("defaults of the user's workers are not for ours") {
  ::setenv("DL_WORKER_NAME", "mine", 1);
  ::setenv("DL_LOCAL_RANK", "7", 1);
  const Words environment = environment_of({"", 1, 2});
  ::unsetenv("DL_WORKER_NAME");
  ::unsetenv("DL_LOCAL_RANK");
  const auto has = [&](const char* entry) {
    return std::ranges::count(environment, entry) == 1;
  };
  CHECK_FALSE(has("DL_WORKER_NAME=mine"));
  CHECK_FALSE(has("DL_LOCAL_RANK=7"));
  CHECK(has("DL_LOCAL_RANK=1"));
  CHECK(has("DL_LOCAL_SIZE=2"));
}

}  // namespace
}  // namespace dl::cluster::worker_command_test
