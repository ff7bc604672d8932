#include "libcore/vectorize/csv_sequences.h"

#include <unordered_map>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/io/digest.h"
#include "libcore/vectorize/csv_fields.h"
#include "libcore/vectorize/csv_table.h"
#include "libcore/vectorize/example_reader.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

enum class Longer { kFail, kTruncate, kSkip };

Longer parse_longer(const std::string& text) {
  if (text == "fail") return Longer::kFail;
  if (text == "truncate") return Longer::kTruncate;
  if (text == "skip") return Longer::kSkip;
  throw Error{Code::kUsage, "--longer: want fail, truncate or skip, got '" +
                                displayed(text) + "'"};
}

class SequenceReader : public ExampleReader {
 public:
  SequenceReader(const std::vector<std::string>& inputs,
                 const ReaderOptions& options, const CsvOptions& csv,
                 BadRecords& bad)
      : options_(options),
        csv_(csv),
        longer_(parse_longer(csv.longer)),
        table_(inputs, csv.delimiter, csv.header),
        fields_(table_, options_, csv_, bad),
        bad_(bad),
        numbered_(bad.tolerant() || csv.missing == "skip" ||
                  longer_ == Longer::kSkip) {
    if (csv.steps < 1 || csv.steps > kMaxColumns)
      throw Error{Code::kUsage,
                  "--sequence wants --steps N, the length of the longest "
                  "sequence, 1.." +
                      std::to_string(kMaxColumns)};
    start(options.batch);
  }

  data::Metadata metadata() const override {
    data::Metadata metadata;
    fields_.describe(metadata);
    Schema& schema = metadata.schema;
    const auto in_steps = [&](const char* name) {
      const auto field = schema.find(name);
      if (field == schema.end()) return;
      field->second.shape = field->second.shape.with_first(csv_.steps);
    };
    in_steps("features");
    if (csv_.per_step) {
      in_steps("labels");
      in_steps("labels_mask");
    }
    schema["features_mask"] = {tensor::DType::kU8, {csv_.steps}};
    if (numbered_) schema["index"] = kIndexField;
    return metadata;
  }

  std::string warning() const override { return fields_.warning(); }

 private:
  // Goes to the first row of the next sequence.
  bool next() override {
    do {
      if (!table_.next()) return false;
    } while (!fields_.is_whole());
    name_ = fields_.sequence();
    const std::uint64_t key = io::digest(std::as_bytes(std::span(name_)));
    const auto [found, is_new] = seen_.try_emplace(key, table_.here());
    if (!is_new)
      throw Error{Code::kData,
                  table_.place() + ": sequence '" + clipped(name_) +
                      "' was at " + table_.place(found->second) +
                      " already; sort the rows so that those of a sequence "
                      "are neighbors"};
    table_.unread();
    return true;
  }

  // Puts the rows of the sequence into example n.
  bool put(data::DataSet& set, std::int64_t n) override {
    std::int64_t steps = 0;
    bool too_long = false;
    while (table_.next()) {
      if (!fields_.is_whole()) continue;  // of no sequence
      if (fields_.sequence() != name_) {
        table_.unread();
        break;
      }
      if (!fields_.parse()) continue;
      if (steps == csv_.steps) {
        if (longer_ == Longer::kFail) fail_too_long();
        too_long = true;
      } else {
        put_step(set, n, steps++);
      }
      // Metadata of the whole, which may lie behind the rows that are kept.
      if (!csv_.per_step) fields_.put_label(set, n);
    }
    if (too_long && longer_ == Longer::kSkip) {
      bad_.skip_sequence();
      return false;
    }
    if (too_long) bad_.truncate_sequence();
    return steps > 0;
  }

  void put_step(data::DataSet& set, std::int64_t n, std::int64_t step) {
    const std::int64_t row = n * csv_.steps + step;
    fields_.put_features(set, row);
    set.tensors.at("features_mask")
        .as<std::uint8_t>()[static_cast<std::size_t>(row)] = 1;
    if (csv_.per_step) fields_.put_label(set, row);
    if (step == 0) fields_.put_id(set, n);
  }

  [[noreturn]] void fail_too_long() const {
    throw Error{Code::kData, table_.place() + ": sequence '" + clipped(name_) +
                                 "' is longer than --steps " +
                                 std::to_string(csv_.steps) +
                                 " (--longer truncate or skip lets it pass)"};
  }

  ReaderOptions options_;
  CsvOptions csv_;
  Longer longer_;
  CsvTable table_;
  CsvFields fields_;
  BadRecords& bad_;
  bool numbered_;     // some may be left out, so that the others need a number
  std::string name_;  // of the current sequence
  // Where each began, by the digest of its name.
  std::unordered_map<std::uint64_t, CsvTable::Place> seen_;
};

}  // namespace

std::unique_ptr<Reader> open_csv_sequences(
    const std::vector<std::string>& inputs, const ReaderOptions& options,
    const CsvOptions& csv, BadRecords& bad) {
  return std::make_unique<SequenceReader>(inputs, options, csv, bad);
}

}  // namespace dl::vectorize
