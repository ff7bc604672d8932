// Normalizers that make other columns: fitted to data, and on the way into a
// network.

#include "libcore/nn/data/fit_decorrelation.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "libcore/nn/data/data_check.h"
#include "libcore/nn/data/targets.h"
#include "libcore/nn/model/initialise.h"
#include "libcore/nn/model/model_metadata.h"
#include "tests/unit/nn/support.h"

namespace dl::nn::testing::fit_decorrelation_test {
namespace {

constexpr char kOutput[] =
    R"({"type": "output", "units": 2, "loss": "mean_squared_error"})";

constexpr char kSeries[] = R"({"type": "lstm", "units": 3}, )";

// Records of 5 examples each, of columns that depend on each other.
data::DataSet correlated(const Shape& example, std::uint64_t stream) {
  Philox random(11, stream);
  data::DataSet set;
  Tensor& x = set.tensors["features"];
  x = Tensor(DType::kF32, example.with_first(5));
  double sum = 0;
  for (float& value : x.as<float>()) {
    sum = sum / 2 + random.normal();
    value = static_cast<float>(20 + 3 * sum);
  }
  return set;
}

std::vector<data::DataSet> records_of(const Shape& example) {
  std::vector<data::DataSet> records;
  for (std::uint64_t i = 0; i < 40; ++i)
    records.push_back(correlated(example, i));
  return records;
}

std::vector<data::Normalizer> fit(const std::string& kind,
                                  const NetworkConfig& config,
                                  const std::vector<data::DataSet>& records) {
  data::Metadata metadata;
  metadata.schema = data::Metadata::schema_of(records[0]);
  return fit_decorrelation(
      *data::Decorrelation::of(kind), config, metadata,
      [&](const std::function<void(const data::DataSet&)>& take) {
        for (const data::DataSet& record : records) take(record);
      },
      silent());
}

// Output of a normalizer for rows of its columns, in double.
Tensor applied(const data::Normalizer& n, const Tensor& x,
               const Shape& example) {
  const std::int64_t columns = n.columns(), outputs = n.outputs();
  Tensor y(DType::kF64, example.with_first(x.shape()[0]));
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  for (std::int64_t row = 0; row < x.elements() / columns; ++row)
    for (std::int64_t i = 0; i < outputs; ++i) {
      double sum = 0;
      for (std::int64_t c = 0; c < columns; ++c)
        sum += n.matrix[at(i * columns + c)] *
               (x.value(row * columns + c) - n.shift[at(c)]) * n.scale[at(c)];
      y.as<double>()[at(row * outputs + i)] = sum;
    }
  return y;
}

Tensor predicted(const NetworkConfig& config, const data::Normalizer& n,
                 const Tensor& features, const std::string& device, int lanes,
                 const Tensor* mask = nullptr) {
  Network network(config, {n}, 8, device::open_lanes(device, lanes), false);
  network.device().upload(network.parameters(),
                          initial_parameters(config, layout_of(config)));
  Tensor outputs;
  network.predict(features, outputs, mask);
  return outputs;
}

// The network says of data what one without the normalizer says of what the
// normalizer makes of them.
void check_like_applied(const NetworkConfig& config, const data::Normalizer& n,
                        const Tensor& x, const Tensor* mask = nullptr) {
  const Tensor made = applied(n, x, config.inputs[0].shape);
  const Tensor expected = predicted(config, {}, made, "reference", 1, mask);
  for (const char* device : {"reference", "cpu"})
    for (const int lanes : {1, 3}) {
      CAPTURE(device, lanes);
      const Tensor outputs = predicted(config, n, x, device, lanes, mask);
      REQUIRE(outputs.shape() == expected.shape());
      for (std::int64_t i = 0; i < expected.elements(); ++i)
        CHECK(outputs.value(i) == Approx(expected.value(i)).margin(1e-5));
    }
}

}  // namespace

TEST_CASE("components of images are of all their pixels") {
  const auto records = records_of({4, 3, 1});
  const NetworkConfig config = sequence("[5]", kOutput);
  const auto fitted = fit("pca:5", config, records);
  REQUIRE(fitted.size() == 1);
  CHECK(fitted[0].columns() == 12);
  CHECK(fitted[0].outputs() == 5);
  check_like_applied(config, fitted[0], records[3].tensors.at("features"));
}

TEST_CASE("components of a series are of each step, and padding is no step") {
  auto records = records_of({6, 4});
  const NetworkConfig config =
      sequence("[6, 3]", std::string(kSeries) + kOutput);
  for (data::DataSet& record : records)
    record.tensors["features_mask"] = lengths_mask(5, 6);
  const auto fitted = fit("pca:3", config, records);
  CHECK(fitted[0].columns() == 4);
  const Tensor& x = records[1].tensors.at("features");
  check_like_applied(config, fitted[0], x,
                     &records[1].tensors.at("features_mask"));

  auto padded = records;
  for (data::DataSet& record : padded)
    for (std::int64_t i = 0; i < 5 * 6; ++i)
      if (record.tensors.at("features_mask").value(i) == 0)
        record.tensors.at("features")
            .as<float>()[static_cast<std::size_t>(4 * i)] = 1e6f;
  CHECK(fit("pca:3", config, padded) == fitted);
}

TEST_CASE("whitened columns stay where they were") {
  const auto records = records_of({12});
  const NetworkConfig config = sequence("[12]", kOutput);
  const auto fitted = fit("whiten", config, records);
  CHECK(fitted[0].outputs() == 12);
  check_like_applied(config, fitted[0], records[0].tensors.at("features"));
  // Each pixel of an image is a row.
  const auto colours = records_of({2, 2, 3});
  CHECK(fit("whiten", sequence("[2, 2, 3]", kOutput), colours)[0].columns() ==
        3);
}

TEST_CASE("a network of segments takes columns that are made, too",
          "[gradient]") {
  const auto records = records_of({6, 4});
  const NetworkConfig config =
      sequence("[6, 2]",
               R"({"type": "lstm", "units": 3, "return_sequences": true},
      {"type": "output", "units": 2,
      "loss": "mean_squared_error"})",
               R"(, "tbptt_length": 4, "tbptt_update": true)");
  const data::Normalizer n = fit("pca:2", config, records)[0];
  Examples raw = random_examples(config, 5), made = raw;
  raw.features = records[2].tensors.at("features");
  made.features = applied(n, raw.features, Shape{6, 2});
  Network one = compile(config, 5, "reference", 2, true, n),
          other = compile(config, 5, "reference", 2, true);
  const Position at{};
  for (std::int64_t s = 0; s < one.segments(); ++s)
    CHECK(one.compute_gradient(raw.batch(), at, s) ==
          Approx(other.compute_gradient(made.batch(), at, s)));
}

TEST_CASE("what is made must be what the network takes") {
  const auto refused = [](const std::string& kind, const std::string& shape,
                          const Shape& example, const std::string& why) {
    CHECK_THROWS_WITH(
        fit(kind, sequence(shape, kOutput), {correlated(example, 0)}), why);
  };
  refused("pca:4", "[5]", {12},
          "pca:4: makes 4 columns, the network's input is [5]");
  refused("pca:13", "[13]", {12}, "pca:13: the data have 12 columns");
  refused("whiten", "[5]", {12},
          "whiten: makes 12 columns, the network's input is [5]");
  refused("pca:4", "[5, 4]", {6, 4},
          "pca:4: examples are [6, 4], the network wants [5, 4]: its input's "
          "last dimension are the columns that are made, the others are as in "
          "the data");
  refused("pca:4", "[4]", {5000},
          "pca:4: the data have 5000 columns, 4096 are the most");
  refused("whiten", "[1025]", {1025},
          "whiten: 1025 of 1025 columns take a matrix of more than 1048576 "
          "numbers, the most: use pca with fewer components");
  data::DataSet hidden = correlated({6, 4}, 0);
  hidden.tensors["features_mask"] = Tensor(DType::kU8, {5, 6});
  const NetworkConfig series =
      sequence("[6, 2]", std::string(kSeries) + kOutput);
  CHECK_THROWS_WITH(fit("pca:2", series, {hidden}),
                    "pca:2: no value of features counts");
}

TEST_CASE("a model with a matrix is of version 2.0, and takes its data alone") {
  const auto records = records_of({4, 3, 1});
  Model model;
  model.config = sequence("[5]", kOutput);
  model.normalizers.inputs = fit("pca:5", model.config, records);
  model.normalizers.outputs.resize(1);
  const ModelStrings text = metadata_of(model);
  CHECK(text.at("version") == "2.0");
  CHECK(model_from(text).normalizers.inputs == model.normalizers.inputs);
  ModelStrings other = text;
  other["network"] = dump_json(to_json(sequence("[4]", kOutput)));
  CHECK_THROWS_WITH(model_from(other),
                    "the normalizer makes 5 columns, the network's input is "
                    "[4]");
  other = text;
  other["target_normalizer"] = text.at("normalizer");
  CHECK_THROWS_WITH(model_from(other), "targets cannot be normalized by pca");

  data::Metadata data;
  data.schema = data::Metadata::schema_of(records[0]);
  const DataCheck check(model);
  CHECK_NOTHROW(check.examine(data, Labels::kIgnored));
  data.schema["features"].shape = {12};
  CHECK_NOTHROW(check.examine(data, Labels::kIgnored));
  data.schema["features"].shape = {5};
  CHECK_THROWS_WITH(check.examine(data, Labels::kIgnored),
                    "examples are [5], the network wants [12]");
}

TEST_CASE("where columns are needed they cannot be made anew") {
  const auto records = records_of({4});
  const NetworkConfig again = parse_network(
      R"({"inputs": [{"name": "x", "shape": [4]}], "nodes": [
        {"name": "y", "type": "output", "units": 4, "from": "x",
         "loss": "mean_squared_error", "activation": "identity",
         "target": "x"}], "outputs": ["y"]})",
      "'again'");
  data::Normalizers normalizers;
  normalizers.inputs = fit("whiten", again, records);
  CHECK_THROWS_WITH(aim_normalizers(again, normalizers),
                    "'y' is to be its input, which --normalize pca and whiten "
                    "leave no columns of: use standardize or minmax");
  const NetworkConfig masking = sequence(
      "[6, 4]", std::string(R"({"type": "masking"}, )") + kSeries + kOutput);
  const auto series = fit("whiten", masking, records_of({6, 4}));
  CHECK_THROWS_WITH(compile(masking, 4, "cpu", 1, true, series[0]),
                    Catch::StartsWith("masking directly behind an input"));
}

}  // namespace dl::nn::testing::fit_decorrelation_test
