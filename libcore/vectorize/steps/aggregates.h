// Reductions of values: "sum(price * count)".

#ifndef DL_LIBCORE_VECTORIZE_STEPS_AGGREGATES_H_
#define DL_LIBCORE_VECTORIZE_STEPS_AGGREGATES_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "libcore/vectorize/steps/formula.h"

namespace dl::vectorize {

struct TakenValue {
  Value value;
  std::string_view text;  // of it
};

// All that is held of a group.
class Reduced {
 public:
  virtual ~Reduced() = default;
  virtual void take(const TakenValue& taken) = 0;
  virtual Value result() const = 0;
};

class Aggregate {
 public:
  // Throws Error: kConfig, it is none: "want sum(x), mean(x), ...".
  Aggregate(const std::string& text, StepColumns& columns);

  ValueType type() const { return type_; }  // of the result
  std::unique_ptr<Reduced> start() const;
  // Throws Error: kData, as Formula::run().
  TakenValue value(Cells row, Scratch& scratch) const;

 private:
  std::size_t kind_ = 0;            // in the list of aggregates
  std::optional<Formula> formula_;  // none: of count()
  ValueType type_ = ValueType::kNumber;
};

// "sum, mean, ...", for messages and pages.
std::string names_of_aggregates();

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_STEPS_AGGREGATES_H_
