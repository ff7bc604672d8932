// The data that fit a model.

#include "libcore/nn/data/data_check.h"

#include <catch2/catch.hpp>
#include <functional>

#include "tests/unit/nn/pets.h"
#include "tests/unit/nn/support.h"

namespace dl::nn::testing::data_check_test {
namespace {

using tensor::DType;

Model trained() {
  Model model = pets();
  model.data.columns = {"ears", "tail", "wings"};
  model.data.schema["features"] = {DType::kF32, {3}};
  model.data.schema["labels"] = {DType::kI32, {}};
  return model;
}

std::string error_of(const Model& model, const data::Metadata& data,
                     Labels labels = Labels::kNeeded) {
  try {
    DataCheck(model).examine(data, labels);
  } catch (const Error& e) {
    CHECK(e.code() == Code::kData);
    return e.what();
  }
  return "";
}

TEST_CASE("what a model was trained on fits it") {
  const Model model = trained();
  const auto alignment = DataCheck(model).examine(model.data, Labels::kNeeded);
  CHECK(alignment.changes_nothing());
  CHECK(alignment.note.empty());
}

TEST_CASE("names, shapes, labels and dtypes decide whether data fit a model") {
  const Model model = trained();
  data::Metadata data = model.data;
  data.classes = {"cat", "fox"};
  CHECK_THAT(error_of(model, data), Catch::Contains("'fox'"));
  data = model.data;
  data.columns = {"ears", "tail", "legs"};
  CHECK_THAT(error_of(model, data), Catch::Contains("'wings'"));
  data = model.data;
  data.schema["features"].shape = {4};
  CHECK(error_of(model, data) == "examples are [4], the network wants [3]");
  data = model.data;
  data.schema.erase("labels");
  CHECK(error_of(model, data) == "the data have no tensor 'labels'");
  data.schema["labels"] = {DType::kF32, {7}};
  CHECK_THAT(error_of(model, data), Catch::Contains("labels are F32 [7]"));
}

TEST_CASE("token numbers have a row each") {
  Model model;
  model.config =
      sequence("[2]", R"({"type": "embedding", "rows": 4, "units": 2},
      {"type": "global_pool"}, {"type": "output", "units": 2,
      "loss": "negative_log_likelihood"})");
  data::Metadata data;
  data.schema["features"] = {DType::kI32, {2}};
  data.schema["labels"] = {DType::kI32, {}};
  data.statistics.emplace();
  const auto tell = [&](double least, double most) {
    tensor::Tensor values(DType::kF64, {1, 2});
    values.as<double>()[0] = least;
    values.as<double>()[1] = most;
    data.statistics = data::Statistics();
    data.statistics->add(values, nullptr);
    return error_of(model, data);
  };
  CHECK(tell(0, 3).empty());
  CHECK(tell(0, 4) ==
        "features have tokens up to 4, and the embedding has 4 rows, for 0..3: "
        "a new network wants \"rows\": 5, or data with fewer tokens; a trained "
        "model knows no others, so that data are numbered by its vocabulary");
  CHECK(tell(-1, 3) ==
        "features have the token -1, and the embedding has 4 rows, for 0..3: "
        "number the tokens from 0");
  data.statistics.reset();
  CHECK(error_of(model, data).empty());
}

TEST_CASE("classes without names are those of data that call them by number") {
  Model model = trained();
  data::Metadata data = model.data;
  model.data.classes.clear();
  data.classes = {"2", "0"};
  const DataCheck check(model);
  const auto alignment = check.examine(data, Labels::kNeeded);
  CHECK(alignment.classes == std::vector<std::int64_t>{2, 0});
  const std::vector<std::string> numbers = {"0", "1", "2"};
  CHECK(check.aligned(alignment, data).classes == numbers);
  CHECK(known_by(model, Outputs::kLearnt, data).classes == numbers);
  for (const char* other : {"3", "-1", "02", "two"}) {
    data.classes = {"2", other};
    CHECK(check.examine(data, Labels::kNeeded).classes.empty());
    CHECK_THAT(check.examine(data, Labels::kNeeded).note,
               Catch::Contains("no names for its classes") &&
                   Catch::Contains("from '2' to '" + std::string(other)));
    CHECK(check.examine(data, Labels::kIgnored).note.empty());
    CHECK(known_by(model, Outputs::kLearnt, data).classes.empty());
  }
  // Nothing was learnt yet: the data say what is which.
  data.classes = {"2", "0"};
  CHECK(DataCheck(model, Outputs::kNew)
            .examine(data, Labels::kNeeded)
            .changes_nothing());
  CHECK(known_by(model, Outputs::kNew, data).classes.empty());

  Model one = spam();
  one.data.classes.clear();
  one.data.schema = trained().data.schema;
  one.data.schema["features"].shape = {1};
  data::Metadata turned = one.data;
  turned.classes = {"1", "0"};
  CHECK(DataCheck(one).examine(turned, Labels::kNeeded).classes ==
        std::vector<std::int64_t>{1, 0});
}

TEST_CASE("labels that nobody looks at do not matter") {
  const Model model = trained();
  data::Metadata data = model.data;
  data.schema["labels"] = {DType::kF32, {7}};
  data.classes = {"fox", "hen", "owl", "cow"};
  CHECK(error_of(model, data, Labels::kIgnored).empty());
  data.schema.erase("labels");
  CHECK(error_of(model, data, Labels::kIgnored).empty());
}

TEST_CASE("a normalizer fits the dtype and the columns it was made for") {
  Model model = trained();
  model.data.schema["features"].dtype = DType::kU8;
  model.normalizers.inputs[0] = {"scale", {0}, {1.0 / 255}};
  data::Metadata data = model.data;
  data.schema["features"].dtype = DType::kF32;
  CHECK_THAT(error_of(model, data), Catch::Contains("features are F32") &&
                                        Catch::Contains("trained on U8"));
  model.normalizers.inputs[0] = {};  // then it may be the same numbers
  CHECK_THAT(DataCheck(model).examine(data, Labels::kNeeded).note,
             Catch::Contains("trained on U8"));
  model.data.schema["features"].dtype = DType::kF64;  // which F32 rounds
  CHECK_THAT(DataCheck(model).examine(data, Labels::kNeeded).note,
             Catch::Contains("trained on F64"));
  model.data.schema["features"].dtype = DType::kF32;
  data.schema["features"].dtype = DType::kF64;
  CHECK(DataCheck(model).examine(data, Labels::kNeeded).note.empty());
  data.schema["features"].dtype = DType::kU8;
  model.normalizers.inputs[0] = {"standardize", {1, 2}, {1, 1}};
  CHECK_THAT(error_of(model, data), Catch::Contains("2 columns"));
}

}  // namespace
}  // namespace dl::nn::testing::data_check_test
