#include "libcore/vectorize/bad_records.h"

#include "libcore/base/error.h"

namespace dl::vectorize {

void BadRecords::add(const std::string& what) {
  ++count_;
  if (tell_) tell_(what);
  if (count_ > max_) {
    if (max_ == 0) throw Error{Code::kData, what};
    throw Error{Code::kData, what + " (bad record number " +
                                 std::to_string(count_) + ", --max-bad is " +
                                 std::to_string(max_) + ")"};
  }
  if (examples_.size() < kExamples) examples_.push_back(what);
}

}  // namespace dl::vectorize
