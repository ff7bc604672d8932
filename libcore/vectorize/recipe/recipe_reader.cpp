#include "libcore/vectorize/recipe/recipe_reader.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/number_format.h"
#include "libcore/base/parallel.h"
#include "libcore/vectorize/draw_examples.h"
#include "libcore/vectorize/engine.h"
#include "libcore/vectorize/recipe/even_sample.h"
#include "libcore/vectorize/recipe/made_tensors.h"
#include "libcore/vectorize/recipe/rows_reader.h"
#include "libcore/vectorize/schema.h"
#include "libcore/vectorize/series/series_reader.h"
#include "libcore/vectorize/source/record_source.h"

namespace dl::vectorize {
namespace {

// Where contents come with their records, as from archives, a block ends with
// the record that reaches it.
constexpr std::size_t kBlockBytes = std::size_t{16} << 20;

// Records that came one after the other.
struct RecordBlock {
  std::vector<Record> records;
  std::vector<std::int64_t> numbers;  // of the records in the input
  std::vector<std::int64_t> seen;  // [records, tensors], by Vectorizer::see()
  std::size_t bytes = 0;           // that the records hold
};

struct BlockResult {
  data::DataSet set;  // of the good records
  std::vector<std::string> bad;
  std::int64_t filled = 0;  // missing values, of the good records
};

class RecipeReading : public Reader {
 public:
  RecipeReading(MadeTensors tensors, std::unique_ptr<RecordSource> source,
                const RecipeOptions& options, BadRecords& bad)
      : options_(options),
        bad_(bad),
        tensors_(std::move(tensors)),
        batch_(record_examples(options.batch, tensors_.schema())),
        source_(std::move(source)) {
    const int threads = static_cast<int>(
        options.threads > 0 ? options.threads : available_cores());
    for (int i = 0; i < threads; ++i)
      workspaces_.push_back(tensors_.workspaces());
    engine_.emplace(
        threads, [this](RecordBlock& block) { return cut(block); },
        [this](RecordBlock& block, int thread) {
          return work(block, workspaces_[static_cast<std::size_t>(thread)]);
        },
        tensors_.bytes() * static_cast<std::size_t>(batch_),
        [](const RecordBlock& block) { return block.bytes; });
  }

  bool read(data::DataSet& set) override {
    while (auto result = engine_->next()) {
      for (const std::string& what : result->bad) bad_.add(what);
      bad_.fill(result->filled);
      if (result->set.tensors.empty()) continue;
      set = std::move(result->set);
      return true;
    }
    ended_ = true;
    return false;
  }

  // Classes are complete, and may be looked at, once all is read.
  data::Metadata metadata() const override {
    return ended_ ? tensors_.described() : tensors_.at_start();
  }

  std::int64_t examples() const override { return records_; }
  std::int64_t bytes() const override { return bytes_; }
  PassedOver passed_over() const override { return source_->passed_over(); }
  std::string left_out() const override { return source_->left_out(); }

  std::string warning() const override { return tensors_.warning(); }

 private:
  using Workspaces = MadeTensors::Workspaces;

  // For a preview, which wants the whole input first.
  void take_sample() {
    const Schema& schema = tensors_.schema();
    const auto features = schema.find("features");
    EvenSample sample(static_cast<std::size_t>(examples_of_sheet(
        features == schema.end() ? tensor::Shape{} : features->second.shape)));
    std::map<std::string, std::int64_t> folders;
    for (Record record; source_->next(record);) {
      SampledRecord sampled{{}, records_++, {}};
      tensors_.see(record, sampled.seen);
      const auto folder = record.columns.place("folder");
      std::int64_t group = 0;
      if (!record.problem.empty())
        group = -1;
      else if (const auto label = class_of(sampled.seen))
        group = *label;
      else if (folder)
        group =
            folders.emplace(record.columns.value(*folder), std::ssize(folders))
                .first->second;
      sampled.record = std::move(record);
      sample.add(group, std::move(sampled));
    }
    sample_ = std::move(sample).take();
  }

  bool cut_sample(RecordBlock& block) {
    if (!std::exchange(is_sampled_, true)) take_sample();
    const auto n = std::min<std::ptrdiff_t>(batch_, std::ssize(sample_));
    for (auto sampled = sample_.begin(); sampled != sample_.begin() + n;
         ++sampled) {
      block.seen.insert(block.seen.end(), sampled->seen.begin(),
                        sampled->seen.end());
      block.numbers.push_back(sampled->number);
      block.records.push_back(std::move(sampled->record));
    }
    sample_.erase(sample_.begin(), sample_.begin() + n);
    return n > 0;
  }

  // None: examples have no class.
  std::optional<std::int64_t> class_of(
      const std::vector<std::int64_t>& seen) const {
    for (std::size_t t = 0; t < seen.size(); ++t)
      if (tensors_.all()[t].name == "labels" &&
          tensors_.schema().at("labels").dtype == tensor::DType::kI32)
        return seen[t];
    return std::nullopt;
  }

  // The next block of this part.
  bool cut(RecordBlock& block) {
    if (options_.preview) return cut_sample(block);
    do {
      block = {};
      Record record;
      while (std::cmp_less(block.records.size(), batch_) &&
             block.bytes < kBlockBytes && source_->next(record)) {
        const std::int64_t number = records_++;
        const std::size_t before = block.seen.size();
        tensors_.see(record, block.seen);
        if (!options_.share.has(record)) {
          block.seen.resize(before);
          continue;
        }
        block.numbers.push_back(number);
        block.bytes += record.columns.bytes();
        block.records.push_back(std::move(record));
      }
      if (block.records.empty() && blocks_ == 0 && records_ > 0)
        bad_data("a share of --split has none of the input's " +
                 counted(records_, "example") +
                 "; give it more of them, or more inputs");
      if (block.records.empty()) return false;
    } while (blocks_++ % options_.parts != options_.part - 1);
    return true;
  }

  BlockResult work(RecordBlock& block, const Workspaces& workspaces) {
    BlockResult result;
    data::DataSet set = make_record(
        tensors_.schema(), static_cast<std::int64_t>(block.records.size()));
    const auto places = tensors_.places(set);
    const std::size_t each = tensors_.all().size();
    std::int64_t n = 0;
    for (std::size_t i = 0; i < block.records.size(); ++i) {
      Record& record = block.records[i];
      try {
        if (!record.problem.empty()) bad_data(record.problem);
        load(record);
        bytes_ += static_cast<std::int64_t>(record.columns.bytes());
        tensors_.put(record, std::span(block.seen).subspan(i * each, each),
                     workspaces, n, places);
        keep_encoded(workspaces, set);
      } catch (const Error& e) {
        if (e.code() != Code::kData) throw;
        result.bad.push_back(record.place() + ": " + e.what());
        continue;
      }
      result.filled += MadeTensors::filled(workspaces);
      if (options_.index) set_index(set, n, block.numbers[i]);
      ++n;
      record = {};  // its bytes are of no more use
    }
    if (n == 0) return result;
    result.set = std::cmp_equal(n, block.records.size()) ? std::move(set)
                                                         : set.slice(0, n);
    return result;
  }

  // Keeps the stored form of a record that is good.
  void keep_encoded(const Workspaces& workspaces, data::DataSet& set) const {
    for (std::size_t t = 0; t < workspaces.size(); ++t) {
      const MadeTensor& tensor = tensors_.all()[t];
      if (const auto encoded = set.encoded.find(tensor.name);
          encoded != set.encoded.end())
        encoded->second.append(tensor.vectorizer->encoded(workspaces[t].get()));
    }
  }

  RecipeOptions options_;
  BadRecords& bad_;
  MadeTensors tensors_;
  std::int64_t batch_ = 1;
  std::unique_ptr<RecordSource> source_;
  std::atomic<std::int64_t> records_ = 0, bytes_ = 0;
  std::int64_t blocks_ = 0;
  std::vector<SampledRecord> sample_;  // of a preview, what is left of it
  bool is_sampled_ = false;
  bool ended_ = false;
  std::vector<Workspaces> workspaces_;
  std::optional<Engine<RecordBlock, BlockResult>> engine_;  // last: it stops
};

}  // namespace

std::unique_ptr<Reader> open_recipe(const Recipe& recipe, const Inputs& inputs,
                                    const RecipeOptions& options,
                                    BadRecords& bad) {
  if (!recipe.series.is_null())
    return open_series(recipe, inputs, options, bad);
  MadeTensors tensors(recipe, options);
  (void)record_examples(options.batch, tensors.schema());
  auto source = recipe.open(inputs, options.labels, options.table);
  if (can_open_rows(tensors, *source, options))
    return open_rows(std::move(tensors), std::move(source), options, bad);
  return std::make_unique<RecipeReading>(std::move(tensors), std::move(source),
                                         options, bad);
}

}  // namespace dl::vectorize
