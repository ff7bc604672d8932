#include "libcore/eval/report.h"

#include <charconv>
#include <cmath>

#include "libcore/eval/text.h"

namespace dl::eval {
namespace {

constexpr int kVersion = 1;

}  // namespace

Evaluations make_evaluations(const std::vector<std::string>& kinds,
                             const Subject& subject) {
  Evaluations all;
  for (const std::string& kind : kinds)
    all.push_back(make_evaluation(kind, subject));
  return all;
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
  json.only({"format", "version", "evaluations"});
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
    all[i]->print(out);
  }
}

Bar Bar::parse(const std::string& text, bool least, const std::string& option) {
  // The last one: a class name may contain '='.
  const std::size_t equals = text.rfind('=');
  Bar bar;
  bar.least = least;
  if (equals != std::string::npos && equals > 0) {
    bar.metric = text.substr(0, equals);
    const char* end = text.data() + text.size();
    const auto [rest, error] =
        std::from_chars(text.data() + equals + 1, end, bar.limit);
    if (error == std::errc{} && rest == end && std::isfinite(bar.limit))
      return bar;
  }
  throw Error{Code::kUsage,
              option + ": want METRIC=NUMBER, got '" + text + "'"};
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
