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

  // Counts and records the commit of a good answer.  more: further keys of its
  // event.
  void accept(Member& member, const Lease& lease, std::int64_t first,
              std::int64_t count, std::int64_t examples, double loss_sum,
              std::size_t bytes, const Json& more = Json::object());

  // Refuses an answer that came too late.  Throws Error: kProtocol, there never
  // was such a lease.
  void refuse(Member& member, std::uint64_t lease, std::uint64_t fence,
              std::int64_t batch = -1);

  // Throw Error: kProtocol, the lease was never granted; the member was asked
  // for no further Digest.
  void require_given(std::uint64_t lease) const;
  void count_digest(Member& member) const;
  // Counts a replica that differs, and takes the member out of step. what:
  // "update 7".
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
  // Forgets all rejections.
  void forgive();
  // Counts and records that the member gave back a mini-batch.
  void note_fault(const Member& member, std::int64_t batch,
                  const std::string& why);
  static constexpr const char* kRejectionRemedy =
      "; lower the learning rate or look at the data";
  static constexpr int kMostRejections = 8;
  static constexpr int kRejectionsTold = 10;  // number told in a minute
  // Number of workers, for one mini-batch.
  static constexpr std::size_t kMostDoubts = 3;

 private:
  bool nobody_can_train(std::int64_t batch, Code code);
  bool anybody_but(const Member& member);

  RunContext& context_;
  // Parties whose answers for a mini-batch of this epoch were rejected.
  std::int64_t doubts_epoch_ = 0;
  std::map<std::int64_t, std::set<std::uint64_t>> doubts_;
  LineLimit rejections_told_{kRejectionsTold};
};

bool all_finite(const std::vector<float>& values);
// Whether a loss, summed over so many examples, can be added to other losses.
bool sound_loss(double loss_sum, std::int64_t examples);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_LINK_RESULT_HANDLER_H_
