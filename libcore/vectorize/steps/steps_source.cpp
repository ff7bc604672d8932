#include "libcore/vectorize/steps/steps_source.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/number_format.h"

namespace dl::vectorize {

class StepsSource : public RecordSource {
 public:
  StepsSource(StepChain chain, std::unique_ptr<RecordSource> source)
      : chain_(std::move(chain)), source_(std::move(source)) {
    for (const StepColumns::Taken& taken : chain_.columns_.taken())
      if (chain_.needed_[taken.slot]) {
        taken_.emplace_back(taken.name);
        slots_.push_back(taken.slot);
      }
    const std::vector<std::string> there = source_->columns();
    for (const StepColumns::Taken& added : chain_.columns_.added())
      if (std::ranges::find(there, added.name) != there.end())
        bad_data(added.by + ": the table has a column " +
                 in_quotes(added.name) + " already; drop or rename it first");
    std::vector<std::string> names = chain_.names_;
    names.emplace_back(kPlaceColumn);
    names_ = std::make_shared<const ColumnNames>(names);
    std::erase_if(chain_.steps_, [](const auto& s) { return !s.is_used; });
    left_out_.resize(chain_.steps_.size());
    for (std::size_t i = chain_.steps_.size() + 1; i-- > 0;)
      next_.push_back([this, i](Row&& row) { give(std::move(row), i); });
    std::ranges::reverse(next_);
    for (StepChain::BoundStep& bound : chain_.steps_) try {
        bound.step->start(chain_.columns_.slots());
      } catch (Error& e) {
        e.add_context(bound.place);
        throw;
      }
  }

  bool next(Record& record) override {
    while (made_.empty()) {
      if (ended_) return false;
      Record own;
      if (!source_->next(own)) {
        ended_ = true;
        finish();
      } else if (!own.problem.empty()) {
        made_.push_back(std::move(own));
      } else {
        take(std::move(own));
      }
    }
    record = std::move(made_.front());
    made_.pop_front();
    return true;
  }

  PassedOver passed_over() const override { return source_->passed_over(); }
  std::vector<std::string> columns() const override { return chain_.names_; }
  std::string left_out() const override {
    std::string text;
    for (std::size_t i = 0; i < left_out_.size(); ++i)
      if (left_out_[i] > 0)
        text += (text.empty() ? "" : ", ") + counted(left_out_[i], "row") +
                " by " + chain_.steps_[i].name;
    return text.empty() ? "" : "left out: " + text;
  }

 private:
  void take(Record&& record) {
    Row row;
    row.cells.resize(chain_.columns_.slots());
    for (std::size_t i = 0; i < taken_.size(); ++i)
      row.cells[slots_[i]] = taken_[i].of(record);
    row.record = std::move(record);
    give(std::move(row), 0);
  }

  // Gives a row to step i, or out.
  void give(Row&& row, std::size_t i) {
    ++given_;
    if (i == chain_.steps_.size()) return put(std::move(row));
    StepChain::BoundStep& bound = chain_.steps_[i];
    try {
      // Counts the row as left out until it is given on.
      const bool leaves_out = bound.step->only_leaves_out();
      if (leaves_out) ++left_out_[i];
      const std::int64_t before = given_;
      bound.step->take(std::move(row), next_[i + 1]);
      if (leaves_out && given_ != before) --left_out_[i];
    } catch (const Error& e) {
      if (e.code() != Code::kData) throw;
      // A step that throws has not taken the row.
      row.record.problem = std::string(e.what()) + " (" + bound.name + ")";
      made_.push_back(std::move(row.record));
    }
  }

  void put(Row&& row) {
    std::vector<std::string_view> values;
    values.reserve(chain_.slots_.size() + 1);
    for (const std::size_t slot : chain_.slots_)
      values.push_back(row.cells[slot]);
    if (row.record.input)
      values.push_back(row.record.columns.keep(
          place_of(*row.record.input, row.record.line)));
    row.record.columns.rearrange(names_, std::move(values));
    row.record.is_sparse = false;
    made_.push_back(std::move(row.record));
  }

  void finish() {
    for (std::size_t i = 0; i < chain_.steps_.size(); ++i)
      chain_.steps_[i].step->finish(next_[i + 1]);
  }

  StepChain chain_;
  std::unique_ptr<RecordSource> source_;
  std::vector<ColumnOfRecords> taken_;
  std::vector<std::size_t> slots_;  // where a row has them
  std::shared_ptr<const ColumnNames> names_;
  std::vector<Step::Next> next_;  // to step i
  std::deque<Record> made_;
  std::vector<std::int64_t> left_out_;  // rows, by each step
  std::int64_t given_ = 0;              // rows, to any step
  bool ended_ = false;
};

StepChain::StepChain(const std::vector<RecipeStep>& steps,
                     const std::vector<WantedColumn>& wanted,
                     const std::vector<WantedColumn>& more) {
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
      if (column.name == kPlaceColumn) continue;
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

std::unique_ptr<RecordSource> StepChain::over(
    std::unique_ptr<RecordSource> source) && {
  return std::make_unique<StepsSource>(std::move(*this), std::move(source));
}

}  // namespace dl::vectorize
