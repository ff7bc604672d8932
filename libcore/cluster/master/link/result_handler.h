// The fate of the answers of members: they are accepted, refused as they
// come too late, or rejected as they are wrong; and whether it is not a member
// that is wrong but the parameters.

#ifndef DL_LIBCORE_CLUSTER_MASTER_LINK_RESULT_HANDLER_H_
#define DL_LIBCORE_CLUSTER_MASTER_LINK_RESULT_HANDLER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/base/line_limit.h"
#include "libcore/cluster/master/epoch/lease.h"
#include "libcore/cluster/master/members/membership.h"

namespace dl::cluster {

struct RunContext;

class ResultHandler {
 public:
  explicit ResultHandler(RunContext& context) : context_(context) {}

  // A good answer: counts and records the commit.  more: of its event.
  void accept(Member& member, const Lease& lease, std::int64_t first,
              std::int64_t count, std::int64_t examples, double loss_sum,
              std::size_t bytes, const Json& more = Json::object());

  // Work that came too late is refused.  Throws Error: kProtocol, there never
  // was such a lease.
  void refuse(Member& member, std::uint64_t lease, std::uint64_t fence,
              std::int64_t batch = -1);

  // Throw Error: kProtocol, the lease was given to nobody; the member was asked
  // for no other Digest.
  void require_given(std::uint64_t lease) const;
  void count_digest(Member& member) const;
  // A replica is not what it should be: counts it, and takes the member out of
  // step.  what: "update 7".
  void note_difference(Member& member, const std::string& what,
                       std::uint64_t digest, std::uint64_t want);

  // A loss, an update or a replica that is not finite, or not what it should
  // be; batch -1: a message as such.  Others get the work first then, and after
  // kMostRejections in a row, or as many wrong messages, the member is faulty.
  // Where it is not them but the parameters, gone_wrong says so.
  // Throws Error: `code`, three workers were rejected for this mini-batch
  // alone, or nobody else is there.
  void reject(Member& member, std::int64_t batch, const std::string& why,
              Code code = Code::kConfig);
  // As if none had ever been rejected.
  void forgive();
  // Counts and records that the member gave a mini-batch back.
  void note_fault(const Member& member, std::int64_t batch,
                  const std::string& why);
  static constexpr const char* kRejectionRemedy =
      "; lower the learning rate or look at the data";
  static constexpr int kMostRejections = 8;
  static constexpr int kRejectionsTold = 10;     // in a minute
  static constexpr std::size_t kMostDoubts = 3;  // workers, for a mini-batch

 private:
  bool nobody_can_train(std::int64_t batch, Code code);
  bool anybody_but(const Member& member);

  RunContext& context_;
  // Doubts of this epoch: of which parties the answer for a mini-batch was
  // rejected.
  std::int64_t doubts_epoch_ = 0;
  std::map<std::int64_t, std::set<std::uint64_t>> doubts_;
  LineLimit rejections_told_{kRejectionsTold};
};

bool all_finite(const std::vector<float>& values);
// Whether a loss, summed over so many examples, is one that can be added up.
bool sound_loss(double loss_sum, std::int64_t examples);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_LINK_RESULT_HANDLER_H_
