// Class labels: from what a file calls a class to its number, 0..classes-1.

#ifndef DL_LIBCORE_VECTORIZE_CLASS_LABELS_H_
#define DL_LIBCORE_VECTORIZE_CLASS_LABELS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libcore/vectorize/analysis/value_counts.h"

namespace dl::vectorize {

struct HashOfName {
  using is_transparent = void;
  std::size_t operator()(std::string_view name) const {
    return std::hash<std::string_view>()(name);
  }
};
template <typename Number>
using NumbersByName =
    std::unordered_map<std::string, Number, HashOfName, std::equal_to<>>;

class ClassLabels {
 public:
  // spec: "" - classes are numbered as they first appear;
  //       "10" - labels are integers 0..9;
  //       "cat,dog" - these names, in this order.
  // Throws Error: kUsage, a name is empty or given twice.
  explicit ClassLabels(std::string_view spec);
  // These names, each once, in this order; none: as "".
  explicit ClassLabels(const std::vector<std::string>& names);
  // Remedies that messages name: where labels are numbers to predict, and where
  // they are classes of which more are known.
  void set_remedies(std::string numbers, std::string classes) {
    numbers_remedy_ = std::move(numbers);
    classes_remedy_ = std::move(classes);
  }

  // The number of a class; -1 if it is not among those fixed by spec, or, with
  // an open spec, if it cannot be one more: complaint() says why.
  std::int64_t index(std::string_view name);
  // The same where numbers are classes: one class, however it is written, as
  // "1", "+1" and "1.0".
  std::int64_t index_by_value(std::string_view name);
  // Integer labels: with an open spec every number from 0 up to those seen is
  // a class.  -1 if it is out of range.
  std::int64_t index(std::int64_t label);
  // The same class as one of before, for doubt().
  void again() { ++labels_seen_; }
  // The number of a class that is known already, or -1: of fixed classes as
  // index() and index_by_value().  Several threads may call them.
  std::int64_t find(std::string_view name) const;
  std::int64_t find_by_value(std::string_view name) const;

  const std::vector<std::string>& names() const { return names_; }
  bool fixed() const { return fixed_; }
  // "want one of 10 classes ('0' to '9'), got 'x'"; or what keeps it from being
  // a new class.
  std::string complaint(std::string_view got) const;
  // A warning when all labels are known: an open spec made one class of them,
  // or many of numbers, for few labels.  "" if nothing is.
  std::string doubt() const;

 private:
  std::string refusal(std::string_view name) const;  // "": it may be one more
  void add(std::string name);
  bool fixed_ = false;
  // Labels of open classes: those that are numbers, and those of them with a
  // fraction.
  int numbers_seen_ = 0, fractions_seen_ = 0;
  std::int64_t labels_seen_ = 0;  // that are of a class
  std::vector<std::string> names_;
  ValueCounts different_;              // names
  std::vector<std::int64_t> numbers_;  // of each of them
  std::string numbers_remedy_ = "--regression", classes_remedy_ = "--classes";
};

// Names of classes of a part of the input, numbered as they first appear in it.
class PartClasses {
 public:
  std::int32_t number(std::string_view name);
  std::vector<std::string> names() && { return std::move(names_); }

 private:
  std::vector<std::string> names_;
  NumbersByName<std::int32_t> numbers_;
  std::int32_t last_ = -1;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_CLASS_LABELS_H_
