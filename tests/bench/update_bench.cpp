// From a gradient to a message of sharing: the updater and the threshold code
// one after the other, and by pieces, while what the updater wrote is in a
// cache.  Argument: threads.

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libcore/cluster/worker/replica.h"
#include "libcore/cluster/worker/update_coder.h"

namespace {

using namespace dl::cluster;

// No quanta, so that both passes over memory are all there is.
SharingSettings no_quanta() {
  SharingSettings settings;
  settings.threshold = dl::exchange::ThresholdRule::parse("fixed:1000");
  return settings;
}

// 16.8 million parameters, nearly all of one dense layer, and adam.
struct Plant {
  explicit Plant(int threads)
      : replica(dl::nn::parse_network(R"({"input": {"shape": [4096]},
          "updater": {"type": "adam"}, "layers": [
          {"type": "dense", "units": 4096, "activation": "relu"},
          {"type": "output", "units": 2, "loss": "negative_log_likelihood"}]})",
                                      "'net'"),
                {}, 4, "cpu", threads),
        coder(no_quanta(), replica.tensors(), 0) {
    for (float& x : features.as<float>()) x = 1;
    labels.as<std::int32_t>()[0] = 1;
    network().compute_gradient({&features, &labels, nullptr}, {});
  }
  dl::nn::Network& network() { return replica.network(); }

  Replica replica;
  UpdateCoder coder;
  dl::tensor::Tensor features{dl::tensor::DType::kF32, {4, 4096}},
      labels{dl::tensor::DType::kI32, {4}};
  std::vector<std::byte> message;
};

// An update is taken for the gradient of the next step: adam does not mind.
template <typename Step>
void run(benchmark::State& state, const Step& step) {
  Plant plant(static_cast<int>(state.range(0)));
  for (auto turn : state) {
    (void)turn;
    plant.message.clear();
    step(plant);
  }
  state.counters["message_bytes"] = static_cast<double>(plant.message.size());
}

void one_after_the_other(benchmark::State& state) {
  run(state, [](Plant& plant) {
    plant.network().compute_update({});
    plant.coder.encode(plant.replica.update(), 1, plant.message);
  });
}

void by_pieces(benchmark::State& state) {
  run(state, [](Plant& plant) {
    plant.coder.begin();
    plant.network().compute_update(
        {}, [&](std::int64_t at, dl::tensor::View piece) {
          plant.coder.take(
              static_cast<std::size_t>(at),
              {piece.as<float>(), static_cast<std::size_t>(piece.elements())});
        });
    plant.coder.finish(1, plant.message);
  });
}

void update_alone(benchmark::State& state) {
  run(state, [](Plant& plant) { plant.network().compute_update({}); });
}

BENCHMARK(update_alone)->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK(one_after_the_other)->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK(by_pieces)->Arg(1)->Arg(2)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
