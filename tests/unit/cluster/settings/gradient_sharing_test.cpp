// Tests of libcore/cluster/settings/gradient_sharing.h.

#include "libcore/cluster/settings/gradient_sharing.h"

#include <catch2/catch.hpp>

#include "libcore/base/error.h"

namespace dl::cluster::gradient_sharing_test {

namespace {

dl::nn::NetworkConfig network(const std::string& first,
                              const std::string& second) {
  return dl::nn::parse_network(
      R"({"input": {"shape": [3]}, "layers": [
      {"type": "dense", "units": 4, "activation": "relu", "updater": )" +
          first + R"(},
      {"type": "output", "units": 2, "loss": "negative_log_likelihood",
       "updater": )" +
          second + "}]}",
      "'net'");
}

const std::string kNesterov =
    R"({"type": "nesterov", "learning_rate": 0.1, "momentum": 0.8})";
const std::string kSgd = R"({"type": "sgd", "learning_rate": 0.5})";

}  // namespace

TEST_CASE("gradients are shared where all layers have one simple updater") {
  CHECK(shared_updater(network(kNesterov, kNesterov)).momentum.initial == 0.8);
  const auto sgd = shared_updater(network(kSgd, kSgd));
  CHECK(sgd.momentum.initial == 0);
  CHECK(sgd.learning_rate.at(0, 0) == 0.5);
  const auto message = [](const std::string& a, const std::string& b) {
    try {
      shared_updater(network(a, b));
      return std::string("accepted");
    } catch (const dl::Error& error) {
      CHECK(error.code() == dl::Code::kConfig);
      return std::string(error.what());
    }
  };
  CHECK_THAT(message(kSgd, kNesterov),
             Catch::Contains("layer 'output1' differs"));
  CHECK_THAT(message(R"({"type": "adam"})", R"({"type": "adam"})"),
             Catch::Contains("layer 'dense1' is neither"));
  const std::string changes = R"({"type": "nesterov", "momentum": {
      "schedule": "map", "values": {"0": 0.5, "10": 0.9}}})";
  CHECK_THAT(message(changes, changes),
             Catch::Contains("layer 'dense1' has a momentum that changes"));
}

TEST_CASE("decoupled decay goes through no momentum") {
  const auto decayed = [](const std::string& updater) {
    return dl::nn::parse_network(
        R"({"input": {"shape": [3]}, "regularization": {"weight_decay": 0.1},
            "updater": )" +
            updater + R"(, "layers": [{"type": "output", "units": 2,
            "loss": "mean_squared_error"}]})",
        "'net'");
  };
  CHECK(shared_updater(decayed(kSgd)).kind == dl::device::Updater::kSgd);
  CHECK_THROWS_WITH(shared_updater(decayed(kNesterov)),
                    Catch::Contains("'output1' has a momentum, which its"));
}

TEST_CASE("without updaters an update is the gradient") {
  const auto plain = without_updaters(network(kNesterov, kNesterov));
  for (const auto& layer : plain.layers) {
    CHECK(layer.training.updater.kind == dl::device::Updater::kSgd);
    CHECK(layer.training.bias_updater.learning_rate.at(9, 9) == 1);
  }
}

TEST_CASE("the largest momentum of any layer is found, adam's beta1 too") {
  CHECK(largest_momentum(network(kSgd, kSgd)) == 0);
  CHECK(largest_momentum(network(kSgd, kNesterov)) == 0.8);
  CHECK(largest_momentum(
            network(R"({"type": "adam", "beta1": 0.85})", kNesterov)) == 0.85);
  CHECK(largest_momentum(
            network(R"({"type": "rmsprop"})", R"({"type": "adagrad"})")) == 0);
  CHECK(largest_momentum(network(R"({"type": "adamw", "beta1": 0.7})",
                                 R"({"type": "adadelta"})")) == 0.7);
  CHECK(largest_momentum(network(kSgd, R"({"type": "nesterov", "momentum": {
      "schedule": "map", "values": {"0": 0.5, "10": 0.95}}})")) == 0.95);
}

}  // namespace dl::cluster::gradient_sharing_test
