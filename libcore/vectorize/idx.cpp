// IDX, the format of MNIST: 00 00 TYPE RANK, sizes and data big-endian.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/vectorize/class_labels.h"
#include "libcore/vectorize/raw_input.h"
#include "libcore/vectorize/reader.h"
#include "libcore/vectorize/schema.h"
#include "libcore/vectorize/text.h"

namespace dl::vectorize {
namespace {

using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

std::optional<DType> idx_type(std::byte code) {
  switch (std::to_integer<int>(code)) {
    case 0x08:
      return DType::kU8;
    case 0x09:
      return DType::kI8;
    case 0x0b:
      return DType::kI16;
    case 0x0c:
      return DType::kI32;
    case 0x0d:
      return DType::kF32;
    case 0x0e:
      return DType::kF64;
    default:
      return std::nullopt;
  }
}

// One file: its header, then examples one after the other.
class IdxFile {
 public:
  explicit IdxFile(const std::string& spec) : input_(spec) {
    std::array<std::byte, 4> magic{};
    std::optional<DType> type;
    if (!input_.read(magic, "its header")) input_.refuse_empty();
    if (magic[0] == std::byte{0} && magic[1] == std::byte{0})
      type = idx_type(magic[2]);
    int rank = std::to_integer<int>(magic[3]);
    if (!type || rank < 1 || rank >= Shape::kMaxRank)
      throw Error{Code::kData, name() +
                                   ": is no IDX file (want 00 00, a type "
                                   "of 08..0e and a rank of 1..7)"};
    type_ = *type;
    std::vector<std::int64_t> extents;
    for (int axis = 0; axis < rank; ++axis) {
      std::array<std::byte, 4> word{};
      if (!input_.read(word, "its header"))
        throw Error{Code::kData, name() + ": ends inside its header"};
      std::int64_t extent = 0;
      for (std::byte b : word) extent = extent << 8 | std::to_integer<int>(b);
      extents.push_back(extent);
    }
    examples_ = extents[0];
    extents.erase(extents.begin());
    try {
      shape_ = Shape(std::span<const std::int64_t>(extents));
    } catch (Error& error) {
      error.add_context(name());
      throw;
    }
    if (shape_.elements() < 1)
      throw Error{Code::kData, name() + ": examples of " + shape_.to_string() +
                                   " have nothing in them"};
  }

  const std::string& name() const { return input_.name(); }
  DType dtype() const { return type_; }
  const Shape& shape() const { return shape_; }
  std::int64_t examples() const { return examples_; }
  std::int64_t left() const { return examples_ - taken_; }

  // The next n examples, host byte order.
  Tensor take(std::int64_t n) {
    Tensor tensor(type_, shape_.with_first(n));
    if (!input_.read(tensor.bytes(), "its data")) {
      input_.close();  // a command that failed is the reason
      throw Error{Code::kData, name() + ": ends after " +
                                   std::to_string(taken_) + " of " +
                                   std::to_string(examples_) +
                                   " examples; it was cut short"};
    }
    swap_bytes(tensor.bytes(), size_of(type_));
    check_finite(tensor);
    taken_ += n;
    return tensor;
  }

  void close() {
    if (input_.peek() >= 0)
      throw Error{Code::kData, name() + ": has data after its " +
                                   std::to_string(examples_) + " examples"};
    input_.close();
  }

 private:
  void check_finite(const Tensor& tensor) const {
    if (!tensor::is_real(type_)) return;
    tensor::visit_dtype(type_, [&]<typename T>() {
      const auto values = tensor.as<T>();
      const auto bad = std::ranges::find_if(values, [](T value) {
        return !(std::abs(static_cast<double>(value)) <=
                 data::kMaxStatisticsValue);
      });
      if (bad != values.end())
        throw Error{Code::kData,
                    name() + ": example " +
                        std::to_string(taken_ + (bad - values.begin()) /
                                                    shape_.elements()) +
                        " has a value that is not finite, or beyond 1e140"};
    });
  }

  static void swap_bytes(std::span<std::byte> bytes, std::size_t size) {
    static_assert(std::endian::native == std::endian::little);
    if (size == 1) return;
    for (std::size_t i = 0; i + size <= bytes.size(); i += size)
      std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                   bytes.begin() + static_cast<std::ptrdiff_t>(i + size));
  }

  RawInput input_;
  DType type_ = DType::kU8;
  Shape shape_;
  std::int64_t examples_ = 0, taken_ = 0;
};

class IdxReader : public Reader {
 public:
  IdxReader(const std::vector<std::string>& inputs, bool labels,
            const ReaderOptions& options, BadRecords& bad)
      : inputs_(inputs),
        with_labels_(labels),
        options_(options),
        classes_(options.classes),
        bad_(bad) {
    if (inputs.empty() || (labels && inputs.size() % 2 != 0))
      throw Error{Code::kUsage,
                  "idx wants pairs of files, features and labels; "
                  "--no-labels reads features alone"};
    if (!options.dtype.empty())
      throw Error{Code::kUsage, "--dtype: IDX files have a type of their own"};
    open_next();
  }

  bool read(data::DataSet& set) override {
    while (features_->left() == 0) {
      close_current();
      if (next_ == inputs_.size()) return false;
      open_next();
    }
    const std::int64_t n = std::min(batch_, features_->left());
    const std::int64_t first = read_;
    read_ += n;
    set.tensors.clear();
    Tensor features = features_->take(n);
    features.reshape(example_shape().with_first(n));
    data::DataSet all;
    all.tensors.emplace("features", std::move(features));
    if (bad_.tolerant()) {
      all.tensors.emplace("index", Tensor(kIndexField.dtype, {n}));
      for (std::int64_t i = 0; i < n; ++i) set_index(all, i, first + i);
    }
    if (with_labels_)
      add_labelled(set, std::move(all), labels_->take(n));
    else
      set = std::move(all);
    // All of this record may have been left out as bad.
    return set.examples() > 0 || read(set);
  }

  std::int64_t examples() const override { return read_; }

  data::Metadata metadata() const override {
    data::Metadata metadata;
    metadata.schema["features"] = {features_->dtype(), example_shape()};
    if (with_labels_)
      metadata.schema["labels"] = {
          options_.regression ? target_type(labels_->dtype())
                              : labels_->dtype(),
          options_.regression && labels_->shape().rank() == 0
              ? Shape{1}
              : labels_->shape()};
    if (bad_.tolerant()) metadata.schema["index"] = kIndexField;
    if (!options_.regression) metadata.classes = classes_.names();
    return metadata;
  }

 private:
  // Images without a channel get one.
  Shape example_shape() const {
    const Shape& shape = features_->shape();
    if (!options_.shape.empty()) {
      Shape wanted = parse_shape(options_.shape);
      if (wanted.elements() != shape.elements())
        throw Error{Code::kUsage, "--shape: " + features_->name() +
                                      " has examples of " + shape.to_string()};
      return wanted;
    }
    if (shape.rank() == 2) return {shape[0], shape[1], 1};
    return shape.rank() == 0 ? Shape{1} : shape;
  }

  void open_next() {
    std::optional<data::Metadata> before;
    if (features_) before = metadata();
    features_.emplace(inputs_[next_++]);
    if (with_labels_) {
      labels_.emplace(inputs_[next_++]);
      check_labels();
    }
    try {
      batch_ = record_examples(options_.batch, metadata().schema);
    } catch (Error& error) {
      if (error.code() == Code::kData) error.add_context(features_->name());
      throw;
    }
    if (before && before->schema != metadata().schema)
      throw Error{Code::kData, features_->name() +
                                   ": has another type or shape than the "
                                   "files before it"};
  }

  void check_labels() const {
    if (labels_->examples() != features_->examples())
      throw Error{Code::kData, labels_->name() + ": has " +
                                   std::to_string(labels_->examples()) +
                                   " labels for the " +
                                   std::to_string(features_->examples()) +
                                   " examples of " + features_->name()};
    if (labels_->shape().rank() > 1 && features_->shape().rank() == 0)
      throw Error{Code::kData, labels_->name() + ": has examples of " +
                                   labels_->shape().to_string() +
                                   " as labels; features come first, then "
                                   "labels"};
    bool real =
        labels_->dtype() == DType::kF32 || labels_->dtype() == DType::kF64;
    if (!options_.regression && real)
      throw Error{Code::kData, labels_->name() +
                                   ": class labels are integers; --regression "
                                   "reads numbers to predict"};
  }

  // Adds labels to `all`, and gives those whose labels, one or one a place, are
  // classes.
  void add_labelled(data::DataSet& set, data::DataSet all, Tensor labels) {
    if (options_.regression) {
      all.tensors.emplace("labels", numbers(labels));
      set = std::move(all);
      return;
    }
    const std::int64_t n = all.examples();
    const std::int64_t first = labels_->examples() - labels_->left() - n;
    std::vector<std::uint32_t> good;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::string what = complaint(labels, i, labels.elements() / n);
      if (what.empty())
        good.push_back(static_cast<std::uint32_t>(i));
      else
        bad_.add(labels_->name() + ", label " + std::to_string(first + i + 1) +
                 ": " + what);
    }
    all.tensors.emplace("labels", std::move(labels));
    if (std::cmp_equal(good.size(), n)) {
      set = std::move(all);
    } else if (!good.empty()) {
      set = data::make_like(all, static_cast<std::int64_t>(good.size()));
      data::copy_examples(set, 0, all, good);
    }
  }

  // Complaint about the first of an example's labels that is no class; "" if
  // all are.
  std::string complaint(const Tensor& labels, std::int64_t example,
                        std::int64_t places) {
    for (std::int64_t i = example * places; i < (example + 1) * places; ++i) {
      const auto label = static_cast<std::int64_t>(labels.value(i));
      if (classes_.index(label) < 0)
        return classes_.complaint(std::to_string(label));
    }
    return "";
  }

  static Tensor numbers(const Tensor& labels) {
    const Shape& shape = labels.shape();
    Tensor result(target_type(labels.dtype()),
                  shape.rank() == 1 ? Shape{shape[0], 1} : shape);
    for (std::int64_t i = 0; i < labels.elements(); ++i)
      require(store(result, i, labels.value(i)), "a target that does not fit");
    return result;
  }

  void close_current() {
    features_->close();
    if (with_labels_) labels_->close();
  }

  std::vector<std::string> inputs_;
  bool with_labels_;
  ReaderOptions options_;
  ClassLabels classes_;
  BadRecords& bad_;
  std::size_t next_ = 0;
  std::int64_t batch_ = 1;
  std::int64_t read_ = 0;  // examples, of all files
  std::optional<IdxFile> features_, labels_;
};

}  // namespace

std::unique_ptr<Reader> open_idx(const std::vector<std::string>& inputs,
                                 bool labels, const ReaderOptions& options,
                                 BadRecords& bad) {
  return std::make_unique<IdxReader>(inputs, labels, options, bad);
}

}  // namespace dl::vectorize
