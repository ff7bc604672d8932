// Looks at DataSet streams without making new ones: dl-shard's --verify,
// --info and --head.  Everything is read once, record by record.

#ifndef DL_LIBCORE_DATA_SHARDING_INSPECT_H_
#define DL_LIBCORE_DATA_SHARDING_INSPECT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/data/format/dataset.h"
#include "libcore/data/format/metadata.h"

namespace dl::data {

struct Verdict {
  std::string name;   // the source spec
  std::string error;  // why it is damaged; empty: every byte was checked
  Code code = Code::kData;
  std::int64_t records = 0, examples = 0;
};

// Reads the whole of one source: every record, every end mark, every digest.
Verdict verify(const std::string& spec);

// Description of the sources, taken as one data set: examples, records, bytes,
// schema, classes with counts, statistics, provenance, each input's share, and
// the shards that are missing. Throws Error as StreamReader, Metadata::join()
// and check_sets() do.
Json describe(const std::vector<std::string>& specs);
// The same for people, several lines.
std::string describe_text(const Json& description);

// One example as {"features": ..., "labels": ...}: nested arrays, scalars for
// rank 0, null for what is not finite, text for "id"; "class" names an integer
// label.  Throws Error: kData, there are too many values.
Json example_to_json(const DataSet& set, std::int64_t i,
                     const Metadata& metadata);

// Calls `take` with the first `count` examples of the sources, in pieces.
void head(const std::vector<std::string>& specs, std::int64_t count,
          const std::function<void(const DataSet&, const Metadata&)>& take);

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_SHARDING_INSPECT_H_
