// Reports: text, JSON, merging, bars.

#include "libcore/eval/report.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "libcore/base/display.h"
#include "libcore/eval/shown_examples.h"
#include "libcore/eval/text.h"
#include "libcore/io/source.h"

namespace dl::eval {
namespace {

constexpr int kVersion = 1;
constexpr std::size_t kMaxReport = std::size_t{1} << 32;

// Whether it is of that kind; if so the setting is added to it.
bool set(std::string& chosen, std::string_view kind,
         const std::string& setting) {
  const Choice choice = parse_choice(chosen);
  if (choice.name() != kind) return false;
  chosen += (choice.kind == kind ? ":" : ",") + setting;
  return true;
}

std::int64_t outputs_of(const std::string& chosen, const Subjects& subjects) {
  return subjects.at(subject_of(chosen, subjects)).outputs;
}

// Whether a classification is one by a threshold.
bool has_threshold(const std::string& chosen, const Subjects& subjects) {
  const Subject& subject = subjects.at(subject_of(chosen, subjects));
  return subject.outputs == 1 ||
         (subject.outputs == 2 && subject.probabilities);
}

Bar parse_bar(const std::string& text, bool least) {
  // The last one: a class name may contain '='.
  const std::size_t equals = text.rfind('=');
  if (equals != std::string::npos && equals > 0) {
    Bar bar{text.substr(0, equals), 0, least};
    const char* end = text.data() + text.size();
    const auto [rest, error] =
        std::from_chars(text.data() + equals + 1, end, bar.limit);
    if (error == std::errc{} && rest == end && std::isfinite(bar.limit))
      return bar;
  }
  throw Error{Code::kUsage, std::string(least ? "--min" : "--max") +
                                ": want METRIC=NUMBER, got '" +
                                displayed(text) + "'"};
}

}  // namespace

Evaluations make_evaluations(const std::vector<std::string>& kinds,
                             const Subjects& subjects) {
  Evaluations all;
  for (const std::string& chosen : kinds) {
    all.push_back(make_chosen(chosen, subjects));
    const std::string kind = parse_choice(chosen).kind;
    if (!has_threshold(chosen, subjects) &&
        kind.starts_with("classification:") &&
        kind.find("threshold=") != std::string::npos)
      throw Error{Code::kUsage,
                  "setting 'threshold' of 'classification' is for a single "
                  "output, or a softmax of two classes; else the largest "
                  "output is the class"};
  }
  return all;
}

void set_top(std::vector<std::string>& kinds, std::int64_t top,
             const Subjects& subjects) {
  bool found = top == 0;
  for (std::string& kind : kinds) {
    if (top == 0) continue;
    const bool enough =
        top <= std::max<std::int64_t>(outputs_of(kind, subjects), 2);
    if ((enough || subjects.size() == 1) &&
        set(kind, "classification", "top=" + std::to_string(top)))
      found = true;
  }
  if (!found)
    throw Error{
        Code::kUsage,
        "--top is for evaluation 'classification'" +
            std::string(subjects.size() == 1 ? "" : " of as many classes")};
}

void set_threshold(std::vector<std::string>& kinds,
                   const std::string& threshold, const Subjects& subjects) {
  bool found = threshold.empty();
  for (std::string& kind : kinds)
    if (!threshold.empty() &&
        (set(kind, "binary", "threshold=" + threshold) ||
         (has_threshold(kind, subjects) &&
          set(kind, "classification", "threshold=" + threshold))))
      found = true;
  if (!found)
    throw Error{Code::kUsage,
                "--threshold is for evaluations 'binary', and "
                "'classification' of a single output or a softmax of two "
                "classes; else the largest output is the class"};
}

void set_forecast(
    std::vector<std::string>& kinds, const Subjects& subjects,
    const std::function<std::string(std::int64_t outputs)>& settings) {
  for (std::string& kind : kinds)
    if (parse_choice(kind).kind == "forecast")
      set(kind, "forecast", settings(outputs_of(kind, subjects)));
}

void merge(Evaluations& whole, Evaluations part) {
  if (whole.empty()) {
    whole = std::move(part);
    return;
  }
  if (whole.size() != part.size())
    throw Error{Code::kData, "cannot merge " + std::to_string(whole.size()) +
                                 " evaluations with " +
                                 std::to_string(part.size())};
  for (std::size_t i = 0; i < whole.size(); ++i) whole[i]->merge(*part[i]);
}

void merge(Evaluations& whole, const std::string& spec, ShownExamples* shown) {
  const auto source = io::open_source(spec);
  const std::string text = io::read_all(*source, kMaxReport);
  source->close();
  const Json json = parse_json(text, source->name(), Code::kData, SIZE_MAX);
  try {
    const JsonView view(json, Code::kData);
    merge(whole, report_from_json(view));
    if (shown != nullptr && view.has("examples"))
      shown->merge(ShownExamples::from_json(view.at("examples")));
  } catch (Error& e) {
    e.add_context(source->name());
    throw;
  }
}

Json report_to_json(const Evaluations& all) {
  Json list = Json::array();
  for (const auto& evaluation : all) list.push_back(evaluation->to_json());
  return {{"format", "dl-eval"},
          {"version", kVersion},
          {"evaluations", std::move(list)}};
}

Evaluations report_from_json(const JsonView& json) {
  if (!json.has("format") || json.at("format").string() != "dl-eval")
    json.fail("the output of dl-eval --json");
  json.only({"format", "version", "evaluations", "examples"});
  json.at("version").integer(kVersion, kVersion);
  Evaluations all;
  const JsonView list = json.at("evaluations");
  for (std::size_t i = 0; i < list.size(); ++i)
    all.push_back(evaluation_from_json(list.at(i)));
  if (all.empty()) list.fail("at least one evaluation");
  return all;
}

void print(std::ostream& out, const Evaluations& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0) out << '\n';
    if (!all[i]->output().empty()) out << all[i]->output() << ": ";
    all[i]->print(out);
  }
}

std::vector<Bar> parse_bars(const std::vector<std::string>& least,
                            const std::vector<std::string>& most) {
  std::vector<Bar> bars;
  bars.reserve(least.size() + most.size());
  for (const std::string& text : least) bars.push_back(parse_bar(text, true));
  for (const std::string& text : most) bars.push_back(parse_bar(text, false));
  return bars;
}

std::vector<std::string> missed(const std::vector<Bar>& bars,
                                const Evaluations& all) {
  std::vector<std::string> sentences;
  for (const Bar& bar : bars) {
    const double value = find_metric(all, bar.metric);
    if (bar.least ? value >= bar.limit : value <= bar.limit) continue;
    std::string sentence = bar.metric;
    if (std::isnan(value))
      sentence += " is not defined for this data, want ";
    else
      sentence += " " + shortest(value) + " is ";
    if (std::isnan(value))
      sentence += bar.least ? "at least " : "at most ";
    else
      sentence += bar.least ? "below " : "above ";
    sentences.push_back(sentence + shortest(bar.limit));
  }
  return sentences;
}

}  // namespace dl::eval
