#include "libcore/vectorize/csv_sequences.h"

#include <cstring>
#include <optional>
#include <unordered_map>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/data/format/decode.h"
#include "libcore/io/digest.h"
#include "libcore/vectorize/block_reader.h"
#include "libcore/vectorize/csv_fields.h"
#include "libcore/vectorize/csv_table.h"

namespace dl::vectorize {
namespace {

enum class Longer { kFail, kTruncate, kSkip };

// Whether the stream has sequences without their padding.
bool is_ragged(const std::string& store) {
  if (store == "ragged") return true;
  if (store.empty() || store == "padded") return false;
  throw Error{Code::kUsage, "--store: of csv, want padded or ragged, got '" +
                                displayed(store) + "'"};
}

Longer parse_longer(const std::string& text) {
  if (text == "fail") return Longer::kFail;
  if (text == "truncate") return Longer::kTruncate;
  if (text == "skip") return Longer::kSkip;
  throw Error{Code::kUsage, "--longer: want fail, truncate or skip, got '" +
                                displayed(text) + "'"};
}

class SequenceReader : public BlockReader {
 public:
  SequenceReader(const std::vector<std::string>& inputs,
                 const ReaderOptions& options, const CsvOptions& csv,
                 BadRecords& bad)
      : BlockReader(options, bad),
        csv_(csv),
        longer_(parse_longer(csv.longer)),
        ragged_(is_ragged(options.store)),
        table_(inputs, {csv.delimiter, csv.header, csv.encoding, csv.log}),
        fields_(table_, this->options(), csv_),
        numbered_(bad.tolerant() || csv.missing == "skip" ||
                  longer_ == Longer::kSkip) {
    if (csv.steps < 1 || csv.steps > kMaxColumns)
      throw Error{Code::kUsage,
                  "--sequence wants --steps N, the length of the longest "
                  "sequence, 1.." +
                      std::to_string(kMaxColumns)};
    start();
  }
  ~SequenceReader() override { stop(); }

  data::Metadata metadata() const override {
    data::Metadata metadata;
    fields_.describe(metadata);
    Schema& schema = metadata.schema;
    const auto in_steps = [&](const char* name) {
      const auto field = schema.find(name);
      if (field == schema.end()) return;
      field->second.shape = field->second.shape.with_first(csv_.steps);
      if (ragged_) field->second.encoding = data::Encoding::kRagged;
    };
    in_steps("features");
    if (csv_.per_step) {
      in_steps("labels");
      in_steps("labels_mask");
    }
    if (!ragged_) schema["features_mask"] = {tensor::DType::kU8, {csv_.steps}};
    if (numbered_) schema["index"] = kIndexField;
    return metadata;
  }

  bool read(data::DataSet& set) override {
    set = make_record(data::plain_schema(schema()), batch());
    std::int64_t n = 0;
    while (n < batch() && next_sequence()) {
      const std::int64_t index = sequences_++;
      if (!put(set, n)) {
        clear_example(set, n);  // it may have left values behind
        continue;
      }
      if (numbered_) set_index(set, n, index);
      ++n;
    }
    if (n < batch()) set = set.slice(0, n);
    if (ragged_ && n > 0) data::strip_padding(set, schema());
    return n > 0;
  }

  std::int64_t examples() const override { return sequences_; }
  std::string warning() const override { return fields_.warning(); }

 private:
  bool cut(InputBlock& block) override {
    return table_.cut(block, kMaxColumns);
  }
  void parse(ParsedBlock& parsed) const override { fields_.parse(parsed); }
  bool takes_labels() const override { return fields_.has_classes(); }
  std::string take_label(ParsedBlock& parsed, std::int64_t number,
                         std::int32_t& label) override {
    return fields_.take_label(parsed, number, label);
  }
  std::string full_sentence(ParsedBlock& parsed, std::int64_t number,
                            const std::string& what) override {
    return fields_.all_problems(parsed, number, what,
                                [this] { return next_block(); });
  }

  // Whether there is a row to come, of the sequence coming().
  bool has_row() {
    while (!parsed_ || !has_next(*parsed_, cursor_)) {
      parsed_ = next_block();
      if (!parsed_) return false;
      cursor_ = {};
    }
    return true;
  }
  // None: it is to be left out, as the sequence is not known.
  const std::optional<std::string>& coming() const {
    return parsed_->sequences[static_cast<std::size_t>(cursor_.number + 1)];
  }
  // The place of a row of the current block.
  std::string place(std::int64_t number) const {
    return parsed_->block.name + ", line " +
           std::to_string(parsed_->lines[static_cast<std::size_t>(number)]);
  }

  // Goes to the first row of the next sequence.
  bool next_sequence() {
    for (; has_row() && !coming(); next_example(*parsed_, cursor_)) {
    }
    if (!parsed_) return false;
    name_ = *coming();
    if (files_.empty() || files_.back() != parsed_->block.name)
      files_.push_back(parsed_->block.name);
    const Place here{
        static_cast<std::uint32_t>(files_.size() - 1),
        parsed_->lines[static_cast<std::size_t>(cursor_.number + 1)]};
    const std::uint64_t key = io::digest(std::as_bytes(std::span(name_)));
    const auto [found, is_new] = seen_.try_emplace(key, here);
    if (is_new) return true;
    throw Error{Code::kData,
                place(cursor_.number + 1) + ": sequence '" + clipped(name_) +
                    "' was at " + files_[found->second.file] + ", line " +
                    std::to_string(found->second.line) +
                    " already; sort the rows so that those of a sequence "
                    "are neighbors"};
  }

  // Puts the rows of the sequence into example n.
  bool put(data::DataSet& set, std::int64_t n) {
    std::int64_t steps = 0;
    bool too_long = false;
    while (has_row()) {
      if (coming() && *coming() != name_) break;
      next_example(*parsed_, cursor_);
      if (!cursor_.good) continue;
      if (steps == csv_.steps) {
        if (longer_ == Longer::kFail) fail_too_long();
        too_long = true;
      } else {
        put_step(set, n, steps++);
      }
      // Metadata of the whole, which may lie behind the rows that are kept.
      if (!csv_.per_step) put_label(set, n);
    }
    if (too_long && longer_ == Longer::kSkip) {
      bad_.skip_sequence();
      return false;
    }
    if (too_long) bad_.truncate_sequence();
    return steps > 0;
  }

  // Copies a tensor of the current row to place `to`.
  void copy(data::DataSet& set, const char* name, std::int64_t to) {
    const auto from = parsed_->set.tensors.find(name);
    if (from == parsed_->set.tensors.end()) return;
    const auto bytes = from->second.bytes();
    const std::size_t row =
        bytes.size() / static_cast<std::size_t>(from->second.shape()[0]);
    std::memcpy(set.tensors.at(name).bytes().data() +
                    static_cast<std::size_t>(to) * row,
                bytes.data() + static_cast<std::size_t>(cursor_.place) * row,
                row);
  }

  void put_label(data::DataSet& set, std::int64_t to) {
    copy(set, "labels", to);
    copy(set, "labels_mask", to);
  }

  void put_step(data::DataSet& set, std::int64_t n, std::int64_t step) {
    const std::int64_t row = n * csv_.steps + step;
    copy(set, "features", row);
    set.tensors.at("features_mask")
        .as<std::uint8_t>()[static_cast<std::size_t>(row)] = 1;
    if (csv_.per_step) put_label(set, row);
    if (step == 0) copy(set, "id", n);
  }

  [[noreturn]] void fail_too_long() const {
    throw Error{Code::kData, place(cursor_.number) + ": sequence '" +
                                 clipped(name_) + "' is longer than --steps " +
                                 std::to_string(csv_.steps) +
                                 " (--longer truncate or skip lets it pass)"};
  }

  struct Place {
    std::uint32_t file;
    std::int64_t line;
  };

  CsvOptions csv_;
  Longer longer_;
  bool ragged_;
  CsvTable table_;
  CsvFields fields_;
  bool numbered_;  // some may be left out, so that the others need a number
  std::optional<ParsedBlock> parsed_;  // the block at hand
  Cursor cursor_;                      // its current row
  std::string name_;                   // of the current sequence
  std::int64_t sequences_ = 0;
  std::vector<std::string> files_;  // that the sequences are of
  // Where each began, by the digest of its name.
  std::unordered_map<std::uint64_t, Place> seen_;
};

}  // namespace

std::unique_ptr<Reader> open_csv_sequences(
    const std::vector<std::string>& inputs, const ReaderOptions& options,
    const CsvOptions& csv, BadRecords& bad) {
  return std::make_unique<SequenceReader>(inputs, options, csv, bad);
}

}  // namespace dl::vectorize
