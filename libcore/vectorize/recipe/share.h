// Splits: records go to parts of a data set by a hash of their names, so that
// each stays in its part whatever others come or go.

#ifndef DL_LIBCORE_VECTORIZE_RECIPE_SHARE_H_
#define DL_LIBCORE_VECTORIZE_RECIPE_SHARE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "libcore/vectorize/record.h"
#include "libcore/vectorize/table/pattern.h"

namespace dl::vectorize {

// Ways to cut a table of series into shares.
enum class SeriesCut {
  kTime,   // by time; windows begin to predict in their share
  kBlock,  // by time; all rows of a window are in its share
  kKey     // whole series
};

// The records whose hash, 0 to 1, is from `low` on and below `high`.
struct Share {
  double low = 0, high = 1;
  SeriesCut cut = SeriesCut::kTime;
  // The part of the name that is hashed, so that records stay together; null:
  // all of it.
  std::shared_ptr<const Pattern> group = nullptr;

  // The name is the column "path" or "key".  Without that part it is a bad
  // record, of the share of its whole name.
  bool has(Record& record) const;
};

struct NamedShare {
  std::string name;
  Share share;
};

// "train=0.8,test=0.2", which make 1 together; pattern: of the group, or "".
// Throws Error: kUsage.
std::vector<NamedShare> parse_split(const std::string& text,
                                    const std::string& pattern,
                                    SeriesCut cut = SeriesCut::kTime);

// Shares of one size for cross-validation, "fold1" and so on.
std::vector<NamedShare> folds_of(std::int64_t count, SeriesCut cut);

// "photos-train.dls" of "photos.dls".
std::string output_of_share(const std::string& output, const std::string& name);

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_RECIPE_SHARE_H_
