#include "libcore/cluster/batches.h"

#include <algorithm>
#include <utility>

#include "libcore/base/error.h"

namespace dl::cluster {
namespace {

// Masks may be stored as bytes; a network takes weights.
void make_weights(tensor::Tensor& mask) {
  if (mask.dtype() == tensor::DType::kF32) return;
  tensor::Tensor weights(tensor::DType::kF32, mask.shape());
  const auto to = weights.as<float>();
  for (std::int64_t i = 0; i < mask.elements(); ++i)
    to[static_cast<std::size_t>(i)] = static_cast<float>(mask.value(i));
  mask = std::move(weights);
}

}  // namespace

nn::Batch LoadedBatch::view() const {
  return {&set.get("features"), &set.get("labels"), set.find("labels_mask")};
}

LoadedBatch assemble(const data::Epoch& epoch, std::int64_t index,
                     RecordStore& store) {
  LoadedBatch batch;
  batch.index = index;
  std::int64_t filled = 0;
  for (const data::Piece& piece : epoch.pieces(index)) {
    const auto record = store.get(piece.shard, piece.record);
    if (filled == 0)
      batch.set = data::make_like(*record, epoch.examples(index, 1));
    for (const std::uint32_t example : piece.examples)
      data::copy_example(batch.set, filled++, *record, example);
  }
  require(filled == epoch.examples(index, 1), "a batch with holes");
  if (const auto mask = batch.set.tensors.find("labels_mask");
      mask != batch.set.tensors.end())
    make_weights(mask->second);
  return batch;
}

BatchLoader::BatchLoader(BatchPlan plan, RecordStore& training,
                         RecordStore& evaluation)
    : plan_(std::move(plan)), training_(training), evaluation_(evaluation) {
  plan_.prefetch = std::max<std::int64_t>(1, plan_.prefetch);
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

data::Epoch BatchLoader::epoch_of(bool evaluation, std::int64_t epoch) const {
  return data::Epoch(
      evaluation ? plan_.evaluation : plan_.training, plan_.batch, plan_.seed,
      evaluation ? 0 : static_cast<std::uint64_t>(epoch), !evaluation);
}

std::int64_t BatchLoader::batches(bool evaluation, std::int64_t epoch) const {
  return epoch_of(evaluation, epoch).batches();
}

void BatchLoader::add(const BatchRange& range) {
  const std::lock_guard lock(mutex_);
  queue_.push_back(range);
  changed_.notify_all();
}

LoadedBatch BatchLoader::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !ready_.empty(); });
  Item item = std::move(ready_.front());
  ready_.pop_front();
  changed_.notify_all();
  if (item.error) std::rethrow_exception(item.error);
  return std::move(*item.batch);
}

void BatchLoader::drop() {
  const std::lock_guard lock(mutex_);
  queue_.clear();
  ready_.clear();
  ++generation_;
  changed_.notify_all();
}

// Assembles without the lock; what drop() has overtaken is thrown away.
void BatchLoader::work() {
  std::optional<data::Epoch> epoch;
  BatchRange current;  // that `epoch` was made for
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] {
      return stop_ ||
             (!queue_.empty() && std::cmp_less(ready_.size(), plan_.prefetch));
    });
    if (stop_) return;
    BatchRange& range = queue_.front();
    const BatchRange job = range;
    ++range.first;
    if (--range.count == 0) queue_.pop_front();
    const std::uint64_t generation = generation_;
    lock.unlock();

    Item item;
    try {
      if (!epoch || current.evaluation != job.evaluation ||
          current.epoch != job.epoch)
        epoch.emplace(epoch_of(job.evaluation, job.epoch));
      current = job;
      item.batch =
          assemble(*epoch, job.first, job.evaluation ? evaluation_ : training_);
      item.batch->evaluation = job.evaluation;
      item.batch->epoch = job.epoch;
    } catch (...) {
      item.error = std::current_exception();
    }

    lock.lock();
    if (generation != generation_) continue;
    if (item.error) queue_.clear();
    ready_.push_back(std::move(item));
    changed_.notify_all();
  }
}

}  // namespace dl::cluster
