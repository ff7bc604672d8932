// Records for members that cannot open a shard themselves.

#ifndef DL_LIBCORE_CLUSTER_MASTER_LINK_RECORD_SERVER_H_
#define DL_LIBCORE_CLUSTER_MASTER_LINK_RECORD_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "libcore/cluster/master/run_context.h"

namespace dl::cluster {

class RecordServer {
 public:
  // record: returns a record's bytes; throws Error if it cannot be read.
  RecordServer(RunContext& context,
               std::function<std::vector<std::byte>(const Fetch&)> record)
      : context_(context), record_(std::move(record)) {}

  // Throws Error: kProtocol, there is no such record, or the member asks for
  // more records than it takes.
  void take(Member& member, const Fetch& fetch);
  // Throws Error: kProtocol, there is no such record.
  void require_record(bool evaluation, std::uint32_t shard,
                      std::uint32_t record) const;
  // Serves members that have taken their last record.
  void tick();

 private:
  void serve(Member& member);
  void serve(Member& member, const Fetch& fetch);

  RunContext& context_;
  std::function<std::vector<std::byte>(const Fetch&)> record_;
  std::set<std::uint64_t> waiting_;  // members that wait for records
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_LINK_RECORD_SERVER_H_
