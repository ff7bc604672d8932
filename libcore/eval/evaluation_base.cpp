// Checks, metrics by name, and JSON that all kinds share.

#include "libcore/eval/evaluation_base.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "libcore/base/display.h"
#include "libcore/base/names.h"
#include "libcore/eval/text.h"

namespace dl::eval {
namespace {

double find(const Metrics& metrics, std::string_view name, bool& found) {
  for (const auto& [key, value] : metrics)
    if (key == name) {
      found = true;
      return value;
    }
  return kNaN;
}

bool is_count(std::string_view name) {
  return name == "examples" || name.ends_with("positives") ||
         name.ends_with("negatives");
}

Json number(double value, bool whole) {
  if (!std::isfinite(value)) return nullptr;
  return whole ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

// JSON has no NaN: null, and the whole says that it is not finite.
void put(Json& target, const Metrics& metrics, bool& finite) {
  for (const auto& [name, value] : metrics) {
    finite = finite && std::isfinite(value);
    target[name] = number(value, is_count(name));
  }
}

}  // namespace

double ratio(double part, double whole) {
  return whole == 0 ? kNaN : part / whole;
}

double mean_defined(const std::vector<double>& values) {
  double sum = 0, count = 0;
  for (const double value : values)
    if (!std::isnan(value)) {
      sum += value;
      ++count;
    }
  return ratio(sum, count);
}

std::vector<std::int64_t> read_counts(const JsonView& json, std::size_t size) {
  if (json.size() != size) json.fail(std::to_string(size) + " counts");
  return json.integers(0, kMaxCount);
}

KindOptions::KindOptions(std::string_view text) {
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const std::size_t equals = item.find('=');
    double value = 0;
    const char* end = item.data() + item.size();
    if (equals == std::string_view::npos)
      throw Error{Code::kUsage,
                  "'" + displayed(item) + "': want SETTING=NUMBER"};
    const auto result = std::from_chars(item.data() + equals + 1, end, value);
    if (result.ec != std::errc{} || result.ptr != end || !std::isfinite(value))
      throw Error{Code::kUsage, "'" + displayed(item) + "': want a number"};
    if (!values_.emplace(item.substr(0, equals), value).second)
      throw Error{Code::kUsage, "'" + displayed(item) + "': given twice"};
  }
}

double KindOptions::number(const std::string& name, double fallback, double min,
                           double max) {
  const auto at = values_.find(name);
  if (at == values_.end()) return fallback;
  const double value = at->second;
  values_.erase(at);
  if (!(value >= min && value <= max))
    throw Error{Code::kUsage, "setting '" + displayed(name) + "': want " +
                                  shortest(min) + ".." + shortest(max) +
                                  ", got " + shortest(value)};
  return value;
}

std::int64_t KindOptions::integer(const std::string& name,
                                  std::int64_t fallback, std::int64_t min,
                                  std::int64_t max) {
  const double value =
      number(name, static_cast<double>(fallback), static_cast<double>(min),
             static_cast<double>(max));
  if (value != std::floor(value))
    throw Error{Code::kUsage, "setting '" + displayed(name) +
                                  "': want an integer, got " + shortest(value)};
  return static_cast<std::int64_t>(value);
}

void KindOptions::finish(std::string_view kind) const {
  if (!values_.empty())
    throw Error{Code::kUsage, "evaluation '" + displayed(kind) +
                                  "' has no setting '" +
                                  displayed(values_.begin()->first) + "'"};
}

EvaluationBase::EvaluationBase(std::string_view kind, Subject subject,
                               std::map<std::string, double> settings)
    : kind_(kind),
      subject_(std::move(subject)),
      settings_(std::move(settings)) {
  const std::int64_t outputs = subject_.outputs;
  const auto names = static_cast<std::int64_t>(subject_.names.size());
  if (outputs < 1 || outputs > kMaxOutputs)
    throw Error{Code::kUsage, "want 1.." + std::to_string(kMaxOutputs) +
                                  " outputs to evaluate, got " +
                                  std::to_string(outputs)};
  if (names > (outputs == 1 ? 2 : outputs))
    throw Error{Code::kUsage, std::to_string(names) + " names for " +
                                  std::to_string(outputs) + " outputs"};
}

std::string EvaluationBase::name_of(std::int64_t j) const {
  const auto names = static_cast<std::int64_t>(subject_.names.size());
  // A single output stands for the second of two classes.
  if (subject_.outputs == 1 && names == 2 && rows() == 1)
    return subject_.names[1];
  if (subject_.outputs == 1 && names == 1 && rows() == 2)
    return j == 1 ? subject_.names[0] : "0";
  return output_name(subject_.names, j);
}

std::string EvaluationBase::example(std::int64_t i) const {
  return "example " + std::to_string(seen_ + i / steps_);
}

namespace {

bool begins_with(const tensor::Shape& all, const tensor::Shape& first) {
  return first.rank() > 0 && first.rank() <= all.rank() &&
         std::ranges::equal(
             first.extents(),
             all.extents().first(static_cast<std::size_t>(first.rank())));
}

}  // namespace

void EvaluationBase::add(const tensor::Tensor& predictions,
                         const tensor::Tensor& labels,
                         const tensor::Tensor* mask) {
  const tensor::Shape& shape = predictions.shape();
  if (shape.rank() < 2 || shape.back() != outputs() || predictions.empty() ||
      predictions.dtype() != tensor::DType::kF32)
    throw Error{Code::kData, "predictions are " + shape.to_string() +
                                 ", want [n, " + std::to_string(outputs()) +
                                 "] in F32"};
  const std::int64_t n = shape[0];
  const tensor::Shape places = places_of(shape);
  steps_ = places.elements() / n;
  const Labels read(labels, shape, seen_);
  if (mask != nullptr && mask->shape() != tensor::Shape{n, 1} &&
      !begins_with(places, mask->shape()))
    throw Error{Code::kData, "the labels' mask is " +
                                 mask->shape().to_string() + ", want " +
                                 places.to_string()};
  // Places that it speaks of at once: those of an example, or of a step.
  const std::int64_t each =
      mask != nullptr ? places.elements() / mask->elements() : 1;
  const std::span<const float> values = predictions.as<float>();
  const auto columns = static_cast<std::size_t>(outputs());
  for (std::int64_t i = 0; i < n * steps_; ++i) {
    if (mask != nullptr && mask->value(i / each) == 0) continue;
    const std::span<const float> row =
        values.subspan(static_cast<std::size_t>(i) * columns, columns);
    for (const float value : row)
      if (!std::isfinite(value))
        throw Error{Code::kData,
                    "the model's output for " + example(i) + " is not finite"};
    add_example(row, read, i);
  }
  seen_ += n;
}

void EvaluationBase::merge(const Evaluation& other) {
  const auto* same = dynamic_cast<const EvaluationBase*>(&other);
  if (same == nullptr || same->kind_ != kind_)
    throw Error{Code::kData, "cannot merge evaluations '" + displayed(kind_) +
                                 "' and '" + std::string(other.kind()) + "'"};
  const char* differs = nullptr;
  if (same->outputs() != outputs()) differs = "number of outputs";
  if (same->subject_.names != subject_.names) differs = "names of outputs";
  if (same->settings_ != settings_) differs = "settings";
  if (same->subject_.output != subject_.output) differs = "outputs";
  if (differs != nullptr)
    throw Error{Code::kData, "cannot merge evaluations '" + displayed(kind_) +
                                 "': their " + differs + " differ"};
  merge_same(other);
}

double EvaluationBase::metric(std::string_view name) const {
  bool found = false;
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) {
    const double value = find(summary(), name, found);
    if (found) return value;
  } else {
    const std::string_view row = name.substr(slash + 1);
    std::int64_t j = 0;
    while (j < rows() && name_of(j) != row) ++j;
    if (j == rows()) {  // not a name: a number?
      const auto [end, error] =
          std::from_chars(row.data(), row.data() + row.size(), j);
      if (error != std::errc{} || end != row.data() + row.size() || j < 0 ||
          j >= rows())
        throw Error{Code::kUsage, "'" + displayed(name) +
                                      "': there is no class or output '" +
                                      displayed(row) + "'"};
    }
    const double value = find(by_output()[static_cast<std::size_t>(j)],
                              name.substr(0, slash), found);
    if (found) return value;
  }
  std::vector<std::string> all;
  for (const auto& [key, value] :
       slash == std::string_view::npos ? summary() : by_output().front())
    all.push_back(key);
  const std::string near = nearest(name.substr(0, slash), all);
  std::string has;
  for (const std::string& each : all) has += (has.empty() ? "" : ", ") + each;
  throw Error{Code::kUsage,
              "evaluation '" + displayed(kind_) + "' has no metric '" +
                  displayed(name) + "'" +
                  (near.empty() ? "; it has " + has
                                : "; did you mean '" + displayed(near) + "'?")};
}

std::vector<std::string> EvaluationBase::metrics() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : summary()) names.push_back(name);
  return names;
}

Json EvaluationBase::to_json() const {
  bool finite = true;
  Json metrics = details();
  put(metrics, summary(), finite);
  Json rows_json = Json::array();
  const std::vector<Metrics> all = by_output();
  for (std::size_t j = 0; j < all.size(); ++j) {
    Json row = {{"name", name_of(static_cast<std::int64_t>(j))}};
    put(row, all[j], finite);
    rows_json.push_back(std::move(row));
  }
  Json settings = Json::object();
  for (const auto& [name, value] : settings_)
    settings[name] = number(value, value == std::floor(value));
  metrics["outputs"] = std::move(rows_json);
  metrics["finite"] = finite;
  Json json = {{"kind", kind_},
               {"outputs", subject_.outputs},
               {"names", subject_.names},
               {"settings", std::move(settings)},
               {"metrics", std::move(metrics)},
               {"state", state()}};
  if (!subject_.output.empty()) json["output"] = subject_.output;
  return json;
}

}  // namespace dl::eval
