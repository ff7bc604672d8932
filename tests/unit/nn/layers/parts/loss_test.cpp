// Losses in configurations, what becomes of their keys, and the targets that
// they refuse.

#include <catch2/catch.hpp>

#include "libcore/nn/data/batch.h"
#include "libcore/nn/data/targets.h"
#include "tests/unit/nn/gradient_check.h"

namespace dl::nn::loss_test {
namespace {

using Catch::Matchers::Message;
using device::Activation;
using device::Loss;
using testing::compile;
using testing::Examples;
using testing::random_examples;
using testing::sequence;

NetworkConfig with_output(const std::string& output) {
  return sequence("[4]", R"({"type": "output", )" + output + "}");
}

OutputSpec spec_of(const std::string& output) {
  return output_of(with_output(output));
}

std::string refusal(const std::string& output) {
  try {
    with_output(output);
  } catch (const Error& e) {
    CHECK(e.code() == Code::kConfig);
    const std::string text = e.what();
    const std::string start = "'test.json': layers[0].";
    REQUIRE(text.starts_with(start));
    return text.substr(start.size());
  }
  return "";
}

TEST_CASE("losses have the parameters that the document says") {
  CHECK(spec_of(R"("units": 2, "loss": "huber")").loss.delta == 1);
  CHECK(spec_of(R"("units": 2, "loss": {"type": "huber", "delta": 0.5})")
            .loss.delta == 0.5);
  const auto focal = spec_of(R"("units": 2, "loss": {"type": "focal",
      "gamma": 3, "alpha": 0.25}, "label_smoothing": 0.1)");
  CHECK(focal.loss.gamma == 3);
  CHECK(focal.loss.positive == 0.25);
  CHECK(focal.loss.negative == 1);
  CHECK(focal.loss.smoothing == 0.1);
  const auto binary = spec_of(R"("units": 2, "loss": {"type": "binary_focal",
      "alpha": 0.25})");
  CHECK(binary.loss.gamma == 2);
  CHECK(binary.loss.positive == 0.25);
  CHECK(binary.loss.negative == 0.75);
  const auto plain = spec_of(R"("units": 2, "loss": "binary_focal")");
  CHECK(plain.loss.positive == 1);
  CHECK(plain.loss.negative == 1);
  const auto pair = spec_of(R"("units": 1, "loss": "binary_cross_entropy",
      "class_weights": [0.5, 3])");
  CHECK(pair.loss.negative == 0.5);
  CHECK(pair.loss.positive == 3);
}

TEST_CASE("losses bring their activation") {
  const auto activation = [](const std::string& loss) {
    return spec_of(R"("units": 2, "loss": ")" + loss + '"').activation.kind;
  };
  CHECK(activation("focal") == Activation::kSoftmax);
  CHECK(activation("kl_divergence") == Activation::kSoftmax);
  CHECK(activation("binary_focal") == Activation::kSigmoid);
  CHECK(activation("poisson") == Activation::kExp);
  CHECK(activation("hinge") == Activation::kIdentity);
}

TEST_CASE("resolved losses say what has a default alone") {
  const auto resolved = [](const std::string& output) {
    return to_json(with_output(output))["layers"][0];
  };
  const Json plain =
      resolved(R"("units": 2, "loss": "negative_log_likelihood")");
  CHECK(plain["loss"] == "negative_log_likelihood");
  CHECK_FALSE(plain.contains("label_smoothing"));
  CHECK_FALSE(plain.contains("class_weights"));
  CHECK(resolved(R"("units": 2, "loss": "huber")")["loss"] ==
        Json({{"type", "huber"}, {"delta", 1.0}}));
  const Json more = resolved(R"("units": 2, "loss": "binary_focal",
      "label_smoothing": 0.25, "class_weights": [1, 2])");
  CHECK(more["loss"] == Json({{"type", "binary_focal"}, {"gamma", 2.0}}));
  CHECK(more["label_smoothing"] == 0.25);
  CHECK(more["class_weights"] == Json({1, 2}));
}

TEST_CASE("losses that do not go with the rest of their layer are refused") {
  CHECK(refusal(R"("units": 2, "loss": "focal", "activation": "sigmoid")") ==
        "activation: 'focal' needs 'softmax', got 'sigmoid'");
  CHECK(refusal(R"("units": 1, "loss": "focal")") ==
        "units: softmax over one unit is always 1; want 2 or more");
  CHECK(refusal(R"("units": 1, "loss": "multi_label")") ==
        "units: 'multi_label' compares outputs; want 2 or more");
  CHECK(refusal(R"("units": 3, "loss": "l1", "class_weights": [1, 2])") ==
        "class_weights: want 3 numbers, one for each output, got 2");
  CHECK(refusal(R"("units": 1, "loss": "binary_cross_entropy",
                   "class_weights": [1])") ==
        "class_weights: want 2 numbers, of the classes 0 and 1, got 1");
  CHECK(refusal(R"("units": 2, "loss": "l1", "class_weights": [0, 0])") ==
        "class_weights: nothing would count: want one over 0");
  CHECK(refusal(R"("units": 2, "loss": "l1", "class_weights": [1, -2])") ==
        "class_weights[1]: want number >= 0, got -2");
  CHECK(refusal(R"("units": 2, "loss": "l1", "class_weights": 2)") ==
        "class_weights: want array of numbers >= 0, object of them by class, "
        "or \"balanced\", got 2");
  CHECK(refusal(R"("units": 2, "loss": "l1", "class_weights": {"a": -1})") ==
        "class_weights.a: want number >= 0, got -1");
  CHECK(refusal(R"("units": 2, "loss": "l1", "class_weights": {})")
            .ends_with("got {}"));
  CHECK(refusal(R"("units": 2, "loss": "l1", "class_weights": "even")")
            .ends_with("got \"even\""));
  CHECK(refusal(R"("units": 2, "loss": "cosine_proximity",
                   "class_weights": [1, 1])") ==
        "class_weights: 'cosine_proximity' looks at all outputs at once, and "
        "has no weights");
  CHECK(refusal(R"("units": 2, "loss": "huber", "label_smoothing": 0.1)") ==
        "label_smoothing: 'huber' takes none; it is for "
        "negative_log_likelihood, binary_cross_entropy, focal and "
        "binary_focal");
  CHECK_THAT(refusal(R"("units": 2, "loss": "HuberLoss")"),
             Catch::EndsWith("here it is called 'huber'"));
  CHECK_THAT(refusal(R"("units": 2, "loss": "CategoricalFocalCrossentropy")"),
             Catch::EndsWith("here it is called 'focal'"));
  CHECK_THAT(refusal(R"("units": 2, "loss": "KL_DIVERGENCE")"),
             Catch::EndsWith("here it is called 'kl_divergence'"));
}

// The outputs are logits, and the loss is that of their softmax or sigmoid.
TEST_CASE("a loss from logits is that with its activation") {
  for (const char* loss_name :
       {"negative_log_likelihood", "binary_cross_entropy", "kl_divergence",
        "poisson", "focal", "binary_focal", "exponential"}) {
    CAPTURE(loss_name);
    const std::string plain =
        R"("units": 3, "loss": ")" + std::string(loss_name) + '"';
    const std::string logits = plain + R"(, "from_logits": true)";
    CHECK(spec_of(logits).activation.kind == Activation::kIdentity);
    const Examples e = random_examples(with_output(plain), 6);
    Network one = compile(with_output(plain), 6),
            other = compile(with_output(logits), 6);
    Network linear = compile(with_output(R"("units": 3, "loss": "l2")"), 6);
    for (Network* network : {&one, &other, &linear}) testing::stir(*network);
    CHECK(other.compute_gradient(e.batch(), {}) ==
          one.compute_gradient(e.batch(), {}));
    CHECK(testing::values(other, other.update()) ==
          testing::values(one, one.update()));
    tensor::Tensor said, wanted;
    other.predict(e.features, said);
    linear.predict(e.features, wanted);
    CHECK(std::ranges::equal(said.as<float>(), wanted.as<float>()));
  }
  CHECK(refusal(R"("units": 3, "loss": "huber", "from_logits": true)") ==
        "from_logits: 'huber' has no activation inside");
  CHECK(refusal(R"("units": 3, "loss": "negative_log_likelihood",
                   "activation": "softmax", "from_logits": true)") ==
        "activation: logits have 'identity', got 'softmax'");
}

double loss(const NetworkConfig& config, const Batch& batch) {
  Network network = compile(config, batch.examples());
  return network.compute_gradient(batch, {});
}

// Loss of a network of one layer with these keys, in which both classes occur.
double loss_with(const std::string& keys, const Batch& batch) {
  return loss(with_output(keys), batch);
}

TEST_CASE("the weight of a class counts as often as its examples") {
  const std::string nll = R"("units": 3, "loss": "negative_log_likelihood")";
  Examples e = random_examples(with_output(nll), 6);
  e.mask = tensor::Tensor(tensor::DType::kF32, {6});
  const double weights[] = {0.5, 2, 3};
  const auto classes = e.labels.as<std::int32_t>();
  for (std::size_t i = 0; i < 6; ++i) {
    classes[i] = static_cast<std::int32_t>(i % 3);
    e.mask.as<float>()[i] = static_cast<float>(weights[i % 3]);
  }
  const double by_mask = loss_with(nll, e.batch());
  e.mask = {};
  CHECK(loss_with(nll + R"(, "class_weights": [0.5, 2, 3])", e.batch()) ==
        Approx(by_mask));
  CHECK(loss_with(nll, e.batch()) != Approx(by_mask));
}

TEST_CASE("both classes of a single output have a weight") {
  const std::string bce = R"("units": 1, "loss": "binary_cross_entropy")";
  Examples e = random_examples(with_output(bce), 4);
  e.labels = tensor::Tensor(tensor::DType::kI32, {4});
  e.mask = tensor::Tensor(tensor::DType::kF32, {4});
  for (std::size_t i = 0; i < 4; ++i) {
    e.labels.as<std::int32_t>()[i] = i % 2;
    e.mask.as<float>()[i] = i % 2 ? 3.0f : 0.5f;
  }
  const double by_mask = loss_with(bce, e.batch());
  e.mask = {};
  CHECK(loss_with(bce + R"(, "class_weights": [0.5, 3])", e.batch()) ==
        Approx(by_mask));
}

TEST_CASE("smoothed labels are those that the page says") {
  const std::string nll = R"("units": 2, "loss": "negative_log_likelihood")";
  Examples e = random_examples(with_output(nll), 2);
  const auto classes = e.labels.as<std::int32_t>();
  classes[0] = 0;
  classes[1] = 1;
  const double smoothed =
      loss_with(nll + R"(, "label_smoothing": 0.2)", e.batch());
  e.labels = tensor::Tensor(tensor::DType::kF64, {2, 2});
  const double soft[] = {0.9, 0.1, 0.1, 0.9};
  std::copy(std::begin(soft), std::end(soft), e.labels.as<double>().begin());
  CHECK(loss_with(nll, e.batch()) == Approx(smoothed));
}

// Verdict on a batch of these labels, [n, units].
std::string answer(const std::string& output, const std::vector<double>& labels,
                   const std::vector<float>& mask = {}) {
  const NetworkConfig config = with_output(output);
  const std::int64_t units = output_of(config).units;
  const auto n = static_cast<std::int64_t>(labels.size()) / units;
  Examples e = random_examples(config, n);
  e.labels = tensor::Tensor(tensor::DType::kF64, {n, units});
  std::copy(labels.begin(), labels.end(), e.labels.as<double>().begin());
  if (!mask.empty()) {
    e.mask = tensor::Tensor(tensor::DType::kF32, {n});
    std::copy(mask.begin(), mask.end(), e.mask.as<float>().begin());
  }
  try {
    const double value = loss(config, e.batch());
    CHECK(std::isfinite(value));
  } catch (const Error& error) {
    CHECK(error.code() == Code::kData);
    return error.what();
  }
  return "";
}

TEST_CASE("targets that a loss has no use for are refused") {
  const std::string poisson = R"("units": 2, "loss": "poisson")";
  CHECK(answer(poisson, {0, 1, 2.5, 3}) == "");
  CHECK(answer(poisson, {0, 1, -1, 3}) ==
        "example 1 has the target -1.0, 'poisson' wants 0 or more");
  CHECK(answer(poisson, {0, 1, -1, 3}, {1, 0}) == "");
  const std::string likely = R"("units": 2, "loss": "binary_cross_entropy")";
  CHECK(answer(likely, {0, 1, 0.25, 1}) == "");
  CHECK(answer(likely, {0, 1, 0.25, 16}) ==
        "example 1 has the target 16.0, 'binary_cross_entropy' wants 0 to 1");
  const std::string share =
      R"("units": 1, "loss": "mean_absolute_percentage_error")";
  CHECK(answer(share, {1, -1}) == "");
  CHECK(answer(share, {1, 0}) ==
        "example 1 has the target 0.0, 'mean_absolute_percentage_error' wants "
        "numbers other than 0");
  for (const char* name : {"hinge", "squared_hinge", "multi_label"}) {
    const std::string sides = R"("units": 2, "loss": ")" + std::string(name);
    CHECK(answer(sides + '"', {0, 1, 1, -1}) == "");
    CHECK(answer(sides + '"', {2, 1}) == "example 0 has the target 2.0, '" +
                                             std::string(name) +
                                             "' wants 1, and 0 or -1");
    CHECK(answer(sides + '"', {0, 0.5}) != "");
    CHECK(answer(sides + '"', {0, 1e300}) != "");
  }
  CHECK(answer(R"("units": 2, "loss": "kl_divergence")", {-0.5, 1}) != "");
  CHECK(answer(R"("units": 2, "loss": "mean_squared_logarithmic_error")",
               {-0.5, 1}) != "");
  CHECK(answer(R"("units": 2, "loss": "log_cosh")", {-0.5, 0}) == "");
}

TEST_CASE("class numbers have no percentage") {
  const NetworkConfig config =
      with_output(R"("units": 2, "loss": "mean_absolute_percentage_error")");
  Examples e = random_examples(config, 2);
  e.labels = tensor::Tensor(tensor::DType::kI32, {2});
  CHECK_THROWS_MATCHES(
      loss(config, e.batch()), Error,
      Message("labels are class numbers, 'mean_absolute_percentage_error' "
              "wants numbers other than 0"));
}

TEST_CASE("targets at steps of padding are not looked at") {
  const NetworkConfig config = sequence(
      "[2, 3]", R"({"type": "lstm", "units": 2, "return_sequences": true},
          {"type": "output", "units": 1,
           "loss": "mean_absolute_percentage_error"})");
  Examples e = random_examples(config, 1);
  e.labels = tensor::Tensor(tensor::DType::kF64, {1, 2});
  e.labels.as<double>()[0] = 5;
  CHECK_THROWS_AS(loss(config, e.batch()), Error);
  e.features_mask = tensor::Tensor(tensor::DType::kU8, {1, 2});
  e.features_mask.as<std::uint8_t>()[0] = 1;
  CHECK(std::isfinite(loss(config, e.batch())));
}

TEST_CASE("integer labels of hinge and binary_focal") {
  for (const auto& [name, label, fits] :
       {std::tuple{"hinge", -1, true}, std::tuple{"hinge", 1, true},
        std::tuple{"hinge", 2, false}, std::tuple{"binary_focal", 1, true},
        std::tuple{"binary_focal", -1, false}}) {
    CAPTURE(name, label);
    const NetworkConfig config =
        with_output(R"("units": 1, "loss": ")" + std::string(name) + '"');
    Examples e = random_examples(config, 1);
    e.labels = tensor::Tensor(tensor::DType::kI32, {1});
    e.labels.as<std::int32_t>()[0] = label;
    if (fits)
      CHECK_NOTHROW(loss(config, e.batch()));
    else
      CHECK_THROWS_AS(loss(config, e.batch()), Error);
  }
}

TEST_CASE("hinge losses of one output tell two classes by their sign") {
  data::Metadata data;
  data.classes = {"no", "yes"};
  const auto sides = [&](const char* output) {
    return sides_are_classes(data, with_output(output));
  };
  CHECK(sides(R"("units": 1, "loss": "hinge")"));
  CHECK(sides(R"("units": 1, "loss": "squared_hinge")"));
  CHECK_FALSE(sides(R"("units": 2, "loss": "hinge")"));
  CHECK_FALSE(sides(R"("units": 1, "loss": "l2")"));
  data.classes.clear();
  CHECK_FALSE(sides(R"("units": 1, "loss": "hinge")"));
}

TEST_CASE("targets are standardized for losses of distance alone") {
  data::Metadata data;
  data.schema["features"] = {tensor::DType::kF32, {4}};
  data.schema["labels"] = {tensor::DType::kF32, {1}};
  data.label_statistics.emplace();
  tensor::Tensor y(tensor::DType::kF32, {2, 1});
  y.as<float>()[0] = 5;
  y.as<float>()[1] = 7;
  data.label_statistics->add(y, nullptr, "labels");
  for (const std::string_view name : names_of<Loss>()) {
    std::string output = R"("units": 1, "loss": ")" + std::string(name) + '"';
    if (!refusal(output).empty()) continue;
    std::string note;
    const bool distance = name == "mean_squared_error" ||
                          name == "mean_absolute_error" || name == "l1" ||
                          name == "l2" || name == "huber" ||
                          name == "log_cosh" || name == "gaussian";
    CAPTURE(name);
    CHECK(fit_targets("auto", with_output(output), data, note)
              .changes_nothing() != distance);
  }
}

}  // namespace
}  // namespace dl::nn::loss_test
