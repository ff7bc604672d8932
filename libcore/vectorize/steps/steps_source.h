// Records of a table, with the steps of a recipe applied to them.

#ifndef DL_LIBCORE_VECTORIZE_STEPS_STEPS_SOURCE_H_
#define DL_LIBCORE_VECTORIZE_STEPS_STEPS_SOURCE_H_

#include <memory>
#include <string>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/vectorize/source/record_source.h"
#include "libcore/vectorize/steps/step.h"

namespace dl::vectorize {

struct RecipeStep {
  const StepType* type;
  Json given;         // its object, as the recipe has it
  std::string place;  // as messages call it: "'r.json': steps[2]"

  RecipeSettings settings() const { return {given, type->keys}; }
};

// Steps at work, between the columns of an input and those that vectorizers
// want.
class StepChain {
 public:
  // wanted: by vectorizers; more: by others, which are not wanted this time, as
  // labels are not for predictions.
  // Throws Error: kConfig, "'r.json': steps[2]: ...".
  StepChain(const std::vector<RecipeStep>& steps,
            const std::vector<WantedColumn>& wanted,
            const std::vector<WantedColumn>& more = {});

  // The columns of the input that it takes.
  std::vector<WantedColumn> taken() const;
  std::unique_ptr<RecordSource> over(std::unique_ptr<RecordSource> source) &&;
  // Another one of the same steps.
  StepChain again() const { return {given_, wanted_, more_}; }

  // Columns of the records that come out: with the place where that is wanted.
  std::vector<std::string> made_names() const;
  // Columns that come out, and new ones that the input may not have.
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<StepColumns::Taken>& added() const {
    return columns_.added();
  }
  // Whether each row is made of one row of the input alone.
  bool is_row_wise() const;
  const std::string& step_name(std::size_t i) const { return steps_[i].name; }

 private:
  friend class StepRun;
  struct BoundStep {
    std::unique_ptr<Step> step;
    std::string place, name;  // "'r.json': steps[2]", "steps[2]"
    std::vector<std::size_t> reads, makes;
    bool is_used = true;
  };
  void find_unused(const std::vector<bool>& asked,
                   const std::vector<bool>& of_more);

  std::vector<RecipeStep> given_;
  std::vector<WantedColumn> wanted_, more_;
  StepColumns columns_;
  std::vector<BoundStep> steps_;
  std::vector<bool> needed_;        // slots
  std::vector<std::string> names_;  // of the columns that are wanted
  std::vector<std::size_t> slots_;  // and where a row has them
  bool wants_place_ = false;        // kPlaceColumn as well
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_STEPS_STEPS_SOURCE_H_
