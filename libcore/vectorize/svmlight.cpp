// SVMLight: "LABEL [qid:N] INDEX:VALUE ... # comment" a line, sparse.

#include <algorithm>
#include <optional>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/class_labels.h"
#include "libcore/vectorize/count_lines.h"
#include "libcore/vectorize/example_reader.h"
#include "libcore/vectorize/text.h"
#include "libcore/vectorize/text_blocks.h"

namespace dl::vectorize {
namespace {

using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

class SvmlightReader : public ExampleReader {
 public:
  SvmlightReader(const std::vector<std::string>& inputs,
                 const ReaderOptions& options, const SvmlightOptions& svmlight,
                 BadRecords& bad)
      : ExampleReader(options, bad),
        inputs_(inputs),
        svmlight_(svmlight),
        classes_(options.classes) {
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
    start();
    if (inputs_.empty()) inputs_ = {"-"};
    input_.emplace(inputs_[opened_++]);
  }
  ~SvmlightReader() override { stop(); }

  data::Metadata metadata() const override {
    data::Metadata metadata;
    metadata.schema["features"] = {dtype_, shape_};
    metadata.schema["labels"] = label_field();
    if (tolerant()) metadata.schema["index"] = kIndexField;
    if (!options().regression) metadata.classes = classes_.names();
    return metadata;
  }

  std::string warning() const override { return classes_.doubt(); }

 private:
  bool cut(InputBlock& block) override {
    while (!input_->next(block, most_examples())) {
      input_->input().close();
      if (opened_ == inputs_.size()) return false;
      input_.emplace(inputs_[opened_++]);
    }
    return true;
  }

  void parse(ParsedBlock& parsed) const override {
    const std::string& text = parsed.block.bytes;
    const bool counts = only_counts(parsed.block);
    if (!counts) parsed.set = make_record(schema(), count_lines(text) + 1);
    PartClasses classes;
    std::int64_t number = parsed.block.line;
    for (std::size_t at = 0; at < text.size(); ++number) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      std::string_view line = std::string_view(text).substr(at, end - at);
      at = end + 1;
      if (line.ends_with('\r')) line.remove_suffix(1);
      line = trim(line.substr(0, line.find('#')));
      if (line.empty()) continue;
      if (counts)
        ++parsed.all;
      else
        put(parsed, classes, line, number);
    }
    parsed.classes = std::move(classes).names();
  }

  // Takes in a line that is neither empty nor a comment.
  void put(ParsedBlock& parsed, PartClasses& classes, std::string_view line,
           std::int64_t number) const {
    parsed.lines.push_back(number);
    std::optional<std::int32_t> label;
    const std::string problem =
        fill(parsed.set, parsed.good, line, classes, label);
    if (problem.empty()) {
      ++parsed.good;
      ++parsed.all;
      return;
    }
    clear_example(parsed.set, parsed.good);  // it may have left values behind
    parsed.leave_out(place(parsed, parsed.all) + problem, label);
  }

  static std::string place(const ParsedBlock& parsed, std::int64_t number) {
    return parsed.block.name + ", line " +
           std::to_string(parsed.lines[static_cast<std::size_t>(number)]) +
           ": ";
  }

  bool takes_labels() const override {
    return !options().regression && !svmlight_.multilabel;
  }
  bool learns_classes() const override {
    return takes_labels() && !classes_.fixed();
  }
  std::string take_label(ParsedBlock& parsed, std::int64_t number,
                         std::int32_t& label) override {
    const std::string& name = parsed.classes[static_cast<std::size_t>(label)];
    const std::int64_t index = classes_.index_by_value(name);
    label = static_cast<std::int32_t>(index);
    return index >= 0 ? "" : place(parsed, number) + classes_.complaint(name);
  }

  data::Field label_field() const {
    if (svmlight_.multilabel)
      return {DType::kF32,
              {static_cast<std::int64_t>(classes_.names().size())}};
    if (options().regression) return {target_type(dtype_), {1}};
    return {DType::kI32, {}};
  }

  // Puts the line at place n, which has zeros; returns what is wrong with it,
  // or "".
  std::string fill(data::DataSet& set, std::int64_t n, std::string_view rest,
                   PartClasses& classes,
                   std::optional<std::int32_t>& class_number) const {
    std::string_view word = next_word(rest);
    std::string problem;
    // An example with several labels may have none.
    const bool labelled = word.find(':') == std::string_view::npos;
    if (labelled)
      problem = label(set.tensors.at("labels"), n, word, classes, class_number);
    else if (!svmlight_.multilabel)
      problem = "begins with '" + clipped(word) + "', want a label first";
    if (labelled) word = next_word(rest);
    Tensor& features = set.tensors.at("features");
    std::int64_t last = -1;
    for (; problem.empty() && !word.empty(); word = next_word(rest))
      if (!word.starts_with("qid:")) problem = value(features, n, word, last);
    return problem;
  }

  static std::string_view next_word(std::string_view& rest) {
    rest = trim(rest);
    std::size_t end = std::min(rest.size(), rest.find_first_of(" \t"));
    std::string_view word = rest.substr(0, end);
    rest.remove_prefix(end);
    return word;
  }

  std::string value(Tensor& features, std::int64_t n, std::string_view word,
                    std::int64_t& last) const {
    std::size_t colon = word.find(':');
    std::int64_t index = 0;
    double number = 0;
    if (colon == std::string_view::npos ||
        !parse_integer(word.substr(0, colon), index) ||
        !parse_number(word.substr(colon + 1), number))
      return "want INDEX:VALUE, got '" + clipped(word) + "'";
    const std::int64_t first = svmlight_.zero_based ? 0 : 1;
    if (index < first || index - first >= svmlight_.features)
      return "index " + clipped(word.substr(0, colon)) +
             " is outside --features " + std::to_string(svmlight_.features) +
             (svmlight_.zero_based ? " (from 0)" : " (from 1)");
    index -= first;
    if (index <= last)
      return "index " + clipped(word.substr(0, colon)) +
             " does not come after the one before it";
    last = index;
    if (!store(features, n * svmlight_.features + index, number))
      return does_not_fit(word, dtype_);
    return "";
  }

  std::string label(Tensor& labels, std::int64_t n, std::string_view word,
                    PartClasses& classes,
                    std::optional<std::int32_t>& class_number) const {
    if (svmlight_.multilabel) return several_labels(labels, n, word);
    double number = 0;
    bool is_number = parse_number(word, number);
    if (options().regression)
      return is_number && store(labels, n, number)
                 ? ""
                 : "want a finite number as label, got '" + clipped(word) + "'";
    if (!is_number && word.find(',') != std::string_view::npos &&
        !(classes_.fixed() && classes_.find(word) >= 0))
      return "has several labels, '" + clipped(word) +
             "' (--multilabel, with --classes, reads them)";
    class_number = classes.number(word);
    labels.as<std::int32_t>()[static_cast<std::size_t>(n)] = *class_number;
    return "";
  }

  std::string several_labels(Tensor& labels, std::int64_t n,
                             std::string_view list) const {
    const auto classes = static_cast<std::int64_t>(classes_.names().size());
    for (bool more = true; more;) {
      const std::size_t comma = list.find(',');
      more = comma != std::string_view::npos;
      const std::string_view name = list.substr(0, comma);
      const std::int64_t index = classes_.find_by_value(name);
      if (index < 0) return classes_.complaint(name);
      labels.as<float>()[static_cast<std::size_t>(n * classes + index)] = 1;
      if (more) list.remove_prefix(comma + 1);
    }
    return "";
  }

  std::vector<std::string> inputs_;
  SvmlightOptions svmlight_;
  ClassLabels classes_;
  DType dtype_ = DType::kF32;
  Shape shape_;
  std::size_t opened_ = 0;
  std::optional<TextBlocks> input_;
};

}  // namespace

std::unique_ptr<Reader> open_svmlight(const std::vector<std::string>& inputs,
                                      const ReaderOptions& options,
                                      const SvmlightOptions& svmlight,
                                      BadRecords& bad) {
  return std::make_unique<SvmlightReader>(inputs, options, svmlight, bad);
}

}  // namespace dl::vectorize
