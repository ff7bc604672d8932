#include "libcore/vectorize/csv_sequences.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/base/number_format.h"
#include "libcore/data/format/decode.h"
#include "libcore/io/digest.h"
#include "libcore/io/source.h"
#include "libcore/vectorize/block_reader.h"
#include "libcore/vectorize/csv_fields.h"
#include "libcore/vectorize/csv_table.h"
#include "libcore/vectorize/label_files.h"
#include "libcore/vectorize/sequence_cut.h"

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

enum class Align { kNone, kStart, kEnd };

Align parse_align(const CsvOptions& csv) {
  if (csv.align.empty()) return Align::kNone;
  if (csv.label_files.empty() || !csv.per_step)
    bad_usage("--align is for --label-files with --per-step");
  if (csv.align == "start") return Align::kStart;
  if (csv.align == "end") return Align::kEnd;
  bad_usage("--align: want start or end, got " + in_quotes(csv.align));
}

// The bytes of the longest name; 0 where some input is no file.
std::int64_t longest_name(const std::vector<std::string>& inputs) {
  std::size_t longest = 0;
  for (const std::string& input : inputs) {
    if (!io::names_file(input)) return 0;
    longest = std::max(longest, input.size());
  }
  return static_cast<std::int64_t>(longest);
}

// Options of the files with the features.
CsvOptions of_features(CsvOptions csv) {
  if (!csv.label_files.empty()) csv.label = "none";
  return csv;
}

class SequenceReader : public BlockReader {
 public:
  SequenceReader(const std::vector<std::string>& inputs,
                 const ReaderOptions& options, const CsvOptions& csv,
                 BadRecords& bad)
      : BlockReader(options, bad),
        inputs_(inputs),
        csv_(of_features(csv)),
        cut_(csv.sequence),
        names_(cut_),
        longer_(parse_longer(csv.longer)),
        align_(parse_align(csv)),
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
    if (cut_.way == SequenceCut::kFile && csv.id.empty())
      file_name_bytes_ = longest_name(inputs);
    if (!csv.label_files.empty())
      label_files_.emplace(inputs, this->options(), csv);
    start();
  }
  ~SequenceReader() override { stop(); }

  data::Metadata metadata() const override {
    data::Metadata metadata;
    fields_.describe(metadata);
    Schema& schema = metadata.schema;
    if (label_files_) describe_label_files(metadata);
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
    if (file_name_bytes_ > 0)
      schema["id"] = {tensor::DType::kU8, {file_name_bytes_}};
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
  std::string warning() const override {
    return label_files_ ? label_files_->classes().doubt() : fields_.warning();
  }

 private:
  void describe_label_files(data::Metadata& metadata) const {
    const bool has_classes = label_files_->has_classes();
    metadata.schema["labels"] =
        has_classes
            ? data::Field{tensor::DType::kI32, {}}
            : data::Field{tensor::DType::kF32, {label_files_->targets()}};
    if (align_ != Align::kNone)
      metadata.schema["labels_mask"] = {tensor::DType::kF32, {}};
    if (has_classes)
      metadata.classes = label_files_->classes().names();
    else
      metadata.targets = label_files_->target_names();
  }

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
      names_.put(*parsed_);
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
    if (cut_.way != SequenceCut::kColumn) return true;
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
    const std::size_t input = parsed_->block.input;
    std::int64_t steps = 0, all = 0;  // of them, and with those too many
    bool lacks_any = false;
    while (has_row()) {
      if (coming() && *coming() != name_) break;
      next_example(*parsed_, cursor_);
      lacks_any = lacks_any || !cursor_.good;
      if (!cursor_.good) continue;
      if (++all > csv_.steps) {
        if (longer_ == Longer::kFail) fail_too_long();
      } else {
        put_step(set, n, steps++);
      }
      // Metadata of the whole, which may lie behind the rows that are kept.
      if (!csv_.per_step && !label_files_) put_label(set, n);
    }
    if (label_files_ && all > 0) {
      if (lacks_any && csv_.per_step) return false;  // whose is a label now?
      if (!put_labels_of_file(set, n, input, all)) return false;
    }
    if (all > csv_.steps && longer_ == Longer::kSkip) {
      bad_.skip_sequence();
      return false;
    }
    if (all > csv_.steps) bad_.truncate_sequence();
    return steps > 0;
  }

  // Puts the labels of a sequence of `all` steps, which grow to those that are
  // labeled; false: it is a bad one.
  bool put_labels_of_file(data::DataSet& set, std::int64_t n, std::size_t input,
                          std::int64_t& all) try {
    const FileLabels labels = label_files_->read(inputs_[input]);
    if (!csv_.per_step) {
      put_label_of_file(set, n, labels, labels.rows - 1);
      return true;
    }
    if (align_ == Align::kNone && labels.rows != all)
      bad_data(labels.name + ": has " + counted(labels.rows, "row") +
               " of labels for " + counted(all, "step") +
               " (--align start or end says which have one)");
    if (labels.rows > all) lengthen(set, n, labels, all);
    const std::int64_t first = align_ == Align::kEnd ? all - labels.rows : 0;
    for (std::int64_t i = 0; i < labels.rows && first + i < csv_.steps; ++i) {
      const std::int64_t to = n * csv_.steps + first + i;
      put_label_of_file(set, to, labels, i);
      if (align_ != Align::kNone)
        set.tensors.at("labels_mask")
            .as<float>()[static_cast<std::size_t>(to)] = 1;
    }
    return true;
  } catch (const Error& e) {
    if (!bad_.tolerant()) throw;
    bad_.add(e.what());
    return false;
  }

  // Makes steps without features, where there are more labels than these.
  void lengthen(data::DataSet& set, std::int64_t n, const FileLabels& labels,
                std::int64_t& all) const {
    if (ragged_)
      bad_data(labels.name + ": has " + counted(labels.rows, "row") +
               " of labels for " + counted(all, "step") +
               ", which --store ragged cannot have");
    if (labels.rows > csv_.steps && longer_ == Longer::kFail)
      bad_data(labels.name + ": has more rows of labels than --steps " +
               std::to_string(csv_.steps));
    const std::int64_t by = align_ == Align::kEnd ? labels.rows - all : 0;
    for (const char* name : {"features", "features_mask"}) {
      const auto bytes = set.tensors.at(name).bytes();
      const std::size_t example =
          bytes.size() / static_cast<std::size_t>(set.examples());
      const auto own =
          bytes.subspan(static_cast<std::size_t>(n) * example, example);
      const auto moved = static_cast<std::ptrdiff_t>(
          example / static_cast<std::size_t>(csv_.steps) *
          static_cast<std::size_t>(std::min(by, csv_.steps)));
      std::ranges::move_backward(own.begin(), own.end() - moved, own.end());
      std::fill(own.begin(), own.begin() + moved, std::byte{0});
    }
    all = labels.rows;
  }

  void put_label_of_file(data::DataSet& set, std::int64_t to,
                         const FileLabels& labels, std::int64_t row) const {
    tensor::Tensor& all = set.tensors.at("labels");
    if (label_files_->has_classes()) {
      all.as<std::int32_t>()[static_cast<std::size_t>(to)] =
          labels.classes[static_cast<std::size_t>(row)];
      return;
    }
    const auto width = static_cast<std::size_t>(label_files_->targets());
    std::ranges::copy(
        std::span(labels.numbers)
            .subspan(static_cast<std::size_t>(row) * width, width),
        all.as<float>().begin() +
            static_cast<std::ptrdiff_t>(static_cast<std::size_t>(to) * width));
  }

  // Copies a tensor of the current row to place `to`.
  void copy(data::DataSet& set, const char* name, std::int64_t to) const {
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
    if (csv_.per_step && !label_files_) put_label(set, row);
    if (step == 0) put_id(set, n);
  }

  // A sequence that is a file is called as that.
  void put_id(data::DataSet& set, std::int64_t n) const {
    if (file_name_bytes_ == 0) return copy(set, "id", n);
    const std::string& name = inputs_[parsed_->block.input];
    std::memcpy(set.tensors.at("id").bytes().data() + n * file_name_bytes_,
                name.data(), name.size());
  }

  [[noreturn]] void fail_too_long() const {
    throw Error{Code::kData, place(cursor_.number) + ": " +
                                 (cut_.way == SequenceCut::kColumn
                                      ? "sequence '" + clipped(name_) + "'"
                                      : "the sequence") +
                                 " is longer than --steps " +
                                 std::to_string(csv_.steps) +
                                 " (--longer truncate or skip lets it pass)"};
  }

  struct Place {
    std::uint32_t file;
    std::int64_t line;
  };

  std::vector<std::string> inputs_;
  CsvOptions csv_;
  SequenceCut cut_;
  SequenceNames names_;
  Longer longer_;
  Align align_;
  bool ragged_;
  CsvTable table_;
  CsvFields fields_;
  std::optional<LabelFiles> label_files_;
  bool numbered_;  // some may be left out, so that the others need a number
  std::optional<ParsedBlock> parsed_;  // the block at hand
  Cursor cursor_;                      // its current row
  std::string name_;                   // of the current sequence
  std::int64_t file_name_bytes_ =
      0;  // of ids that are names; 0: there are none
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
