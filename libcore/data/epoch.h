// The order of an epoch: which examples make up mini-batch i.
//
// A catalog lists the records of all shards.  Each epoch the records are put
// in a new order and the examples inside each record too, both from the seed
// and the epoch's number alone; the epoch is the resulting sequence cut into
// mini-batches of equal size, the last one possibly short.  So a batch is named
// by (epoch, index), and any process with the catalog can assemble it.
//
// Examples mix within a record and records mix freely: for a thorough shuffle,
// dl-shard deals examples over records at random once.

#ifndef DL_LIBCORE_DATA_EPOCH_H_
#define DL_LIBCORE_DATA_EPOCH_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dl::data {

struct Catalogue {
  // records[s][r]: examples in record r of shard s.
  std::vector<std::vector<std::int64_t>> records;
  std::int64_t examples() const;
  std::int64_t batches(std::int64_t batch) const;
  // The same with these shards empty.  Numbers beyond the last are ignored.
  Catalogue without(std::span<const std::uint32_t> shards) const;
};

// A run of examples of one record, in the order they are used.
struct ExampleRun {
  std::uint32_t shard = 0;
  std::uint32_t record = 0;
  std::span<const std::uint32_t> examples;  // positions in the record
};

// Used by one thread at a time.
class Epoch {
 public:
  // shuffled == false: the stored order, for evaluation.
  Epoch(const Catalogue& catalogue, std::int64_t batch, std::uint64_t seed,
        std::uint64_t number, bool shuffled);

  std::int64_t batches() const;
  std::int64_t examples(std::int64_t first_batch, std::int64_t count) const;
  // Pieces that make up batch i, in order; valid until the next call. Batches
  // in a row are cheap: the orders of the last one's records are kept.
  std::span<const ExampleRun> pieces(std::int64_t i);

 private:
  struct Record {
    std::uint32_t shard, record;
    std::int64_t begin, examples;  // begin: its place in the sequence
  };
  // The examples of order_[place], in their order.
  struct Order {
    std::size_t place;
    std::vector<std::uint32_t> examples;
  };
  std::span<const std::uint32_t> examples_of(std::size_t place);

  std::vector<Record> order_;
  std::vector<Order> kept_;  // order_[p] has its place at p % size
  std::vector<ExampleRun> pieces_;
  std::int64_t batch_, examples_;
  std::uint64_t seed_, number_;
  bool shuffled_;
};

}  // namespace dl::data

#endif  // DL_LIBCORE_DATA_EPOCH_H_
