// The thread that assembles mini-batches ahead.

#include "libcore/cluster/loading/batches.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/nn/data/batch.h"

namespace dl::cluster {
namespace {

// By all loaders: one that follows another may have its memory, and a network
// that goes on tells their batches apart.
std::atomic<std::uint64_t> assembled = 0;

}  // namespace

CheckRecord check_for(const nn::NetworkConfig& network,
                      std::span<const data::Normalizer> normalizers) {
  return [wanted = nn::wanted_by(network, nn::layout_of(network), normalizers)](
             const data::DataSet& record) {
    nn::Batch batch;
    nn::fill_batch(record, wanted, batch);
    nn::check_batch(batch, wanted);
  };
}

void assemble(data::Epoch& epoch, std::int64_t index, RecordStore& store,
              LoadedBatch& batch, std::vector<std::uint64_t>* names) {
  batch.index = index;
  if (names != nullptr) names->clear();
  const std::int64_t examples = epoch.examples(index, 1);
  std::int64_t filled = 0;
  for (const data::ExampleRun& piece : epoch.pieces(index)) {
    const auto record = store.get(piece.shard, piece.record);
    if (filled == 0) data::make_like(batch.set, *record, examples);
    data::copy_examples(batch.set, filled, *record, piece.examples);
    filled += static_cast<std::int64_t>(piece.examples.size());
    if (names == nullptr) continue;
    for (const std::uint32_t example : piece.examples)
      names->push_back(nn::name_of_example(piece.shard, piece.record, example));
  }
  require(filled == examples, "a batch with holes");
}

BatchLoader::BatchLoader(BatchPlan plan, RecordStore& training,
                         RecordStore& evaluation)
    : plan_(std::move(plan)), training_(training), evaluation_(evaluation) {
  plan_.prefetch = std::max<std::int64_t>(1, plan_.prefetch);
  slots_.resize(static_cast<std::size_t>(plan_.prefetch) + 1);
  thread_ = std::thread([this] { work(); });
}

BatchLoader::~BatchLoader() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

data::Epoch BatchLoader::epoch_of(const BatchRange& range) const {
  const data::Catalogue& all =
      range.evaluation ? plan_.evaluation : plan_.training;
  return data::Epoch(
      all.without(range.without), plan_.batch, plan_.seed,
      range.evaluation ? 0 : static_cast<std::uint64_t>(range.epoch),
      !range.evaluation);
}

std::int64_t BatchLoader::examples(
    bool evaluation, std::span<const std::uint32_t> without) const {
  return (evaluation ? plan_.evaluation : plan_.training)
      .without(without)
      .examples();
}

std::int64_t BatchLoader::batches(
    bool evaluation, std::span<const std::uint32_t> without) const {
  const std::int64_t all = examples(evaluation, without);
  return (all + plan_.batch - 1) / plan_.batch;
}

void BatchLoader::add(const BatchRange& range) {
  const std::lock_guard lock(mutex_);
  queue_.push_back(range);
  changed_.notify_all();
}

const LoadedBatch& BatchLoader::next() {
  std::unique_lock lock(mutex_);
  late_ += ready_ == 0;
  changed_.wait(lock, [&] { return ready_ > 0; });
  Slot& slot = slots_[first_];
  first_ = (first_ + 1) % slots_.size();
  --ready_;
  // Not for every batch: waking the loader costs more than a small one does.
  if (std::cmp_less_equal(ready_, plan_.prefetch / 2)) changed_.notify_all();
  if (slot.error) std::rethrow_exception(std::exchange(slot.error, nullptr));
  return slot.batch;
}

const LoadedBatch* BatchLoader::after() const {
  const std::lock_guard lock(mutex_);
  const Slot& slot = slots_[first_];
  return ready_ > 0 && !slot.error ? &slot.batch : nullptr;
}

void BatchLoader::drop() {
  const std::lock_guard lock(mutex_);
  queue_.clear();
  ready_ = 0;
  ++generation_;
  changed_.notify_all();
}

// late: batches so far that next() had to wait for.
void BatchLoader::augment(LoadedBatch& batch, std::int64_t late) {
  constexpr std::int64_t kLookedAt = 32;
  nn::Augmenter& augmenter = *plan_.augmenter;
  augmenter.apply(batch.set, names_, static_cast<std::uint64_t>(batch.epoch));
  if (++augmented_ < kLookedAt) return;
  if (2 * (late - late_before_) > augmented_ &&
      augmenter.threads() < plan_.threads)
    augmenter.use_threads(augmenter.threads() + 1);
  augmented_ = 0;
  late_before_ = late;
}

// Assembles without the lock; what drop() has overtaken is thrown away.
void BatchLoader::work() {
  std::optional<data::Epoch> epoch;
  BatchRange current;  // that `epoch` was made for
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] {
      return stop_ ||
             (!queue_.empty() && std::cmp_less(ready_, plan_.prefetch));
    });
    if (stop_) return;
    BatchRange& range = queue_.front();
    const BatchRange job = range;
    ++range.first;
    if (--range.count == 0) queue_.pop_front();
    const std::uint64_t generation = generation_;
    const std::int64_t late = late_;
    Slot& slot = slots_[(first_ + ready_) % slots_.size()];
    lock.unlock();

    slot.error = nullptr;
    try {
      if (!epoch || current.evaluation != job.evaluation ||
          current.epoch != job.epoch || current.without != job.without)
        epoch.emplace(epoch_of(job));
      current = job;
      slot.batch.evaluation = job.evaluation;
      slot.batch.epoch = job.epoch;
      const bool augmented = plan_.augmenter && !job.evaluation;
      assemble(*epoch, job.first, job.evaluation ? evaluation_ : training_,
               slot.batch, augmented ? &names_ : nullptr);
      if (augmented) augment(slot.batch, late);
      slot.batch.serial = ++assembled;
    } catch (...) {
      slot.error = std::current_exception();
    }

    lock.lock();
    if (generation != generation_) continue;
    if (slot.error) queue_.clear();
    ++ready_;
    changed_.notify_all();
  }
}

}  // namespace dl::cluster
