// Tests of libcore/nn/predict/prediction_lines.h.

#include "libcore/nn/predict/prediction_lines.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <utility>

#include "libcore/base/json.h"
#include "tests/unit/error_of.h"
#include "tests/unit/nn/pets.h"
#include "tests/unit/scratch.h"

namespace dl::nn::testing::prediction_lines_test {
namespace {

tensor::Tensor outputs_of(const std::vector<float>& values,
                          std::int64_t columns) {
  tensor::Tensor made(
      tensor::DType::kF32,
      {static_cast<std::int64_t>(values.size()) / columns, columns});
  std::copy(values.begin(), values.end(), made.as<float>().begin());
  return made;
}

std::vector<Prediction> one(const tensor::Tensor& y) {
  std::vector<Prediction> all(1);
  all[0].values = y;
  return all;
}

TEST_CASE("lines of a classifier") {
  const auto y = outputs_of({0.7F, 0.2F, 0.1F, 0.25F, 0.5F, 0.25F}, 3);
  CHECK(PredictionLines(pets(), 1).lines(one(y), 0) ==
        "{\"index\":0,\"class\":\"cat\",\"probability\":0.7}\n"
        "{\"index\":1,\"class\":\"dog\",\"probability\":0.5}\n");
  CHECK(PredictionLines(pets(), 2).lines(one(y.rows(1, 2)), 41) ==
        "{\"index\":41,\"class\":\"dog\",\"probability\":0.5,\"top\":["
        "{\"class\":\"dog\",\"probability\":0.5},"
        "{\"class\":\"cat\",\"probability\":0.25}]}\n");
  Model nameless = pets();
  nameless.data.classes.clear();
  CHECK(PredictionLines(nameless, 1).lines(one(y.rows(0, 1)), 0) ==
        "{\"index\":0,\"class\":\"0\",\"probability\":0.7}\n");
}

TEST_CASE("an output without a name is not called as another one is") {
  Model model = pets();
  model.data.classes = {"1", "2"};
  const auto y = outputs_of({0.1F, 0.2F, 0.7F}, 3);
  CHECK(PredictionLines(model, 1).lines(one(y), 0) ==
        "{\"index\":0,\"class\":\"unit 2\",\"probability\":0.7}\n");
  model.data.classes = {"unit 2", "2"};
  CHECK(PredictionLines(model, 1).lines(one(y), 0) ==
        "{\"index\":0,\"class\":\"unit unit 2\",\"probability\":0.7}\n");
}

TEST_CASE("lines of sequences") {
  auto y = outputs_of({0.7F, 0.2F, 0.1F, 0.25F, 0.5F, 0.25F}, 3);
  y.reshape({1, 2, 3});
  CHECK(PredictionLines(pets(), 1).lines(one(y), 5) ==
        "{\"index\":5,\"steps\":[{\"class\":\"cat\",\"probability\":0.7},"
        "{\"class\":\"dog\",\"probability\":0.5}]}\n");
  std::vector<Prediction> padded = one(y);
  padded[0].steps = tensor::Tensor(tensor::DType::kF32, {1, 2});
  padded[0].steps.as<float>()[1] = 1;
  padded[0].masked = true;
  CHECK(PredictionLines(pets(), 1).lines(padded, 0) ==
        "{\"index\":0,\"steps\":[null,"
        "{\"class\":\"dog\",\"probability\":0.5}]}\n");
}

TEST_CASE("lines tell what an example says that it is") {
  const auto y = outputs_of({0.7F, 0.2F, 0.1F, 0.25F, 0.5F, 0.25F}, 3);
  tensor::Tensor id(tensor::DType::kU8, {2, 4}),
      index(tensor::DType::kI64, {2});
  const std::string text("a\"\0\0four", 8);
  std::copy(text.begin(), text.end(), id.as<std::uint8_t>().begin());
  index.as<std::int64_t>()[0] = 17;
  index.as<std::int64_t>()[1] = 3;
  CHECK(PredictionLines(pets(), 1).lines(one(y), 0,
                                         {.id = &id, .index = &index}) ==
        "{\"index\":17,\"id\":\"a\\\"\",\"class\":\"cat\","
        "\"probability\":0.7}\n"
        "{\"index\":3,\"id\":\"four\",\"class\":\"dog\","
        "\"probability\":0.5}\n");
  CHECK(PredictionLines(pets(), 1).lines(one(y.rows(0, 1)), 5, {.id = &id}) ==
        "{\"index\":5,\"id\":\"a\\\"\",\"class\":\"cat\","
        "\"probability\":0.7}\n");
}

TEST_CASE("lines tell large indices exactly") {
  const auto y = outputs_of({0.7F, 0.2F, 0.1F, 0.25F, 0.5F, 0.25F}, 3);
  tensor::Tensor index(tensor::DType::kI64, {2});
  index.as<std::int64_t>()[0] = (std::int64_t{1} << 53) + 1;
  index.as<std::int64_t>()[1] = std::numeric_limits<std::int64_t>::max();
  CHECK(PredictionLines(pets(), 1).lines(one(y), 0, {.index = &index}) ==
        "{\"index\":9007199254740993,\"class\":\"cat\","
        "\"probability\":0.7}\n"
        "{\"index\":9223372036854775807,\"class\":\"dog\","
        "\"probability\":0.5}\n");
}

TEST_CASE("lines of one output and two classes") {
  const auto y = outputs_of({0.75F, 0.25F, 0.5F}, 1);
  CHECK(PredictionLines(spam(), 1).lines(one(y), 0) ==
        "{\"index\":0,\"class\":\"spam\",\"probability\":0.75}\n"
        "{\"index\":1,\"class\":\"ham\",\"probability\":0.75}\n"
        "{\"index\":2,\"class\":\"spam\",\"probability\":0.5}\n");
}

TEST_CASE("lines of a threshold") {
  const auto single = outputs_of({0.3F, 0.25F}, 1);
  CHECK(PredictionLines(spam(), 1, 0.3).lines(one(single), 0) ==
        "{\"index\":0,\"class\":\"spam\",\"probability\":0.3}\n"
        "{\"index\":1,\"class\":\"ham\",\"probability\":0.75}\n");
  Model model = passing(2, "softmax", "negative_log_likelihood");
  model.data.classes = {"ham", "spam"};
  const auto y = outputs_of({0.7F, 0.3F, 0.5F, 0.5F, 0.75F, 0.25F}, 2);
  CHECK(PredictionLines(model, 2, 0.3).lines(one(y.rows(0, 1)), 0) ==
        "{\"index\":0,\"class\":\"spam\",\"probability\":0.3,\"top\":["
        "{\"class\":\"ham\",\"probability\":0.7},"
        "{\"class\":\"spam\",\"probability\":0.3}]}\n");
  CHECK(PredictionLines(model, 1, 0.6).lines(one(y.rows(1, 3)), 1) ==
        "{\"index\":1,\"class\":\"ham\",\"probability\":0.5}\n"
        "{\"index\":2,\"class\":\"ham\",\"probability\":0.75}\n");
  Model labels = passing(2, "sigmoid", "binary_cross_entropy");
  CHECK(PredictionLines(labels, 1, 0.5).lines(one(y.rows(0, 2)), 0) ==
        "{\"index\":0,\"outputs\":[0.7,0.3],\"yes\":[true,false]}\n"
        "{\"index\":1,\"outputs\":[0.5,0.5],\"yes\":[true,true]}\n");
  labels.data.targets = {"a", "b"};
  CHECK(PredictionLines(labels, 1, 0.5).lines(one(y.rows(0, 1)), 0) ==
        "{\"index\":0,\"outputs\":{\"a\":0.7,\"b\":0.3},"
        "\"yes\":{\"a\":true,\"b\":false}}\n");
  const std::string none =
      "64: --threshold is for sigmoids and for a softmax of two classes; of "
      "others the largest output is the class";
  CHECK(error_of([] { PredictionLines(pets(), 1, 0.5); }) == none);
  CHECK(error_of([] { PredictionLines(values(), 1, 0.5); }) == none);
  for (const double bad : {-0.1, 1.1, static_cast<double>(NAN)})
    CHECK(error_of([&] { PredictionLines(spam(), 1, bad); }) ==
          "64: --threshold: want 0..1");
}

TEST_CASE("lines of one value and two classes name the second class") {
  Model model = passing(1, "identity", "mean_squared_error");
  model.data.classes = {"malignant", "benign"};
  const auto y = outputs_of({0.75F}, 1);
  CHECK(PredictionLines(model, 1).lines(one(y), 0) ==
        "{\"index\":0,\"outputs\":{\"benign\":0.75}}\n");
}

TEST_CASE("lines of values") {
  const auto y = outputs_of({1.5F, -1e-30F, 16777216.0F, 0}, 2);
  CHECK(PredictionLines(values(), 1).lines(one(y), 0) ==
        "{\"index\":0,\"outputs\":{\"depth\":1.5,\"speed\":-1e-30}}\n"
        "{\"index\":1,\"outputs\":{\"depth\":16777216,\"speed\":0}}\n");
  Model nameless = values();
  nameless.data.targets.clear();
  CHECK(PredictionLines(nameless, 1).lines(one(y.rows(0, 1)), 7) ==
        "{\"index\":7,\"outputs\":[1.5,-1e-30]}\n");
}

TEST_CASE("lines are JSON whatever the names and numbers") {
  Model model = pets();
  model.data.classes = {"a\"b\\c", "new\nline", "\xff"};
  const auto y = outputs_of({0.1F, 0.3F, 0.6F}, 3);
  const std::string line = PredictionLines(model, 3).lines(one(y), 0);
  REQUIRE(line.find('\n') == line.size() - 1);
  const Json json = parse_json(line, "line", Code::kData);
  CHECK(json["top"][1]["class"] == "new\nline");
  CHECK(json["top"][2]["class"] == "a\"b\\c");
  CHECK(json["top"][0]["probability"].get<float>() == 0.6F);
}

TEST_CASE("what has no line") {
  CHECK(error_of([] { PredictionLines(pets(), 4); }) ==
        "64: --top: want 1..3, got 4");
  CHECK(error_of([] { PredictionLines(pets(), 0); }) ==
        "64: --top: want 1..3, got 0");
  CHECK(error_of([] { PredictionLines(values(), 2); }) ==
        "64: --top: this model names no classes");
  for (const float bad : {NAN, INFINITY, -INFINITY}) {
    const auto y = outputs_of({1, 2, 3, bad}, 2);
    CHECK(error_of([&] { PredictionLines(values(), 1).lines(one(y), 16); }) ==
          "65: the model's output for example 17 is not finite");
  }
}

TEST_CASE("the models of the command-line tests are these") {
  const Scratch scratch;
  const std::string folder = DL_SOURCE_DIR "/tests/cli/dl-eval/";
  for (const auto& [name, model] : {std::pair("pets.safetensors", pets()),
                                    {"spam.safetensors", spam()},
                                    {"weather.safetensors", weather()},
                                    {"values.safetensors", values()}}) {
    save_model(model, scratch / name);
    CAPTURE(name);
    save_model(load_model(folder + name), scratch / "kept");
    CHECK(scratch.read(name) == scratch.read("kept"));
  }
}

}  // namespace
}  // namespace dl::nn::testing::prediction_lines_test
