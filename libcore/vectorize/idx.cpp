// IDX, the format of MNIST: 00 00 TYPE RANK, sizes and data big-endian.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <exception>
#include <optional>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/vectorize/class_labels.h"
#include "libcore/vectorize/engine.h"
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

// Makes values of host byte order of those that a file has, from its example
// `first` on.
void finish(Tensor& tensor, const std::string& name, std::int64_t first) {
  static_assert(std::endian::native == std::endian::little);
  const auto bytes = tensor.bytes();
  const std::size_t size = tensor::size_of(tensor.dtype());
  for (std::size_t i = 0; size > 1 && i + size <= bytes.size(); i += size)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                 bytes.begin() + static_cast<std::ptrdiff_t>(i + size));
  if (!tensor::is_real(tensor.dtype())) return;
  tensor::visit_dtype(tensor.dtype(), [&]<typename T>() {
    const auto values = tensor.as<T>();
    const auto bad = std::ranges::find_if(values, [](T value) {
      return !(std::abs(static_cast<double>(value)) <=
               data::kMaxStatisticsValue);
    });
    if (bad != values.end())
      throw Error{Code::kData,
                  name + ": example " +
                      std::to_string(first + (bad - values.begin()) *
                                                 tensor.shape()[0] /
                                                 tensor.elements()) +
                      " has a value that is not finite, or beyond 1e140"};
  });
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

  // The next n examples, as the file has them: finish() is to follow.
  Tensor take(std::int64_t n) {
    Tensor tensor(type_, shape_.with_first(n));
    if (!input_.read(tensor.bytes(), "its data")) {
      input_.close();  // a command that failed is the reason
      throw Error{Code::kData, name() + ": ends after " +
                                   std::to_string(taken_) + " of " +
                                   std::to_string(examples_) +
                                   " examples; it was cut short"};
    }
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
  RawInput input_;
  DType type_ = DType::kU8;
  Shape shape_;
  std::int64_t examples_ = 0, taken_ = 0;
};

// Examples that came one after the other in a pair of files.
struct IdxBlock {
  Tensor features, labels;
  std::string name, labels_name;  // of the files
  std::int64_t first = 0;         // of them, in their files
  bool is_mine = true;            // of the part that is read
  std::exception_ptr error;       // comes after the features
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
    schema_ = next_schema();
  }

  bool read(data::DataSet& set) override {
    if (!engine_)
      engine_.emplace(
          options_.threads, [this](IdxBlock& block) { return cut(block); },
          [](IdxBlock& block, int) { return finished(block); });
    // All of a record may be left out as bad.
    for (set.tensors.clear(); set.examples() == 0;) {
      std::optional<IdxBlock> block = engine_->next();
      if (!block) return false;
      take(set, *block);
    }
    return true;
  }

  std::int64_t examples() const override { return read_; }

  data::Metadata metadata() const override {
    data::Metadata metadata;
    metadata.schema = schema_;
    if (!options_.regression) metadata.classes = classes_.names();
    return metadata;
  }

 private:
  // As the files have it that are open.
  Schema next_schema() const {
    Schema schema;
    schema["features"] = {features_->dtype(), example_shape()};
    if (with_labels_)
      schema["labels"] = {options_.regression ? target_type(labels_->dtype())
                                              : labels_->dtype(),
                          options_.regression && labels_->shape().rank() == 0
                              ? Shape{1}
                              : labels_->shape()};
    if (bad_.tolerant()) schema["index"] = kIndexField;
    return schema;
  }

  bool cut(IdxBlock& block) {
    while (features_->left() == 0) {
      close_current();
      if (next_ == inputs_.size()) return false;
      open_next();
    }
    const std::int64_t n = std::min(batch_, features_->left());
    block.first = features_->examples() - features_->left();
    block.name = features_->name();
    block.is_mine = blocks_++ % options_.parts == options_.part - 1;
    block.features = features_->take(n);
    if (!with_labels_) return true;
    block.labels_name = labels_->name();
    try {
      block.labels = labels_->take(n);
    } catch (...) {
      block.error = std::current_exception();
    }
    return true;
  }

  static IdxBlock finished(IdxBlock& block) {
    finish(block.features, block.name, block.first);
    if (block.error) std::rethrow_exception(block.error);
    if (!block.labels_name.empty())
      finish(block.labels, block.labels_name, block.first);
    return std::move(block);
  }

  void take(data::DataSet& set, IdxBlock& block) {
    const std::int64_t n = block.features.shape()[0];
    const std::int64_t first = read_;
    read_ += n;
    block.features.reshape(schema_.at("features").shape.with_first(n));
    data::DataSet all;
    all.tensors.emplace("features", std::move(block.features));
    if (bad_.tolerant()) {
      all.tensors.emplace("index", Tensor(kIndexField.dtype, {n}));
      for (std::int64_t i = 0; i < n; ++i) set_index(all, i, first + i);
    }
    if (with_labels_)
      add_labelled(set, std::move(all), block);
    else if (block.is_mine)
      set = std::move(all);
  }

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
    const bool is_first = !features_;
    features_.emplace(inputs_[next_++]);
    if (with_labels_) {
      labels_.emplace(inputs_[next_++]);
      check_labels();
    }
    try {
      batch_ = record_examples(options_.batch, next_schema());
    } catch (Error& error) {
      if (error.code() == Code::kData) error.add_context(features_->name());
      throw;
    }
    if (!is_first && schema_ != next_schema())
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
  void add_labelled(data::DataSet& set, data::DataSet all, IdxBlock& block) {
    Tensor& labels = block.labels;
    if (options_.regression) {
      all.tensors.emplace("labels", numbers(labels));
      if (block.is_mine) set = std::move(all);
      return;
    }
    const std::int64_t n = all.examples();
    std::vector<std::uint32_t> good;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::string what = complaint(labels, i, labels.elements() / n);
      if (what.empty())
        good.push_back(static_cast<std::uint32_t>(i));
      else if (block.is_mine)
        bad_.add(block.labels_name + ", label " +
                 std::to_string(block.first + i + 1) + ": " + what);
    }
    if (!block.is_mine) return;
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
  std::int64_t blocks_ = 0;
  std::optional<IdxFile> features_, labels_;
  Schema schema_;
  std::optional<Engine<IdxBlock, IdxBlock>> engine_;  // last: it stops
};

}  // namespace

std::unique_ptr<Reader> open_idx(const std::vector<std::string>& inputs,
                                 bool labels, const ReaderOptions& options,
                                 BadRecords& bad) {
  return std::make_unique<IdxReader>(inputs, labels, options, bad);
}

}  // namespace dl::vectorize
