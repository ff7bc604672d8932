#include "libcore/cluster/master/members/worker_wait.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/number_format.h"

namespace dl::cluster {

WorkerWait::WorkerWait(RunContext& context, double since)
    : context_(context),
      started_(since),
      alone_since_(context.now),
      said_(context.now) {}

bool WorkerWait::gathered() {
  if (gathered_) return true;
  const auto workers = context_.members.workers();
  const auto have = static_cast<std::int64_t>(workers.size());
  const std::int64_t want =
      std::max<std::int64_t>(1, context_.limits.min_workers - context_.absent);
  if (have >= want) return gathered_ = true;
  std::string names;
  for (const Member* member : workers)
    names += (names.empty() ? " (" : ", ") + member->hello.name;
  const std::string what = std::to_string(have) + " of " +
                           std::to_string(want) + " workers" + names +
                           (names.empty() ? "" : ")");
  const double left = started_ + context_.limits.wait - context_.now;
  if (left <= 0)
    throw Error{Code::kUnavailable,
                "waited " + format("%.1f s", context_.limits.wait) +
                    " and have " + what + "; start " +
                    (have > 0 ? "more" : "some") +
                    (want > 1 ? ", lower --min-workers" : "") +
                    " or raise --wait, and look at what workers say"};
  say(what, left);
  return false;
}

bool WorkerWait::deserted() {
  if (context_.members.anybody_works()) {
    alone_since_ = context_.now;
    return false;
  }
  const double left = alone_since_ + context_.limits.wait - context_.now;
  if (left > 0) say("no worker is left", left);
  return left <= 0;
}

void WorkerWait::say(const std::string& what, double left) {
  if (context_.now - said_ < kSayWaiting) return;
  said_ = context_.now;
  context_.log(Level::kInfo,
               "waiting: " + what + format(", %.0f s left", std::ceil(left)));
}

}  // namespace dl::cluster
