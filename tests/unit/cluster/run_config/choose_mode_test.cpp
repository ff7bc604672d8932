// The mode that auto comes to before anything is measured.

#include "libcore/cluster/run_config/choose_mode.h"

#include <catch2/catch.hpp>

#include "libcore/base/error.h"
#include "tests/unit/scratch.h"

namespace dl::cluster::choose_mode_test {
namespace {

struct Command {
  Scratch folder;
  MasterOptions options;

  Command() { options.run = folder.path(); }
  MasterOptions chosen() const {
    MasterOptions result = options;
    choose_mode(result, silent());
    return result;
  }
};

}  // namespace

TEST_CASE("workers of this host alone are one process") {
  Command command;
  command.options.local = 3;
  command.options.threads = 2;
  command.options.min_workers = 3;
  const MasterOptions chosen = command.chosen();
  CHECK(chosen.mode == "averaging");
  CHECK(chosen.averaging.alone);
  CHECK(chosen.local == 1);
  CHECK(chosen.merged == 3);
  CHECK(chosen.threads == 6);
  CHECK(chosen.min_workers == 1);
  CHECK_FALSE(chosen.measure);
}

TEST_CASE("where others come as well, or each has a GPU, it is measured") {
  const auto is_measured = [](const auto& change) {
    Command command;
    command.options.local = 2;
    change(command.options);
    const MasterOptions chosen = command.chosen();
    CHECK(chosen.local == command.options.local);
    CHECK_FALSE(chosen.averaging.alone);
    return chosen.measure && chosen.mode == "sharing";
  };
  CHECK(is_measured([](MasterOptions& o) { o.hosts_listed = {"h1"}; }));
  CHECK(is_measured([](MasterOptions& o) { o.min_workers = 3; }));
  CHECK(is_measured([](MasterOptions& o) { o.device = "cuda"; }));
  CHECK(is_measured([](MasterOptions& o) { o.local = 0; }));
  CHECK_FALSE(is_measured([](MasterOptions& o) { o.estimate = true; }));
}

TEST_CASE("a mode that is given stays, and one that there is not is refused") {
  Command command;
  command.options.local = 2;
  command.options.mode = "sync";
  CHECK(command.chosen().mode == "sync");
  CHECK(command.chosen().local == 2);
  command.options.mode = "ring";
  CHECK_THROWS_WITH(
      command.chosen(),
      "--mode: want auto, averaging, sharing or sync, got 'ring'");
}

TEST_CASE("a run goes on in the mode in which it began") {
  Command command;
  command.options.local = 2;
  command.folder.write("run.json", R"({"settings": {"mode": "sharing"}})");
  CHECK(command.chosen().mode == "sharing");
  CHECK(command.chosen().local == 2);
  CHECK_FALSE(command.chosen().measure);
  command.folder.write(
      "run.json",
      R"({"settings": {"mode": "averaging", "averaging": {"alone": true}}})");
  CHECK(command.chosen().averaging.alone);
  CHECK(command.chosen().local == 1);
  command.options.hosts_listed = {"h1"};
  CHECK(command.chosen().averaging.alone);
  CHECK(command.chosen().local == 2);
  command.options.hosts_listed.clear();
  // Others tell of a file that is no run.
  command.folder.write("run.json", "{");
  CHECK(command.chosen().merged == 2);
  command.folder.write("run.json", R"({"settings": {"mode": "sharing"}})");
  command.options.fresh = true;
  CHECK(command.chosen().merged == 2);
}

}  // namespace dl::cluster::choose_mode_test
