// A training step takes no memory from the heap.

#include <catch2/catch.hpp>

#include "tests/unit/allocations.h"
#include "tests/unit/nn/support.h"

namespace dl::nn::allocation_test {
namespace {

struct Case {
  const char* name;
  NetworkConfig config;
  bool convolves;  // with oneDNN, which takes memory for each call
};

std::vector<Case> cases() {
  return {{"LeNet", testing::example_network("lenet.json"), false},
          {"multilayer perceptron",
           testing::sequence("[30]", R"(
      {"type": "dense", "units": 40, "activation": "tanh"},
      {"type": "dense", "units": 20, "activation": "relu"},
      {"type": "output", "units": 3, "loss": "negative_log_likelihood"})",
                             R"(,
      "updater": {"type": "adam"}, "regularization": {"l2": 0.1})"),
           false},
          {"batch normalization and dropout",
           testing::sequence("[4, 4, 2]", R"(
      {"type": "batch_norm"}, {"type": "activation", "activation": "elu"},
      {"type": "average_pool2d"}, {"type": "dropout", "rate": 0.3},
      {"type": "rrelu"}, {"type": "dense", "units": 6, "activation": "gelu"},
      {"type": "output", "units": 3, "loss": "mean_squared_error"})",
                             R"(,
      "updater": {"type": "nesterov", "learning_rate": 0.1}, 
      "gradient_normalization": "renormalize_l2_per_layer")"),
           false},
          {"all at once",
           testing::sequence("[8, 8, 2]", R"(
      {"type": "conv2d", "filters": 4, "kernel": [3, 3], "padding": "same"},
      {"type": "batch_norm"}, {"type": "activation", "activation": "relu"},
      {"type": "max_pool2d"}, {"type": "dropout", "rate": 0.3},
      {"type": "conv2d", "filters": 4, "kernel": [2, 2], "activation": "gelu"},
      {"type": "average_pool2d"}, {"type": "flatten"},
      {"type": "dense", "units": 6, "activation": "tanh"},
      {"type": "output", "units": 3, "loss": "negative_log_likelihood"})",
                             R"(,
      "updater": {"type": "adam"}, "regularization": {"l1": 0.1, "l2": 0.1},
      "gradient_normalization": "clip_l2_per_layer")"),
           true},
          {"images of every kind", testing::sequence("[6, 6, 2]", R"(
      {"type": "zero_pad2d"}, {"type": "crop2d"}, {"type": "upsample2d"},
      {"type": "depthwise_conv2d", "kernel": [3, 3], "activation": "tanh"},
      {"type": "separable_conv2d", "filters": 4, "kernel": [2, 2]},
      {"type": "conv2d_transpose", "filters": 4, "kernel": [2, 2]},
      {"type": "space_to_depth"}, {"type": "pnorm_pool2d"},
      {"type": "local_response_norm"},
      {"type": "global_pool", "kind": "average"},
      {"type": "output", "units": 3, "loss": "negative_log_likelihood"})"),
           true},
          {"series", testing::sequence("[8, 3]", R"(
      {"type": "conv1d", "filters": 4, "kernel": 3, "padding": "causal"},
      {"type": "average_pool1d"}, {"type": "upsample1d"},
      {"type": "zero_pad1d"}, {"type": "crop1d"}, {"type": "max_pool1d"},
      {"type": "conv1d", "filters": 4, "kernel": 2, "stride": 2},
      {"type": "global_pool"},
      {"type": "output", "units": 3, "loss": "negative_log_likelihood"})"),
           true},
          {"autoencoder", testing::sequence("[6]", R"(
      {"type": "dense", "units": 8, "activation": "sigmoid"},
      {"type": "activity_regularization", "l1": 0.1, "l2": 0.1,
       "sparsity": 0.2},
      {"type": "gaussian_latent", "samples": 2},
      {"type": "output", "units": 6, "loss": "mean_squared_error",
       "target": "features"})"),
           false},
          {"attention and its kind", testing::sequence("[7, 4]", R"(
      {"type": "masking"}, {"type": "positional_embedding"},
      {"type": "multi_head_attention", "heads": 2, "head_size": 3},
      {"type": "layer_norm"}, {"type": "spatial_dropout"},
      {"type": "gaussian_noise", "deviation": 0.1}, {"type": "prelu"},
      {"type": "reverse"}, {"type": "last_step"}, {"type": "l2_normalize"},
      {"type": "repeat", "n": 3}, {"type": "group_norm", "groups": 1},
      {"type": "output", "units": 3, "loss": "negative_log_likelihood"})"),
           false},
          {"sequences",
           testing::sequence("[7, 3]", R"(
      {"type": "lstm", "units": 5, "return_sequences": true},
      {"type": "gru", "units": 4, "return_sequences": true,
       "bidirectional": "multiply"},
      {"type": "dense", "units": 4, "activation": "relu"},
      {"type": "simple_rnn", "units": 4, "return_sequences": true,
       "bidirectional": "concat"},
      {"type": "output", "units": 3, "loss": "negative_log_likelihood"})",
                             R"(, "tbptt_length": 3)"),
           false}};
}

TEST_CASE("a step allocates nothing") {
  const Case c = GENERATE(from_range(cases()));
  const std::string device = GENERATE(as<std::string>{}, "reference", "cpu");
  const int lanes = GENERATE(1, 2, 3);
  INFO(c.name << " on " << device << ", " << lanes << " lanes");
  Network network = testing::compile(c.config, 9, device, lanes);
  testing::Examples data = testing::random_examples(c.config, 9);
  if (c.config.inputs[0].shape.rank() == 2)
    data.features_mask = testing::lengths_mask(9, c.config.inputs[0].shape[0]);
  const Batch batch = data.batch();
  const tensor::Tensor* mask = batch.inputs[0].mask;
  for (int i = 0; i < 2; ++i) testing::train(network, batch, i);
  tensor::Tensor outputs;
  network.predict(data.features, outputs, mask);
  const auto counted = test::allocations_in([&] {
    for (int i = 2; i < 5; ++i) {
      testing::train(network, batch, i);
      network.compute_gradient(batch, {});
      network.compute_update({});
      network.regularization_score();
    }
    network.predict(data.features, outputs, mask);
  });
  CHECK(counted.ours == 0);
  if (!c.convolves) CHECK(counted.libraries == 0);
}

}  // namespace
}  // namespace dl::nn::allocation_test
