// New examples from codes, and scores of reconstructions.

#include "libcore/nn/predict/latent.h"

#include <cmath>
#include <sstream>

#include "libcore/data/format/stream.h"
#include "libcore/io/sink.h"
#include "tests/unit/nn/support.h"
#include "tests/unit/scratch.h"

namespace dl::nn::testing::latent_test {
namespace {

// Means and logarithms of variances are parts of the input.
const std::string kCode = R"(
    {"type": "dense", "units": 4, "weight_init": "identity"},
    {"type": "gaussian_latent", "name": "z"},)";

Model model_of(const std::string& shape, const std::string& layers) {
  Model model;
  model.config = sequence(shape, layers);
  Network network = compile(model.config, 4);
  take_from(network, model);
  model.normalizers.inputs.assign(1, {});
  return model;
}

std::vector<double> scores_of(const Model& model, const std::vector<float>& x,
                              std::int64_t width, const ScoreOptions& options) {
  const Scratch folder;
  data::DataSet set;
  Tensor& features = set.tensors["features"];
  features =
      Tensor(DType::kF32, {static_cast<std::int64_t>(x.size()) / width, width});
  std::ranges::copy(x, features.as<float>().begin());
  data::Metadata metadata;
  metadata.schema["features"] = {DType::kF32, {width}};
  data::StreamWriter writer(io::open_sink(folder / "x.dls"));
  writer.write_metadata(metadata);
  writer.write(set);
  writer.close();
  std::vector<double> scores;
  Scorer(model, options)
      .run(folder / "x.dls", [&](const std::vector<ScoredExample>& examples) {
        for (const ScoredExample& example : examples)
          scores.push_back(example.score);
      });
  return scores;
}

TEST_CASE("an autoencoder's score is the loss of its output, negative") {
  const Model model = model_of("[2]", R"(
      {"type": "dense", "units": 2, "weight_init": "identity"},
      {"type": "output", "units": 2, "weight_init": "zero",
       "loss": "l2", "target": "features"})");
  ScoreOptions options;
  options.samples = 7;  // of nothing that is drawn
  const auto scores = scores_of(model, {1, 2, 0, 0.5F}, 2, options);
  REQUIRE(scores.size() == 2);
  CHECK(scores[0] == Approx(-5));
  CHECK(scores[1] == Approx(-0.25));
}

TEST_CASE("a score leaves out the steps that a layer finds to be padding") {
  const Model model = model_of("[3, 2]", R"(
      {"type": "masking", "value": -7},
      {"type": "output", "units": 2, "weight_init": "zero",
       "loss": "l2", "target": "features"})");
  const auto scores =
      scores_of(model, {1, 2, -7, -7, 3, 0, -7, -7, -7, -7, 0, 2}, 6, {});
  REQUIRE(scores.size() == 2);
  CHECK(scores[0] == Approx(-14));
  CHECK(scores[1] == Approx(-4));
}

TEST_CASE("a score is the logarithm of the mean likelihood of codes") {
  // The output is the code, of 2 numbers, and twice that: p(x|z) is known.
  const Model model = model_of("[4]", kCode + R"(
      {"type": "dense", "units": 4, "weight_init": "zero"},
      {"type": "output", "units": 4, "weight_init": "zero", "loss": "l2",
       "target": "features"})");
  const std::vector<float> x{1, 2, -40, -40};  // hardly any variance
  ScoreOptions options;
  options.samples = 5;
  // All outputs are 0, whatever is drawn.
  CHECK(scores_of(model, x, 4, options).at(0) == Approx(-(1 + 4 + 3200)));
}

TEST_CASE("a score sums what each column's loss takes it for") {
  // One of the losses has weights of its own, one has not.
  const std::string nodes = R"(
      {"name": "yes", "type": "subset", "begin": 0, "end": 1, "from": "x"},
      {"name": "reals", "type": "subset", "begin": 1, "end": 3, "from": "x"},
      {"name": "last", "type": "subset", "begin": 3, "end": 4, "from": "x"},
      {"name": "b", "type": "output", "units": 1, "from": "@",
       "loss": "binary_cross_entropy", "target": "yes"},
      {"name": "g", "type": "output", "units": 2, "from": "@",
       "loss": "gaussian", "target": "reals"},
      {"name": "both", "type": "dense", "units": 2, "from": "@"},
      {"name": "l", "type": "loss", "units": 1, "loss": "gaussian",
       "target": "last"},
      {"name": "e", "type": "output", "units": 1, "from": "@",
       "loss": "exponential", "target": "last"}],
     "outputs": ["b", "g", "l", "e"]})";
  for (const bool draws : {false, true}) {
    std::string text =
        R"({"inputs": [{"name": "x", "shape": [4]}], "weight_init": "zero",
            "bias_init": 0.5, "nodes": [
            {"name": "code", "type": "dense", "units": 4, "from": "x"},)" +
        std::string(draws ? R"({"name": "z", "type": "gaussian_latent"},)"
                          : "") +
        nodes;
    for (std::size_t at; (at = text.find('@')) != std::string::npos;)
      text.replace(at, 1, draws ? "z" : "code");
    Model model;
    model.config = parse_network(text, "'composite'");
    Network network = compile(model.config, 4);
    take_from(network, model);
    // Each column is half of what it was.
    model.normalizers.inputs = {{"minmax", {0, 0, 0, 0}, {1, 0.5, 0.5, 0.5}}};
    model.normalizers.outputs.resize(4);
    const auto normal = [](double x) {
      return -(std::log(2 * M_PI) + 0.5 +
               (x - 0.5) * (x - 0.5) / std::exp(0.5)) /
             2;
    };
    const auto exponential = [](double x) { return -0.5 - x / std::exp(0.5); };
    ScoreOptions options;
    options.samples = 3;
    const auto scores = scores_of(model, {1, 4, -2, 3}, 4, options);
    CHECK(scores.at(0) == Approx(-std::log1p(std::exp(-0.5)) + normal(2) +
                                 normal(-1) + normal(1.5) + exponential(1.5)));
    if (!draws) continue;
    std::string drawn;
    const Model decoder = decoder_of(model);
    const auto out =
        write_lines(decoder, 1, [&](std::string_view line) { drawn += line; });
    sample(decoder, 1, 3, {}, *out);
    out->close();
    // Means, in the units of the columns.
    const Json made = Json::parse(drawn);
    INFO(drawn);
    CHECK(made.at("g").at("outputs") == Json({1.0, 1.0}));
    CHECK(made.at("e").at("outputs").at(0).get<double>() ==
          Approx(2 * std::exp(0.5)));
  }
}

TEST_CASE("scores of drawn codes come near the integral, and repeat") {
  // One number m of log variance v, given back as it is: p(x|z) =
  // exp(-(z - m)^2 - v^2), whose mean over z is exp(-v^2) / sqrt(1 + 2 exp(v)).
  const Model model = model_of("[2]", R"(
      {"type": "dense", "units": 2, "weight_init": "identity"},
      {"type": "gaussian_latent", "name": "z"},
      {"type": "output", "units": 2, "loss": "l2", "target": "features",
       "weight_init": "ones", "bias": false})");
  // Both outputs are z: log p = -(z - m)^2 - (z - v)^2; at v = m that is
  // -2 (z - m)^2, the mean of which is 1 / sqrt(1 + 4 exp(v)).
  const std::vector<float> x{0.5F, 0.5F};
  ScoreOptions options;
  options.samples = 20000;
  const double want = -0.5 * std::log(1 + 4 * std::exp(0.5));
  const auto first = scores_of(model, x, 2, options);
  CHECK(first.at(0) == Approx(want).margin(0.03));
  CHECK(scores_of(model, x, 2, options) == first);
  options.seed = 1;
  CHECK(scores_of(model, x, 2, options) != first);
}

TEST_CASE("examples are drawn by a seed, however many at a time") {
  const Model model = model_of("[4]", kCode + R"(
      {"type": "output", "units": 4, "loss": "l2", "target": "features"})");
  const Model decoder = decoder_of(model);
  const auto drawn = [&](std::uint64_t seed, std::int64_t batch) {
    std::string all;
    const auto out =
        write_lines(decoder, 1, [&](std::string_view text) { all += text; });
    PredictorOptions options;
    options.batch = batch;
    sample(decoder, 5, seed, options, *out);
    out->close();
    return all;
  };
  const std::string want = drawn(3, 256);
  CHECK(std::ranges::count(want, '\n') == 5);
  CHECK(drawn(3, 2) == want);
  CHECK(drawn(4, 2) != want);
}

TEST_CASE("what a loss can have nothing to say of is impossible") {
  const Model model = model_of("[2]", R"(
      {"type": "dense", "units": 2, "weight_init": "zero"},
      {"type": "output", "units": 2, "weight_init": "zero",
       "loss": "binary_cross_entropy", "target": "features"})");
  const auto scores = scores_of(model, {0.25f, 1, 0.5f, 1.5f, -1000, 0}, 2, {});
  REQUIRE(scores.size() == 3);
  CHECK(scores[0] == Approx(-2 * std::log(2.0)));
  CHECK(scores[1] == -INFINITY);
  CHECK(scores[2] == -INFINITY);
}

TEST_CASE("models that draw no codes, or reconstruct nothing, are refused") {
  const Model plain = model_of("[2]", R"({"type": "output", "units": 2,
      "loss": "l2"})");
  CHECK_THROWS_WITH(decoder_of(plain),
                    "the model draws no codes: it has no layer "
                    "gaussian_latent");
  CHECK_THROWS_WITH(Scorer(plain, {}),
                    "no output of the model has an input as target");
}

}  // namespace
}  // namespace dl::nn::testing::latent_test
