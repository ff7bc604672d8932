// The shards of a run as the master sees them.
//
// A file stays where it is: workers that have it under the same path read it
// themselves.  Data that come as a stream ("-", "pipe:...") is written into the
// run directory first.  Records are read again only for workers that cannot
// open the file.

#ifndef DL_LIBCORE_CLUSTER_LOADING_MASTER_DATA_H_
#define DL_LIBCORE_CLUSTER_LOADING_MASTER_DATA_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/json.h"
#include "libcore/base/log.h"
#include "libcore/cluster/loading/odd_values.h"
#include "libcore/cluster/loading/record_store.h"
#include "libcore/cluster/protocol/message.h"
#include "libcore/data/epoch.h"
#include "libcore/data/format/metadata.h"
#include "libcore/data/format/shard.h"
#include "libcore/io/temporary.h"

namespace dl::cluster {

class MasterData {
 public:
  // operands: files, patterns and streams.  spool: start of the names of files
  // that take up streams, "m.run/data-train"; they have them after keep() only,
  // and are removed with the object without it.  like: what the shards are put
  // into the order of, given the first one, which orders what that has no names
  // for.
  // check: looks at what each shard says of itself.  log: told what is put
  // right.
  // Throws Error: kNoInput, kData, a shard is missing, damaged, or does not go
  // with the others; kIo.
  using Like = std::function<data::Metadata(const data::Metadata& first)>;
  using Check = std::function<void(const data::Metadata& own)>;
  MasterData(const std::vector<std::string>& operands, const std::string& spool,
             const Like& like, const Check& check, const Log& log);

  // Renames the files of streams to their names, replacing older files.
  // Throws Error: kCantCreate, kIo.
  void keep();

  // Metadata of all shards, in their common order.
  const data::Metadata& metadata() const { return metadata_; }
  const std::vector<ShardInfo>& shards() const { return shards_; }
  data::Catalogue catalogue() const;
  std::int64_t examples() const { return catalogue().examples(); }

  // A packed record for a worker, as its shard's metadata describe it.
  // Throws Error: kProtocol, there is none; kNoInput, kData, kIo.
  std::vector<std::byte> record(std::uint32_t shard, std::uint32_t record);

  // Looks at a record as a worker does.  Throws Error: kData, the record is of
  // no use; kProtocol, there is none; kNoInput, kIo.
  void examine(std::uint32_t shard, std::uint32_t record,
               const CheckRecord& check);

  // Whether one of the examples of a record is out of all proportion to others
  // of the data: "'x.dls', record 17, example 3: ..."; "": none.
  // Throws as examine().
  std::string odd_values(const data::ExampleRun& piece);

  // Digests of the contents, for run.json.
  Json to_json() const;
  // A run that goes on names a shard as it did when it began, if its records
  // are the same.  before: what to_json() was then.
  void name_as(const Json& before);

 private:
  const data::Shard& open(std::uint32_t shard, std::uint32_t record);
  void add(const std::string& path, const std::string& shown, const Like& like,
           const Check& check);
  const std::string& file_of(std::uint32_t shard) const;

  data::Metadata metadata_, like_;
  std::vector<ShardInfo> shards_;
  std::vector<Json> named_;  // names of shards, for to_json()
  struct Spooled {
    std::unique_ptr<io::Temporary> file;
    std::string name;
    std::size_t shard;
  };
  std::vector<Spooled> spooled_;
  // State of the shard that was read last.
  std::unique_ptr<data::Shard> open_;
  std::uint32_t open_index_ = 0;
  // Pairs of shard and record.
  std::set<std::pair<std::uint32_t, std::uint32_t>> checked_;
  std::optional<OddValues> usual_;  // made when first asked for
};

// 0 without.
inline std::int64_t examples_in(const std::unique_ptr<MasterData>& data) {
  return data ? data->examples() : 0;
}

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_LOADING_MASTER_DATA_H_
