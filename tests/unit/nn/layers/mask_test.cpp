// The masks of sequences: how they pass through layers, and that what is
// predicted has the one that was computed.

#include <catch2/catch.hpp>

#include "libcore/nn/model/initialise.h"
#include "tests/unit/nn/gradient_check.h"

namespace dl::nn::mask_test {
namespace {

using Rows = std::vector<std::vector<double>>;
using testing::DType;
using testing::Tensor;

Tensor tensor_of(const Rows& rows) {
  Tensor made(DType::kF32, {static_cast<std::int64_t>(rows.size()),
                            static_cast<std::int64_t>(rows[0].size())});
  std::size_t at = 0;
  for (const auto& row : rows)
    for (const double x : row) made.as<float>()[at++] = static_cast<float>(x);
  return made;
}

// The mask that an output has, none where all counts.
Rows rows_of(const Prediction& said) {
  Rows rows;
  if (said.mask() == nullptr) return rows;
  const Tensor& mask = *said.mask();
  REQUIRE(mask.shape()[0] == said.values.shape()[0]);
  for (std::int64_t i = 0; i < mask.shape()[0]; ++i) {
    rows.emplace_back();
    for (std::int64_t t = 0; t < mask.shape()[1]; ++t)
      rows.back().push_back(mask.value(i * mask.shape()[1] + t));
  }
  return rows;
}

// On any lanes, in pieces of any size.
std::vector<Prediction> predict(const NetworkConfig& config,
                                const data::DataSet& set) {
  std::vector<Prediction> first;
  for (const char* device : {"reference", "cpu"})
    for (const int lanes : {1, 2, 5})
      for (const std::int64_t at_once : {1, 2, 9}) {
        if (at_once < lanes) continue;
        Network network =
            testing::compile(config, at_once, device, lanes, false);
        const Tensor drawn = initial_parameters(config, layout_of(config));
        network.device().upload(network.parameters(), drawn);
        std::vector<Prediction> said;
        network.predict(network.batch_of(set).inputs, said);
        if (first.empty()) first = said;
        for (std::size_t i = 0; i < said.size(); ++i)
          REQUIRE(rows_of(said[i]) == rows_of(first[i]));
      }
  return first;
}

const std::string kGru =
    R"({"type": "gru", "units": 2, "return_sequences": true}, )";
const std::string kEach = R"({"type": "output", "units": 2,
    "loss": "negative_log_likelihood"})";

const Rows kLengths = {{1, 1, 1, 1}, {1, 1, 1, 0}, {1, 0, 0, 0}, {0, 1, 0, 1}};

Rows mask_after(const std::string& layers, const Rows& of_input,
                const std::string& shape = "[4, 3]") {
  const NetworkConfig config = testing::sequence(shape, layers + kEach);
  data::DataSet set = testing::random_set(config, 4);
  if (!of_input.empty()) set.tensors["features_mask"] = tensor_of(of_input);
  return rows_of(predict(config, set).at(0));
}

}  // namespace

TEST_CASE("what is predicted has the mask of its input, or none") {
  CHECK(mask_after(kGru, kLengths) == kLengths);
  CHECK(mask_after(kGru, {}).empty());
  CHECK(mask_after(R"({"type": "lstm", "units": 2}, )", kLengths).empty());
}

TEST_CASE("a step counts or is padding, whatever number of a mask says so") {
  const Rows numbers = {
      {0.5, 1, 0, 2}, {255, 1, 1, 1}, {1, 0, 0, 0}, {1, 1, 1, 7}};
  Rows ones = numbers;
  for (std::vector<double>& row : ones)
    for (double& x : row) x = x != 0 ? 1 : 0;
  CHECK(mask_after(kGru, numbers) == ones);
  for (const char* layer :
       {R"({"type": "conv1d", "filters": 2, "kernel": 2}, )",
        R"({"type": "average_pool1d", "kernel": 2}, )",
        R"({"type": "batch_norm"}, )",
        R"({"type": "lstm", "units": 2, "return_sequences": true}, )"}) {
    const NetworkConfig config =
        testing::sequence("[4, 3]", std::string(layer) + kGru +
                                        R"({"type": "last_step"}, )" + kEach);
    CAPTURE(layer);
    data::DataSet set = testing::random_set(config, 4);
    const auto loss = [&](const Rows& mask) {
      set.tensors["features_mask"] = tensor_of(mask);
      Network network = testing::compile(config, 4);
      return network.compute_gradient(network.batch_of(set), {});
    };
    CHECK(loss(numbers) == loss(ones));
  }
}

TEST_CASE("what is predicted has the mask that windows leave of it") {
  const std::string conv = R"({"type": "conv1d", "filters": 2, "kernel": 2,
      "stride": 2)";
  const Rows pairs = {{1, 1}, {1, 1}, {1, 0}, {1, 1}};
  CHECK(mask_after(conv + "}, ", kLengths) == pairs);
  CHECK(mask_after(conv + "}, ", {}).empty());
  CHECK(mask_after(R"({"type": "max_pool1d", "kernel": 2}, )", kLengths) ==
        pairs);
  CHECK(mask_after(R"({"type": "crop1d", "cropping": [1, 0]}, )", kLengths) ==
        Rows{{1, 1, 1}, {1, 1, 0}, {0, 0, 0}, {1, 0, 1}});
  // Where steps stay as many, padding stays padding.
  CHECK(mask_after(R"({"type": "max_pool1d", "kernel": 3, "stride": 1,
      "padding": "same"}, )",
                   kLengths) == kLengths);
  // The gaps of a dilation are part of the window.
  CHECK(mask_after(R"({"type": "conv1d", "filters": 2, "kernel": 2,
      "dilation": 2}, )",
                   kLengths) == Rows{{1, 1}, {1, 1}, {1, 0}, {1, 1}});
  // An activation behind it is computed with it.
  CHECK(mask_after(conv + R"(}, {"type": "activation",
      "activation": "tanh"}, )" +
                       kGru,
                   kLengths) == pairs);
  CHECK(mask_after(conv + R"(}, {"type": "batch_norm"}, )", kLengths) == pairs);
}

TEST_CASE("what takes each step by itself leaves the mask as it is") {
  for (const char* type :
       {R"("max_pool2d", "kernel": [2, 2])", R"("upsample2d", "size": [2, 2])",
        R"("crop2d", "cropping": [0, 1, 0, 1])",
        R"("permute", "axes": [1, 0, 2])"})
    CHECK(mask_after(std::string(R"({"type": )") + type +
                         R"(, "time_distributed": true},
        {"type": "flatten", "time_distributed": true}, )" +
                         kGru,
                     kLengths, "[4, 3, 3, 2]") == kLengths);
}

TEST_CASE("what is predicted has the mask that layers make") {
  const NetworkConfig config = testing::sequence(
      "[4, 1]", R"({"type": "masking", "value": -1}, )" + kGru + kEach);
  data::DataSet set;
  set.tensors["features"] =
      tensor_of({{5, 5, -1, -1}, {5, -1, 5, 5}, {-1, 5, 5, 5}, {5, 5, 5, 5}});
  set.tensors["features"].reshape({4, 4, 1});
  Rows made = {{1, 1, 0, 0}, {1, 0, 1, 1}, {0, 1, 1, 1}, {1, 1, 1, 1}};
  CHECK(rows_of(predict(config, set)[0]) == made);
  set.tensors["features_mask"] = tensor_of(kLengths);
  made = {{1, 1, 0, 0}, {1, 0, 1, 0}, {0, 0, 0, 0}, {0, 1, 0, 1}};
  CHECK(rows_of(predict(config, set)[0]) == made);

  const NetworkConfig tokens = testing::sequence(
      "[4]",
      R"({"type": "embedding", "rows": 6, "units": 2, "mask_zero": true}, )" +
          kGru + kEach);
  data::DataSet words;
  words.tensors["features"] =
      tensor_of({{1, 2, 3, 0}, {5, 0, 0, 0}, {1, 1, 1, 1}, {0, 0, 0, 4}});
  CHECK(rows_of(predict(tokens, words)[0]) ==
        Rows{{1, 1, 1, 0}, {1, 0, 0, 0}, {1, 1, 1, 1}, {0, 0, 0, 1}});
}

namespace {

NetworkConfig graph(const std::string& nodes, const std::string& outputs,
                    const std::string& b = "[4, 3]") {
  return parse_network(R"({"seed": 3, "inputs": [
      {"name": "a", "shape": [4, 3]}, {"name": "b", "shape": )" +
                           b + R"(}], "nodes": [)" + nodes +
                           R"(], "outputs": )" + outputs + "}",
                       "'g.json'");
}

std::string each(const std::string& name, const std::string& from) {
  return R"({"name": ")" + name + R"(", "type": "output", "units": 2,
      "loss": "negative_log_likelihood", "from": ")" +
         from + R"("})";
}

const Rows kOther = {{1, 1, 1, 1}, {1, 1, 0, 0}, {1, 1, 1, 1}, {1, 1, 0, 0}};
const Rows kBoth = {{1, 1, 1, 1}, {1, 1, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}};

data::DataSet with_masks(const NetworkConfig& config, const Rows& a,
                         const Rows& b) {
  data::DataSet set = testing::random_set(config, 4);
  if (!a.empty()) set.tensors["features_mask/a"] = tensor_of(a);
  if (!b.empty()) set.tensors["features_mask/b"] = tensor_of(b);
  return set;
}

std::string joined(const std::string& type) {
  return R"({"name": "both", "type": ")" + type + R"(", "from": ["a", "b"]},
      {"name": "g", "type": "gru", "units": 2, "return_sequences": true},
      {"name": "skip", "type": "merge", "from": ["both", "g"]})";
}

}  // namespace

TEST_CASE("a step of joined sequences counts that counts in all") {
  for (const char* type :
       {"add", "subtract", "multiply", "average", "max", "merge", "dot"}) {
    CAPTURE(type);
    const NetworkConfig config =
        graph(joined(type) + ", " + each("end", "skip"), R"("end")");
    const auto mask = [&](const Rows& a, const Rows& b) {
      return rows_of(predict(config, with_masks(config, a, b))[0]);
    };
    CHECK(mask(kLengths, kOther) == kBoth);
    CHECK(mask(kLengths, {}) == kLengths);
    CHECK(mask({}, kOther) == kOther);
    CHECK(mask({}, {}).empty());
  }
}

TEST_CASE("sequences that are stacked keep masks of their own") {
  const NetworkConfig config = graph(
      R"({"name": "s", "type": "stack", "from": ["a", "b"]},
         {"name": "g", "type": "gru", "units": 2, "return_sequences": true},
         {"name": "u", "type": "unstack", "index": 0, "from": "g"},
         {"name": "v", "type": "unstack", "index": 1, "from": "g"},
         {"name": "both", "type": "add", "from": ["u", "v"]}, )" +
          each("x", "u") + ", " + each("y", "v") + ", " + each("z", "both"),
      R"(["x", "y", "z"])");
  const auto said = predict(config, with_masks(config, kLengths, kOther));
  CHECK(rows_of(said[0]) == kLengths);
  CHECK(rows_of(said[1]) == kOther);
  CHECK(rows_of(said[2]) == kBoth);
  // One that has a mask gives one to all.
  const auto one = predict(config, with_masks(config, {}, kOther));
  CHECK(rows_of(one[0]) == Rows(4, {1, 1, 1, 1}));
  CHECK(rows_of(one[2]) == kOther);
}

TEST_CASE("attention has the mask of its queries, merged in time none") {
  const NetworkConfig config = graph(
      R"({"name": "m", "type": "multi_head_attention", "heads": 1,
          "head_size": 2, "from": ["a", "b"]}, )" +
          each("x", "m") +
          R"(, {"name": "behind", "type": "merge", "axis": 0,
                "from": ["a", "b"]}, )" +
          each("y", "behind"),
      R"(["x", "y"])", "[5, 3]");
  const auto said =
      predict(config, with_masks(config, kLengths, Rows(4, {1, 1, 1, 0, 0})));
  CHECK(rows_of(said[0]) == kLengths);
  CHECK(rows_of(said[1]).empty());
}

TEST_CASE("gradients of joined sequences of different lengths", "[gradient]") {
  constexpr Position kAt{3, 0, 5};
  for (const char* type : {"add", "multiply", "max", "merge", "dot"}) {
    CAPTURE(type);
    const NetworkConfig config =
        graph(joined(type) + ", " + each("end", "skip"), R"("end")");
    data::DataSet set = with_masks(config, kLengths, kOther);
    Network network = testing::compile(config, 4, "reference", 2);
    testing::stir(network);
    const auto loss = [&] {
      return network.compute_gradient(network.batch_of(set), kAt);
    };
    const double before = loss();
    const auto gradient = testing::values(network, network.update());
    CHECK(testing::gradient_error(network, gradient, 20, loss, 1e-4) <=
          testing::kTolerance);
    // It is the loss where both count.
    set.tensors["features_mask/a"] = set.tensors["features_mask/b"] =
        tensor_of(kBoth);
    CHECK(loss() == before);
    CHECK(testing::values(network, network.update()) == gradient);
  }
}

TEST_CASE("learning counts the steps that what is predicted says count") {
  constexpr Position kAt{3, 0, 5};
  const NetworkConfig config = testing::sequence(
      "[4, 3]", R"({"type": "masking"}, {"type": "conv1d", "filters": 3,
          "kernel": 2, "padding": "same"}, {"type": "activation",
          "activation": "tanh"}, )" +
                    kEach);
  data::DataSet set = testing::random_set(config, 4);
  const auto x = set.tensors["features"].as<double>();
  std::fill(x.begin() + 6, x.begin() + 12, 0.0);
  set.tensors["features_mask"] = tensor_of(kLengths);
  Network network = testing::compile(config, 4);
  const double implied = network.compute_gradient(network.batch_of(set), kAt);
  std::vector<Prediction> said;
  network.predict(network.batch_of(set).inputs, said);
  REQUIRE(rows_of(said[0])[0] == std::vector<double>{1, 1, 0, 0});
  set.tensors["labels_mask"] = *said[0].mask();
  CHECK(network.compute_gradient(network.batch_of(set), kAt) == implied);
}

// On any lanes, of which some may have nothing.
TEST_CASE("a loss may be the mean over the steps that count") {
  constexpr Position kAt{3, 0, 5};
  const auto config = [](const std::string& more) {
    return testing::sequence("[4, 3]", R"({"type": "masking"}, {"type": "gru",
        "units": 3, "return_sequences": true}, {"type": "output", "units": 2,
        "loss": "mean_squared_error")" + more +
                                           "}");
  };
  const NetworkConfig sum = config(""),
                      mean = config(R"(, "mean_over": "steps")");
  data::DataSet set = testing::random_set(sum, 4);
  const auto check = [&](double steps) {
    Network alone = testing::compile(sum, 4);
    const double loss = alone.compute_gradient(alone.batch_of(set), kAt);
    const auto gradient = testing::values(alone, alone.update());
    CHECK(loss > 0);
    for (const int lanes : {1, 3, 6}) {
      CAPTURE(steps, lanes);
      Network network = testing::compile(mean, 6, "reference", lanes);
      CHECK(network.compute_gradient(network.batch_of(set), kAt) ==
            Approx(loss * 4 / steps).epsilon(1e-12));
      const auto found = testing::values(network, network.update());
      for (std::size_t i = 0; i < gradient.size(); ++i)
        CHECK(found[i] == Approx(gradient[i] * 4 / steps).margin(1e-12));
    }
  };
  check(16);
  // One example is all padding in the network's mask.
  const auto x = set.tensors["features"].as<double>();
  std::fill(x.begin() + 6, x.begin() + 12, 0.0);
  std::fill(x.begin() + 24, x.begin() + 36, 0.0);
  check(10);
  // The weight of an example does not divide; a mask of the labels does.
  set.tensors["labels_mask"] = Tensor(DType::kF32, {4});
  for (float& w : set.tensors["labels_mask"].as<float>()) w = 2;
  check(10);
  set.tensors["labels_mask"] =
      tensor_of({{1, 1, 1, 0}, {2, 0, 0, 0}, {1, 0, 0, 0}, {0, 0.5, 0, 0}});
  check(6);
  set.tensors.erase("labels_mask");
  std::fill(x.begin(), x.end(), 0.0);
  Network network = testing::compile(mean, 4);
  CHECK(network.compute_gradient(network.batch_of(set), kAt) == 0);
}

TEST_CASE("targets that do not count may be anything") {
  const NetworkConfig config =
      graph(joined("add") + R"(, {"name": "end", "type": "output", "units": 2,
          "loss": "poisson", "activation": "softplus"})",
            R"("end")");
  data::DataSet set = with_masks(config, kLengths, kOther);
  const auto labels = set.tensors["labels"].as<double>();
  Network network = testing::compile(config, 4);
  const auto refused = [&] {
    try {
      return !std::isfinite(
          network.compute_gradient(network.batch_of(set), {}));
    } catch (const Error& e) {
      CHECK(e.code() == Code::kData);
      return true;
    }
  };
  const auto set_step = [&](std::size_t i, std::size_t step, double target) {
    labels[(i * 4 + step) * 2] = labels[(i * 4 + step) * 2 + 1] = target;
  };
  // Steps that are padding in the one, in the other and in both.
  set_step(2, 3, -1);
  set_step(1, 2, -1);
  set_step(1, 3, -1);
  CHECK_FALSE(refused());
  set_step(1, 1, -1);
  CHECK(refused());
  // An example that does not count.
  set.tensors["labels_mask"] = Tensor(DType::kF32, {4});
  for (const std::size_t i : {0U, 2U, 3U})
    set.tensors["labels_mask"].as<float>()[i] = 1;
  CHECK_FALSE(refused());
  set.tensors.erase("features_mask/a");
  set.tensors.erase("features_mask/b");
  CHECK(refused());
  set_step(2, 3, 1);
  CHECK_FALSE(refused());
  set_step(3, 3, -1);
  CHECK(refused());
}

// Its steps are images: each pixel counts as its step does.
TEST_CASE("a loss of films leaves padding out") {
  constexpr Position kAt{3, 0, 5};
  const NetworkConfig config = testing::sequence("[4, 18]", R"(
    {"type": "gru", "units": 18, "return_sequences": true},
    {"type": "reshape", "shape": [4, 3, 3, 2]},
    {"type": "loss", "units": 2, "loss": "mean_squared_error",
     "activation": "identity"})");
  data::DataSet set = testing::random_set(config, 4);
  set.tensors["features_mask"] = tensor_of(kLengths);
  Network network = testing::compile(config, 4, "reference", 2);
  const auto loss = [&] {
    return network.compute_gradient(network.batch_of(set), kAt);
  };
  const double implied = loss();
  const double weighed = [&] {
    data::DataSet all = set;
    Tensor mask(DType::kF32, {4, 4, 3, 3});
    for (std::int64_t i = 0; i < mask.elements(); ++i)
      mask.as<float>()[static_cast<std::size_t>(i)] =
          static_cast<float>(kLengths[static_cast<std::size_t>(i / 36)]
                                     [static_cast<std::size_t>(i / 9 % 4)]);
    all.tensors["labels_mask"] = mask;
    return network.compute_gradient(network.batch_of(all), kAt);
  }();
  CHECK(implied == Approx(weighed).epsilon(1e-12));
  CHECK(std::isfinite(implied));
  // One weight for each example.
  set.tensors["labels_mask"] = Tensor(DType::kF32, {4});
  for (float& w : set.tensors["labels_mask"].as<float>()) w = 2;
  CHECK(loss() == Approx(2 * implied).epsilon(1e-12));
}

TEST_CASE("the value of masking is one of the data, before normalizing") {
  const NetworkConfig config =
      testing::sequence("[3, 2]", R"({"type": "masking", "value": -9},
      {"type": "gru", "units": 2, "return_sequences": true},
      {"type": "output", "units": 2, "loss": "negative_log_likelihood"})");
  Tensor x(DType::kI8, {2, 3, 2});
  const int values[] = {1, -9, -9, -9, 4, 5, -9, -9, 7, 8, -9, -9};
  for (std::size_t i = 0; i < 12; ++i)
    x.as<std::int8_t>()[i] = static_cast<std::int8_t>(values[i]);
  data::Normalizer normalizer;
  normalizer.shift = {0.3, 2.7};
  normalizer.scale = {0.31, 1.7};
  for (const char* device : {"reference", "cpu"}) {
    Network network = testing::compile(config, 2, device, 2, false, normalizer);
    const Part input{&x, nullptr};
    std::vector<Prediction> said;
    network.predict({&input, 1}, said);
    CHECK(rows_of(said[0]) == Rows{{1, 0, 1}, {0, 1, 0}});
  }
}

TEST_CASE("tokens may come in the only column of a table") {
  const NetworkConfig config =
      testing::sequence("[3]", R"({"type": "embedding", "rows": 4, "units": 2},
      {"type": "gru", "units": 2},
      {"type": "output", "units": 2, "loss": "negative_log_likelihood"})");
  Network network = testing::compile(config, 2, "cpu", 1, false);
  Tensor flat(DType::kU8, {2, 3}), column(DType::kU8, {2, 3, 1}), a, b;
  for (std::size_t i = 0; i < 6; ++i)
    flat.as<std::uint8_t>()[i] = column.as<std::uint8_t>()[i] = i % 4;
  network.predict(flat, a);
  network.predict(column, b);
  CHECK(std::ranges::equal(a.as<float>(), b.as<float>()));
}

}  // namespace dl::nn::mask_test
