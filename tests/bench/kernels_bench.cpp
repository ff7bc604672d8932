// The cpu device's primitives on one thread, at the shapes of the reference
// networks (LeNet on 28x28x1, the CIFAR-10 network on 32x32x3, an MLP
// 784-1000-1000-10).  Layers that are one primitive are in layers_bench.cpp.
//
// of_peak: arithmetic over the measured rate of multiply-adds; taps that fall
// on padding count, so that a convolution which skips them may exceed 1.
// of_memory: bytes that must move over the measured rate of memcpy at that
// size.

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

// --- Convolution.

struct ConvCase {
  const char* name;
  std::int64_t batch;
  bool first;  // needs no gradient of its input
  Conv2dSpec spec;
};

Conv2dSpec same(std::int64_t size, std::int64_t channels, std::int64_t kernel,
                std::int64_t filters) {
  const std::int64_t begin = (kernel - 1) / 2, end = kernel / 2;
  return {.height = size,
          .width = size,
          .channels = channels,
          .filters = filters,
          .kernel = {kernel, kernel},
          .pad_begin = {begin, begin},
          .pad_end = {end, end}};
}

std::vector<ConvCase> conv_cases() {
  return {{"lenet1",
           32,
           true,
           {.height = 28,
            .width = 28,
            .channels = 1,
            .filters = 20,
            .kernel = {5, 5}}},
          {"lenet2",
           32,
           false,
           {.height = 12,
            .width = 12,
            .channels = 20,
            .filters = 50,
            .kernel = {5, 5},
            .stride = {2, 2}}},
          {"cifar1", 16, true, same(32, 3, 4, 64)},
          {"cifar2", 16, false, same(32, 64, 4, 64)},
          {"cifar3", 16, false, same(16, 64, 4, 96)},
          {"cifar4", 16, false, same(16, 96, 4, 96)},
          {"cifar5", 16, false, same(16, 96, 3, 128)},
          {"cifar6", 16, false, same(16, 128, 3, 128)},
          {"cifar7", 16, false, same(16, 128, 2, 256)},
          {"cifar8", 16, false, same(16, 256, 2, 256)}};
}

// kFrozen: forward as for prediction, with relu.
enum class Direction { kForward, kFrozen, kData, kWeights };

void convolve(State& state, const ConvCase& c, Direction direction) {
  const Conv2dSpec& s = c.spec;
  Bench b;
  const View x = b.array({c.batch, s.height, s.width, s.channels});
  const View y = b.array({c.batch, s.out_height(), s.out_width(), s.filters});
  const View w = b.array({s.filters, s.kernel[0], s.kernel[1], s.channels});
  const View bias = b.array({s.filters});
  const auto conv = b.device->conv2d(s, c.batch);
  const auto run = [&] {
    if (direction == Direction::kForward) conv->forward(y, x, w, bias);
    if (direction == Direction::kFrozen) conv->forward(y, x, {}, {});
    if (direction == Direction::kData) conv->backward_data(x, y, w);
    if (direction == Direction::kWeights) conv->backward_weights(w, bias, x, y);
  };
  if (direction == Direction::kFrozen)
    conv->freeze(w, bias, {Activation::kRelu});
  run();  // makes the primitive
  for (auto _ : state) run();
  report_flops(state, 2.0 * static_cast<double>(y.elements() * s.kernel[0] *
                                                s.kernel[1] * s.channels));
}

void add_convolutions() {
  for (const ConvCase& c : conv_cases()) {
    const std::string name = std::string("conv/") + c.name;
    add(name + "/forward",
        [c](State& s) { convolve(s, c, Direction::kForward); });
    add(name + "/frozen",
        [c](State& s) { convolve(s, c, Direction::kFrozen); });
    ConvCase one = c;
    one.batch = 1;
    add(name + "/frozen_one",
        [one](State& s) { convolve(s, one, Direction::kFrozen); });
    if (!c.first)
      add(name + "/data", [c](State& s) { convolve(s, c, Direction::kData); });
    add(name + "/weights",
        [c](State& s) { convolve(s, c, Direction::kWeights); });
  }
}

// --- Matrix product: y = x w^T, dw = dy^T x, dx = dy w.

void add_products() {
  struct Dense {
    const char* name;
    std::int64_t batch, units, inputs;
  };
  for (const Dense& d :
       {Dense{"lenet_dense", 32, 200, 800}, Dense{"lenet_output", 32, 10, 200},
        Dense{"cifar_dense1", 16, 1024, 16384},
        Dense{"cifar_dense2", 16, 1024, 1024},
        Dense{"mlp_dense1", 128, 1000, 784},
        Dense{"mlp_dense2", 128, 1000, 1000},
        Dense{"mlp_output", 128, 10, 1000},
        Dense{"mlp_dense2_one", 1, 1000, 1000}}) {
    const std::string name = std::string("matmul/") + d.name;
    const auto bench = [d](Direction direction) {
      return [d, direction](State& state) {
        Bench b;
        const View x = b.array({d.batch, d.inputs}),
                   w = b.array({d.units, d.inputs}),
                   y = b.array({d.batch, d.units});
        for (auto _ : state) {
          if (direction == Direction::kForward)
            b.device->matmul(y, x, false, w, true, 0);
          if (direction == Direction::kData)
            b.device->matmul(x, y, false, w, false, 0);
          if (direction == Direction::kWeights)
            b.device->matmul(w, y, true, x, false, 0);
        }
        report_flops(state,
                     2.0 * static_cast<double>(d.batch * d.units * d.inputs));
        // Skinny products are bound by reading or writing the weights.
        report_bytes(state, 4.0 * static_cast<double>(w.elements()));
      };
    };
    add(name + "/forward", bench(Direction::kForward));
    add(name + "/data", bench(Direction::kData));
    add(name + "/weights", bench(Direction::kWeights));
  }
}

// --- What memory bounds.

void add_pools() {
  struct Case {
    const char* name;
    std::int64_t batch, size, channels;
  };
  for (const Case& c :
       {Case{"lenet1", 32, 24, 20}, Case{"lenet2", 32, 4, 50},
        Case{"cifar1", 16, 32, 64}, Case{"cifar2", 16, 16, 256}})
    for (const bool forward : {true, false})
      add(std::string("max_pool/") + c.name +
              (forward ? "/forward" : "/backward"),
          [c, forward](State& state) {
            Bench b;
            const std::int64_t half = c.size / 2;
            const View x = b.array({c.batch, c.size, c.size, c.channels}),
                       y = b.array({c.batch, half, half, c.channels});
            const auto pool = b.device->pool2d(
                {.height = c.size, .width = c.size, .channels = c.channels},
                c.batch);
            pool->forward(y, x, true);
            for (auto _ : state) {
              if (forward) pool->forward(y, x, true);
              if (!forward) pool->backward(x, y);
            }
            // x, y, and the places of the maxima.
            report_bytes(state, 4.0 * static_cast<double>(x.elements() +
                                                          2 * y.elements()));
          });
}

// One primitive over n elements that moves `arrays` arrays.
template <typename F>
void add_elementwise(const std::string& name, std::int64_t n, int arrays, F f) {
  add(name + "/" + std::to_string(n), [=](State& state) {
    Bench b;
    const View x = b.array({n}), y = b.array({n}), z = b.array({n});
    for (auto _ : state) f(*b.device, x, y, z);
    report_bytes(state, 4.0 * arrays * static_cast<double>(n));
  });
}

// One that reads n elements and keeps what it finds in a number.
template <typename F>
void add_finding(const std::string& name, std::int64_t n, F f) {
  add(name + "/" + std::to_string(n), [=](State& state) {
    Bench b;
    const auto number = b.device->allocate({1}, dl::tensor::DType::kF64);
    const View x = b.array({n});
    for (auto _ : state) f(*b.device, number->view(), x);
    report_bytes(state, 4.0 * static_cast<double>(n));
  });
}

// LeNet's parameters (in L2) and the CIFAR-10 network's (in memory).
void add_updaters() {
  struct Case {
    const char* name;
    Updater kind;
    int state;
  };
  for (const std::int64_t n : {67'780, 18'804'810})
    for (const Case& c : {Case{"sgd", Updater::kSgd, 0},
                          Case{"nesterov", Updater::kNesterov, 1},
                          Case{"adam", Updater::kAdam, 2},
                          Case{"amsgrad", Updater::kAmsGrad, 3},
                          Case{"adamax", Updater::kAdaMax, 2},
                          Case{"nadam", Updater::kNadam, 2},
                          Case{"adabelief", Updater::kAdaBelief, 2},
                          Case{"adadelta", Updater::kAdaDelta, 2},
                          Case{"adagrad", Updater::kAdaGrad, 1},
                          Case{"rmsprop", Updater::kRmsProp, 1}})
      for (const bool apply : {true, false})
        add(std::string(apply ? "apply/" : "update/") + c.name + "/" +
                std::to_string(n),
            [=](State& state) {
              Bench b;
              const View g = b.array({n}), w = b.array({n});
              dl::device::StateViews views;
              for (int i = 0; i < c.state; ++i)
                views[static_cast<std::size_t>(i)] = b.array({n});
              const auto number =
                  b.device->allocate({1}, dl::tensor::DType::kF64);
              const dl::device::Updating all[] = {
                  {.number = number->view(),
                   .step = {.l2 = 1e-4, .kind = c.kind, .learning_rate = 1e-3},
                   .gradient = g,
                   .parameters = w,
                   .state = views}};
              for (auto _ : state)
                b.device->update(
                    apply ? UpdateTo::kParameters : UpdateTo::kGradient, all);
              // Both read g and w and write one; state is read and written.
              report_bytes(state,
                           4.0 * (3 + 2 * c.state) * static_cast<double>(n));
            });
  for (const std::int64_t n : {67'780, 18'804'810}) {
    add_elementwise("add", n, 3,
                    [](Device& d, View y, View x, View) { d.add(y, -1, x); });
    add_finding("add_squares", n, [](Device& d, View number, View x) {
      d.add_squares(number, 1, x);
    });
    add_finding("check_finite", n, [](Device& d, View number, View x) {
      d.check_finite(number, x);
    });
  }
}

void add_activations() {
  struct Case {
    const char* name;
    Activation kind;
  };
  const std::int64_t n = 32 * 24 * 24 * 20;  // LeNet's first layer
  for (const Case& c :
       {Case{"relu", Activation::kRelu}, Case{"elu", Activation::kElu},
        Case{"gelu", Activation::kGelu}, Case{"sigmoid", Activation::kSigmoid},
        Case{"tanh", Activation::kTanh},
        Case{"softplus", Activation::kSoftplus}}) {
    add_elementwise(std::string("activate/") + c.name, n, 2,
                    [c](Device& d, View y, View x, View) {
                      d.activate({c.kind, 1.0}, y, x);
                    });
    add_elementwise(std::string("activate_gradient/") + c.name, n, 3,
                    [c](Device& d, View dx, View y, View x) {
                      d.activate_gradient({c.kind, 1.0}, dx, dx, y, x);
                    });
  }
  add_elementwise("dropout_mask", 32 * 1024, 1,
                  [](Device& d, View mask, View, View) {
                    d.dropout_mask(mask, 0.5, 1, 2, 3);
                  });
  add("sum_rows/lenet1", [](State& state) {
    Bench b;
    const View x = b.array({32 * 24 * 24, 20}), s = b.array({20});
    for (auto _ : state) b.device->sum_rows(s, x);
    report_bytes(state, 4.0 * static_cast<double>(x.elements()));
  });
}

// Batch normalization behind the CIFAR-10 network's first layer; `arrays`
// images are read or written.
void add_batch_norm() {
  const auto bench = [](const char* name, int arrays, auto f) {
    add(std::string("batch_norm/cifar1/") + name, [arrays, f](State& state) {
      Bench b;
      const View x = b.array({16 * 32 * 32, 64}), y = b.array(x.shape),
                 c = b.array({64}), d = b.array({64});
      for (auto _ : state) f(*b.device, x, y, c, d);
      report_bytes(state, 4.0 * arrays * static_cast<double>(x.elements()));
    });
  };
  bench("mean", 1,
        [](Device& d, View x, View, View c, View) { d.sum_rows(c, x); });
  bench("variance", 1, [](Device& d, View x, View, View c, View s) {
    d.sum_squares_about(s, x, c);
  });
  bench("forward", 2, [](Device& d, View x, View y, View c, View) {
    d.batch_norm({c, c, c, c}, y, x);
  });
  bench("sums", 2, [](Device& d, View x, View y, View c, View s) {
    d.batch_norm_sums({c, c, c, c}, s, s, y, x);
  });
  bench("data", 3, [](Device& d, View x, View y, View c, View) {
    d.batch_norm_gradient({c, c, c, c}, y, y, x, c, c, 16 * 1024.0);
  });
}

// The way in and the way out of a step.
void add_ends() {
  add("upload_scaled/cifar/u8", [](State& state) {
    Bench b;
    const Tensor pixels(DType::kU8, {64, 32, 32, 3});
    const View x = b.array(pixels.shape()), one = b.array({1});
    for (auto _ : state) b.device->upload_scaled(x, pixels, one, one);
    report_bytes(state, 5.0 * static_cast<double>(x.elements()));
  });
  add("upload_one_hot/1000", [](State& state) {
    Bench b;
    const Tensor labels(DType::kU8, {64});
    const View y = b.array({64, 1000});
    for (auto _ : state) b.device->upload_one_hot(y, labels);
    report_bytes(state, 4.0 * static_cast<double>(y.elements()));
  });
  for (const std::int64_t units : {10, 1000})
    add("softmax_loss/" + std::to_string(units), [units](State& state) {
      Bench b;
      const View z = b.array({128, units}), grad = b.array(z.shape),
                 target = b.array(z.shape);
      for (auto _ : state)
        b.device->loss_with_logits({}, {Loss::kNegativeLogLikelihood}, grad, z,
                                   target, {}, 1);
      report_bytes(state, 12.0 * static_cast<double>(z.elements()));
    });
}

}  // namespace

int main(int argc, char** argv) {
  if (!dl::bench::start(argc, argv)) return 64;
  add_convolutions();
  add_products();
  add_pools();
  add_updaters();
  add_activations();
  add_batch_norm();
  add_ends();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
