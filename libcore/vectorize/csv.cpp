// CSV tables: columns of numbers, and columns to predict.

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "libcore/base/error.h"
#include "libcore/base/json.h"
#include "libcore/vectorize/class_labels.h"
#include "libcore/vectorize/csv_rows.h"
#include "libcore/vectorize/reader.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

enum class Missing { kFail, kSkip, kFill };

// What is done about a field that is empty or says NA.
struct MissingRule {
  Missing kind = Missing::kFail;
  double value = 0;
  std::set<std::string, std::less<>> words;

  explicit MissingRule(const CsvOptions& csv) {
    for (std::string& word : split(csv.na, ',')) words.insert(std::move(word));
    words.insert("");
    if (csv.missing == "fail") return;
    kind = csv.missing == "skip" ? Missing::kSkip : Missing::kFill;
    if (kind == Missing::kSkip) return;
    if (!csv.missing.starts_with("fill:") ||
        !parse_number(std::string_view(csv.missing).substr(5), value) ||
        !std::isfinite(value))
      throw Error{Code::kUsage,
                  "--missing: want fail, skip or fill:NUMBER, "
                  "got '" +
                      csv.missing + "'"};
  }
};

// Why a row was left out; empty: it is good.
struct Verdict {
  std::string problem;
  bool skip = false;  // a missing value, under --missing skip: no mistake
};

class CsvReader : public Reader {
 public:
  CsvReader(const std::vector<std::string>& inputs,
            const ReaderOptions& options, const CsvOptions& csv,
            BadRecords& bad)
      : inputs_(inputs),
        options_(options),
        csv_(csv),
        missing_(csv),
        classes_(options.classes),
        bad_(bad) {
    if (csv.delimiter.size() != 1 && csv.delimiter != "\\t")
      throw Error{Code::kUsage, "--delimiter: want one character (or \\t)"};
    if (csv.label.empty())
      throw Error{Code::kUsage,
                  "csv wants --label COLUMN (a name, a number from 1, or -1 "
                  "for the last), or --label none"};
    if (inputs_.empty()) inputs_ = {"-"};
    if (csv.sequence.empty() ? csv.steps != 0 || csv.per_step : csv.steps < 1)
      throw Error{Code::kUsage,
                  "--sequence, --steps and --per-step: want the first with "
                  "--steps N, the length of the longest sequence"};
    open_next();
    choose_columns();
  }

  bool read(data::DataSet& set) override {
    if (!csv_.sequence.empty()) return read_sequences(set);
    std::int64_t n = 0;
    auto columns = static_cast<std::int64_t>(features_.size());
    Tensor features(dtype_, {options_.batch, columns});
    Tensor labels = label_tensor(options_.batch);
    while (n < options_.batch && next_row()) {
      if (accept(fill_row(features, labels, n, n))) ++n;
    }
    set.tensors.clear();
    if (n == 0) return false;
    Tensor rows = features.rows(0, n);
    rows.reshape(example_shape_.with_first(n));
    set.tensors.emplace("features", std::move(rows));
    if (!labels.empty()) set.tensors.emplace("labels", labels.rows(0, n));
    return true;
  }

  data::Metadata metadata() const override {
    data::Metadata metadata;
    metadata.schema["features"] = {dtype_, example_shape_};
    if (!csv_.sequence.empty())
      metadata.schema["features_mask"] = {DType::kU8, {csv_.steps}};
    if (!labels_.empty())
      metadata.schema["labels"] = {
          options_.regression ? DType::kF32 : DType::kI32, label_shape()};
    if (!options_.regression) metadata.classes = classes_.names();
    if (csv_.header) {
      for (std::size_t i : features_) metadata.columns.push_back(names_[i]);
      if (options_.regression)
        for (std::size_t i : labels_) metadata.targets.push_back(names_[i]);
    }
    return metadata;
  }

 private:
  void open_next() {
    input_ = std::make_unique<RawInput>(inputs_[next_++]);
    rows_.emplace(*input_, csv_.delimiter == "\\t" ? '\t' : csv_.delimiter[0]);
    pending_ = rows_->next();
    if (!pending_) throw Error{Code::kData, input_->name() + ": is empty"};
    if (!csv_.header) {
      if (names_.empty()) names_.resize(rows_->size());
      return;
    }
    std::vector<std::string> names;
    for (std::size_t i = 0; i < rows_->size(); ++i)
      names.emplace_back(trim(rows_->field(i)));
    if (!names_.empty() && names != names_)
      throw Error{Code::kData, input_->name() +
                                   ": has another header than the files "
                                   "before it"};
    names_ = std::move(names);
    pending_ = false;
  }

  bool next_row() {
    if (pending_) {
      pending_ = false;
      return true;
    }
    while (!rows_->next()) {
      input_->close();
      if (next_ == inputs_.size()) return false;
      open_next();
      if (pending_) return next_row();
    }
    return true;
  }

  // Sequences of neighbouring rows, each up to a row of another name.
  bool read_sequences(data::DataSet& set) {
    const std::int64_t steps = csv_.steps;
    Tensor features(dtype_, {options_.batch * steps,
                             static_cast<std::int64_t>(features_.size())});
    Tensor mask(DType::kU8, {options_.batch, steps});
    Tensor labels =
        label_tensor(csv_.per_step ? options_.batch * steps : options_.batch);
    std::int64_t n = 0, t = 0;  // sequences begun; steps of the last one
    std::string name;
    while (next_row()) {
      const std::string_view here = sequence_of_row();
      if (n == 0 || here != name) {
        if (n == 0 || t > 0) ++n;  // else nothing of the last one was good
        if (n > options_.batch) {
          pending_ = true;
          --n;
          break;
        }
        name = here;
        t = 0;
      }
      if (t == steps)
        throw Error{Code::kData, place() + ": sequence '" + name +
                                     "' is longer than --steps " +
                                     std::to_string(steps)};
      const std::int64_t row = (n - 1) * steps + t;
      if (!accept(fill_row(features, labels, row, csv_.per_step ? row : n - 1)))
        continue;
      mask.as<std::uint8_t>()[static_cast<std::size_t>(row)] = 1;
      ++t;
    }
    if (n > 0 && t == 0) --n;
    set.tensors.clear();
    if (n == 0) return false;
    features.reshape(example_shape_.with_first(options_.batch));
    set.tensors.emplace("features", features.rows(0, n));
    set.tensors.emplace("features_mask", mask.rows(0, n));
    if (!labels.empty()) {
      labels.reshape(label_shape().with_first(options_.batch));
      set.tensors.emplace("labels", labels.rows(0, n));
    }
    return true;
  }

  std::string_view sequence_of_row() const {
    return rows_->size() > sequence_ ? trim(rows_->field(sequence_)) : "";
  }

  // Whether the row is good; tells what is not.
  bool accept(const Verdict& verdict) {
    if (verdict.skip)
      bad_.skip();
    else if (!verdict.problem.empty())
      bad_.add(place() + verdict.problem);
    return !verdict.skip && verdict.problem.empty();
  }

  std::string place() const {
    return input_->name() + ", line " + std::to_string(rows_->line());
  }
  std::string place(std::size_t column) const {
    std::string text = ", column " + std::to_string(column + 1);
    if (csv_.header) text += " ('" + names_[column] + "')";
    return text + ": ";
  }

  // The column that a name or number means.
  std::size_t find_column(const std::string& word, const char* option) const {
    if (csv_.header) {
      auto found = std::find(names_.begin(), names_.end(), word);
      if (found != names_.end())
        return static_cast<std::size_t>(found - names_.begin());
    }
    auto count = static_cast<std::int64_t>(names_.size());
    std::int64_t number = 0;
    if (parse_integer(word, number)) {
      if (number >= 1 && number <= count)
        return static_cast<std::size_t>(number - 1);
      if (number <= -1 && number >= -count)
        return static_cast<std::size_t>(count + number);
    }
    std::string near = nearest(word, names_);
    throw Error{Code::kUsage,
                std::string(option) + ": " + input_->name() +
                    " has no column '" + word + "' (" +
                    (near.empty() ? "it has " + std::to_string(count)
                                  : "did you mean '" + near + "'?") +
                    ")"};
  }

  void choose_columns() {
    std::set<std::size_t> taken;
    if (csv_.label != "none")
      for (const std::string& word : split(csv_.label, ',')) {
        labels_.push_back(find_column(word, "--label"));
        taken.insert(labels_.back());
      }
    if (!options_.regression && labels_.size() > 1)
      throw Error{Code::kUsage,
                  "--label: a class is one column; several go with "
                  "--regression"};
    if (!csv_.drop.empty())
      for (const std::string& word : split(csv_.drop, ','))
        taken.insert(find_column(word, "--drop"));
    if (!csv_.sequence.empty()) {
      sequence_ = find_column(csv_.sequence, "--sequence");
      taken.insert(sequence_);
    }
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (!taken.contains(i)) features_.push_back(i);
    if (features_.empty())
      throw Error{Code::kUsage, input_->name() +
                                    " has no columns left to be "
                                    "features"};
    dtype_ = DType::kF32;
    if (!options_.dtype.empty()) dtype_ = parse_dtype(options_.dtype);
    auto columns = static_cast<std::int64_t>(features_.size());
    example_shape_ = {columns};
    if (!csv_.sequence.empty()) {
      example_shape_ = {csv_.steps, columns};
      if (!options_.shape.empty())
        throw Error{Code::kUsage, "--shape does not go with --sequence"};
    }
    if (options_.shape.empty()) return;
    example_shape_ = parse_shape(options_.shape);
    if (example_shape_.elements() != columns)
      throw Error{Code::kUsage, "--shape: " + options_.shape + " has " +
                                    std::to_string(example_shape_.elements()) +
                                    " elements, " + input_->name() + " has " +
                                    std::to_string(columns) +
                                    " columns of features"};
  }

  // Of one example.
  Shape label_shape() const {
    Shape shape;
    if (options_.regression)
      shape = {static_cast<std::int64_t>(labels_.size())};
    return csv_.per_step ? shape.with_first(csv_.steps) : shape;
  }

  // n places for labels.
  Tensor label_tensor(std::int64_t n) const {
    if (labels_.empty()) return {};
    if (!options_.regression) return Tensor(DType::kI32, {n});
    return Tensor(DType::kF32, {n, static_cast<std::int64_t>(labels_.size())});
  }

  // Puts the current row at place n, and its label at place `at`.
  Verdict fill_row(Tensor& features, Tensor& labels, std::int64_t n,
                   std::int64_t at) {
    if (rows_->size() != names_.size())
      return {": has " + std::to_string(rows_->size()) + " columns, want " +
              std::to_string(names_.size())};
    auto width = static_cast<std::int64_t>(features_.size());
    for (std::int64_t c = 0; c < width; ++c) {
      Verdict verdict = number(features, n * width + c,
                               features_[static_cast<std::size_t>(c)]);
      if (verdict.skip || !verdict.problem.empty()) return verdict;
    }
    if (labels_.empty()) return {};
    if (!options_.regression) return class_label(labels, at);
    auto targets = static_cast<std::int64_t>(labels_.size());
    for (std::int64_t t = 0; t < targets; ++t) {
      Verdict verdict = number(labels, at * targets + t,
                               labels_[static_cast<std::size_t>(t)]);
      if (verdict.skip || !verdict.problem.empty()) return verdict;
    }
    return {};
  }

  Verdict number(Tensor& target, std::int64_t i, std::size_t column) {
    std::string_view text = trim(rows_->field(column));
    double value = 0;
    if (missing_.words.contains(text)) {
      if (missing_.kind == Missing::kSkip) return {"", true};
      if (missing_.kind == Missing::kFail)
        return {place(column) +
                "a value is missing (--missing skip or fill:0 lets it pass)"};
      value = missing_.value;
    } else if (!parse_number(text, value)) {
      return {place(column) + "want a number, got '" +
              std::string(text.substr(0, 40)) + "'"};
    }
    if (!std::isfinite(value))
      return {place(column) + "want a finite number, got '" +
              std::string(text) + "'"};
    if (!store(target, i, value))
      return {place(column) + "'" + std::string(text) + "' does not fit " +
              std::string(name_of(target.dtype()))};
    return {};
  }

  Verdict class_label(Tensor& labels, std::int64_t n) {
    std::string_view text = trim(rows_->field(labels_[0]));
    if (missing_.words.contains(text)) {
      if (missing_.kind == Missing::kSkip) return {"", true};
      return {place(labels_[0]) + "the class is missing"};
    }
    std::int64_t index = classes_.index(text);
    if (index < 0) return {place(labels_[0]) + classes_.complaint(text)};
    labels.as<std::int32_t>()[static_cast<std::size_t>(n)] =
        static_cast<std::int32_t>(index);
    return {};
  }

  std::vector<std::string> inputs_;
  ReaderOptions options_;
  CsvOptions csv_;
  MissingRule missing_;
  ClassLabels classes_;
  BadRecords& bad_;
  std::size_t next_ = 0;
  std::unique_ptr<RawInput> input_;
  std::optional<CsvRows> rows_;
  bool pending_ = false;            // rows_ holds a row that was not used yet
  std::vector<std::string> names_;  // of the columns; "" without a header
  std::vector<std::size_t> features_, labels_;
  std::size_t sequence_ = 0;
  DType dtype_ = DType::kF32;
  Shape example_shape_;
};

}  // namespace

std::unique_ptr<Reader> open_csv(const std::vector<std::string>& inputs,
                                 const ReaderOptions& options,
                                 const CsvOptions& csv, BadRecords& bad) {
  return std::make_unique<CsvReader>(inputs, options, csv, bad);
}

}  // namespace dl::vectorize
