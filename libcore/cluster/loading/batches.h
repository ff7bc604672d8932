// Mini-batches, assembled ahead of their use by a thread of their own.  From
// records that are in memory that takes no more of it, batch after batch.

#ifndef DL_LIBCORE_CLUSTER_LOADING_BATCHES_H_
#define DL_LIBCORE_CLUSTER_LOADING_BATCHES_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "libcore/cluster/loading/record_store.h"
#include "libcore/data/epoch.h"
#include "libcore/data/statistics/normalizer.h"
#include "libcore/nn/augment/augmenter.h"
#include "libcore/nn/config/config.h"
#include "libcore/nn/layout.h"
#include "libcore/nn/mini_batch.h"

namespace dl::cluster {

// The examples of one mini-batch in their stored dtypes.
struct LoadedBatch {
  bool evaluation = false;
  std::int64_t epoch = 0, index = 0;
  data::DataSet set;
  std::uint64_t serial = 0;  // number that no other batch of any loader has
};

// The check that the network makes on a record, with these normalizers of its
// inputs; throws what check_batch() throws.
CheckRecord check_for(const nn::NetworkConfig& network,
                      std::span<const data::Normalizer> normalizers);

// Makes batch i of an epoch from the records of `store`, in the memory that
// `batch` has.  names: names of its examples, for augmentation.
void assemble(data::Epoch& epoch, std::int64_t index, RecordStore& store,
              LoadedBatch& batch, std::vector<std::uint64_t>* names = nullptr);

// A range of mini-batches of an epoch.
struct BatchRange {
  bool evaluation = false;
  std::int64_t epoch = 0, first = 0, count = 0;
  std::vector<std::uint32_t> without = {};  // shards that the epoch omits
};

struct BatchPlan {
  data::Catalogue training, evaluation;
  std::int64_t batch = 1;
  std::uint64_t seed = 0;
  std::int64_t prefetch = 2;  // number of batches assembled ahead, >= 1
  // Changes batches of training; none: nothing does.  It gets as many threads
  // as keep next() from waiting, up to so many.
  std::shared_ptr<nn::Augmenter> augmenter = {};
  int threads = 1;
};

// add(), next(), after(), drop() and the destructor belong to one thread.
class BatchLoader {
 public:
  // From here on only the loader's thread uses the stores.
  BatchLoader(BatchPlan plan, RecordStore& training, RecordStore& evaluation);
  ~BatchLoader();
  BatchLoader(const BatchLoader&) = delete;
  BatchLoader& operator=(const BatchLoader&) = delete;

  // Numbers of examples and mini-batches of an epoch (evaluation: of the
  // evaluation shards) without some shards.
  std::int64_t examples(bool evaluation,
                        std::span<const std::uint32_t> without) const;
  std::int64_t batches(bool evaluation,
                       std::span<const std::uint32_t> without) const;

  // Queues a range behind the queued ones.
  void add(const BatchRange& range);
  // The next mini-batch of the added ranges, valid until the next call.  Throws
  // what assembling it threw; the range is then dropped.
  const LoadedBatch& next();
  // The result after next(), if it is ready: valid until the call after the
  // next one, or drop().  Else null.
  const LoadedBatch* after() const;
  // Forgets everything that is queued or assembled.
  void drop();

 private:
  void work();
  void augment(LoadedBatch& batch, std::int64_t late);
  data::Epoch epoch_of(const BatchRange& range) const;

  BatchPlan plan_;
  RecordStore& training_;
  RecordStore& evaluation_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<BatchRange> queue_;
  struct Slot {
    LoadedBatch batch;
    std::exception_ptr error;
  };
  // A ring: `ready_` slots from `first_` on hold batches, the one before them
  // is given out, the one after them is being filled.
  std::vector<Slot> slots_;
  std::size_t first_ = 0, ready_ = 0;
  std::uint64_t generation_ = 0;  // grows with each drop()
  bool stop_ = false;
  std::int64_t late_ = 0;  // number of batches that next() waited for
  // State of the loader's thread.
  std::vector<std::uint64_t> names_;
  // Counts with the present number of threads.
  std::int64_t augmented_ = 0, late_before_ = 0;
  std::thread thread_;
};

}  // namespace dl::cluster

#endif  // DL_LIBCORE_CLUSTER_LOADING_BATCHES_H_
