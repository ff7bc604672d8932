// Layers that are one primitive of the cpu device, on one thread: convolution
// with max pooling and recurrent layers, at the shapes of the reference
// networks; attention, depthwise convolution and normalization at those of
// small transformers and of MobileNet.
//
// of_peak counts the arithmetic of the plain definition.  Convolution with max
// pooling does less of it backwards, so its gradients may exceed 1.

#include <cstdint>
#include <string>
#include <vector>

#include "tests/bench/bench.h"

namespace {

using namespace dl::device;
using benchmark::State;
using dl::bench::add;
using dl::bench::Bench;
using dl::bench::report_bytes;
using dl::bench::report_flops;

// A gradient as relu leaves it: every other number is zero.
void thin_out(View dy) {
  for (std::int64_t i = 0; i < dy.elements(); i += 2) dy.as<float>()[i] = 0;
}

enum class Pass { kForward, kData, kWeights };

void pool_at_once(State& state, const Conv2dSpec& s, std::int64_t batch,
                  Pass pass) {
  Bench b;
  const View x = b.array({batch, s.height, s.width, s.channels}),
             y = b.array(
                 {batch, s.out_height() / 2, s.out_width() / 2, s.filters}),
             dy = b.array(y.shape),
             w = b.array({s.filters, s.kernel[0], s.kernel[1], s.channels}),
             bias = b.array({s.filters});
  // Different sums, so that winners differ.
  for (std::int64_t i = 0; i < x.elements(); ++i)
    x.as<float>()[i] = static_cast<float>(i * 7919 % 1021) / 1021;
  thin_out(dy);
  const auto conv = b.device->conv2d_max_pool(s, batch);
  conv->forward(y, x, w, bias);
  const View dx = b.array(x.shape), dw = b.array(w.shape);
  for (auto _ : state) {
    if (pass == Pass::kForward) conv->forward(y, x, w, bias);
    if (pass == Pass::kData) conv->backward_data(dx, dy, w);
    if (pass == Pass::kWeights) conv->backward_weights(dw, bias, x, dy);
  }
  report_flops(
      state, 2.0 * static_cast<double>(batch * s.out_height() * s.out_width() *
                                       s.filters * s.kernel[0] * s.kernel[1] *
                                       s.channels));
}

void add_pooling() {
  const Conv2dSpec lenet1{.height = 28,
                          .width = 28,
                          .channels = 1,
                          .filters = 20,
                          .kernel = {5, 5}};
  const Conv2dSpec lenet2{.height = 12,
                          .width = 12,
                          .channels = 20,
                          .filters = 50,
                          .kernel = {5, 5},
                          .stride = {2, 2}};
  const Conv2dSpec cifar2{.height = 32,
                          .width = 32,
                          .channels = 64,
                          .filters = 64,
                          .kernel = {4, 4},
                          .pad_begin = {1, 1},
                          .pad_end = {2, 2}};
  const Conv2dSpec cifar8{.height = 16,
                          .width = 16,
                          .channels = 256,
                          .filters = 256,
                          .kernel = {2, 2},
                          .pad_end = {1, 1}};
  struct Case {
    const char* name;
    Conv2dSpec spec;
    std::int64_t batch;
  };
  for (const Case& c : {Case{"lenet1", lenet1, 32}, Case{"lenet2", lenet2, 32},
                        Case{"cifar2", cifar2, 8}, Case{"cifar8", cifar8, 8}}) {
    const std::string name = std::string("conv_max_pool/") + c.name;
    for (const auto& [what, pass] : {std::pair{"/forward", Pass::kForward},
                                     {"/data", Pass::kData},
                                     {"/weights", Pass::kWeights}})
      add(name + what, [c, the_pass = pass](State& state) {
        pool_at_once(state, c.spec, c.batch, the_pass);
      });
  }
}

void recur(State& state, Cell cell, std::int64_t batch, bool backward) {
  Bench b;
  const RecurrentSpec spec{
      .cell = cell, .steps = 50, .inputs = 64, .units = 256, .last = true};
  const std::int64_t rows = spec.gates() * spec.units;
  const auto weights = [&] {
    return RecurrentWeights{b.array({rows, spec.inputs}),
                            b.array({rows, spec.units}),
                            b.array({spec.biases()}),
                            {}};
  };
  const RecurrentWeights w = weights(), gradient = weights();
  const View x = b.array({batch, spec.steps, spec.inputs}),
             y = b.array({batch, spec.units}), dy = b.array(y.shape);
  const auto layer = b.device->recurrent(spec, batch);
  layer->forward(y, x, {}, w, {});
  for (auto _ : state) {
    if (backward)
      layer->backward({}, false, dy, x, {}, w, gradient);
    else
      layer->forward(y, x, {}, w, {});
  }
  // Backward: the gradients of both weights, and that of the state.
  const double inputs = static_cast<double>(spec.inputs),
               units = static_cast<double>(spec.units);
  report_flops(state, 2.0 * static_cast<double>(batch * spec.steps * rows) *
                          (backward ? inputs + 2 * units : inputs + units));
}

void add_recurrent() {
  for (const auto& [name, cell] : {std::pair{"lstm", Cell::kLstm},
                                   {"gru", Cell::kGru},
                                   {"simple", Cell::kSimple}})
    for (const std::int64_t batch : {1, 32}) {
      const std::string base =
          std::string("recurrent/") + name + "/" + std::to_string(batch);
      add(base + "/forward", [kind = cell, batch](State& state) {
        recur(state, kind, batch, false);
      });
      if (batch > 1)
        add(base + "/backward", [kind = cell, batch](State& state) {
          recur(state, kind, batch, true);
        });
    }
}

// Self-attention of one product [batch, steps, 3 * heads * size].
void attend(State& state, std::int64_t batch, std::int64_t steps,
            std::int64_t heads, std::int64_t size, bool backward) {
  Bench b;
  AttentionSpec spec{
      .queries = steps, .keys = steps, .heads = heads, .head_size = size};
  const std::int64_t width = spec.size();
  spec.q = {3 * width, 0};
  spec.k = {3 * width, width};
  spec.v = {3 * width, 2 * width};
  const View x = b.array({batch, steps, 3 * width}), dx = b.array(x.shape),
             y = b.array({batch, steps, width});
  const auto attention = b.device->attention(spec, batch);
  attention->forward(y, x, x, x, {}, true);
  for (auto _ : state) {
    if (backward)
      attention->backward(dx, dx, dx, y, x, x, x, {});
    else
      attention->forward(y, x, x, x, {}, true);
  }
  report_flops(state, (backward ? 10.0 : 4.0) *
                          static_cast<double>(batch * steps * steps * width));
}

void add_attention() {
  struct Case {
    const char* name;
    std::int64_t batch, steps, heads, size;
  };
  for (const Case& c : {Case{"attention/64x4x32", 32, 64, 4, 32},
                        {"attention/256x8x64", 8, 256, 8, 64}})
    for (const bool backward : {false, true})
      add(std::string(c.name) + (backward ? "/backward" : "/forward"),
          [c, backward](State& state) {
            attend(state, c.batch, c.steps, c.heads, c.size, backward);
          });
}

void convolve_depthwise(State& state, std::int64_t size, std::int64_t channels,
                        Pass pass) {
  Bench b;
  constexpr std::int64_t kBatch = 8;
  const Conv2dSpec s{.height = size,
                     .width = size,
                     .channels = channels,
                     .filters = channels,
                     .kernel = {3, 3},
                     .pad_begin = {1, 1},
                     .pad_end = {1, 1},
                     .groups = channels};
  const View x = b.array({kBatch, size, size, channels}), y = b.array(x.shape),
             w = b.array({channels, 3, 3, 1}), bias = b.array({channels});
  const auto conv = b.device->conv2d(s, kBatch);
  for (auto _ : state) {
    if (pass == Pass::kForward) conv->forward(y, x, w, bias);
    if (pass == Pass::kData) conv->backward_data(x, y, w);
    if (pass == Pass::kWeights) conv->backward_weights(w, bias, x, y);
  }
  report_bytes(state, 8.0 * static_cast<double>(x.elements()));
}

void normalise(State& state, std::int64_t s, std::int64_t groups,
               bool backward) {
  Bench b;
  const std::int64_t n = 2048 / s;
  const View x = b.array({n, s, 512}), y = b.array(x.shape),
             has = b.array({n, groups, 2}), gamma = b.array({512}),
             dgamma = b.array({512}), dbeta = b.array({512});
  for (auto _ : state) {
    if (backward)
      b.device->group_norm_gradient(y, dgamma, dbeta, y, x, gamma, has);
    else
      b.device->group_norm(y, has, x, gamma, gamma, 1e-5);
  }
  report_bytes(state,
               (backward ? 12.0 : 8.0) * static_cast<double>(x.elements()));
}

void add_normalisation() {
  for (const auto& [name, pass] : {std::pair{"forward", Pass::kForward},
                                   {"data", Pass::kData},
                                   {"weights", Pass::kWeights}})
    for (const auto& [size, channels] :
         {std::pair<std::int64_t, std::int64_t>{14, 512}, {56, 128}})
      add("depthwise/" + std::to_string(size) + "x" + std::to_string(channels) +
              "/" + name,
          [size = size, channels = channels, pass = pass](State& state) {
            convolve_depthwise(state, size, channels, pass);
          });
  for (const bool backward : {false, true}) {
    const std::string way = backward ? "/backward" : "/forward";
    add("layer_norm/512" + way,
        [backward](State& state) { normalise(state, 1, 1, backward); });
    add("group_norm/256x512/32" + way,
        [backward](State& state) { normalise(state, 256, 32, backward); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (!dl::bench::start(argc, argv)) return 64;
  add_pooling();
  add_recurrent();
  add_attention();
  add_normalisation();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
