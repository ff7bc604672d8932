#include "libcore/vectorize/recipe/recipe_reader.h"

#include <algorithm>
#include <atomic>

#include "libcore/base/error.h"
#include "libcore/base/parallel.h"
#include "libcore/vectorize/engine.h"
#include "libcore/vectorize/schema.h"
#include "libcore/vectorize/source/record_source.h"
#include "libcore/vectorize/table/side_by_side.h"

namespace dl::vectorize {
namespace {

// A tensor of the recipe, at work.
struct MadeTensor {
  std::string name;
  std::unique_ptr<Vectorizer> vectorizer;
  std::size_t bytes = 0;  // of an example
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
};

std::size_t bytes_in(const Record& record) {
  std::size_t bytes = 0;
  for (const auto& [name, value] : record.columns) bytes += value.size();
  return bytes;
}

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

  // Of a tensor "labels", or "labels/NAME".
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

  // The next block of this part.
  bool cut(RecordBlock& block) {
    do {
      block = {};
      Record record;
      while (std::cmp_less(block.records.size(), batch_) &&
             block.bytes < kBlockBytes && source_->next(record)) {
        const std::int64_t number = records_++;
        std::vector<std::int64_t> seen = see(record);
        if (!options_.share.has(record)) continue;
        block.seen.insert(block.seen.end(), seen.begin(), seen.end());
        block.numbers.push_back(number);
        block.bytes += bytes_in(record);
        block.records.push_back(std::move(record));
      }
      if (block.records.empty()) return false;
    } while (blocks_++ % options_.parts != options_.part - 1);
    return true;
  }

  std::vector<std::int64_t> see(Record& record) {
    std::vector<std::int64_t> seen;
    for (const MadeTensor& tensor : tensors_) {
      std::int64_t number = 0;
      if (record.problem.empty()) try {
          number = tensor.vectorizer->see(record);
        } catch (const Error& e) {
          if (e.code() != Code::kData) throw;
          record.problem = e.what();
        }
      seen.push_back(number);
    }
    return seen;
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
        bytes_ += static_cast<std::int64_t>(bytes_in(record));
        put(record, std::span(block.seen).subspan(i * tensors_.size()),
            workspaces, n, set);
      } catch (const Error& e) {
        if (e.code() != Code::kData) throw;
        result.bad.push_back(record.name + ": " + e.what());
        continue;
      }
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
      const auto out = set.tensors.at(tensor.name)
                           .bytes()
                           .subspan(static_cast<std::size_t>(n) * tensor.bytes,
                                    tensor.bytes);
      tensor.vectorizer->put(record, seen[t], workspaces[t].get(), out);
    }
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
  bool ended_ = false;
  std::vector<Workspaces> workspaces_;
  std::optional<Engine<RecordBlock, BlockResult>> engine_;  // last: it stops
};

}  // namespace

std::unique_ptr<Reader> open_recipe(const Recipe& recipe, const Inputs& inputs,
                                    const RecipeOptions& options,
                                    BadRecords& bad) {
  return std::make_unique<RecipeReading>(recipe, inputs, options, bad);
}

}  // namespace dl::vectorize
