// The step group_by: a row for each key.

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/vectorize/steps/aggregates.h"
#include "libcore/vectorize/steps/key.h"
#include "libcore/vectorize/steps/step.h"

namespace dl::vectorize {
namespace {

class GroupByStep : public Step {
 public:
  GroupByStep(const RecipeSettings& settings, StepColumns& columns)
      : key_(settings.list("group_by"), columns) {
    std::vector<std::string> kept = settings.list("group_by");
    for (const auto& [name, text] : settings.text_map("take")) {
      aggregates_.emplace_back(text, columns);
      kept.push_back(name);
    }
    std::size_t i = 0;
    for (const auto& [name, text] : settings.text_map("take")) {
      for (const StepColumn& column : key_.columns())
        if (column.name == name)
          bad_config("\"take\" makes a column '" + name +
                     "', which is one of the key");
      slots_.push_back(columns.make(name, aggregates_[i++].type()));
    }
    columns.keep(kept);
  }

  void take(Row&& row, const Next&) override {
    // All of them first: a bad row counts for none.
    scratch_.reset();
    taken_.clear();
    for (const Aggregate& aggregate : aggregates_)
      taken_.push_back(aggregate.value(row.cells, scratch_));
    const auto [found, is_new] = places_.emplace(key_.of(row), groups_.size());
    if (is_new) {
      Group& group = groups_.emplace_back();
      for (const Aggregate& aggregate : aggregates_)
        group.values.push_back(aggregate.start());
      group.row.record.input = row.record.input;
      group.row.record.line = row.record.line;
      group.row.cells.resize(row.cells.size());
      for (const StepColumn& column : key_.columns())
        group.row.set(column.slot, row.cells[column.slot]);
    }
    Group& group = groups_[found->second];
    for (std::size_t i = 0; i < aggregates_.size(); ++i)
      group.values[i]->take(taken_[i]);
  }

  void finish(const Next& next) override {
    for (Group& group : groups_) {
      for (std::size_t i = 0; i < aggregates_.size(); ++i) {
        scratch_.reset();
        group.row.set(slots_[i], text_of(group.values[i]->result(),
                                         aggregates_[i].type(), scratch_));
      }
      next(std::move(group.row));
    }
    groups_.clear();
  }

 private:
  struct Group {
    Row row;  // its key
    std::vector<std::unique_ptr<Reduced>> values;
  };
  RowKey key_;
  std::vector<Aggregate> aggregates_;
  std::vector<std::size_t> slots_;  // of their results
  std::vector<Group> groups_;       // as their keys first appear
  std::unordered_map<std::string, std::size_t> places_;
  std::vector<TakenValue> taken_;  // of the row at work
  Scratch scratch_;
};

}  // namespace

extern const StepType group_by_step;
const StepType group_by_step = {
    .name = "group_by",
    .words =
        "A row for each key, in the order in which they first appear; "
        "other columns are gone.",
    .keys = {{"group_by", KeyKind::kColumns, "", "The columns of the key."},
             {"take", KeyKind::kTextMap, "",
              "The columns to make, each with a reduction of a column or "
              "formula: *count*() of rows, *count* of values that are not "
              "missing, *nunique*, *first*, *last*, *sum*, *mean*, *min*, "
              "*max*, *median*, *std*, *var* (of a sample) and *prod*, as "
              "{\"spent\": \"sum(price)\"}. Missing values are passed "
              "over; of none but missing ones the result is missing."}},
    .make = [](const RecipeSettings& settings,
               StepColumns& columns) -> std::unique_ptr<Step> {
      return std::make_unique<GroupByStep>(settings, columns);
    }};

}  // namespace dl::vectorize
