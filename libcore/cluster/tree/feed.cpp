#include "libcore/cluster/tree/feed.h"

#include <utility>

namespace dl::cluster {

std::vector<FeedItem> Feed::restart(std::uint64_t number) {
  position_ = number;
  while (!early_.empty() && early_.begin()->first <= number) {
    bytes_ -= size_of(early_.begin()->second);
    early_.erase(early_.begin());
  }
  return release();
}

void Feed::forget() {
  position_.reset();
  early_.clear();
  bytes_ = 0;
}

std::vector<FeedItem> Feed::take(FeedItem item) {
  if (!position_ || item.number <= *position_) return {};
  const std::size_t bytes = size_of(item.message);
  if (early_.emplace(item.number, std::move(item.message)).second)
    bytes_ += bytes;
  return release();
}

std::vector<FeedItem> Feed::release() {
  std::vector<FeedItem> ready;
  while (!early_.empty() && early_.begin()->first == *position_ + 1) {
    auto node = early_.extract(early_.begin());
    bytes_ -= size_of(node.mapped());
    ready.push_back({++*position_, std::move(node.mapped())});
  }
  return ready;
}

std::uint64_t FeedSource::add(const Message& message) {
  ++number_;
  if (!keeps_) return number_;
  kept_.push_back({number_, message});
  bytes_ += size_of(message);
  while (bytes_ > kMaxBytes) {
    bytes_ -= size_of(kept_.front().message);
    kept_.pop_front();
  }
  return number_;
}

bool FeedSource::visit(
    std::uint64_t after, std::uint64_t upto,
    const std::function<void(const FeedItem&)>& visit) const {
  if (after >= upto) return true;
  if (kept_.empty() || kept_.front().number > after + 1 ||
      kept_.back().number < upto)
    return false;
  for (const FeedItem& item : kept_)
    if (item.number > after && item.number <= upto) visit(item);
  return true;
}

}  // namespace dl::cluster
