// The records of a set of shards: read from files where this host has them,
// sent by the master where not, put into the order of all shards, and kept
// unpacked as long as there is room.

#ifndef DL_LIBCORE_CLUSTER_LOADING_RECORD_STORE_H_
#define DL_LIBCORE_CLUSTER_LOADING_RECORD_STORE_H_

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/base/log.h"
#include "libcore/cluster/protocol/message.h"
#include "libcore/data/format/dataset.h"
#include "libcore/data/format/shard.h"

namespace dl::cluster {

// A packed record from the master (data/format/shard.h).
using FetchRecord = std::function<std::vector<std::byte>(std::uint32_t shard,
                                                         std::uint32_t record)>;

// Throws Error: kData.
using CheckRecord = std::function<void(const data::DataSet& record)>;

// Error of a record that is of no use, wherever it came from.
struct BadRecord : Error {
  BadRecord(const Error& error, std::uint32_t the_shard,
            std::uint32_t the_record)
      : Error(error), shard(the_shard), record(the_record) {}
  std::uint32_t shard, record;
};

// Prepares a record for the network, in the common order of all shards.
// Throws Error: kData, "'x.dls', record 17: ...", it does not fit.
void prepare_record(const ShardInfo& info, std::uint32_t record,
                    data::DataSet& set, const CheckRecord& check);

// Opens the file of a shard if it may and can be used: a regular file that
// lies below data_root once links are followed, with the digest and records
// that `info` tells.  Otherwise nothing, and `why` says what is wrong.
std::optional<data::Shard> open_local(const ShardInfo& info,
                                      const std::string& data_root,
                                      std::string& why);

// Used by one thread at a time.
class RecordStore {
 public:
  // cache_bytes bounds the unpacked records that are kept; the last one given
  // out is always kept.  check: throws what get() throws of a record that
  // cannot be used, which get() names.
  RecordStore(std::vector<ShardInfo> shards, const std::string& data_root,
              FetchRecord fetch, std::size_t cache_bytes, Log log,
              CheckRecord check = {});

  // The shards that this host cannot open.
  std::vector<std::uint32_t> unreadable() const;

  // A file that fails in the middle of a run, or has a record that does not
  // fit, is given up for good, with a warning, and its records are fetched.
  // Throws BadRecord: "'x.dls', record 17: ...", the master's copy is damaged
  // as well, or missing; and Error: kTryAgain, what `fetch` throws.
  std::shared_ptr<const data::DataSet> get(std::uint32_t shard,
                                           std::uint32_t record);

 private:
  using Key = std::pair<std::uint32_t, std::uint32_t>;
  struct Kept {
    Key key;
    std::shared_ptr<const data::DataSet> set;
    std::size_t bytes;
  };
  data::DataSet load(std::uint32_t shard, std::uint32_t record);
  data::DataSet load_fetched(std::uint32_t shard, std::uint32_t record);
  void keep(const Key& key, std::shared_ptr<const data::DataSet> set);

  std::vector<ShardInfo> shards_;
  std::vector<std::optional<data::Shard>> files_;
  FetchRecord fetch_;
  std::size_t cache_bytes_;
  Log log_;
  CheckRecord check_;

  std::list<Kept> kept_;  // records kept, the last used first
  std::map<Key, std::list<Kept>::iterator> index_;
  std::size_t bytes_ = 0;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_LOADING_RECORD_STORE_H_
