// The shards of a run as the master sees them.
//
// A file stays where it is: workers that have it under the same path read it
// themselves.  What comes as a stream ("-", "pipe:...") is written into the run
// directory first.  Records are read again only for workers that cannot open
// the file.

#ifndef DL_LIBCORE_CLUSTER_MASTER_DATA_H_
#define DL_LIBCORE_CLUSTER_MASTER_DATA_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/base/log.h"
#include "libcore/cluster/message.h"
#include "libcore/data/epoch.h"
#include "libcore/data/metadata.h"
#include "libcore/data/shard.h"

namespace dl::cluster {

class MasterData {
 public:
  // operands: files, patterns and streams.  spool: start of the names of files
  // that take up streams, "m.run/data-train".  like: what the shards are put
  // into the order of; without, or as far as it has no names, the first one.
  // log: told what is put right.
  // Throws Error: kNoInput, kData, a shard is missing, damaged, or does not go
  // with the others; kIo.
  MasterData(const std::vector<std::string>& operands, const std::string& spool,
             const data::Metadata& like, const Log& log);

  // Of all shards, in their common order.
  const data::Metadata& metadata() const { return metadata_; }
  const std::vector<ShardInfo>& shards() const { return shards_; }
  data::Catalogue catalogue() const;
  std::int64_t examples() const { return catalogue().examples(); }

  // A packed record for a worker, which is as its shard's metadata say.
  // Throws Error: kProtocol, there is none; kNoInput, kData, kIo.
  std::vector<std::byte> record(std::uint32_t shard, std::uint32_t record);

  // What names the contents: for run.json.
  Json to_json() const;

 private:
  void add(const std::string& path);

  data::Metadata metadata_, like_;
  std::vector<ShardInfo> shards_;
  // The shard that was read last.
  std::unique_ptr<data::Shard> open_;
  std::uint32_t open_index_ = 0;
  std::set<std::pair<std::uint32_t, std::uint32_t>> checked_;  // shard, record
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_DATA_H_
