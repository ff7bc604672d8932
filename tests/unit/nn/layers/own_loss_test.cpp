// Layers that add to the loss: what they add, by hand, and its gradient.

#include <cmath>

#include "tests/unit/nn/gradient_check.h"

namespace dl::nn::own_loss_test {
namespace {

using tensor::DType;
using tensor::Tensor;
using testing::compile;
using testing::sequence;

constexpr Position kAt{3, 0, 5};
constexpr std::int64_t kExamples = 5;

const std::string kEnd = R"({"type": "output", "units": 3,
    "loss": "mean_squared_error", "target": "features"})";

void check_gradient(const std::string& layers, int lanes) {
  const NetworkConfig config = sequence("[3]", layers + ", " + kEnd);
  INFO(layers);
  Network network = compile(config, kExamples, "reference", lanes);
  testing::stir(network);
  const data::DataSet set = testing::random_set(config, kExamples);
  const Batch batch = network.batch_of(set);
  const auto loss = [&] { return network.compute_gradient(batch, kAt); };
  loss();
  CHECK(testing::gradient_error(network,
                                testing::values(network, network.update()), 20,
                                loss) <= testing::kTolerance);
}

TEST_CASE("gradients of what layers add to the loss", "[gradient]") {
  for (const int lanes : {1, 2, 7}) {
    const std::string code =
        R"({"type": "dense", "units": 4, "activation": "sigmoid"}, )";
    for (const char* keys : {R"("l1": 0.3)", R"("l2": 0.7)",
                             R"("sparsity": 0.1, "sparsity_weight": 2)",
                             R"("l1": 0.1, "l2": 0.2, "sparsity": 0.8)"})
      check_gradient(
          code + R"({"type": "activity_regularization", )" + keys + "}", lanes);
    for (const char* keys : {"", R"(, "kl_weight": 0.3)", R"(, "samples": 3)"})
      check_gradient(R"({"type": "dense", "units": 4},
                        {"type": "gaussian_latent")" +
                         std::string(keys) + R"(},
                        {"type": "dense", "units": 2, "activation": "tanh"})",
                     lanes);
  }
}

// The loss of a network whose output weights are 0: that of its target, and
// what the layer adds.
double added(const std::string& layers, const std::vector<double>& x) {
  const NetworkConfig config =
      sequence("[2]", layers + R"(, {"type": "output", "units": 2,
      "loss": "mean_squared_error", "target": "features", "weight_init":
      "zero"})");
  Network network = compile(config, 8, "reference", 2);
  Tensor features(DType::kF64, {static_cast<std::int64_t>(x.size()) / 2, 2});
  std::ranges::copy(x, features.as<double>().begin());
  const double loss = network.compute_gradient({&features, nullptr}, kAt);
  double squares = 0;
  for (const double value : x) squares += value * value;
  return loss - squares / static_cast<double>(x.size());
}

const std::string kSame = R"({"type": "dense", "units": 2,
    "weight_init": "identity"}, )";

TEST_CASE("the divergence of a latent code is that of its formula") {
  // (m^2 + exp(v) - v - 1) / 2: PyTorch's kl_divergence(Normal(m, exp(v / 2)),
  // Normal(0, 1)) of m = 0.5, v = -1 and of m = -2, v = 0.3 is 0.3089397 and
  // 2.0249294.
  const double want = (0.25 + std::exp(-1.0) + 1 - 1) / 2;
  CHECK(want == Approx(0.3089397).epsilon(1e-6));
  const double more = (4 + std::exp(0.3) - 0.3 - 1) / 2;
  CHECK(more == Approx(2.0249294).epsilon(1e-6));
  const std::string latent = R"({"type": "gaussian_latent"})";
  CHECK(added(kSame + latent, {0.5, -1}) == Approx(want));
  CHECK(added(kSame + latent, {0.5, -1, -2, 0.3}) == Approx((want + more) / 2));
  CHECK(added(kSame + R"({"type": "gaussian_latent", "kl_weight": 0.25,
                          "samples": 4})",
              {0.5, -1}) == Approx(want / 4));
}

TEST_CASE("activity costs what its formula says") {
  const auto layer = [](const std::string& keys) {
    return kSame + R"({"type": "activity_regularization", )" + keys + "}";
  };
  const std::vector<double> x{0.5, -1, 0.25, 0.75};  // two examples
  CHECK(added(layer(R"("l1": 0.1)"), x) == Approx(0.1 * 2.5 / 2));
  CHECK(added(layer(R"("l2": 0.1)"), x) == Approx(0.05 * 1.875 / 2));
  const auto kl = [](double p, double r) {
    return p * std::log(p / r) + (1 - p) * std::log((1 - p) / (1 - r));
  };
  const std::vector<double> rates{0.5, 0.1, 0.25, 0.7};
  CHECK(added(layer(R"("sparsity": 0.2, "sparsity_weight": 3)"), rates) ==
        Approx(3 * (kl(0.2, 0.375) + kl(0.2, 0.4))));
}

TEST_CASE("what is drawn of a code depends on neither lanes nor copies") {
  const NetworkConfig config = sequence("[3]", R"(
      {"type": "dense", "units": 8}, {"type": "gaussian_latent", "samples": 2},
      {"type": "dense", "units": 3, "activation": "tanh"}, )" +
                                                   kEnd);
  const data::DataSet set = testing::random_set(config, 6);
  const auto loss = [&](int lanes, std::uint64_t batch) {
    Network network = compile(config, 6, "reference", lanes);
    const double sum =
        network.compute_gradient(network.batch_of(set), {3, 0, batch});
    return std::pair{sum, testing::values(network, network.update())};
  };
  const auto [one, gradient] = loss(1, 5);
  for (const int lanes : {2, 4}) {
    const auto [several, same] = loss(lanes, 5);
    CHECK(several == Approx(one).epsilon(1e-12));
    CHECK(testing::distance(gradient, same) < 1e-12);
  }
  CHECK(std::abs(loss(1, 6).first - one) > 1e-6);  // another mini-batch
}

TEST_CASE("a prediction takes the mean of a code") {
  const NetworkConfig config = sequence("[4]", R"(
      {"type": "gaussian_latent", "samples": 3},
      {"type": "output", "units": 2, "loss": "mean_squared_error",
       "weight_init": "identity"})");
  Network network = compile(config, 2, "cpu", 2);
  Tensor x(DType::kF32, {2, 4});
  for (std::size_t i = 0; i < 8; ++i) x.as<float>()[i] = static_cast<float>(i);
  CHECK(testing::predict(network, x) == std::vector<double>{0, 1, 4, 5});
}

TEST_CASE("codes that there cannot be are refused") {
  const auto refusal = [](const std::string& shape, const std::string& layers) {
    try {
      sequence(shape, layers + R"(, {"type": "output", "units": 1,
                                     "loss": "mean_squared_error"})");
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(refusal("[3]", R"({"type": "gaussian_latent"})") ==
        "'test.json': layers[0] ('gaussian_latent1'): its input is [3], want "
        "means and as many logarithms of variances");
  CHECK(refusal("[3, 2]", R"({"type": "gru", "units": 2, "return_sequences":
                              true}, {"type": "gaussian_latent"})") ==
        "'test.json': layers[1] ('gaussian_latent1'): its input is a "
        "sequence; want one code for the whole of it");
}

}  // namespace
}  // namespace dl::nn::own_loss_test
