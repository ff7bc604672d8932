// Networks on the cuda device, over the emulation of its libraries: they learn
// what the cpu's learn, but for rounding.

#ifdef DL_EMULATED_PLUGIN

#include <catch2/catch.hpp>
#include <cstdlib>

#include "libcore/device/open.h"
#include "tests/unit/nn/support.h"

namespace dl::nn::cuda_test {

using namespace dl::nn::testing;
using dl::device::Precision;

namespace {

struct Case {
  const char* name;
  std::string shape, layers, more;
  bool nodes = false;  // the layers are those of a graph
};

const std::string kOutput =
    R"({"type": "output", "units": 3, "loss": "negative_log_likelihood"})";

const std::vector<Case> kCases = {
    {"images", "[8, 8, 2]",
     R"({"type": "conv2d", "filters": 4, "kernel": [3, 3], "activation": "relu"},
        {"type": "max_pool2d", "kernel": [2, 2]}, {"type": "batch_norm"},
        {"type": "activation", "activation": "relu"},
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
    {"residual block", "[6, 6, 2]",
     R"({"name": "c", "type": "conv2d", "from": "x", "filters": 4,
         "kernel": [3, 3], "padding": "same", "bias": false},
        {"name": "n", "type": "batch_norm"},
        {"name": "skipped", "type": "conv2d", "from": "x", "filters": 4,
         "kernel": [1, 1]},
        {"name": "sum", "type": "add", "from": ["n", "skipped"]},
        {"name": "end", "type": "activation", "activation": "relu"},
        {"name": "out", "type": "output", "units": 3,
         "loss": "negative_log_likelihood"})",
     R"(, "updater": {"type": "nesterov", "learning_rate": 0.1})", true},
};

NetworkConfig config_of(const Case& c) {
  if (!c.nodes) return sequence(c.shape, c.layers, c.more);
  return parse_network(
      R"({"seed": 7, "inputs": [{"name": "x", "shape": )" + c.shape + "}]" +
          c.more + R"(, "outputs": "out", "nodes": [)" + c.layers + "]}",
      "'test.json'");
}

std::string gpu() {
  if (const char* const named = std::getenv("DL_TEST_DEVICE")) return named;
  ::setenv("DL_CUDA_PLUGIN", DL_EMULATED_PLUGIN, 1);
  return "cuda:0";
}

// GPUs before Ampere have float32 alone.
std::vector<Precision> precisions() {
  const auto has = dl::device::open_device(gpu())->capabilities().training;
  std::vector<Precision> all;
  for (const Precision p :
       {Precision::kFloat32, Precision::kTf32, Precision::kBfloat16})
    if (has.has(p)) all.push_back(p);
  return all;
}

// Learns the same examples again and again.
class Learner {
 public:
  Learner(const NetworkConfig& config, Precision precision)
      : network_(config, {}, 6, dl::device::open_lanes(gpu(), 1, precision),
                 true),
        data_(random_examples(config, 6, 1)) {}

  // The loss before it.
  double step() {
    const Position at{count_, 0, static_cast<std::uint64_t>(count_)};
    ++count_;
    const Network::StepResult found = network_.step(
        data_.batch(), at, 0, dl::device::UpdateTo::kParameters, {}, 1e6);
    CHECK(found.gradient_finite);
    CHECK(found.update_finite);
    return found.loss;
  }
  std::vector<double> parameters() {
    return values(network_, network_.parameters());
  }

 private:
  Network network_;
  Examples data_;
  std::int64_t count_ = 0;
};

}  // namespace

TEST_CASE("a network learns on cuda what it does on the cpu") {
  const Case& c = GENERATE(from_range(kCases));
  CAPTURE(c.name);
  const NetworkConfig config = config_of(c);
  Network cpu = compile(config, 6, "cpu"), cuda = compile(config, 6, gpu());
  for (std::int64_t i = 0; i < 6; ++i) {
    CAPTURE(i);
    // The last one is smaller: steps of another kind.
    const Examples data =
        random_examples(config, i == 4 ? 2 : 6, static_cast<std::uint64_t>(i));
    const Position at{i, 0, static_cast<std::uint64_t>(i)};
    const auto step = [&](Network& network) {
      return network.step(data.batch(), at, 0,
                          dl::device::UpdateTo::kParameters, {}, 1e6);
    };
    const Network::StepResult one = step(cpu), other = step(cuda);
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

TEST_CASE("mini-batches that were expected are learnt as they are") {
  const NetworkConfig config = sequence(kCases[0].shape, kCases[0].layers);
  Network cpu = compile(config, 6, "cpu"), cuda = compile(config, 6, gpu());
  Examples data[] = {random_examples(config, 6, 1),
                     random_examples(config, 6, 2)};
  const auto batch = [&](std::size_t which, std::uint64_t serial) {
    Batch b = data[which].batch();
    b.serial = serial;
    return b;
  };
  Position at;
  // The tensor in a place was expected there as another's.
  const auto renew = [&](std::size_t which) {
    const Examples fresh = random_examples(
        config, 6, static_cast<std::uint64_t>(10 + at.iteration));
    std::ranges::copy(fresh.features.bytes(),
                      data[which].features.bytes().begin());
  };
  const auto step = [&](const Batch& given) {
    const auto one =
        cpu.step(given, at, 0, dl::device::UpdateTo::kParameters, {}, 1e6);
    const auto other =
        cuda.step(given, at, 0, dl::device::UpdateTo::kParameters, {}, 1e6);
    ++at.iteration;
    CHECK(other.loss == Approx(one.loss).epsilon(1e-4));
  };
  for (std::uint64_t serial = 1; serial < 8; ++serial) {
    cuda.expect(batch(serial % 2, serial + 1));
    step(batch((serial + 1) % 2, serial));
  }
  constexpr std::size_t kLast = 1;  // was expected, of serial 8
  SECTION("given as it was expected") { step(batch(kLast, 8)); }
  SECTION("another in its place") {
    renew(kLast);
    step(batch(kLast, 9));
  }
  SECTION("one without a name") {
    renew(kLast);
    step(batch(kLast, 0));
  }
  SECTION("a step that fails") {
    Examples& bad = data[kLast];
    std::swap(bad.labels, data[1 - kLast].features);
    CHECK_THROWS(cuda.step(batch(kLast, 8), at, 0,
                           dl::device::UpdateTo::kParameters, {}, 1e6));
    std::swap(bad.labels, data[1 - kLast].features);
    renew(kLast);
    step(batch(kLast, 0));
  }
  SECTION("a prediction between") {
    renew(kLast);
    Tensor ours, theirs;
    cuda.predict(data[kLast].features, ours);
    cpu.predict(data[kLast].features, theirs);
    const auto numbers = [](const Tensor& t) {
      return std::vector<double>(t.as<float>().begin(), t.as<float>().end());
    };
    CHECK(distance(numbers(ours), numbers(theirs)) < 1e-4);
    step(batch(kLast, 8));
  }
}

TEST_CASE("a network learns on several GPUs what it does on the cpu") {
  if (std::getenv("DL_TEST_DEVICE") != nullptr) return;  // it may have but one
  ::setenv("DL_CUDA_PLUGIN", DL_EMULATED_PLUGIN, 1);
  ::setenv("DL_EMULATED_GPUS", "3", 1);
  const Case& c = GENERATE(from_range(kCases));
  CAPTURE(c.name);
  const NetworkConfig config = config_of(c);
  Network cpu = compile(config, 7, "cpu"),
          gpus = compile(config, 7, "cuda:all"),
          again = compile(config, 7, "cuda:0,1,2");
  for (std::int64_t i = 0; i < 6; ++i) {
    CAPTURE(i);
    // With two examples, one GPU has none.
    const Examples data =
        random_examples(config, i == 4 ? 2 : 7, static_cast<std::uint64_t>(i));
    const Position at{i, 0, static_cast<std::uint64_t>(i)};
    const auto step = [&](Network& network) {
      // In one pass, and in two.
      if (i % 2 == 0)
        return network.step(data.batch(), at, 0,
                            dl::device::UpdateTo::kParameters, {}, 1e6);
      const double loss = network.compute_gradient(data.batch(), at);
      const bool finite = network.gradient_is_finite();
      return Network::StepResult{loss, finite, network.apply_update(at)};
    };
    const Network::StepResult one = step(cpu), other = step(gpus);
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

TEST_CASE("one of several GPUs that fails ends the step") {
  if (std::getenv("DL_TEST_DEVICE") != nullptr) return;
  ::setenv("DL_CUDA_PLUGIN", DL_EMULATED_PLUGIN, 1);
  ::setenv("DL_EMULATED_GPUS", "3", 1);
  const NetworkConfig config = config_of(kCases[0]);
  Network network = compile(config, 6, "cuda:all");
  const Examples data = random_examples(config, 6);
  const std::string gpu = GENERATE("0", "1", "2");
  const bool whole = GENERATE(true, false);
  ::setenv("DL_EMULATED_FAULT", gpu.c_str(), 1);
  const auto step = [&] {
    if (whole)
      network.step(data.batch(), {}, 0, dl::device::UpdateTo::kParameters, {},
                   1e6);
    else
      network.compute_gradient(data.batch(), {});
  };
  CHECK_THROWS_WITH(step(), Catch::Contains("cuda:" + gpu));
  ::unsetenv("DL_EMULATED_FAULT");
  ::unsetenv("DL_EMULATED_GPUS");
}

// Networks for plain steps downhill, which are as large as the gradient,
// without kinks: at one, a last digit decides which way a gradient goes.
const std::vector<Case> kMixed = {
    {"dense", "[40]",
     R"({"type": "dense", "units": 24, "activation": "tanh"}, )" + kOutput,
     R"(, "updater": {"type": "sgd", "learning_rate": 0.1})"},
    {"images", "[6, 6, 8]",
     R"({"type": "conv2d", "filters": 8, "kernel": [3, 3], "activation": "elu"},
        {"type": "average_pool2d", "kernel": [2, 2]},
        {"type": "conv2d", "filters": 5, "kernel": [2, 2], "activation": "tanh"}, )" +
         kOutput,
     R"(, "updater": {"type": "sgd", "learning_rate": 0.1})"},
    {"sequences", "[5, 12]",
     R"({"type": "multi_head_attention", "heads": 2, "head_size": 5},
        {"type": "lstm", "units": 9, "return_sequences": true},
        {"type": "gru", "units": 7}, )" +
         kOutput,
     R"(, "updater": {"type": "sgd", "learning_rate": 0.1})"},
};

// From where they begin, six steps in another precision end near those in
// float32: within so much of the way that they went.
TEST_CASE(
    "a network learns on cuda in less precision what it does in float32") {
  const Case& c = GENERATE(from_range(kMixed));
  CAPTURE(c.name);
  const NetworkConfig config = config_of(c);
  const auto learn = [&](Precision precision) {
    Learner learner(config, precision);
    std::vector<double> losses;
    for (int i = 0; i < 6; ++i) losses.push_back(learner.step());
    for (std::size_t i = 1; i < losses.size(); ++i)
      CHECK(losses[i] < losses[i - 1]);
    return std::pair(learner.parameters(), losses);
  };
  const auto begin = Learner(config, Precision::kFloat32).parameters();
  const auto [full, losses] = learn(Precision::kFloat32);
  const double way = distance(full, begin);
  for (const Precision precision : precisions()) {
    if (precision == Precision::kFloat32) continue;
    const double part = precision == Precision::kTf32 ? 0.005 : 0.04;
    const auto [parameters, mixed] = learn(precision);
    const double off = distance(parameters, full);
    CAPTURE(static_cast<int>(precision), way, off);
    CHECK(off > 0);
    CHECK(off < part * way);
    CHECK(mixed.back() == Approx(losses.back()).epsilon(part));
  }
}

// -999 is no bfloat16: looked for is what inputs become.
TEST_CASE("padding is found on cuda in any precision") {
  const NetworkConfig config = sequence("[6, 3]",
                                        R"({"type": "masking", "value": -999},
                   {"type": "lstm", "units": 5}, )" +
                                            kOutput,
                                        "");
  Examples data = random_examples(config, 4, 1);
  const auto features = data.features.as<double>();
  for (std::size_t i = 0; i < features.size(); ++i)
    if (i / 3 % 6 >= 2) features[i] = -999;
  const auto loss = [&](Network& network) {
    return network
        .step(data.batch(), {}, 0, dl::device::UpdateTo::kParameters, {}, 1e6)
        .loss;
  };
  Network cpu = compile(config, 4, "cpu");
  cpu.initialise();
  const double found = loss(cpu);
  for (const Precision precision : precisions()) {
    CAPTURE(static_cast<int>(precision));
    Network network(config, {}, 4, dl::device::open_lanes(gpu(), 1, precision),
                    true);
    network.initialise();
    CHECK(loss(network) == Approx(found).epsilon(5e-3));
  }
}

TEST_CASE("a network learns on cuda the same bits each time") {
  const Case& c = GENERATE(from_range(kMixed));
  CAPTURE(c.name);
  const NetworkConfig config = config_of(c);
  for (const Precision precision : precisions()) {
    Learner one(config, precision), other(config, precision);
    for (int i = 0; i < 5; ++i) CHECK(one.step() == other.step());
    CHECK(one.parameters() == other.parameters());
  }
}

#endif

}  // namespace dl::nn::cuda_test
