#include "libcore/eval/shown_examples.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>

#include "libcore/data/format/dataset.h"
#include "libcore/eval/labels.h"
#include "libcore/io/digest.h"

namespace dl::eval {
namespace {

constexpr double kLeastShare = 1e-10;  // as log_loss has it
constexpr std::size_t kMostNumbers = 20;

std::string kind_of_output(const Evaluations& all, const Subject& subject) {
  for (const auto& evaluation : all)
    if (evaluation->output() == subject.output)
      return std::string(evaluation->kind());
  return "";
}

std::string name_of_class(const Subject& subject, std::int64_t c) {
  const auto at = static_cast<std::size_t>(c);
  return at < subject.names.size() ? subject.names[at] : std::to_string(c);
}

// Name of an example, and of its file, if it is named after one.
Json named_example(const data::DataSet& set, std::int64_t i,
                   const std::string& input, std::int64_t number,
                   const std::vector<std::string>& folders) {
  Json one{{"input", input}, {"number", number}};
  if (const auto index = set.tensors.find("index");
      index != set.tensors.end() &&
      index->second.dtype() == tensor::DType::kI64)
    one["index"] =
        index->second.as<std::int64_t>()[static_cast<std::size_t>(i)];
  const auto ids = set.tensors.find("id");
  if (ids == set.tensors.end()) return one;
  const std::string id = data::id_text(ids->second, i);
  one["id"] = id;
  for (const std::string& folder : folders) {
    const std::string file = folder.empty() ? id : folder + "/" + id;
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored)) continue;
    one["file"] = file;
    break;
  }
  return one;
}

// Adds the label, what was predicted and the loss.
double compare_one(Json& one, const std::string& kind, const Subject& subject,
                   std::span<const float> outputs, const Labels& labels,
                   std::int64_t i) {
  const auto share = [](double p) {
    return -std::log(std::max(p, kLeastShare));
  };
  const auto n = static_cast<std::int64_t>(outputs.size());
  double loss = 0;
  if (kind == "regression" || kind == "forecast" || kind == "binary" ||
      (n == 1 && !subject.probabilities)) {
    const bool yes_or_no = kind == "binary";
    Json wanted = Json::array(), given = Json::array();
    for (std::int64_t j = 0; j < n; ++j) {
      const double y = outputs[static_cast<std::size_t>(j)];
      const double t =
          yes_or_no ? (labels.positive(i, j) ? 1 : 0) : labels.target(i, j);
      loss += yes_or_no && subject.probabilities
                  ? (t > 0 ? share(y) : share(1 - y))
                  : (y - t) * (y - t);
      if (wanted.size() >= kMostNumbers) continue;
      wanted.push_back(t);
      given.push_back(y);
    }
    one["label"] = std::move(wanted);
    one["predicted"] = std::move(given);
  } else {
    const std::int64_t truth = labels.class_of(i);
    const std::int64_t guess =
        n == 1 ? (outputs[0] >= 0.5F ? 1 : 0)
               : std::ranges::max_element(outputs) - outputs.begin();
    const auto p_of = [&](std::int64_t c) -> double {
      return n > 1 ? outputs[static_cast<std::size_t>(c)]
                   : (c == 1 ? outputs[0] : 1 - outputs[0]);
    };
    loss = share(p_of(truth));
    one["label"] = name_of_class(subject, truth);
    one["predicted"] = name_of_class(subject, guess);
    one["probability"] = p_of(guess);
  }
  one["loss"] = loss;
  return loss;
}

}  // namespace

void ShownExamples::add(const Evaluations& all, const Subjects& subjects,
                        const nn::Network& network, const data::DataSet& set,
                        const nn::Batch& batch,
                        const std::vector<nn::Prediction>& outputs,
                        const std::string& input, std::int64_t first,
                        const std::vector<std::string>& folders) {
  for (std::size_t o = 0; o < subjects.size() && most_ > 0; ++o) {
    const tensor::Tensor& values = outputs[o].values;
    const std::string kind = kind_of_output(all, subjects[o]);
    if (kind.empty() || values.shape().rank() != 2) continue;
    tensor::Tensor room;
    const tensor::Tensor& wanted = network.labels(batch, o, values, room);
    const Labels labels(wanted, values.shape(), first);
    const auto width = static_cast<std::size_t>(values.shape()[1]);
    const tensor::Tensor* mask = batch.outputs[o].mask;
    for (std::int64_t i = 0; i < values.shape()[0]; ++i) {
      const auto row = static_cast<std::size_t>(i);
      if (mask != nullptr && mask->dtype() == tensor::DType::kF32 &&
          mask->as<float>()[row] == 0)
        continue;
      Json one = named_example(set, i, input, first + i, folders);
      if (!subjects[o].output.empty()) one["output"] = subjects[o].output;
      const double loss = compare_one(
          one, kind, subjects[o],
          values.as<float>().subspan(row * width, width), labels, i);
      keep_worst(loss, one);
      if (kind == "regression" || kind == "forecast") keep_sample(one);
    }
  }
}

void ShownExamples::keep_worst(double loss, const Json& example) {
  auto& all = worst_[example.value("output", "")];
  if (all.size() >= most_ && -loss > std::prev(all.end())->first.first) return;
  all.emplace(Key(-loss, dump_json(example)), example);
  if (all.size() > most_) all.erase(std::prev(all.end()));
}

// A sample that no order changes: examples with the smallest digests.
void ShownExamples::keep_sample(const Json& example) {
  auto& all = sample_[example.value("output", "")];
  std::string text = dump_json(example);
  const auto digest =
      static_cast<double>(io::digest(std::as_bytes(std::span(text))));
  if (all.size() >= kSample && digest > std::prev(all.end())->first.first)
    return;
  all.emplace(Key(digest, std::move(text)), example);
  if (all.size() > kSample) all.erase(std::prev(all.end()));
}

void ShownExamples::merge(const ShownExamples& other) {
  most_ = std::max(most_, other.most_);
  for (const auto& [output, all] : other.worst_)
    for (const auto& [key, example] : all) keep_worst(-key.first, example);
  for (const auto& [output, all] : other.sample_)
    for (const auto& [key, example] : all) keep_sample(example);
}

Json ShownExamples::to_json() const {
  Json worst = Json::array(), sample = Json::array();
  for (const auto& [output, all] : worst_)
    for (const auto& [key, example] : all) worst.push_back(example);
  for (const auto& [output, all] : sample_)
    for (const auto& [key, example] : all) sample.push_back(example);
  Json json{{"most", most_}, {"worst", std::move(worst)}};
  if (!sample.empty()) json["sample"] = std::move(sample);
  return json;
}

ShownExamples ShownExamples::from_json(const JsonView& json) {
  json.only({"most", "worst", "sample"});
  ShownExamples all(json.at("most").integer(0, kMost));
  const auto each = [](const JsonView& list, const auto& take) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const JsonView one = list.at(i);
      one.only({"input", "number", "index", "id", "file", "output", "label",
                "predicted", "probability", "loss"});
      if (one.has("output")) one.at("output").string();
      take(one.at("loss").number(), one.raw());
    }
  };
  each(json.at("worst"),
       [&](double loss, const Json& one) { all.keep_worst(loss, one); });
  if (json.has("sample"))
    each(json.at("sample"),
         [&](double, const Json& one) { all.keep_sample(one); });
  return all;
}

}  // namespace dl::eval
