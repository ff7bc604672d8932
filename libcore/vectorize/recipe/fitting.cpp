#include "libcore/vectorize/recipe/fitting.h"

#include <algorithm>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/learner.h"
#include "libcore/vectorize/schema.h"

namespace dl::vectorize {
namespace {

// The vectorizers of a recipe that learn, in its order.
struct Learning {
  explicit Learning(const Recipe& recipe) {
    for (const RecipeTensor& tensor : recipe.tensors)
      for (const RecipePart& part : tensor.parts)
        learners.push_back(part.type->fit == nullptr
                               ? nullptr
                               : part.type->fit(part.settings()));
  }
  // Of vectorizers that lack nothing.
  void check_rest(const Recipe& recipe) const {
    std::size_t i = 0;
    for (const RecipeTensor& tensor : recipe.tensors)
      for (const RecipePart& part : tensor.parts)
        if (learners[i++] == nullptr) try {
            (void)record_examples(
                1,
                {{tensor.name, part.type->make(part.settings(), {})->field()}});
          } catch (const Error& e) {
            throw Error{Code::kConfig, part.place + ": " + e.what()};
          }
  }
  bool any() const {
    return std::ranges::any_of(learners,
                               [](const auto& f) { return f != nullptr; });
  }
  void see(const Record& record) {
    for (const auto& learner : learners)
      if (learner) learner->see(record);
  }
  Json state() const {
    Json all = Json::array();
    for (const auto& learner : learners)
      all.push_back(learner ? learner->state() : Json());
    return all;
  }
  void merge(const Json& state) {
    if (!state.is_array() || state.size() != learners.size())
      bad_data("it is no fitted recipe, or a damaged one");
    for (std::size_t i = 0; i < learners.size(); ++i)
      if (learners[i]) learners[i]->merge(state[i]);
  }
  Json finished(Recipe recipe) const {
    std::size_t i = 0;
    for (RecipeTensor& tensor : recipe.tensors)
      for (RecipePart& part : tensor.parts)
        if (const auto& learner = learners[i++]) learner->finish(part.given);
    Json json = recipe.to_json();
    json["fit"] = state();
    return json;
  }

  std::vector<std::unique_ptr<Learner>> learners;
};

Recipe recipe_of(const Json& json, const std::string& name) {
  return Recipe::from_json(json, name, Code::kData);
}

// The recipe as it was before the fit.
Recipe unfitted(const Json& json, const std::string& name) {
  Recipe recipe = recipe_of(json, name);
  const Json states = json.value("fit", Json::array());
  std::size_t i = 0;
  for (RecipeTensor& tensor : recipe.tensors)
    for (RecipePart& part : tensor.parts) {
      if (states.is_array() && i < states.size() && !states[i].is_null())
        for (const char* key : {"fills", "classes"}) part.given.erase(key);
      ++i;
    }
  return recipe;
}

}  // namespace

Json fit_recipe(const Recipe& recipe, const std::vector<std::string>& operands,
                BadRecords& bad) {
  Learning learning(recipe);
  learning.check_rest(recipe);
  if (!learning.any())
    bad_usage(recipe.name +
              " has nothing to learn; categories as one_hot do, and "
              "missing numbers by mean, median or most_frequent");
  const auto source = recipe.open(Inputs{.operands = operands});
  std::int64_t records = 0;
  for (Record record; source->next(record);) try {
      if (!record.problem.empty()) bad_data(record.problem);
      learning.see(record);
      ++records;
    } catch (const Error& e) {
      if (e.code() != Code::kData) throw;
      bad.add(record.name + ": " + e.what());
    }
  if (records == 0) bad_data("the input has no records to learn from");
  return learning.finished(recipe);
}

Json merge_fits(const std::vector<Json>& fitted,
                const std::vector<std::string>& names) {
  const Recipe recipe = unfitted(fitted.at(0), in_quotes(names[0]));
  Learning learning(recipe);
  for (std::size_t i = 0; i < fitted.size(); ++i) {
    if (unfitted(fitted[i], in_quotes(names[i])).to_json() != recipe.to_json())
      bad_data(in_quotes(names[i]) + " is a fit of another recipe than " +
               in_quotes(names[0]));
    try {
      learning.merge(fitted[i].value("fit", Json()));
    } catch (Error& e) {
      e.add_context(in_quotes(names[i]));
      throw;
    }
  }
  return learning.finished(recipe);
}

}  // namespace dl::vectorize
