#include "libcore/cluster/run_dir/divergence.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "libcore/cluster/run_dir/replay.h"
#include "libcore/nn/data/baseline_loss.h"
#include "tests/unit/cluster/master/simulation.h"
#include "tests/unit/cluster/master/whole_run.h"

namespace dl::cluster::divergence_test {

using namespace simulation;
using namespace std::string_literals;

namespace {

std::vector<EpochScore> scores(const std::string& metric,
                               const std::vector<double>& values) {
  std::vector<EpochScore> history;
  for (const double value : values)
    history.push_back({static_cast<std::int64_t>(history.size()),
                       100,
                       0.1,
                       {{metric, value}},
                       10 * history.size() + 10});
  return history;
}

std::optional<double> chance_of(const std::string& output,
                                const dl::data::Normalizer& targets = {},
                                std::optional<dl::nn::LabelCount> count = {}) {
  return dl::nn::loss_of_chance(
      dl::nn::parse_network(
          R"({"input": {"shape": [3]}, "layers": [{"type": "output", )" +
              output + "}]}",
          "'net'"),
      {{}, targets}, count);
}

// A run whose workers report these losses, by update.
struct Run {
  Folder folder;
  std::optional<RunState> saved;
  Settings settings;
  Limits limits;
  std::optional<Master> master;
  std::uint64_t starts = 0;

  explicit Run(OnDivergence what) {
    settings.batch = 32;
    settings.epochs = 4;
    limits.on_divergence = what;
    start();
  }
  void start() {
    master.emplace(settings, limits, folder, saved, ++starts, 32 * 200);
    master->context.state.watch.expect(2.3);
    for (const char* name : {"a", "b"})
      master->join(name).loss = [this](std::uint64_t version) {
        return loss(version);
      };
  }
  virtual double loss(std::uint64_t version) {
    if (version < 150) return 2.3 - 0.01 * static_cast<double>(version);
    return version < 300 ? 0.8 : 2.4;
  }
  virtual ~Run() = default;
  void finish() {
    for (int i = 0; i < 20000 && !master->over(); ++i) master->turn();
  }
  bool said(const std::string& text) const {
    return std::ranges::any_of(master->said, [&](const std::string& line) {
      return line.find(text) != std::string::npos;
    });
  }
};

}  // namespace

TEST_CASE("the loss of chance is known of classes, and of standard targets") {
  const std::string classes =
      R"("units": 10, "loss": "negative_log_likelihood")";
  CHECK(*chance_of(classes) == Approx(std::log(10)));
  const std::string numbers = R"("units": 3, "loss": "mean_squared_error")";
  CHECK_FALSE(chance_of(numbers));
  const dl::data::Normalizer standard{"standardize", {1, 2, 3}, {4, 5, 6}};
  CHECK(chance_of(numbers, standard) == 1.0);
  CHECK_FALSE(chance_of(
      R"("units": 2, "loss": "negative_log_likelihood", "class_weights": [1, 9])"));
  const std::string yes_and_no =
      R"("units": 3, "loss": "binary_cross_entropy")";
  CHECK(chance_of(yes_and_no).value() == Approx(3 * std::log(2.0)));
  CHECK_FALSE(chance_of(yes_and_no + R"(, "class_weights": [1, 9, 1])"));
  // By what labels count on average it is known.
  CHECK(chance_of(classes + R"(, "class_weights": [1,9,1,1,1,1,1,1,1,1])", {},
                  dl::nn::LabelCount{1.8})
            .value() == Approx(1.8 * std::log(10)));
  CHECK(chance_of(yes_and_no + R"(, "class_weights": [1, 9, 2])", {},
                  dl::nn::LabelCount{4})
            .value() == Approx(12 * std::log(2.0)));
}

TEST_CASE("a held-out score is lost below half of what the best had") {
  std::int64_t held_out = 1000;
  const auto lost = [&](const std::string& metric,
                        const std::vector<double>& values, double chance = 0) {
    return lost_score(scores(metric, values), {metric, held_out, {}, chance});
  };
  CHECK(lost("accuracy", {0.9, 0.98, 0.11}) ==
        "accuracy is 0.11 after epoch 3 and was 0.98 after epoch 2");
  CHECK(lost("accuracy", {0.9, 0.98, 0.6}).empty());
  CHECK(lost("accuracy", {0.11, 0.5, 0.98}).empty());
  // Chance is half for two classes.
  CHECK(lost("accuracy", {0.98, 0.55}).empty());
  CHECK_FALSE(lost("accuracy", {0.98, 0.55}, 0.5).empty());
  CHECK_FALSE(lost("auc", {0.9, 0.6}).empty());
  CHECK(lost("mse", {1.0, 0.1, 0.15}).empty());
  CHECK(lost("mse", {0.2, 0.1, 0.35}).empty());
  CHECK_FALSE(lost("mse", {0.2, 0.1, 0.9}).empty());
  CHECK(lost("loss", {0.2, 0.1, 9}).empty());
  CHECK(lost("accuracy", {}).empty());
  held_out = 17;  // which say little
  CHECK(lost("accuracy", {0.4, 0.7, 0.3}).empty());
  CHECK(lost("mse", {0.2, 0.1, 0.9}).empty());
}

TEST_CASE("a run may end worse than a constant prediction") {
  RunState state;
  std::uint64_t version = 0;
  const auto train = [&](int n, double loss) {
    for (int i = 0; i < n; ++i)
      state.watch.add(++version, 1, 32, 32 * loss, 1, {});
  };
  train(200, 13);
  CHECK(ends_badly(state, {"rmse", 100, 1}).empty());  // it is early
  train(100, 13);
  CHECK(ends_badly(state, {"rmse", 100, {}}).empty());
  CHECK(ends_badly(state, {"rmse", 100, 1}) ==
        "the loss is 13, and a constant prediction has 1");
  // Few large losses may hide that most are right.
  state.history = scores("accuracy", {0.9});
  CHECK(ends_badly(state, {"accuracy", 1000, std::log(2), 0.5}).empty());
  CHECK_FALSE(ends_badly(state, {"accuracy", 10, std::log(2), 0.5}).empty());
}

TEST_CASE("a short run may end worse than a constant prediction as well") {
  RunState state;
  const auto epoch = [&](std::int64_t examples, double loss, double accuracy) {
    const auto number = static_cast<std::int64_t>(state.history.size());
    state.history.push_back({number, examples, loss, {{"accuracy", accuracy}}});
  };
  const HeldOut held_out{"accuracy", 100, std::log(4), 0.25};
  epoch(400, 20, 0.2);
  CHECK(ends_badly(state, held_out).empty());  // as networks may begin
  epoch(400, 10, 0.2);
  CHECK(ends_badly(state, held_out) ==
        "the loss is 10, and a constant prediction has 1.39");
  epoch(400, 1.4, 0.26);
  CHECK(ends_badly(state, held_out).empty());
  CHECK(learnt_nothing(state, held_out) ==
        "the loss is 1.4, no less than the 1.39 of a constant prediction");
  const auto remedy = [&](double moved = 1) {
    return remedy_of_nothing(state, held_out, Mode::kAveraging, moved);
  };
  CHECK(remedy() == "it still falls: take more epochs");
  state.history[1].loss = 1.5;
  state.history[0].loss = 1.55;
  CHECK_THAT(remedy(), Catch::StartsWith("it falls slowly: take more epochs"));
  state.history[1].loss = 1.4;
  CHECK_THAT(remedy(), Catch::Contains("labels belong to their examples"));
  CHECK_THAT(remedy(0.001),
             Catch::StartsWith("parameters have hardly moved: take more"));
  state.history.back().loss = 1.37;
  CHECK(learnt_nothing(state, held_out) ==
        "the loss is 1.37, about the 1.39 of a constant prediction");
  state.history.back().loss = 3;
  CHECK_THAT(remedy(), Catch::StartsWith("take a lower learning rate"));
  state.history.back().loss = 1.4;
  epoch(400, 1.2, 0.26);
  CHECK(learnt_nothing(state, held_out).empty());
  CHECK(high_loss(state, held_out).empty());
  epoch(400, 10, 0.9);  // a few large losses
  CHECK(ends_badly(state, held_out).empty());
  CHECK_THAT(high_loss(state, held_out),
             Catch::StartsWith("the loss is 10, and a constant prediction has "
                               "1.39, though the held-out accuracy is 0.9: "));
  // An accuracy of chance is that of unweighted classes.
  CHECK(high_loss(state, {"accuracy", 10000, 2 * std::log(4), 0.25}).size() >
        0);
  state.history.back().metrics["accuracy"] = 0.26;
  CHECK(high_loss(state, {"accuracy", 10000, 2 * std::log(4), 0.25}).empty());
}

TEST_CASE("a run of less than a block is judged where its losses tell") {
  const double chance = std::log(10);
  RunState state;
  const HeldOut held_out{"accuracy", 100, chance, std::exp(-chance)};
  // Losses of mini-batches, half of which are higher by `noise`, half lower.
  const auto train = [&](int n, int examples, double from, double to,
                         double noise) {
    state = RunState();
    for (int i = 0; i < n; ++i) {
      const double loss =
          from + (to - from) * i / (n - 1) + (i % 2 == 0 ? noise : -noise);
      state.watch.add(static_cast<std::uint64_t>(i) + 1, 1, examples,
                      examples * loss, 1, {});
    }
  };
  const auto verdict = [&] {
    const bool judged = is_no_better(state, held_out);
    CHECK(judged == !learnt_nothing(state, held_out).empty());
    const bool warned = !too_short(state, held_out).empty();
    CHECK_FALSE((judged && warned));
    return judged ? "nothing learnt" : warned ? "too short" : "sound";
  };
  train(40, 8, chance, chance, 0.02);
  CHECK(verdict() == "nothing learnt"s);
  state.history = scores("accuracy", {0.6});  // it says otherwise
  CHECK(verdict() == "sound"s);
  train(40, 8, 0.99 * chance, 0.99 * chance, 0.02);  // a little lower
  CHECK(verdict() == "too short"s);
  train(41, 8, chance, chance, 0.4);  // noise hides what is learnt
  CHECK(verdict() == "too short"s);
  train(12, 16, 2.35, 2.28, 0.04);  // a sound run may be there yet
  CHECK(verdict() == "too short"s);
  train(12, 16, 2.35, 2.1, 0.04);
  CHECK(verdict() == "sound"s);
  train(40, 8, 3.2, 2.31, 0.02);  // it falls
  CHECK(verdict() == "too short"s);
  train(12, 16, 40, 40, 1);
  CHECK(verdict() == "nothing learnt"s);
  CHECK(learnt_nothing(state, held_out) ==
        "the loss is 39.9, no less than the 2.3 of a constant prediction");
  state.history = {{0, 96, 60, {}, 6}, {1, 96, 40, {}, 12}};  // they still fall
  CHECK(verdict() == "too short"s);
  train(5, 16, 40, 40, 1);
  CHECK(verdict() == "too short"s);
  CHECK(
      too_short(state, held_out) ==
      "the run is too short to judge: after 5 mini-batches of 80 examples "
      "the loss is 40.4, and a constant prediction has 2.3; take more epochs, "
      "or a lower learning rate");
  // A round that has all of a run.
  state = RunState();
  state.watch.add(1, 12, 186, 186 * 2.33, 1, {});
  CHECK(verdict() == "too short"s);
}

namespace {

// A run with losses of so many mini-batches, which hardly differ.
RunState steady(double loss, int batches = 400) {
  RunState state;
  for (int i = 0; i < batches; ++i)
    state.watch.add(static_cast<std::uint64_t>(i) + 1, 1, 32,
                    32 * (loss + (i % 2 == 0 ? 0.01 : -0.01)), 1, {});
  return state;
}

void add_epochs(RunState& state, const std::vector<double>& losses,
                double accuracy) {
  for (const double loss : losses)
    state.history.push_back({static_cast<std::int64_t>(state.history.size()),
                             12800,
                             loss,
                             {{"accuracy", accuracy}}});
}

}  // namespace

TEST_CASE("a model that knows only how often classes are there is no use") {
  // Nine in ten are of one class.
  HeldOut held_out{"accuracy", 1000, std::log(2), 0.5, 0.325, 0.9};
  RunState state = steady(0.326);
  CHECK(is_no_better(state, held_out));
  add_epochs(state, {0.33, 0.326}, 0.9);
  CHECK(is_no_better(state, held_out));
  CHECK(learnt_nothing(state, held_out) ==
        "the loss is 0.326, no less than the 0.325 of a constant prediction");
  held_out.constant_accuracy = 0.75;  // held-out data have other shares
  CHECK_FALSE(is_no_better(state, held_out));
  held_out.constant_accuracy = 0.9;
  // A little is learnt, though all are put into one class.
  state = steady(0.315);
  add_epochs(state, {0.32, 0.315}, 0.9);
  CHECK_FALSE(is_no_better(state, held_out));
  // The last losses of one epoch may be of examples that are easier.
  state.history.resize(1);
  CHECK_FALSE(is_no_better(state, held_out));
  // Unless somebody has compared them on the same ones.
  CHECK(is_in_doubt(state, held_out));
  held_out.beats_constant = false;
  CHECK(is_no_better(state, held_out));
  state.history.clear();  // without held-out data
  CHECK(is_no_better(state, held_out));
  state = steady(0.327);
  held_out.beats_constant = true;
  CHECK_FALSE(is_no_better(state, held_out));
  CHECK_FALSE(is_in_doubt(steady(0.2), held_out));
  CHECK(is_in_doubt(steady(0.5), held_out));  // it may have begun higher
  held_out.beats_constant.reset();
  held_out.constant_loss.reset();
  CHECK_FALSE(is_in_doubt(state, held_out));
  CHECK(learnt_nothing(state, held_out).empty());
}

TEST_CASE("probabilities of held-out data may tell what accuracy hides") {
  HeldOut held_out{"accuracy", 1000, std::log(2), 0.5, 0.1, 0.98, 0.1};
  RunState state = steady(0.27);
  state.history.push_back(
      {0, 5000, 0.27, {{"accuracy", 0.98}, {"log_loss", 0.06}}});
  CHECK_FALSE(is_no_better(state, held_out));
  CHECK(ends_badly(state, held_out).empty());
  state.history[0].metrics["log_loss"] = 0.1;
  CHECK(is_no_better(state, held_out));
  held_out.examples = 50;  // too few to tell
  state.history[0].metrics["log_loss"] = 0.06;
  CHECK(is_no_better(state, held_out));
}

TEST_CASE("what was learnt by heart is nothing on held-out data") {
  const HeldOut held_out{"accuracy", 400, std::log(3), 1 / 3.0,
                         1.09,       0.4, 1.09};
  RunState state = steady(0.2);
  state.history = {{0, 1000, 0.9, {{"accuracy", 0.41}, {"log_loss", 1.1}}},
                   {1, 1000, 0.2, {{"accuracy", 0.37}, {"log_loss", 1.9}}}};
  CHECK(fails_unseen(state, held_out) ==
        "nothing was learnt that holds on held-out data: their accuracy is "
        "0.41 at best and their log_loss 1.1, and chance has 0.4 and 1.099, "
        "though the loss of training is 0.2");
  state.history[0].metrics["accuracy"] = 0.5;
  CHECK(fails_unseen(state, held_out).empty());
  state.history[0].metrics = {{"accuracy", 0.41}, {"log_loss", 1.0}};
  CHECK(fails_unseen(state, held_out).empty());
}

TEST_CASE("the best constant prediction is enough for a verdict") {
  // As of numbers that are not standardized: chance is not known.
  const HeldOut held_out{"loss", 1000, {}, 0, 4.0};
  RunState state = steady(4.01);
  CHECK(is_no_better(state, held_out));
  CHECK(learnt_nothing(state, held_out) ==
        "the loss is 4.01, no less than the 4 of a constant prediction");
  state = steady(9);
  CHECK(ends_badly(state, held_out) ==
        "the loss is 9, and a constant prediction has 4");
  state = steady(3);
  CHECK_FALSE(is_no_better(state, held_out));
  CHECK(learnt_nothing(state, held_out).empty());
}

TEST_CASE("a few steps tell nothing, however many mini-batches they are of") {
  const double chance = std::log(3);
  HeldOut held_out{"accuracy", 100, chance, std::exp(-chance)};
  RunState state;
  for (std::uint64_t i = 1; i <= 3; ++i)
    state.watch.add(i, 24, 24 * 32, 24 * 32 * 1.2, 1, {});
  held_out.steps = 3;
  CHECK(learnt_nothing(state, held_out).empty());
  CHECK_FALSE(is_no_better(state, held_out));
  CHECK(too_short(state, held_out) ==
        "the run is too short to judge: after 3 steps the loss is 1.2, and a "
        "constant prediction has 1.1; take more epochs, or smaller "
        "mini-batches");
  add_epochs(state, {4, 3.9, 3.8}, 0.3);  // far too high
  CHECK(ends_badly(state, held_out).empty());
  held_out.steps = 100;
  CHECK_FALSE(ends_badly(state, held_out).empty());
  CHECK(too_short(state, held_out).empty());
}

TEST_CASE("losses are told apart") {
  RunState state = steady(1.0995);
  const HeldOut held_out{"accuracy", 100, std::log(3), 1 / 3.0};
  CHECK(learnt_nothing(state, held_out) ==
        "the loss is 1.0995, no less than the 1.0986 of a constant prediction");
}

TEST_CASE("the remedy says whether the loss falls") {
  const HeldOut held_out{"accuracy", 100, std::log(2), 0.5};
  const auto remedy = [&](const std::vector<double>& losses) {
    RunState state = steady(0.69);
    add_epochs(state, losses, 0.5);
    return remedy_of_nothing(state, held_out, Mode::kSync, 1);
  };
  CHECK_THAT(remedy({0.694}), Catch::StartsWith("so few epochs do not tell"));
  CHECK_THAT(remedy({0.694, 0.693, 0.692, 0.691, 0.690}),
             Catch::StartsWith("it falls, but very slowly: take many more "
                               "epochs, or a higher learning rate"));
  CHECK_THAT(remedy({0.694, 0.693, 0.694, 0.693, 0.694}),
             Catch::StartsWith("parameters have moved, to no use: look whether "
                               "labels belong") &&
                 Catch::Contains("a lower learning rate"));
  CHECK_THAT(remedy({0.8, 0.75, 0.72, 0.7}),
             Catch::StartsWith("it falls slowly"));
}

TEST_CASE("the better model is that of the best score, or of sound losses") {
  RunState state;
  CHECK(better_version(state, "accuracy") == 0);
  state.history = scores("accuracy", {0.8, 0.9, 0.1});
  CHECK(better_version(state, "accuracy") == 0);  // it is that one
  state.version = 1000;
  CHECK(better_version(state, "accuracy") == 20);
  CHECK(better_version(state, "loss") == 0);
  for (std::uint64_t i = 1; i <= 400; ++i)
    state.watch.add(i, 1, 32, 32 * (i < 200 ? 2.0 - 0.01 * double(i) : 2.4), 1,
                    {});
  CHECK(state.watch.ends_badly());
  CHECK(better_version(state, "accuracy") == state.watch.sound_version());
}

TEST_CASE("a run that goes wrong is stopped, and again when it is resumed") {
  Run run(OnDivergence::kStop);
  const auto stopped = [&] {
    try {
      run.finish();
    } catch (const dl::Error& error) {
      CHECK(error.code() == dl::Code::kDiverged);
      CHECK_THAT(error.what(),
                 Catch::Contains("training went wrong: the loss is 2.4 over") &&
                     Catch::Contains("since update 304, and was 0.8"));
      return true;
    }
    return false;
  };
  REQUIRE(stopped());
  const std::uint64_t version = run.master->context.state.version;
  CHECK(version > 350);
  CHECK(version < 500);
  REQUIRE(run.saved);
  CHECK(run.saved->version == version);
  run.start();
  REQUIRE(stopped());
  CHECK(run.master->context.state.version < version + 16);
}

TEST_CASE("a run that goes wrong and is to go on says so once") {
  Run run(OnDivergence::kIgnore);
  run.finish();
  CHECK(run.master->coordinator->finished());
  CHECK(std::ranges::count_if(run.master->said, [](const std::string& line) {
          return line.find("training goes wrong") != std::string::npos;
        }) == 1);
  const std::string end =
      ends_badly(run.master->context.state, {"loss", 0, 2.3});
  CHECK_THAT(end, Catch::Contains("the loss is 2.4"));
}

namespace {

// Steps of half the size are small enough.
struct Mends : Run {
  Mends() : Run(OnDivergence::kReduce) {}
  double loss(std::uint64_t version) override {
    if (version < 300) return Run::loss(version);
    return master->context.state.step_factor < 1 ? 0.6 : 2.4;
  }
};

// No steps are.
struct Hopeless : Run {
  Hopeless() : Run(OnDivergence::kReduce) { settings.epochs = 40; }
  double loss(std::uint64_t version) override {
    return version < 100 ? 2.3 - 0.01 * static_cast<double>(version) : 2.4;
  }
};

void check_each_counts_once(const Run& run) {
  for (const auto& [epoch, batches] : committed(run.folder)) {
    CHECK(batches.size() == 200);
    for (const auto& [batch, times] : batches) CHECK(times == 1);
  }
}

}  // namespace

TEST_CASE("a run that goes wrong goes back, and on with smaller steps") {
  Mends run;
  run.finish();
  REQUIRE(run.master->coordinator->finished());
  const RunState& state = run.master->context.state;
  CHECK(state.setbacks == 1);
  CHECK(state.step_factor == 0.5);
  CHECK(run.said("it goes back to before that, epoch 2, and on with 0.5"));
  CHECK(ends_badly(state, {"loss", 0, 2.3}).empty());
  CHECK(state.history.size() == 4);
  check_each_counts_once(run);
  // All replicas went with it.
  for (const auto& [name, worker] : run.master->link.workers)
    CHECK(worker.parameters == state.parameters);
}

TEST_CASE("a master that dies as it goes back comes to the same") {
  Mends whole;
  whole.finish();
  // It had gone back in the log, and had no checkpoint of that.
  Mends run;
  while (run.master->context.state.setbacks == 0) run.master->turn();
  const RunState then = run.master->context.state;
  run.saved.reset();
  for (const RunState& each : run.folder.checkpoints)
    if (each.setbacks == 0) run.saved = each;
  run.start();
  const RunState& now = run.master->context.state;
  CHECK(now.setbacks == 1);
  CHECK(now.step_factor == 0.5);
  CHECK(now.version >= then.version);
  CHECK(now.watch.sound());
  run.finish();
  CHECK(run.master->coordinator->finished());
  CHECK(run.master->context.state.setbacks == 1);
  check_each_counts_once(run);
}

TEST_CASE("the log of a run that went back replays to the same bytes") {
  Mends run;
  while (run.master->context.state.setbacks == 0) run.master->turn();
  for (int i = 0; i < 20; ++i) run.master->turn();
  const RunState& end = run.master->context.state;
  RunState again = run.master->beginning;
  for (const RunState& each : run.folder.checkpoints)
    if (each.setbacks == 0) again = each;
  replay(run.folder.path(), {kParameters, 0}, again, kLastUpdate,
         run.master->log());
  CHECK(again.version == end.version);
  CHECK(again.parameters == end.parameters);
  CHECK(again.step_factor == 0.5);
}

// Nothing is learnt, with a small jump now and then.
struct Doubtful : Run {
  explicit Doubtful(OnDivergence what) : Run(what) {}
  double loss(std::uint64_t version) override {
    return version % 150 == 20 ? 4.6 : 2.3;
  }
};

TEST_CASE("a run whose network may have died goes back once") {
  Doubtful run(OnDivergence::kReduce);
  run.finish();
  CHECK(run.master->coordinator->finished());
  CHECK(run.master->context.state.setbacks == 1);
  CHECK(run.said("units may have died; it goes back to before that"));
  check_each_counts_once(run);
}

TEST_CASE("a run whose network may have died is not stopped for that") {
  Doubtful run(OnDivergence::kStop);
  run.finish();
  CHECK(run.master->coordinator->finished());
  CHECK(run.master->context.state.setbacks == 0);
  CHECK_FALSE(run.said("died"));
}

TEST_CASE("a run goes back only so often") {
  Hopeless run;
  run.start();
  CHECK_THROWS_WITH(run.finish(), Catch::Contains("training went wrong"));
  CHECK(run.master->context.state.setbacks == 6);
  CHECK(run.master->context.state.step_factor == 1.0 / 64);
}

TEST_CASE("where nobody has an answer that can be applied the run goes back") {
  for (const auto& [mode, names] :
       std::vector<std::pair<Mode, std::vector<const char*>>>{
           {Mode::kAveraging, {"a", "b", "c"}},
           {Mode::kAveraging, {"a"}},
           {Mode::kSharing, {"a", "b", "c"}},
           {Mode::kSharing, {"a"}}}) {
    Folder folder;
    std::optional<RunState> saved;
    Settings s = settings(mode);
    s.epochs = 40;
    Master master(s, Limits{}, folder, saved, 1, kExamples);
    for (const char* name : names) master.join(name);
    int turn = 0;
    for (; turn < 5000 && master.context.state.setbacks == 0; ++turn) {
      for (auto& [name, worker] : master.link.workers)
        worker.exaggerates = master.context.state.epoch >= 2 ? 1e37F : 0;
      master.turn();
    }
    REQUIRE(master.context.state.setbacks == 1);
    CHECK(master.context.state.step_factor == 0.5);
    for (auto& [name, worker] : master.link.workers) worker.exaggerates = 0;
    for (; turn < 9000 && !master.over(); ++turn) master.turn();
    CHECK(master.over());
    CHECK(master.context.state.setbacks == 1);
    check_exactly_once(folder, 40);
  }
}

}  // namespace dl::cluster::divergence_test
