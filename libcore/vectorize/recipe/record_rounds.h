// Records of rows, many at once: blocks of them are read side by side, so that
// then several can look at all of them in their order, each on a thread.

#ifndef DL_LIBCORE_VECTORIZE_RECIPE_RECORD_ROUNDS_H_
#define DL_LIBCORE_VECTORIZE_RECIPE_RECORD_ROUNDS_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "libcore/base/parallel.h"
#include "libcore/vectorize/source/record_source.h"

namespace dl::vectorize {

class RecordRounds {
 public:
  // source: one that gives rows.
  RecordRounds(RecordSource& source, ThreadTeam& team)
      : source_(source),
        team_(team),
        blocks_(static_cast<std::size_t>(
            std::min(team.size(), kMostBlocksAtOnce))) {}

  // Reads the next records; false at the end.
  // Throws Error: what the source throws, of the round.
  bool next() {
    std::size_t cut = 0;
    for (; cut < blocks_.size(); ++cut) {
      blocks_[cut].rows = source_.next_rows(kMostRecords);
      if (!blocks_[cut].rows) break;
    }
    for (std::size_t i = cut; i < blocks_.size(); ++i) blocks_[i].count = 0;
    side_by_side(cut, [&](std::size_t i) { blocks_[i].read(); });
    return cut > 0;
  }

  // The records of the round, in their order.
  void each(const std::function<void(const Record&)>& take) const {
    for (const Block& block : blocks_)
      for (std::size_t i = 0; i < block.count; ++i) take(block.records[i]);
  }

  // Calls work(0), ..., work(count - 1), each on some thread.
  void side_by_side(std::size_t count,
                    const std::function<void(std::size_t)>& work) {
    std::atomic<std::size_t> next = 0;
    team_.run([&](int) {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    });
  }

 private:
  static constexpr int kMostBlocksAtOnce = 16;  // bounds memory
  static constexpr std::int64_t kMostRecords = 4096;

  struct Block {
    std::unique_ptr<RecordSource::Rows> rows;  // hold texts of the records
    std::vector<Record> records;               // and memory for later ones
    std::size_t count = 0;

    void read() {
      for (count = 0;; ++count) {
        if (count == records.size()) records.emplace_back();
        if (!rows->next(records[count])) return;
      }
    }
  };

  RecordSource& source_;
  ThreadTeam& team_;
  std::vector<Block> blocks_;
};

}  // namespace dl::vectorize

#endif  // DL_LIBCORE_VECTORIZE_RECIPE_RECORD_ROUNDS_H_
