// Streams joined example by example into a MultiDataSet.

#ifndef DL_LIBCORE_DATA_SHARDING_ZIP_H_
#define DL_LIBCORE_DATA_SHARDING_ZIP_H_

#include <memory>
#include <string>
#include <vector>

#include "libcore/data/format/stream.h"

namespace dl::data {

// One side of a zip, as it is named: "left=a.dls" has all tensors of a.dls as
// features/left, labels/left and so on, "labels/same=b.dls" the labels of b.dls
// alone, "features=c.dls" its features, without a name.  The input after '='
// may be a pattern: then its files come one after the other.
struct ZipSide {
  std::string kind;  // "features", "labels", or "" for all
  std::string name;
  std::vector<std::string> specs;
};
// Throws Error: kUsage, "'a.dls': want NAME=INPUT"; kNoInput, no such file.
ZipSide parse_zip_side(const std::string& operand);

// Reads like a StreamReader.
class ZipReader {
 public:
  // Throws Error: kUsage, two sides give one tensor; what StreamReader throws.
  explicit ZipReader(std::vector<ZipSide> sides);
  ~ZipReader();

  // Metadata of all sides, by their names; example names and numbers are those
  // of the first side that has some.
  const Metadata& metadata() const;
  // As many examples as all sides have at hand; false at the end of all.
  // Throws Error: kData, "'b.dls' ends after 90 examples, 'a.dls' has more", or
  // two sides call an example by different ids.
  bool read(DataSet& set);
  void close() {}            // each stream is closed at its end
  std::string name() const;  // of all sides
  std::int64_t examples() const { return examples_; }

 private:
  class Side;
  void join_metadata();

  std::vector<std::unique_ptr<Side>> sides_;
  Metadata metadata_;
  std::int64_t examples_ = 0;
};

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_SHARDING_ZIP_H_
