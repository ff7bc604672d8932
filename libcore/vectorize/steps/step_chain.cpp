// The steps of a recipe bound to columns, and which of them are of use.

#include <algorithm>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/vectorize/steps/steps_source.h"

namespace dl::vectorize {

StepChain::StepChain(const std::vector<RecipeStep>& steps,
                     const std::vector<WantedColumn>& wanted,
                     const std::vector<WantedColumn>& more)
    : given_(steps), wanted_(wanted), more_(more) {
  for (const RecipeStep& step : steps) try {
      columns_.at(step.place);
      auto made = step.type->make(step.settings(), columns_);
      steps_.push_back({std::move(made), step.place,
                        step.place.substr(step.place.rfind(' ') + 1),
                        columns_.take_reads(), columns_.take_makes()});
    } catch (Error& e) {
      e.add_context(step.place);
      throw;
    }
  std::vector<std::size_t> asked, of_more;
  for (const auto& [list, to] :
       {std::pair{&wanted, &asked}, std::pair{&more, &of_more}})
    for (const WantedColumn& column : *list) {
      if (column.name == kPlaceColumn) {
        wants_place_ = wants_place_ || list == &wanted;
        continue;
      }
      columns_.at(column.by);
      try {
        const std::size_t slot = columns_.need(column.name).slot;
        to->push_back(slot);
        if (list == &wanted &&
            std::ranges::find(names_, column.name) == names_.end()) {
          names_.push_back(column.name);
          slots_.push_back(slot);
        }
      } catch (Error& e) {
        e.add_context(column.by);
        throw;
      }
    }
  (void)columns_.take_reads();
  const auto marks = [&](const std::vector<std::size_t>& slots) {
    std::vector<bool> marked(columns_.slots());
    for (const std::size_t slot : slots) marked[slot] = true;
    return marked;
  };
  find_unused(marks(asked), marks(of_more));
}

// From the last step to the first one: a column is needed by what is used.
void StepChain::find_unused(const std::vector<bool>& asked,
                            const std::vector<bool>& of_more) {
  needed_ = asked;
  std::vector<bool> more = of_more;
  for (std::size_t i = steps_.size(); i-- > 0;) {
    BoundStep& bound = steps_[i];
    const auto makes_any = [&](const std::vector<bool>& of) {
      return std::ranges::any_of(bound.makes,
                                 [&](std::size_t slot) { return of[slot]; });
    };
    const bool only_for_more = std::ranges::any_of(
        bound.reads,
        [&](std::size_t slot) { return more[slot] && !needed_[slot]; });
    if (bound.step == nullptr)
      bound.is_used = false;
    else if (bound.step->only_makes_columns())
      bound.is_used = makes_any(needed_);
    else if (bound.step->only_leaves_out())
      bound.is_used = !only_for_more;
    for (const std::size_t slot : bound.reads) {
      if (bound.is_used) needed_[slot] = true;
      if (makes_any(more)) more[slot] = true;
    }
  }
}

std::vector<WantedColumn> StepChain::taken() const {
  std::vector<WantedColumn> all;
  for (const StepColumns::Taken& taken : columns_.taken())
    if (needed_[taken.slot]) all.push_back({taken.name, taken.by});
  return all;
}

std::vector<std::string> StepChain::made_names() const {
  std::vector<std::string> names = names_;
  if (wants_place_) names.emplace_back(kPlaceColumn);
  return names;
}

bool StepChain::is_row_wise() const {
  return std::ranges::all_of(steps_, [](const BoundStep& bound) {
    return !bound.is_used || bound.step->is_row_wise();
  });
}

}  // namespace dl::vectorize
