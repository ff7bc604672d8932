// The key of a row: the values of some columns.

#ifndef DL_LIBCORE_VECTORIZE_STEPS_KEY_H_
#define DL_LIBCORE_VECTORIZE_STEPS_KEY_H_

#include <string>
#include <vector>

#include "libcore/vectorize/steps/step.h"

namespace dl::vectorize {

class RowKey {
 public:
  RowKey(const std::vector<std::string>& names, StepColumns& columns) {
    for (const std::string& name : names)
      columns_.push_back(columns.need(name));
  }

  const std::vector<StepColumn>& columns() const { return columns_; }
  // All values, each with its length.
  std::string of(const Row& row) const {
    std::string key;
    for (const StepColumn& column : columns_) {
      const std::string_view text = row.cells[column.slot];
      key.append(std::to_string(text.size())).append(":").append(text);
    }
    return key;
  }

 private:
  std::vector<StepColumn> columns_;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_STEPS_KEY_H_
