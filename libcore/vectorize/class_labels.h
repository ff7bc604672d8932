// Class labels: from what a file calls a class to its number, 0..classes-1.

#ifndef DL_LIBCORE_VECTORIZE_CLASS_LABELS_H_
#define DL_LIBCORE_VECTORIZE_CLASS_LABELS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dl::vectorize {

class ClassLabels {
 public:
  // spec: "" - classes are numbered as they first appear;
  //       "10" - labels are integers 0..9;
  //       "cat,dog" - these names, in this order.
  // Throws Error: kUsage, a name is empty or given twice.
  explicit ClassLabels(std::string_view spec);

  // The number of a class; -1 if it is not among those fixed by spec.
  std::int64_t index(std::string_view name);
  // Integer labels: with an open spec every number from 0 up to those seen is
  // a class.  -1 if it is out of range.
  std::int64_t index(std::int64_t label);

  const std::vector<std::string>& names() const { return names_; }
  bool fixed() const { return fixed_; }
  // "want one of the 10 classes '0', '1', ..., got 'x'"
  std::string complaint(std::string_view got) const;

 private:
  void add(std::string name);
  bool fixed_ = false;
  std::vector<std::string> names_;
  std::map<std::string, std::int64_t, std::less<>> numbers_;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_CLASS_LABELS_H_
