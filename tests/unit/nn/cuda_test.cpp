// Networks on the cuda device, over the emulation of its libraries: they learn
// what the cpu's learn, but for rounding.

#ifdef DL_EMULATED_PLUGIN

#include <catch2/catch.hpp>
#include <cstdlib>

#include "tests/unit/nn/support.h"

using namespace dl::nn;
using namespace dl::nn::testing;

namespace {

struct Case {
  const char* name;
  std::string shape, layers, more;
};

const std::string kOutput =
    R"({"type": "output", "units": 3, "loss": "negative_log_likelihood"})";

const std::vector<Case> kCases = {
    {"images", "[8, 8, 2]",
     R"({"type": "conv2d", "filters": 4, "kernel": [3, 3], "activation": "relu"},
        {"type": "max_pool2d", "kernel": [2, 2]}, {"type": "batch_norm"},
        {"type": "dropout", "rate": 0.2}, {"type": "dense", "units": 5,
        "activation": "tanh"}, )" +
         kOutput,
     R"(, "updater": {"type": "adam"},
        "gradient_normalization": "clip_l2_per_layer",
        "gradient_threshold": 0.1)"},
    {"sequences", "[6, 3]",
     R"({"type": "lstm", "units": 5, "return_sequences": true},
        {"type": "gru", "units": 4}, )" +
         kOutput,
     R"(, "updater": {"type": "nesterov", "learning_rate": 0.1})"},
};

}  // namespace

TEST_CASE("a network learns on cuda what it does on the cpu") {
  const char* const gpu = std::getenv("DL_TEST_DEVICE");
  if (gpu == nullptr) ::setenv("DL_CUDA_PLUGIN", DL_EMULATED_PLUGIN, 1);
  const Case& c = GENERATE(from_range(kCases));
  CAPTURE(c.name);
  const NetworkConfig config = sequence(c.shape, c.layers, c.more);
  Network cpu = compile(config, 6, "cpu"),
          cuda = compile(config, 6, gpu ? gpu : "cuda:0");
  for (std::int64_t i = 0; i < 6; ++i) {
    CAPTURE(i);
    // The last one is smaller: steps of another kind.
    const Examples data =
        random_examples(config, i == 4 ? 2 : 6, static_cast<std::uint64_t>(i));
    const Position at{i, 0, static_cast<std::uint64_t>(i)};
    const auto step = [&](Network& network) {
      return network.step(data.batch(), at, 0,
                          dl::tensor::UpdateTo::kParameters, {}, 1e6);
    };
    const Network::Found one = step(cpu), other = step(cuda);
    CHECK(other.loss == Approx(one.loss).epsilon(1e-4));
    CHECK(other.gradient_finite);
    CHECK(other.update_finite);
    CHECK(distance(values(cuda, cuda.parameters()),
                   values(cpu, cpu.parameters())) < 2e-4);
    if (cpu.statistics().elements() > 0)
      CHECK(distance(values(cuda, cuda.statistics()),
                     values(cpu, cpu.statistics())) < 2e-4);
  }
  CHECK(cuda.regularization_score() == Approx(cpu.regularization_score()));
}

TEST_CASE("a network learns on several GPUs what it does on the cpu") {
  if (std::getenv("DL_TEST_DEVICE") != nullptr) return;  // it may have but one
  ::setenv("DL_CUDA_PLUGIN", DL_EMULATED_PLUGIN, 1);
  ::setenv("DL_EMULATED_GPUS", "3", 1);
  const Case& c = GENERATE(from_range(kCases));
  CAPTURE(c.name);
  const NetworkConfig config = sequence(c.shape, c.layers, c.more);
  Network cpu = compile(config, 7, "cpu"),
          gpus = compile(config, 7, "cuda:all"),
          again = compile(config, 7, "cuda:0,1,2");
  for (std::int64_t i = 0; i < 6; ++i) {
    CAPTURE(i);
    // Of two examples, one GPU has none.
    const Examples data =
        random_examples(config, i == 4 ? 2 : 7, static_cast<std::uint64_t>(i));
    const Position at{i, 0, static_cast<std::uint64_t>(i)};
    const auto step = [&](Network& network) {
      // In one pass, and in two.
      if (i % 2 == 0)
        return network.step(data.batch(), at, 0,
                            dl::tensor::UpdateTo::kParameters, {}, 1e6);
      const double loss = network.compute_gradient(data.batch(), at);
      const bool finite = network.gradient_is_finite();
      return Network::Found{loss, finite, network.apply_update(at)};
    };
    const Network::Found one = step(cpu), other = step(gpus);
    step(again);
    CHECK(other.loss == Approx(one.loss).epsilon(1e-4));
    CHECK(other.gradient_finite);
    CHECK(other.update_finite);
    CHECK(distance(values(gpus, gpus.parameters()),
                   values(cpu, cpu.parameters())) < 2e-4);
    CHECK(values(gpus, gpus.parameters()) == values(again, again.parameters()));
    if (cpu.statistics().elements() > 0)
      CHECK(distance(values(gpus, gpus.statistics()),
                     values(cpu, cpu.statistics())) < 2e-4);
  }
  CHECK(gpus.regularization_score() == Approx(cpu.regularization_score()));
  const Examples data = random_examples(config, 5);
  Tensor here, there;
  cpu.predict(data.features, here);
  gpus.predict(data.features, there);
  for (std::size_t i = 0; i < here.as<float>().size(); ++i)
    CHECK(there.as<float>()[i] == Approx(here.as<float>()[i]).margin(1e-4));
  ::unsetenv("DL_EMULATED_GPUS");
}

#endif
