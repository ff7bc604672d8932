// The rule by which an example goes to a part of a split.

#ifndef DL_LIBCORE_DATA_SHARDING_SPLIT_H_
#define DL_LIBCORE_DATA_SHARDING_SPLIT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libcore/data/format/metadata.h"
#include "libcore/data/sharding/group.h"
#include "libcore/data/sharding/systematic.h"

namespace dl::data {

// The parts of a split and where each ends in [0, 1]: "train=0.8,test=0.2"
// gives {"train", 0.8}, {"test", 1}.  Throws Error{kUsage}.
struct SplitPart {
  std::string name;
  double end;
};
std::vector<SplitPart> parse_split(const std::string& text);
// Parts of one size, "fold1" to "fold5"; of ten or more, "fold01".
std::vector<SplitPart> folds_of(std::int64_t count);

// The rule that decides: a hash of an example's values, so that no example
// moves when others are added; or one of these.
struct SplitRule {
  bool stratify = false;   // each part has its share of every class, to within
                           // rounding
  std::string group = {};  // a hash of what examples have in common, group.h
  bool in_order = false;   // the first part has the first examples, and so on
  bool folds = false;      // parts of one size, to within one: of each class
                           // where `stratify` is, too
};

class Splitter {
 public:
  // data: of the examples.  total: how many there are, where they are split in
  // order.
  // Throws Error: kUsage, stratified without class numbers for labels; there is
  // no such group.
  Splitter(std::vector<SplitPart> parts, std::uint64_t seed,
           const SplitRule& rule, const Metadata& data, std::int64_t total = 0);

  // The part of example i of `set`, whose bytes are `row` (data/rows.h).  Call
  // it once for each example, in order.
  std::size_t part_of(const DataSet& set, std::int64_t i,
                      std::span<const std::byte> row);
  const std::string& name(std::size_t part) const { return parts_[part].name; }

 private:
  struct ClassFolds {  // of the examples of one class
    std::int64_t seen = 0;
    std::vector<std::size_t> order;  // of the next as many as there are folds
  };
  std::size_t by_hash(std::span<const std::byte> row) const;
  std::size_t by_group(const DataSet& set, std::int64_t i) const;
  std::size_t at(std::uint64_t hash) const;
  std::size_t in_order();
  std::size_t by_class(std::int64_t label);
  std::size_t fold_of(std::int64_t label);

  std::vector<SplitPart> parts_;
  std::uint64_t seed_;
  SplitRule rule_;
  std::optional<ExampleGroup> group_;
  std::int64_t total_, seen_ = 0;
  std::map<std::string, Field> schema_;
  std::map<std::int64_t, std::vector<SystematicSample>> classes_;
  std::map<std::int64_t, ClassFolds> folds_;
  std::vector<std::int64_t> sizes_;  // of the folds so far
};

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_SHARDING_SPLIT_H_
