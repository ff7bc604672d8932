// The shuffled order of records and examples in an epoch.

#include "libcore/data/epoch.h"

#include <algorithm>
#include <numeric>

#include "libcore/base/error.h"
#include "libcore/base/philox.h"

namespace dl::data {
namespace {

// Uses of the seed; the numbers are part of what "same seed, same bytes" means.
constexpr std::uint64_t kRecordOrder = 1, kExampleOrder = 2;

}  // namespace

std::int64_t Catalogue::examples() const {
  std::int64_t sum = 0;
  for (const auto& shard : records)
    sum = std::accumulate(shard.begin(), shard.end(), sum);
  return sum;
}

std::int64_t Catalogue::batches(std::int64_t batch) const {
  return (examples() + batch - 1) / batch;
}

Catalogue Catalogue::without(std::span<const std::uint32_t> shards) const {
  Catalogue rest = *this;
  for (const std::uint32_t shard : shards)
    if (shard < rest.records.size()) rest.records[shard].clear();
  return rest;
}

Epoch::Epoch(const Catalogue& catalogue, std::int64_t batch, std::uint64_t seed,
             std::uint64_t number, bool shuffled)
    : batch_(batch),
      examples_(catalogue.examples()),
      seed_(seed),
      number_(number),
      shuffled_(shuffled) {
  require(batch > 0, "an epoch's batch must be positive");
  for (std::size_t s = 0; s < catalogue.records.size(); ++s)
    for (std::size_t r = 0; r < catalogue.records[s].size(); ++r)
      order_.push_back({static_cast<std::uint32_t>(s),
                        static_cast<std::uint32_t>(r), 0,
                        catalogue.records[s][r]});
  if (shuffled) {
    Philox random(seed, mix({kRecordOrder, number}));
    shuffle(std::span(order_), random);
  }
  std::int64_t begin = 0;
  for (Record& record : order_) {
    record.begin = begin;
    begin += record.examples;
  }
}

std::int64_t Epoch::batches() const {
  return (examples_ + batch_ - 1) / batch_;
}

std::int64_t Epoch::examples(std::int64_t first_batch,
                             std::int64_t count) const {
  const std::int64_t begin = std::min(first_batch * batch_, examples_);
  return std::min((first_batch + count) * batch_, examples_) - begin;
}

std::span<const std::uint32_t> Epoch::examples_of(std::size_t place) {
  Order& order = kept_[place % kept_.size()];
  if (order.place == place) return order.examples;
  const Record& record = order_[place];
  order.place = place;
  order.examples.resize(static_cast<std::size_t>(record.examples));
  std::iota(order.examples.begin(), order.examples.end(), 0u);
  if (shuffled_) {
    Philox random(seed_,
                  mix({kExampleOrder, number_, record.shard, record.record}));
    shuffle(std::span(order.examples), random);
  }
  return order.examples;
}

std::span<const ExampleRun> Epoch::pieces(std::int64_t i) {
  require(i >= 0 && i < batches(), "a batch outside the epoch");
  const std::int64_t begin = i * batch_;
  const std::int64_t end = std::min(begin + batch_, examples_);
  const auto starts_after = [](std::int64_t place, const Record& r) {
    return place < r.begin;
  };
  const auto first =
      std::upper_bound(order_.begin(), order_.end(), begin, starts_after) - 1;
  const auto last =
      std::upper_bound(first, order_.end(), end - 1, starts_after);
  const auto records = static_cast<std::size_t>(last - first);
  if (records > kept_.size()) kept_.assign(records, {order_.size(), {}});
  pieces_.clear();
  for (auto at = first; at != last; ++at) {
    const std::int64_t from = std::max<std::int64_t>(begin - at->begin, 0);
    const std::int64_t to = std::min(end - at->begin, at->examples);
    if (from >= to) continue;  // a record without examples
    const auto all = examples_of(static_cast<std::size_t>(at - order_.begin()));
    pieces_.push_back({at->shard, at->record,
                       all.subspan(static_cast<std::size_t>(from),
                                   static_cast<std::size_t>(to - from))});
  }
  return pieces_;
}

}  // namespace dl::data
