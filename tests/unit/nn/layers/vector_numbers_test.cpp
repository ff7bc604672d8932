// Numbers of layers over vectors and sequences, beside those of PyTorch 2
// (float64), where it has the layer, or by hand.

#include <catch2/catch.hpp>
#include <functional>

#include "libcore/nn/layer.h"
#include "tests/unit/nn/support.h"

namespace dl::nn::vector_numbers_test {
namespace {

using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::View;

// A layer alone on the reference, with one input.
class Alone {
 public:
  Alone(const Json& settings, const ValueSpec& input, std::int64_t n)
      : device_(std::move(device::open_lanes("reference", 1)[0])),
        memory_(*device_),
        settings_(settings, "layer") {
    const LayerType& type = layer_type(settings.at("type").get<std::string>());
    const LayerShape plan = type.infer(settings_, {&input, 1});
    LayerSite site;
    site.device = device_.get();
    site.settings = &settings_;
    site.inputs = {input};
    site.output = plan.output;
    site.max_batch = n;
    site.training = true;
    for (const TensorSpec& spec : plan.parameters) {
      site.parameters.push_back(memory_.allocate(spec.shape));
      site.gradients.push_back(memory_.allocate(spec.shape));
      device_->fill(site.parameters.back(), spec.start);
    }
    parameters = site.parameters;
    flow.x = {memory_.allocate(input.shape.with_first(n))};
    flow.dx = {memory_.allocate(flow.x[0].shape)};
    flow.y = memory_.allocate(plan.output.shape.with_first(n));
    flow.dy = memory_.allocate(flow.y.shape);
    flow.masks = {View{}};
    layer_ = type.make(site, memory_);
    step_.training = true;
    step_.examples = step_.total = n;
  }

  void set(View to, const std::vector<double>& from) {
    Tensor host(DType::kF64, to.shape);
    std::copy(from.begin(), from.end(), host.as<double>().begin());
    device_->upload(to, host);
  }
  void mask(const std::vector<double>& mask) {
    flow.masks[0] = memory_.allocate({flow.x[0].shape[0], flow.x[0].shape[1]});
    set(flow.masks[0], mask);
  }
  std::vector<double> get(View view) {
    Tensor host(DType::kF64, view.shape);
    device_->download(host, view);
    const auto all = host.as<double>();
    return {all.begin(), all.end()};
  }
  std::vector<double> forward(const std::vector<double>& x) {
    set(flow.x[0], x);
    layer_->forward(flow, step_);
    return get(flow.y);
  }
  std::vector<double> backward(const std::vector<double>& dy) {
    set(flow.dy, dy);
    layer_->backward(flow, step_);
    return get(flow.dx[0]);
  }
  std::vector<double> made_mask() { return get(layer_->mask(flow)); }

  Flow flow;
  std::vector<View> parameters;

 private:
  std::unique_ptr<device::Device> device_;
  Memory memory_;
  LayerSettings settings_;
  std::unique_ptr<Layer> layer_;
  Step step_;
};

using Numbers = std::vector<double>;

void check_near(const Numbers& got, const Numbers& want) {
  INFO(Catch::Detail::stringify(got));
  CHECK(testing::distance(got, want) < 1e-8);
}

TEST_CASE("normalisations of an example have PyTorch's numbers") {
  Alone layer({{"type", "layer_norm"}}, {{3}}, 2);
  check_near(layer.forward({0.5, -1, 2, 1.5, 0.25, -0.75}),
             {0, -1.2247407889290967, 1.2247407889290967, 1.2674929643309851,
              -0.09053521173792756, -1.176957752593058});
  Alone groups({{"type", "group_norm"}, {"groups", 2}}, {{2, 1, 4}}, 1);
  check_near(groups.forward({1, 2, 3, 4, 0, -1, 2, 0.5}),
             {0.447211806656309, 1.3416354199689269, 0.48336679894204326,
              1.2567536772493126, -0.447211806656309, -1.3416354199689269,
              -0.290020079365226, -1.45010039682613});
}

// Weights as (i * by % 7) / 7 - 0.4, in PyTorch's order.
Numbers weights(int first, int count, int by) {
  Numbers all;
  for (int i = first; i < first + count; ++i)
    all.push_back(i * by % 7 / 7.0 - 0.4);
  return all;
}

TEST_CASE("attention has PyTorch's numbers") {
  Numbers x;
  for (int i = 0; i < 12; ++i) x.push_back(i * 5 % 11 / 11.0 - 0.5);
  const struct {
    bool causal;
    Numbers y, dx;
  } cases[] = {
      {false,
       {-0.370602088, 0.204906515, -0.392350785, 0.146493326, -0.368864949,
        0.200261385, -0.391205614, 0.147889372, -0.368746861, 0.200785876,
        -0.391717737, 0.147425058},
       {-0.037335081, -0.144772335, -0.00034553, -0.128265069, -0.029598841,
        -0.138810379, -0.011636105, -0.116600551, 0, 0, 0, 0}},
      {true,
       {-0.238070501, 0.19755102, -0.54864564, 0.022040816, -0.368864949,
        0.200261385, -0.391205614, 0.147889372, -0.368746861, 0.200785876,
        -0.391717737, 0.147425058},
       {-0.297754425, -0.042074931, -0.226014209, 0.021362863, -0.020167856,
        -0.067327809, -0.006948971, -0.053866719, 0, 0, 0, 0}}};
  for (const auto& [causal, y, dx] : cases) {
    Alone layer({{"type", "multi_head_attention"},
                 {"heads", 2},
                 {"head_size", 2},
                 {"causal", causal}},
                {{3, 4}, true}, 1);
    for (int i = 0; i < 3; ++i) {
      const auto at = static_cast<std::size_t>(2 * i);
      layer.set(layer.parameters[at], weights(16 * i, 16, 3));
      layer.set(layer.parameters[at + 1], weights(4 * i, 4, 2));
    }
    layer.set(layer.parameters[6], weights(0, 16, 5));
    layer.set(layer.parameters[7], weights(0, 4, 4));
    layer.mask({1, 1, 0});
    const Numbers got = layer.forward(x);
    check_near(got, y);
    Numbers dy = got;  // of the sum of squares of the steps that are real
    for (double& d : dy) d *= 2;
    std::fill(dy.begin() + 8, dy.end(), 0.0);
    check_near(layer.backward(dy), dx);
  }
}

TEST_CASE("steps are found by their mask, whatever lies between") {
  const Numbers x{1, 2, 3, 4, 5, 6, 7, 8};  // 4 steps of 2
  Alone last({{"type", "last_step"}}, {{4, 2}, true}, 1);
  CHECK(last.forward(x) == Numbers{7, 8});
  last.mask({1, 0, 1, 0});
  CHECK(last.forward(x) == Numbers{5, 6});
  CHECK(last.backward({3, 4}) == Numbers{0, 0, 0, 0, 3, 4, 0, 0});
  last.mask({0, 0, 0, 0});
  CHECK(last.forward(x) == Numbers{1, 2});

  Alone reverse({{"type", "reverse"}}, {{4, 2}, true}, 1);
  CHECK(reverse.forward(x) == Numbers{7, 8, 5, 6, 3, 4, 1, 2});
  reverse.mask({1, 0, 1, 1});
  CHECK(reverse.forward(x) == Numbers{7, 8, 3, 4, 5, 6, 1, 2});
  CHECK(reverse.backward(x) == Numbers{7, 8, 3, 4, 5, 6, 1, 2});
  reverse.mask({0, 0, 0, 0});
  CHECK(reverse.forward(x) == x);
}

TEST_CASE("all steps are turned with their mask, or the mask alone") {
  const Numbers x{1, 2, 3, 4, 5, 6, 7, 8};  // 4 steps of 2
  Alone all({{"type", "reverse"}, {"turns", "all"}}, {{4, 2}, true}, 1);
  all.mask({1, 0, 1, 1});
  CHECK(all.forward(x) == Numbers{7, 8, 5, 6, 3, 4, 1, 2});
  CHECK(all.made_mask() == Numbers{1, 1, 0, 1});
  CHECK(all.backward(x) == Numbers{7, 8, 5, 6, 3, 4, 1, 2});
  Alone mask({{"type", "reverse"}, {"turns", "mask"}}, {{4, 2}, true}, 1);
  mask.mask({1, 0, 0, 0});
  CHECK(mask.forward(x) == x);
  CHECK(mask.made_mask() == Numbers{0, 0, 0, 1});
  CHECK(mask.backward(x) == x);
}

TEST_CASE("padding is filled with the step before it") {
  const Numbers x{1, 2, 3, 4, 5, 6, 7, 8};  // 4 steps of 2
  Alone hold({{"type", "hold"}}, {{4, 2}, true}, 1);
  CHECK(hold.forward(x) == x);
  hold.mask({0, 1, 0, 0});
  CHECK(hold.forward(x) == Numbers{1, 2, 3, 4, 3, 4, 3, 4});
  CHECK(hold.backward(x) == Numbers{1, 2, 15, 18, 0, 0, 0, 0});
  hold.mask({0, 0, 0, 0});
  CHECK(hold.forward(x) == x);
}

TEST_CASE("steps that are all of a value become padding") {
  Alone layer({{"type", "masking"}, {"value", -1}}, {{4, 2}, true}, 1);
  const Numbers x{-1, -1, -1, 1e-4, 0, 0, -1, -1};
  CHECK(layer.forward(x) == x);
  CHECK(layer.made_mask() == Numbers{0, 1, 1, 0});
  layer.mask({1, 1, 0, 1});
  layer.forward(x);
  CHECK(layer.made_mask() == Numbers{0, 1, 0, 0});
  Alone clear({{"type", "masking"}, {"value", -1}, {"clears", true}},
              {{4, 2}, true}, 1);
  CHECK(clear.forward(x) == Numbers{0, 0, -1, 1e-4, 0, 0, 0, 0});
  CHECK(clear.backward({1, 2, 3, 4, 5, 6, 7, 8}) ==
        Numbers{0, 0, 3, 4, 5, 6, 0, 0});
}

TEST_CASE("fixed places are waves, and axes are put in another order") {
  Alone waves({{"type", "positional_embedding"}, {"sinusoidal", true}},
              {{3, 4}, true}, 1);
  check_near(waves.forward(Numbers(12, 1.0)),
             {1, 2, 1, 2, 1 + std::sin(1.0), 1 + std::cos(1.0),
              1 + std::sin(0.01), 1 + std::cos(0.01), 1 + std::sin(2.0),
              1 + std::cos(2.0), 1 + std::sin(0.02), 1 + std::cos(0.02)});
  Alone permute({{"type", "permute"}, {"axes", {2, 0, 1}}}, {{1, 2, 3}}, 1);
  CHECK(permute.flow.y.shape == Shape{1, 3, 1, 2});
  CHECK(permute.forward({1, 2, 3, 4, 5, 6}) == Numbers{1, 4, 2, 5, 3, 6});
  CHECK(permute.backward({1, 4, 2, 5, 3, 6}) == Numbers{1, 2, 3, 4, 5, 6});
}

NetworkConfig with_table(const std::string& more = "") {
  return testing::sequence("[3]", R"({"type": "embedding", "rows": 4,
      "units": 2)" + more + R"(}, {"type": "last_step"},
      {"type": "output", "units": 2, "activation": "identity", "bias": false,
       "loss": "mean_squared_error"})");
}

TEST_CASE("a table gives the rows of its input") {
  for (const char* device : {"reference", "cpu"}) {
    Network network = testing::compile(with_table(), 2, device);
    // Table and the identity.
    testing::assign(network, network.parameters(),
                    {1, 2, 3, 4, 5, 6, 7, 8, 1, 0, 0, 1});
    Tensor x(DType::kI32, {2, 3});
    const std::int32_t tokens[] = {0, 1, 2, 2, 3, 0};
    std::copy(std::begin(tokens), std::end(tokens),
              x.as<std::int32_t>().begin());
    CHECK(testing::predict(network, x) == Numbers{5, 6, 1, 2});
    Network masking =
        testing::compile(with_table(R"(, "mask_zero": true)"), 2, device);
    testing::assign(masking, masking.parameters(),
                    {1, 2, 3, 4, 5, 6, 7, 8, 1, 0, 0, 1});
    CHECK(testing::predict(masking, x) == Numbers{5, 6, 7, 8});
  }
}

TEST_CASE("tokens that a table does not have are refused with their place") {
  Network network = testing::compile(with_table(), 2, "cpu");
  const auto refusal = [&](std::vector<double> tokens) {
    Tensor x(DType::kF64, {2, 3});
    std::copy(tokens.begin(), tokens.end(), x.as<double>().begin());
    try {
      testing::predict(network, x);
    } catch (const Error& e) {
      CHECK(e.code() == Code::kData);
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  CHECK(refusal({0, 1, 2, 3, 2, 1}) == "accepted");
  CHECK(refusal({0, 1, 2, 3, 4, 1}) ==
        "example 1 has token 4 at place 1, the network knows 0..3");
  CHECK(refusal({0, 1, -1, 3, 2, 1}) ==
        "example 0 has token -1 at place 2, the network knows 0..3");
  CHECK(refusal({0.5, 1, 2, 3, 2, 1}) ==
        "example 0 has token 0.500000 at place 0, the network knows 0..3");
}

TEST_CASE("token numbers go from an input to tables alone") {
  const auto refusal = [](const std::string& layers) {
    try {
      testing::sequence("[3]", layers + R"(, {"type": "output", "units": 2,
          "loss": "mean_squared_error"})");
    } catch (const Error& e) {
      CHECK(e.code() == Code::kConfig);
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  const std::string table = R"({"type": "embedding", "rows": 4, "units": 2})";
  CHECK(refusal(table) == "accepted");
  CHECK(refusal(R"({"type": "dense", "units": 3}, )" + table) ==
        "'test.json': layers[1] ('embedding1'): reads token numbers, which "
        "only an input of the network has");
  CHECK_THROWS_AS(
      testing::compile(with_table(), 2, "cpu", 1, true,
                       {.kind = "scale", .shift = {0}, .scale = {0.5}}),
      Error);
}

TEST_CASE("a network that has nothing to train is refused") {
  CHECK_THROWS_WITH(testing::sequence("[3]", R"({"type": "loss", "units": 3,
                                   "loss": "mean_squared_error"})"),
                    Catch::Contains("nothing that is trained"));
}

TEST_CASE("padding does not count in a batch's mean and variance") {
  const NetworkConfig config = testing::sequence("[4, 2]", R"(
      {"type": "batch_norm", "decay": 0}, {"type": "last_step"},
      {"type": "output", "units": 2, "loss": "mean_squared_error"})");
  testing::Examples data = testing::random_examples(config, 4);
  data.features_mask = testing::lengths_mask(4, 4);
  for (const char* device : {"reference", "cpu"}) {
    Network network = testing::compile(config, 4, device, 3);
    testing::train(network, data.batch(), 0);
    const auto x = std::as_const(data.features).as<double>();
    const auto real = std::as_const(data.features_mask).as<std::uint8_t>();
    Numbers mean(2), variance(2);
    double count = 0;
    for (std::size_t i = 0; i < real.size(); ++i) count += real[i];
    for (std::size_t i = 0; i < x.size(); ++i)
      mean[i % 2] += real[i / 2] * x[i] / count;
    for (std::size_t i = 0; i < x.size(); ++i)
      variance[i % 2] +=
          real[i / 2] * (x[i] - mean[i % 2]) * (x[i] - mean[i % 2]) / count;
    const Numbers got = testing::values(network, network.statistics());
    CHECK(testing::distance(got, {mean[0], mean[1], variance[0], variance[1]}) <
          1e-6);
  }
}

TEST_CASE("alpha dropout keeps mean 0 and variance 1") {
  constexpr std::int64_t kCount = 200000;
  Alone layer({{"type", "alpha_dropout"}, {"rate", 0.3}}, {{kCount}}, 1);
  Numbers x(kCount);
  Philox random(5, 5);
  for (double& v : x) v = random.normal();
  double mean = 0, squares = 0;
  for (const double v : layer.forward(x)) {
    mean += v / kCount;
    squares += v * v / kCount;
  }
  CHECK(std::abs(mean) < 0.01);
  CHECK(std::abs(squares - mean * mean - 1) < 0.02);
}

TEST_CASE("spatial dropout drops whole channels") {
  Alone layer({{"type", "spatial_dropout"}}, {{5, 40}, true}, 1);
  const Numbers y = layer.forward(Numbers(200, 1.0));
  int dropped = 0;
  for (std::size_t c = 0; c < 40; ++c) {
    dropped += y[c] == 0;
    for (std::size_t t = 0; t < 5; ++t) CHECK(y[t * 40 + c] == y[c]);
    CHECK((y[c] == 0 || y[c] == 2));
  }
  CHECK(dropped > 8);
  CHECK(dropped < 32);
}

TEST_CASE("stochastic depth drops whole examples") {
  Alone layer({{"type", "stochastic_depth"}, {"rate", 0.75}}, {{5}}, 200);
  const Numbers y = layer.forward(Numbers(1000, 1.0));
  int dropped = 0;
  for (std::size_t example = 0; example < 200; ++example) {
    const double first = y[5 * example];
    CHECK((first == 0 || first == 4));
    dropped += first == 0;
    for (std::size_t k = 1; k < 5; ++k) CHECK(y[5 * example + k] == first);
  }
  CHECK(dropped > 120);
  CHECK(dropped < 180);
}

}  // namespace
}  // namespace dl::nn::vector_numbers_test
