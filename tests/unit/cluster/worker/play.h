// The master's side of one trainer, as a test plays it.

#ifndef DL_TESTS_UNIT_CLUSTER_WORKER_PLAY_H_
#define DL_TESTS_UNIT_CLUSTER_WORKER_PLAY_H_

#include <poll.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "libcore/base/clock.h"
#include "libcore/cluster/worker/trainer.h"
#include "libcore/data/format/shard.h"
#include "libcore/exchange/codec/threshold.h"
#include "libcore/io/digest.h"
#include "tests/unit/data/sample.h"
#include "tests/unit/scratch.h"

namespace dl::cluster::test {

inline const dl::Log kSilent = [](dl::Level, const std::string&) {};
inline constexpr const char* kNetwork = R"({
  "seed": 5, "input": {"shape": [3]},
  "updater": {"type": "adam", "learning_rate": 0.05},
  "layers": [
    {"type": "dense", "units": 4, "activation": "tanh"},
    {"type": "dropout", "rate": 0.25},
    {"type": "output", "units": 2, "activation": "softmax",
     "loss": "negative_log_likelihood"}]})";
inline constexpr std::size_t kParameters = 3 * 4 + 4 + 4 * 2 + 2;

// The worker's device and network.
struct Scene {
  std::string device = "cpu";
  const char* network = kNetwork;
  std::size_t parameters_of_it = kParameters;
  Clock* clock = &monotonic_clock();
};

class Play {
 public:
  explicit Play(Mode mode, Scene scene = {})
      : mail(*scene.clock), scene_(std::move(scene)) {
    settings.mode = mode;
    settings.batch = 4;
    settings.sharing.clip_every = 0;
    settings.sharing.in_flight = 2;
    settings.sharing.threshold.kind = dl::exchange::ThresholdRule::Kind::kFixed;
    settings.sharing.threshold.initial = 1e-3;
    const auto bytes = sample::stream({6, 6, 8}, 3);
    folder_.write("a.dls",
                  {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    thread_ = std::thread([this] {
      try {
        TrainerOptions options;
        options.device = scene_.device;
        Trainer(std::move(options), mail, kSilent).run();
      } catch (const dl::Error& e) {
        error = e.what();
      }
      mail.finished = true;
      mail.outbox.poke();
    });
  }
  ~Play() {
    mail.leaving = true;
    mail.fetcher.close();
    mail.inbox.wake();
    thread_.join();
  }

  void welcome() {
    const dl::data::Shard shard(folder_ / "a.dls");
    Welcome w;
    w.run = std::string(32, 'a');
    w.worker = 1;
    w.network = Json::parse(scene_.network);
    w.normalizer = dl::data::Normalizer{}.to_json();
    w.target_normalizer = w.normalizer;
    w.settings = settings.to_json();
    w.metadata = shard.metadata().to_strings();
    w.training = {{folder_ / "a.dls", shard.digest(), shard.records()}};
    w.evaluation = w.training;
    mail.inbox.begin_session(++session_, w.to_message());
  }
  void say(const Message& message) { REQUIRE(mail.inbox.push(message)); }
  void state(std::uint64_t version, float first = 0.1F) {
    State s;
    s.version = version;
    s.parameters.resize(scene_.parameters_of_it);
    for (std::size_t i = 0; i < s.parameters.size(); ++i)
      s.parameters[i] = first * static_cast<float>(i % 7) - 0.2F;
    parameters = s.parameters;
    say(s.to_message());
  }
  void task(std::uint64_t lease, std::int64_t first, std::int64_t count,
            std::uint64_t version = 1, std::int64_t epoch = 0,
            std::int64_t beside = 1) {
    Task t;
    t.beside = beside;
    t.epoch = epoch;
    t.lease = lease;
    t.fence = 1;
    t.version = version;
    t.first = first;
    t.count = count;
    t.iteration = first;
    say(t.to_message());
  }

  // The next message of the trainer; the test fails after 20 s without one.
  Message hear() {
    for (;;) {
      if (auto message = mail.outbox.pop(session_)) return *message;
      REQUIRE_FALSE(mail.finished);
      pollfd p{mail.outbox.descriptor(), POLLIN, 0};
      REQUIRE(::poll(&p, 1, 20000) == 1);
    }
  }
  template <typename T>
  T hear_as() {
    return T::from_message(hear());
  }
  void await_rejoin() {
    for (int i = 0; i < 20000 && !mail.rejoin; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    REQUIRE(mail.rejoin);
  }
  void apply_own(std::uint64_t sequence, const Update& update) {
    dl::exchange::decode_threshold(update.payload, -1, parameters);
    Apply apply;
    apply.sequence = sequence;
    apply.origin = 1;
    apply.batch = update.batch;
    say(apply.to_message());
  }
  std::uint64_t digest() const {
    return dl::io::digest(std::as_bytes(std::span(parameters)));
  }

  Settings settings;
  Mailbox mail;
  std::string error;
  std::vector<float> parameters;

 private:
  const Scene scene_;
  Scratch folder_;
  std::thread thread_;
  std::uint64_t session_ = 0;
};

}  // namespace dl::cluster::test

#endif  // DL_TESTS_UNIT_CLUSTER_WORKER_PLAY_H_
