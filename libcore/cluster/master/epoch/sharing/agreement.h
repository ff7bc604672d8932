// A comparison of all replicas: what they should digest to, who was asked, and
// what they answered.

#ifndef DL_LIBCORE_CLUSTER_MASTER_EPOCH_SHARING_AGREEMENT_H_
#define DL_LIBCORE_CLUSTER_MASTER_EPOCH_SHARING_AGREEMENT_H_

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "libcore/cluster/protocol/message.h"

namespace dl::cluster {

class Agreement {
 public:
  // An agreement on the parameters after update number `sequence`.
  Agreement(std::span<const float> parameters, std::uint64_t sequence,
            double now);

  std::uint64_t sequence() const { return sequence_; }
  std::uint64_t digest() const { return digest_; }
  double began() const { return began_; }

  void ask(std::uint64_t member) { awaited_.insert(member); }
  // Notes that the member will not answer, or that its answer no longer counts.
  void forget(std::uint64_t member) { awaited_.erase(member); }
  const std::set<std::uint64_t>& awaited() const { return awaited_; }

  // Takes an answer; `examples` is its weight.  Returns false if it is not
  // awaited.
  bool take(std::uint64_t member, Digest answer, std::int64_t examples);

  struct Answer {
    Digest digest;
    std::int64_t examples = 0;
  };
  const std::map<std::uint64_t, Answer>& answers() const { return answers_; }
  // Running statistics of all members that answered, averaged by examples;
  // `otherwise` if none has any.  Vectors that do not fit or are not finite
  // count as absent.
  std::vector<float> statistics(std::vector<float> otherwise) const;

 private:
  std::uint64_t sequence_, digest_;
  double began_;
  std::set<std::uint64_t> awaited_;
  std::map<std::uint64_t, Answer> answers_;
};

// One replica's vector and its weight.
struct Weighted {
  const std::vector<float>* values;
  std::int64_t examples;
};
std::vector<float> weighted_mean(std::vector<Weighted> parts,
                                 std::vector<float> otherwise);

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_MASTER_EPOCH_SHARING_AGREEMENT_H_
