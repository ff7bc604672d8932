// The list of kinds, and creating and merging evaluations.

#include "libcore/eval/evaluation.h"

#include <algorithm>
#include <array>
#include <optional>

#include "libcore/base/display.h"
#include "libcore/base/names.h"
#include "libcore/eval/binary.h"
#include "libcore/eval/calibration.h"
#include "libcore/eval/classification.h"
#include "libcore/eval/evaluation_base.h"
#include "libcore/eval/forecast.h"
#include "libcore/eval/regression.h"
#include "libcore/eval/roc.h"

namespace dl::eval {
namespace {

using Made = std::unique_ptr<EvaluationBase>;

template <typename Kind>
Made make(const Subject& subject, const KindOptions& settings) {
  return std::make_unique<Kind>(subject, settings);
}

struct Entry {
  const char* name;
  Made (*make)(const Subject&, const KindOptions&);
};

constexpr std::array<Entry, 6> kKinds = {
    Entry{"classification", make<Classification>},
    Entry{"binary", make<Binary>},
    Entry{"roc", make<Roc>},
    Entry{"regression", make<Regression>},
    Entry{"calibration", make<Calibration>},
    Entry{"forecast", make<Forecast>},
};

const Entry* find_kind(std::string_view name) {
  for (const Entry& entry : kKinds)
    if (entry.name == name) return &entry;
  return nullptr;
}

std::vector<std::string> all_kinds() {
  std::vector<std::string> names;
  names.reserve(kKinds.size());
  for (const Entry& entry : kKinds) names.emplace_back(entry.name);
  return names;
}

}  // namespace

std::unique_ptr<Evaluation> make_evaluation(std::string_view kind,
                                            const Subject& subject) {
  const std::string_view name = kind.substr(0, kind.find(':'));
  const Entry* entry = find_kind(name);
  if (entry == nullptr) {
    const std::string near = nearest(name, all_kinds());
    throw Error{
        Code::kUsage,
        "there is no evaluation '" + displayed(name) + "'" +
            (near.empty() ? " (want classification, binary, roc, "
                            "regression, calibration or forecast)"
                          : "; did you mean '" + displayed(near) + "'?")};
  }
  kind.remove_prefix(std::min(kind.size(), name.size() + 1));
  return entry->make(subject, KindOptions(kind));
}

std::unique_ptr<Evaluation> evaluation_from_json(const JsonView& json) {
  json.only(
      {"kind", "output", "outputs", "names", "settings", "metrics", "state"});
  const Entry* entry = find_kind(json.at("kind").string());
  if (entry == nullptr) json.at("kind").fail("a kind of evaluation");
  const Subject subject = {
      json.at("outputs").integer(1, kMaxOutputs), json.at("names").strings(),
      json.has("output") ? json.at("output").string() : ""};
  if (!subject.output.empty() && !is_plain_name(subject.output))
    json.at("output").fail("a name of letters, digits, '_', '-', '.'");
  const JsonView state = json.at("state");
  // State that takes memory for each output must have the same number of
  // outputs.
  if (state.has("outputs") || entry->make != make<Classification>)
    if (state.at("outputs").size() != static_cast<std::size_t>(subject.outputs))
      state.at("outputs").fail(std::to_string(subject.outputs) + " outputs");
  std::map<std::string, double> settings;
  const JsonView given = json.at("settings");
  if (!given.raw().is_object()) given.fail("an object");
  for (const auto& item : given.raw().items())
    settings[item.key()] = given.at(item.key()).number();
  try {
    Made made = entry->make(subject, KindOptions(std::move(settings)));
    made->read_state(state);
    return made;
  } catch (const Error& e) {
    // A setting out of range is the document's fault here.
    if (e.code() != Code::kUsage) throw;
    throw Error{Code::kData, e.what()};
  }
}

std::string Evaluation::called(std::string_view name) const {
  return (output().empty() ? "" : std::string(output()) + ":") +
         std::string(name);
}

namespace {

using All = std::vector<std::unique_ptr<Evaluation>>;

// The output of one of `all` that a metric's name begins with, or "".
std::string_view output_in(std::string_view metric, const All& all) {
  const std::string_view output = metric.substr(0, metric.find(':'));
  const bool known = std::ranges::any_of(all, [&](const auto& evaluation) {
    return !output.empty() && evaluation->output() == output;
  });
  return known && output.size() < metric.size() ? output : "";
}

// why: what to say if no evaluation has it.
std::optional<double> value_in(const Evaluation& evaluation,
                               std::string_view metric, std::string& why) {
  try {
    return evaluation.metric(metric);
  } catch (const Error& e) {
    if (e.code() != Code::kUsage) throw;
    if (why.empty() ||
        std::string(e.what()).find("did you mean") != std::string::npos)
      why = e.what();
    return {};
  }
}

}  // namespace

double find_metric(const All& all, std::string_view name) {
  const std::string_view output = output_in(name, all);
  std::string_view metric = name;
  if (!output.empty()) metric.remove_prefix(output.size() + 1);
  const Evaluation* owner = nullptr;
  double value = 0;
  std::string why = "there is no evaluation to have metric '";
  why = all.empty() ? why + std::string(name) + "'" : "";
  for (const auto& evaluation : all) {
    if (!output.empty() && evaluation->output() != output) continue;
    const auto own = value_in(*evaluation, metric, why);
    if (!own) continue;
    if (owner != nullptr && owner->output() != evaluation->output())
      throw Error{Code::kUsage, "several outputs have the metric '" +
                                    displayed(name) + "': want '" +
                                    displayed(owner->called(name)) + "' or '" +
                                    displayed(evaluation->called(name)) + "'"};
    if (owner != nullptr) continue;
    owner = evaluation.get();
    value = *own;
  }
  if (owner == nullptr) throw Error{Code::kUsage, why};
  return value;
}

std::string main_metric(const Evaluation& evaluation) {
  const auto names = evaluation.metrics();
  for (const char* wanted : {"accuracy", "auc", "rmse", "ece"})
    if (std::ranges::find(names, wanted) != names.end()) return wanted;
  return names.front();
}

std::vector<std::string> main_metrics(const Evaluation& evaluation) {
  constexpr const char* kLoss = "log_loss";
  std::vector<std::string> names = {main_metric(evaluation)};
  const auto all = evaluation.metrics();
  if (std::ranges::find(all, kLoss) != all.end()) names.emplace_back(kLoss);
  return names;
}

bool higher_is_better(std::string_view metric) {
  metric = metric.substr(0, metric.find('/'));
  metric.remove_prefix(metric.find(':') + 1);
  for (const std::string_view prefix : {"naive_", "seasonal_"})
    if (metric.starts_with(prefix)) metric.remove_prefix(prefix.size());
  constexpr std::array<std::string_view, 14> kLower = {"loss",
                                                       "log_loss",
                                                       "mse",
                                                       "rmse",
                                                       "mae",
                                                       "mase",
                                                       "smape",
                                                       "ece",
                                                       "mce",
                                                       "ece_classwise",
                                                       "brier",
                                                       "score",
                                                       "false_positives",
                                                       "false_negatives"};
  return std::find(kLower.begin(), kLower.end(), metric) == kLower.end();
}

}  // namespace dl::eval
