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
#include "libcore/vectorize/schema.h"
#include "libcore/vectorize/series/series_reader.h"
#include "libcore/vectorize/source/record_source.h"
#include "libcore/vectorize/table/side_by_side.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

// A tensor of the recipe, at work.
struct MadeTensor {
  std::string name;
  std::unique_ptr<Vectorizer> vectorizer;
  std::size_t bytes = 0;  // of an example
  std::string from = {};  // its column, where it takes one

  // The file of an example that it takes, for messages: "'cat/1.mask.png'".
  std::string file_of(const Record& record) const {
    const auto key = record.columns.place("key");
    for (const std::string& suffix : split(from, ';'))
      if (key && record.columns.contains(suffix))
        return in_quotes(std::string(record.columns.value(*key)) + "." +
                         suffix);
    return in_quotes(from);
  }
};

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
  RecipeReading(const Recipe& recipe, const Inputs& inputs,
                const RecipeOptions& options, BadRecords& bad)
      : recipe_(recipe.to_json()), options_(options), bad_(bad) {
    for (const RecipeTensor& tensor : recipe.tensors)
      if (options.labels || !tensor.name.starts_with("labels"))
        make(tensor, recipe.from);
    start_ = described();
    start_.classes.clear();  // they may grow
    for (auto& [name, part] : start_.parts) part.classes.clear();
    schema_ = start_.schema;
    batch_ = record_examples(options.batch, schema_);
    source_ = recipe.open(inputs, options.labels, options.table);
    const int threads = static_cast<int>(
        options.threads > 0 ? options.threads : available_cores());
    workspaces_.resize(static_cast<std::size_t>(threads));
    for (auto& workspace : workspaces_)
      for (const MadeTensor& tensor : tensors_)
        workspace.push_back(tensor.vectorizer->workspace());
    engine_.emplace(
        threads, [this](RecordBlock& block) { return cut(block); },
        [this](RecordBlock& block, int thread) {
          return work(block, workspaces_[static_cast<std::size_t>(thread)]);
        },
        record_bytes(), [](const RecordBlock& block) { return block.bytes; });
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
    if (ended_) return described();
    data::Metadata metadata = start_;
    for (const MadeTensor& tensor : tensors_)
      if (const auto classes = known_classes(tensor.name); !classes.empty())
        about(metadata, tensor.name).classes = classes;
    return metadata;
  }

  std::int64_t examples() const override { return records_; }
  std::int64_t bytes() const override { return bytes_; }
  PassedOver passed_over() const override { return source_->passed_over(); }
  std::string left_out() const override { return source_->left_out(); }

  std::string warning() const override {
    for (const MadeTensor& tensor : tensors_)
      if (std::string text = tensor.vectorizer->warning(); !text.empty())
        return text;
    return "";
  }

 private:
  using Workspaces = std::vector<std::unique_ptr<Vectorizer::Workspace>>;

  void make(const RecipeTensor& tensor, RecipeFrom from) {
    std::vector<std::unique_ptr<Vectorizer>> parts;
    parts.reserve(tensor.parts.size());
    for (const RecipePart& part : tensor.parts) try {
        parts.push_back(
            part.type->make(part.settings(from), known_classes(tensor.name)));
      } catch (Error& e) {
        e.add_context(part.place);
        throw;
      }
    MadeTensor made{tensor.name, side_by_side(std::move(parts))};
    const Json column = tensor.parts[0].settings().json().at("from");
    if (column.is_string()) made.from = column;
    const data::Field field = made.vectorizer->field();
    made.bytes = static_cast<std::size_t>(field.shape.elements()) *
                 tensor::size_of(field.dtype);
    tensors_.push_back(std::move(made));
  }

  std::vector<std::string> known_classes(const std::string& tensor) const {
    const auto found = options_.classes.find(tensor);
    return found == options_.classes.end() ? std::vector<std::string>{}
                                           : found->second;
  }

  // Metadata of a tensor "labels", or "labels/NAME".
  static data::About& about(data::Metadata& metadata,
                            const std::string& tensor) {
    const std::size_t slash = tensor.find('/');
    return slash == std::string::npos
               ? metadata
               : metadata.parts[tensor.substr(slash + 1)];
  }

  data::Metadata described() const {
    data::Metadata metadata;
    for (const MadeTensor& tensor : tensors_) {
      metadata.schema[tensor.name] = tensor.vectorizer->field();
      tensor.vectorizer->describe(about(metadata, tensor.name),
                                  tensor.name.starts_with("labels"));
    }
    if (options_.index) metadata.schema["index"] = kIndexField;
    metadata.recipe = recipe_;
    return metadata;
  }

  std::size_t record_bytes() const {
    std::size_t bytes = 0;
    for (const MadeTensor& tensor : tensors_) bytes += tensor.bytes;
    return bytes * static_cast<std::size_t>(batch_);
  }

  // For a preview, which wants the whole input first.
  void take_sample() {
    const auto features = schema_.find("features");
    EvenSample sample(static_cast<std::size_t>(examples_of_sheet(
        features == schema_.end() ? tensor::Shape{} : features->second.shape)));
    std::map<std::string, std::int64_t> folders;
    for (Record record; source_->next(record);) {
      SampledRecord sampled{{}, records_++, {}};
      see(record, sampled.seen);
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
    for (std::size_t t = 0; t < tensors_.size(); ++t)
      if (tensors_[t].name == "labels" &&
          schema_.at("labels").dtype == tensor::DType::kI32)
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
        see(record, block.seen);
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

  void see(Record& record, std::vector<std::int64_t>& seen) {
    for (const MadeTensor& tensor : tensors_) {
      std::int64_t number = 0;
      if (record.problem.empty()) try {
          tensor.vectorizer->complete(record);
          number = tensor.vectorizer->see(record);
        } catch (const Error& e) {
          if (e.code() != Code::kData) throw;
          record.problem = e.what();
        }
      seen.push_back(number);
    }
  }

  BlockResult work(RecordBlock& block, const Workspaces& workspaces) {
    BlockResult result;
    data::DataSet set =
        make_record(schema_, static_cast<std::int64_t>(block.records.size()));
    std::int64_t n = 0;
    for (std::size_t i = 0; i < block.records.size(); ++i) {
      Record& record = block.records[i];
      try {
        if (!record.problem.empty()) bad_data(record.problem);
        load(record);
        bytes_ += static_cast<std::int64_t>(record.columns.bytes());
        put(record, std::span(block.seen).subspan(i * tensors_.size()),
            workspaces, n, set);
      } catch (const Error& e) {
        if (e.code() != Code::kData) throw;
        result.bad.push_back(record.place() + ": " + e.what());
        continue;
      }
      for (const auto& workspace : workspaces)
        if (workspace) result.filled += workspace->filled;
      if (options_.index) set_index(set, n, block.numbers[i]);
      ++n;
      record = {};  // its bytes are of no more use
    }
    if (n == 0) return result;
    result.set = std::cmp_equal(n, block.records.size()) ? std::move(set)
                                                         : set.slice(0, n);
    return result;
  }

  void put(const Record& record, std::span<const std::int64_t> seen,
           const Workspaces& workspaces, std::int64_t n,
           data::DataSet& set) const {
    for (std::size_t t = 0; t < tensors_.size(); ++t) {
      const MadeTensor& tensor = tensors_[t];
      if (workspaces[t]) workspaces[t]->filled = 0;
      const auto out = set.tensors.at(tensor.name)
                           .bytes()
                           .subspan(static_cast<std::size_t>(n) * tensor.bytes,
                                    tensor.bytes);
      tensor.vectorizer->put(record, seen[t], workspaces[t].get(), out);
    }
    check_masks(record, workspaces);
    // Now that all of the record is good.
    for (std::size_t t = 0; t < tensors_.size(); ++t)
      if (const auto encoded = set.encoded.find(tensors_[t].name);
          encoded != set.encoded.end())
        encoded->second.append(
            tensors_[t].vectorizer->encoded(workspaces[t].get()));
  }

  // A picture among the labels belongs to the one of the features, pixel by
  // pixel; turned, or of other proportions, it is of another one.
  void check_masks(const Record& record, const Workspaces& workspaces) const {
    std::size_t picture = tensors_.size();
    const auto is_picture = [&](std::size_t t, const char* kind) {
      return workspaces[t] && workspaces[t]->width > 0 &&
             tensors_[t].name.starts_with(kind);
    };
    for (std::size_t t = 0; t < tensors_.size(); ++t) {
      if (!is_picture(t, "features")) continue;
      if (picture < tensors_.size()) return;  // of several, nobody knows which
      picture = t;
    }
    if (picture == tensors_.size()) return;
    const Vectorizer::Workspace& own = *workspaces[picture];
    for (std::size_t t = 0; t < tensors_.size(); ++t) {
      if (!is_picture(t, "labels")) continue;
      const Vectorizer::Workspace& mask = *workspaces[t];
      if (!have_same_proportions(own, mask))
        bad_data(tensors_[t].file_of(record) + " of " + tensors_[t].name +
                 " is " + size_of(mask) + " upright, and " +
                 tensors_[picture].file_of(record) + " of " +
                 tensors_[picture].name + " is " + size_of(own) +
                 ": want the same proportions, turned alike by EXIF");
    }
  }
  // One of another size may be a pixel off.
  static bool have_same_proportions(const Vectorizer::Workspace& a,
                                    const Vectorizer::Workspace& b) {
    if (a.width == b.width || a.height == b.height)
      return a.width == b.width && a.height == b.height;
    const std::int64_t most = std::max({a.width, a.height, b.width, b.height});
    return std::abs(a.width * b.height - a.height * b.width) <= most;
  }
  static std::string size_of(const Vectorizer::Workspace& picture) {
    return std::to_string(picture.width) + "x" + std::to_string(picture.height);
  }

  Json recipe_;
  RecipeOptions options_;
  BadRecords& bad_;
  std::vector<MadeTensor> tensors_;
  data::Metadata start_;  // as it is known before the first record
  Schema schema_;
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
  return std::make_unique<RecipeReading>(recipe, inputs, options, bad);
}

}  // namespace dl::vectorize
