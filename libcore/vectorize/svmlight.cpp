// SVMLight: "LABEL [qid:N] INDEX:VALUE ... # comment" a line, sparse.

#include <cmath>
#include <optional>

#include "libcore/base/error.h"
#include "libcore/vectorize/class_labels.h"
#include "libcore/vectorize/raw_input.h"
#include "libcore/vectorize/reader.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

class SvmlightReader : public Reader {
 public:
  SvmlightReader(const std::vector<std::string>& inputs,
                 const ReaderOptions& options, const SvmlightOptions& svmlight,
                 BadRecords& bad)
      : inputs_(inputs),
        options_(options),
        svmlight_(svmlight),
        classes_(options.classes),
        bad_(bad) {
    if (svmlight.features < 1)
      throw Error{Code::kUsage,
                  "svmlight wants --features N, the length of an example"};
    if (svmlight.multilabel && (!classes_.fixed() || options.regression))
      throw Error{Code::kUsage,
                  "--multilabel wants --classes, and no "
                  "--regression"};
    if (!options.dtype.empty()) dtype_ = parse_dtype(options.dtype);
    shape_ = {svmlight.features};
    if (!options.shape.empty()) shape_ = parse_shape(options.shape);
    if (shape_.elements() != svmlight.features)
      throw Error{Code::kUsage, "--shape: " + options.shape + " is not " +
                                    std::to_string(svmlight.features) +
                                    " features"};
    if (inputs_.empty()) inputs_ = {"-"};
    open_next();
  }

  bool read(data::DataSet& set) override {
    Tensor features(dtype_, {options_.batch, svmlight_.features});
    Tensor labels = label_tensor();
    std::int64_t n = 0;
    while (n < options_.batch && next_line()) {
      std::string problem = fill(features, labels, n);
      if (problem.empty())
        ++n;
      else
        bad_.add(input_->name() + ", line " + std::to_string(line_) + ": " +
                 problem);
    }
    set.tensors.clear();
    if (n == 0) return false;
    Tensor rows = features.rows(0, n);
    rows.reshape(shape_.with_first(n));
    set.tensors.emplace("features", std::move(rows));
    set.tensors.emplace("labels", labels.rows(0, n));
    return true;
  }

  data::Metadata metadata() const override {
    data::Metadata metadata;
    metadata.schema["features"] = {dtype_, shape_};
    Tensor labels = label_tensor();
    metadata.schema["labels"] = {labels.dtype(),
                                 labels.shape().without_first()};
    if (!options_.regression) metadata.classes = classes_.names();
    return metadata;
  }

 private:
  void open_next() {
    input_ = std::make_unique<RawInput>(inputs_[next_++]);
    line_ = 0;
  }

  // The next line that is neither empty nor a comment, into text_.
  bool next_line() {
    for (;;) {
      while (!input_->line(text_)) {
        input_->close();
        if (next_ == inputs_.size()) return false;
        open_next();
      }
      ++line_;
      text_.resize(std::min(text_.size(), text_.find('#')));
      if (!trim(text_).empty()) return true;
    }
  }

  Tensor label_tensor() const {
    if (svmlight_.multilabel)
      return Tensor(
          DType::kF32,
          {options_.batch, static_cast<std::int64_t>(classes_.names().size())});
    if (options_.regression) return Tensor(DType::kF32, {options_.batch, 1});
    return Tensor(DType::kI32, {options_.batch});
  }

  // Puts the line at place n; returns what is wrong with it, or "".
  std::string fill(Tensor& features, Tensor& labels, std::int64_t n) {
    std::string_view rest = trim(text_);
    clear_row(features, n);
    std::string_view word = next_word(rest);
    std::string problem = label(labels, n, word);
    std::int64_t last = -1;
    while (problem.empty() && !(word = next_word(rest)).empty()) {
      if (word.starts_with("qid:")) continue;
      problem = value(features, n, word, last);
    }
    return problem;
  }

  static std::string_view next_word(std::string_view& rest) {
    rest = trim(rest);
    std::size_t end = std::min(rest.size(), rest.find_first_of(" \t"));
    std::string_view word = rest.substr(0, end);
    rest.remove_prefix(end);
    return word;
  }

  // A record that was bad may have left values behind.
  static void clear_row(Tensor& tensor, std::int64_t n) {
    auto bytes = tensor.bytes();
    std::size_t row =
        bytes.size() / static_cast<std::size_t>(tensor.shape()[0]);
    auto part = bytes.subspan(static_cast<std::size_t>(n) * row, row);
    std::fill(part.begin(), part.end(), std::byte{0});
  }

  std::string value(Tensor& features, std::int64_t n, std::string_view word,
                    std::int64_t& last) const {
    std::size_t colon = word.find(':');
    std::int64_t index = 0;
    double number = 0;
    if (colon == std::string_view::npos ||
        !parse_integer(word.substr(0, colon), index) ||
        !parse_number(word.substr(colon + 1), number))
      return "want INDEX:VALUE, got '" + std::string(word.substr(0, 40)) + "'";
    if (!svmlight_.zero_based) --index;
    if (index < 0 || index >= svmlight_.features)
      return "index " + std::string(word.substr(0, colon)) +
             " is outside --features " + std::to_string(svmlight_.features) +
             (svmlight_.zero_based ? " (from 0)" : " (from 1)");
    if (index <= last)
      return "index " + std::string(word.substr(0, colon)) +
             " does not come after the one before it";
    last = index;
    if (!store(features, n * svmlight_.features + index, number))
      return "'" + std::string(word) + "' does not fit " +
             std::string(name_of(dtype_));
    return "";
  }

  std::string label(Tensor& labels, std::int64_t n, std::string_view word) {
    if (svmlight_.multilabel) return several_labels(labels, n, word);
    double number = 0;
    bool is_number = parse_number(word, number);
    if (options_.regression)
      return is_number && store(labels, n, number)
                 ? ""
                 : "want a finite number as label, got '" + std::string(word) +
                       "'";
    // "+1" and "1" are one class.
    if (is_number && word.starts_with('+')) word.remove_prefix(1);
    std::int64_t index = classes_.index(word);
    if (index < 0) return classes_.complaint(word);
    labels.as<std::int32_t>()[static_cast<std::size_t>(n)] =
        static_cast<std::int32_t>(index);
    return "";
  }

  std::string several_labels(Tensor& labels, std::int64_t n,
                             std::string_view word) {
    clear_row(labels, n);
    auto classes = static_cast<std::int64_t>(classes_.names().size());
    for (const std::string& name : split(word, ',')) {
      std::int64_t index = classes_.index(std::string_view(name));
      if (index < 0) return classes_.complaint(name);
      labels.as<float>()[static_cast<std::size_t>(n * classes + index)] = 1;
    }
    return "";
  }

  std::vector<std::string> inputs_;
  ReaderOptions options_;
  SvmlightOptions svmlight_;
  ClassLabels classes_;
  BadRecords& bad_;
  DType dtype_ = DType::kF32;
  Shape shape_;
  std::size_t next_ = 0;
  std::unique_ptr<RawInput> input_;
  std::string text_;
  std::int64_t line_ = 0;
};

}  // namespace

std::unique_ptr<Reader> open_svmlight(const std::vector<std::string>& inputs,
                                      const ReaderOptions& options,
                                      const SvmlightOptions& svmlight,
                                      BadRecords& bad) {
  return std::make_unique<SvmlightReader>(inputs, options, svmlight, bad);
}

}  // namespace dl::vectorize
