// Tests of the warm-up of learning rates.

#include "libcore/nn/update/warmup.h"

#include <catch2/catch.hpp>
#include <string>

namespace dl::nn::warmup_test {

namespace {

NetworkConfig network(const std::string& updater) {
  return parse_network(R"({"input": {"shape": [3]}, "updater": )" + updater +
                           R"(, "layers": [{"type": "output", "units": 2,
                               "activation": "softmax",
                               "loss": "negative_log_likelihood"}]})",
                       "net.json");
}

double rate(const NetworkConfig& config, std::int64_t iteration) {
  return config.layers[0].training.updater.step(iteration, 0).learning_rate;
}

}  // namespace

TEST_CASE("learning rates of updaters that divide by gradients rise") {
  for (const char* type : {"adagrad", "adam", "adamw", "rmsprop", "nadam",
                           "adamax", "amsgrad", "adabelief"}) {
    const NetworkConfig given = network(R"({"type": ")" + std::string(type) +
                                        R"(", "learning_rate": 0.1})");
    CHECK(wants_warmup(given));
    const NetworkConfig warm = with_warmup(given, 4);
    CHECK(rate(warm, 0) == Approx(0.025));
    CHECK(rate(warm, 2) == Approx(0.075));
    CHECK(rate(warm, 3) == rate(given, 3));
    CHECK(rate(with_warmup(given, 0), 0) == rate(given, 0));
  }
}

TEST_CASE("a warm-up that the network has is left alone, and sgd needs none") {
  const NetworkConfig own = network(
      R"({"type": "adam", "learning_rate":
          {"schedule": "fixed", "initial": 0.1, "warmup": 2}})");
  CHECK_FALSE(wants_warmup(own));
  CHECK(rate(with_warmup(own, 64), 1) == rate(own, 1));
  for (const char* type : {"sgd", "nesterov", "momentum"}) {
    const NetworkConfig given = network(R"({"type": ")" + std::string(type) +
                                        R"(", "learning_rate": 0.1})");
    CHECK_FALSE(wants_warmup(given));
    CHECK(rate(with_warmup(given, 64), 0) == rate(given, 0));
  }
}

}  // namespace dl::nn::warmup_test
