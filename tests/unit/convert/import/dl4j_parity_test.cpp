// Two cases of Deeplearning4j's own integration tests, with what it recorded:
// predictions, gradients, scores of each iteration, parameters and evaluation.
// The data are not part of this repository: without them the test is skipped.

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>

#include "libcore/convert/import/dl4j/model.h"
#include "libcore/convert/import/dl4j/nd4j_array.h"
#include "libcore/convert/import/file.h"
#include "libcore/convert/import/import.h"
#include "libcore/device/open.h"
#include "libcore/nn/model/model.h"
#include "libcore/nn/network.h"

namespace dl::convert::dl4j_parity_test {
namespace {

using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

const std::string kRoot = std::string(DL_SOURCE_DIR) + "/../shared/data/dl4j";

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error{Code::kNoInput, "cannot open '" + path + "'"};
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<double> numbers_of(std::string text) {
  for (char& c : text)
    if (c == ',' || c == '\n' || c == '\r') c = ' ';
  std::istringstream in(text);
  return {std::istream_iterator<double>(in), {}};
}

std::vector<float> array_of(const std::string& path) {
  const std::string text = text_of(path);
  dl4j::Bytes bytes(std::as_bytes(std::span(text)));
  return dl4j::read_nd4j_array(bytes).values;
}

struct Examples {
  Shape shape;  // of one
  std::vector<float> features;
  std::vector<std::int32_t> labels;

  std::size_t count() const { return labels.size(); }
};

// A part of them as a mini-batch.
struct Part {
  Tensor features, labels;
  Part(const Examples& all, std::size_t begin, std::size_t end)
      : features(DType::kF32,
                 all.shape.with_first(static_cast<std::int64_t>(end - begin))),
        labels(DType::kI32, {static_cast<std::int64_t>(end - begin)}) {
    const auto each = static_cast<std::size_t>(all.shape.elements());
    std::copy_n(
        all.features.begin() + static_cast<std::ptrdiff_t>(begin * each),
        (end - begin) * each, features.as<float>().begin());
    std::copy_n(all.labels.begin() + static_cast<std::ptrdiff_t>(begin),
                end - begin, labels.as<std::int32_t>().begin());
  }
  nn::Batch batch() const { return {&features, &labels}; }
};

// Network of the model, on one lane.
std::unique_ptr<nn::Network> network_of(const nn::Model& model, bool training) {
  auto network =
      std::make_unique<nn::Network>(model.config, model.normalizers, 64,
                                    device::open_lanes("cpu", 1), training);
  nn::put_into(*network, model);
  return network;
}

double farthest(std::span<const float> a, std::span<const float> b) {
  REQUIRE(a.size() == b.size());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    most = std::max(most, std::abs(static_cast<double>(a[i]) - b[i]));
  return most;
}

// A recorded case and the model that dl-import makes of it.
class Case {
 public:
  Case(const std::string& name, const std::string& shape)
      : folder_(kRoot + "/" + name) {
    const std::string zip = folder_ + "/Model_RANDOM_INIT_UNTRAINED.zip";
    if (!shape.empty()) {
      const auto extents = numbers_of(shape);
      shapes_[""] = {static_cast<std::int64_t>(extents[0]),
                     static_cast<std::int64_t>(extents[1])};
    }
    file_ = open_file(zip);
    model_ = *import_model(zip, {.weights = {}, .shapes = shapes_}).model;
  }

  nn::Model& model() { return model_; }
  std::string path(const std::string& name) const {
    return folder_ + "/" + name;
  }

  // A vector of DL4J's parameters, in the order of ours.
  std::vector<float> ordered(const std::string& name) const {
    const std::vector<float> values = array_of(path(name));
    Archive archive = file_.archive;
    archive.arrays.erase("updaterState.bin");
    archive.arrays["coefficients.bin"] = {
        {static_cast<std::int64_t>(values.size())}, values};
    return dl4j::make_model(archive, shapes_).model->parameters;
  }

  double prediction_error(const Examples& all, std::size_t end,
                          const std::string& recorded) {
    const Part part(all, 0, end);
    const auto network = network_of(model_, false);
    Tensor outputs;
    network->predict(part.features, outputs);
    return farthest(outputs.as<float>(), array_of(path(recorded)));
  }

  // Theirs is the sum over the mini-batch.
  double gradient_error(const Examples& all, std::size_t end) {
    const Part part(all, 0, end);
    const auto network = network_of(model_, true);
    network->compute_gradient(part.batch(), {});
    std::vector<float> mine = download(*network, network->update());
    for (float& g : mine) g *= static_cast<float>(end);
    return farthest(mine, ordered("flattenedGradients.bin"));
  }

  // Trains one epoch, and leaves what was learnt in the model; the largest
  // relative difference of the scores.
  double train(const Examples& all, std::size_t batch) {
    const auto network = network_of(model_, true);
    const std::vector<double> curve =
        numbers_of(text_of(path("trainingCurve.csv")));
    double worst = 0;
    std::size_t step = 0;
    for (std::size_t at = 0; at < all.count(); at += batch, ++step) {
      const Part part(all, at, std::min(at + batch, all.count()));
      const nn::Position position{.iteration = static_cast<std::int64_t>(step),
                                  .epoch = 0,
                                  .batch = step};
      const double loss = network->compute_gradient(part.batch(), position);
      const double score = loss + network->regularization_score();
      REQUIRE(step < curve.size());
      worst = std::max(worst, std::abs(score - curve[step]) / curve[step]);
      REQUIRE(network->apply_update(position));
    }
    CHECK(step == curve.size());
    nn::take_from(*network, model_);
    return worst;
  }

  // How often each class was taken for which, as it was recorded.
  void check_confusion(const Examples& all) {
    const auto network = network_of(model_, false);
    const Part part(all, 0, all.count());
    Tensor outputs;
    network->predict(part.features, outputs);
    const auto values = outputs.as<float>();
    const std::size_t classes = values.size() / all.count();
    std::map<std::pair<int, int>, int> mine, theirs;
    for (std::size_t i = 0; i < all.count(); ++i) {
      const auto row = values.subspan(i * classes, classes);
      const auto guess = std::ranges::max_element(row) - row.begin();
      ++mine[{all.labels[i], static_cast<int>(guess)}];
    }
    const Json json =
        Json::parse(text_of(path("evaluation/0.Evaluation.json")));
    for (const auto& [actual, pairs] : json["confusion"]["matrix"].items())
      for (std::size_t k = 0; k < pairs[0].size(); ++k)
        if (pairs[1][k] != 0)
          theirs[{std::stoi(actual), pairs[0][k].get<int>()}] = pairs[1][k];
    CHECK(mine == theirs);
  }

 private:
  static std::vector<float> download(nn::Network& network, tensor::View view) {
    Tensor tensor(DType::kF32, {view.elements()});
    network.device().download(tensor, view);
    const auto values = tensor.as<float>();
    return {values.begin(), values.end()};
  }

  std::string folder_;
  std::map<std::string, Shape> shapes_;
  File file_;
  nn::Model model_;
};

Examples moon(const std::string& name) {
  Examples all{.shape = {2}, .features = {}, .labels = {}};
  const auto numbers = numbers_of(text_of(kRoot + "/data/" + name));
  for (std::size_t i = 0; i + 2 < numbers.size(); i += 3) {
    all.labels.push_back(static_cast<std::int32_t>(numbers[i]));
    all.features.push_back(static_cast<float>(numbers[i + 1]));
    all.features.push_back(static_cast<float>(numbers[i + 2]));
  }
  return all;
}

Examples sequences(const std::string& folder, int count) {
  Examples all{.shape = {60, 1}, .features = {}, .labels = {}};
  const std::string base = kRoot + "/data/uci_seq/" + folder;
  for (int i = 0; i < count; ++i) {
    const std::string name = "/" + std::to_string(i) + ".csv";
    for (const double x : numbers_of(text_of(base + "/features" + name)))
      all.features.push_back(static_cast<float>(x));
    all.labels.push_back(static_cast<std::int32_t>(
        numbers_of(text_of(base + "/labels" + name)).back()));
  }
  return all;
}

bool is_missing() {
  if (std::filesystem::exists(kRoot)) return false;
  std::cout << "skipped: '" << kRoot
            << "' has the recorded cases of Deeplearning4j, and is not there\n";
  return true;
}

TEST_CASE("MLPMoon is as Deeplearning4j recorded it") {
  if (is_missing()) return;
  Case moons("MLPMoon", "");
  const Examples test = moon("moon_data_eval.csv");
  CHECK(moons.prediction_error(test, 1, "predictions/output_0_0.bin") < 1e-6);
  CHECK(moons.prediction_error(test, 10, "predictions/output_1_0.bin") < 1e-6);
  CHECK(moons.gradient_error(test, 5) < 1e-5);
  CHECK(moons.train(moon("moon_data_train.csv"), 32) < 1e-4);
  CHECK(farthest(moons.model().parameters,
                 moons.ordered("paramsPostTrain.bin")) < 1e-5);
  moons.check_confusion(test);
}

TEST_CASE("RnnCsvSequenceClassification1 is as Deeplearning4j recorded it") {
  if (is_missing()) return;
  Case rnn("RnnCsvSequenceClassification1", "60,1");
  // Training data of the baseline: the first 101 sequences alone.
  const Examples train = sequences("train", 101);
  double mean = 0, square = 0;
  const auto count = static_cast<double>(train.features.size());
  for (const float x : train.features) mean += x / count;
  for (const float x : train.features)
    square += (x - mean) * (x - mean) / count;
  rnn.model().normalizers.inputs[0] = {
      .kind = "standardize", .shift = {mean}, .scale = {1 / std::sqrt(square)}};
  CHECK(rnn.prediction_error(train, 10, "predictions/output_0_0.bin") < 1e-6);
  CHECK(rnn.gradient_error(train, 10) < 1e-5);
  CHECK(rnn.train(train, 10) < 1e-4);
  CHECK(farthest(rnn.model().parameters, rnn.ordered("paramsPostTrain.bin")) <
        1e-5);
  rnn.check_confusion(sequences("test", 150));
}

}  // namespace
}  // namespace dl::convert::dl4j_parity_test
