// Tests of libcore/cluster/run_dir/run_directory.h.

#include "libcore/cluster/run_dir/run_directory.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "libcore/cluster/run_dir/events.h"
#include "libcore/cluster/run_dir/run_state.h"
#include "tests/unit/error_of.h"
#include "tests/unit/full_disk.h"
#include "tests/unit/scratch.h"

namespace dl::cluster::run_directory_test {

namespace fs = std::filesystem;

namespace {

constexpr const char* kNetwork = R"({"input": {"shape": [2]}, "layers": [
  {"type": "output", "units": 2, "activation": "softmax",
   "loss": "negative_log_likelihood"}]})";

const Json kRun = {{"settings", Json::object()}, {"network", Json::object()}};

dl::nn::Model model(float value) {
  dl::nn::Model m;
  m.config = dl::nn::parse_network(kNetwork, "'net'");
  m.parameters.assign(6, value);
  m.training = RunState{}.to_json();
  return m;
}

void corrupt(const std::string& path) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-3, std::ios::end);
  file.put('\x55');
}

}  // namespace

TEST_CASE("one master at a time, and each start is counted") {
  Scratch folder;
  const std::string path = folder / "m.run";
  {
    RunDirectory first(path);
    CHECK(first.incarnation() == 1);
    first.settle(kRun);
    CHECK_THROWS_WITH(
        RunDirectory(path),
        Catch::Contains("in use by process " + std::to_string(::getpid())));
  }
  CHECK(RunDirectory(path).incarnation() == 2);
  CHECK(RunDirectory(path).incarnation() == 3);
}

TEST_CASE("a changed configuration is refused by name") {
  Scratch folder;
  RunDirectory run(folder.path());
  const Json before = {{"settings", {{"batch", 32}, {"seed", "1"}}},
                       {"layers", {{{"units", 3}}, {{"units", 4}}}}};
  run.settle(before);
  run.settle(before);
  Json after = before;
  after["settings"]["batch"] = 64;
  CHECK_THROWS_WITH(run.settle(after),
                    Catch::Contains("settings.batch = 32, now it is 64"));
  after = before;
  after["layers"][1]["units"] = 5;
  CHECK_THROWS_WITH(run.settle(after),
                    Catch::Contains("layers[1].units = 4, now it is 5"));
  after = before;
  after["extra"] = true;
  CHECK_THROWS_WITH(run.settle(after),
                    Catch::Contains("extra = nothing, now it is true"));
}

TEST_CASE("two checkpoints are kept and a damaged one is passed over") {
  Scratch folder;
  RunDirectory run(folder.path());
  std::vector<std::string> said;
  const auto log = [&](dl::Level, const std::string& line) {
    said.push_back(line);
  };
  CHECK_FALSE(run.newest(log));
  for (int i = 1; i <= 3; ++i) run.save(model(static_cast<float>(i)));
  CHECK_FALSE(fs::exists(run.file("checkpoint-000001.safetensors")));
  CHECK(run.newest(log)->model.parameters[0] == 3);
  CHECK(said.empty());

  corrupt(run.file("checkpoint-000003.safetensors"));
  const auto found = run.newest(log);
  REQUIRE(found);
  CHECK(found->name == "checkpoint-000002.safetensors");
  CHECK(found->model.parameters[0] == 2);
  CHECK(said.size() == 1);
  CHECK(run.save(model(4)) == "checkpoint-000004.safetensors");

  corrupt(run.file("checkpoint-000003.safetensors"));
  corrupt(run.file("checkpoint-000004.safetensors"));
  CHECK_THROWS_AS(run.newest(log), dl::Error);
  // Starting over forgets them.
  std::ofstream(run.file("mine.txt")) << "stays";
}

TEST_CASE("starting over removes a run's files and nothing else") {
  Scratch folder;
  {
    RunDirectory run(folder.path());
    run.settle(kRun);
    run.save(model(1));
    std::ofstream(run.file("mine.txt")) << "stays";
    std::ofstream(run.file("events.jsonl")) << "{}\n";
  }
  RunDirectory run(folder.path());
  run.clear();
  run.settle({{"a", 2}});
  CHECK_FALSE(fs::exists(run.file("events.jsonl")));
  CHECK_FALSE(fs::exists(run.file("checkpoint-000001.safetensors")));
  CHECK(fs::exists(run.file("mine.txt")));
}

TEST_CASE("a folder that was made for a start that is refused goes with it") {
  Scratch folder;
  const std::string path = folder / "m.run";
  { RunDirectory run(path); }
  CHECK_FALSE(fs::exists(path));
  {
    RunDirectory run(path);
    std::ofstream(run.file("mine.txt")) << "stays";
  }
  CHECK(fs::exists(path + "/mine.txt"));
  { RunDirectory run(path); }  // now it was there before
  CHECK(fs::exists(path + "/mine.txt"));
}

TEST_CASE(
    "a folder of others with names of a run's files is no run directory") {
  for (const char* name : {"events.jsonl", "data-train-0.dls", "run.json",
                           "updates-000000000000.log", "best.safetensors"}) {
    Scratch folder;
    std::ofstream(folder / name) << "{}";
    CHECK_THROWS_WITH(RunDirectory(folder.path()),
                      Catch::Contains("holds no run, but a file '" +
                                      std::string(name) + "'"));
    CHECK_FALSE(fs::exists(folder / "lock"));
  }
  Scratch folder;
  for (const char* name : {"data-mine.dls", "updates-mine.log", "best.txt"})
    std::ofstream(folder / name) << "{}";
  CHECK(RunDirectory(folder.path()).incarnation() == 1);
}

TEST_CASE("what has learnt is told from what was begun only") {
  Scratch folder;
  CHECK_FALSE(has_learnt(folder.path()));
  {
    RunDirectory run(folder.path());
    run.settle(kRun);
    CHECK_FALSE(has_learnt(folder.path()));
    run.save(model(1));  // as it was drawn
    CHECK_FALSE(has_learnt(folder.path()));
    dl::nn::Model trained = model(2);
    RunState state;
    state.version = 1;
    trained.training = state.to_json();
    run.save(trained);
  }
  CHECK(has_learnt(folder.path()));
}

TEST_CASE("events are whole lines, also after one that was cut short") {
  Scratch folder;
  const std::string path = folder / "events.jsonl";
  const auto log = [](dl::Level, const std::string&) {};
  std::ofstream(path) << "{\"event\":\"comm";
  {
    EventLog events(path, "r1", 2, log);
    events.write("join", {{"worker", 1}});
    events.write("lost");
  }
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);  // the torn one
  std::getline(in, line);
  const Json join = Json::parse(line);
  CHECK(join["event"] == "join");
  CHECK(join["worker"] == 1);
  CHECK(join["run"] == "r1");
  CHECK(join["incarnation"] == 2);
  CHECK(join.contains("ts"));
  CHECK(join.contains("mono"));
  std::getline(in, line);
  CHECK(Json::parse(line)["event"] == "lost");
}

TEST_CASE("a lock that was cut short still counts the starts") {
  Scratch folder;
  const std::string path = folder / "m.run";
  RunDirectory(path).settle(kRun);
  {
    RunDirectory second(path);
    CHECK_THROWS_WITH(RunDirectory(path), Catch::Contains(" on "));
  }
  std::ofstream(path + "/lock") << "812 7\n";  // of version 0.1
  CHECK(RunDirectory(path).incarnation() == 8);
}

TEST_CASE("a full disk that cuts a lock short does not block the next start") {
  Scratch folder;
  const std::string path = folder / "m.run";
  fs::create_directory(path);
  {
    const FullDisk full(3);
    CHECK(error_of([&] {
            RunDirectory start(path);
          }).starts_with("74: cannot write '" + path + "/lock'"));
  }
  CHECK(fs::file_size(path + "/lock") == 0);
  std::ofstream(path + "/lock") << "31";  // of earlier versions
  CHECK(RunDirectory(path).incarnation() == 1);
  std::ofstream(path + "/lock") << "1 7\n";
  {
    const FullDisk full(5);
    CHECK_THROWS(RunDirectory(path));
  }
  CHECK(RunDirectory(path).incarnation() == 8);
}

TEST_CASE("where a run stands survives its checkpoint") {
  RunState state;
  state.epoch = 3;
  state.committed = {{0, 5}, {9, 1}};
  state.examples = 77;
  state.loss_sum = 0.1 + 0.2;
  state.version = 12;
  state.history.push_back({2, 100, 0.25, {{"accuracy", 0.5}}});
  const Json json = state.to_json();
  RunState back;
  back.restore(dl::JsonView(json, dl::Code::kData));
  CHECK(back.to_json() == json);
  CHECK(back.loss_sum == state.loss_sum);

  Json bad = json;
  bad["committed"] = {{0, 0}};
  CHECK_THROWS_AS(back.restore(dl::JsonView(bad, dl::Code::kData)), dl::Error);
}

}  // namespace dl::cluster::run_directory_test
