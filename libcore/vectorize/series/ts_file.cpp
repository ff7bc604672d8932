#include "libcore/vectorize/series/ts_file.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/data/format/decode.h"
#include "libcore/vectorize/class_labels.h"
#include "libcore/vectorize/schema.h"
#include "libcore/vectorize/text.h"
#include "libcore/vectorize/text_blocks.h"

namespace dl::vectorize {
namespace {

// The lines with @ that a file begins with.
struct TsHeader {
  std::int64_t dimensions = 1, length = 0;  // 0: it is not said
  bool is_equal = false, has_times = false;
  bool has_classes = false, has_targets = false;
  std::vector<std::string> classes;
  bool operator==(const TsHeader&) const = default;
};

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// Lines of an input that are neither empty nor comments.
class TsLines {
 public:
  explicit TsLines(const std::string& spec) : blocks_(spec) {}

  bool next(std::string& line) {
    constexpr std::int64_t kMost = 1 << 16;
    while (true) {
      if (at_ >= block_.bytes.size()) {
        if (!blocks_.next(block_, kMost)) return false;
        at_ = 0;
        number_ = block_.line - 1;
      }
      const std::size_t end =
          std::min(block_.bytes.find('\n', at_), block_.bytes.size());
      std::string_view text =
          trim(std::string_view(block_.bytes).substr(at_, end - at_));
      at_ = end + 1;
      ++number_;
      if (text.ends_with('\r')) text = trim(text.substr(0, text.size() - 1));
      if (text.empty() || text.starts_with('#')) continue;
      line = text;
      return true;
    }
  }
  std::string place() const {
    return blocks_name() + ", line " + std::to_string(number_) + ": ";
  }
  std::string blocks_name() const { return block_.name; }
  void close() { blocks_.input().close(); }

 private:
  TextBlocks blocks_;
  InputBlock block_;
  std::size_t at_ = 0;
  std::int64_t number_ = 0;
};

class TsReader : public Reader {
 public:
  TsReader(const std::vector<std::string>& inputs, const ReaderOptions& options,
           std::int64_t steps, BadRecords& bad)
      : inputs_(inputs), bad_(bad), classes_(options.classes) {
    if (inputs_.empty()) inputs_ = {"-"};
    open_next();
    header_ = *now_;
    if (options.regression && !header_.has_targets)
      bad_usage("--regression: the file has classes");
    steps_ = steps > 0 ? steps : header_.length;
    if (steps_ == 0)
      bad_usage(lines_->blocks_name() +
                " does not say how long its series are: --steps N is the "
                "length of the longest");
    is_ragged_ = !header_.is_equal;
    if (!classes_.fixed() && !header_.classes.empty())
      classes_ = ClassLabels(header_.classes);
    data::Field features{tensor::DType::kF32, {steps_, header_.dimensions}};
    if (is_ragged_) features.encoding = data::Encoding::kRagged;
    schema_["features"] = features;
    if (header_.has_classes) schema_["labels"] = {tensor::DType::kI32, {}};
    if (header_.has_targets) schema_["labels"] = {tensor::DType::kF32, {1}};
    if (bad.tolerant()) schema_["index"] = kIndexField;
    batch_ = record_examples(options.batch, data::plain_schema(schema_));
  }

  data::Metadata metadata() const override {
    data::Metadata metadata;
    metadata.schema = schema_;
    if (header_.has_classes) metadata.classes = classes_.names();
    return metadata;
  }

  bool read(data::DataSet& set) override {
    set = make_record(schema_, batch_);
    std::int64_t n = 0;
    for (std::string line; n < batch_ && next(line);) {
      const std::int64_t index = examples_++;
      try {
        put(line, n, set);
      } catch (const Error& e) {
        if (e.code() != Code::kData) throw;
        if (!is_ragged_) clear_example(set, n);
        bad_.add(lines_->place() + e.what());
        continue;
      }
      if (bad_.tolerant()) set_index(set, n, index);
      ++n;
    }
    if (n < batch_)
      for (auto& [name, tensor] : set.tensors) tensor = tensor.rows(0, n);
    if (n > 0) data::add_decoded(set, schema_);
    return n > 0;
  }

  std::int64_t examples() const override { return examples_; }

 private:
  void open_next() {
    lines_.emplace(inputs_[opened_++]);
    now_ = read_header();
    if (now_->has_times)
      bad_data(lines_->blocks_name() +
               ": series with time stamps are not read; of equal steps the "
               "numbers alone will do");
  }

  TsHeader read_header() {
    TsHeader header;
    for (std::string line; lines_->next(line);) {
      if (!line.starts_with('@'))
        bad_data(lines_->place() + "want a line that begins with @, or @data");
      std::vector<std::string> words = split(line, ' ');
      std::erase(words, "");
      const std::string key = in_lower_case(words[0]);
      const std::string value = words.size() > 1 ? in_lower_case(words[1]) : "";
      const bool is_true = value == "true";
      if (key == "@data") return header;
      if (key == "@timestamps") header.has_times = is_true;
      if (key == "@equallength") header.is_equal = is_true;
      if (key == "@targetlabel") header.has_targets = is_true;
      if (key == "@dimension" || key == "@dimensions")
        header.dimensions = number_of(value, kMaxColumns);
      if (key == "@serieslength") header.length = number_of(value, kMaxColumns);
      if (key == "@classlabel") {
        header.has_classes = is_true;
        if (is_true) header.classes.assign(words.begin() + 2, words.end());
      }
    }
    bad_data(lines_->blocks_name() + " has no line @data");
  }

  std::int64_t number_of(const std::string& text, std::int64_t most) const {
    std::int64_t number = 0;
    if (!parse_integer(text, number) || number < 1 || number > most)
      bad_data(lines_->place() + "want a number of 1.." + std::to_string(most) +
               ", got '" + clipped(text) + "'");
    return number;
  }

  // The next line with data.
  bool next(std::string& line) {
    while (!lines_->next(line)) {
      lines_->close();
      if (opened_ == inputs_.size()) return false;
      open_next();
      if (!(*now_ == header_))
        bad_data(lines_->blocks_name() +
                 " has another header than the file before it");
    }
    return true;
  }

  void put(const std::string& line, std::int64_t n, data::DataSet& set) {
    std::vector<std::string> parts = split(line, ':');
    std::string label;
    if (header_.has_classes || header_.has_targets) {
      label = trim(parts.back());
      parts.pop_back();
    }
    if (std::cmp_not_equal(parts.size(), header_.dimensions))
      bad_data("want " + std::to_string(header_.dimensions) +
               " dimensions, got " + std::to_string(parts.size()));
    std::vector<float> values;
    std::size_t length = 0;
    for (std::size_t d = 0; d < parts.size(); ++d) {
      const std::vector<std::string> numbers = split(parts[d], ',');
      if (d == 0) {
        length = numbers.size();
        check_length(length);
        values.resize(length * parts.size());
      }
      if (numbers.size() != length)
        bad_data("its dimensions are " + std::to_string(length) + " and " +
                 std::to_string(numbers.size()) + " steps long");
      for (std::size_t i = 0; i < length; ++i)
        values[i * parts.size() + d] = value_of(numbers[i]);
    }
    put_label(label, n, set);
    const auto bytes = std::as_bytes(std::span(values));
    if (is_ragged_)
      set.encoded.at("features").append(bytes);
    else
      std::ranges::copy(bytes,
                        set.tensors.at("features")
                            .bytes()
                            .subspan(static_cast<std::size_t>(n) * bytes.size())
                            .begin());
  }

  void check_length(std::size_t length) const {
    if (std::cmp_greater(length, steps_))
      bad_data("it has " + std::to_string(length) + " steps, more than " +
               std::to_string(steps_) + " (--steps)");
    if (!is_ragged_ && std::cmp_not_equal(length, steps_))
      bad_data("it has " + std::to_string(length) + " steps, want " +
               std::to_string(steps_) + ": @equalLength is true");
  }

  static float value_of(std::string_view text) {
    double number = 0;
    tensor::Tensor one(tensor::DType::kF32, {1});
    if (!parse_number(trim(text), number) || !store(one, 0, number))
      bad_data("want a number, got '" + clipped(text) + "'");
    return one.as<float>()[0];
  }

  void put_label(const std::string& label, std::int64_t n, data::DataSet& set) {
    const auto at = static_cast<std::size_t>(n);
    if (header_.has_targets)
      set.tensors.at("labels").as<float>()[at] = value_of(label);
    if (!header_.has_classes) return;
    const std::int64_t index = classes_.index(label);
    if (index < 0) bad_data(classes_.complaint(label));
    set.tensors.at("labels").as<std::int32_t>()[at] =
        static_cast<std::int32_t>(index);
  }

  std::vector<std::string> inputs_;
  BadRecords& bad_;
  ClassLabels classes_;
  std::optional<TsLines> lines_;
  std::optional<TsHeader> now_;  // of the file that is read
  TsHeader header_;              // of the first
  Schema schema_;
  bool is_ragged_ = false;
  std::int64_t steps_ = 0, batch_ = 1, examples_ = 0;
  std::size_t opened_ = 0;
};

}  // namespace

std::unique_ptr<Reader> open_ts(const std::vector<std::string>& inputs,
                                const ReaderOptions& options,
                                std::int64_t steps, BadRecords& bad) {
  return std::make_unique<TsReader>(inputs, options, steps, bad);
}

}  // namespace dl::vectorize
