// Mini-batches, assembled ahead of their use by a thread of their own.

#ifndef DL_LIBCORE_CLUSTER_BATCHES_H_
#define DL_LIBCORE_CLUSTER_BATCHES_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "libcore/cluster/record_store.h"
#include "libcore/data/epoch.h"
#include "libcore/nn/network.h"

namespace dl::cluster {

// The examples of one mini-batch in their stored dtypes.
struct LoadedBatch {
  bool evaluation = false;
  std::int64_t epoch = 0, index = 0;
  data::DataSet set;

  // Views of `set`; throws Error: kData, features or labels are missing.
  nn::Batch view() const;
};

// Makes batch i of an epoch out of the records of `store`.
LoadedBatch assemble(const data::Epoch& epoch, std::int64_t index,
                     RecordStore& store);

// A stretch of an epoch.
struct BatchRange {
  bool evaluation = false;
  std::int64_t epoch = 0, first = 0, count = 0;
};

struct BatchPlan {
  data::Catalogue training, evaluation;
  std::int64_t batch = 1;
  std::uint64_t seed = 0;
  std::int64_t prefetch = 2;  // batches assembled ahead, at least 1
};

// add(), next(), drop() and the destructor belong to one thread.
class BatchLoader {
 public:
  // The stores are used by the loader's thread alone from here on.
  BatchLoader(BatchPlan plan, RecordStore& training, RecordStore& evaluation);
  ~BatchLoader();
  BatchLoader(const BatchLoader&) = delete;
  BatchLoader& operator=(const BatchLoader&) = delete;

  // Mini-batches of an epoch (evaluation: of the evaluation shards).
  std::int64_t batches(bool evaluation, std::int64_t epoch) const;

  // Queues a range behind those that are there.
  void add(const BatchRange& range);
  // The next mini-batch of what was added.  Throws what assembling it threw;
  // the range is then dropped.
  LoadedBatch next();
  // Forgets all that is queued or assembled.
  void drop();

 private:
  void work();
  data::Epoch epoch_of(bool evaluation, std::int64_t epoch) const;

  BatchPlan plan_;
  RecordStore& training_;
  RecordStore& evaluation_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<BatchRange> queue_;
  struct Item {
    std::optional<LoadedBatch> batch;
    std::exception_ptr error;
  };
  std::deque<Item> ready_;
  std::uint64_t generation_ = 0;  // grows with each drop()
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_BATCHES_H_
