#include "libcore/cluster/worker/sent_updates.h"

#include <algorithm>
#include <utility>

namespace dl::cluster {

namespace {

// Takes the one out that `found` points to; nothing: there is none.
template <typename List>
std::optional<SentUpdate> take_out(List& list,
                                   const typename List::iterator& found) {
  if (found == list.end()) return std::nullopt;
  SentUpdate sent = std::move(*found);
  list.erase(found);
  return sent;
}

}  // namespace

std::int64_t SentUpdates::pending_batches() const {
  std::int64_t batches = 0;
  for (const SentUpdate& sent : pending_) batches += sent.update.count;
  return batches;
}

void SentUpdates::lose_answers() {
  for (SentUpdate& sent : pending_) adrift_.push_back(std::move(sent));
  pending_.clear();
}

std::optional<std::vector<std::byte>> SentUpdates::applied(std::int64_t batch) {
  auto mine = take_out(
      pending_, std::ranges::find_if(pending_, [&](const SentUpdate& sent) {
        return sent.update.batch == batch;
      }));
  if (!mine) return std::nullopt;
  return std::move(mine->update.payload);
}

std::optional<SentUpdate> SentUpdates::refused(const Stale& stale) {
  auto mine = take_out(
      pending_, std::ranges::find_if(pending_, [&](const SentUpdate& sent) {
        return sent.update.lease == stale.lease &&
               sent.update.batch == stale.batch;
      }));
  if (!mine || mine->refused) return mine;
  mine->refused = true;
  adrift_.push_back(std::move(*mine));
  return std::nullopt;
}

std::optional<SentUpdate> SentUpdates::settle(const Apply& apply) {
  auto mine = take_out(
      adrift_, std::ranges::find_if(adrift_, [&](const SentUpdate& sent) {
        return sent.epoch == apply.epoch && sent.update.batch == apply.batch;
      }));
  if (mine && mine->update.payload == apply.payload) return std::nullopt;
  return mine;
}

std::vector<SentUpdate> SentUpdates::leave_other_epochs(std::int64_t epoch) {
  std::vector<SentUpdate> left;
  std::erase_if(adrift_, [&](SentUpdate& sent) {
    if (sent.epoch == epoch) return false;
    left.push_back(std::move(sent));
    return true;
  });
  return left;
}

std::optional<SentUpdate> SentUpdates::take_again(std::int64_t epoch,
                                                  std::int64_t batch,
                                                  std::int64_t most) {
  return take_out(adrift_,
                  std::ranges::find_if(adrift_, [&](const SentUpdate& sent) {
                    return sent.epoch == epoch && sent.update.batch == batch &&
                           sent.update.count <= most;
                  }));
}

}  // namespace dl::cluster
