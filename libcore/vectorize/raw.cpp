// Bare records, as other programs write them into a pipe: the numbers of an
// example, then its label and its id, in the byte order of this machine, and no
// header.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/class_labels.h"
#include "libcore/vectorize/example_reader.h"
#include "libcore/vectorize/raw_input.h"
#include "libcore/vectorize/record_blocks.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

using tensor::DType;
using tensor::Tensor;

class RawReader : public ExampleReader {
 public:
  RawReader(const std::vector<std::string>& inputs,
            const ReaderOptions& options, const RawOptions& raw,
            BadRecords& bad)
      : ExampleReader(options, bad), raw_(raw), classes_(options.classes) {
    if (options.shape.empty() || options.dtype.empty())
      throw Error{Code::kUsage,
                  "raw wants --shape and --dtype, as its input does not say "
                  "what an example is"};
    if (raw.targets < 1 || raw.targets > kMaxColumns)
      throw Error{Code::kUsage, "--targets: want 1.." +
                                    std::to_string(kMaxColumns) + ", got " +
                                    std::to_string(raw.targets)};
    features_ = {parse_dtype(options.dtype), parse_shape(options.shape)};
    labels_ = options.regression
                  ? data::Field{target_type(features_.dtype), {raw.targets}}
                  : data::Field{DType::kI32, {}};
    start();
    const std::size_t size = bytes_of(features_) +
                             (raw.labels ? bytes_of(labels_) : 0) +
                             static_cast<std::size_t>(options.id_bytes);
    input_.emplace(inputs.empty() ? std::vector<std::string>{"-"} : inputs,
                   size,
                   "an example, of " + std::to_string(size) +
                       " bytes by --shape, --dtype and what follows",
                   [this](const std::string& spec) { return open(spec); });
  }
  ~RawReader() override { stop(); }

  data::Metadata metadata() const override {
    data::Metadata metadata;
    metadata.schema["features"] = features_;
    if (raw_.labels) metadata.schema["labels"] = labels_;
    if (options().id_bytes > 0)
      metadata.schema["id"] = {DType::kU8, {options().id_bytes}};
    if (tolerant()) metadata.schema["index"] = kIndexField;
    if (raw_.labels && !options().regression)
      metadata.classes = classes_.names();
    return metadata;
  }

 private:
  static std::size_t bytes_of(const data::Field& field) {
    return static_cast<std::size_t>(field.shape.elements()) *
           tensor::size_of(field.dtype);
  }

  std::unique_ptr<RawInput> open(const std::string& spec) const {
    auto input = std::make_unique<RawInput>(spec, RawInput::Kind::kBytes);
    if (raw_.examples == 0)
      input->refuse_other_format(tensor::size_of(features_.dtype) > 1);
    return input;
  }

  bool cut(InputBlock& block) override {
    return input_->next(block, most_examples());
  }

  void parse(ParsedBlock& parsed) const override {
    const std::int64_t records = input_->records(parsed.block);
    if (only_counts(parsed.block)) {
      parsed.all = records;
      return;
    }
    parsed.set = make_record(schema(), records);
    for (std::int64_t i = 0; i < records; ++i)
      put(parsed, input_->record(parsed.block, i));
  }

  void put(ParsedBlock& parsed, std::span<const std::byte> rest) const {
    const auto take = [&](std::size_t bytes) {
      const auto part = rest.first(bytes);
      rest = rest.subspan(bytes);
      return part;
    };
    auto& tensors = parsed.set.tensors;
    std::optional<std::int32_t> label;
    std::string problem = numbers(tensors.at("features"), parsed.good,
                                  take(bytes_of(features_)), "value ");
    if (problem.empty() && raw_.labels) {
      const auto bytes = take(bytes_of(labels_));
      problem = numbers(tensors.at("labels"), parsed.good, bytes, "target ");
      if (takes_labels()) std::memcpy(&label.emplace(), bytes.data(), 4);
    }
    if (problem.empty() && options().id_bytes > 0)
      problem = id(tensors.at("id"), parsed.good, rest);
    if (!problem.empty())
      return parsed.leave_out(place(parsed, parsed.all) + problem, label);
    ++parsed.good;
    ++parsed.all;
  }

  static std::string place(const ParsedBlock& parsed, std::int64_t number) {
    return parsed.block.name + ", example " +
           std::to_string(parsed.block.line + number) + ": ";
  }

  bool takes_labels() const override {
    return raw_.labels && !options().regression;
  }
  bool learns_classes() const override {
    return takes_labels() && !classes_.fixed();
  }
  std::string take_label(ParsedBlock& parsed, std::int64_t number,
                         std::int32_t& label) override {
    return classes_.index(std::int64_t{label}) >= 0
               ? ""
               : place(parsed, number) +
                     classes_.complaint(std::to_string(label));
  }

  // Text, then zeros.
  static std::string id(Tensor& ids, std::int64_t i,
                        std::span<const std::byte> bytes) {
    const auto end = std::ranges::find(bytes, std::byte{0});
    const auto size = static_cast<std::size_t>(end - bytes.begin());
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                                size);
    if (text.empty()) return "the id is missing";
    if (!is_utf8(text)) return not_utf8("the id", text);
    if (std::ranges::any_of(bytes.subspan(size),
                            [](std::byte b) { return b != std::byte{0}; }))
      return "the id '" + clipped(text) + "' has more than zeros behind it";
    std::ranges::copy(bytes,
                      ids.bytes().begin() +
                          static_cast<std::ptrdiff_t>(i) * std::ssize(bytes));
    return "";
  }

  // "6", from 1, and where examples have several dimensions "6 (column 2)": of
  // the last one, of which there are statistics.
  static std::string number_of(std::int64_t at, const tensor::Shape& shape) {
    std::string number = std::to_string(at + 1);
    if (shape.rank() <= 2) return number;
    return number + " (column " + std::to_string(at % shape.back() + 1) + ")";
  }

  // Copies numbers to place i; returns what is wrong with one of them, or "".
  static std::string numbers(Tensor& target, std::int64_t i,
                             std::span<const std::byte> bytes,
                             const char* what) {
    const auto place =
        target.bytes().subspan(static_cast<std::size_t>(i) * bytes.size());
    // std::ranges::copy() would go byte by byte.
    if (!bytes.empty()) std::memcpy(place.data(), bytes.data(), bytes.size());
    if (!tensor::is_real(target.dtype())) return "";
    return tensor::visit_dtype(target.dtype(), [&]<typename T>() {
      const std::size_t n = bytes.size() / sizeof(T);
      const auto values =
          target.as<T>().subspan(static_cast<std::size_t>(i) * n, n);
      const auto bad = std::ranges::find_if(values, [](T value) {
        return !(std::abs(static_cast<double>(value)) <=
                 data::kMaxStatisticsValue);
      });
      return bad == values.end()
                 ? std::string()
                 : what + number_of(bad - values.begin(), target.shape()) +
                       " is not finite, or beyond 1e140";
    });
  }

  RawOptions raw_;
  ClassLabels classes_;
  data::Field features_, labels_;
  std::optional<RecordBlocks> input_;
};

}  // namespace

std::unique_ptr<Reader> open_raw(const std::vector<std::string>& inputs,
                                 const ReaderOptions& options,
                                 const RawOptions& raw, BadRecords& bad) {
  return std::make_unique<RawReader>(inputs, options, raw, bad);
}

}  // namespace dl::vectorize
