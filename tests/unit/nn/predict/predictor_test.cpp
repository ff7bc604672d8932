// Tests of libcore/nn/predict/predictor.h.

#include "libcore/nn/predict/predictor.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>

#include "libcore/data/format/stream.h"
#include "libcore/nn/predict/prediction_writer.h"
#include "tests/unit/error_of.h"
#include "tests/unit/nn/pets.h"
#include "tests/unit/scratch.h"

namespace dl::nn::testing::predictor_test {
namespace {

// Records of these sizes; example i of the stream has features (i, -i).
void write_data(const std::string& path, const std::vector<std::int64_t>& sizes,
                const std::vector<std::string>& classes = {}) {
  data::StreamWriter writer(io::open_sink(path));
  data::Metadata metadata;
  metadata.schema["features"] = {tensor::DType::kF32, {2}};
  if (!classes.empty()) {
    metadata.schema["labels"] = {tensor::DType::kU8, {}};
    metadata.classes = classes;
  }
  writer.write_metadata(metadata);
  float i = 0;
  for (const std::int64_t n : sizes) {
    data::DataSet set;
    tensor::Tensor features(tensor::DType::kF32, {n, 2});
    for (std::int64_t k = 0; k < n; ++k, ++i) {
      features.as<float>()[static_cast<std::size_t>(2 * k)] = i;
      features.as<float>()[static_cast<std::size_t>(2 * k + 1)] = -i;
    }
    set.tensors["features"] = features;
    if (!classes.empty())
      set.tensors["labels"] = tensor::Tensor(tensor::DType::kU8, {n});
    writer.write(set);
  }
  writer.close();
}

const PredictorOptions kFour = {4, "reference", 1};

TEST_CASE("a stream is predicted in order, in batches") {
  const Scratch folder;
  write_data(folder / "x.dls", {1, 4, 11});
  for (const std::int64_t threads : {1, 3}) {
    Predictor predictor(values(), {4, "reference", threads});
    std::vector<std::int64_t> batches;
    std::vector<float> seen;
    int looks = 0;
    predictor.run(
        folder / "x.dls", [&](const data::Metadata&) { ++looks; },
        [&](data::DataSet& set, const std::vector<Prediction>& outputs) {
          batches.push_back(set.examples());
          REQUIRE(outputs[0].values.shape() ==
                  tensor::Shape{set.examples(), 2});
          for (const float y : outputs[0].values.as<float>()) seen.push_back(y);
        });
    CHECK(batches == std::vector<std::int64_t>{1, 4, 4, 4, 3});
    CHECK(looks == 2);
    REQUIRE(seen.size() == 32);
    for (std::size_t i = 0; i < 16; ++i) {
      CHECK(seen[2 * i] == static_cast<float>(i));
      CHECK(seen[2 * i + 1] == -static_cast<float>(i));
    }
  }
}

TEST_CASE("a model's parameters may stay in their file") {
  const Scratch folder;
  write_data(folder / "x.dls", {3});
  save_model(values(), folder / "m.safetensors");
  auto model = std::make_unique<Model>(open_model(folder / "m.safetensors"));
  CHECK(model->parameters.empty());
  REQUIRE(model->weights().size() == values().parameters.size());
  for (const char* device : {"cpu", "reference"}) {
    std::optional<Predictor> predictor;
    predictor.emplace(*model, PredictorOptions{4, device, 2});
    if (device == std::string("reference")) model.reset();
    std::vector<float> seen;
    predictor->run(
        folder / "x.dls", [](const data::Metadata&) {},
        [&](data::DataSet&, const std::vector<Prediction>& outputs) {
          seen.assign(outputs[0].values.as<float>().begin(),
                      outputs[0].values.as<float>().end());
        });
    CHECK(seen == std::vector<float>{0, 0, 1, -1, 2, -2});
  }
  // A source that is not a file is read.
  const Model piped =
      open_model("pipe:cat '" + (folder / "m.safetensors") + "'");
  CHECK(piped.parameters == values().parameters);
  CHECK(piped.weights().data() == piped.parameters.data());
}

TEST_CASE("data that does not fit is refused with its name") {
  const Scratch folder;
  write_data(folder / "x.dls", {3});
  Predictor predictor(pets(), kFour);
  const auto ignore = [](auto&&...) {};
  const std::string error =
      error_of([&] { predictor.run(folder / "x.dls", ignore, ignore); });
  CHECK(error.substr(0, 3) == "65:");
  CHECK(error.find("x.dls': ") != std::string::npos);
  CHECK(error.find("[2]") != std::string::npos);
  CHECK(error.find("[3]") != std::string::npos);
  CHECK(error_of([&] {
          predictor.run(folder / "no", ignore, ignore);
        }).substr(0, 3) == "66:");
  CHECK(error_of([] {
          Predictor(pets(), {0, "reference", 1});
        }).substr(0, 3) == "64:");
  CHECK(error_of([] {
          Predictor(pets(), {4, "reference", -1});
        }).substr(0, 3) == "64:");
  CHECK(error_of([] {
          Predictor(pets(), {4, "cpu", 1, "float64"});
        }) == "64: --precision: want float32, tf32 or bfloat16, got 'float64'");
  CHECK(error_of([] {
          Predictor(pets(), {4, "reference", 1, "bfloat16"});
        }) ==
        "64: --precision: device reference predicts in float64, not in "
        "bfloat16");
}

TEST_CASE("an error of the receiver names the source if the data is at fault") {
  const Scratch folder;
  write_data(folder / "x.dls", {3});
  Predictor predictor(values(), kFour);
  const auto run = [&](Code code) {
    return error_of([&] {
      predictor.run(
          folder / "x.dls", [](const data::Metadata&) {},
          [&](data::DataSet&, const std::vector<Prediction>&) {
            throw Error{code, "why"};
          });
    });
  };
  CHECK(run(Code::kData) == "65: '" + (folder / "x.dls") + "': why");
  CHECK(run(Code::kIo) == "74: why");
}

TEST_CASE("inputs are spread over networks, and the first error wins") {
  const Scratch folder;
  std::vector<std::string> specs;
  for (int i = 0; i < 9; ++i) {
    specs.push_back(folder / ("x" + std::to_string(i)));
    write_data(specs.back(), {i + 1});
  }
  for (const std::int64_t at_once : {1, 3, 50}) {
    std::mutex mutex;
    std::map<std::string, std::int64_t> examples;
    for_each_input(
        values(), kFour, specs, at_once,
        [&](Predictor& predictor, const std::string& spec) {
          std::int64_t n = 0;
          predictor.run(
              spec, [](const data::Metadata&) {},
              [&](data::DataSet& set, const std::vector<Prediction>&) {
                n += set.examples();
              });
          const std::lock_guard lock(mutex);
          examples[spec] = n;
        });
    REQUIRE(examples.size() == 9);
    for (int i = 0; i < 9; ++i)
      CHECK(examples[specs[static_cast<std::size_t>(i)]] == i + 1);
    CHECK(error_of([&] {
            for_each_input(values(), kFour, specs, at_once,
                           [&](Predictor&, const std::string& spec) {
                             if (spec >= specs[4])
                               throw Error{Code::kData, spec};
                           });
          }) == "65: " + specs[4]);
  }
}

// Predictions of a model for one record with these columns and classes.
struct Seen {
  std::vector<float> outputs;
  std::vector<int> labels;
  std::vector<std::string> warnings;
};

Seen predict(const Model& model, const std::string& spec, Labels labels) {
  Seen seen;
  PredictorOptions options = kFour;
  options.labels = labels;
  options.log = [&](Level level, const std::string& line) {
    if (level != Level::kDetail) seen.warnings.push_back(line);
  };
  Predictor(model, options)
      .run(
          spec, [](const data::Metadata&) {},
          [&](data::DataSet& set, const std::vector<Prediction>& outputs) {
            for (const float y : outputs[0].values.as<float>())
              seen.outputs.push_back(y);
            for (const std::uint8_t y : set.get("labels").as<std::uint8_t>())
              seen.labels.push_back(y);
          });
  return seen;
}

// Features (1, 2) with label 0, (3, 4) with label 1.
void write_pairs(const std::string& path,
                 const std::vector<std::string>& columns,
                 const std::vector<std::string>& classes, bool names_at_end) {
  data::StreamWriter writer(io::open_sink(path));
  data::Metadata metadata;
  metadata.schema["features"] = {tensor::DType::kF32, {2}};
  metadata.schema["labels"] = {tensor::DType::kU8, {}};
  metadata.columns = columns;
  if (!names_at_end) metadata.classes = classes;
  writer.write_metadata(metadata);
  data::DataSet set;
  tensor::Tensor x(tensor::DType::kF32, {2, 2}), y(tensor::DType::kU8, {2});
  for (std::size_t i = 0; i < 4; ++i)
    x.as<float>()[i] = static_cast<float>(i + 1);
  y.as<std::uint8_t>()[1] = 1;
  set.tensors.emplace("features", std::move(x));
  set.tensors.emplace("labels", std::move(y));
  writer.write(set);
  metadata.classes = classes;
  if (names_at_end) writer.write_metadata(metadata);
  writer.close();
}

TEST_CASE("columns and classes in another order are predicted as the model's") {
  const Scratch folder;
  Model model = passing(2, "identity", "mean_squared_error");
  model.config.layers.back().settings.set("loss", "negative_log_likelihood");
  model.data.columns = {"a", "b"};
  model.data.classes = {"no", "yes"};
  for (const bool at_end : {false, true}) {
    write_pairs(folder / "x.dls", {"b", "a"}, {"yes", "no"}, at_end);
    const Seen seen = predict(model, folder / "x.dls", Labels::kNeeded);
    CHECK(seen.outputs == std::vector<float>{2, 1, 4, 3});
    CHECK(seen.labels == std::vector<int>{1, 0});
    REQUIRE(seen.warnings.size() == 1);
    CHECK(seen.warnings[0].find("x.dls': columns") != std::string::npos);
    // A predictor that ignores labels leaves them.
    const Seen blind = predict(model, folder / "x.dls", Labels::kIgnored);
    CHECK(blind.outputs == seen.outputs);
    CHECK(blind.labels == std::vector<int>{0, 1});
  }
  // A pipe tells its classes too late.
  const std::string pipe = "pipe:cat '" + (folder / "x.dls") + "'";
  CHECK(error_of([&] {
          predict(model, pipe, Labels::kNeeded);
        }).find("come at its end") != std::string::npos);
  write_pairs(folder / "x.dls", {"a", "b"}, {"no", "yes"}, true);
  CHECK(predict(model, pipe, Labels::kNeeded).warnings.empty());
  write_pairs(folder / "x.dls", {"a", "c"}, {"no", "yes"}, false);
  CHECK(error_of([&] {
          predict(model, folder / "x.dls", Labels::kIgnored);
        }).find("there is no 'b'") != std::string::npos);
}

TEST_CASE("predictions become the labels of a stream") {
  const Scratch folder;
  write_data(folder / "x.dls", {3, 2}, {"no", "yes"});
  for (const bool keep : {false, true}) {
    Predictor predictor(weather(), kFour);
    const auto out =
        write_stream(weather(), io::open_sink(folder / "y.dls"),
                     {.keep_features = keep,
                      .step = data::Provenance{"test", "1", {"a"}, {}}});
    predictor.run(
        folder / "x.dls",
        [&](const data::Metadata& metadata) { out->see(metadata); },
        [&](data::DataSet& set, const std::vector<Prediction>& outputs) {
          out->take(set, outputs);
        });
    out->close();
    data::StreamReader reader(io::open_source(folder / "y.dls"));
    CHECK(reader.metadata().targets ==
          std::vector<std::string>{"rain", "wind"});
    CHECK(reader.metadata().classes.empty());
    REQUIRE(reader.metadata().provenance.size() == 1);
    data::DataSet set;
    REQUIRE(reader.read(set));
    CHECK(set.get("labels").shape() == tensor::Shape{3, 2});
    CHECK(set.get("labels").as<float>()[0] == 0.5F);
    CHECK((set.find("features") != nullptr) == keep);
    REQUIRE(reader.read(set));
    CHECK_FALSE(reader.read(set));
    CHECK(reader.examples() == 5);
  }
}

// The stream that `model` makes of these, one after the other.
std::vector<data::DataSet> join(const Model& model, bool keep,
                                const std::vector<std::string>& specs,
                                const std::string& to) {
  Predictor predictor(model, kFour);
  const auto out =
      write_stream(model, io::open_sink(to), {.keep_features = keep});
  for (const std::string& spec : specs)
    predictor.run(
        spec, [&](const data::Metadata& metadata) { out->see(metadata); },
        [&](data::DataSet& set, const std::vector<Prediction>& outputs) {
          out->take(set, outputs);
        });
  out->close();
  data::StreamReader reader(io::open_source(to));
  std::vector<data::DataSet> sets;
  for (data::DataSet set; reader.read(set);) sets.push_back(set);
  return sets;
}

// One example called `id`, number `index` of its input.
void write_named(const std::string& path, const std::string& id,
                 std::int64_t index) {
  data::DataSet set;
  tensor::Tensor text(tensor::DType::kU8,
                      {1, static_cast<std::int64_t>(id.size())});
  std::copy(id.begin(), id.end(), text.as<std::uint8_t>().begin());
  tensor::Tensor number(tensor::DType::kI64, {1});
  number.as<std::int64_t>()[0] = index;
  set.tensors.emplace("features", tensor::Tensor(tensor::DType::kF32, {1, 2}));
  set.tensors.emplace("id", std::move(text));
  set.tensors.emplace("index", std::move(number));
  data::Metadata metadata;
  metadata.schema = data::Metadata::schema_of(set);
  data::StreamWriter writer(io::open_sink(path));
  writer.write_metadata(metadata);
  writer.write(set);
  writer.close();
}

TEST_CASE("a stream of predictions of steps tells padding and has 0 there") {
  const Scratch folder;
  Model model;
  model.config = parse_network(
      R"({"seed": 1, "input": {"shape": [3, 1]}, "layers": [
          {"type": "gru", "units": 1, "return_sequences": true},
          {"type": "output", "units": 1, "activation": "identity",
           "loss": "mean_squared_error"}]})",
      "'test.json'");
  model.parameters.assign(
      static_cast<std::size_t>(layout_of(model.config).parameter_count), 0);
  model.parameters.back() = 5;  // the bias: what it says of every step
  data::DataSet set;
  tensor::Tensor mask(tensor::DType::kU8, {2, 3});
  for (const std::size_t i : {0U, 1U, 3U}) mask.as<std::uint8_t>()[i] = 1;
  set.tensors["features"] = tensor::Tensor(tensor::DType::kF32, {2, 3, 1});
  set.tensors["features_mask"] = mask;
  const auto save = [&](const std::string& name) {
    data::Metadata metadata;
    metadata.schema = data::Metadata::schema_of(set);
    data::StreamWriter writer(io::open_sink(folder / name));
    writer.write_metadata(metadata);
    writer.write(set);
    writer.close();
  };
  save("x.dls");
  for (const bool keep : {false, true}) {
    const auto sets = join(model, keep, {folder / "x.dls"}, folder / "y.dls");
    REQUIRE(sets.size() == 1);
    const auto seen = sets[0].get("labels").as<float>();
    CHECK(std::vector<float>(seen.begin(), seen.end()) ==
          std::vector<float>{5, 5, 0, 5, 0, 0});
    const auto told = sets[0].get("labels_mask").as<std::uint8_t>();
    CHECK(std::ranges::equal(told, mask.as<std::uint8_t>()));
    CHECK((sets[0].find("features_mask") != nullptr) == keep);
  }
  // Weights other than 0 count.
  tensor::Tensor weights(tensor::DType::kF32, {2, 3});
  weights.as<float>()[0] = 0.5F;
  set.tensors["features_mask"] = weights;
  save("w.dls");
  const auto weighed = join(model, false, {folder / "w.dls"}, folder / "y.dls");
  CHECK(weighed[0].get("labels_mask").as<std::uint8_t>()[0] == 1);
  CHECK(weighed[0].get("labels").as<float>()[1] == 0);
  // Without any mask there is none, and such go into no stream with others.
  set.tensors.erase("features_mask");
  save("z.dls");
  const auto plain = join(model, false, {folder / "z.dls"}, folder / "y.dls");
  CHECK(plain[0].find("labels_mask") == nullptr);
  CHECK(plain[0].get("labels").as<float>()[2] == 5);
  for (const auto& [a, b] : {std::pair{"x.dls", "z.dls"}, {"z.dls", "x.dls"}})
    CHECK(error_of([&] {
            join(model, false, {folder / a, folder / b}, folder / "y.dls");
          }).find(std::string(b) + "': it has other tensors") !=
          std::string::npos);
}

TEST_CASE("what examples are called goes on with their predictions") {
  const Scratch folder;
  write_named(folder / "a.dls", "pluto", 7);
  write_named(folder / "b.dls", "rex", 9);
  const auto sets = join(values(), false, {folder / "a.dls", folder / "b.dls"},
                         folder / "y.dls");
  REQUIRE(sets.size() == 2);
  CHECK(sets[0].get("index").as<std::int64_t>()[0] == 7);
  const auto id = sets[1].get("id").as<std::uint8_t>();
  CHECK(std::string(id.begin(), id.end()) == std::string("rex\0\0", 5));
  // A longer one than the first stream has room for.
  CHECK(error_of([&] {
          join(values(), false, {folder / "b.dls", folder / "a.dls"},
               folder / "y.dls");
        }).find("a.dls': it has other tensors") != std::string::npos);
}

TEST_CASE("streams that do not agree are not joined to one") {
  const Scratch folder;
  write_pairs(folder / "a.dls", {"a", "b"}, {"no", "yes"}, false);
  write_pairs(folder / "b.dls", {"b", "a"}, {"no", "yes"}, false);
  // The model does not know what its columns are called.
  CHECK(error_of([&] {
          join(values(), true, {folder / "a.dls", folder / "b.dls"},
               folder / "y.dls");
        }).find("b.dls': its columns are not those") != std::string::npos);
  Model model = values();
  model.data.columns = {"a", "b"};
  const auto sets =
      join(model, true, {folder / "a.dls", folder / "b.dls"}, folder / "y.dls");
  REQUIRE(sets.size() == 2);
  CHECK(sets[1].get("features").as<float>()[0] == 2);
}

}  // namespace
}  // namespace dl::nn::testing::predictor_test
