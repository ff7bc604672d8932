// Bare records, as other programs write them into a pipe: the numbers of an
// example, then its label and its id, in the byte order of this machine, and no
// header.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "libcore/base/display.h"
#include "libcore/base/error.h"
#include "libcore/vectorize/class_labels.h"
#include "libcore/vectorize/example_reader.h"
#include "libcore/vectorize/raw_input.h"
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
      : inputs_(inputs),
        options_(options),
        raw_(raw),
        classes_(options.classes),
        bad_(bad) {
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
    start(options.batch);
    record_.resize(bytes_of(features_) + (raw.labels ? bytes_of(labels_) : 0) +
                   static_cast<std::size_t>(options.id_bytes));
    part_ = "an example, of " + std::to_string(record_.size()) +
            " bytes by --shape, --dtype and what follows";
    if (inputs_.empty()) inputs_ = {"-"};
    open_next();
  }

  data::Metadata metadata() const override {
    data::Metadata metadata;
    metadata.schema["features"] = features_;
    if (raw_.labels) metadata.schema["labels"] = labels_;
    if (options_.id_bytes > 0)
      metadata.schema["id"] = {DType::kU8, {options_.id_bytes}};
    if (bad_.tolerant()) metadata.schema["index"] = kIndexField;
    if (raw_.labels && !options_.regression)
      metadata.classes = classes_.names();
    return metadata;
  }

 private:
  static std::size_t bytes_of(const data::Field& field) {
    return static_cast<std::size_t>(field.shape.elements()) *
           tensor::size_of(field.dtype);
  }

  void open_next() {
    input_ =
        std::make_unique<RawInput>(inputs_[next_++], RawInput::Kind::kBytes);
    if (raw_.examples == 0)
      input_->refuse_other_format(tensor::size_of(features_.dtype) > 1);
    number_ = 0;
  }

  bool next() override {
    while (input_ && !input_->read(record_, part_.c_str())) {
      input_->close();
      input_.reset();
      if (next_ < inputs_.size()) open_next();
    }
    if (!input_) return false;
    ++number_;
    return true;
  }

  bool put(data::DataSet& set, std::int64_t i) override {
    std::span<const std::byte> rest = record_;
    const auto take = [&](std::size_t bytes) {
      const auto part = rest.first(bytes);
      rest = rest.subspan(bytes);
      return part;
    };
    std::string problem = numbers(set.tensors.at("features"), i,
                                  take(bytes_of(features_)), "value ");
    if (problem.empty() && raw_.labels)
      problem = label(set.tensors.at("labels"), i, take(bytes_of(labels_)));
    if (problem.empty() && options_.id_bytes > 0)
      problem = id(set.tensors.at("id"), i, rest);
    if (!problem.empty())
      bad_.add(input_->name() + ", example " + std::to_string(number_) + ": " +
               problem);
    return problem.empty();
  }

  std::string label(Tensor& labels, std::int64_t i,
                    std::span<const std::byte> bytes) {
    if (options_.regression) return numbers(labels, i, bytes, "target ");
    std::int32_t label = 0;
    std::memcpy(&label, bytes.data(), sizeof label);
    if (classes_.index(std::int64_t{label}) < 0)
      return classes_.complaint(std::to_string(label));
    labels.as<std::int32_t>()[static_cast<std::size_t>(i)] = label;
    return "";
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

  std::vector<std::string> inputs_;
  ReaderOptions options_;
  RawOptions raw_;
  ClassLabels classes_;
  BadRecords& bad_;
  data::Field features_, labels_;
  std::vector<std::byte> record_;
  std::string part_;  // a record, for messages
  std::size_t next_ = 0;
  std::int64_t number_ = 0;          // of the example in its input, from 1
  std::unique_ptr<RawInput> input_;  // null at the end of the last one
};

}  // namespace

std::unique_ptr<Reader> open_raw(const std::vector<std::string>& inputs,
                                 const ReaderOptions& options,
                                 const RawOptions& raw, BadRecords& bad) {
  return std::make_unique<RawReader>(inputs, options, raw, bad);
}

}  // namespace dl::vectorize
