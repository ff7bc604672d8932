// Work that is leased to a second worker, as the first one needs much longer
// for it than others would: whoever is first counts, and what the other one did
// is refused (backup tasks: Dean and Ghemawat 2004).

#include <algorithm>

#include "libcore/cluster/master/epoch/phase.h"
#include "libcore/cluster/master/members/stragglers.h"

namespace dl::cluster {

namespace {

constexpr double kOverdue = 3;  // times what is usual
constexpr double kLeast = 0.5;  // seconds: less is not worth the work

}  // namespace

std::vector<Lease> Phase::overdue(
    const std::function<double(const Member&)>& usual) {
  std::vector<Lease> result;
  if (!context_.limits.speculate) return result;
  for (const auto& [id, lease] : table().leases()) {
    const Member* member = context_.members.find(lease.worker);
    if (!member || lease.twin != 0) continue;
    const double wanted =
        usual(*member) * static_cast<double>(lease.work - lease.committed);
    if (wanted > 0 &&
        context_.now - member->busy_since > std::max(kLeast, kOverdue * wanted))
      result.push_back(lease);
  }
  return result;
}

Member* Phase::idle_worker() {
  Member* best = nullptr;
  for (Member* member : context_.members.workers())
    if (reachable(*member) && !working(*member) &&
        (!best || member->batch_seconds < best->batch_seconds))
      best = member;
  return best && context_.outgoing.bring_up_to_date(*best) ? best : nullptr;
}

void Phase::end_twin(const Lease& lease) {
  const auto found = table().leases().find(lease.twin);
  if (found == table().leases().end()) return;
  const Lease late = found->second;
  Member* member = context_.members.find(late.worker);
  require(member != nullptr, "a lease of nobody");
  if (!is_evaluation()) note_at_least(*member, late.work, context_.now);
  Stale message;
  message.lease = late.id;
  message.fence = late.fence;
  context_.outgoing.send(*member, message.to_message());
  revoke(*member, late, "another was first", false);
}

}  // namespace dl::cluster
