// Evaluations chosen by OUTPUT=KIND.

#include "libcore/eval/outputs.h"

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/json.h"

namespace dl::eval {
namespace {

std::string text_of(const Subject& subject, const std::string& kind) {
  return subject.output.empty() ? kind : subject.output + "=" + kind;
}

// Whether an output that is usually evaluated as `usual` says something to an
// evaluation of that kind.
bool suits(std::string_view kind, const std::string& usual,
           const Subject& subject) {
  const Choice own = parse_choice(usual);
  if (kind == own.name()) return true;
  if (own.name() == "regression" || kind == "regression") return false;
  if (kind == "binary") return false;
  if (kind == "classification") return subject.outputs == 1;
  // Outputs with another threshold are no probabilities.
  return kind != "calibration" || own.kind == own.name();
}

}  // namespace

std::string_view Choice::name() const {
  return std::string_view(kind).substr(0, kind.find(':'));
}

Choice parse_choice(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals > text.find(':'))
    return {"", std::string(text)};
  return {std::string(text.substr(0, equals)),
          std::string(text.substr(equals + 1))};
}

std::size_t subject_of(std::string_view text, const Subjects& subjects) {
  const Choice choice = parse_choice(text);
  if (subjects.size() == 1 && choice.output.empty()) return 0;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    if (subjects[i].output == choice.output) return i;
    names.push_back(subjects[i].output);
  }
  const std::string what = "evaluation " + in_quotes(text) + ": ";
  if (subjects.size() == 1)
    throw Error{Code::kUsage, what + "the model has a single output; want '" +
                                  displayed(choice.kind) + "'"};
  if (choice.output.empty())
    throw Error{Code::kUsage, what + "want OUTPUT=" + choice.kind};
  const std::string near = nearest(choice.output, names);
  throw Error{
      Code::kUsage,
      what + "the model has no output " + in_quotes(choice.output) +
          (near.empty() ? "" : "; did you mean '" + displayed(near) + "'?")};
}

std::unique_ptr<Evaluation> make_chosen(std::string_view text,
                                        const Subjects& subjects) {
  return make_evaluation(parse_choice(text).kind,
                         subjects.at(subject_of(text, subjects)));
}

std::vector<std::string> choose(const std::vector<std::string>& asked,
                                const std::vector<std::string>& usual,
                                const Subjects& subjects) {
  std::vector<std::string> all;
  for (std::size_t i = 0; asked.empty() && i < subjects.size(); ++i)
    if (!usual.at(i).empty()) all.push_back(text_of(subjects[i], usual[i]));
  for (const std::string& text : asked) {
    const Choice choice = parse_choice(text);
    if (subjects.size() == 1 || !choice.output.empty()) {
      subject_of(text, subjects);
      all.push_back(text);
      continue;
    }
    const std::size_t before = all.size();
    for (std::size_t i = 0; i < subjects.size(); ++i)
      if (!usual.at(i).empty() && suits(choice.name(), usual[i], subjects[i]))
        all.push_back(text_of(subjects[i], text));
    if (all.size() > before) continue;
    make_evaluation(text, subjects.at(0));  // may have more to say
    throw Error{Code::kUsage, "evaluation '" + displayed(text) +
                                  "' suits none of the outputs; want OUTPUT=" +
                                  text + " if it is meant"};
  }
  return all;
}

}  // namespace dl::eval
