// The columns of a table between two steps of a recipe: where a row has each of
// them, and its type.

#ifndef DL_LIBCORE_VECTORIZE_STEPS_STEP_COLUMNS_H_
#define DL_LIBCORE_VECTORIZE_STEPS_STEP_COLUMNS_H_

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/vectorize/steps/value.h"

namespace dl::vectorize {

struct StepColumn {
  std::string name;
  ValueType type = ValueType::kAny;
  std::size_t slot = 0;  // in a row
};

class StepColumns {
 public:
  // A column that something takes of the input or adds to it, and where a row
  // has it.
  struct Taken {
    std::string name, by;
    std::size_t slot;
  };

  // The steps that come now are messages' `place`: "'r.json': steps[2]".
  void at(std::string place) { place_ = std::move(place); }

  // The column of that name, of the input where no step made it.
  // Throws Error: kConfig, a step took it away; did you mean ...?
  StepColumn need(const std::string& name);
  bool has(std::string_view name) const { return find(name) != nullptr; }
  // A new column, or another one in place of that of this name.
  std::size_t make(const std::string& name, ValueType type);
  // A new column, where there is none of this name.
  // Throws Error: kConfig, a step made or read one.
  std::size_t add(const std::string& name, ValueType type);
  void remove(const std::string& name);
  void rename(const std::map<std::string, std::string>& names);
  // Keeps these alone; all others are gone.
  void keep(const std::vector<std::string>& names);

  // Columns that the step at work read and made, which are forgotten.
  std::vector<std::size_t> take_reads();
  std::vector<std::size_t> take_makes();

  const std::vector<StepColumn>& all() const { return columns_; }
  const std::vector<Taken>& taken() const { return taken_; }
  // New columns that the input may not have.
  const std::vector<Taken>& added() const { return added_; }
  std::size_t slots() const { return slots_; }

 private:
  const StepColumn* find(std::string_view name) const;

  std::string place_;
  std::vector<StepColumn> columns_;  // that are known by now
  std::vector<Taken> taken_, added_;
  std::map<std::string, std::string> gone_;  // columns, and the step that took
  std::string closed_by_;  // the step that kept nothing else, or ""
  std::size_t slots_ = 0;
  std::vector<std::size_t> reads_, makes_;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_STEPS_STEP_COLUMNS_H_
