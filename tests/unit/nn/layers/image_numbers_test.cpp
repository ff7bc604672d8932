// Numbers of layers over images, series and volumes, beside those of PyTorch 2
// (float64): of inputs sin(1), sin(2), .., weights cos(1), cos(2), .. (each
// tensor from the start) and biases 0, 0.1, ..

#include <catch2/catch.hpp>
#include <cmath>

#include "libcore/nn/layer.h"
#include "tests/unit/nn/support.h"

namespace dl::nn::image_numbers_test {
namespace {

using tensor::Shape;
using tensor::View;

// Output of a single layer for two examples.
class Alone {
 public:
  Alone() : device_(std::move(device::open_lanes("reference", 1)[0])) {}

  std::vector<double> forward(const std::string& layer, const Shape& input) {
    const Json json = Json::parse(layer);
    const LayerType& type = layer_type(json.at("type").get<std::string>());
    LayerSettings settings(json, "layer");
    if (type.complete) type.complete(settings);
    Memory memory(*device_);
    const ValueSpec form{input};
    const LayerShape plan = type.infer(settings, {&form, 1});
    LayerSite site;
    site.device = device_.get();
    site.settings = &settings;
    site.inputs = {form};
    site.output = plan.output;
    site.max_batch = 2;
    for (const TensorSpec& spec : plan.parameters) {
      site.parameters.push_back(memory.allocate(spec.shape));
      const bool bias = spec.role == Role::kBias;
      set(site.parameters.back(),
          [&](double i) { return bias ? 0.1 * (i - 1) : std::cos(i); });
    }
    Flow flow;
    flow.x = {memory.allocate(input.with_first(2))};
    set(flow.x[0], [](double i) { return std::sin(i); });
    flow.y = memory.allocate(plan.output.shape.with_first(2));
    flow.masks = {View{}};
    Step step;
    step.examples = step.total = 2;
    type.make(site, memory)->forward(flow, step);
    testing::Tensor host(testing::DType::kF64, flow.y.shape);
    device_->download(host, flow.y);
    return {host.as<double>().begin(), host.as<double>().end()};
  }

 private:
  template <typename F>
  void set(View to, const F& value) {
    testing::Tensor host(testing::DType::kF64, to.shape);
    double i = 0;
    for (double& x : host.as<double>()) x = value(++i);
    device_->upload(to, host);
  }

  std::unique_ptr<device::Device> device_;
};

// How many there are, the first, the middle one and the last, their sum, and
// that of sin(2 i + 1) times the i-th from 0.
struct Numbers {
  const char* layer;
  Shape input;
  std::size_t count;
  double first, middle, last, sum, mixed;
};

const Numbers kNumbers[] = {
    {R"({"type": "depthwise_conv2d", "depth_multiplier": 3, "kernel": [2, 3],
         "stride": [2, 1]})",
     {4, 5, 2},
     72,
     2.742459686462,
     -1.867669113783,
     -1.101313241494,
     17.198697094826,
     -0.079915454178},
    {R"({"type": "separable_conv2d", "depth_multiplier": 2, "filters": 3,
         "kernel": [2, 2]})",
     {4, 5, 2},
     72,
     0.032140534614,
     0.139838755156,
     0.696774753569,
     7.183809375251,
     -1.593178368433},
    {R"({"type": "conv2d_transpose", "filters": 3, "kernel": [3, 2],
         "stride": [2, 3]})",
     {4, 5, 2},
     756,
     0.076247465759,
     0.295703349074,
     0.728522816128,
     75.335116919468,
     2.451360790842},
    {R"({"type": "conv2d_transpose", "filters": 3, "kernel": [3, 2],
         "stride": [2, 1], "padding": "same"})",
     {4, 5, 2},
     240,
     0.076247465759,
     0.295703349074,
     1.721989321278,
     25.924399794822,
     -0.026830073254},
    {R"({"type": "conv1d", "filters": 2, "kernel": 3, "dilation": 2,
         "padding": "causal"})",
     {6, 3},
     24,
     0.373505356165,
     -0.782143069653,
     -0.798558328670,
     1.104610589523,
     0.902322580054},
    {R"({"type": "conv1d", "filters": 2, "kernel": 3, "stride": 2})",
     {6, 3},
     8,
     -0.133219778345,
     -3.313103256451,
     2.822610451887,
     -6.385462890943,
     -2.438594222245},
    {R"({"type": "conv3d", "filters": 3, "kernel": [2, 2, 3]})",
     {3, 3, 4, 2},
     48,
     3.907691489393,
     -2.658443282330,
     5.546359995206,
     -2.467895996688,
     20.855548447649},
    {R"({"type": "max_pool3d", "stride": [1, 1, 1]})",
     {3, 3, 4, 2},
     48,
     0.999911860107,
     0.968364461100,
     0.885924816460,
     45.805970151449,
     0.843710525049},
    {R"({"type": "average_pool3d", "stride": [1, 1, 1]})",
     {3, 3, 4, 2},
     48,
     0.223809080060,
     -0.266428719951,
     -0.289863032327,
     0.011936231496,
     0.172183013494},
    {R"({"type": "pnorm_pool2d", "p": 3, "stride": [1, 1]})",
     {4, 5, 2},
     48,
     1.187079123345,
     0.980484802574,
     1.320966097212,
     57.039103446284,
     1.039725174906},
    {R"({"type": "average_pool2d", "kernel": [3, 3], "stride": [1, 1],
         "padding": "same", "count_padding": true})",
     {4, 5, 2},
     80,
     0.044751980349,
     0.008417434955,
     -0.067105244119,
     0.150119588272,
     -0.000019147638},
    {R"({"type": "max_pool1d"})",
     {6, 3},
     18,
     0.841470984808,
     0.149877209663,
     0.999911860107,
     11.981153476544,
     1.370361941006},
    {R"({"type": "average_pool1d", "kernel": 3, "stride": 1})",
     {6, 3},
     24,
     0.247218362740,
     0.002891383425,
     -0.326632872476,
     0.118815736135,
     -0.121662485213},
    {R"({"type": "upsample2d", "size": [3, 2], "interpolation": "bilinear"})",
     {4, 5, 2},
     480,
     0.841470984808,
     -0.158622668805,
     -0.993888653923,
     3.115984686810,
     1.770493535319},
    {R"({"type": "upsample2d", "size": [3, 2]})",
     {4, 5, 2},
     480,
     0.841470984808,
     -0.158622668805,
     -0.993888653923,
     3.115984686810,
     -0.185954191149},
    {R"({"type": "local_response_norm", "alpha": 0.5})",
     {2, 2, 7},
     56,
     0.391119735611,
     -0.307420911832,
     -0.241475780553,
     -0.061244969785,
     0.040609337466}};

}  // namespace

TEST_CASE("layers over images, series and volumes give PyTorch's numbers") {
  Alone alone;
  for (const Numbers& want : kNumbers) {
    CAPTURE(want.layer);
    const std::vector<double> y = alone.forward(want.layer, want.input);
    REQUIRE(y.size() == want.count);
    double sum = 0, mixed = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      sum += y[i];
      mixed += y[i] * std::sin(2 * static_cast<double>(i) + 1);
    }
    CHECK(y.front() == Approx(want.first).margin(1e-9));
    CHECK(y[y.size() / 2] == Approx(want.middle).margin(1e-9));
    CHECK(y.back() == Approx(want.last).margin(1e-9));
    CHECK(sum == Approx(want.sum).margin(1e-9));
    CHECK(mixed == Approx(want.mixed).margin(1e-9));
  }
}

}  // namespace dl::nn::image_numbers_test
