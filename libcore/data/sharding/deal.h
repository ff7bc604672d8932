// Deals DataSet streams out into shards: what dl-shard(1) does.
//
// One pass reads the input into a spool and gathers statistics; a second
// writes the shards, whose first record has the statistics of all.  Shards
// appear under their names when all of them are complete.  The bytes depend on
// the input and the options alone, not on the memory allowed.

#ifndef DL_LIBCORE_DATA_SHARDING_DEAL_H_
#define DL_LIBCORE_DATA_SHARDING_DEAL_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "libcore/base/log.h"
#include "libcore/data/format/metadata.h"
#include "libcore/data/sharding/split.h"

namespace dl::data {

struct DealOptions {
  std::string prefix = "shard";
  std::int64_t shards = 1;  // of each part
  std::uint64_t size = 0;   // if not 0: unpacked bytes of a shard instead
  std::int64_t batch = 0;   // examples of a record; 0: as in the input
  bool shuffle = false;
  std::uint64_t seed = 0;  // of shuffle and split
  std::uint64_t memory = std::uint64_t{64} << 20;
  std::string split;               // "train=0.8,test=0.2", or empty
  std::int64_t folds = 0;          // in its place: that many parts, or 0
  SplitRule rule;                  // of both
  std::string balance;             // "over", "under" or empty, balance.h
  Log log = {};                    // is told how it balances
  bool zip = false;                // inputs are sides of a zip, zip.h
  bool force = false;              // overwrite, and remove older shards
  std::optional<Provenance> step;  // appended to the provenance
};

struct Dealt {
  std::string path;
  std::int64_t examples = 0;
};

// Called now and then with the examples read and written so far.
using DealProgress =
    std::function<void(std::int64_t read, std::int64_t written)>;

// Throws Error: kUsage, the options make no sense for the data; kData, the
// input is damaged or has no example; kCantCreate, a shard exists already
// (said before anything is read) or cannot be made; kNoInput, kIo.
std::vector<Dealt> deal(const std::vector<std::string>& inputs,
                        const DealOptions& options,
                        const DealProgress& progress = {});

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_SHARDING_DEAL_H_
