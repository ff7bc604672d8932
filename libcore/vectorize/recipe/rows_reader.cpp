#include "libcore/vectorize/recipe/rows_reader.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/base/parallel.h"
#include "libcore/vectorize/block_reader.h"
#include "libcore/vectorize/engine.h"

namespace dl::vectorize {
namespace {

// The examples of a block take no more, but for one that does alone.
constexpr std::size_t kRowsBytes = std::size_t{16} << 20;

// Examples of a block.
struct MadeRows {
  struct Bad {
    std::int64_t row;  // in the block, from 0
    std::string what;
  };
  data::DataSet set;  // of the good rows, and room for more
  std::int64_t rows = 0, good = 0;
  std::vector<Bad> bad;
  std::int64_t filled = 0;
  std::int64_t bytes = 0;    // of text
  std::exception_ptr error;  // comes after the rows, and ends the input
};

// Gives a set more room for examples, of which it has `rows`.
void grow(data::DataSet& set, const Schema& schema, std::int64_t rows,
          std::int64_t room) {
  data::DataSet larger = make_record(schema, room);
  for (auto& [name, tensor] : set.tensors) {
    const auto from = tensor.bytes();
    const std::size_t each =
        from.size() / static_cast<std::size_t>(tensor.shape()[0]);
    std::memcpy(larger.tensors.at(name).bytes().data(), from.data(),
                each * static_cast<std::size_t>(rows));
  }
  set = std::move(larger);
}

class RowsReading : public Reader {
 public:
  RowsReading(MadeTensors tensors, std::unique_ptr<RecordSource> source,
              const RecipeOptions& options, BadRecords& bad)
      : tensors_(std::move(tensors)),
        source_(std::move(source)),
        batch_(record_examples(options.batch, tensors_.schema())),
        numbered_(options.index),
        bad_(bad) {
    const auto bytes = std::max<std::size_t>(tensors_.bytes(), 1);
    most_ =
        static_cast<std::int64_t>(std::max<std::size_t>(kRowsBytes / bytes, 1));
    const int threads = static_cast<int>(
        options.threads > 0 ? options.threads : available_cores());
    for (int i = 0; i < threads; ++i) {
      workers_.emplace_back();
      workers_.back().workspaces = tensors_.workspaces();
    }
    using Block = std::unique_ptr<RecordSource::Rows>;
    engine_.emplace(
        threads,
        [this](Block& block) {
          block = source_->next_rows(most_);
          return block != nullptr;
        },
        [this](Block& block, int thread) {
          return work(*block, workers_[static_cast<std::size_t>(thread)]);
        },
        std::max(static_cast<std::size_t>(most_) * bytes, InputBlock::kBytes));
  }

  bool read(data::DataSet& set) override {
    for (;;) {
      set = make_record(tensors_.schema(), batch_);
      std::int64_t rows = 0, good = 0;
      while (rows < batch_) {
        if (at_ == block_.rows && !next_block()) break;
        rows += take(batch_ - rows, good, set);
      }
      if (rows == 0) break;
      if (good == 0) continue;  // all of them are bad
      if (good < batch_) set = set.slice(0, good);
      return true;
    }
    ended_ = true;
    return false;
  }

  data::Metadata metadata() const override {
    return ended_ ? tensors_.described() : tensors_.at_start();
  }
  std::int64_t examples() const override { return rows_; }
  std::int64_t bytes() const override { return bytes_; }
  std::string left_out() const override { return source_->left_out(); }
  std::string warning() const override { return tensors_.warning(); }

 private:
  // Memory of a thread.
  struct Worker {
    MadeTensors::Workspaces workspaces;
    Record record;
    std::vector<std::int64_t> seen;
  };

  MadeRows work(RecordSource::Rows& rows, Worker& worker) {
    MadeRows made;
    made.set = take_spare();
    std::int64_t room = made.set.examples();
    auto places = tensors_.places(made.set);
    try {
      for (; rows.next(worker.record); ++made.rows) {
        if (made.good == room) {
          room = std::min(2 * room, most_);
          grow(made.set, tensors_.schema(), made.good, room);
          places = tensors_.places(made.set);
        }
        put(worker, places, made);
      }
    } catch (...) {
      made.error = std::current_exception();
    }
    made.bytes = static_cast<std::int64_t>(rows.bytes());
    return made;
  }

  // A set whose examples were given out, or a new one.
  data::DataSet take_spare() {
    constexpr std::int64_t kFirst = 1024;
    const std::lock_guard lock(spare_mutex_);
    if (spare_.empty())
      return make_record(tensors_.schema(), std::min(kFirst, most_));
    data::DataSet set = std::move(spare_.back());
    spare_.pop_back();
    return set;
  }
  void keep_spare(data::DataSet set) {
    if (set.tensors.empty()) return;
    const std::lock_guard lock(spare_mutex_);
    spare_.push_back(std::move(set));
  }

  void put(Worker& worker, std::span<const std::span<std::byte>> places,
           MadeRows& made) const try {
    Record& record = worker.record;
    worker.seen.clear();
    tensors_.see(record, worker.seen);
    if (!record.problem.empty()) bad_data(record.problem);
    tensors_.put(record, worker.seen, worker.workspaces, made.good, places);
    made.filled += MadeTensors::filled(worker.workspaces);
    ++made.good;
  } catch (const Error& e) {
    if (e.code() != Code::kData) throw;
    made.bad.push_back({made.rows, worker.record.place() + ": " + e.what()});
  }

  bool next_block() {
    if (block_.error) std::rethrow_exception(std::exchange(block_.error, {}));
    for (;;) {
      keep_spare(std::move(block_.set));
      block_.set = {};
      std::optional<MadeRows> made = engine_->next();
      block_ = made ? std::move(*made) : MadeRows();
      at_ = good_ = 0;
      next_bad_ = 0;
      bytes_ += block_.bytes;
      bad_.fill(block_.filled);
      if (!made || block_.rows > 0) return made.has_value();
      if (block_.error) std::rethrow_exception(block_.error);
    }
  }

  // Takes up to `most` rows of the block, whose good ones become the examples
  // from `good` on; returns how many.
  std::int64_t take(std::int64_t most, std::int64_t& good, data::DataSet& set) {
    const std::int64_t rows = std::min(most, block_.rows - at_);
    std::int64_t count = rows;
    const std::int64_t first = at_;
    for (at_ += rows;
         next_bad_ < block_.bad.size() && block_.bad[next_bad_].row < at_;
         ++next_bad_, --count)
      bad_.add(block_.bad[next_bad_].what);
    if (numbered_) number(first, good, set);
    for (auto& [name, tensor] : set.tensors) {
      if (name == "index") continue;
      const auto to = tensor.bytes();
      const std::size_t each = to.size() / static_cast<std::size_t>(batch_);
      std::memcpy(to.data() + static_cast<std::size_t>(good) * each,
                  block_.set.tensors.at(name).bytes().data() +
                      static_cast<std::size_t>(good_) * each,
                  static_cast<std::size_t>(count) * each);
    }
    good_ += count;
    good += count;
    rows_ += rows;
    return rows;
  }

  // Numbers the good ones of the rows from `first` to at_.
  void number(std::int64_t first, std::int64_t example,
              data::DataSet& set) const {
    const auto row_of = [](const MadeRows::Bad& bad) { return bad.row; };
    auto bad = std::ranges::lower_bound(block_.bad, first, {}, row_of);
    for (std::int64_t row = first; row < at_; ++row)
      if (bad != block_.bad.end() && bad->row == row)
        ++bad;
      else
        set_index(set, example++, rows_ + row - first);
  }

  MadeTensors tensors_;
  std::unique_ptr<RecordSource> source_;
  std::int64_t batch_, most_ = 1;
  bool numbered_;
  BadRecords& bad_;
  std::vector<Worker> workers_;
  std::mutex spare_mutex_;
  std::vector<data::DataSet> spare_;
  MadeRows block_;                  // that is given out
  std::int64_t at_ = 0, good_ = 0;  // rows of it that were, and examples
  std::size_t next_bad_ = 0;
  std::int64_t rows_ = 0, bytes_ = 0;  // of the input
  bool ended_ = false;
  std::optional<Engine<std::unique_ptr<RecordSource::Rows>, MadeRows>>
      engine_;  // last: it stops
};

}  // namespace

bool can_open_rows(const MadeTensors& tensors, const RecordSource& source,
                   const RecipeOptions& options) {
  const bool is_encoded =
      std::ranges::any_of(tensors.schema(), [](const auto& field) {
        return field.second.encoding != data::Encoding::kNone;
      });
  return source.gives_rows() && !tensors.see_in_order() && !is_encoded &&
         !options.preview && options.parts == 1 && options.share.low <= 0 &&
         options.share.high >= 1 && !options.share.group;
}

std::unique_ptr<Reader> open_rows(MadeTensors tensors,
                                  std::unique_ptr<RecordSource> source,
                                  const RecipeOptions& options,
                                  BadRecords& bad) {
  return std::make_unique<RowsReading>(std::move(tensors), std::move(source),
                                       options, bad);
}

}  // namespace dl::vectorize
