#include "libcore/vectorize/recipe/fitting.h"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <optional>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/parallel.h"
#include "libcore/io/source.h"
#include "libcore/vectorize/learner.h"
#include "libcore/vectorize/recipe/record_rounds.h"
#include "libcore/vectorize/recipe/records_digest.h"
#include "libcore/vectorize/schema.h"

namespace dl::vectorize {
namespace {

constexpr std::int64_t kFitVersion = 1;

// The vectorizers of a recipe that learn, in its order.
class Learning {
 public:
  explicit Learning(Recipe recipe) : recipe_(std::move(recipe)) {
    for (const RecipeTensor& tensor : recipe_.tensors)
      for (const RecipePart& part : tensor.parts)
        learners_.push_back(part.type->fit == nullptr
                                ? nullptr
                                : part.type->fit(part.settings()));
    knows_.resize(learners_.size());
  }

  bool any() const {
    return std::ranges::any_of(learners_,
                               [](const auto& f) { return f != nullptr; });
  }
  // Checks vectorizers that have nothing to fit.
  void check_rest() {
    std::size_t i = 0;
    for (const RecipeTensor& tensor : recipe_.tensors)
      for (const RecipePart& part : tensor.parts)
        if (learners_[i++] == nullptr) try {
            (void)record_examples(
                1,
                {{tensor.name, part.type->make(part.settings(), {})->field()}});
          } catch (const Error& e) {
            throw Error{Code::kConfig, part.place + ": " + e.what()};
          }
  }

  void see(const Record& record) {
    std::size_t i = 0;
    for (const RecipeTensor& tensor : recipe_.tensors)
      for (const RecipePart& part : tensor.parts) try {
          const std::size_t own = i++;
          if (learners_[own] && !knows_[own]) learners_[own]->see(record);
        } catch (Error& e) {
          if (e.code() == Code::kConfig) e.add_context(part.place);
          throw;
        }
    ++records_;
  }
  // Sees all records of a source that gives rows, each learner on some thread;
  // false: one of them is bad, and what learners know is of no use.  digest: of
  // the records, or null.
  bool see_all(RecordSource& source, RecordsDigest* digest, int threads) {
    ThreadTeam team(threads);
    std::atomic<bool> is_good = true;
    for (RecordRounds rounds(source, team); is_good && rounds.next();)
      // The digest takes as long as some learners, and begins first.
      rounds.side_by_side(learners_.size() + 1, [&](std::size_t i) {
        rounds.each([&](const Record& record) {
          if (!record.problem.empty()) is_good = false;
          if (i == 0) {
            if (digest != nullptr) digest->add(record);
            ++records_;
          } else if (is_good && learners_[i - 1] && !knows_[i - 1]) {
            learners_[i - 1]->see(record);
          }
        });
      });
    return is_good;
  }

  // Learns what it can from a table that was looked at; whether that is all.
  // Throws Error: kData, not all values are as they should be.
  bool learn(const TableProfile& table) {
    bool all = true;
    for (std::size_t i = 0; i < learners_.size(); ++i)
      if (learners_[i]) all = (knows_[i] = learners_[i]->learn(table)) && all;
    return all;
  }

  // Enters an input whose records were seen; false: it was entered already.
  bool enter(const std::string& digest) {
    return inputs_.emplace(digest, 0).second;
  }
  std::int64_t records() const { return records_; }

  // fit: as finished() writes it, of `name`.
  void merge(const JsonView& fit, const std::string& name) {
    fit.only({"version", "records", "inputs", "learned"});
    fit.at("version").integer(kFitVersion, kFitVersion);
    const std::int64_t records = fit.at("records").integer(1, INT64_MAX >> 8);
    for (const std::string& input : fit.at("inputs").strings()) {
      const auto [found, is_new] = inputs_.emplace(input, sources_.size());
      if (!is_new)
        bad_data("it learned from data that " + sources_[found->second] +
                 " learned from, which would count twice");
    }
    sources_.push_back(name);
    const JsonView learned = fit.at("learned");
    if (learned.size() != learners_.size())
      learned.fail("an entry for each vectorizer");
    for (std::size_t i = 0; i < learners_.size(); ++i)
      if (learners_[i])
        learners_[i]->merge(learned.at(i), records);
      else if (!learned.at(i).raw().is_null())
        learned.at(i).fail("null");
    records_ += records;
  }

  // Without "fit".
  Json fitted() const {
    Recipe recipe = recipe_;
    std::size_t i = 0;
    for (RecipeTensor& tensor : recipe.tensors)
      for (RecipePart& part : tensor.parts)
        if (const auto& learner = learners_[i++]) learner->finish(part.given);
    return recipe.to_json(true);
  }

  Json finished() const {
    Json learned = Json::array(), inputs = Json::array();
    for (const auto& learner : learners_)
      learned.push_back(learner ? learner->state() : Json());
    for (const auto& [digest, source] : inputs_) inputs.push_back(digest);
    Json json = fitted();
    json["fit"] = {{"version", kFitVersion},
                   {"records", records_},
                   {"inputs", inputs},
                   {"learned", learned}};
    return json;
  }

 private:
  Recipe recipe_;
  std::vector<std::unique_ptr<Learner>> learners_;
  std::vector<bool> knows_;  // learners that learnt from a table at once
  std::int64_t records_ = 0;
  std::map<std::string, std::size_t> inputs_;  // digests, and whose they are
  std::vector<std::string> sources_;           // of merge()
};

// The recipe as it was before the fit.
Recipe unfitted(const Json& json, const std::string& name) {
  Recipe recipe = Recipe::from_json(json, name, Code::kData);
  const Json fit = json.value("fit", Json());
  if (!fit.is_object() || !fit.contains("learned") ||
      !fit["learned"].is_array())
    bad_data(name + " is no fitted recipe: it has no \"fit\" with \"learned\"");
  std::size_t i = 0;
  for (RecipeTensor& tensor : recipe.tensors)
    for (RecipePart& part : tensor.parts) {
      if (i < fit["learned"].size() && !fit["learned"][i].is_null())
        for (const char* key : {"fill", "fills", "classes", "centers", "scales",
                                "points", "edges"})
          part.given.erase(key);
      ++i;
    }
  return recipe;
}

// The keys that decide on the examples; versions of libraries do not.
Json tensors_of(const Json& recipe) {
  return {{"source", recipe.at("source")},
          {"steps", recipe.value("steps", Json())},
          {"tensors", recipe.at("tensors")}};
}

void each_record(RecordSource& source,
                 const std::function<void(const Record&)>& take) {
  Record record;
  if (!source.gives_rows())
    while (source.next(record)) take(record);
  else
    while (const auto rows = source.next_rows(INT64_MAX))
      while (rows->next(record)) take(record);
}

// Inputs whose records become those of one source.
std::vector<std::vector<std::string>> runs_of(
    const Recipe& recipe, const std::vector<std::string>& operands) {
  // Steps may have rows of all inputs together.
  if (operands.empty()) return {{"-"}};
  if (!recipe.steps.empty()) return {operands};
  std::vector<std::vector<std::string>> runs;
  runs.reserve(operands.size());
  for (const std::string& input : operands) runs.push_back({input});
  return runs;
}

void enter_run(Learning& learning, const RecordsDigest& digest,
               const std::string& input) {
  if (digest.any() && !learning.enter(digest.value()))
    bad_data(in_quotes(input) +
             " has the records of an input before it, which would count twice");
}

// The fit of rows that are all good, by learners side by side; none: some are
// not, or there is another reason to read them one after the other, which tells
// of all that is wrong.
std::optional<Json> fit_good_rows(const Recipe& recipe,
                                  const std::vector<std::string>& operands,
                                  int threads) {
  const bool are_files =
      !operands.empty() &&
      std::ranges::all_of(operands, [](const std::string& input) {
        struct stat status {};
        return io::is_regular(input, status);
      });
  if (!are_files || threads < 2) return std::nullopt;
  try {
    Learning learning(recipe);
    for (const auto& inputs : runs_of(recipe, operands)) {
      const auto source = recipe.open(Inputs{.operands = inputs});
      RecordsDigest digest;
      if (!source->gives_rows() || !learning.see_all(*source, &digest, threads))
        return std::nullopt;
      enter_run(learning, digest, inputs[0]);
    }
    return learning.records() == 0 ? std::nullopt
                                   : std::optional(learning.finished());
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

bool is_to_be_fitted(const Recipe& recipe) { return Learning(recipe).any(); }

Json fit_recipe(const Recipe& recipe, const std::vector<std::string>& operands,
                BadRecords& bad, int threads,
                const std::function<bool(const Record&)>& takes) {
  Learning learning(recipe);
  learning.check_rest();
  if (!takes)
    if (auto fitted = fit_good_rows(recipe, operands, threads))
      return *std::move(fitted);
  for (const auto& inputs : runs_of(recipe, operands)) {
    const auto source = recipe.open(Inputs{.operands = inputs});
    RecordsDigest digest;
    each_record(*source, [&](const Record& record) {
      try {
        digest.add(record);
        if (!record.problem.empty()) bad_data(record.problem);
        if (!takes || takes(record)) learning.see(record);
      } catch (const Error& e) {
        if (e.code() != Code::kData) throw;
        bad.add(record.place() + ": " + e.what());
      }
    });
    enter_run(learning, digest, inputs[0]);
  }
  if (learning.records() == 0)
    bad_data("the input has no records to learn from");
  return learning.finished();
}

Json fit_recipe(const Recipe& recipe, const std::vector<std::string>& operands,
                const TableProfile& profile, BadRecords& bad, int threads) {
  if (!profile.repeated_input.empty())
    bad_data(profile.repeated_input +
             " has the records of an input before it, which would count "
             "twice");
  Learning learning(recipe);
  learning.check_rest();
  try {
    if (learning.learn(profile)) return learning.fitted();
    const auto source = recipe.open(Inputs{.operands = operands});
    if (learning.see_all(*source, nullptr, threads)) return learning.fitted();
  } catch (const Error&) {
    // One row after the other tells what is wrong.
  }
  // A value that is bad for one vectorizer takes its row from the others.
  Json fitted = fit_recipe(recipe, operands, bad, threads);
  fitted.erase("fit");
  return fitted;
}

Json merge_fits(const std::vector<Json>& fitted,
                const std::vector<std::string>& names) {
  const Recipe recipe = unfitted(fitted.at(0), in_quotes(names[0]));
  Learning learning(recipe);
  for (std::size_t i = 0; i < fitted.size(); ++i) {
    const std::string name = in_quotes(names[i]);
    const Recipe own = unfitted(fitted[i], name);
    if (tensors_of(own.to_json(true)) != tensors_of(recipe.to_json(true)))
      bad_data(name + " is a fit of another recipe than " +
               in_quotes(names[0]));
    try {
      const JsonView fit(fitted[i].at("fit"), Code::kData, "fit");
      Learning alone(recipe);
      alone.merge(fit, name);
      if (tensors_of(alone.finished()) !=
          tensors_of(
              Recipe::from_json(fitted[i], name, Code::kData).to_json(true)))
        bad_data(
            "its \"fills\" and \"classes\" are not what its \"fit\" says; it "
            "was edited, or is damaged: fit the data again");
      learning.merge(fit, name);
    } catch (Error& e) {
      e.add_context(name);
      throw;
    }
  }
  return learning.finished();
}

void check_fit(const Json& recipe, const std::string& name) {
  if (!recipe.contains("fit")) return;
  std::size_t vectorizers = 0;
  for (const RecipeTensor& tensor : unfitted(recipe, in_quotes(name)).tensors)
    vectorizers += tensor.parts.size();
  if (recipe["fit"]["learned"].size() == vectorizers)
    (void)merge_fits({recipe}, {name});
}

}  // namespace dl::vectorize
